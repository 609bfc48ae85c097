#include "quintet/hdbscan/core_and_reachability.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "support/devices.hpp"
#include "support/points.hpp"

namespace quintet::hdbscan {
namespace {

template <class Real>
bool same_bits(const std::vector<Real>& a, const std::vector<Real>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Real)) == 0;
}

template <class Real>
class CoreAndReachability : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(CoreAndReachability, Reals);

/// The bits of the two functions one after the other, for small and large k, with an invalid row, alpha and diagonal.
TYPED_TEST(CoreAndReachability, IsTheTwoStepsInOne) {
  using Real = TypeParam;
  for (const std::int64_t k : {0, 1, 5, 70, 500}) {
    for (const double alpha : {1.0, 0.7}) {
      auto points = test::clustered_points<Real>(130, 20, 4);
      points(17, 3) = std::numeric_limits<Real>::quiet_NaN();
      const core_options core{.min_samples = k};
      const reachability_options options{.alpha = alpha, .core_on_diagonal = k == 5};
      const auto expected = core_distances<Real>(points.view(), core, Device::host());
      std::vector<Real> expected_matrix(points.n * points.n), matrix(points.n * points.n);
      mutual_reachability(points.view(), expected.distances, {expected_matrix.data(), points.n, points.n}, options,
                          Device::host());
      for (const Device& device : {Device::host(), Device::emulated()}) {
        const auto result =
            core_and_reachability<Real>(points.view(), core, {matrix.data(), points.n, points.n}, options, device);
        EXPECT_TRUE(same_bits(result.distances, expected.distances)) << k << ' ' << alpha;
        EXPECT_EQ(result.neighbours, expected.neighbours);
        EXPECT_EQ(result.clamped, expected.clamped);
        EXPECT_EQ(result.invalid_rows, expected.invalid_rows);
        for (std::int64_t e = 0; e < points.n * points.n; ++e)
          ASSERT_TRUE(matrix[e] == expected_matrix[e] ||
                      (matrix[e] != matrix[e] && expected_matrix[e] != expected_matrix[e]))
              << k << ' ' << alpha << " at " << e / points.n << ", " << e % points.n;
      }
    }
  }
}

TEST(CoreAndReachabilityBatch, SetsOfDifferentSizesGiveWhatTheyGiveAlone) {
  std::vector<test::point_set<float>> sets;
  for (const std::int64_t n : {0, 1, 2, 30, 100, 97, 250})
    sets.push_back(test::clustered_points<float>(n, 3 + n / 10, n));
  const core_options options{.min_samples = 5};
  set_threads(3);
  test::on_every_device([&](const Device& device) {
    std::vector<std::vector<float>> matrices;
    std::vector<reachability_task> tasks;
    std::vector<std::vector<float>> cores;
    for (const auto& set : sets) {
      matrices.emplace_back(set.n * set.n);
      cores.emplace_back(set.n);
    }
    for (std::size_t t = 0; t < sets.size(); ++t)
      tasks.push_back({sets[t].view(), cores[t], {matrices[t].data(), sets[t].n, sets[t].n}});
    const auto results = core_and_reachability_batch(tasks, options, {}, device);
    for (std::size_t t = 0; t < sets.size(); ++t) {
      std::vector<float> alone(sets[t].n * sets[t].n);
      const auto expected =
          core_and_reachability<float>(sets[t].view(), options, {alone.data(), sets[t].n, sets[t].n}, {}, device);
      EXPECT_EQ(results[t].ran_on, device);
      EXPECT_EQ(cores[t], expected.distances) << t;
      EXPECT_EQ(matrices[t], alone) << t;
    }
  });
  set_threads(0);
}

TEST(CoreAndReachabilityBatch, TheFirstErrorIsThrownAndOthersAreDone) {
  const auto good = test::clustered_points<float>(20, 3, 1);
  std::vector<float> matrix(400, -1), wrong(16);
  const std::vector<reachability_task> tasks{{good.view(), {}, {wrong.data(), 4, 4}},
                                             {good.view(), {}, {matrix.data(), 20, 20}}};
  EXPECT_THROW(core_and_reachability_batch(tasks, {.min_samples = 2}, {}, Device::host()), InvalidArgument);
  EXPECT_EQ(matrix[0], 0);
}

TEST(CoreAndReachabilityBatch, MetricsMustAgree) {
  const auto points = test::clustered_points<float>(20, 3, 1);
  std::vector<float> matrix(400);
  EXPECT_THROW(core_and_reachability<float>(points.view(), {.distance = metric::cosine}, {matrix.data(), 20, 20}),
               InvalidArgument);
}

}  // namespace
}  // namespace quintet::hdbscan
