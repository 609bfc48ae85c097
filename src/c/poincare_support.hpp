// What the C functions of the Poincare ball share.
#pragma once

#include "c/support.hpp"
#include "quintet/c/poincare.h"
#include "quintet/poincare/poincare.hpp"

namespace quintet::c {

///@{
/// Options as the library has them; null: the defaults.
quintet_poincare_options known_options(const quintet_poincare_options* c_options);
lorentz::distance_options lorentz_options(const quintet_lorentz_options* chosen);
poincare::ball_options ball_options(const quintet_poincare_options* c_options);

inline void give_status(const poincare::row_status& status, std::uint8_t* out) {
  if (out != nullptr)
    std::transform(status.begin(), status.end(), out, [](poincare::point_status s) { return std::uint8_t(s); });
}

/// The arrays of a function of groups.
struct groups_of_points {
  const void* points;
  std::int64_t stride, n, dim;
  const std::int64_t* offsets;
  std::int64_t groups;
  const void* weights;
  void* out;
  std::int64_t out_stride;
};

/// Calls mean(points, offsets, weights, out) with the caller's arrays.
template <class Mean>
poincare::mean_report mean_of(quintet_type number, const groups_of_points& g, Mean&& mean) {
  const scalar_type type = real_type(number);
  require_argument(g.groups >= 0 && g.groups < std::numeric_limits<std::int64_t>::max(), "groups", g.groups, ">= 0");
  return mean(any_input(g.points, type, g.n, g.dim, g.stride, "points"), array(g.offsets, g.groups + 1, "offsets"),
              any_optional(g.weights, type, g.n, "weights"),
              any_output(g.out, type, g.groups, g.dim, g.out_stride, "out"));
}

}  // namespace quintet::c
