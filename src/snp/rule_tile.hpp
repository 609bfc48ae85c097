// How the columns of a rule are cut into tiles.
#pragma once

#include <cstdint>

namespace quintet::snp {

/// Patterns in a line: values are padded to whole lines, so that packs never straddle.
constexpr int line = 8;
/// Columns of one tile.
constexpr int tile_columns = 64;

/// One tile of a rule: up to tile_columns columns of a family of blocks that differ only in the axes of the rule.
struct rule_tile {
  std::int32_t family, chunk;
};

}  // namespace quintet::snp
