#include "device/bit_count.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <vector>

namespace quintet::device {
namespace {

/// Every width counts what a loop over words does: those with instructions of their own, and those without.
template <int W>
void expect_counts(std::uint64_t pattern) {
  typedef pack<std::uint64_t, W> words;
  std::mt19937_64 random(W);
  bit_counter<W> counter;
  std::vector<std::uint64_t> expected(W, 0);
  for (int block = 0; block < 3; ++block) {
    for (int k = 0; k < bit_counter<W>::words_at_once; ++k) {
      std::uint64_t row[W];
      for (int lane = 0; lane < W; ++lane) {
        row[lane] = pattern != 0 ? pattern : random();
        expected[lane] += std::uint64_t(std::popcount(row[lane]));
      }
      counter.add(load_pack<words>(row), words{});
    }
    counter.settle();
  }
  double found[W];
  store_pack(found, counter.total());
  for (int lane = 0; lane < W; ++lane) EXPECT_EQ(found[lane], double(expected[lane])) << W << " lanes, " << lane;
}

TEST(bit_counter, packs_of_words_are_counted) {
  // All ones fill the bytes.
  for (const std::uint64_t pattern : {std::uint64_t(0), ~std::uint64_t(0), std::uint64_t(1)}) {
    expect_counts<1>(pattern);
    expect_counts<2>(pattern);
    expect_counts<4>(pattern);
    expect_counts<8>(pattern);
    expect_counts<16>(pattern);
  }
}

}  // namespace
}  // namespace quintet::device
