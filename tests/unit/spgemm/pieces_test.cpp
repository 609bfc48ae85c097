// What comes from the same pieces: sums, sparse times dense, and a count of triangles.
#include <gtest/gtest.h>

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
  const auto a = test::uniform_matrix<V, I>(50, 30, 6, 3);
  const std::int64_t n = 19, stride = 23;
  std::vector<V> x(30 * stride), y(50 * stride, -1);
  random_stream random(4);
  for (auto& value : x) value = random.uniform<V>();
  std::vector<V> expected(50 * n);
  for (std::int64_t i = 0; i < 50; ++i)
    for (std::int64_t k = a.row_pointers[i]; k < a.row_pointers[i + 1]; ++k)
      for (std::int64_t j = 0; j < n; ++j)
        expected[std::size_t(i * n + j)] += a.values[k] * x[std::size_t(a.columns[k] * stride + j)];
  test::on_every_device([&](const Device& device) {
    multiply_dense<V, I>(a.view(), {x.data(), 30, n, stride}, {y.data(), 50, n, stride}, device);
    for (std::int64_t i = 0; i < 50; ++i) {
      for (std::int64_t j = 0; j < n; ++j) EXPECT_EQ(y[std::size_t(i * stride + j)], expected[std::size_t(i * n + j)]);
      EXPECT_EQ(y[std::size_t(i * stride + n)], -1);  // between the rows nothing is written
    }
  });
  const auto wrong = [&] { multiply_dense<V, I>(a.view(), {x.data(), 29, n, stride}, {y.data(), 50, n, stride}); };
  expect_invalid(wrong, "x is 29 x 19");
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
