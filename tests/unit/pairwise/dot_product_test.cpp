#include "device/dot_product.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace quintet::device {
namespace {

/// Every width sums what a loop over integers does: with instructions for it, and without.
template <int W>
void expect_sums(int least, int largest) {
  typedef pack<std::uint64_t, W> words;
  std::mt19937_64 random(W);
  std::uniform_int_distribution<int> number(least, largest);
  dot_product<W> sum;
  std::int64_t expected[W] = {};
  for (int k = 0; k < dot_product<W>::words_at_once; ++k) {
    std::int16_t x[W][4], y[W][4];
    for (int lane = 0; lane < W; ++lane)
      for (int part = 0; part < 4; ++part) {
        x[lane][part] = std::int16_t(number(random));
        y[lane][part] = std::int16_t(number(random));
        expected[lane] += std::int64_t(x[lane][part]) * y[lane][part];
      }
    words a, b;
    std::memcpy(&a, x, sizeof a);
    std::memcpy(&b, y, sizeof b);
    sum.add(a, b);
  }
  sum.settle();
  double found[W];
  store_pack(found, sum.total());
  for (int lane = 0; lane < W; ++lane) EXPECT_EQ(found[lane], double(expected[lane])) << W << " lanes, " << lane;
}

TEST(dot_product, packs_of_words_are_summed) {
  for (const auto& [least, largest] : {std::pair(-255, 255), std::pair(255, 255), std::pair(-1, 0)}) {
    expect_sums<1>(least, largest);
    expect_sums<2>(least, largest);
    expect_sums<4>(least, largest);
    expect_sums<8>(least, largest);
    expect_sums<16>(least, largest);
  }
}

}  // namespace
}  // namespace quintet::device
