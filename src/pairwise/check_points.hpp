// What every function of points checks first.
#pragma once

#include <cstdint>
#include <limits>

#include "quintet/core/error.hpp"
#include "quintet/core/view.hpp"

namespace quintet::pairwise {

/// N >= 0 and small enough for the 32-bit indices inside tiles and lists; D >= 1.
template <class Storage>
void check_points(matrix_view<const Storage> points) {
  constexpr std::int64_t max = std::numeric_limits<std::int32_t>::max() - 1024;
  require_argument(points.rows() <= max, "points.rows", points.rows(), text("<= ", max));
  if (points.rows() > 0) require_argument(points.cols() >= 1, "points.cols", points.cols(), ">= 1");
}

}  // namespace quintet::pairwise
