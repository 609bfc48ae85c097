#include "pairwise/minima.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "support/near.hpp"
#include "support/real_types.hpp"

namespace quintet::test {
namespace {

using pairwise::host_shape;

template <class Real>
class tile_minima_of : public ::testing::Test {};
TYPED_TEST_SUITE(tile_minima_of, real_types);

// The host looks at rows and columns at once. Smallest numbers are the same whatever the order, NaN is passed over.
TYPED_TEST(tile_minima_of, a_host_tile_are_those_of_a_plain_loop) {
  using Real = TypeParam;
  using shape = host_shape<Real>;
  constexpr int side = shape::side, pitch = shape::pitch;
  constexpr Real infinity = std::numeric_limits<Real>::infinity(), nan = std::numeric_limits<Real>::quiet_NaN();
  std::mt19937 random(1);
  const auto scratch = std::make_unique<pairwise::detail::tile_scratch<Real, shape>>();
  const auto minima = std::make_unique<pairwise::tile_minima<Real, shape>>();
  for (int round = 0; round < 20; ++round) {
    for (Real& value : scratch->values) {
      const std::uint32_t drawn = random();
      // Few numbers, so that there are ties; and every round more that is missing.
      value = int(drawn % 20) < round ? (drawn % 3 == 0 ? infinity : nan) : Real(drawn % 1000) / 7;
    }
    if (round % 2 == 1)
      for (int k = 0; k < side; ++k) {
        scratch->values[5 * pitch + k] = nan;
        scratch->values[k * pitch + side - 1] = round % 4 == 1 ? nan : infinity;
      }
    pairwise::find_minima<Real, shape>(device::host_team{}, scratch->values, *minima);
    std::vector<Real> of_row(side, infinity), of_col(side, infinity);
    for (int i = 0; i < side; ++i)
      for (int j = 0; j < side; ++j) {
        const Real value = scratch->values[i * pitch + j];
        if (value < of_row[std::size_t(i)]) of_row[std::size_t(i)] = value;
        if (value < of_col[std::size_t(j)]) of_col[std::size_t(j)] = value;
      }
    expect_same_bits(std::vector<Real>(minima->row, minima->row + side), of_row);
    expect_same_bits(std::vector<Real>(minima->col, minima->col + side), of_col);
  }
}

}  // namespace
}  // namespace quintet::test
