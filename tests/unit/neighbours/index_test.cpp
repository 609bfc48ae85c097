// A kept index gives the bits of the calls that keep nothing: every metric, storage and search, for few and many
// queries, after append() too.
#include "quintet/neighbours/index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <numbers>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/crc32c.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/points.hpp"

namespace quintet::neighbours {
namespace {

using test::clustered_points;
using test::grid_points;
using test::point_set;

const point_metric all_metrics[] = {metric::euclidean,
                                    metric::cosine,
                                    metric::poincare,
                                    metric::manhattan,
                                    metric::chebyshev,
                                    point_metric(metric::minkowski, 3),
                                    point_metric(metric::minkowski, 1.5)};

template <class Storage>
class index_of : public ::testing::Test {};
using storages = ::testing::Types<float, double, half, bfloat16>;
TYPED_TEST_SUITE(index_of, storages);

/// The points as Storage, with rows that are no points: some for every metric, and some outside the ball.
template <class Storage>
std::vector<Storage> stored(const point_set<float>& points, bool with_invalid = true) {
  std::vector<Storage> rows;
  for (std::int64_t i = 0; i < points.n; ++i)
    for (std::int64_t k = 0; k < points.dim; ++k) {
      float x = points(i, k) * 0.05f;
      if (with_invalid && i % 97 == 41) x = std::numeric_limits<float>::quiet_NaN();
      if (with_invalid && i % 97 == 42) x = 0;
      if (with_invalid && i % 97 == 43) x = 9;
      rows.push_back(Storage(x));
    }
  return rows;
}

template <class Real>
void expect_bits(const std::vector<Real>& a, const std::vector<Real>& b) {
  ASSERT_EQ(a.size(), b.size());
  // NaN where there is no neighbour: of any bits.
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_TRUE(std::memcmp(&a[i], &b[i], sizeof(Real)) == 0 || (std::isnan(a[i]) && std::isnan(b[i])))
        << i << ": " << a[i] << " and " << b[i];
}

template <class Real>
void expect_same(const nearest_result<Real>& a, const nearest_result<Real>& b) {
  ASSERT_EQ(a.index, b.index);
  expect_bits(a.distance, b.distance);
  ASSERT_EQ(a.invalid_queries, b.invalid_queries);
  ASSERT_EQ(a.invalid_points, b.invalid_points);
}

template <class Real>
void expect_same(const radius_result<Real>& a, const radius_result<Real>& b) {
  ASSERT_EQ(a.row_pointers, b.row_pointers);
  ASSERT_EQ(a.index, b.index);
  expect_bits(a.distance, b.distance);
  ASSERT_EQ(a.invalid_queries, b.invalid_queries);
  ASSERT_EQ(a.invalid_points, b.invalid_points);
}

/// Everything that indexes of the same points and metric answer to queries, against the calls that keep nothing.
template <class Storage>
void expect_answers(const std::vector<index<Storage>>& indexes, matrix_view<const Storage> points,
                    matrix_view<const Storage> queries, std::int64_t k, const Device& device) {
  using Real = accumulator_t<Storage>;
  const options how{indexes[0].distance()};
  const auto expected = nearest(queries, points, k, how, device);
  double radius = 0;
  for (const auto d : expected.distance)
    if (d <= std::numeric_limits<Real>::max()) radius = std::max(radius, double(d) / 2);
  const auto near = within_radius(queries, points, radius, how, device);
  nearest_result<Real> first;
  if (queries.rows() > 0)
    first = nearest(matrix_view<const Storage>(queries.row(0), 1, queries.cols()), points, k, how, device);
  for (const index<Storage>& index : indexes) {
    expect_same(index.nearest(queries, k), expected);
    expect_same(index.within_radius(queries, radius), near);
    if (queries.rows() == 0) continue;
    std::vector<std::int64_t> number(k);
    std::vector<Real> distance(k);
    const std::int64_t count = index.nearest_into(queries.row(0), k, number.data(), distance.data());
    ASSERT_EQ(number, first.index);
    expect_bits(distance, first.distance);
    ASSERT_EQ(count, std::count_if(number.begin(), number.end(), [](std::int64_t j) { return j >= 0; }));
  }
}

template <class Storage>
void expect_answers_about_itself(const std::vector<index<Storage>>& indexes, matrix_view<const Storage> points,
                                 std::int64_t k, const Device& device) {
  const options how{indexes[0].distance()};
  const auto expected = nearest(points, k, how, device);
  const double d = std::isfinite(expected.distance[k / 2]) ? double(expected.distance[k / 2]) : 0;
  const auto near = within_radius(points, d, how, device);
  for (const index<Storage>& index : indexes) {
    expect_same(index.nearest_others(k), expected);
    expect_same(index.others_within_radius(d), near);
  }
}

/// An index for every way to search, and one that went through its bytes.
template <class Storage>
std::vector<index<Storage>> indexes_of(matrix_view<const Storage> points, const point_metric& distance,
                                       const Device& device = Device::host()) {
  std::vector<index<Storage>> indexes;
  for (const search how : {search::automatic, search::tree, search::all_pairs})
    indexes.emplace_back(points, index_options{distance, how}, device);
  indexes.push_back(index<Storage>::from_bytes(indexes[0].to_bytes(), device));
  return indexes;
}

template <class Storage>
matrix_view<const Storage> view_of(const std::vector<Storage>& rows, std::int64_t dim, std::int64_t count = -1) {
  return {rows.data(), count < 0 ? std::int64_t(rows.size()) / dim : count, dim};
}

TYPED_TEST(index_of, every_search_has_the_bits_of_one_call) {
  for (const std::int64_t dim : {2, 3, 20, 70}) {
    // The tree answers batches from 2048 points on.
    const std::int64_t n = dim == 3 ? 2150 : 700;
    const auto points = stored<TypeParam>(clustered_points<float>(n, dim, 3));
    const auto queries = stored<TypeParam>(clustered_points<float>(130, dim, 4));
    for (const point_metric& distance : all_metrics) {
      SCOPED_TRACE(::testing::Message() << dim << " dimensions, " << to_string(distance));
      const auto indexes = indexes_of(view_of(points, dim), distance);
      EXPECT_EQ(indexes[0].size(), n);
      EXPECT_EQ(indexes[0].dim(), dim);
      for (const std::int64_t count : {0, 1, 9, 64, 130})
        expect_answers(indexes, view_of(points, dim), view_of(queries, dim, count), 10, Device::host());
      if (dim == 3 || dim == 70) expect_answers_about_itself(indexes, view_of(points, dim), 6, Device::host());
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(index_of, a_sphere_has_the_bits_of_one_call) {
  const auto rows = [](std::int64_t n, std::uint64_t seed) {
    const auto points = test::sphere_points<double>(n, seed);
    return std::vector<TypeParam>(points.data.begin(), points.data.end());
  };
  const auto points = rows(2300, 3), queries = rows(130, 4);
  const point_metric distance(metric::haversine, 6371008.8);
  const auto indexes = indexes_of(view_of(points, 2), distance);
  for (const std::int64_t count : {0, 1, 9, 64, 130})
    expect_answers(indexes, view_of(points, 2), view_of(queries, 2, count), 10, Device::host());
  expect_answers_about_itself(indexes, view_of(points, 2), 6, Device::host());
  index<TypeParam> grown(view_of(points, 2, 1500), {distance}, Device::host());
  for (const std::int64_t end : {1501, 1700, 1900, 2300})
    grown.append({points.data() + grown.size() * 2, end - grown.size(), 2});
  const auto read = index<TypeParam>::from_bytes(grown.to_bytes(), Device::host());
  for (const std::int64_t count : {4, 130})
    expect_answers<TypeParam>({grown, read}, view_of(points, 2), view_of(queries, 2, count), 9, Device::host());
  EXPECT_EQ(read.distance(), distance);
}

TEST(index, everything_is_within_half_the_circumference) {
  const auto points = test::sphere_points<double>(300, 5);
  const point_metric distance(metric::haversine, 6371008.8);
  const index<double> index(points.view(), {distance}, Device::host());
  const std::int64_t valid = points.n - std::ssize(index.invalid_points());
  for (const double radius : {std::numbers::pi * 6371008.8, 3e7})
    EXPECT_EQ(std::ssize(index.others_within_radius(radius).index), valid * (valid - 1));
  const double near = 6371008.8 * (std::numbers::pi - 1e-9);
  EXPECT_LT(std::ssize(index.others_within_radius(near).index), valid * (valid - 1));
  for (const double d : index.others_within_radius(near).distance) EXPECT_LE(d, near);
  expect_invalid([&] { quintet::neighbours::index<double>({points.data.data(), 100, 3}, {distance}); },
                 "points.cols must be 2 for haversine: latitude and longitude (points.cols=3)");
}

TYPED_TEST(index_of, ties_go_to_the_smaller_index) {
  for (const std::int64_t n : {1, 63, 65, 800})
    for (const std::int64_t dim : {2, 40}) {
      const auto points = stored<TypeParam>(grid_points<float>(n, dim, 4, 8), false);
      const auto queries = stored<TypeParam>(grid_points<float>(80, dim, 5, 9), false);
      for (const point_metric& distance : {point_metric(metric::euclidean), point_metric(metric::manhattan)}) {
        const auto indexes = indexes_of(view_of(points, dim), distance);
        for (const std::int64_t k : {1, 20, 300})
          for (const std::int64_t count : {5, 80})
            expect_answers(indexes, view_of(points, dim), view_of(queries, dim, count), std::min(n, k), Device::host());
        if (this->HasFatalFailure()) return;
      }
    }
}

TYPED_TEST(index_of, appended_points_are_points) {
  for (const point_metric& distance : all_metrics) {
    SCOPED_TRACE(to_string(distance));
    // The last ones are larger: the scale changes.
    auto rows = clustered_points<float>(900, 3, 5);
    for (std::int64_t i = 800; i < 900; ++i) rows(i, 0) *= 3;
    const auto points = stored<TypeParam>(rows), queries = stored<TypeParam>(clustered_points<float>(70, 3, 6));
    index<TypeParam> index(view_of(points, 3, 400), {distance}, Device::host());
    const auto before = index;
    for (const std::int64_t end : {401, 700, 900})
      index.append({points.data() + index.size() * 3, end - index.size(), 3});
    EXPECT_EQ(index.size(), 900);
    EXPECT_EQ(before.size(), 400);
    for (const std::int64_t count : {4, 70})
      expect_answers<TypeParam>({index}, view_of(points, 3), view_of(queries, 3, count), 9, Device::host());
    expect_answers<TypeParam>({before}, view_of(points, 3, 400), view_of(queries, 3, 4), 9, Device::host());
    expect_answers_about_itself<TypeParam>({index}, view_of(points, 3), 5, Device::host());
    if (this->HasFatalFailure()) return;
  }
}

/// Trees of an index, as the head of its bytes has their number.
template <class Storage>
std::int64_t parts_of(const index<Storage>& index) {
  std::int64_t parts;
  std::memcpy(&parts, &index.to_bytes()[64], sizeof parts);
  return parts;
}

TYPED_TEST(index_of, points_appended_in_any_pieces_are_the_same_index) {
  for (const point_metric& distance : all_metrics) {
    SCOPED_TRACE(to_string(distance));
    const std::int64_t dim = distance.kind == metric::euclidean ? 40 : 3, first = 300, end = 440;
    // The first point has the largest coordinates: later ones do not change the scale.
    auto rows = clustered_points<float>(end, dim, 5);
    for (std::int64_t k = 0; k < dim; ++k) rows(0, k) = distance.kind == metric::poincare ? 1 : 60;
    const auto points = stored<TypeParam>(rows), queries = stored<TypeParam>(clustered_points<float>(70, dim, 6));
    std::vector<index<TypeParam>> indexes;
    for (const std::int64_t piece : {1, 20}) {
      index<TypeParam> index(view_of(points, dim, first), {distance, piece == 1 ? search::tree : search::automatic},
                             Device::host());
      while (index.size() < (piece == 1 ? first + 7 : end))
        index.append({points.data() + index.size() * dim, piece, dim});
      EXPECT_EQ(parts_of(index), piece == 1 ? 4 : 3);  // 300, and 4 + 2 + 1 or 80 + 60
      if (piece == 1) index.append({points.data() + index.size() * dim, end - index.size(), dim});
      indexes.push_back(index);
    }
    indexes.push_back(index<TypeParam>::from_bytes(indexes[1].to_bytes(), Device::host()));
    EXPECT_EQ(parts_of(indexes[2]), parts_of(indexes[1]));
    for (const std::int64_t count : {4, 70})
      expect_answers(indexes, view_of(points, dim), view_of(queries, dim, count), 9, Device::host());
    expect_answers_about_itself(indexes, view_of(points, dim), 5, Device::host());
    if (this->HasFatalFailure()) return;
  }
}

// A call scales by the largest coordinate of both sides, an index has its own scale.
TYPED_TEST(index_of, larger_queries_have_the_bits_of_one_call) {
  for (const point_metric& distance :
       {point_metric(metric::euclidean), point_metric(metric::chebyshev), point_metric(metric::minkowski, 3)})
    for (const float by : {1.5f, 7.0f, 900.0f}) {
      const auto points = stored<TypeParam>(clustered_points<float>(500, 3, 1));
      auto larger = clustered_points<float>(80, 3, 2);
      for (std::int64_t i = 0; i < 80; i += 3) larger(i, 1) *= by;
      const auto queries = stored<TypeParam>(larger);
      const index<TypeParam> index(view_of(points, 3), {distance}, Device::host());
      for (const std::int64_t count : {1, 30, 80})
        expect_answers<TypeParam>({index}, view_of(points, 3), view_of(queries, 3, count), 5, Device::host());
      if (this->HasFatalFailure()) return;
    }
}

TEST(index, extreme_magnitudes_have_the_bits_of_one_call) {
  // Squares of the small differences vanish where a call scales for the large coordinates.
  std::vector<float> points, queries;
  for (int i = 0; i < 300; ++i) {
    points.push_back(1e-20f * float(i % 17));
    points.push_back(i % 5 == 0 ? 1e-5f * float(i) : 1e-30f * float(i));
  }
  for (int i = 0; i < 80; ++i) {
    queries.push_back(i % 7 == 3 ? 1e18f : 1e-20f * float(i % 19));
    queries.push_back(1e-30f * float(i));
  }
  for (const point_metric& distance : {point_metric(metric::euclidean), point_metric(metric::manhattan)}) {
    index<float> index(view_of(points, 2), {distance}, Device::host());
    for (const std::int64_t count : {1, 3, 4, 80})
      expect_answers<float>({index}, view_of(points, 2), view_of(queries, 2, count), 7, Device::host());
    std::vector<float> both = points;
    both.insert(both.end(), {3e30f, -1.0f, 1e-37f, 5e-38f});
    index.append({both.data() + points.size(), 2, 2});
    for (const std::int64_t count : {1, 80})
      expect_answers<float>({index}, view_of(both, 2), view_of(queries, 2, count), 7, Device::host());
    expect_answers_about_itself<float>({index}, view_of(both, 2), 3, Device::host());
  }
}

TEST(index, every_device_and_number_of_threads_is_the_same) {
  const auto points = clustered_points<float>(2200, 3, 5), queries = clustered_points<float>(130, 3, 6);
  const auto wide = clustered_points<float>(700, 40, 5), wide_queries = clustered_points<float>(130, 40, 6);
  test::on_every_device([&](const Device& device) {
    const index<float> few(points.view(), {}, device), many(wide.view(), {metric::cosine}, device);
    EXPECT_EQ(few.device(), device);
    index<float> grown({points.view().row(0), 1500, 3}, {metric::euclidean, search::tree}, device);
    grown.append({points.view().row(1500), 600, 3});
    grown.append({points.view().row(2100), 100, 3});
    const auto read = index<float>::from_bytes(grown.to_bytes(), device);
    EXPECT_EQ(read.device(), device);
    for (const int threads : {1, 3}) {
      set_threads(threads);
      expect_answers<float>({grown, read}, points.view(), queries.view(), 7, Device::host());
      expect_answers_about_itself<float>({grown, read}, points.view(), 7, Device::host());
      expect_answers<float>({few}, points.view(), queries.view(), 7, Device::host());
      expect_answers<float>({many}, wide.view(), wide_queries.view(), 7, Device::host());
      expect_answers_about_itself<float>({few}, points.view(), 7, Device::host());
      expect_answers_about_itself<float>({many}, wide.view(), 7, Device::host());
    }
    set_threads(0);
  });
}

TEST(index, many_threads_search_at_once) {
  const auto points = clustered_points<double>(3000, 3, 5), queries = clustered_points<double>(200, 3, 6);
  const index<double> index(points.view(), {}, Device::host());
  std::vector<nearest_result<double>> found(8);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < found.size(); ++t)
    threads.emplace_back([&, t] {
      const std::int64_t k = std::int64_t(3 * t) + 1;
      found[t] = index.nearest(queries.view(), k);
      std::vector<std::int64_t> number(k);
      std::vector<double> distance(k);
      for (std::int64_t i = 0; i < queries.n; ++i) {
        index.nearest_into(&queries.data[i * 3], k, number.data(), distance.data());
        for (std::int64_t e = 0; e < k; ++e)
          if (number[e] != found[t].index[i * k + e]) found[t].index[i * k + e] = -2;
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t t = 0; t < found.size(); ++t)
    expect_same(found[t], nearest(queries.view(), points.view(), std::int64_t(3 * t) + 1, {}, Device::host()));
}

TEST(index, every_changed_byte_and_every_cut_is_refused) {
  auto points = clustered_points<float>(70, 2, 5);
  points(3, 1) = std::numeric_limits<float>::quiet_NaN();
  index<float> original(points.view());
  original.append({points.view().row(0), 2, 2});
  const std::vector<std::byte> bytes = original.to_bytes();
  EXPECT_EQ(index<float>::from_bytes(bytes).invalid_points(), std::vector<std::int64_t>{3});
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::vector<std::byte> changed = bytes;
    changed[i] ^= std::byte(1 << i % 8);
    EXPECT_THROW(index<float>::from_bytes(changed), FileError) << i;
    EXPECT_THROW(index<float>::from_bytes(std::span(bytes).first(i)), FileError) << i;
  }
  std::vector<std::byte> longer = bytes;
  longer.push_back(std::byte(0));
  EXPECT_THROW(index<float>::from_bytes(longer), FileError);
}

// Bytes whose checksums agree and that no index has.
TEST(index, bytes_that_contradict_themselves_are_refused) {
  const auto points = clustered_points<float>(5, 2, 5);
  const std::vector<std::byte> bytes = index<float>(points.view()).to_bytes();
  // The head has 88 bytes, the size of the only part 8, a number 4, a coordinate 4; checksums have 4.
  const std::size_t sizes = 92, numbers = sizes + 12, coordinates = numbers + 24;
  const auto refusal = [&](std::size_t at, const auto& value, std::size_t section, std::size_t length) {
    std::vector<std::byte> changed = bytes;
    std::memcpy(&changed[at], &value, sizeof value);
    const std::uint32_t checksum = crc32c(std::span(changed).subspan(section, length));
    std::memcpy(&changed[section + length], &checksum, sizeof checksum);
    try {
      index<float>::from_bytes(changed, Device::host(), "kept");
    } catch (const FileError& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_EQ(refusal(8, std::uint32_t(2), 0, 88),
            "kept: has version 2 of the format; this library reads up to version 1");
  EXPECT_EQ(refusal(16, std::int32_t(77), 0, 88), "kept: is damaged: its head holds an unknown value");
  EXPECT_EQ(refusal(56, std::int64_t(6), 0, 88), "kept: is damaged: the sizes in its head do not agree");
  EXPECT_EQ(refusal(40, std::int64_t(1) << 40, 0, 88).find("kept: is damaged: points.rows must be <="), 0u);
  EXPECT_EQ(refusal(sizes, std::int64_t(4), sizes, 8),
            "kept: is damaged: the sizes of its parts do not agree with its head");
  EXPECT_EQ(refusal(numbers + 4, std::int32_t(5), numbers, 20), "kept: is damaged: its numbers are not a permutation");
  EXPECT_EQ(refusal(coordinates, std::numeric_limits<float>::infinity(), coordinates, 40),
            "kept: is damaged: one of its points is not valid");
}

TEST(index, holds_little_more_than_its_points) {
  const auto few = clustered_points<float>(20000, 3, 5), many = clustered_points<float>(3000, 64, 5);
  EXPECT_LT(index<float>(few.view()).bytes(), 20000 * (3 * 4 + 4 + 4) + 4096);
  EXPECT_LT(index<float>(many.view()).bytes(), 3000 * (64 * 4 + 4 + 4) + 64 * 4 * 256);
}

TEST(index, nothing_is_found_in_nothing) {
  const matrix_view<const float> none(nullptr, 0, 3);
  index<float> index(none);
  const std::vector<float> query{1, 2, 3};
  EXPECT_EQ(index.nearest({query.data(), 1, 3}, 1).index, std::vector<std::int64_t>{-1});
  EXPECT_EQ(index.within_radius({query.data(), 1, 3}, 1.0).row_pointers, (std::vector<std::int64_t>{0, 0}));
  EXPECT_EQ(index.nearest_others(1).queries, 0);
  index = quintet::neighbours::index<float>::from_bytes(index.to_bytes());
  index.append({query.data(), 1, 3});
  EXPECT_EQ(index.nearest({query.data(), 1, 3}, 1).index, std::vector<std::int64_t>{0});
}

TEST(index, bad_arguments_are_named) {
  const auto points = grid_points<float>(5, 2, 5, 10), wide = grid_points<float>(5, 3, 5, 10);
  index<float> index(points.view());
  expect_invalid([&] { index.nearest(points.view(), 0); }, "k must be in [1, 5] (k=0)");
  expect_invalid([&] { index.nearest(points.view(), 6); }, "k must be in [1, 5] (k=6)");
  expect_invalid([&] { index.nearest_others(5); }, "k must be in [1, 4] (k=5)");
  expect_invalid([&] { index.nearest(wide.view(), 1); }, "queries.cols must be points.cols=2 (queries.cols=3)");
  expect_invalid([&] { index.within_radius(points.view(), -1); }, "radius must be >= 0 and finite (radius=-1)");
  expect_invalid([&] { index.append(wide.view()); }, "points.cols must be the index's dim=2 (points.cols=3)");
}

}  // namespace
}  // namespace quintet::neighbours
