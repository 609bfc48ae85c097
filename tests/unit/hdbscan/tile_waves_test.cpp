// Tiles by their bounds, in waves of any size.
#include "hdbscan/tile_waves.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "pairwise/triangle.hpp"
#include "support/real_types.hpp"

namespace quintet::hdbscan {
namespace {

template <class Real>
class tile_waves_of : public ::testing::Test {};
TYPED_TEST_SUITE(tile_waves_of, test::real_types);

TYPED_TEST(tile_waves_of, give_everything_useful_once_and_the_smallest_first) {
  std::mt19937_64 random(1);
  for (const int kinds : {1, 3, 1000}) {
    std::vector<TypeParam> value(500);
    for (TypeParam& v : value)
      v = random() % 5 == 0 ? std::numeric_limits<TypeParam>::infinity()
                            : TypeParam(random() % std::uint64_t(kinds)) / TypeParam(kinds);
    std::vector<std::pair<TypeParam, std::int64_t>> expected;
    for (std::size_t i = 0; i < value.size(); ++i)
      if (std::isfinite(value[i])) expected.emplace_back(value[i], i);
    std::sort(expected.begin(), expected.end());
    for (const std::int64_t max : {1, 7, 100, 10000}) {
      tile_waves<TypeParam> waves(value.data(), std::int64_t(value.size()), max);
      std::vector<std::int64_t> given;
      TypeParam largest_before = 0;
      for (std::vector<std::int64_t> wave; !(wave = waves.next()).empty();) {
        EXPECT_LE(std::int64_t(wave.size()), max);
        for (std::size_t e = 1; e < wave.size(); ++e)
          EXPECT_LT(std::pair(value[wave[e - 1]], wave[e - 1]), std::pair(value[wave[e]], wave[e]));
        // Waves follow one another but for values that share the upper bits.
        EXPECT_GE(value[wave.front()] * TypeParam(1.1), largest_before);
        largest_before = value[wave.back()];
        given.insert(given.end(), wave.begin(), wave.end());
      }
      if (max >= std::int64_t(value.size())) {
        ASSERT_EQ(given.size(), expected.size());
        for (std::size_t e = 0; e < given.size(); ++e) EXPECT_EQ(given[e], expected[e].second);
      }
      std::sort(given.begin(), given.end());
      std::vector<std::int64_t> all;
      for (const auto& [v, i] : expected) all.push_back(i);
      std::sort(all.begin(), all.end());
      EXPECT_EQ(given, all) << kinds << " values, " << max << " at a time";
    }
  }
}

TEST(triangle, positions_of_tiles) {
  for (const std::int64_t blocks : {1, 2, 5, 96, 1000}) {
    std::int64_t position = 0;
    for (std::int64_t i = 0; i < blocks; ++i)
      for (std::int64_t j = i; j < blocks; ++j, ++position) {
        ASSERT_EQ(pairwise::triangle_position(blocks, i, j), position);
        const pairwise::tile_index tile = pairwise::tile_at_position(blocks, position);
        ASSERT_EQ(tile.row, i);
        ASSERT_EQ(tile.col, j);
      }
  }
  // Where squares of doubles are not exact.
  const std::int64_t blocks = 100000000;
  for (const std::int64_t row : {std::int64_t(0), std::int64_t(1), blocks / 3, blocks - 1})
    for (const std::int64_t col : {row, blocks - 1}) {
      const pairwise::tile_index tile =
          pairwise::tile_at_position(blocks, pairwise::triangle_position(blocks, row, col));
      EXPECT_EQ(tile.row, row);
      EXPECT_EQ(tile.col, col);
    }
}

}  // namespace
}  // namespace quintet::hdbscan
