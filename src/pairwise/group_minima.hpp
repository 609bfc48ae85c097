// The distance of points to the nearest member of each of some groups.
#pragma once

#include <cstdint>
#include <vector>

#include "pairwise/panels.hpp"

namespace quintet::pairwise {

/// Smallest reduced distance of every row point to the column points of each group, [row][group]; infinity for an empty
/// group. `group` holds the number, in [0, groups), of every column point. Both panels lie on one device and have one
/// dimension. Workspace: the result, on the device.
template <class Real>
std::vector<Real> group_minima(const panels<Real>& rows, const panels<Real>& cols,
                               const std::vector<std::int32_t>& group, std::int64_t groups);

}  // namespace quintet::pairwise
