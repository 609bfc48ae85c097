// --metric, --curvature, --p, --unit and --sphere-radius.
#pragma once

#include <optional>
#include <string>

#include "quintet/pairwise/metric.hpp"
#include "support/driver.hpp"

namespace quintet::driver {

struct metric_option {
  std::string name;
  std::optional<double> curvature, p, sphere_radius;
  std::optional<std::string> unit;

  void add_to(po::options_description& options);
  /// Throws InvalidArgument for an unknown name, and for a parameter with a metric that has none.
  point_metric value() const;
  /// Points of --metric lorentz are double, and words of bits.
  void choose_precision(session& session) const {
    if (value().kind == metric::lorentz || is_of_bits(value().kind)) session.prefer_double();
  }
};

}  // namespace quintet::driver
