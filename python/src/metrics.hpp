// Metrics out of Python: a name and one number.
#pragma once

#include <string>

#include "quintet/pairwise/metric.hpp"

namespace quintet::python {

/// `parameter` is that of point_metric; those of a product are in its name. Python's "haversine" is of radians, as
/// scikit-learn's; see metric_name().
inline point_metric metric_of(const std::string& name, double parameter) {
  if (name == "haversine of degrees") return {metric::haversine, parameter};
  constexpr std::string_view of_factors = "product of ";
  if (name.starts_with(of_factors)) return parse_product_space(std::string_view(name).substr(of_factors.size()));
  point_metric result(parse_metric(name), parameter);
  if (result.kind == metric::haversine) result.unit = angle_unit::radians;
  return result;
}

}  // namespace quintet::python
