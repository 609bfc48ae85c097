// The first entries of every row, against rows of the whole product that are sorted.
#include "quintet/spgemm/top.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include "max_times.hpp"
#include "reference/spgemm_reference.hpp"
#include "spgemm/tuning.hpp"
#include "support/csr_types.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/sparse_matrices.hpp"

namespace quintet::spgemm {
namespace {

using matrix = csr<double, std::int32_t>;

/// The rows of `whole`, each sorted by value and column, cut, and put back in the order of columns.
template <class Semiring, class Value, class Index>
csr<Value, Index> reference_top(const csr<Value, Index>& whole, const top_selection& selection) {
  constexpr bool is_least = std::is_same_v<Semiring, min_plus>;
  std::vector<std::int64_t> row_pointers{0};
  std::vector<Index> columns;
  std::vector<Value> values;
  for (std::int64_t i = 0; i < whole.rows; ++i) {
    std::vector<std::pair<Value, Index>> row;
    for (std::int64_t k = whole.row_pointers[i]; k < whole.row_pointers[i + 1]; ++k) {
      const Value x = whole.values[k];
      if (selection.threshold) {
        const auto limit = Value(*selection.threshold);
        if (std::isnan(x) || (is_least ? x > limit : x < limit)) continue;
      }
      row.emplace_back(x, whole.columns[k]);
    }
    std::stable_sort(row.begin(), row.end(), [](const auto& x, const auto& y) {
      if (std::isnan(x.first) || std::isnan(y.first)) return !std::isnan(x.first) && std::isnan(y.first);
      return is_least ? x.first < y.first : x.first > y.first;
    });
    row.resize(std::min(row.size(), std::size_t(selection.count)));
    if (!selection.by_value)
      std::sort(row.begin(), row.end(), [](const auto& x, const auto& y) { return x.second < y.second; });
    for (const auto& [value, column] : row) {
      values.push_back(value);
      columns.push_back(column);
    }
    row_pointers.push_back(std::int64_t(columns.size()));
  }
  return {whole.rows, whole.cols, row_pointers, columns, values};
}

/// The same arrays; NaN equals NaN.
template <class Value, class Index>
void expect_same(const csr<Value, Index>& c, const csr<Value, Index>& expected) {
  EXPECT_EQ(c.rows, expected.rows);
  EXPECT_EQ(c.cols, expected.cols);
  EXPECT_EQ(c.row_pointers, expected.row_pointers);
  EXPECT_EQ(c.columns, expected.columns);
  ASSERT_EQ(c.values.size(), expected.values.size());
  for (std::int64_t k = 0; k < c.nnz(); ++k)
    EXPECT_TRUE(c.values[k] == expected.values[k] || (std::isnan(c.values[k]) && std::isnan(expected.values[k]))) << k;
}

template <class Semiring, class Value, class Index>
void expect_top(const csr<Value, Index>& a, const csr<Value, Index>& b, const top_selection& selection,
                const options& settings = {.host_products = 0}) {
  const auto expected = reference_top<Semiring>(test::reference_product<Semiring>(a.view(), b.view()), selection);
  test::on_every_device([&](const Device& device) {
    report stats;
    expect_same(multiply_top<Semiring>(a.view(), b.view(), selection, settings, device, &stats), expected);
    EXPECT_EQ(stats.nnz, expected.nnz());
    EXPECT_GE(stats.upper_bound, expected.nnz());
    EXPECT_EQ(stats.ran_on_host, device.kind() == device_kind::host);
  });
}

template <class T>
class spgemm_top_of : public ::testing::Test {};
TYPED_TEST_SUITE(spgemm_top_of, test::all_csr_types);

TYPED_TEST(spgemm_top_of, counts_thresholds_and_orders) {
  using V = typename TypeParam::value;
  using I = typename TypeParam::index;
  const auto a = test::uniform_matrix<V, I>(60, 50, 8, 1), b = test::uniform_matrix<V, I>(50, 70, 9, 2);
  for (const bool by_value : {false, true}) {
    for (const std::int64_t count : {std::int64_t{1}, std::int64_t{2}, std::int64_t{7}, std::int64_t{1000}, INT64_MAX})
      expect_top<plus_times>(a, b, {.count = count, .by_value = by_value});
    expect_top<plus_times>(a, b, {.count = 5, .threshold = 0.1, .by_value = by_value});
    expect_top<plus_times>(a, b, {.count = INT64_MAX, .threshold = 0, .by_value = by_value});
    expect_top<plus_times>(a, b, {.count = 5, .threshold = 1e6, .by_value = by_value});
    expect_top<min_plus>(a, b, {.count = 5, .by_value = by_value});
    expect_top<min_plus>(a, b, {.count = 5, .threshold = -0.5, .by_value = by_value});
    expect_top<or_and>(a, b, {.count = 5, .by_value = by_value});
  }
}

TEST(spgemm_top, semirings_of_programs) {
  const auto a = test::uniform_matrix<double, std::int32_t>(40, 40, 8, 3);
  expect_top<test::max_times>(a, a, {.count = 3});
}

// Sums of few whole numbers: many are equal, and the smaller columns have to win.
TEST(spgemm_top, ties) {
  auto a = test::uniform_matrix<double, std::int32_t>(80, 60, 6, 4);
  auto b = test::uniform_matrix<double, std::int32_t>(60, 200, 20, 5);
  for (double& x : a.values) x = 1;
  for (double& x : b.values) x = x < 0 ? -1 : 1;
  for (const std::int64_t count : {1, 3, 10, 40}) {
    expect_top<plus_times>(a, b, {.count = count});
    expect_top<plus_times>(a, b, {.count = count, .by_value = true});
    expect_top<min_plus>(a, b, {.count = count, .by_value = true});
    expect_top<plus_times>(a, b, {.count = count, .threshold = 1, .by_value = true});
  }
}

TEST(spgemm_top, not_a_number_ranks_last) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const matrix one{1, 1, {0, 1}, {0}, {1}};
  const matrix b{1, 9, {0, 9}, {0, 1, 2, 3, 4, 5, 6, 7, 8}, {nan, -infinity, -0.0, nan, 0, infinity, nan, 3, 0}};
  for (std::int64_t count = 1; count < 11; ++count)
    for (const bool by_value : {false, true}) {
      expect_top<plus_times>(one, b, {.count = count, .by_value = by_value});
      expect_top<plus_times>(one, b, {.count = count, .threshold = -infinity, .by_value = by_value});
      expect_top<plus_times>(one, b, {.count = count, .threshold = 0, .by_value = by_value});
    }
  const matrix ranked = multiply_top(one.view(), b.view(), {.count = 7, .by_value = true}, {}, Device::host());
  EXPECT_EQ(ranked.columns, (array<std::int32_t>{5, 7, 2, 4, 8, 1, 0}));
}

// Long rows of few different values, the last wanted one among equal ones, infinities, both zeros or NaN.
template <class Value>
void expect_special_values() {
  using limits = std::numeric_limits<Value>;
  const Value values[] = {limits::quiet_NaN(),
                          -limits::infinity(),
                          -limits::max(),
                          -1,
                          -limits::denorm_min(),
                          -0.0,
                          0.0,
                          limits::denorm_min(),
                          1,
                          limits::max(),
                          limits::infinity()};
  const csr<Value, std::int32_t> one{1, 1, {0, 1}, {0}, {1}};
  random_stream random(9);
  for (int kinds : {2, 3, 11}) {
    std::vector<std::int32_t> columns(300);
    std::vector<Value> row(300);
    std::iota(columns.begin(), columns.end(), 0);
    const std::uint32_t first = random.below(11);
    for (Value& x : row) x = values[(first + random.below(std::uint32_t(kinds))) % 11];
    const csr<Value, std::int32_t> b{1, 300, {0, 300}, columns, row};
    for (const std::int64_t count : {1, 15, 60, 150, 270, 299})
      for (const top_selection& selection :
           {top_selection{.count = count}, top_selection{.count = count, .by_value = true},
            top_selection{.count = count, .threshold = -1}, top_selection{.count = count, .threshold = -0.0}}) {
        expect_top<plus_times>(one, b, selection);
        expect_top<min_plus>(one, b, selection);
      }
  }
}
TEST(spgemm_top, special_values_of_float) { expect_special_values<float>(); }
TEST(spgemm_top, special_values_of_double) { expect_special_values<double>(); }

// Rows of all lengths, with every accumulator, arenas that are too small, and blocks of a row on devices.
TEST(spgemm_top, every_strategy) {
  const auto a = test::rmat_matrix<double, std::int32_t>(7, 12, 6);
  for (const tuning& t : {tuning{.prediction_scale = 1e-6}, tuning{.arena_entries = 0}, tuning{.table_size_cap = 8},
                          tuning{.top_block_bytes = 1}, tuning{.top_block_bytes = 10'000}})
    expect_top<plus_times>(a, a, {.count = 4}, tuned(t));
  for (int s = 0; s < strategies; ++s) {
    if (s == int(strategy::windows)) continue;
    expect_top<plus_times>(a, a, {.count = 4, .by_value = true}, tuned({.accumulator = strategy(s)}));
  }
}

TEST(spgemm_top, any_threads_and_rows_that_several_share) {
  // The first row has 180,000 products, more than a worker takes alone.
  const auto a = test::matrix_of_rows<double, std::int32_t>(40, 600, 7, [](std::int64_t i) {
    std::vector<std::int64_t> row(i == 0 ? 600 : 5);
    std::iota(row.begin(), row.end(), i);
    return row;
  });
  const auto b = test::uniform_matrix<double, std::int32_t>(600, 20'000, 300, 8);
  for (const top_selection& selection : {top_selection{.count = 10}, top_selection{.count = 10, .by_value = true},
                                         top_selection{.count = INT64_MAX, .threshold = 1.5}}) {
    const auto expected = reference_top<plus_times>(test::reference_product<plus_times>(a.view(), b.view()), selection);
    for (const int count : {1, 2, 5}) {
      set_threads(count);
      report stats;
      EXPECT_EQ(multiply_top(a.view(), b.view(), selection, {}, Device::host(), &stats), expected);
      EXPECT_EQ(stats.rows_by_strategy[int(strategy::windows)] > 0, count > 1);
    }
    set_threads(0);
    for (const Device& device : test::other_devices())
      EXPECT_EQ(multiply_top(a.view(), b.view(), selection, {}, device), expected);
  }
}

TEST(spgemm_top, hypersparse_and_unsorted_operands) {
  const auto a = test::uniform_matrix<double, std::int64_t>(50, 70, 5, 12);
  const auto b = test::uniform_matrix<double, std::int64_t>(70, std::int64_t{1} << 40, 40, 13);
  expect_top<plus_times>(a, b, {.count = 6, .by_value = true});
  random_stream random(15);
  const auto any = test::matrix_of_rows<double, std::int64_t>(50, 50, 16, [&](std::int64_t) {
    std::vector<std::int64_t> row(random.below(12));
    for (auto& j : row) j = random.below(50);
    return row;
  });
  const auto c = multiply(any.view(), any.view());
  test::on_every_device([&](const Device& device) {
    EXPECT_EQ(multiply_top(any.view(), any.view(), {.count = 6}, {}, device),
              reference_top<plus_times>(c, {.count = 6}));
  });
}

TEST(spgemm_top, empty_matrices_and_errors) {
  const matrix none{0, 4, {0}, {}, {}}, b{4, 3, {0, 1, 1, 2, 2}, {2, 0}, {1, 2}},
      empty{5, 4, {0, 0, 0, 0, 0, 0}, {}, {}};
  expect_top<plus_times>(none, b, {.count = 1});
  expect_top<plus_times>(empty, b, {.count = 1, .by_value = true});
  expect_invalid([&] { multiply_top(b.view(), b.view(), {.count = 1}); }, "a is 4 x 3, b is 4 x 3");
  expect_invalid([&] { multiply_top(empty.view(), b.view(), {.count = 0}); }, "count must be >= 1 (count=0)");
  expect_invalid([&] { multiply_top(empty.view(), b.view(), {.threshold = NAN}); }, "threshold must be a number");
}

}  // namespace
}  // namespace quintet::spgemm
