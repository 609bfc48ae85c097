// Distances given as a matrix or a graph, against the same points given as points.
#include "quintet/hdbscan/precomputed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "quintet/hdbscan/mutual_reachability.hpp"
#include "support/points.hpp"

namespace quintet::hdbscan {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class Real>
std::vector<Real> distance_matrix(const test::point_set<Real>& points) {
  std::vector<Real> matrix(points.n * points.n);
  mutual_reachability(points.view(), {}, {matrix.data(), points.n, points.n}, {}, Device::host());
  return matrix;
}

/// Every edge of a matrix, in one direction or in both.
template <class Real>
struct graph_storage {
  std::int64_t points;
  std::vector<std::int64_t> row_begin{0}, columns;
  std::vector<Real> values;

  graph_storage(const std::vector<Real>& matrix, std::int64_t n, bool both) : points(n) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = both ? 0 : i + 1; j < n; ++j) {
        if (i == j) continue;
        columns.push_back(j);
        values.push_back(matrix[i * n + j]);
      }
      row_begin.push_back(std::int64_t(columns.size()));
    }
  }
  csr_graph<Real> view() const { return {points, row_begin, columns, values}; }
};

template <class Real>
class Precomputed : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(Precomputed, Reals);

TYPED_TEST(Precomputed, MatrixAndGraphsGiveTheTreeOfThePoints) {
  for (const double alpha : {1.0, 1.3}) {
    for (const bool ties : {false, true}) {
      const auto points =
          ties ? test::grid_points<TypeParam>(150, 3, 4, 5) : test::clustered_points<TypeParam>(200, 7, 3);
      const spanning_tree_options options{.min_samples = 4, .alpha = alpha};
      const auto of_points = spanning_tree(points.view(), options, Device::host());
      const auto matrix = distance_matrix(points);
      const auto before = matrix;
      const auto of_matrix = spanning_tree_of({matrix.data(), points.n, points.n}, options);
      EXPECT_EQ(matrix, before);
      EXPECT_EQ(of_matrix.core_distances, of_points.core_distances);
      // With alpha, weights of the points' tree are ordered before they are rounded.
      if (alpha == 1) {
        EXPECT_EQ(of_matrix.edges, of_points.edges);
      }
      EXPECT_NEAR(of_matrix.total_weight(), of_points.total_weight(), 1e-6 * of_points.total_weight());
      if (std::is_same_v<TypeParam, double> || alpha == 1) {
        for (const bool both : {false, true}) {
          const graph_storage<TypeParam> graph(matrix, points.n, both);
          EXPECT_EQ(spanning_tree_of(graph.view(), options).edges, of_matrix.edges) << both;
        }
      }
    }
  }
}

TYPED_TEST(Precomputed, ClusteringIsThatOfThePoints) {
  const auto points = test::clustered_points<TypeParam>(300, 5, 11);
  const cluster_options options{.min_cluster_size = 8};
  const auto expected = cluster(points.view(), options, Device::host());
  const auto matrix = distance_matrix(points);
  const auto of_matrix = cluster_distances({matrix.data(), points.n, points.n}, options);
  EXPECT_GT(expected.clusters(), 1);
  EXPECT_EQ(of_matrix.labels, expected.labels);
  EXPECT_EQ(of_matrix.probabilities, expected.probabilities);
  const graph_storage<TypeParam> graph(matrix, points.n, false);
  EXPECT_EQ(cluster_graph<TypeParam>(graph.view(), options).labels, expected.labels);
}

TEST(PrecomputedEdges, InfinitySeparatesAndIsReported) {
  // Two groups of four, no edge between them.
  const std::int64_t n = 8;
  std::vector<double> matrix(n * n, infinity);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      if (i / 4 == j / 4) matrix[i * n + j] = i == j ? 0 : 1 + double(i % 4 + j % 4) / 10;
  const cluster_options options{.min_cluster_size = 3, .min_samples = 2};
  const auto of_matrix = cluster_distances({matrix.data(), n, n}, options);
  EXPECT_EQ(of_matrix.components, 2);
  EXPECT_EQ(of_matrix.spanning_tree.size(), 6u);
  EXPECT_EQ(of_matrix.labels, (std::vector<std::int64_t>{0, 0, 0, 0, 1, 1, 1, 1}));
  const graph_storage<double> graph(matrix, n, true);
  EXPECT_EQ(cluster_graph<double>(graph.view(), options).labels, of_matrix.labels);
}

TEST(PrecomputedEdges, PointWithTooFewNeighboursIsUnconnected) {
  const std::vector<std::int64_t> row_begin{0, 2, 3, 3, 3}, columns{1, 2, 2};
  const std::vector<double> values{1, 1, 1};
  const auto tree = spanning_tree_of(csr_graph<double>{4, row_begin, columns, values}, {.min_samples = 2});
  EXPECT_EQ(tree.core_distances, (std::vector<double>{1, 1, 1, infinity}));
  EXPECT_EQ(tree.edges.size(), 2u);
}

TEST(PrecomputedEdges, SmallInputs) {
  for (std::int64_t n = 0; n <= 2; ++n) {
    const std::vector<double> matrix(n * n, 0);
    const auto result = cluster_distances({matrix.data(), n, n}, {.min_cluster_size = 2});
    EXPECT_EQ(result.labels, std::vector<std::int64_t>(n, -1)) << n;
  }
}

template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no error";
}

TEST(PrecomputedEdges, BadMatricesAreRefusedWithTheEntry) {
  std::vector<double> matrix{0, 1, 2, 1, 0, 3, 2, 3, 0};
  const auto run = [&] { return error_of([&] { core_distances_of<double>({matrix.data(), 3, 3}); }); };
  EXPECT_EQ(run(), "no error");
  matrix[1] = -1;
  EXPECT_EQ(
      run(),
      "distances(0, 1) must be >= 0 and not NaN (distances(0, 1)=-1); where rounding made it negative, 0 is meant");
  matrix[1] = 4;
  EXPECT_EQ(run(), "distances(0, 1) must be equal to distances(1, 0)=1 up to rounding (distances(0, 1)=4)");
  matrix[1] = 1 + 1e-10;
  EXPECT_EQ(run(), "distances(0, 1) must be equal to distances(1, 0)=1 up to rounding (distances(0, 1)=1.0000000001)");
  matrix[1] = -1e-7;
  EXPECT_NE(run().find("(distances(0, 1)=-1e-07); where rounding made it negative, 0 is meant"), std::string::npos);
  matrix[1] = 1;
  matrix[4] = 1;
  EXPECT_EQ(run(), "distances(1, 1) must be 0: the matrix has to hold distances, not similarities (distances(1, 1)=1)");
  for (const double nothing : {1e-9, -1e-9, infinity, std::nan("")}) {
    matrix[4] = nothing;
    EXPECT_EQ(run(), "no error") << nothing;
  }
  matrix[1] = std::nan("");
  EXPECT_NE(run().find("distances(0, 1)"), std::string::npos);
  EXPECT_NE(error_of([&] { core_distances_of<double>({matrix.data(), 1, 3}); }).find("distances.cols"),
            std::string::npos);
}

// As of scikit-learn's graphs and matrices: the smaller one of mirror images that differ in the last bits.
TYPED_TEST(Precomputed, RoundingIsMended) {
  const auto points = test::clustered_points<TypeParam>(90, 3, 5);
  std::vector<TypeParam> matrix = distance_matrix(points), rounded = matrix;
  for (std::int64_t i = 0; i < 90; ++i)
    for (std::int64_t j = 0; j < 90; ++j)
      if (i < j && (i + j) % 3 == 0)
        rounded[i * 90 + j] = std::nextafter(matrix[i * 90 + j], std::numeric_limits<TypeParam>::infinity());
  for (std::int64_t i = 0; i < 90; ++i)
    for (std::int64_t j = 0; j < 90; ++j) matrix[i * 90 + j] = std::min(rounded[i * 90 + j], rounded[j * 90 + i]);
  ASSERT_NE(matrix, rounded);
  const auto expected = cluster_distances({matrix.data(), 90, 90}, {.min_cluster_size = 5}, Device::host());
  for (const Device& device : {Device::host(), Device::emulated()}) {
    const auto found = cluster_distances({rounded.data(), 90, 90}, {.min_cluster_size = 5}, device);
    EXPECT_EQ(found.labels, expected.labels);
    EXPECT_EQ(found.spanning_tree, expected.spanning_tree);
  }
  const graph_storage<TypeParam> graph(rounded, 90, true);
  const auto of_graph = cluster_graph<TypeParam>(graph.view(), {.min_cluster_size = 5});
  EXPECT_EQ(of_graph.labels, expected.labels);
  EXPECT_EQ(of_graph.spanning_tree.size(), expected.spanning_tree.size());
  for (std::size_t e = 0; e < expected.spanning_tree.size(); ++e)
    EXPECT_EQ(TypeParam(of_graph.spanning_tree[e].weight), TypeParam(expected.spanning_tree[e].weight));
}

TEST(PrecomputedEdges, BadGraphsAreRefusedWithTheEntry) {
  std::vector<std::int64_t> row_begin{0, 1, 2}, columns{1, 0};
  std::vector<double> values{1, 1};
  const auto run = [&] {
    return error_of([&] { spanning_tree_of(csr_graph<double>{2, row_begin, columns, values}); });
  };
  EXPECT_EQ(run(), "no error");
  values[1] = 2;
  EXPECT_NE(run().find("the distance of 0 and 1"), std::string::npos);
  values[1] = -1;
  EXPECT_NE(run().find("graph.values[1]"), std::string::npos);
  columns[1] = 1;
  values[1] = 3;
  EXPECT_EQ(run(),
            "graph.values[1] must be 0 as the distance of 1 from itself: a graph of distances, not of similarities "
            "(graph.values[1]=3)");
  for (const double rounded : {0.0, 1e-16, -1e-16}) {  // as 1 - cos(x, x) is
    values[1] = rounded;
    EXPECT_EQ(run(), "no error");
  }
  values[1] = -1e-7;
  EXPECT_EQ(run(),
            "graph.values[1] must be >= 0 and not NaN (graph.values[1]=-1e-07); where rounding made it negative, 0 is "
            "meant");
  columns[1] = 7;
  EXPECT_NE(run().find("graph.columns[1]"), std::string::npos);
  row_begin[1] = 3;
  EXPECT_NE(run().find("graph.row_begin[2]"), std::string::npos);
}

}  // namespace
}  // namespace quintet::hdbscan
