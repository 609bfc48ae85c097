// --metric, --curvature and --p.
#pragma once

#include <boost/program_options.hpp>
#include <optional>
#include <string>

#include "quintet/pairwise/metric.hpp"

namespace quintet::driver {

struct metric_option {
  std::string name;
  std::optional<double> curvature, p;

  void add_to(boost::program_options::options_description& options);
  /// Throws InvalidArgument for an unknown name, and for a parameter with a metric that has none.
  point_metric value() const;
};

}  // namespace quintet::driver
