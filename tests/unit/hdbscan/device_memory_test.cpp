// Arguments in the memory of a device, and matrices of distances on every device: the same bits as from the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "quintet/hdbscan/core_and_reachability.hpp"
#include "quintet/hdbscan/hdbscan.hpp"
#include "quintet/hdbscan/medoids.hpp"
#include "quintet/hdbscan/membership.hpp"
#include "quintet/hdbscan/precomputed.hpp"
#include "quintet/hdbscan/prediction.hpp"
#include "quintet/hdbscan/validity.hpp"
#include "support/dense_matrix.hpp"
#include "support/device_of_arguments.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"
#include "support/points.hpp"
#include "support/real_types.hpp"

namespace quintet::hdbscan {
namespace {

template <class Real>
class device_memory_of : public ::testing::Test {};
TYPED_TEST_SUITE(device_memory_of, test::real_types);

template <class Real>
std::vector<std::int64_t> all_pairs(const test::point_set<Real>& points) {
  std::vector<std::int64_t> pairs;
  for (std::int64_t i = 0; i < points.n; ++i)
    for (std::int64_t j = 0; j < points.n; ++j) pairs.insert(pairs.end(), {i, j});
  return pairs;
}

TYPED_TEST(device_memory_of, points_cores_pairs_and_matrices_may_lie_on_a_device) {
  auto points = test::clustered_points<TypeParam>(70, 5, 1);
  points(9, 2) = std::numeric_limits<TypeParam>::quiet_NaN();
  const std::int64_t n = points.n;
  const auto core = core_distances(points.view(), {.min_samples = 3}, Device::host()).distances;
  const auto matrix = test::dense_matrix(points.view(), core);
  const std::vector<std::int64_t> pairs = all_pairs(points);
  test::on_every_device([&](const Device& device) {
    const Buffer<TypeParam> there(points.data, device);
    const matrix_view<const TypeParam> view(there, points.dim);
    Buffer<TypeParam> device_core(n, device), device_matrix(n * n, device), device_pairs(n * n, device);
    const auto found = core_distances_into(view, device_core, {.min_samples = 3}, test::device_of_arguments(device));
    EXPECT_EQ(found.ran_on, device);
    EXPECT_EQ(found.invalid_rows, std::vector<std::int64_t>{9});
    test::expect_same_bits(device_core.to_vector(), core);

    mutual_reachability(view, device_core, matrix_view<TypeParam>(device_matrix, n));
    test::expect_same_bits(device_matrix.to_vector(), matrix);
    const Buffer<std::int64_t> index(pairs, device);
    mutual_reachability_pairs(view, device_core, {index, 2}, device_pairs, {});
    test::expect_same_bits(device_pairs.to_vector(), matrix);
    test::expect_same_bits(
        mutual_reachability_pairs<TypeParam>(points.view(), core, {pairs.data(), n * n, 2}, {}, device), matrix);

    Buffer<TypeParam> both(n * n, device);
    const auto together = core_and_reachability<TypeParam>(view, {.min_samples = 3}, {both, n});
    test::expect_same_bits(together.distances, core);
    test::expect_same_bits(both.to_vector(), matrix);
  });
}

TYPED_TEST(device_memory_of, a_pair_or_a_core_that_is_wrong_is_named_wherever_it_lies) {
  const auto points = test::clustered_points<TypeParam>(20, 3, 1);
  std::vector<std::int64_t> pairs(40, 1);
  pairs[25] = 20;
  std::vector<TypeParam> core(20, TypeParam(1));
  core[7] = TypeParam(-2);
  test::on_every_device([&](const Device& device) {
    const Buffer<TypeParam> there(points.data, device), device_core(core, device);
    const Buffer<std::int64_t> index(pairs, device);
    const matrix_view<const TypeParam> view(there, points.dim);
    expect_invalid([&] { mutual_reachability_pairs<TypeParam>(view, {}, {index, 2}); },
                   "pairs(12, 1) must be in [0, N=20) (pairs(12, 1)=20)");
    expect_invalid([&] { mutual_reachability_pairs<TypeParam>(view, device_core, {index, 2}); },
                   "core[7] must be >= 0 (core[7]=-2)");
  });
}

TYPED_TEST(device_memory_of, clusters_and_what_follows_are_those_of_host_points) {
  const auto points = test::clustered_points<TypeParam>(150, 4, 3), more = test::clustered_points<TypeParam>(20, 4, 4);
  const cluster_options options{.min_cluster_size = 6, .min_samples = 4};
  const cluster_result expected = cluster(points.view(), options, Device::host());
  test::on_every_device([&](const Device& device) {
    const Buffer<TypeParam> there(points.data, device), device_more(more.data, device);
    const matrix_view<const TypeParam> view(there, 4), further(device_more, 4);
    const cluster_result found = cluster(view, options, test::device_of_arguments(device));
    EXPECT_EQ(found.ran_on.neighbours, device);
    EXPECT_EQ(found.ran_on.spanning_tree, device);
    EXPECT_EQ(found.ran_on.tree_stage, Device::host());
    EXPECT_EQ(found.labels, expected.labels);
    EXPECT_EQ(found.spanning_tree, expected.spanning_tree);
    EXPECT_EQ(approximate_predict(found, view, further).labels,
              approximate_predict(expected, points.view(), more.view(), Device::host()).labels);
    EXPECT_EQ(membership_vectors(found, view, further),
              membership_vectors(expected, points.view(), more.view(), Device::host()));
    EXPECT_EQ(medoids(view, found.labels), medoids(points.view(), found.labels, {}, metric::euclidean, Device::host()));
    test::expect_same_bits(weighted_centroids(view, found.labels),
                           weighted_centroids(points.view(), found.labels, {}, metric::euclidean, Device::host()));
    EXPECT_NEAR(validity_index(view, found.labels).index,
                validity_index(points.view(), found.labels, {}, Device::host()).index, 1e-12);
  });
}

// k on both sides of what is kept in order, ties, NaN, and fewer values than k.
TYPED_TEST(device_memory_of, distances_have_their_cores_and_tree_on_every_device) {
  constexpr auto unbounded = std::numeric_limits<TypeParam>::infinity();
  auto points = test::grid_points<TypeParam>(130, 2, 9, 2);
  const std::int64_t n = points.n;
  std::vector<TypeParam> matrix = test::dense_matrix(points.view());
  for (std::int64_t j = 0; j < n; ++j)
    if (j != 3 && j < 100) matrix[3 * n + j] = matrix[j * n + 3] = unbounded;
  for (const std::int64_t k : {0, 1, 7, 64, 65, 100, 129}) {
    std::vector<TypeParam> expected(n, 0);
    for (std::int64_t i = 0; i < n && k > 0; ++i) {
      std::vector<TypeParam> row(matrix.begin() + i * n, matrix.begin() + (i + 1) * n);
      row.erase(row.begin() + i);
      std::sort(row.begin(), row.end());
      expected[i] = row[k - 1];
    }
    const auto tree = spanning_tree_of({matrix.data(), n, n}, {.min_samples = k}, Device::host());
    test::on_every_device([&](const Device& device) {
      const Buffer<TypeParam> there(matrix, device);
      const matrix_view<const TypeParam> view(there, n);
      test::expect_same_bits(core_distances_of(view, {.min_samples = k}).distances, expected);
      const auto found = spanning_tree_of(view, {.min_samples = k}, test::device_of_arguments(device));
      EXPECT_EQ(found.edges, tree.edges);
      EXPECT_EQ(found.ran_on.spanning_tree, device);
    });
  }
}

TYPED_TEST(device_memory_of, the_first_wrong_distance_is_named_on_every_device) {
  auto points = test::clustered_points<TypeParam>(140, 3, 1);
  const std::int64_t n = points.n;
  std::vector<TypeParam> matrix = test::dense_matrix(points.view());
  matrix[70 * n + 100] = 5;
  matrix[3 * n + 139] = matrix[139 * n + 3] = -1;
  test::on_every_device([&](const Device& device) {
    expect_invalid([&] { core_distances_of<TypeParam>({matrix.data(), n, n}, {}, device); },
                   "distances(3, 139) must be >= 0 and not NaN");
  });
}

TYPED_TEST(device_memory_of, arguments_on_a_device_that_was_not_named_are_refused) {
  const auto points = test::clustered_points<TypeParam>(20, 3, 1);
  const Buffer<TypeParam> there(points.data, Device::emulated());
  for (const Device& device : test::test_devices())
    if (device.kind() == device_kind::offload)
      expect_invalid([&] { cluster(matrix_view<const TypeParam>(there, 3), {}, device); }, "points");
}

}  // namespace
}  // namespace quintet::hdbscan
