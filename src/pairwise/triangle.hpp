// Numbering of the tiles (I, J), I <= J, of a symmetric matrix of blocks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace quintet::pairwise {

struct tile_index {
  std::int64_t row, col;
};

/// Number of tiles I <= J of a matrix of blocks x blocks.
inline std::int64_t triangle_size(std::int64_t blocks) { return blocks * (blocks + 1) / 2; }

/// Position of tile (I, J), I <= J, when the tiles are stored row by row: J runs from I to blocks - 1.
inline std::int64_t triangle_position(std::int64_t blocks, std::int64_t i, std::int64_t j) {
  return i * blocks - i * (i - 1) / 2 + (j - i);
}

/// The tile at a position of these: J runs from I to blocks - 1.
inline tile_index tile_at_position(std::int64_t blocks, std::int64_t position) {
  // Row i begins at i blocks - i (i - 1) / 2.
  const double b = double(2 * blocks + 1);
  auto i = std::int64_t((b - std::sqrt(std::max(0.0, b * b - 8.0 * double(position)))) / 2);
  i = std::clamp<std::int64_t>(i, 0, blocks - 1);
  while (i > 0 && triangle_position(blocks, i, i) > position) --i;
  while (i + 1 < blocks && triangle_position(blocks, i + 1, i + 1) <= position) ++i;
  return {i, i + position - triangle_position(blocks, i, i)};
}

namespace detail {
/// The largest b with b (b + 1) / 2 <= number.
inline std::int64_t triangle_root(std::int64_t number) {
  auto b = std::int64_t((std::sqrt(8.0 * double(number) + 1) - 1) / 2);
  while (b * (b + 1) / 2 > number) --b;
  while ((b + 1) * (b + 2) / 2 <= number) ++b;
  return b;
}
}  // namespace detail

/// Tile `number` when tiles are visited column by column: neighbours in time share a block of columns.
inline tile_index tile_by_column(std::int64_t number) {
  const std::int64_t j = detail::triangle_root(number);
  return {number - j * (j + 1) / 2, j};
}

/// Tile `number` when tiles are visited diagonal by diagonal, the main one first.
inline tile_index tile_by_diagonal(std::int64_t blocks, std::int64_t number) {
  // Counted from the far corner, diagonals have 1, 2, ... tiles.
  const std::int64_t from_end = triangle_size(blocks) - 1 - number;
  const std::int64_t length = detail::triangle_root(from_end) + 1;
  const std::int64_t along = length - 1 - (from_end - length * (length - 1) / 2);
  return {along, along + blocks - length};
}

}  // namespace quintet::pairwise
