// Exact neighbours against sorted rows of a matrix of distances, by the tree and by all pairs, on every device.
#include "quintet/neighbours/neighbours.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "quintet/hdbscan/core_distances.hpp"
#include "quintet/neighbours/index.hpp"
#include "support/ball_points.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"
#include "support/points.hpp"
#include "support/real_types.hpp"

namespace quintet::neighbours {
namespace {

template <class Real>
class neighbours_of : public ::testing::Test {};
TYPED_TEST_SUITE(neighbours_of, test::real_types);

using test::clustered_points;
using test::grid_points;
using test::point_set;

// Integer coordinates: squares, and whether roots are equal, are exact.
template <class Real>
std::vector<std::pair<double, std::int64_t>> sorted_row(const point_set<Real>& queries, std::int64_t i,
                                                        const point_set<Real>& points, bool same) {
  std::vector<std::pair<double, std::int64_t>> row;
  for (std::int64_t j = 0; j < points.n; ++j) {
    double square = 0;
    for (std::int64_t k = 0; k < points.dim; ++k) square += std::pow(double(queries(i, k)) - double(points(j, k)), 2);
    if (!(same && i == j) && std::isfinite(square)) row.emplace_back(square, j);
  }
  std::sort(row.begin(), row.end());
  return row;
}

template <class Real>
void expect_nearest(const nearest_result<Real>& found, const point_set<Real>& queries, const point_set<Real>& points,
                    bool same) {
  ASSERT_EQ(found.queries, queries.n);
  ASSERT_EQ(found.points, points.n);
  for (std::int64_t i = 0; i < queries.n; ++i) {
    const auto expected = sorted_row(queries, i, points, same);
    for (std::int64_t e = 0; e < found.k; ++e) {
      const bool is_there = e < std::int64_t(expected.size());
      ASSERT_EQ(found.index[i * found.k + e], is_there ? expected[e].second : -1) << "row " << i << ", place " << e;
      if (is_there)
        ASSERT_EQ(found.distance[i * found.k + e], Real(std::sqrt(Real(expected[e].first))));
      else
        ASSERT_TRUE(std::isnan(found.distance[i * found.k + e]));
    }
  }
}

template <class Real>
void expect_within(const radius_result<Real>& found, const point_set<Real>& queries, const point_set<Real>& points,
                   bool same, double radius) {
  ASSERT_EQ(std::int64_t(found.row_pointers.size()), queries.n + 1);
  for (std::int64_t i = 0; i < queries.n; ++i) {
    std::vector<std::int64_t> expected;
    for (const auto& [square, j] : sorted_row(queries, i, points, same))
      if (double(Real(std::sqrt(Real(square)))) <= radius) expected.push_back(j);
    std::sort(expected.begin(), expected.end());
    const std::vector<std::int64_t> row(found.index.begin() + found.row_pointers[i],
                                        found.index.begin() + found.row_pointers[i + 1]);
    ASSERT_EQ(row, expected) << "row " << i;
  }
}

TYPED_TEST(neighbours_of, ties_go_to_the_smaller_index) {
  for (const std::int64_t n : {2, 65, 400, 2500})
    for (const std::int64_t dim : {1, 2, 40}) {
      SCOPED_TRACE(::testing::Message() << n << " x " << dim);
      const auto points = grid_points<TypeParam>(n, dim, dim == 2 ? 30 : 6, n + dim);
      expect_nearest(nearest(points.view(), std::min<std::int64_t>(n - 1, 12), {}, Device::host()), points, points,
                     true);
    }
}

TYPED_TEST(neighbours_of, queries_find_points) {
  for (const std::int64_t n : {1, 100, 2500})
    for (const std::int64_t dim : {2, 40}) {
      const auto points = grid_points<TypeParam>(n, dim, 30, n), queries = grid_points<TypeParam>(300, dim, 50, n + 1);
      expect_nearest(nearest(queries.view(), points.view(), std::min<std::int64_t>(n, 5), {}, Device::host()), queries,
                     points, false);
    }
}

// Long lists are heaps while they are filled: of one set and of queries, by the tree and by all pairs, and with places
// that stay empty.
TYPED_TEST(neighbours_of, long_lists_are_in_order) {
  for (const std::int64_t n : {300, 2500})
    for (const std::int64_t dim : {2, 40})
      for (const std::int64_t k : {64, 65, 66, 100, 257}) {
        SCOPED_TRACE(::testing::Message() << n << " x " << dim << ", k = " << k);
        auto points = grid_points<TypeParam>(n, dim, dim == 2 ? 30 : 6, n + dim);
        const auto queries = grid_points<TypeParam>(50, dim, 30, n + 1);
        points.data[7 * dim] = points.data[(n - 90) * dim] = std::numeric_limits<TypeParam>::quiet_NaN();
        if (n == 300)  // fewer than k are left
          for (std::int64_t i = 0; i < 100; ++i) points.data[i * dim] = points.data[7 * dim];
        expect_nearest(nearest(queries.view(), points.view(), k, {}, Device::host()), queries, points, false);
        if (n == 2500 && (dim == 40 || k % 2 == 0)) continue;  // the reference is slow
        expect_nearest(nearest(points.view(), k, {}, Device::host()), points, points, true);
      }
}

TYPED_TEST(neighbours_of, a_radius_holds_its_border) {
  const auto points = grid_points<TypeParam>(900, 2, 25, 3), queries = grid_points<TypeParam>(150, 2, 40, 4);
  for (const double radius : {0.0, 1.0, 1.4, 5.0, 1e9}) {
    expect_within(within_radius(points.view(), radius, {}, Device::host()), points, points, true, radius);
    expect_within(within_radius(queries.view(), points.view(), radius, {}, Device::host()), queries, points, false,
                  radius);
  }
}

// Integer coordinates: sums and maxima are exact.
TYPED_TEST(neighbours_of, any_norm_has_ties_by_the_smaller_index) {
  const auto points = grid_points<TypeParam>(2300, 3, 16, 3), queries = grid_points<TypeParam>(100, 3, 20, 4);
  const auto of_pair = [&](const point_metric& distance, std::int64_t i, std::int64_t j) {
    double sum = 0;
    for (std::int64_t k = 0; k < 3; ++k) {
      const double d = std::fabs(double(queries(i, k)) - double(points(j, k)));
      sum = distance.kind == metric::chebyshev ? std::max(sum, d) : sum + d;
    }
    return sum;
  };
  for (const point_metric& distance : {point_metric(metric::manhattan), point_metric(metric::chebyshev)}) {
    const auto found = nearest(queries.view(), points.view(), 9, {distance}, Device::host());
    const auto near = within_radius(queries.view(), points.view(), 3.0, {distance}, Device::host());
    for (std::int64_t i = 0; i < queries.n; ++i) {
      std::vector<std::pair<double, std::int64_t>> row;
      std::vector<std::int64_t> inside;
      for (std::int64_t j = 0; j < points.n; ++j) {
        row.emplace_back(of_pair(distance, i, j), j);
        if (row.back().first <= 3) inside.push_back(j);
      }
      std::sort(row.begin(), row.end());
      for (std::int64_t e = 0; e < 9; ++e) {
        ASSERT_EQ(found.index[i * 9 + e], row[e].second);
        ASSERT_EQ(found.distance[i * 9 + e], TypeParam(row[e].first));
      }
      ASSERT_EQ(std::vector<std::int64_t>(near.index.begin() + near.row_pointers[i],
                                          near.index.begin() + near.row_pointers[i + 1]),
                inside);
    }
  }
}

TYPED_TEST(neighbours_of, powers_are_those_of_the_core_distances) {
  for (const std::int64_t dim : {3, 40}) {
    const auto points = clustered_points<TypeParam>(2300, dim, 8, 2);
    const point_metric distance(metric::minkowski, 2.5);
    const auto core = hdbscan::core_distances(points.view(), {.min_samples = 6, .distance = distance}, Device::host());
    const auto found = nearest(points.view(), 6, {distance}, Device::host());
    const auto near = within_radius(points.view(), 0.3, {distance}, Device::host());
    for (std::int64_t i = 0; i < points.n; ++i) {
      ASSERT_EQ(found.distance[i * 6 + 5], core.distances[i]);
      std::int64_t within = 0;
      while (within < 6 && double(found.distance[i * 6 + within]) <= 0.3) ++within;
      ASSERT_GE(near.row_pointers[i + 1] - near.row_pointers[i], within);
      ASSERT_TRUE(within == 6 || near.row_pointers[i + 1] - near.row_pointers[i] == within);
    }
  }
}

// Grids in steps of .1 are full of distances that only rounding parts: what is returned as equal is ordered by index.
TYPED_TEST(neighbours_of, equal_roots_of_powers_are_ordered_by_index) {
  constexpr std::int64_t k = 12;
  for (const std::int64_t dim : {3, 40})
    for (const double p : {1.5, 3.0}) {
      SCOPED_TRACE(std::to_string(p) + " " + std::to_string(dim));
      auto points = grid_points<TypeParam>(2100, dim, dim == 3 ? 9 : 2, 5);
      for (TypeParam& x : points.data) x *= TypeParam(0.1);
      const point_metric distance(metric::minkowski, p);
      const auto queries = points.view().slice(0, 100);
      const auto of_set = nearest(points.view(), k, {distance}, Device::host());
      const auto of_queries = nearest(queries, points.view(), k, {distance}, Device::host());
      const index<TypeParam> kept(points.view(), {.distance = distance}, Device::host());
      const auto all = within_radius(queries, points.view(), 1e3, {distance}, Device::host());
      ASSERT_EQ(std::int64_t(all.index.size()), queries.rows() * points.n);
      std::int64_t ties = 0;
      for (std::int64_t i = 0; i < queries.rows(); ++i) {
        std::vector<std::pair<TypeParam, std::int64_t>> row;
        for (std::int64_t e = all.row_pointers[i]; e < all.row_pointers[i + 1]; ++e)
          row.emplace_back(all.distance[e], all.index[e]);
        std::sort(row.begin(), row.end());
        // A limit is exact too.
        const TypeParam limit = row[k].first;
        const auto end = std::find_if(row.begin(), row.end(), [&](const auto& of) { return of.first > limit; });
        const auto near = kept.within_radius(queries.slice(i, i + 1), double(limit));
        ASSERT_EQ(std::int64_t(near.index.size()), end - row.begin());
        for (std::int64_t e = 0; e < k; ++e) {
          ASSERT_EQ(of_queries.distance[i * k + e], row[e].first);
          ASSERT_EQ(of_queries.index[i * k + e], row[e].second);
          ties += row[e].first == row[e + 1].first ? 1 : 0;
        }
        row.erase(std::find(row.begin(), row.end(), std::pair<TypeParam, std::int64_t>(0, i)));
        for (std::int64_t e = 0; e < k; ++e) ASSERT_EQ(of_set.index[i * k + e], row[e].second);
      }
      EXPECT_GT(ties, queries.rows());
    }
}

TYPED_TEST(neighbours_of, every_device_is_the_same) {
  const auto points = clustered_points<TypeParam>(2200, 3, 5), queries = clustered_points<TypeParam>(130, 3, 6);
  const auto expected = nearest(points.view(), 7, {}, Device::host());
  const auto asked = nearest(queries.view(), points.view(), 7, {}, Device::host());
  const auto near = within_radius(queries.view(), points.view(), 0.2, {}, Device::host());
  test::on_other_devices([&](const Device& device) {
    const auto found = nearest(points.view(), 7, {}, device);
    EXPECT_EQ(found.ran_on, device);
    EXPECT_EQ(found.index, expected.index);
    test::expect_same_bits(found.distance, expected.distance);
    EXPECT_EQ(nearest(queries.view(), points.view(), 7, {}, device).index, asked.index);
    const auto there = within_radius(queries.view(), points.view(), 0.2, {}, device);
    EXPECT_EQ(there.ran_on, device);
    EXPECT_EQ(there.row_pointers, near.row_pointers);
    EXPECT_EQ(there.index, near.index);
    test::expect_same_bits(there.distance, near.distance);
  });
  for (const int threads : {1, 3}) {
    set_threads(threads);
    EXPECT_EQ(nearest(points.view(), 7, {}, Device::host()).index, expected.index);
  }
  set_threads(0);
}

TYPED_TEST(neighbours_of, the_last_one_is_the_core_distance) {
  for (const point_metric& distance : {point_metric(metric::euclidean), point_metric(metric::cosine)})
    for (const std::int64_t dim : {3, 50}) {
      auto points = clustered_points<TypeParam>(2300, dim, 8, 2);
      points(17, 1) = std::numeric_limits<TypeParam>::quiet_NaN();
      const auto core =
          hdbscan::core_distances(points.view(), {.min_samples = 6, .distance = distance}, Device::host());
      const auto found = nearest(points.view(), 6, {distance}, Device::host());
      EXPECT_EQ(found.invalid_points, (std::vector<std::int64_t>{17}));
      std::vector<TypeParam> last(points.n);
      for (std::int64_t i = 0; i < points.n; ++i) last[i] = found.distance[i * 6 + 5];
      test::expect_same_bits(last, core.distances);
    }
}

TYPED_TEST(neighbours_of, the_ball_has_the_neighbours_of_a_small_one) {
  // Near its centre the ball is flat: distances are twice those of the plane.
  const auto points = test::ball_points<TypeParam>(2100, 2, 0.0, 1e-3, 1.0, 9);
  const auto ball = nearest(points.view(), 4, {metric::poincare}, Device::host());
  const auto plane = nearest(points.view(), 4, {}, Device::host());
  for (std::size_t e = 0; e < ball.distance.size(); ++e)
    ASSERT_NEAR(double(ball.distance[e]), 2 * double(plane.distance[e]), 1e-5 * double(plane.distance[e]) + 1e-12);
}

TEST(neighbours, nothing_is_found_in_nothing) {
  const matrix_view<const float> none(nullptr, 0, 3);
  EXPECT_EQ(nearest(none, 1).queries, 0);
  EXPECT_EQ(within_radius(none, 1.0).row_pointers, std::vector<std::int64_t>{0});
  const std::vector<float> nan(6, std::numeric_limits<float>::quiet_NaN());
  const auto found = nearest<float>({nan.data(), 2, 3}, 1);
  EXPECT_EQ(found.index, (std::vector<std::int64_t>{-1, -1}));
  EXPECT_EQ(found.invalid_queries.size(), 2u);
}

TEST(neighbours, a_graph_is_a_sparse_matrix) {
  const auto points = grid_points<float>(50, 2, 5, 10);
  const auto found = within_radius(points.view(), 1.0);
  EXPECT_EQ(found.view().nnz(), std::int64_t(found.index.size()));
  spgemm::check(found.view(), "graph");
}

TEST(neighbours, bad_arguments_are_named) {
  const auto points = grid_points<float>(5, 2, 5, 10), wide = grid_points<float>(5, 3, 5, 10);
  expect_invalid([&] { nearest(points.view(), 0); }, "k must be in [1, 4] (k=0)");
  expect_invalid([&] { nearest(points.view(), 5); }, "k must be in [1, 4] (k=5)");
  expect_invalid([&] { nearest(points.view(), points.view(), 6); }, "k must be in [1, 5] (k=6)");
  expect_invalid([&] { nearest(wide.view(), points.view(), 1); },
                 "queries.cols must be points.cols=2 (queries.cols=3)");
  expect_invalid([&] { within_radius(points.view(), -1.0); }, "radius must be >= 0 and finite (radius=-1)");
  expect_invalid([&] { nearest(points.view(), 1, {point_metric(metric::minkowski, 9)}); },
                 "p must be infinity, or in [1, 8] for points of this precision (p=9)");
}

}  // namespace
}  // namespace quintet::neighbours
