// Neighbours of rows of bits: the order of exact fractions, by loops over bits.
#include "quintet/pairwise/packed_bits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "quintet/neighbours/index.hpp"
#include "support/bit_rows.hpp"
#include "support/csv_table.hpp"
#include "support/data_folder.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/index_answers.hpp"

namespace quintet::neighbours {
namespace {

using test::bit_set;
using test::clustered_bits;

constexpr metric bit_metrics[] = {metric::hamming, metric::jaccard};

struct listed_point {
  std::int64_t numerator, denominator, index;
  /// Fractions are compared as they are.
  bool operator<(const listed_point& other) const {
    const std::int64_t left = numerator * other.denominator, right = other.numerator * denominator;
    return left != right ? left < right : index < other.index;
  }
};

/// All rows of `points` by their distance from a query, but for row `left_out`.
std::vector<listed_point> ordered_points(const bit_set& queries, std::int64_t query, const bit_set& points,
                                         std::int64_t left_out, metric kind) {
  std::vector<listed_point> list;
  for (std::int64_t j = 0; j < points.n; ++j) {
    if (j == left_out) continue;
    const auto [numerator, denominator] = test::bit_fraction(queries, query, points, j, kind);
    list.push_back({numerator, denominator, j});
  }
  std::sort(list.begin(), list.end());
  return list;
}

void expect_lists(const nearest_result<double>& found, const bit_set& queries, const bit_set& points, bool same,
                  metric kind) {
  for (std::int64_t q = 0; q < found.queries; ++q) {
    const auto list = ordered_points(queries, q, points, same ? q : -1, kind);
    for (std::int64_t e = 0; e < found.k; ++e) {
      ASSERT_EQ(found.index[q * found.k + e], list[e].index) << q << ", " << e;
      ASSERT_EQ(found.distance[q * found.k + e], double(list[e].numerator) / double(list[e].denominator));
    }
  }
}

TEST(bit_neighbours, lists_are_in_the_order_of_exact_fractions) {
  test::on_every_device([](const Device& device) {
    for (const std::int64_t bits : {1, 64, 65, 200, 64 * 33 + 5})
      for (const std::int64_t n : {2, 100}) {
        SCOPED_TRACE(::testing::Message() << n << " rows of " << bits);
        const bit_set points = clustered_bits(n, bits, std::uint64_t(n + bits), 0.05, bits % 3);
        const bit_set queries = clustered_bits(70, bits, 7);
        for (const metric kind : bit_metrics) {
          const options how{points.packed().distance(kind)};
          const std::int64_t k = std::min<std::int64_t>(n - 1, 20);
          expect_lists(nearest(points.points(), k, how, device), points, points, true, kind);
          expect_lists(nearest(queries.points(), points.points(), k, how, device), queries, points, false, kind);
        }
        if (::testing::Test::HasFatalFailure()) return;
      }
  });
}

TEST(bit_neighbours, lists_longer_than_registers) {
  const bit_set points = clustered_bits(300, 130, 3);
  for (const metric kind : bit_metrics)
    expect_lists(nearest(points.points(), 150, {points.packed().distance(kind)}), points, points, true, kind);
}

TEST(bit_neighbours, a_radius_takes_in_equal_distances) {
  const bit_set points = clustered_bits(100, 77, 5), queries = clustered_bits(20, 77, 6);
  test::on_every_device([&](const Device& device) {
    for (const metric kind : bit_metrics) {
      const options how{points.packed().distance(kind)};
      for (const double radius : {0.0, test::bit_distance(points, 3, points, 20, kind), 0.2, 1.0}) {
        const auto found = within_radius(queries.points(), points.points(), radius, how, device);
        std::vector<std::int64_t> rows{0}, index;
        std::vector<double> distance;
        for (std::int64_t q = 0; q < queries.n; ++q) {
          for (std::int64_t j = 0; j < points.n; ++j) {
            const double d = test::bit_distance(queries, q, points, j, kind);
            if (d > radius) continue;
            index.push_back(j);
            distance.push_back(d);
          }
          rows.push_back(std::ssize(index));
        }
        EXPECT_EQ(found.row_pointers, rows);
        EXPECT_EQ(found.index, index);
        EXPECT_EQ(found.distance, distance);
      }
    }
  });
}

void expect_same_lists(const nearest_result<double>& a, const nearest_result<double>& b) {
  EXPECT_EQ(a.index, b.index);
  EXPECT_EQ(a.distance, b.distance);
}

TEST(bit_neighbours, every_index_has_the_answers_of_one_call) {
  const bit_set points = clustered_bits(400, 166, 8, 0.1, 1), queries = clustered_bits(70, 166, 9, 0.1);
  for (const metric kind : bit_metrics)
    test::expect_index_answers(queries.points(), points.points(), 9, points.packed().distance(kind), 0.15);
}

/// Rows of very different numbers of ones: most pairs are passed over by those alone.
TEST(bit_neighbours, numbers_of_ones_pass_over_pairs) {
  std::mt19937_64 random(3);
  bit_set points(2300, 250);
  for (std::int64_t i = 0; i < points.n; ++i)
    for (std::int64_t b = 0; b < points.bits; ++b) points.set(i, b, b < i % 241 ? random() % 50 != 0 : false);
  for (const metric kind : bit_metrics) {
    const options how{points.packed().distance(kind)};
    const auto found = nearest(points.points(), 5, how, Device::host());
    EXPECT_LT(found.pairs_evaluated, points.n * points.n / 4);
    expect_lists(found, points, points, true, kind);
    for (const int threads : {1, 3}) {
      set_threads(threads);
      expect_same_lists(nearest(points.points(), 5, how, Device::host()), found);
    }
    set_threads(0);
    test::on_other_devices(
        [&](const Device& device) { expect_same_lists(nearest(points.points(), 5, how, device), found); });
  }
}

TEST(bit_neighbours, bad_arguments) {
  const bit_set points = clustered_bits(20, 100, 1);
  const auto near = [](matrix_view<const double> rows, const point_metric& distance) {
    nearest(rows, 3, {distance}, Device::host());
  };
  expect_invalid([&] { near(points.points(), metric::jaccard); },
                 "bits must be in [1, 16777216] with metric jaccard, see packed_bits (bits=0)");
  expect_invalid([&] { near(points.points(), {metric::hamming, 128.0 + 64}); },
                 "points.cols must be 3, the words of 192 bits (points.cols=2)");
  expect_invalid([&] { near(points.points(), {metric::hamming, 65}); }, "bits behind the last one must be 0 (row=");
  expect_invalid([&] { packed_bits(points.words.data(), 3, 0); }, "bits must be in [1, 16777216] (bits=0)");
  expect_invalid([&] { points.packed().distance(metric::cosine); },
                 "metric must be hamming or jaccard for rows of bits (metric=cosine)");
  const float numbers[] = {0, 1, 1, 0};
  expect_invalid([&] { nearest<float>({numbers, 2, 2}, 1, {{metric::jaccard, 128}}); },
                 "points must be rows of bits, packed_bits::points(), with metric jaccard (points=float32)");
  const index<double> kept(points.points(), {points.packed().distance(metric::hamming)}, Device::host());
  bit_set behind(1, 128);
  behind.set(0, 127, true);
  expect_invalid([&] { kept.nearest(behind.points(), 1); }, "bits behind the last one must be 0 (row=0, bits=100)");
  EXPECT_EQ(nearest(points.points(0, 0), 1, {points.packed().distance(metric::hamming)}).queries, 0);
}

TEST(bit_neighbours, most_bits_are_counted) {
  bit_set rows(2, max_bits);
  for (std::uint64_t& word : rows.words) word = 0;
  std::fill_n(rows.words.begin(), rows.stride, ~std::uint64_t(0));
  EXPECT_EQ(nearest(rows.points(), 1, {rows.packed().distance(metric::hamming)}).distance[0], 1);
  rows.set(1, 5, true);
  EXPECT_EQ(nearest(rows.points(), 1, {rows.packed().distance(metric::jaccard)}).distance[0],
            double(max_bits - 1) / double(max_bits));
}

/// reuse/bits_knn8.csv: fractions of Python.
TEST(bit_neighbours, lists_of_other_programs) {
  const std::filesystem::path folder = test::data_folder("reuse");
  QUINTET_SKIP_WITHOUT(folder);
  bit_set points(200, 100);
  std::ifstream file(folder / "bits_200x100.csv");
  std::string field;
  for (std::int64_t i = 0; i < points.n; ++i)
    for (std::int64_t b = 0; b < points.bits; ++b) {
      ASSERT_TRUE(std::getline(file, field, b + 1 < points.bits ? ',' : '\n'));
      points.set(i, b, field[0] == '1');
    }
  const test::csv_table table(folder / "bits_knn8.csv");
  const auto query = table.integers("query"), rank = table.integers("rank"), index = table.integers("index");
  const auto numerator = table.integers("numerator"), denominator = table.integers("denominator");
  for (const metric kind : bit_metrics) {
    const auto found = nearest(points.points(), 8, {points.packed().distance(kind)});
    std::int64_t compared = 0;
    for (std::size_t row = 0; row < table.rows(); ++row) {
      if (table.at(row, "metric") != to_string(kind)) continue;
      const std::int64_t at = query[row] * 8 + rank[row];
      ASSERT_EQ(found.index[at], index[row]) << "query " << query[row] << ", rank " << rank[row];
      ASSERT_EQ(found.distance[at], double(numerator[row]) / double(denominator[row]));
      ++compared;
    }
    EXPECT_EQ(compared, 1600);
  }
}

}  // namespace
}  // namespace quintet::neighbours
