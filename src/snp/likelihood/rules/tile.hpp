// How the columns of a rule are cut into tiles.
#pragma once

#include <cstdint>

namespace quintet::snp {

/// Patterns in a line: partial likelihoods are padded to whole lines, so that packs never straddle.
constexpr int line = 8;
/// Columns of one tile.
constexpr int tile_columns = 64;

/// One tile of a rule: up to tile_columns columns of a family of blocks that differ only in the axes of the rule.
struct rule_tile {
  std::int32_t family, chunk;
};

/// Some of a plan's tiles.
struct tile_slice {
  std::int64_t first = 0, count = 0;
};

/// Some tiles on the device.
struct tile_range {
  const rule_tile* first = nullptr;
  std::int64_t count = 0;
};

}  // namespace quintet::snp
