// Products that are added to a matrix, and products of a transpose.
#include "quintet/spgemm/multiply_add.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <vector>

#include "quintet/spgemm/add.hpp"
#include "quintet/spgemm/left_transposed.hpp"
#include "quintet/spgemm/transpose.hpp"
#include "reference/spgemm_reference.hpp"
#include "spgemm/tuning.hpp"
#include "support/csr_types.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/sparse_matrices.hpp"

namespace quintet::spgemm {
namespace {

using matrix = csr<double, std::int32_t>;

/// Row by row, products in the order of A's entries, C last.
template <class Value, class Index>
csr<Value, Index> reference_sum(Value alpha, const csr_view<Value, Index>& a, const csr_view<Value, Index>& b,
                                Value beta, const csr_view<Value, Index>& c) {
  std::vector<std::int64_t> row_pointers{0};
  std::vector<Index> columns;
  std::vector<Value> values;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    std::map<Index, Value> row;
    for (std::int64_t k = a.row_pointers[i]; k < a.row_pointers[i + 1]; ++k) {
      const Value factor = alpha * a.values[k];
      for (std::int64_t q = b.row_pointers[a.columns[k]]; q < b.row_pointers[a.columns[k] + 1]; ++q) {
        const Value product = factor * b.values[q];
        row[b.columns[q]] += product;
      }
    }
    for (std::int64_t k = c.row_pointers[i]; k < c.row_pointers[i + 1]; ++k) {
      const Value product = beta * c.values[k];
      row[c.columns[k]] += product;
    }
    for (const auto& [column, value] : row) {
      columns.push_back(column);
      values.push_back(value);
    }
    row_pointers.push_back(std::int64_t(columns.size()));
  }
  return {a.rows, b.cols, row_pointers, columns, values};
}

template <class Value, class Index>
void expect_sum(Value alpha, const csr_view<Value, Index>& a, const csr_view<Value, Index>& b, Value beta,
                const csr_view<Value, Index>& c, const options& settings = {}) {
  const auto expected = reference_sum(alpha, a, b, beta, c);
  test::on_every_device([&](const Device& device) {
    report stats;
    EXPECT_EQ(multiply_add(alpha, a, b, beta, c, settings, device, &stats), expected);
    EXPECT_EQ(stats.nnz, expected.nnz());
    EXPECT_EQ(stats.ran_on_host, device.kind() == device_kind::host);
    const auto there = multiply_add(alpha, upload(a, device), upload(b, device), beta, upload(c, device), settings);
    EXPECT_TRUE(there.device() == device);
    EXPECT_EQ(download(there), expected);
  });
}

template <class T>
class spgemm_sum_of : public ::testing::Test {};
TYPED_TEST_SUITE(spgemm_sum_of, test::all_csr_types);

TYPED_TEST(spgemm_sum_of, products_and_a_matrix) {
  using Value = typename TypeParam::value;
  using Index = typename TypeParam::index;
  const auto a = test::uniform_matrix<Value, Index>(60, 40, 4, 1);
  const auto b = test::uniform_matrix<Value, Index>(40, 90, 5, 2);
  const auto c = test::uniform_matrix<Value, Index>(60, 90, 6, 3);
  expect_sum(Value(1), a.view(), b.view(), Value(1), c.view());
  expect_sum(Value(-0.7), a.view(), b.view(), Value(2.3), c.view());
  expect_sum(Value(0), a.view(), b.view(), Value(1), c.view());
  expect_sum(Value(1), a.view(), b.view(), Value(0), c.view());
}

TEST(spgemm_sum, bits_of_a_product_and_a_sum) {
  const auto a = test::rmat_matrix<double, std::int32_t>(7, 8, 4);
  const auto c = test::uniform_matrix<double, std::int32_t>(a.rows, a.cols, 9, 5);
  const matrix expected = add(1.0, multiply(a.view(), a.view()).view(), -1.5, c.view());
  EXPECT_EQ(multiply_add(1.0, a.view(), a.view(), -1.5, c.view()), expected);
}

TEST(spgemm_sum, every_strategy) {
  const auto a = test::rmat_matrix<double, std::int32_t>(6, 12, 2);
  const auto c = test::uniform_matrix<double, std::int32_t>(a.rows, a.cols, 3, 6);
  for (int s = 0; s < strategies; ++s)
    if (s != int(strategy::windows))
      expect_sum(0.3, a.view(), a.view(), -2.0, c.view(), tuned({.accumulator = strategy(s)}));
  for (const tuning& t : {tuning{.prediction_scale = 1e-6}, tuning{.arena_entries = 0}, tuning{.table_size_cap = 8}})
    expect_sum(0.3, a.view(), a.view(), -2.0, c.view(), tuned(t));
}

TEST(spgemm_sum, meshes_and_any_threads) {
  const auto a = test::block_diagonal<double, std::int32_t>(4, 40, 3);
  const auto c = test::uniform_matrix<double, std::int32_t>(a.rows, a.cols, 3, 7);
  for (const int count : {1, 3}) {
    set_threads(count);
    expect_sum(0.3, a.view(), a.view(), 0.1, c.view());
  }
  set_threads(0);
}

// Row pointers that count from elsewhere, unsorted and repeated columns.
TEST(spgemm_sum, slices_and_repeated_columns) {
  const auto all = test::uniform_matrix<double, std::int32_t>(50, 20, 6, 4);
  const auto b = test::uniform_matrix<double, std::int32_t>(20, 20, 3, 5);
  expect_sum(2.0, all.view().slice(20, 45), b.view(), 3.0, all.view().slice(5, 30));
  expect_sum(2.0, all.view().slice(20, 45), all.view().slice(30, 50), 3.0, all.view().slice(0, 25));
  const matrix repeated{2, 3, {0, 4, 6}, {2, 0, 2, 2, 1, 1}, {1.0, 2.0, 4.0, 8.0, 16.0, 32.0}};
  const matrix square{2, 2, {0, 2, 4}, {1, 0, 0, 0}, {1.0, 2.0, 4.0, 8.0}};
  expect_sum(1.0, square.view(), repeated.view(), 2.0, repeated.view());
}

TEST(spgemm_sum, empty_operands) {
  const matrix none{0, 3, {0}, {}, {}}, square{3, 3, {0, 0, 0, 0}, {}, {}};
  const matrix entry{3, 3, {0, 1, 1, 1}, {2}, {5.0}};
  const matrix thin{3, 0, {0, 0, 0, 0}, {}, {}}, flat{0, 3, {0}, {}, {}};
  EXPECT_EQ(multiply_add(1.0, none.view(), square.view(), 1.0, none.view()), none);
  EXPECT_EQ(multiply_add(1.0, square.view(), square.view(), 1.0, square.view()), square);
  EXPECT_EQ(multiply_add(1.0, thin.view(), flat.view(), 1.0, entry.view()), entry);
  EXPECT_EQ(multiply_add(1.0, thin.view(), flat.view(), 0.0, entry.view()).values[0], 0);
}

TEST(spgemm_sum, numbers_that_are_none) {
  const double infinity = std::numeric_limits<double>::infinity();
  const matrix one{1, 1, {0, 1}, {0}, {1.0}}, infinite{1, 1, {0, 1}, {0}, {infinity}};
  EXPECT_EQ(multiply_add(1.0, one.view(), one.view(), 1.0, infinite.view()).values[0], infinity);
  EXPECT_NE(multiply_add(0.0, infinite.view(), one.view(), 1.0, one.view()).values[0], 1);  // NaN
  EXPECT_EQ(multiply_add(infinity, one.view(), one.view(), 1.0, one.view()).values[0], infinity);
}

TEST(spgemm_sum, errors) {
  const auto a = test::uniform_matrix<double, std::int32_t>(4, 5, 2, 1),
             b = test::uniform_matrix<double, std::int32_t>(5, 6, 2, 2);
  const auto c = test::uniform_matrix<double, std::int32_t>(4, 6, 2, 3);
  expect_invalid([&] { multiply_add(1.0, a.view(), a.view(), 1.0, c.view()); },
                 "a.cols must be b.rows (a is 4 x 5, b is 4 x 5)");
  expect_invalid([&] { multiply_add(1.0, a.view(), b.view(), 1.0, b.view()); },
                 "c must have the size of the product, 4 x 6 (c is 5 x 6)");
  const matrix outside{4, 6, {0, 1, 1, 1, 1}, {6}, {1.0}};
  expect_invalid([&] { multiply_add(1.0, a.view(), b.view(), 1.0, outside.view()); }, "c.columns");
  const matrix falls{4, 6, {0, 1, 0, 1, 1}, {5}, {1.0}};
  expect_invalid([&] { multiply_add(1.0, a.view(), b.view(), 1.0, falls.view()); }, "c.row_pointers");
}

template <class Semiring, class Value, class Index>
void expect_left_transposed(const csr<Value, Index>& a, const csr<Value, Index>& b) {
  const auto expected = test::reference_product<Semiring>(test::reference_transpose(a).view(), b.view());
  test::on_every_device([&](const Device& device) {
    report stats;
    EXPECT_EQ(multiply_left_transposed<Semiring>(a.view(), b.view(), {}, device, &stats), expected);
    EXPECT_EQ(stats.nnz, expected.nnz());
    EXPECT_EQ(stats.ran_on_host, device.kind() == device_kind::host);
    const auto there_a = upload(a.view(), device), there_b = upload(b.view(), device);
    EXPECT_EQ(multiply_left_transposed<Semiring>(there_a.view(), there_b.view()), expected);
  });
}

TYPED_TEST(spgemm_sum_of, left_transposed) {
  const auto a = test::uniform_matrix<typename TypeParam::value, typename TypeParam::index>(50, 30, 5, 1);
  const auto b = test::uniform_matrix<typename TypeParam::value, typename TypeParam::index>(50, 70, 4, 2);
  expect_left_transposed<plus_times>(a, b);
  expect_left_transposed<min_plus>(a, b);
  expect_left_transposed<or_and>(a, b);
  expect_left_transposed<plus_times>(a, a);
}

TEST(spgemm_left_transposed, empty_and_errors) {
  const matrix none{0, 3, {0}, {}, {}};
  EXPECT_EQ(multiply_left_transposed(none.view(), none.view()), (matrix{3, 3, {0, 0, 0, 0}, {}, {}}));
  const matrix one{1, 3, {0, 1}, {2}, {1.0}};
  expect_invalid([&] { multiply_left_transposed(one.view(), none.view()); },
                 "a.rows must be b.rows (a is 1 x 3, b is 0 x 3)");
  const matrix outside{1, 3, {0, 1}, {3}, {1.0}};
  expect_invalid([&] { multiply_left_transposed(outside.view(), one.view()); }, "a.columns");
}

}  // namespace
}  // namespace quintet::spgemm
