// --metric, --curvature, --p, --unit, --sphere-radius and --factors.
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
  std::optional<product_space> factors;

  void add_to(po::options_description& options);
  /// Throws InvalidArgument for an unknown name, and for a parameter with a metric that has none.
  point_metric value() const;
  /// Points of --metric lorentz and product are double, and words.
  void choose_precision(session& session) const {
    const metric kind = value().kind;
    if (kind == metric::lorentz || kind == metric::product || is_of_words(kind)) session.prefer_double();
  }
};

}  // namespace quintet::driver
