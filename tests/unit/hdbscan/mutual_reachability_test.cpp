// Mutual reachability: three functions, one matrix.
#include "quintet/hdbscan/mutual_reachability.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "quintet/hdbscan/core_distances.hpp"
#include "reference/pairwise_reference.hpp"
#include "support/dense_matrix.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"
#include "support/points.hpp"
#include "support/real_types.hpp"
#include "support/sanitized.hpp"

namespace quintet::hdbscan {
namespace {

template <class Real>
class mutual_reachability_of : public ::testing::Test {};
TYPED_TEST_SUITE(mutual_reachability_of, test::real_types);

using test::clustered_points;
using test::dense_matrix;
using test::expect_same_bits;
using test::grid_points;
using test::matrix_from_pairs;
using test::matrix_from_rows;
using test::point_set;

template <class Real>
std::vector<Real> core_of(const point_set<Real>& points, std::int64_t k, metric kind = metric::euclidean) {
  return core_distances(points.view(), {k, false, kind}, Device::host()).distances;
}

TYPED_TEST(mutual_reachability_of, points_is_that_of_the_reference) {
  for (const metric kind : {metric::euclidean, metric::cosine})
    for (const double alpha : {1.0, 0.5, 1.3}) {
      const auto points = clustered_points<TypeParam>(120, 30, 1);
      const reference::matrix distances = reference::distances(reference::widened(points.view()), kind);
      const reference::matrix whole =
          reference::mutual_reachability(distances, reference::core_distances(distances, 5), alpha);
      const std::vector<long double> expected(whole.data(), whole.data() + whole.size());
      const auto found = dense_matrix(points.view(), core_of(points, 5, kind), {.alpha = alpha, .distance = kind});
      test::expect_error_within(std::string(to_string(kind)) + "_alpha" + std::to_string(alpha),
                                test::largest_error(found, expected), test::data_bound<TypeParam>);
    }
}

// The budgets: nothing (one tile of rows), a little more than one tile, everything.
template <class Real>
void expect_one_matrix(const point_set<Real>& points, const std::vector<Real>& core,
                       const reachability_options& options, const Device& device) {
  const auto expected = dense_matrix(points.view(), core, options);
  expect_same_bits(matrix_from_pairs(points.view(), core, options), expected);
  expect_same_bits(dense_matrix(points.view(), core, options, device), expected);
  for (const std::int64_t budget :
       {std::int64_t(0), 200 * points.n * std::int64_t(sizeof(Real)), std::int64_t(1) << 30}) {
    std::int64_t blocks = 0;
    expect_same_bits(matrix_from_rows(points.view(), core, options, device, budget, blocks), expected);
    EXPECT_TRUE(budget > 0 || blocks >= points.n / 96) << blocks;
    EXPECT_TRUE(budget < 1 << 30 || blocks == 1) << blocks;
  }
}

TYPED_TEST(mutual_reachability_of, pairs_and_rows_has_the_bits_of_the_matrix) {
  for (const std::int64_t n : {1, 2, 65, 97, 200})
    for (const std::int64_t dim : {1, 3, 17, 384})
      for (const metric kind : {metric::euclidean, metric::cosine})
        for (const bool core_on_diagonal : {false, true}) {
          // Under a sanitizer three tiles only in few dimensions, and two with a remainder of one in the others.
          if (test::sanitized && n > 97 && dim > 3) continue;
          SCOPED_TRACE(::testing::Message() << n << " x " << dim << " " << to_string(kind) << core_on_diagonal);
          const auto points = clustered_points<TypeParam>(n, dim, 2, 3);
          expect_one_matrix(points, core_of(points, 4, kind), {1, core_on_diagonal, kind}, Device::host());
          expect_one_matrix(points, {}, {0.7, core_on_diagonal, kind}, Device::host());
        }
}

TYPED_TEST(mutual_reachability_of, points_on_every_device_has_the_bits_of_the_matrix) {
  test::on_other_devices([](const Device& device) {
    for (const std::int64_t n : {1, 65, 130}) {
      SCOPED_TRACE(n);
      const auto points = clustered_points<TypeParam>(n, 5, 2, 3);
      expect_one_matrix(points, core_of(points, 4), {}, device);
      expect_one_matrix(points, {}, {0.7, true, metric::cosine}, device);
    }
  });
}

TYPED_TEST(mutual_reachability_of, pairs_has_the_bits_of_the_matrix_in_the_other_specialised_dimensions) {
  for (const std::int64_t dim : {512, 768, 1536}) {
    const auto points = clustered_points<TypeParam>(100, dim, 3);
    expect_one_matrix(points, core_of(points, 3), {}, Device::host());
  }
}

TYPED_TEST(mutual_reachability_of, the_matrix_is_symmetric_and_has_the_diagonal_asked_for) {
  const auto points = grid_points<TypeParam>(200, 3, 4, 4);
  const auto core = core_of(points, 5);
  for (const bool core_on_diagonal : {false, true}) {
    const auto found = dense_matrix(points.view(), core, {.core_on_diagonal = core_on_diagonal});
    for (std::int64_t i = 0; i < 200; ++i) {
      ASSERT_EQ(found[i * 200 + i], core_on_diagonal ? core[i] : TypeParam(0));
      for (std::int64_t j = 0; j < i; ++j) ASSERT_EQ(found[i * 200 + j], found[j * 200 + i]);
    }
  }
}

TYPED_TEST(mutual_reachability_of, alpha_divides_distances_and_not_core_distances) {
  point_set<TypeParam> points(3, 1);
  points.data = {0, 8, 10};
  const std::vector<TypeParam> core{5, 1, 1};
  const auto found = dense_matrix(points.view(), core, {.alpha = 4});
  expect_same_bits(found, std::vector<TypeParam>{0, 5, 5, 5, 0, 1, 5, 1, 0});
  expect_same_bits(dense_matrix(points.view(), {}, {.alpha = 4}),
                   std::vector<TypeParam>{0, 2, 2.5, 2, 0, 0.5, 2.5, 0.5, 0});
}

TYPED_TEST(mutual_reachability_of, very_large_core_distances_do_not_overflow) {
  const auto points = clustered_points<TypeParam>(3, 4, 5);
  const TypeParam max = std::numeric_limits<TypeParam>::max();
  const auto found = dense_matrix(points.view(), {max, 1, std::numeric_limits<TypeParam>::infinity()});
  EXPECT_EQ(found[1], max);
  EXPECT_EQ(found[2], std::numeric_limits<TypeParam>::infinity());
}

TYPED_TEST(mutual_reachability_of, a_row_with_nan_is_nan_throughout_in_all_three) {
  auto points = clustered_points<TypeParam>(70, 5, 6);
  points(65, 1) = std::numeric_limits<TypeParam>::quiet_NaN();
  const auto core = core_of(points, 3);
  ASSERT_TRUE(std::isnan(core[65]));
  test::on_every_device([&](const Device& device) {
    for (const bool core_on_diagonal : {false, true})
      expect_one_matrix(points, core, {.core_on_diagonal = core_on_diagonal}, device);
  });
  const auto found = dense_matrix(points.view(), core);
  for (std::int64_t i = 0; i < 70; ++i)
    for (std::int64_t j = 0; j < 70; ++j) ASSERT_EQ(std::isnan(found[i * 70 + j]), i == 65 || j == 65);
}

TYPED_TEST(mutual_reachability_of, no_points_is_no_matrix) {
  EXPECT_TRUE(dense_matrix<TypeParam>({nullptr, 0, 3}).empty());
  EXPECT_TRUE(matrix_from_pairs<TypeParam>({nullptr, 0, 3}).empty());
  std::int64_t blocks = 0;
  EXPECT_TRUE(matrix_from_rows<TypeParam>({nullptr, 0, 3}, {}, {}, Device::host(), 0, blocks).empty());
  EXPECT_EQ(blocks, 0);
}

TYPED_TEST(mutual_reachability_of, rows_can_be_stopped) {
  const auto points = clustered_points<TypeParam>(300, 3, 7);
  int calls = 0;
  const row_block_callback<TypeParam> stop_at_two = [&](std::int64_t, matrix_view<const TypeParam>) {
    return ++calls < 2;
  };
  EXPECT_FALSE(mutual_reachability_rows<TypeParam>(points.view(), {}, stop_at_two, 0));
  EXPECT_EQ(calls, 2);
}

TYPED_TEST(mutual_reachability_of, any_number_of_threads_gives_the_same_bits) {
  const auto points = clustered_points<TypeParam>(200, 11, 8);
  const auto core = core_of(points, 5);
  for (const int count : {1, 2, 5}) {
    set_threads(count);
    expect_one_matrix(points, core, {}, Device::host());
  }
  set_threads(0);
}

TEST(mutual_reachability, bad_arguments_are_named) {
  const auto points = clustered_points<float>(4, 3, 9);
  const std::vector<std::int64_t> pairs{0, 1, 2, 4};
  std::vector<float> out(16);
  const auto dense = [&](const std::vector<float>& core, const reachability_options& options) {
    mutual_reachability(points.view(), core, {out.data(), 4, 4}, options);
  };
  const auto listed = [&](const std::vector<float>& core, matrix_view<const std::int64_t> view,
                          const reachability_options& options = {}) {
    mutual_reachability_pairs<float>(points.view(), core, view, options);
  };
  expect_invalid([&] { dense({}, {.alpha = 0}); }, "alpha must be > 0 and finite (alpha=0)");
  expect_invalid([&] { dense({}, {.alpha = -1}); }, "alpha must be > 0 and finite (alpha=-1)");
  expect_invalid([&] { dense({}, {.alpha = std::numeric_limits<double>::quiet_NaN()}); }, "(alpha=nan)");
  expect_invalid([&] { dense({}, {.alpha = std::numeric_limits<double>::infinity()}); }, "(alpha=inf)");
  // In float these are 0 and infinity.
  expect_invalid([&] { dense({}, {.alpha = 1e-60}); }, "(alpha=1e-60)");
  expect_invalid([&] { dense({}, {.alpha = 1e60}); }, "(alpha=1e+60)");
  expect_invalid([&] { dense({1, 2, 3}, {}); }, "core.size must be 0 or points.rows=4 (core.size=3)");
  expect_invalid([&] { dense({1, 2, -3, 4}, {}); }, "core[2] must be >= 0 (core[2]=-3)");
  expect_invalid([&] { dense({1, 2, 3, NAN}, {}); }, "core[3] must be >= 0 (core[3]=nan)");
  expect_invalid([&] { mutual_reachability(points.view(), {}, {out.data(), 4, 3}); },
                 "out must be N x N (out=4 x 3, N=4)");
  expect_invalid([&] { mutual_reachability(points.view(), {}, {out.data(), 2, 2}); },
                 "out must be N x N (out=2 x 2, N=4)");
  expect_invalid([&] { listed({}, {pairs.data(), 2, 2}); }, "pairs(1, 1) must be in [0, N=4) (pairs(1, 1)=4)");
  const std::vector<std::int64_t> negative{-1, 0};
  expect_invalid([&] { listed({}, {negative.data(), 1, 2}); }, "pairs(0, 0) must be in [0, N=4) (pairs(0, 0)=-1)");
  expect_invalid([&] { listed({}, {pairs.data(), 1, 4}); }, "pairs.cols must be 2 (pairs.cols=4)");
  expect_invalid([&] { listed({1, -2, 3, 4}, {pairs.data(), 1, 2}); }, "core[1] must be >= 0 (core[1]=-2)");
  expect_invalid([&] { listed({}, {pairs.data(), 1, 2}, {.alpha = -2}); }, "(alpha=-2)");
  const row_block_callback<float> ignore = [](std::int64_t, matrix_view<const float>) { return true; };
  expect_invalid([&] { mutual_reachability_rows<float>(points.view(), {}, ignore, -1); },
                 "budget_bytes must be >= 0 (budget_bytes=-1)");
  expect_invalid([&] { mutual_reachability_rows<float>(points.view(), {}, {}); }, "receive must not be empty");
}

}  // namespace
}  // namespace quintet::hdbscan
