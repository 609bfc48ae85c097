// Lists of points that are spread over ranks have the bits of the plain library's.
#include "quintet/mpi/neighbours.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "mpi/ranks.hpp"
#include "mpi/spread.hpp"
#include "pairwise/filter_use.hpp"
#include "support/ball_points.hpp"
#include "support/bit_rows.hpp"
#include "support/devices.hpp"
#include "support/integer_rows.hpp"
#include "support/points.hpp"

namespace quintet {
namespace {

using test::point_set, test::ranks, test::own_rows;

template <class Storage>
void expect_same_lists(const point_set<Storage>& points, std::int64_t k, const neighbours::options& how,
                       const Device& device) {
  const auto expected = neighbours::nearest<Storage>(points.view(), k, how, Device::host());
  const auto [rows, first] = own_rows(points);
  const auto found = mpi::neighbours::nearest<Storage>(ranks(), rows, first, k, how, device);
  ASSERT_EQ(found.queries, rows.rows());
  EXPECT_EQ(found.points, points.n);
  EXPECT_EQ(found.invalid_points, expected.invalid_points);
  for (std::int64_t e = 0; e < rows.rows() * k; ++e) {
    ASSERT_EQ(found.index[e], expected.index[first * k + e]) << "row " << first + e / k;
    if (found.index[e] < 0)
      ASSERT_NE(found.distance[e], found.distance[e]);
    else
      ASSERT_EQ(found.distance[e], expected.distance[first * k + e]);
  }
}

TEST(mpi_nearest, has_the_bits_of_the_plain_one) {
  for (const std::int64_t n : {0, 1, 2, ranks().size() + 1, 97, 700})
    expect_same_lists(test::clustered_points<float>(n, 40, 1, 3), n > 10 ? 10 : 1, {}, Device::host());
  expect_same_lists(test::clustered_points<double>(1000, 9, 2), 15, {metric::cosine}, Device::host());
  expect_same_lists(test::ball_points<float>(800, 6, 0.1, 0.99, 2.0, 3), 7, {{metric::poincare, -2}}, Device::host());
  // The plain library searches a tree of blocks.
  expect_same_lists(test::clustered_points<float>(3000, 3, 4), 5, {}, Device::host());
}

TEST(mpi_nearest, rows_of_bits) {
  for (const metric kind : {metric::hamming, metric::jaccard}) {
    const test::bit_set rows = test::clustered_bits(500, 100, 5);
    expect_same_lists(test::words_of(rows), 9, {rows.packed().distance(kind)}, Device::host());
  }
}

TEST(mpi_nearest, rows_of_integers) {
  for (const metric kind : test::integer_metrics) {
    const test::integer_set rows = test::clustered_integers(500, 30, 5);
    expect_same_lists(test::words_of(rows), 9, {rows.packed.distance(kind)}, Device::host());
  }
}

TEST(mpi_nearest, ties_are_decided_by_the_number_of_the_row) {
  auto points = test::grid_points<float>(900, 3, 3, 5);
  points(100, 0) = std::numeric_limits<float>::quiet_NaN();
  points(899, 1) = std::numeric_limits<float>::infinity();
  expect_same_lists(points, 20, {}, Device::host());
}

TEST(mpi_nearest, filters_leave_no_trace) {
  const pairwise::filter_guard guard(pairwise::filter_mode::always);
  for (const std::int64_t n : {2, ranks().size() + 1, 97, 900})
    expect_same_lists(test::clustered_points<float>(n, 40, 10), n > 10 ? 10 : 1, {}, Device::host());
  expect_same_lists(test::grid_points<float>(900, 40, 2, 11), 20, {}, Device::host());
  expect_same_lists(test::clustered_points<float>(800, 100, 12), 33, {metric::cosine}, Device::host());
  auto far = test::clustered_points<float>(800, 40, 13);
  for (float& x : far.data) x += 1e4f;
  expect_same_lists(far, 5, {}, Device::host());
  expect_same_lists(point_set<float>(500, 40), 3, {}, Device::host());
}

TEST(mpi_nearest, devices_whose_teams_own_their_lists) {
  test::on_other_devices([](const Device& device) {
    expect_same_lists(test::grid_points<float>(300, 3, 3, 6), 9, {}, device);
    expect_same_lists(test::ball_points<double>(200, 3, 0.1, 0.99, 1.0, 7), 4, {metric::poincare}, device);
  });
}

TEST(mpi_nearest, receives_what_the_formula_says) {
  // Half a ring of points, their limits and lists; steps are whole for odd numbers of ranks.
  if (ranks().size() % 2 == 0 || ranks().size() == 1) return;
  const std::int64_t per_rank = 2 * 96, k = 6, dim = 32, size = ranks().size();
  const auto points = test::clustered_points<float>(per_rank * size, dim, 8);
  const auto traffic = [] {
    for (const mpi::phase_traffic& phase : ranks().traffic())
      if (phase.phase == "lists") return phase;
    return mpi::phase_traffic();
  };
  const mpi::phase_traffic before = traffic();
  const auto [rows, first] = own_rows(points);
  mpi::neighbours::nearest<float>(ranks(), rows, first, k, {}, Device::host());
  const mpi::phase_traffic after = traffic();
  const std::int64_t expected = (size - 1) / 2 * per_rank * (dim * 4 + 4 + k * 8);
  EXPECT_EQ(after.received - before.received, expected);
  EXPECT_EQ(after.sent - before.sent, expected);
  EXPECT_EQ(after.messages - before.messages, (size - 1) / 2 * 4);
}

TEST(mpi_nearest, errors_are_those_of_the_plain_one) {
  const auto points = test::clustered_points<float>(50, 4, 9);
  const auto [rows, first] = own_rows(points);
  for (const std::int64_t k : {0, 50}) try {
      mpi::neighbours::nearest<float>(ranks(), rows, first, k, {}, Device::host());
      FAIL();
    } catch (const InvalidArgument& e) {
      EXPECT_EQ(std::string(e.what()), text("k must be in [1, 49] (k=", k, ")"));
    }
}

}  // namespace
}  // namespace quintet
