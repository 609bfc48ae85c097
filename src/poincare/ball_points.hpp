// Points of the ball packed for the pairwise engine.
#pragma once

#include <vector>

#include "pairwise/panels.hpp"
#include "poincare/curvature.hpp"
#include "quintet/core/storage16.hpp"
#include "quintet/core/view.hpp"
#include "quintet/poincare/ball.hpp"

namespace quintet::poincare {

template <class Real>
struct ball_points {
  pairwise::panels<Real> panels;  ///< with factors, unless the ball is flat
  std::vector<point_status> status;
  bool may_lose = false;  ///< see pairwise::scanned_points
};

/// Packs rows onto `device`, where they are if they lie in a Buffer.
template <class Storage>
ball_points<accumulator_t<Storage>> pack_ball(const matrix_view<const Storage>& points, const ball& b,
                                              const Device& device);

/// Bytes of the panels and factors of `count` points.
template <class Real>
std::int64_t ball_bytes(std::int64_t count, std::int64_t dim, const Device& device);

/// Throws InvalidArgument for the first row whose status is not inside: "name[i] must be ... ", where row 0 is called
/// first_row.
template <class Storage>
void require_inside(const matrix_view<const Storage>& points, const std::vector<point_status>& status, const char* name,
                    const ball& b, std::int64_t first_row = 0);

}  // namespace quintet::poincare
