// Surrogates of listed pairs of host points.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pairwise/panels.hpp"

namespace quintet::pairwise {

/// pairs: i0, j0, i1, j1, ... in [0, rows). NaN where a point is invalid. Cost: 2 D loads a pair; it runs on the host,
/// where the points are.
template <class Storage>
std::vector<accumulator_t<Storage>> pair_surrogates(matrix_view<const Storage> points,
                                                    const row_scan<accumulator_t<Storage>>& scan,
                                                    std::span<const std::int64_t> pairs);

}  // namespace quintet::pairwise
