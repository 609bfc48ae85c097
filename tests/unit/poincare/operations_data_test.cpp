#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>

#include "quintet/poincare/poincare.hpp"
#include "support/ball_data.hpp"
#include "support/devices.hpp"
#include "support/near.hpp"
#include "support/real_types.hpp"

namespace quintet::test {
namespace {

template <class Real>
class poincare_operations_data : public ::testing::Test {};
TYPED_TEST_SUITE(poincare_operations_data, real_types);

template <class Real>
struct call {
  std::vector<Real> first, second;  // several points of the first argument lie one after another
  std::int64_t dim;
  double c;
  Device device;

  matrix_view<const Real> x() const { return {first.data(), std::int64_t(first.size()) / dim, dim}; }
  matrix_view<const Real> y() const { return {second.data(), 1, dim}; }
};

template <class Real>
std::vector<Real> result_of(const std::string& op, const call<Real>& in) {
  std::vector<Real> result(in.dim);
  const matrix_view<Real> out(result.data(), 1, in.dim);
  const poincare::ball_options options{.curvature = -in.c, .strict = true};
  const std::vector<std::int64_t> offsets{0, in.x().rows()};
  if (op == "mobius_add") poincare::mobius_add(in.x(), in.y(), out, options, in.device);
  if (op == "expmap") poincare::exp_map(in.x(), in.y(), out, options, in.device);
  if (op == "logmap") poincare::log_map(in.x(), in.y(), out, options, in.device);
  if (op == "expmap0") poincare::exp_map_origin(in.x(), out, options, in.device);
  if (op == "logmap0") poincare::log_map_origin(in.x(), out, options, in.device);
  if (op == "gyromidpoint") poincare::gyromidpoint(in.x(), offsets, {}, out, options, in.device);
  if (op == "frechet_mean") {
    const auto report = poincare::frechet_mean(in.x(), offsets, {}, out, {.curvature = -in.c}, in.device);
    EXPECT_EQ(report.converged[0], 1);
    EXPECT_LE(report.iterations[0], 120);
  }
  return result;
}

TYPED_TEST(poincare_operations_data, every_row_within_the_bound) {
  QUINTET_SKIP_WITHOUT(hyperbolic_folder());
  const csv_table table(hyperbolic_folder() / "poincare_ops.csv");
  ASSERT_GE(table.rows(), 36u);
  on_every_device([&](const Device& device) {
    std::map<std::string, double> worst;
    for (std::size_t i = 0; i < table.rows(); ++i) {
      std::vector<TypeParam> first;
      for (const auto& point : parse_vectors<TypeParam>(table.at(i, "arg1")))
        first.insert(first.end(), point.begin(), point.end());
      const call<TypeParam> in{first, parse_vector<TypeParam>(table.at(i, "arg2")), std::stoll(table.at(i, "dim")),
                               std::stod(table.at(i, "c")), device};
      const auto op = table.at(i, "op");
      const auto expected = parse_vector<long double>(table.at(i, "result"));
      double& so_far = worst[op];
      so_far = std::max(so_far, largest_error(result_of(op, in), expected));
    }
    for (const auto& [op, error] : worst) expect_error_within(op, error, sizeof(TypeParam) == 4 ? 5e-7 : 1e-13);
  });
}

TYPED_TEST(poincare_operations_data, mammals_nearest_neighbours) {
  QUINTET_SKIP_WITHOUT(hyperbolic_folder());
  const auto points = mammals<TypeParam>();
  const csv_table table(hyperbolic_folder() / "mammals_knn10.csv");
  const auto queries = table.integers("query");
  on_every_device([&](const Device& device) {
    const auto found = poincare::nearest(points.view(), points.view(), 10, {.exclude_self = true}, device);
    for (std::size_t q = 0; q < queries.size(); ++q)
      for (std::int64_t e = 0; e < 10; ++e) {
        const std::int64_t at = queries[q] * 10 + e;
        const std::string number = std::to_string(e + 1);
        ASSERT_EQ(found.index[at], std::stoll(table.at(q, "nn" + number))) << "query " << queries[q];
        ASSERT_NEAR(found.distance[at], std::stod(table.at(q, "d" + number)), sizeof(TypeParam) == 4 ? 5e-6 : 1e-10);
      }
  });
}

// Reconstruction of the closure: for every node, the ranks of its ancestors among all nodes that are not (Nickel and
// Kiela 2017). Distances in double.
TEST(poincare_metrics, mammals_mean_rank_and_precision) {
  QUINTET_SKIP_WITHOUT(hyperbolic_folder());
  const auto points = mammals<double>();
  std::map<std::string, std::int64_t> number;
  std::ifstream names(hyperbolic_folder() / "mammals_poincare10_names.txt");
  for (std::string name; std::getline(names, name);) number.emplace(name, std::int64_t(number.size()));
  ASSERT_EQ(std::int64_t(number.size()), points.n);
  const csv_table closure(hyperbolic_folder() / "mammals_closure.csv");
  std::map<std::int64_t, std::vector<std::int64_t>> related;
  std::int64_t edges = 0;
  for (std::size_t i = 0; i < closure.rows(); ++i) {
    const auto child = number.find(closure.at(i, "child")), parent = number.find(closure.at(i, "ancestor"));
    if (child == number.end() || parent == number.end()) continue;
    related[child->second].push_back(parent->second);
    ++edges;
  }
  std::vector<double> matrix(points.n * points.n);
  poincare::distances(points.view(), points.view(), {matrix.data(), points.n, points.n}, {}, Device::host());
  double rank_sum = 0, precision_sum = 0;
  for (const auto& [node, others] : related) {
    std::vector<bool> is_related(points.n, false);
    for (const std::int64_t other : others) is_related[other] = true;
    std::vector<std::pair<double, std::int64_t>> order;
    for (std::int64_t j = 0; j < points.n; ++j)
      if (j != node) order.emplace_back(matrix[node * points.n + j], j);
    std::sort(order.begin(), order.end());
    std::int64_t found = 0, not_related = 0;
    double precision = 0;
    for (std::size_t r = 0; r < order.size(); ++r) {
      if (!is_related[order[r].second]) {
        ++not_related;
        continue;
      }
      ++found;
      rank_sum += double(not_related + 1);
      precision += double(found) / double(r + 1);
    }
    precision_sum += precision / double(found);
  }
  const csv_table expected(hyperbolic_folder() / "mammals_metrics.csv");
  EXPECT_EQ(edges, expected.integers("edges")[0]);
  EXPECT_NEAR(rank_sum / double(edges), expected.doubles("mean_rank")[0], 1e-7);
  EXPECT_NEAR(precision_sum / double(related.size()), expected.doubles("MAP")[0], 1e-8);
}

}  // namespace
}  // namespace quintet::test
