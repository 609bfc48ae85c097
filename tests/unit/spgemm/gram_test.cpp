// Products with the transpose, and their upper halves.
#include "quintet/spgemm/gram.hpp"

#include <gtest/gtest.h>

#include <limits>

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

template <class Value, class Index>
csr<Value, Index> reference_upper(const csr<Value, Index>& whole) {
  std::vector<std::int64_t> row_pointers{0};
  std::vector<Index> columns;
  std::vector<Value> values;
  for (std::int64_t i = 0; i < whole.rows; ++i) {
    for (std::int64_t k = whole.row_pointers[i]; k < whole.row_pointers[i + 1]; ++k) {
      if (whole.columns[k] < i) continue;
      columns.push_back(whole.columns[k]);
      values.push_back(whole.values[k]);
    }
    row_pointers.push_back(std::int64_t(columns.size()));
  }
  return {whole.rows, whole.cols, row_pointers, columns, values};
}

/// `whole`: X^T X, then X X^T.
template <class Semiring, class Value, class Index>
void expect_gram(const csr<Value, Index>& x, const csr<Value, Index> (&whole)[2],
                 const options& settings = {.host_products = 0}) {
  for (const int side : {0, 1}) {
    SCOPED_TRACE(side);
    const auto upper = reference_upper(whole[side]);
    test::on_every_device([&](const Device& device) {
      report stats, whole_stats;
      const auto transposed = transpose(x.view());
      multiply<Semiring>(side == 0 ? transposed.view() : x.view(), side == 0 ? x.view() : transposed.view(), settings,
                         device, &whole_stats);
      EXPECT_EQ(gram<Semiring>(x.view(), gram_side(side), gram_part::whole, settings, device, &stats), whole[side]);
      EXPECT_EQ(stats.products, whole_stats.products);
      EXPECT_EQ(gram<Semiring>(x.view(), gram_side(side), gram_part::upper, settings, device, &stats), upper);
      EXPECT_LT(stats.products, whole_stats.products);
      EXPECT_EQ(stats.nnz, upper.nnz());
      EXPECT_EQ(stats.ran_on_host, device.kind() == device_kind::host);
    });
  }
}

template <class Semiring, class Value, class Index>
void expect_gram(const csr<Value, Index>& x, const options& settings = {.host_products = 0}) {
  const auto t = test::reference_transpose(x);
  const csr<Value, Index> whole[] = {test::reference_product<Semiring>(t.view(), x.view()),
                                     test::reference_product<Semiring>(x.view(), t.view())};
  expect_gram<Semiring>(x, whole, settings);
}

template <class T>
class spgemm_gram_of : public ::testing::Test {};
TYPED_TEST_SUITE(spgemm_gram_of, test::all_csr_types);

TYPED_TEST(spgemm_gram_of, whole_and_upper_half) {
  const auto x = test::uniform_matrix<typename TypeParam::value, typename TypeParam::index>(60, 90, 7, 1);
  expect_gram<plus_times>(x);
  expect_gram<min_plus>(x);
  expect_gram<or_and>(x);
}

TEST(spgemm_gram, every_strategy) {
  const auto x = test::rmat_matrix<double, std::int32_t>(6, 12, 2);
  for (int s = 0; s < strategies; ++s)
    if (s != int(strategy::windows)) expect_gram<plus_times>(x, tuned({.accumulator = strategy(s)}));
  for (const tuning& t : {tuning{.prediction_scale = 1e-6}, tuning{.arena_entries = 0}, tuning{.table_size_cap = 8}})
    expect_gram<plus_times>(x, tuned(t));
}

TEST(spgemm_gram, meshes_and_any_threads) {
  const auto x = test::block_diagonal<double, std::int32_t>(4, 40, 3);
  for (const int count : {1, 3}) {
    set_threads(count);
    expect_gram<plus_times>(x);
  }
  set_threads(0);
}

// With so many entries, threads look for the beginnings of rows in blocks; entries of one column are repeated.
TEST(spgemm_gram, blocks_of_rows) {
  const auto x = test::uniform_matrix<double, std::int32_t>(3000, 400, 40, 9);
  matrix repeated{x.rows, x.cols, x.row_pointers, x.columns, x.values};
  for (std::int64_t i = 0; i < x.rows; i += 3)
    for (std::int64_t k = x.row_pointers[i]; k + 1 < x.row_pointers[i + 1]; k += 5)
      repeated.columns[k] = repeated.columns[k + 1];
  for (const matrix& m : {x, repeated}) {
    ASSERT_GT(m.nnz(), 100'000);
    const auto t = test::reference_transpose(m);
    const matrix upper = reference_upper(multiply(t.view(), m.view()));
    for (const int count : {1, 3}) {
      set_threads(count);
      EXPECT_EQ(gram(m.view(), gram_side::columns, gram_part::upper, {}, Device::host()), upper);
    }
    set_threads(0);
  }
}

// A slice, whose row pointers count from elsewhere.
TEST(spgemm_gram, slices) {
  const auto all = test::uniform_matrix<double, std::int32_t>(50, 40, 6, 4);
  const csr_view<double, std::int32_t> slice = all.view().slice(20, 45);
  const matrix copy{
      25, 40,
      [&] {
        std::vector<std::int64_t> pointers;
        for (std::int64_t i = 20; i <= 45; ++i) pointers.push_back(all.row_pointers[i] - all.row_pointers[20]);
        return pointers;
      }(),
      std::vector<std::int32_t>(all.columns.data() + all.row_pointers[20], all.columns.data() + all.row_pointers[45]),
      std::vector<double>(all.values.data() + all.row_pointers[20], all.values.data() + all.row_pointers[45])};
  test::on_every_device([&](const Device& device) {
    for (const gram_side side : {gram_side::columns, gram_side::rows})
      EXPECT_EQ(gram(slice, side, gram_part::whole, {}, device), gram(copy.view(), side, gram_part::whole, {}, device));
  });
}

// Columns that do not ascend, and repeated ones: the halves of C need not be equal, and the upper one counts.
TEST(spgemm_gram, rows_in_any_order) {
  random_stream random(5);
  auto shuffled = test::uniform_matrix<double, std::int32_t>(40, 30, 8, 6);
  for (std::int64_t i = 0; i < shuffled.rows; ++i)
    for (std::int64_t k = shuffled.row_pointers[i] + 1; k < shuffled.row_pointers[i + 1]; ++k) {
      const std::int64_t other =
          shuffled.row_pointers[i] + random.below(std::uint32_t(k - shuffled.row_pointers[i] + 1));
      std::swap(shuffled.columns[k], shuffled.columns[other]);
    }
  const auto repeated = test::matrix_of_rows<double, std::int32_t>(30, 12, 7, [&](std::int64_t) {
    std::vector<std::int64_t> row(random.below(12));
    for (auto& j : row) j = random.below(12);
    return row;
  });
  for (const matrix& x : {shuffled, repeated}) {
    const matrix t = transpose(x.view());
    const matrix whole[] = {multiply(t.view(), x.view()), multiply(x.view(), t.view())};
    expect_gram<plus_times>(x, whole);
  }
}

// Far more columns than entries: they are numbered anew while the product runs.
TEST(spgemm_gram, hypersparse) {
  constexpr std::int64_t cols = std::int64_t{5} << 20;
  random_stream random(8);
  const auto x = test::matrix_of_rows<double, std::int32_t>(50, cols, 9, [&](std::int64_t) {
    std::vector<std::int64_t> row;
    for (std::int64_t j = random.below(4); j < 40; j += 1 + random.below(8)) row.push_back(j * 130'003);
    return row;
  });
  const matrix t = transpose(x.view());
  for (const gram_side side : {gram_side::columns, gram_side::rows}) {
    const bool is_rows = side == gram_side::rows;
    const matrix whole = multiply(is_rows ? x.view() : t.view(), is_rows ? t.view() : x.view());
    report stats;
    EXPECT_EQ(gram(x.view(), side, gram_part::whole, {}, Device::host()), whole);
    EXPECT_EQ(gram(x.view(), side, gram_part::upper, {}, Device::host(), &stats), reference_upper(whole));
    EXPECT_LT(stats.products, estimate(is_rows ? x.view() : t.view(), is_rows ? t.view() : x.view()).products);
  }
}

TEST(spgemm_gram, empty_matrices_and_errors) {
  const matrix none{0, 4, {0}, {}, {}}, empty{5, 4, {0, 0, 0, 0, 0, 0}, {}, {}}, bad{1, 1, {0, 1}, {3}, {1}};
  for (const gram_part part : {gram_part::whole, gram_part::upper}) {
    EXPECT_EQ(gram(none.view(), gram_side::columns, part).rows, 4);
    EXPECT_EQ(gram(none.view(), gram_side::rows, part).rows, 0);
    EXPECT_EQ(gram(empty.view(), gram_side::rows, part).nnz(), 0);
  }
  expect_invalid([&] { gram(bad.view()); }, "columns must be in [0, 1)");
}

}  // namespace
}  // namespace quintet::spgemm
