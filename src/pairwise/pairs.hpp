// Reduced distances of listed pairs of points.
#pragma once

#include <cstdint>

#include "pairwise/scanned_points.hpp"

namespace quintet::pairwise {

/// out[p] := reduced distance of points pairs(p, 0) and pairs(p, 1), both in [0, count()); NaN where one is invalid.
/// All in memory of the points' device, where it runs. Cost: 2 D loads a pair.
template <class Storage>
void reduced_pairs(const scanned_points<Storage>& points, matrix_view<const std::int64_t> pairs,
                   accumulator_t<Storage>* out);

}  // namespace quintet::pairwise
