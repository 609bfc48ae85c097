// Points stored in 16 bits: the same bits as the same points stored as floats, and how far that is from full precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "quintet/core/storage16.hpp"
#include "quintet/hdbscan/core_and_reachability.hpp"
#include "quintet/hdbscan/hdbscan.hpp"
#include "quintet/hdbscan/medoids.hpp"
#include "quintet/hdbscan/membership.hpp"
#include "quintet/hdbscan/prediction.hpp"
#include "quintet/hdbscan/validity.hpp"
#include "support/points.hpp"

namespace quintet::hdbscan {
namespace {

/// Unit roundoff of the storage type.
template <class Storage>
constexpr double roundoff = 0;
template <>
constexpr double roundoff<half> = 0x1p-11;
template <>
constexpr double roundoff<bfloat16> = 0x1p-8;

template <class Storage>
struct Storage16 : testing::Test {
  test::point_set<float> exact = test::clustered_points<float>(140, 33, 8);
  test::point_set<Storage> stored{exact.n, exact.dim};
  test::point_set<float> rounded{exact.n, exact.dim};

  Storage16() {
    for (std::int64_t i = 0; i < exact.n; ++i)
      for (std::int64_t k = 0; k < exact.dim; ++k) {
        stored(i, k) = Storage(exact(i, k));
        rounded(i, k) = float(stored(i, k));
      }
  }
};
using Types = testing::Types<half, bfloat16>;
TYPED_TEST_SUITE(Storage16, Types);

TYPED_TEST(Storage16, EverythingIsThatOfTheRoundedPoints) {
  const std::int64_t n = this->exact.n;
  for (const metric distance : {metric::euclidean, metric::cosine}) {
    const core_options core{.min_samples = 4, .distance = distance};
    const reachability_options options{.distance = distance};
    const auto expected_core = core_distances(this->rounded.view(), core, Device::host());
    EXPECT_EQ(core_distances(this->stored.view(), core, Device::host()).distances, expected_core.distances);

    Buffer<float> expected(n * n), of_stored(n * n);
    mutual_reachability(this->rounded.view(), expected_core.distances, expected, options);
    mutual_reachability(this->stored.view(), expected_core.distances, of_stored, options);
    EXPECT_EQ(of_stored.to_vector(), expected.to_vector());
    std::vector<float> fused(n * n);
    core_and_reachability(this->stored.view(), core, {fused.data(), n, n}, options, Device::host());
    EXPECT_EQ(fused, expected.to_vector());

    const std::vector<std::int64_t> pairs{0, 1, 5, 5, 130, 7};
    EXPECT_EQ(mutual_reachability_pairs(this->stored.view(), expected_core.distances, {pairs.data(), 3, 2}, options),
              mutual_reachability_pairs(this->rounded.view(), expected_core.distances, {pairs.data(), 3, 2}, options));

    const cluster_options clusters{.min_cluster_size = 5, .min_samples = 4, .distance = distance};
    const auto expected_clusters = cluster(this->rounded.view(), clusters, Device::host());
    const auto result = cluster(this->stored.view(), clusters, Device::host());
    EXPECT_EQ(result.labels, expected_clusters.labels);
    EXPECT_EQ(result.spanning_tree, expected_clusters.spanning_tree);
  }
}

TYPED_TEST(Storage16, WhatFollowsTheClusteringIsThatOfTheRoundedPoints) {
  const cluster_options options{.min_cluster_size = 5, .min_samples = 4};
  const auto model = cluster(this->stored.view(), options, Device::host());
  ASSERT_GT(model.clusters(), 1);
  const auto stored = this->stored.view();
  const auto rounded = this->rounded.view();
  const auto found = approximate_predict(model, stored, stored),
             expected = approximate_predict(model, rounded, rounded);
  EXPECT_EQ(found.labels, expected.labels);
  EXPECT_EQ(found.lambdas, expected.lambdas);
  EXPECT_EQ(membership_vectors(model, stored, stored), membership_vectors(model, rounded, rounded));
  EXPECT_EQ(all_points_membership_vectors(model, stored), all_points_membership_vectors(model, rounded));
  EXPECT_EQ(validity_index(stored, model.labels).index, validity_index(rounded, model.labels).index);
  EXPECT_EQ(medoids(stored, model.labels), medoids(rounded, model.labels));
  EXPECT_EQ(weighted_centroids(stored, model.labels), weighted_centroids(rounded, model.labels));
}

/// |d(x', y') - d(x, y)| <= u (|x| + |y|) for coordinates rounded with unit roundoff u.
TYPED_TEST(Storage16, DistancesDifferFromFullPrecisionByTheRounding) {
  const std::int64_t n = this->exact.n;
  Buffer<float> expected(n * n), of_stored(n * n);
  mutual_reachability(this->exact.view(), {}, expected);
  mutual_reachability(this->stored.view(), {}, of_stored);
  std::vector<double> norm(n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < this->exact.dim; ++k) norm[i] += std::pow(double(this->exact(i, k)), 2);
  double worst = 0;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      worst = std::max(worst, std::fabs(double(of_stored.data()[i * n + j]) - expected.data()[i * n + j]) /
                                  (std::sqrt(norm[i]) + std::sqrt(norm[j])));
  this->RecordProperty("worst_in_units_of_roundoff", std::to_string(worst / roundoff<TypeParam>));
  EXPECT_LE(worst, roundoff<TypeParam>);
  EXPECT_GT(worst, 0);
}

}  // namespace
}  // namespace quintet::hdbscan
