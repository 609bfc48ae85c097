// Names every function template that public headers declare and the library compiles, so that g++ has to find what
// another compiler has built: a constraint, say, is part of a function's name in one compiler and not in the other.
#include <quintet/hdbscan/precomputed.hpp>
#include <quintet/neighbours/neighbours.hpp>
#include <quintet/spgemm/add.hpp>
#include <quintet/spgemm/complex_product.hpp>
#include <quintet/spgemm/dense_product.hpp>
#include <quintet/spgemm/device_csr.hpp>
#include <quintet/spgemm/gram.hpp>
#include <quintet/spgemm/left_transposed.hpp>
#include <quintet/spgemm/multiply.hpp>
#include <quintet/spgemm/multiply_add.hpp>
#include <quintet/spgemm/plan.hpp>
#include <quintet/spgemm/summary.hpp>
#include <quintet/spgemm/top.hpp>
#include <quintet/spgemm/transpose.hpp>
#include <quintet/spgemm/triple_plan.hpp>
#include <quintet/svd/applications.hpp>
#include <quintet/svd/kabsch.hpp>

#include "expect.hpp"

namespace {

template <class Value, class Index>
void sparse_products() {
  namespace sp = quintet::spgemm;
  const sp::csr<Value, Index> matrix{2, 2, {0, 1, 2}, {1, 0}, {2, 3}};
  const auto a = matrix.view();
  check(a, "a");
  expect(sp::multiply(a, a).nnz(), 2, "multiply");
  expect(sp::multiply<sp::min_plus>(a, a).nnz(), 2, "multiply<min_plus>");
  expect(sp::multiply_masked(a, a, a).nnz(), 0, "multiply_masked");
  expect(sp::multiply_masked<sp::or_and, sp::complement_mask>(a, a, a).nnz(), 2, "multiply_masked<complement_mask>");
  expect(sp::multiply_transposed(a, a).nnz(), 2, "multiply_transposed");
  expect(sp::multiply_top(a, a, {.count = 1}).nnz(), 2, "multiply_top, by detail::top_product");
  std::int64_t entries = 0;
  sp::multiply_in_blocks<sp::plus_times, Value, Index>(a, a, 1 << 20, [&](sp::result_block<Value, Index>&& block) {
    entries += block.block.nnz();
    return true;
  });
  expect(entries, 2, "multiply_in_blocks");
  expect(sp::estimate(a, a).products, 2, "estimate");
  expect(sp::add(Value(1), a, Value(1), a).nnz(), 2, "add");
  expect(sp::transpose(a).nnz(), 2, "transpose");
  expect(std::int64_t(sp::summarise(a).sum), 5, "summarise");
  sp::plan<sp::plus_times, Value, Index> plan(a, a);
  expect(plan.execute(a, a).nnz(), 2, "plan");
  sp::triple_plan<sp::plus_times, Value, Index> triple_plan(a, a, a);
  expect(triple_plan.execute(a, a, a).nnz(), 2, "triple_plan");

  const Value x[2] = {1, 1};
  Value y[2] = {};
  sp::multiply_dense(a, quintet::matrix_view<const Value>(x, 2, 1), quintet::matrix_view<Value>(y, 2, 1));
  expect(std::int64_t(y[1]), 3, "multiply_dense");
  sp::multiply_dense_transposed(a, quintet::matrix_view<const Value>(x, 2, 1), quintet::matrix_view<Value>(y, 2, 1));
  expect(std::int64_t(y[0]), 3, "multiply_dense_transposed");
  Value sampled[2] = {};
  sp::multiply_sampled(a, quintet::matrix_view<const Value>(x, 2, 1), quintet::matrix_view<const Value>(x, 2, 1),
                       quintet::matrix_view<Value>(sampled, 1, 2));
  expect(std::int64_t(sampled[1]), 1, "multiply_sampled");
  expect(sp::gram(a).nnz(), 2, "gram, by detail::gram_product");
  expect(sp::multiply_left_transposed(a, a).nnz(), 2, "multiply_left_transposed, by detail::left_transposed_product");
  expect(sp::multiply_add(Value(1), a, a, Value(1), a).nnz(), 4, "multiply_add");
  const sp::complex_csr<Value, Index> imaginary{1, 1, {0, 1}, {0}, {{0, 1}}};
  check(imaginary.view(), "imaginary");
  expect(std::int64_t(multiply_complex(imaginary.view(), imaginary.view()).values[0].real()), -1, "multiply_complex");

  const auto there = sp::upload(a, quintet::Device::emulated());
  expect(sp::download(there).nnz(), 2, "download");
  expect(sp::multiply(there, there).nnz(), 2, "multiply(device_csr)");
  expect(sp::add(Value(1), there, Value(1), there).nnz(), 2, "add(device_csr)");
  expect(sp::transpose(there).nnz(), 2, "transpose(device_csr)");
  expect(sp::multiply_add(Value(1), there, there, Value(1), there).nnz(), 4, "multiply_add(device_csr)");
}

template <class T>
void neighbour_lists() {
  namespace nn = quintet::neighbours;
  const float values[3] = {0, 1, 3};
  T points[3];
  for (int i = 0; i < 3; ++i) points[i] = T(values[i]);
  const quintet::matrix_view<const T> rows(points, 3, 1);
  expect(nn::nearest<T>(rows, 1).index[2], 1, "nearest");
  expect(nn::nearest<T>(rows, rows, 1).index[2], 2, "nearest of queries");
  expect(std::int64_t(nn::within_radius<T>(rows, 1.5).index.size()), 2, "within_radius");
  expect(std::int64_t(nn::within_radius<T>(rows, rows, 0.5).index.size()), 3, "within_radius of queries");
}

template <class T>
void graphs_and_motions() {
  const std::int64_t begin[3] = {0, 1, 2}, columns[2] = {1, 0};
  const T weights[2] = {2, 2};
  const quintet::hdbscan::csr_graph<T> graph{2, begin, columns, weights};
  expect(std::int64_t(spanning_tree_of(graph, {.min_samples = 1}).edges.size()), 1, "spanning_tree_of");
  expect(cluster_graph(graph, {.min_cluster_size = 2, .min_samples = 1}).components, 1, "cluster_graph");

  const T points[6] = {0, 0, 1, 0, 0, 1};
  const quintet::batch_view<const T> set(points, 1, 3, 2);
  expect(quintet::svd::kabsch<T>(set, set).batch, 1, "kabsch");
  const T ones[4] = {1, 1, 1, 1};
  const auto gradient =
      quintet::svd::kabsch_gradient<T>(set, set, {}, quintet::batch_view<const T>(ones, 1, 2, 2), {}, {});
  expect(std::int64_t(gradient.points.size()), 6, "kabsch_gradient");
}

template <class T>
void ranks_of_matrices() {
  const T elements[6] = {T(1.0f), T(1.0f), T(1.0f), T(1.0f), T(1.0f), T(1.0f)};
  auto d = quintet::svd::decompose<T>(quintet::batch_view<const T>(elements, 1, 3, 2));
  expect(quintet::svd::range_basis(d, {.relative = 0.1}).dimension[0], 1, "range_basis");
  expect(quintet::svd::null_space_basis(d, {.relative = 0.1}).dimension[0], 1, "null_space_basis");
  expect(quintet::svd::truncate(d, {.relative = 0.1})[0], 1, "truncate");
}

}  // namespace

int main() {
  neighbour_lists<float>();
  neighbour_lists<double>();
  neighbour_lists<quintet::half>();
  neighbour_lists<quintet::bfloat16>();
  graphs_and_motions<float>();
  graphs_and_motions<double>();
  ranks_of_matrices<float>();
  ranks_of_matrices<double>();
  ranks_of_matrices<quintet::half>();
  ranks_of_matrices<quintet::bfloat16>();
  sparse_products<float, std::int32_t>();
  sparse_products<float, std::int64_t>();
  sparse_products<double, std::int32_t>();
  sparse_products<double, std::int64_t>();
  return failures;
}
