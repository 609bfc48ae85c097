// What quintet-hdbscan is asked to do.
#pragma once

#include <boost/program_options.hpp>
#include <optional>
#include <string>

#include "quintet/hdbscan/hdbscan.hpp"
#include "support/driver.hpp"
#include "support/metric_option.hpp"

namespace quintet::driver {

struct arguments {
  std::string input, dataset, output, selection, ties, predict, predict_output;
  hdbscan::cluster_options options;
  metric_option metric;
  std::optional<double> cut_height;
  bool membership = false, assign_noise = false, precomputed = false, resume = false;
  std::string checkpoint;
  double checkpoint_minutes = 10;
};

po::options_description describe(arguments& a);

/// Options that depend on each other, and words with a meaning. Throws InvalidArgument.
void check(arguments& a, const session& session);

}  // namespace quintet::driver
