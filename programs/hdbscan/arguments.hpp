// What quintet-hdbscan is asked to do.
#pragma once

#include <boost/program_options.hpp>
#include <optional>
#include <string>

#include "quintet/hdbscan/hdbscan.hpp"
#include "quintet/hdbscan/sweep.hpp"
#include "support/driver.hpp"
#include "support/integer_list.hpp"
#include "support/metric_option.hpp"

namespace quintet::driver {

struct arguments {
  std::string input, dataset, weights, output, selection, ties, predict, predict_output, model, score, sweep_labels,
      best_output;
  hdbscan::cluster_options options;
  integer_list min_cluster_size, min_samples;
  hdbscan::sweep_options swept;  ///< what --sweep alone has
  metric_option metric;
  std::optional<double> cut_height;
  std::optional<std::int64_t> clusters;
  bool membership = false, assign_noise = false, precomputed = false, resume = false, sweep = false;
  std::string checkpoint;
  double checkpoint_minutes = 10;
};

po::options_description describe(arguments& a);

/// Options that depend on each other, and words with a meaning. Throws InvalidArgument.
void check(arguments& a, const session& session);

/// Those of --sweep, of checked arguments.
hdbscan::sweep_options sweep_options_of(const arguments& a);

}  // namespace quintet::driver
