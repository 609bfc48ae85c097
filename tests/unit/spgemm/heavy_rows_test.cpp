// Rows with a large share of the products, and sizes beyond 32 bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "quintet/spgemm/add.hpp"
#include "quintet/spgemm/multiply.hpp"
#include "quintet/spgemm/transpose.hpp"
#include "reference/spgemm_reference.hpp"
#include "spgemm/tuning.hpp"
#include "support/devices.hpp"
#include "support/sanitized.hpp"
#include "support/sparse_matrices.hpp"

namespace quintet::spgemm {
namespace {

using matrix = csr<double, std::int32_t>;

// What a row has at least before it is shared by several workers.
constexpr std::int64_t heavy = 131'072;

std::int64_t most_products(const matrix& a, const matrix& b) {
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    std::int64_t products = 0;
    for (std::int64_t k = a.row_pointers[i]; k < a.row_pointers[i + 1]; ++k)
      products += b.row_pointers[a.columns[k] + 1] - b.row_pointers[a.columns[k]];
    most = std::max(most, products);
  }
  return most;
}

// Heavy rows are cut into ranges of columns when there are several workers; the bits stay those of one worker.
void expect_shared(const matrix& a, const matrix& b) {
  ASSERT_GT(most_products(a, b), heavy);
  set_threads(1);
  report alone;
  const matrix expected = multiply(a.view(), b.view(), {}, Device::host(), &alone);
  EXPECT_EQ(alone.rows_by_strategy[int(strategy::windows)], 0);
  EXPECT_EQ(expected, test::reference_product<plus_times>(a.view(), b.view()));
  for (const int count : {2, 5, 16}) {
    set_threads(count);
    for (const double scale : {1e-6, 1.0}) {
      report told;
      EXPECT_EQ(multiply(a.view(), b.view(), tuned({.prediction_scale = scale}), Device::host(), &told), expected);
      EXPECT_GT(told.rows_by_strategy[int(strategy::windows)], 0) << count;
      EXPECT_EQ(told.nnz, expected.nnz());
    }
    EXPECT_EQ((multiply_masked<plus_times, complement_mask>(a.view(), b.view(), expected.view())).nnz(), 0);
  }
  set_threads(0);
  // Teams of a device share them, too, though a window of one team had room for all columns.
  ASSERT_LE(b.cols, 1 << 17);
  for (const Device& device : test::other_devices()) {
    report told;
    EXPECT_EQ(multiply(a.view(), b.view(), {.host_products = 0}, device, &told), expected);
    EXPECT_GT(told.rows_by_strategy[int(strategy::windows)], 0);
  }
}

TEST(spgemm_heavy_rows, arrow) {
  // Rows 0 to 2 of A are dense, all others have one entry or three.
  const auto a = test::matrix_of_rows<double, std::int32_t>(test::sized(20'000, 2'000), 20'000, 1, [](std::int64_t i) {
    if (i % 1000 == 0 && i > 0) return std::vector<std::int64_t>{0, 1, i};
    if (i >= 3) return std::vector<std::int64_t>{i};
    std::vector<std::int64_t> row(20'000);
    std::iota(row.begin(), row.end(), 0);
    return row;
  });
  const auto b = test::uniform_matrix<double, std::int32_t>(20'000, 30'000, 8, 2);
  expect_shared(a, b);
}

TEST(spgemm_heavy_rows, power_law) {
  // Row i of A has 20,000 / (i + 1) entries: the first one an eighth of all (a quarter under a sanitizer).
  const auto a = test::matrix_of_rows<double, std::int32_t>(test::sized(2000, 30), 20'000, 3, [](std::int64_t i) {
    std::vector<std::int64_t> row;
    for (std::int64_t j = i % 7; j < 20'000; j += i + 1) row.push_back(j);
    return row;
  });
  expect_shared(a, test::uniform_matrix<double, std::int32_t>(20'000, 20'000, 9, 4));
}

// A row of a wide product is computed range of columns by range on the host; empty and short rows of B, and ranges
// without a product, are among them. Its bits are those of a narrow product, of any semiring, with and without a mask.
template <class Semiring>
void expect_wide_rows() {
  constexpr std::int64_t cols = 300'000, rows_of_b = 60;
  const auto a = test::matrix_of_rows<double, std::int32_t>(5, rows_of_b, 5, [](std::int64_t i) {
    std::vector<std::int64_t> row;
    for (std::int64_t j = i == 2 ? 58 : 0; j < rows_of_b; ++j) row.push_back(rows_of_b - 1 - j);
    return row;
  });
  const auto b = test::matrix_of_rows<double, std::int32_t>(rows_of_b, cols, 6, [](std::int64_t j) {
    std::vector<std::int64_t> row;
    for (std::int64_t c = 13 * j; c < cols && j % 7 != 3; c += 40 + j)
      if (c / 65'536 != 2) row.push_back(c);
    return row;
  });
  ASSERT_GT(most_products(a, b), 1 << 15);
  const matrix expected = test::reference_product<Semiring>(a.view(), b.view());
  const auto mask = test::uniform_matrix<double, std::int32_t>(a.rows, cols, 5000, 7);
  for (const int count : {1, 2, 5}) {
    set_threads(count);
    EXPECT_EQ(multiply<Semiring>(a.view(), b.view(), {}, Device::host()), expected);
    const matrix outside =
        multiply_masked<Semiring, complement_mask>(a.view(), b.view(), mask.view(), {}, Device::host());
    const matrix inside = multiply_masked<Semiring>(a.view(), b.view(), mask.view(), {}, Device::host());
    EXPECT_LT(outside.nnz(), expected.nnz());
    EXPECT_EQ(add(1.0, inside.view(), 1.0, outside.view()), expected);
  }
  set_threads(0);
}

TEST(spgemm_heavy_rows, wide_rows_in_ranges_of_columns) {
  expect_wide_rows<plus_times>();
  expect_wide_rows<min_plus>();
  expect_wide_rows<or_and>();
}

TEST(spgemm_heavy_rows, one_row_is_everything) {
  // Between the cuts lie empty ranges: B uses every tenth column of a tenth of its width.
  const auto a = test::matrix_of_rows<double, std::int32_t>(1, 3000, 4, [](std::int64_t) {
    std::vector<std::int64_t> row(3000);
    for (std::int64_t j = 0; j < 3000; ++j) row[std::size_t(j)] = 2999 - j;  // in no order
    return row;
  });
  const auto b = test::matrix_of_rows<double, std::int32_t>(3000, 100'000, 5, [](std::int64_t i) {
    std::vector<std::int64_t> row;
    for (std::int64_t j = 60'000 + i % 10; j < 70'000; j += 100) row.push_back(j);
    return row;
  });
  expect_shared(a, b);
}

TEST(spgemm_sizes, products_and_bounds_beyond_32_bits_by_counting) {
  // 50,000 x 1 times 1 x 50,000, dense: 2.5e9 products and entries, of which none is computed.
  const auto column =
      test::matrix_of_rows<float, std::int32_t>(50'000, 1, 1, [](auto) { return std::vector<std::int64_t>{0}; });
  const auto row = transpose(column.view());
  size_estimate e = estimate(column.view(), row.view());
  EXPECT_EQ(e.products, 2'500'000'000);
  EXPECT_EQ(e.upper_bound, 2'500'000'000);
  EXPECT_EQ(e.predicted_nnz, 2'500'000'000);
  EXPECT_EQ(e.upper_bytes, 8 * 50'001 + 8 * std::int64_t{2'500'000'000});

  // 2000 x 2000, dense, squared: 8e9 products for 4e6 entries (4.5e9 under a sanitizer).
  const std::int64_t side = test::sized(2000, 1650);
  const auto dense = test::block_diagonal<float, std::int32_t>(1, side, 2);
  e = estimate(dense.view(), dense.view());
  EXPECT_EQ(e.products, side * side * side);
  EXPECT_EQ(e.upper_bound, side * side);
  EXPECT_EQ(e.predicted_nnz, side * side);

  // Every row of A meets 40 rows of B with the same 1500 columns, one in forty: a bound forty times too large.
  const auto forty = test::matrix_of_rows<float, std::int32_t>(40'000, 40, 3, [](auto) {
    std::vector<std::int64_t> all(40);
    for (std::int64_t j = 0; j < 40; ++j) all[std::size_t(j)] = j;
    return all;
  });
  const auto spread = test::matrix_of_rows<float, std::int32_t>(40, 59'961, 4, [](auto) {
    std::vector<std::int64_t> some;
    for (std::int64_t j = 0; j < 59'961; j += 40) some.push_back(j);
    return some;
  });
  e = estimate(forty.view(), spread.view());
  EXPECT_EQ(e.products, 40'000 * std::int64_t{40 * 1500});
  EXPECT_EQ(e.upper_bound, 40'000 * std::int64_t{59'961});  // 2.4e9
  EXPECT_EQ(e.predicted_nnz, 40'000 * std::int64_t{1500});
}

}  // namespace
}  // namespace quintet::spgemm
