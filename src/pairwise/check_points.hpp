// What every function of points checks first.
#pragma once

#include <cstdint>
#include <limits>

#include "quintet/core/error.hpp"
#include "quintet/core/view.hpp"
#include "quintet/pairwise/metric.hpp"

namespace quintet::pairwise {

/// The largest number of points.
constexpr std::int64_t max_points = std::numeric_limits<std::int32_t>::max() - 1024;

/// N >= 0 and small enough for the 32-bit indices inside tiles and lists; D >= 1.
inline void check_points(std::int64_t rows, std::int64_t cols) {
  require_argument(rows <= max_points, "points.rows", rows, text("<= ", max_points));
  if (rows > 0) require_argument(cols >= 1, "points.cols", cols, ">= 1");
}
template <class Storage>
void check_points(matrix_view<const Storage> points) {
  check_points(points.rows(), points.cols());
}

/// Throws for a metric that is no distance, with which nothing but neighbours can be found.
inline void check_distance(const point_metric& distance) {
  if (distance.kind == metric::integer_inner_product)
    throw InvalidArgument(text("metric must be a distance here (metric=", to_string(distance.kind),
                               "): integer_inner_product is for neighbours alone"));
}

}  // namespace quintet::pairwise
