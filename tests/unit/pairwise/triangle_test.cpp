#include "pairwise/triangle.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace quintet::pairwise {
namespace {

// Calls number -> tile for all numbers, and expects every tile (I, J), I <= J, once.
template <class Number>
void expect_all_tiles_once(std::int64_t blocks, Number tile) {
  std::set<std::pair<std::int64_t, std::int64_t>> seen;
  for (std::int64_t number = 0; number < triangle_size(blocks); ++number) {
    const tile_index t = tile(number);
    EXPECT_TRUE(0 <= t.row && t.row <= t.col && t.col < blocks) << blocks << ": " << t.row << ", " << t.col;
    seen.emplace(t.row, t.col);
  }
  EXPECT_EQ(std::int64_t(seen.size()), triangle_size(blocks));
}

TEST(triangle, numberings_visit_every_tile_once) {
  for (std::int64_t blocks = 0; blocks < 40; ++blocks) {
    expect_all_tiles_once(blocks, [](std::int64_t number) { return tile_by_column(number); });
    expect_all_tiles_once(blocks, [=](std::int64_t number) { return tile_by_diagonal(blocks, number); });
  }
}

TEST(triangle, diagonals_come_in_order) {
  constexpr std::int64_t blocks = 23;
  std::int64_t before = 0;
  for (std::int64_t number = 0; number < triangle_size(blocks); ++number) {
    const tile_index t = tile_by_diagonal(blocks, number);
    EXPECT_GE(t.col - t.row, before);
    before = t.col - t.row;
  }
}

TEST(triangle, positions_follow_one_another_by_rows) {
  constexpr std::int64_t blocks = 23;
  std::int64_t next = 0;
  for (std::int64_t i = 0; i < blocks; ++i)
    for (std::int64_t j = i; j < blocks; ++j) EXPECT_EQ(triangle_position(blocks, i, j), next++);
  EXPECT_EQ(next, triangle_size(blocks));
}

// The square root in double is off by one there.
TEST(triangle, numbers_beyond_the_precision_of_a_square_root) {
  for (const std::int64_t j : {std::int64_t(94906265), std::int64_t(1) << 27, (std::int64_t(1) << 31) - 2}) {
    const std::int64_t first = j * (j + 1) / 2;
    for (const std::int64_t along : {std::int64_t(0), std::int64_t(1), j - 1, j}) {
      EXPECT_EQ(tile_by_column(first + along).col, j);
      EXPECT_EQ(tile_by_column(first + along).row, along);
    }
  }
}

}  // namespace
}  // namespace quintet::pairwise
