// Checks of arguments that the functions of the family share.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "core/require_element.hpp"
#include "pairwise/check_points.hpp"
#include "quintet/hdbscan/core_distances.hpp"

namespace quintet::hdbscan {

using pairwise::check_distance;
using pairwise::check_points;

/// Real is the type in which distances are divided.
template <class Real>
void check_alpha(double alpha) {
  using limits = std::numeric_limits<Real>;
  require_argument(alpha > 0 && alpha < std::numeric_limits<double>::infinity(), "alpha", alpha, "> 0 and finite");
  require_argument(alpha >= double(limits::min()) && alpha <= double(limits::max()), "alpha", alpha,
                   text("in [", limits::min(), ", ", limits::max(), "] for points of this precision"));
}

/// Whether there were fewer other points than `options` ask for; `neighbours` is what was used.
inline bool is_clamped(const core_options& options, std::int64_t neighbours) {
  return neighbours < options.min_samples - (options.count_self ? 1 : 0);
}

}  // namespace quintet::hdbscan
