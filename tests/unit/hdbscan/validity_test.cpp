#include "quintet/hdbscan/validity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "quintet/hdbscan/hdbscan.hpp"
#include "reference/pairwise_reference.hpp"
#include "reference/validity_reference.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"
#include "support/points.hpp"
#include "support/real_types.hpp"

namespace quintet::hdbscan {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
using indices = std::vector<std::int64_t>;

template <class Real>
class validity : public ::testing::Test {};
TYPED_TEST_SUITE(validity, test::real_types);

void expect_same(const validity_result& found, const validity_result& expected) {
  EXPECT_EQ(found.index, expected.index);
  test::expect_same_bits(found.cluster_validity, expected.cluster_validity);
  test::expect_same_bits(found.sparseness, expected.sparseness);
  test::expect_same_bits(found.separation, expected.separation);
}

void expect_near(const validity_result& found, const reference::validity& expected, double bound) {
  EXPECT_NEAR(found.index, expected.index, bound);
  test::expect_near(found.sparseness, expected.sparseness, bound);
  test::expect_near(found.separation, expected.separation, bound);
  test::expect_near(found.cluster_validity, expected.cluster_validity, bound, 1);
}

template <class Real>
reference::validity plain(const test::point_set<Real>& points, const indices& labels, metric kind, double dimension) {
  return reference::validity_index(reference::distances(reference::widened(points.view()), kind), labels, dimension);
}

TYPED_TEST(validity, plain_reference) {
  for (const metric kind : {metric::euclidean, metric::cosine})
    for (const std::int64_t dim : {3, 40}) {
      const auto points = test::clustered_points<TypeParam>(250, dim, 20 + dim);
      const indices labels = cluster(points.view(), {.min_cluster_size = 5, .distance = kind}).labels;
      ASSERT_GT(*std::max_element(labels.begin(), labels.end()), 1);
      expect_near(validity_index(points.view(), labels, {.distance = kind}), plain(points, labels, kind, double(dim)),
                  test::data_bound<TypeParam>);
    }
}

// Labels at random: clusters interleave, and the engine cannot skip anything.
TYPED_TEST(validity, labels_that_make_no_sense) {
  const auto points = test::clustered_points<TypeParam>(300, 5, 30);
  std::mt19937_64 random(31);
  indices labels;
  for (std::int64_t i = 0; i < points.n; ++i) labels.push_back(std::int64_t(random() % 12) - 1);
  const auto found = validity_index(points.view(), labels);
  expect_near(found, plain(points, labels, metric::euclidean, 5), test::data_bound<TypeParam>);
  EXPECT_LT(found.index, 0);
}

// 1 / d^D would be 10^1536 and 10^-1536.
TYPED_TEST(validity, powers_neither_overflow_nor_vanish) {
  const auto points = test::clustered_points<TypeParam>(60, 8, 32);
  const indices labels = cluster(points.view(), {.min_cluster_size = 5}).labels;
  for (const double factor : {std::ldexp(1.0, -40), 1.0, std::ldexp(1.0, 40)}) {
    const auto scaled = test::scaled(points, TypeParam(factor));
    expect_near(validity_index(scaled.view(), labels, {.dimension = 1536}),
                plain(scaled, labels, metric::euclidean, 1536), test::data_bound<TypeParam>);
  }
}

TYPED_TEST(validity, same_bits_on_every_device_and_for_any_budget) {
  const auto points = test::clustered_points<TypeParam>(330, 20, 33);
  const indices labels = cluster(points.view(), {.min_cluster_size = 6}).labels;
  const auto on_host = validity_index(points.view(), labels, {}, Device::host());
  expect_same(validity_index(points.view(), labels, {.budget_bytes = 0}, Device::host()), on_host);
  test::on_other_devices(
      [&](const Device& device) { expect_same(validity_index(points.view(), labels, {}, device), on_host); });
}

// Points enough for an order of their own (locality), and for clusters of several tiles.
TYPED_TEST(validity, clusters_of_several_tiles) {
  const auto points = test::clustered_points<TypeParam>(1300, 3, 34);
  indices labels = cluster(points.view(), {.min_cluster_size = 30}).labels;
  expect_near(validity_index(points.view(), labels), plain(points, labels, metric::euclidean, 3),
              test::data_bound<TypeParam>);
}

TYPED_TEST(validity, small_clusters) {
  test::point_set<TypeParam> points(9, 1);
  const double at[] = {0, 1, 3, 10, 11, 20, 30, 31, 33.5};
  for (std::int64_t i = 0; i < 9; ++i) points(i, 0) = TypeParam(at[i]);
  // Three, two and one points, a number without points, three points.
  const indices labels{0, 0, 0, 1, 1, 2, 4, 4, 4};
  const auto found = validity_index(points.view(), labels);
  expect_near(found, plain(points, labels, metric::euclidean, 1), test::data_bound<TypeParam>);
  EXPECT_EQ(found.separation[2], infinity);
  EXPECT_EQ(found.cluster_validity[2], 0);
  EXPECT_EQ(found.cluster_validity[3], 0);
  EXPECT_GT(found.cluster_validity[1], 0.8);
}

TYPED_TEST(validity, fewer_than_two_clusters_give_zero) {
  const auto points = test::clustered_points<TypeParam>(40, 3, 35);
  EXPECT_EQ(validity_index(points.view(), indices(40, -1)).index, 0);
  const auto one = validity_index(points.view(), indices(40, 0));
  EXPECT_EQ(one.index, 0);
  EXPECT_GT(one.sparseness[0], 0);
  EXPECT_EQ(validity_index({}, indices{}).index, 0);
}

TYPED_TEST(validity, duplicates) {
  test::point_set<TypeParam> points(12, 2);
  for (std::int64_t i = 0; i < 12; ++i) points(i, 0) = points(i, 1) = TypeParam(i < 6 ? 0 : 10);
  indices labels(12, 0);
  std::fill(labels.begin() + 6, labels.end(), 1);
  const auto found = validity_index(points.view(), labels);
  EXPECT_EQ(found.index, 1);
  EXPECT_EQ(found.sparseness, (std::vector<double>{0, 0}));
  // All points in one place: neither sparse nor apart.
  std::fill(points.data.begin(), points.data.end(), TypeParam(1));
  EXPECT_EQ(validity_index(points.view(), labels).index, 0);
}

TYPED_TEST(validity, rows_with_nan_count_as_noise) {
  auto points = test::clustered_points<TypeParam>(120, 4, 36);
  indices labels = cluster(points.view(), {.min_cluster_size = 6}).labels;
  points(5, 1) = std::numeric_limits<TypeParam>::quiet_NaN();
  labels[5] = 0;
  const auto found = validity_index(points.view(), labels);
  labels[5] = -1;
  expect_same(found, validity_index(points.view(), labels));
}

// Squared distances, and another tree.
TYPED_TEST(validity, convention_of_the_authors) {
  const auto points = test::clustered_points<TypeParam>(260, 3, 38);
  const indices labels = cluster(points.view(), {.min_cluster_size = 5}).labels;
  reference::matrix squares = reference::distances(reference::widened(points.view()), metric::euclidean);
  for (std::int64_t e = 0; e < 260 * 260; ++e) squares.data()[e] *= squares.data()[e];
  const auto found = validity_index(points.view(), labels, {.convention = validity_convention::moulavi_2014});
  expect_near(found, reference::validity_index(squares, labels, 3, reference::tree_from_first),
              test::data_bound<TypeParam>);
  EXPECT_NE(found.index, validity_index(points.view(), labels).index);
  test::on_other_devices([&](const Device& device) {
    expect_same(validity_index(points.view(), labels, {.convention = validity_convention::moulavi_2014}, device),
                found);
  });
}

// A grid, where nearly all edges are equal, with copies: in any order of the points.
TYPED_TEST(validity, positions_decide_whatever_the_order) {
  test::point_set<TypeParam> points(120, 2);
  indices labels(120);
  for (std::int64_t i = 0; i < 120; ++i) {
    labels[i] = i / 40;
    points(i, 0) = TypeParam(i % 40 % 6 + 9 * labels[i]);
    points(i, 1) = TypeParam(i % 40 / 6 * (i % 40 % 6 == 2 ? 1.5 : 1));
  }
  const validity_options by_position{.convention = validity_convention::positional};
  const auto expected = validity_index(points.view(), labels, by_position);
  std::vector<std::int64_t> order(120);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(39);
  int others = 0;
  for (int run = 0; run < 5; ++run) {
    std::shuffle(order.begin(), order.end(), random);
    test::point_set<TypeParam> shuffled(120, 2);
    indices label(120);
    for (std::int64_t i = 0; i < 120; ++i) {
      for (std::int64_t d = 0; d < 2; ++d) shuffled(i, d) = points(order[i], d);
      label[i] = labels[order[i]];
    }
    expect_same(validity_index(shuffled.view(), label, by_position), expected);
    others += validity_index(shuffled.view(), label).index != validity_index(points.view(), labels).index;
  }
  EXPECT_GT(others, 0) << "otherwise this shows nothing";
}

TYPED_TEST(validity, errors) {
  const auto points = test::clustered_points<TypeParam>(10, 3, 37);
  indices labels(10, 0);
  expect_invalid([&] { validity_index(points.view(), indices(9, 0)); },
                 "labels.size must be points.rows=10 (labels.size=9)");
  expect_invalid([&] { validity_index(points.view(), labels, {.dimension = -1}); },
                 "dimension must be >= 0 and finite (dimension=-1)");
  labels[4] = -2;
  expect_invalid([&] { validity_index(points.view(), labels); }, "labels[4] must be in [-1, N=10) (labels[4]=-2)");
}

const std::vector<edge> chain{{0, 1, 1.0}, {1, 2, 2.0}, {2, 3, 8.0}, {3, 4, 1.0}, {4, 5, 4.0}};

TEST(relative_validity, from_the_edges_of_the_tree) {
  // Sparseness 2 and 4, separation 8.
  EXPECT_DOUBLE_EQ(relative_validity(chain, indices{0, 0, 0, 1, 1, 1}), 0.5 * 6 / 8 + 0.5 * 4 / 8);
  // Noise does not count within a cluster or between two, but it does in N.
  EXPECT_DOUBLE_EQ(relative_validity(chain, indices{0, 0, 0, 1, 1, -1}), 3.0 / 6 * 6 / 8 + 2.0 / 6 * 7 / 8);
}

TEST(relative_validity, clusters_that_no_edge_joins) {
  // Twice the longest edge, 16, stands for the separation.
  EXPECT_DOUBLE_EQ(relative_validity(chain, indices{0, 0, -1, -1, 1, 1}), 2.0 / 6 * 15 / 16 + 2.0 / 6 * 12 / 16);
  // One cluster: twice the shortest edge to noise, or twice the longest edge where there is none.
  EXPECT_DOUBLE_EQ(relative_validity(chain, indices{0, 0, 0, -1, -1, -1}), 3.0 / 6 * 14 / 16);
  EXPECT_DOUBLE_EQ(relative_validity(chain, indices{0, 0, 0, 0, 0, 0}), 0.5);
}

TEST(relative_validity, edge_cases) {
  EXPECT_EQ(relative_validity({}, indices{}), 0);
  EXPECT_EQ(relative_validity(chain, indices(6, -1)), 0);
  EXPECT_EQ(relative_validity(std::vector<edge>{{0, 1, 0.0}}, indices{0, 0}), 0);
  EXPECT_EQ(relative_validity(std::vector<edge>{{0, 1, 0.0}, {1, 2, infinity}, {2, 3, 0.0}}, indices{0, 0, 1, 1}), 1);
  expect_invalid([] { relative_validity(chain, indices{0, 0, 0}); }, "tree[2] must join points in [0, N=3) (point=3)");
  expect_invalid([] { relative_validity(std::vector<edge>{{0, 1, -1.0}}, indices{0, 0}); }, "tree[0].weight must be");
  expect_invalid([] { relative_validity(std::vector<edge>{{0, 1, std::nan("")}}, indices{0, 0}); }, "(weight=nan)");
}

TEST(validity_progress, reports_and_can_be_cancelled) {
  const auto points = test::clustered_points<float>(400, 6, 40);
  const indices labels = cluster(points.view(), {.min_cluster_size = 10}).labels;
  std::vector<double> fractions;
  validity_index(points.view(), labels, {.budget_bytes = 0}, Device::host(),
                 [&](std::string_view stage, double fraction) {
                   EXPECT_EQ(stage, "validity");
                   fractions.push_back(fraction);
                   return true;
                 });
  EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
  EXPECT_EQ(fractions.front(), 0);
  EXPECT_EQ(fractions.back(), 1);
  EXPECT_THROW(
      validity_index(points.view(), labels, {}, Device::host(), [](std::string_view, double) { return false; }),
      Cancelled);
}

}  // namespace
}  // namespace quintet::hdbscan
