// What comes from the same pieces: sums, sparse times dense, and a count of triangles.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "quintet/spgemm/add.hpp"
#include "quintet/spgemm/dense_product.hpp"
#include "quintet/spgemm/multiply.hpp"
#include "quintet/spgemm/transpose.hpp"
#include "support/csr_types.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/sparse_matrices.hpp"

namespace quintet::spgemm {
namespace {

template <class Value, class Index>
std::vector<double> dense_of(const csr<Value, Index>& m) {
  std::vector<double> dense(std::size_t(m.rows * m.cols));
  for (std::int64_t i = 0; i < m.rows; ++i)
    for (std::int64_t k = m.row_pointers[i]; k < m.row_pointers[i + 1]; ++k)
      dense[std::size_t(i * m.cols + m.columns[k])] += m.values[k];
  return dense;
}

template <class T>
class spgemm_pieces_of : public ::testing::Test {};
TYPED_TEST_SUITE(spgemm_pieces_of, test::all_csr_types);

TYPED_TEST(spgemm_pieces_of, add) {
  using V = typename TypeParam::value;
  const auto a = test::uniform_matrix<V, typename TypeParam::index>(30, 40, 6, 1);
  const auto b = test::uniform_matrix<V, typename TypeParam::index>(30, 40, 6, 2);
  const auto c = add(V(2), a.view(), V(-0.5), b.view());
  const auto x = dense_of(a), y = dense_of(b), z = dense_of(c);
  for (std::size_t e = 0; e < x.size(); ++e) EXPECT_EQ(z[e], V(2.0 * x[e] - 0.5 * y[e]));
  for (std::int64_t i = 0; i < c.rows; ++i)
    for (std::int64_t k = c.row_pointers[i] + 1; k < c.row_pointers[i + 1]; ++k)
      EXPECT_LT(c.columns[k - 1], c.columns[k]);
  // Entries that cancel stay.
  EXPECT_EQ(add(V(1), a.view(), V(-1), a.view()).nnz(), a.nnz());
  expect_invalid([&] { add(V(1), a.view(), V(1), transpose(b.view()).view()); }, "same size");
}

TYPED_TEST(spgemm_pieces_of, add_slices_with_unsorted_and_repeated_columns) {
  using V = typename TypeParam::value;
  using I = typename TypeParam::index;
  const csr<V, I> a{3, 4, {0, 1, 4, 4}, {0, 3, 1, 3}, {9, 1, 2, 4}}, b{2, 4, {0, 2, 3}, {2, 1, 0}, {8, 16, 32}};
  const csr<V, I> expected{2, 4, {0, 3, 4}, {1, 2, 3, 0}, {18, 8, 5, 32}};
  EXPECT_EQ(add(V(1), a.view().slice(1, 3), V(1), b.view()), expected);
}

TYPED_TEST(spgemm_pieces_of, transpose) {
  using V = typename TypeParam::value;
  using I = typename TypeParam::index;
  const auto a = test::uniform_matrix<V, I>(30, 40, 6, 3);
  const auto t = transpose(a.view());
  const auto x = dense_of(a), y = dense_of(t);
  for (std::size_t i = 0; i < 30; ++i)
    for (std::size_t j = 0; j < 40; ++j) EXPECT_EQ(x[i * 40 + j], y[j * 30 + i]);
  EXPECT_EQ(transpose(t.view()), a);
  const csr<V, I> repeated{2, 2, {0, 3, 4}, {1, 0, 1, 1}, {1, 2, 4, 8}};
  EXPECT_EQ(transpose(repeated.view()), (csr<V, I>{2, 2, {0, 1, 4}, {0, 0, 0, 1}, {2, 1, 4, 8}}));
  EXPECT_EQ(transpose(repeated.view().slice(1, 2)), (csr<V, I>{2, 1, {0, 0, 1}, {0}, {8}}));
  EXPECT_EQ(transpose(csr<V, I>{0, 2, {0}, {}, {}}.view()), (csr<V, I>{2, 0, {0, 0, 0}, {}, {}}));
}

TYPED_TEST(spgemm_pieces_of, sparse_times_dense) {
  using V = typename TypeParam::value;
  using I = typename TypeParam::index;
  const auto a = test::uniform_matrix<V, I>(150, 30, 6, 3);
  const auto rows = std::size_t(a.rows);
  random_stream random(4);
  for (const std::int64_t n : {1, 2, 19, 20, 47})
    for (const std::int64_t stride : {n, n + 4}) {
      std::vector<V> x(std::size_t(30 * stride)), y(rows * std::size_t(stride), -1);
      for (auto& value : x) value = random.uniform<V>();
      std::vector<V> expected = y;
      for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          V sum = 0;
          for (std::int64_t k = a.row_pointers[i]; k < a.row_pointers[i + 1]; ++k)
            sum += a.values[k] * x[std::size_t(a.columns[k] * stride + j)];
          expected[std::size_t(i * stride + j)] = sum;
        }
      test::on_every_device([&](const Device& device) {
        std::vector<V> result = y;
        multiply_dense<V, I>(a.view(), {x.data(), 30, n, stride}, {result.data(), a.rows, n, stride}, device);
        EXPECT_EQ(result, expected) << n << " columns, stride " << stride;  // between the rows nothing is written
      });
    }
  std::vector<V> x(30 * 19), y(150 * 19);
  const auto wrong = [&] { multiply_dense<V, I>(a.view(), {x.data(), 29, 19}, {y.data(), 150, 19}); };
  expect_invalid(wrong, "x is 29 x 19");
}

TYPED_TEST(spgemm_pieces_of, sparse_times_vector_names_the_first_column_that_is_out_of_range) {
  using V = typename TypeParam::value;
  using I = typename TypeParam::index;
  const std::vector<V> x(30, 1);
  std::vector<V> y(2000);
  for (const I column : {I(30), I(-1), std::numeric_limits<I>::max(), std::numeric_limits<I>::min()}) {
    auto a = test::uniform_matrix<V, I>(2000, 30, 6, 3);
    a.columns[a.nnz() - 1] = column;
    a.columns[777] = column;
    test::on_every_device([&](const Device& device) {
      const auto product = [&] { multiply_dense<V, I>(a.view(), {x.data(), 30, 1}, {y.data(), 2000, 1}, device); };
      expect_invalid(product, "entry 777 is " + std::to_string(column));
    });
  }
}

// Sums of blocks of rows: equal parts of the rows, as many as the sizes say.
TYPED_TEST(spgemm_pieces_of, transpose_times_dense) {
  using V = typename TypeParam::value;
  using I = typename TypeParam::index;
  for (const std::int64_t rows : {150, 12'345}) {
    const auto a = test::uniform_matrix<V, I>(rows, 300, 6, 3);
    const std::int64_t blocks = rows == 150 ? 1 : 16;
    ASSERT_TRUE(blocks == 1 ? a.nnz() < 1 << 15 : a.nnz() / 2400 >= 16);
    for (const std::int64_t n : {1, 2, 8, 15})
      for (const std::int64_t stride : {n, n + 3}) {
        random_stream random(4);
        std::vector<V> x(std::size_t(rows * stride)), y(std::size_t(300 * stride), -1);
        for (auto& value : x) value = random.uniform<V>();
        std::vector<V> expected = y;
        for (std::int64_t j = 0; j < 300; ++j)
          for (std::int64_t c = 0; c < n; ++c) expected[std::size_t(j * stride + c)] = 0;
        for (std::int64_t b = 0, i = 0; b < blocks; ++b) {
          std::vector<V> part(std::size_t(300 * n));
          for (const std::int64_t end = i + rows / blocks + (b < rows % blocks); i < end; ++i)
            for (std::int64_t k = a.row_pointers[i]; k < a.row_pointers[i + 1]; ++k)
              for (std::int64_t c = 0; c < n; ++c)
                part[std::size_t(a.columns[k] * n + c)] += a.values[k] * x[std::size_t(i * stride + c)];
          for (std::int64_t e = 0; e < 300 * n; ++e)
            expected[std::size_t(e / n * stride + e % n)] += part[std::size_t(e)];
        }
        for (const int threads : {1, 3}) {
          set_threads(threads);
          test::on_every_device([&](const Device& device) {
            std::vector<V> result = y;
            multiply_dense_transposed<V, I>(a.view(), {x.data(), rows, n, stride}, {result.data(), 300, n, stride},
                                            device);
            EXPECT_EQ(result, expected) << n << " columns, stride " << stride;
          });
        }
        set_threads(0);
      }
  }
}

TYPED_TEST(spgemm_pieces_of, transpose_times_dense_refuses_sizes_and_columns) {
  using V = typename TypeParam::value;
  using I = typename TypeParam::index;
  const std::vector<V> x(2000, 1);
  std::vector<V> y(30);
  auto a = test::uniform_matrix<V, I>(2000, 30, 6, 3);
  const auto product = [&](std::int64_t rows, const Device& device) {
    multiply_dense_transposed<V, I>(a.view(), {x.data(), rows, 1}, {y.data(), 30, 1}, device);
  };
  expect_invalid([&] { product(1999, Device::host()); }, "x is 1999 x 1");
  for (const I column : {I(30), I(-1), std::numeric_limits<I>::max()}) {
    a.columns[a.nnz() - 1] = column;
    a.columns[777] = column;
    test::on_every_device([&](const Device& device) {
      expect_invalid([&] { product(2000, device); }, "entry 777 is " + std::to_string(column));
    });
  }
  const csr<V, I> none{0, 30, {0}, {}, {}};
  std::fill(y.begin(), y.end(), V(7));
  multiply_dense_transposed<V, I>(none.view(), {x.data(), 0, 1}, {y.data(), 30, 1});
  EXPECT_EQ(y, std::vector<V>(30, 0));
}

TYPED_TEST(spgemm_pieces_of, dense_products_where_a_mask_has_entries) {
  using V = typename TypeParam::value;
  using I = typename TypeParam::index;
  const auto all = test::uniform_matrix<V, I>(60, 40, 6, 3);
  const auto mask = all.view().slice(10, 50);
  random_stream random(4);
  for (const std::int64_t n : {0, 1, 7, 8, 21})
    for (const std::int64_t stride : {n, n + 3}) {
      std::vector<V> x(std::size_t(40 * stride)), y(std::size_t(40 * stride));
      for (auto* numbers : {&x, &y})
        for (auto& value : *numbers) value = 2 * random.uniform<V>() - 1;
      std::vector<V> expected;
      for (std::int64_t i = 0; i < 40; ++i)
        for (std::int64_t k = mask.row_pointers[i]; k < mask.row_pointers[i + 1]; ++k) {
          V sums[8] = {};
          for (std::int64_t c = 0; c < n; ++c)
            sums[c % 8] += x[std::size_t(i * stride + c)] * y[std::size_t(mask.columns[k] * stride + c)];
          expected.push_back(((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7])));
        }
      test::on_every_device([&](const Device& device) {
        std::vector<V> values(expected.size());
        const auto count = std::int64_t(values.size());
        multiply_sampled<V, I>(mask, {x.data(), 40, n, stride}, {y.data(), 40, n, stride}, {values.data(), 1, count},
                               device);
        EXPECT_EQ(values, expected) << n;
        expect_invalid(
            [&] {
              multiply_sampled<V, I>(mask, {x.data(), 39, n, stride}, {y.data(), 40, n, stride},
                                     {values.data(), 1, count}, device);
            },
            "x is 39 x");
        expect_invalid(
            [&] {
              multiply_sampled<V, I>(mask, {x.data(), 40, n, stride}, {y.data(), 40, n, stride},
                                     {values.data(), 1, count - 1}, device);
            },
            "values must be a row of mask.nnz()");
      });
    }
}

TEST(spgemm_pieces, triangles_of_a_graph) {
  // Every triangle i < j < k is met once in L * L masked by L, where L is the part below the diagonal.
  auto graph = test::rmat_matrix<double, std::int32_t>(7, 8, 5);
  for (auto& value : graph.values) value = 1;
  const auto both = add(1.0, graph.view(), 1.0, transpose(graph.view()).view());
  const auto lower = test::matrix_of_rows<double, std::int32_t>(both.rows, both.cols, 6, [&](std::int64_t i) {
    std::vector<std::int64_t> row;
    for (std::int64_t k = both.row_pointers[i]; k < both.row_pointers[i + 1]; ++k)
      if (both.columns[k] < i) row.push_back(both.columns[k]);
    return row;
  });
  auto ones = lower;
  for (auto& value : ones.values) value = 1;
  double triangles = 0;
  const auto found = multiply_masked(ones.view(), ones.view(), ones.view());
  for (const double count : found.values) triangles += count;
  const auto d = dense_of(ones);
  const std::int64_t n = ones.rows;
  double expected = 0;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < i; ++j)
      for (std::int64_t k = 0; k < j && d[std::size_t(i * n + j)] != 0; ++k)
        expected += d[std::size_t(i * n + k)] * d[std::size_t(j * n + k)];
  EXPECT_EQ(triangles, expected);
  EXPECT_GT(triangles, 0);
}

}  // namespace
}  // namespace quintet::spgemm
