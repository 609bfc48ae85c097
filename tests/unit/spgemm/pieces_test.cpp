// What comes from the same pieces: sums, sparse times dense, and a count of triangles.
#include <gtest/gtest.h>

#include "quintet/spgemm/add.hpp"
#include "quintet/spgemm/dense_product.hpp"
#include "quintet/spgemm/multiply.hpp"
#include "quintet/spgemm/transpose.hpp"
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

TEST(spgemm_pieces, add) {
  const auto a = test::uniform_matrix<double, std::int32_t>(30, 40, 6, 1);
  const auto b = test::uniform_matrix<double, std::int32_t>(30, 40, 6, 2);
  const auto c = add(2.0, a.view(), -0.5, b.view());
  const auto x = dense_of(a), y = dense_of(b), z = dense_of(c);
  for (std::size_t e = 0; e < x.size(); ++e) EXPECT_EQ(z[e], 2.0 * x[e] - 0.5 * y[e]);
  // Entries that cancel stay.
  EXPECT_EQ(add(1.0, a.view(), -1.0, a.view()).nnz(), a.nnz());
  expect_invalid([&] { add(1.0, a.view(), 1.0, transpose(b.view()).view()); }, "same size");
}

TEST(spgemm_pieces, sparse_times_dense) {
  const auto a = test::uniform_matrix<float, std::int64_t>(50, 30, 6, 3);
  const std::int64_t n = 19, stride = 23;
  std::vector<float> x(30 * stride), y(50 * stride, -1);
  random_stream random(4);
  for (auto& value : x) value = random.uniform<float>();
  std::vector<float> expected(50 * n);
  for (std::int64_t i = 0; i < 50; ++i)
    for (std::int64_t k = a.row_pointers[i]; k < a.row_pointers[i + 1]; ++k)
      for (std::int64_t j = 0; j < n; ++j)
        expected[std::size_t(i * n + j)] += a.values[k] * x[std::size_t(a.columns[k] * stride + j)];
  test::on_every_device([&](const Device& device) {
    multiply_dense<float, std::int64_t>(a.view(), {x.data(), 30, n, stride}, {y.data(), 50, n, stride}, device);
    for (std::int64_t i = 0; i < 50; ++i) {
      for (std::int64_t j = 0; j < n; ++j) EXPECT_EQ(y[std::size_t(i * stride + j)], expected[std::size_t(i * n + j)]);
      EXPECT_EQ(y[std::size_t(i * stride + n)], -1);  // between the rows nothing is written
    }
  });
  const auto wrong = [&] {
    multiply_dense<float, std::int64_t>(a.view(), {x.data(), 29, n, stride}, {y.data(), 50, n, stride});
  };
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
