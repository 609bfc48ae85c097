// Status of points of the hyperbolic models, on its way into Python.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "arrays.hpp"
#include "quintet/poincare/distances.hpp"

namespace quintet::python {

/// 0 inside, 1 outside, 2 not finite, as uint8.
inline nb::object to_numpy_status(const std::vector<poincare::point_status>& status) {
  std::vector<std::uint8_t> values(status.size());
  for (std::size_t i = 0; i < status.size(); ++i) values[i] = std::uint8_t(status[i]);
  return to_numpy(std::move(values));
}

inline nb::object status_or_none(const std::vector<poincare::point_status>& status, bool wanted) {
  return wanted ? to_numpy_status(status) : nb::none();
}

inline nb::object report_or_none(const poincare::point_report& report, bool wanted) {
  if (!wanted) return nb::none();
  return nb::make_tuple(to_numpy_status(report.queries), to_numpy_status(report.points));
}

}  // namespace quintet::python
