// --metric, --curvature and --p.
#pragma once

#include <optional>
#include <string>

#include "quintet/pairwise/metric.hpp"
#include "support/command_line.hpp"

namespace quintet::driver {

struct metric_option {
  std::string name;
  std::optional<double> curvature, p;

  void add_to(po::options_description& options);
  /// Throws InvalidArgument for an unknown name, and for a parameter with a metric that has none.
  point_metric value() const;
};

}  // namespace quintet::driver
