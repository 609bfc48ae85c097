// A product whose bound exceeds 2^31 entries while it has few: minutes of products are not needed for that, gigabytes
// of addresses are.
#include <gtest/gtest.h>

#include <algorithm>

#include "quintet/spgemm/multiply.hpp"
#include "spgemm/tuning.hpp"
#include "support/sparse_matrices.hpp"

namespace quintet::spgemm {
namespace {

TEST(spgemm_large_bound, has_64_bit_places) {
  // Every row of A meets 100 rows of B with the same 100 of 10,000 columns.
  constexpr std::int64_t m = 220'000, k = 100, columns = 100, step = 100;
  const auto a = test::matrix_of_rows<float, std::int32_t>(m, k, 1, [](std::int64_t) {
    std::vector<std::int64_t> all(k);
    for (std::int64_t j = 0; j < k; ++j) all[std::size_t(j)] = j;
    return all;
  });
  const auto b = test::matrix_of_rows<float, std::int32_t>(k, columns * step, 2, [](std::int64_t) {
    std::vector<std::int64_t> some;
    for (std::int64_t j = 0; j < columns; ++j) some.push_back(j * step + (j == columns - 1 ? step - 1 : 0));
    return some;
  });
  for (const double scale : {1e-6, 1.0}) {
    report told;
    const auto c = multiply(a.view(), b.view(), tuned({.prediction_scale = scale}), Device::host(), &told);
    EXPECT_EQ(told.products, m * k * columns);  // 2.2e9
    EXPECT_EQ(told.upper_bound, m * columns * step);
    EXPECT_GT(told.upper_bound, std::int64_t{1} << 31);
    EXPECT_EQ(c.nnz(), m * columns);
    EXPECT_LE(told.peak_bytes - told.scratch_bytes, std::int64_t(1.3 * double(c.bytes())) + 24 * m);
    for (const std::int64_t i : {std::int64_t{0}, m / 2, m - 1}) {
      EXPECT_EQ(c.row_pointers[i], i * columns);
      const auto row = multiply(a.view().slice(i, i + 1), b.view());
      EXPECT_TRUE(std::equal(row.values.begin(), row.values.end(), c.values.data() + i * columns));
      EXPECT_TRUE(std::equal(row.columns.begin(), row.columns.end(), c.columns.data() + i * columns));
    }
  }
}

}  // namespace
}  // namespace quintet::spgemm
