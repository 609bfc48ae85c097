// Neighbours of rows of integers: exact order, by loops over integers.
#include "quintet/pairwise/packed_integers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "quintet/neighbours/index.hpp"
#include "support/csv_table.hpp"
#include "support/data_folder.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/index_answers.hpp"
#include "support/integer_rows.hpp"

namespace quintet::neighbours {
namespace {

using test::clustered_integers;
using test::integer_metrics;
using test::integer_set;

/// What orders points around a query exactly: cos |x|, of which g |g| / |y|^2 is the square with its sign.
struct ranked_point {
  __int128 numerator;
  std::int64_t denominator, index;
  bool operator<(const ranked_point& other) const {
    const __int128 left = numerator * other.denominator, right = other.numerator * denominator;
    return left != right ? left < right : index < other.index;
  }
};

ranked_point ranked(const integer_set& queries, std::int64_t q, const integer_set& points, std::int64_t j,
                    metric kind) {
  const std::int64_t g = queries.product(q, points, j);
  if (kind == metric::integer_cosine) return {-(__int128)g * (g < 0 ? -g : g), points.square(j), j};
  return {kind == metric::integer_euclidean ? points.square(j) - 2 * g : -g, 1, j};
}

std::vector<std::int64_t> ordered_points(const integer_set& queries, std::int64_t q, const integer_set& points,
                                         std::int64_t left_out, metric kind) {
  std::vector<ranked_point> list;
  for (std::int64_t j = 0; j < points.n; ++j)
    if (j != left_out) list.push_back(ranked(queries, q, points, j, kind));
  std::sort(list.begin(), list.end());
  std::vector<std::int64_t> order;
  for (const ranked_point& point : list) order.push_back(point.index);
  return order;
}

/// Euclidean distances and products are exact; those of cosine are compared with roundings of long double, which may be
/// those of a neighbour.
void expect_distance(double found, double expected, metric kind) {
  if (kind == metric::integer_cosine)
    EXPECT_NEAR(found, expected, expected * std::numeric_limits<double>::epsilon());
  else
    EXPECT_EQ(found, expected);
}

void expect_lists(const nearest_result<double>& found, const integer_set& queries, const integer_set& points, bool same,
                  metric kind) {
  for (std::int64_t q = 0; q < found.queries; ++q) {
    const auto order = ordered_points(queries, q, points, same ? q : -1, kind);
    for (std::int64_t e = 0; e < found.k; ++e) {
      ASSERT_EQ(found.index[q * found.k + e], order[e]) << to_string(kind) << ", query " << q << ", rank " << e;
      expect_distance(found.distance[q * found.k + e], test::integer_distance(queries, q, points, order[e], kind),
                      kind);
    }
  }
}

TEST(integer_neighbours, lists_are_in_exact_order) {
  test::on_every_device([](const Device& device) {
    for (const std::int64_t dim : {1, 4, 5, 48, 771})
      for (const std::int64_t n : {2, 100}) {
        SCOPED_TRACE(::testing::Message() << n << " rows of " << dim);
        const integer_set points = clustered_integers(n, dim, std::uint64_t(n + dim));
        const integer_set queries = clustered_integers(70, dim, 7);
        for (const metric kind : integer_metrics) {
          const options how{points.packed.distance(kind)};
          const std::int64_t k = std::min<std::int64_t>(n - 1, 20);
          expect_lists(nearest(points.points(), k, how, device), points, points, true, kind);
          expect_lists(nearest(queries.points(), points.points(), k, how, device), queries, points, false, kind);
        }
        if (::testing::Test::HasFatalFailure()) return;
      }
  });
}

/// Of k (1, 1, ..., 2) and rows next to them: 1 - cos is some 1e-6 to 1e-18, where g / (|x| |y|) has no digits left.
TEST(integer_neighbours, directions_that_nearly_agree) {
  constexpr std::int64_t dim = 4096, n = 60;
  std::vector<std::int8_t> values(n * dim, 1);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t k = 0; k < dim; ++k) values[i * dim + k] = std::int8_t(1 + i % 5) * std::int8_t(1 + k % 3);
    if (i % 4 != 0) ++values[i * dim + i % 7];
  }
  const integer_set points(std::move(values), dim);
  const options how{points.packed.distance(metric::integer_cosine)};
  test::on_every_device([&](const Device& device) {
    const auto found = nearest(points.points(), n - 1, how, device);
    expect_lists(found, points, points, true, metric::integer_cosine);
    EXPECT_EQ(found.distance[0], 0);
    EXPECT_LT(found.distance[20], 1e-5);
  });
}

TEST(integer_neighbours, a_radius_takes_in_equal_distances) {
  const integer_set points = clustered_integers(100, 19, 5), queries = clustered_integers(20, 19, 6);
  test::on_every_device([&](const Device& device) {
    for (const metric kind : integer_metrics) {
      const options how{points.packed.distance(kind)};
      const auto all = nearest(queries.points(), points.points(), points.n, how, device);
      for (const std::int64_t rank : {0, 7, 99}) {
        const double radius = all.distance[3 * points.n + rank];
        const auto found = within_radius(queries.points(), points.points(), radius, how, device);
        std::vector<std::int64_t> rows{0};
        std::vector<std::pair<std::int64_t, double>> entries, found_entries;
        for (std::int64_t q = 0; q < queries.n; ++q) {
          const auto begin = entries.size();
          for (std::int64_t e = 0; e < points.n; ++e)
            if (all.distance[q * points.n + e] <= radius)
              entries.emplace_back(all.index[q * points.n + e], all.distance[q * points.n + e]);
          std::sort(entries.begin() + std::ptrdiff_t(begin), entries.end());
          rows.push_back(std::ssize(entries));
        }
        for (std::size_t e = 0; e < found.index.size(); ++e)
          found_entries.emplace_back(found.index[e], found.distance[e]);
        EXPECT_EQ(found.row_pointers, rows);
        EXPECT_EQ(found_entries, entries);
      }
    }
  });
}

TEST(integer_neighbours, every_index_has_the_answers_of_one_call) {
  std::vector<std::int8_t> values = clustered_integers(400, 37, 8).values;
  for (const std::int64_t zeros : {150, 250}) std::fill_n(values.begin() + zeros * 37, 37, std::int8_t(0));
  const integer_set points(std::move(values), 37), queries = clustered_integers(70, 37, 9);
  for (const metric kind : integer_metrics) {
    const point_metric distance = points.packed.distance(kind);
    const auto lists = nearest(queries.points(), points.points(), 9, {distance}, Device::host());
    EXPECT_EQ(lists.invalid_points.size(), kind == metric::integer_cosine ? 2u : 0u);
    test::expect_index_answers(queries.points(), points.points(), 9, distance, lists.distance[5]);
  }
}

/// Lengths that differ pass over pairs.
TEST(integer_neighbours, lengths_pass_over_pairs) {
  std::mt19937_64 random(3);
  std::vector<std::int8_t> values(2300 * 6);
  for (std::size_t e = 0; e < values.size(); ++e)
    values[e] = std::int8_t(1 + (e / 6) % 120 + (e % 6 == 0 ? random() % 3 : 0));
  const integer_set points(std::move(values), 6);
  const options how{points.packed.distance(metric::integer_euclidean)};
  const auto found = nearest(points.points(), 5, how, Device::host());
  EXPECT_LT(found.pairs_evaluated, points.n * points.n / 4);
  expect_lists(found, points, points, true, metric::integer_euclidean);
  for (const int threads : {1, 3}) {
    set_threads(threads);
    const auto again = nearest(points.points(), 5, how, Device::host());
    EXPECT_EQ(again.index, found.index);
    EXPECT_EQ(again.distance, found.distance);
  }
  set_threads(0);
}

/// The most integers, of the largest magnitude of bytes without a sign: sums fill 32 bits.
TEST(integer_neighbours, largest_sums) {
  const std::vector<std::uint8_t> values(3 * max_integers, 255);
  const std::vector<std::int8_t> other(max_integers, -128);
  const packed_integers points(values.data(), 3, max_integers), query(other.data(), 1, max_integers);
  const auto near = [&](metric kind) { return nearest(query.points(), points.points(), 1, {points.distance(kind)}); };
  EXPECT_EQ(near(metric::integer_inner_product).distance[0], 65536.0 * 255 * 128);
  EXPECT_EQ(near(metric::integer_euclidean).distance[0], 256.0 * 383);
  EXPECT_EQ(near(metric::integer_cosine).distance[0], 2);
  EXPECT_EQ(nearest(points.points(), 1, {points.distance(metric::integer_inner_product)}).distance[0],
            -65536.0 * 255 * 255);
  EXPECT_EQ(nearest(points.points(), 2, {points.distance(metric::integer_cosine)}).distance[1], 0);
}

TEST(integer_neighbours, bad_arguments) {
  const integer_set points = clustered_integers(20, 10, 1);
  const auto near = [](matrix_view<const double> rows, const point_metric& distance) {
    nearest(rows, 3, {distance}, Device::host());
  };
  expect_invalid(
      [&] { near(points.points(), metric::integer_cosine); },
      "bits must be a multiple of 16 in [16, 1048576] with metric integer_cosine, see packed_integers (bits=0)");
  expect_invalid([&] { near(points.points(), {metric::integer_euclidean, 168}); },
                 "bits must be a multiple of 16 in [16, 1048576]");
  expect_invalid([&] { near(points.points(), {metric::integer_euclidean, 64 * 4}); },
                 "points.cols must be 4, the words of 256 bits (points.cols=3)");
  expect_invalid([&] { near(points.points(), {metric::integer_euclidean, 9 * 16}); },
                 "bits behind the last one must be 0 (row=");
  const double too_large = std::bit_cast<double>(std::uint64_t(256));
  expect_invalid([&] { near({&too_large, 1, 1}, {metric::integer_euclidean, 16}); },
                 "integers must be in [-255, 255] (row=0)");
  expect_invalid([&] { packed_integers(points.values.data(), 1, 0); }, "integers must be in [1, 65536] (integers=0)");
  expect_invalid([&] { points.packed.distance(metric::cosine); },
                 "metric must be of integers for rows of integers (metric=cosine)");
  const float numbers[] = {0, 1, 1, 0};
  expect_invalid([&] { nearest<float>({numbers, 2, 2}, 1, {{metric::integer_cosine, 128}}); },
                 "points must be rows of integers, packed_integers::points(), with metric integer_cosine");
  expect_invalid(
      [&] { within_radius(points.points(), -1, {points.packed.distance(metric::integer_euclidean)}, Device::host()); },
      "radius must be >= 0 and finite");
  EXPECT_EQ(nearest(points.points(0, 0), 1, {points.packed.distance(metric::integer_euclidean)}).queries, 0);
}

/// reuse/int8_knn8.csv: integers of Python.
TEST(integer_neighbours, lists_of_other_programs) {
  const std::filesystem::path folder = test::data_folder("reuse");
  QUINTET_SKIP_WITHOUT(folder);
  std::vector<std::int8_t> values(200 * 48);
  std::ifstream file(folder / "int8_200x48.csv");
  std::string field;
  for (std::size_t e = 0; e < values.size(); ++e) {
    ASSERT_TRUE(std::getline(file, field, e % 48 < 47 ? ',' : '\n'));
    values[e] = std::int8_t(std::stoi(field));
  }
  const integer_set points(std::move(values), 48);
  const test::csv_table table(folder / "int8_knn8.csv");
  const auto query = table.integers("query"), rank = table.integers("rank"), index = table.integers("index");
  const auto product = table.integers("integer_dot"), squared = table.integers("integer_squared_distance");
  for (const metric kind : integer_metrics) {
    const auto found = nearest(points.points(), 8, {points.packed.distance(kind)});
    std::int64_t compared = 0;
    for (std::size_t row = 0; row < table.rows(); ++row) {
      if ("integer_" + table.at(row, "metric") != to_string(kind)) continue;
      const std::int64_t at = query[row] * 8 + rank[row];
      ASSERT_EQ(found.index[at], index[row]) << to_string(kind) << ", query " << query[row] << ", rank " << rank[row];
      const double expected =
          kind == metric::integer_euclidean ? std::sqrt(double(squared[row]))
          : kind == metric::integer_inner_product
              ? -double(product[row])
              : test::integer_cosine_distance(product[row], points.square(query[row]), points.square(index[row]));
      expect_distance(found.distance[at], expected, kind);
      ++compared;
    }
    EXPECT_EQ(compared, 1600);
  }
}

}  // namespace
}  // namespace quintet::neighbours
