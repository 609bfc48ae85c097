// Lists of nearest neighbours: exact, ordered by (value, index), the same on every device.
#include "pairwise/neighbours.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "pairwise/scanned_points.hpp"
#include "support/devices.hpp"
#include "support/points.hpp"
#include "support/real_types.hpp"

namespace quintet::pairwise {
namespace {

template <class Real>
class nearest_in : public ::testing::Test {};
TYPED_TEST_SUITE(nearest_in, test::real_types);

using test::grid_points;
using test::point_set;

// All candidates of one query, sorted. Integer coordinates: squares are exact.
template <class Real>
std::vector<std::pair<double, std::int32_t>> sorted_candidates(const point_set<Real>& queries, std::int64_t query,
                                                               const point_set<Real>& points, std::int64_t left_out) {
  std::vector<std::pair<double, std::int32_t>> candidates;
  for (std::int64_t j = 0; j < points.n; ++j) {
    double square = 0;
    for (std::int64_t k = 0; k < points.dim; ++k)
      square += std::pow(double(queries(query, k)) - double(points(j, k)), 2);
    if (j != left_out && !std::isnan(square)) candidates.emplace_back(square, std::int32_t(j));
  }
  std::sort(candidates.begin(), candidates.end());
  return candidates;
}

template <class Real>
void expect_lists(const neighbour_table<Real>& found, const point_set<Real>& queries, const point_set<Real>& points,
                  bool same, double scale) {
  ASSERT_EQ(found.rows, queries.n);
  for (std::int64_t i = 0; i < queries.n; ++i) {
    const auto expected = sorted_candidates(queries, i, points, same ? i : -1);
    for (std::int64_t e = 0; e < found.k; ++e) {
      const bool is_there = e < std::int64_t(expected.size());
      ASSERT_EQ(found.index[i * found.k + e], is_there ? expected[e].second : -1) << "query " << i << ", place " << e;
      const double value = is_there ? expected[e].first * scale : std::numeric_limits<double>::infinity();
      ASSERT_EQ(found.value[i * found.k + e], Real(value)) << "query " << i << ", place " << e;
    }
  }
}

template <class Real>
double scale_of(const scanned_points<Real>& scan) {
  return 1 / (double(scan.measure.unscale) * double(scan.measure.unscale));
}

TYPED_TEST(nearest_in, a_set_has_exact_lists_in_order) {
  test::on_every_device([](const Device& device) {
    for (const std::int64_t n : {1, 2, 65, 97, 250})
      for (const int k : {1, 5, 70}) {
        const auto points = grid_points<TypeParam>(n, 2, 7, std::uint64_t(n));
        const scanned_points<TypeParam> scan(points.view(), metric::euclidean, device);
        const auto panels = scan.pack();
        // Both ways of sharing lists, whichever the device would choose.
        for (const list_sharing sharing : {list_sharing::owned, list_sharing::symmetric})
          expect_lists(on_host(nearest_others_on_device(panels, k, 0, sharing)), points, points, true, scale_of(scan));
      }
  });
}

TYPED_TEST(nearest_in, another_set_has_exact_lists_in_order) {
  test::on_every_device([](const Device& device) {
    for (const std::int64_t n : {1, 97, 200}) {
      const auto queries = grid_points<TypeParam>(n, 3, 5, 1), points = grid_points<TypeParam>(300 - n, 3, 5, 2);
      auto all = grid_points<TypeParam>(300, 3, 5, 1);
      // One scan, one scale: the queries are the first points of all.
      std::copy(points.data.begin(), points.data.end(), all.data.begin() + n * 3);
      const scanned_points<TypeParam> scan(all.view(), metric::euclidean, device);
      std::vector<std::int32_t> first, rest;
      for (std::int32_t i = 0; i < 300; ++i) (i < n ? first : rest).push_back(i);
      const auto found = nearest_points(scan.pack(first), scan.pack(rest), 6);
      expect_lists(found, queries, points, false, scale_of(scan));
    }
  });
}

TYPED_TEST(nearest_in, a_set_has_no_invalid_neighbours) {
  auto points = grid_points<TypeParam>(120, 2, 6, 4);
  points(0, 1) = points(64, 0) = points(119, 0) = std::numeric_limits<TypeParam>::quiet_NaN();
  test::on_every_device([&](const Device& device) {
    const scanned_points<TypeParam> scan(points.view(), metric::euclidean, device);
    for (const list_sharing sharing : {list_sharing::owned, list_sharing::symmetric})
      expect_lists(on_host(nearest_others_on_device(scan.pack(), 118, 0, sharing)), points, points, true,
                   scale_of(scan));
  });
}

// No value between a row and a group of tiles lies below the table's; one attains it.
TYPED_TEST(nearest_in, a_set_has_the_least_value_of_every_group) {
  const auto points = grid_points<TypeParam>(300, 2, 40, 5);
  std::vector<std::vector<std::pair<double, std::int32_t>>> candidates;
  for (std::int64_t i = 0; i < points.n; ++i) candidates.push_back(sorted_candidates(points, i, points, i));
  test::on_every_device([&](const Device& device) {
    const scanned_points<TypeParam> scan(points.view(), metric::euclidean, device);
    const auto panels = scan.pack();
    for (const auto& [bytes, sharing] :
         {std::pair(std::int64_t(1), list_sharing::owned), std::pair(std::int64_t(1), list_sharing::symmetric),
          std::pair(2 * 300 * std::int64_t(sizeof(TypeParam)), list_sharing::owned),
          std::pair(std::int64_t(1) << 20, list_sharing::owned),
          std::pair(std::int64_t(1) << 20, list_sharing::symmetric)}) {
      const auto found = nearest_others_on_device(panels, 3, bytes, sharing);
      const std::vector<TypeParam> table = found.minima.to_vector();
      ASSERT_EQ(found.groups, (panels.blocks() + found.blocks_per_group - 1) / found.blocks_per_group);
      ASSERT_TRUE(bytes > 1 || found.groups == 1);
      ASSERT_TRUE(bytes < 1 << 20 || found.blocks_per_group == 1);
      const std::int64_t side = found.blocks_per_group * panels.block_side;
      for (std::int64_t i = 0; i < points.n; ++i) {
        std::vector<double> min(found.groups, std::numeric_limits<double>::infinity());
        for (const auto& [square, j] : candidates[i]) min[j / side] = std::min(min[j / side], square * scale_of(scan));
        for (std::int64_t g = 0; g < found.groups; ++g) ASSERT_EQ(table[i * found.groups + g], TypeParam(min[g]));
      }
    }
  });
}

}  // namespace
}  // namespace quintet::pairwise
