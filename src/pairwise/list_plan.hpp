// How searches for neighbours are cut up.
#pragma once

#include <cstdint>

#include "quintet/device/device.hpp"

namespace quintet::pairwise {

/// Parts of the column blocks that keep a device busy with so few row blocks.
std::int64_t column_splits(std::int64_t row_blocks, std::int64_t col_blocks, const Device& device);

/// Blocks to a group of a table with an entry of `entry_bytes` for every point and group, so that it fits into `bytes`.
std::int64_t group_size(std::int64_t points, std::int64_t blocks, std::int64_t bytes, std::int64_t entry_bytes);

}  // namespace quintet::pairwise
