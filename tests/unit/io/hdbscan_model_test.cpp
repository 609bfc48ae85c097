// A clustering read from a file is the one that was written, bit for bit.
#include "quintet/io/hdbscan_model.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "quintet/hdbscan/membership.hpp"
#include "quintet/hdbscan/persistence_trace.hpp"
#include "quintet/hdbscan/predictor.hpp"
#include "quintet/pairwise/packed_bits.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"
#include "support/points.hpp"
#include "temporary_folder.hpp"

namespace quintet::io {
namespace {

using hdbscan::cluster_options;
using test::clustered_points;
using test::error_of;

using hdbscan_model_file = test::temporary_folder;

void expect_same(const hdbscan::cluster_result& a, const hdbscan::cluster_result& b) {
  EXPECT_EQ(a.labels, b.labels);
  test::expect_same_bits(a.probabilities, b.probabilities);
  test::expect_same_bits(a.outlier_scores, b.outlier_scores);
  test::expect_same_bits(a.persistence, b.persistence);
  test::expect_same_bits(a.core_distances, b.core_distances);
  test::expect_same_bits(a.weights, b.weights);
  EXPECT_EQ(a.condensed.rows, b.condensed.rows);
  EXPECT_EQ(a.single_linkage.rows, b.single_linkage.rows);
  EXPECT_EQ(a.selected, b.selected);
  EXPECT_EQ(a.invalid_rows, b.invalid_rows);
  EXPECT_EQ(a.excluded_rows, b.excluded_rows);
  EXPECT_EQ(a.neighbours, b.neighbours);
  EXPECT_EQ(a.clamped, b.clamped);
  EXPECT_EQ(a.options.min_cluster_size, b.options.min_cluster_size);
  EXPECT_EQ(a.options.min_samples, b.options.min_samples);
  EXPECT_EQ(a.options.tie_tolerance, b.options.tie_tolerance);
  EXPECT_EQ(a.options.epsilon_max, b.options.epsilon_max);
  EXPECT_EQ(a.options.distance, b.options.distance);
}

template <class Storage>
void expect_kept(const std::string& path, const cluster_options& options, std::span<const double> weights = {}) {
  auto rows = clustered_points<float>(300, 2, 4), unseen = clustered_points<float>(70, 2, 5);
  rows(7, 1) = std::numeric_limits<float>::quiet_NaN();
  std::vector<Storage> stored, asked;
  for (const float x : rows.data) stored.push_back(Storage(0.05f * x));
  for (const float x : unseen.data) asked.push_back(Storage(0.05f * x));
  const matrix_view<const Storage> points(stored.data(), 300, 2), queries(asked.data(), 70, 2);
  const auto model = hdbscan::cluster(points, options, Device::host(), {}, weights);
  write_model(path, model, points);
  const hdbscan_model kept = read_model(path);
  expect_same(kept.clustering, model);
  EXPECT_EQ(kept.points().type, scalar_type_of<Storage>());
  const auto expected = hdbscan::approximate_predict(model, points, queries);
  const hdbscan::predictor place(kept.clustering, kept.points());
  EXPECT_EQ(place.predict(queries).labels, expected.labels);
  test::expect_same_bits(place.predict(queries).lambdas, expected.lambdas);
  EXPECT_EQ(place.predict(queries.slice(0, 9)).neighbours,
            std::vector<std::int64_t>(expected.neighbours.begin(), expected.neighbours.begin() + 9));
  test::expect_same_bits(place.membership_vectors(queries), hdbscan::membership_vectors(model, points, queries));
}

TEST_F(hdbscan_model_file, has_the_clustering) {
  const std::string at = path("model.h5");
  expect_kept<float>(at, {.min_cluster_size = 8});
  expect_kept<double>(at, {.min_cluster_size = 8, .method = hdbscan::selection::leaf, .min_samples = 3});
  expect_kept<half>(at, {.min_cluster_size = 6, .epsilon = 0.002, .count_self = true});
  expect_kept<bfloat16>(at, {.min_cluster_size = 6, .tie_mode = hdbscan::ties::binary, .alpha = 0.8});
  expect_kept<double>(at, {.min_cluster_size = hdbscan::automatic_size, .distance = {metric::minkowski, 3}});
  expect_kept<float>(at, {.min_cluster_size = 5, .max_cluster_size = 40, .distance = {metric::haversine, 6371008.8}});
  expect_kept<float>(at, {.min_cluster_size = 400, .allow_single_cluster = true, .distance = {metric::poincare, -0.5}});
  const product_space space{{product::geometry::euclidean, 1, 0, 2}, {product::geometry::lorentz, 1, -0.5}};
  expect_kept<double>(at, {.min_cluster_size = 5, .distance = space});
  std::vector<double> weights(300, 1);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = double(i % 4);
  expect_kept<float>(at, {.min_cluster_size = 8}, weights);
}

TEST_F(hdbscan_model_file, may_hold_rows_of_bits) {
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> words(200 * 3);
  for (std::size_t w = 0; w < words.size(); ++w)  // words of all kinds of doubles, NaN with and without a payload too
    words[w] = w % 3 < 2 ? random() | random() : random() % 4;
  words[3] = 0x7ff0000000000001;
  const packed_bits rows(words.data(), 200, 130);
  const auto model =
      hdbscan::cluster(rows.points(), {.min_cluster_size = 5, .distance = rows.distance(metric::jaccard)});
  write_model(path("bits.h5"), model, rows.points());
  const auto kept = read_model(path("bits.h5"));
  expect_same(kept.clustering, model);
  EXPECT_EQ(std::memcmp(kept.points().data, words.data(), 8 * words.size()), 0);
  EXPECT_EQ(hdbscan::approximate_predict(kept.clustering, kept.points(), rows.points()).labels,
            hdbscan::approximate_predict(model, rows.points(), rows.points()).labels);
}

TEST_F(hdbscan_model_file, may_hold_one_point_or_none) {
  const std::vector<float> one{1, 2};
  for (const std::int64_t n : {0, 1}) {
    const matrix_view<const float> points(one.data(), n, 2);
    const auto model = hdbscan::cluster(points);
    write_model(path("small.h5"), model, points);
    const auto kept = read_model(path("small.h5"));
    expect_same(kept.clustering, model);
    EXPECT_EQ(kept.points().rows, n);
    EXPECT_EQ(kept.points().cols, 2);
  }
}

TEST_F(hdbscan_model_file, is_refused_with_its_path_if_it_does_not_fit) {
  const auto points = clustered_points<double>(50, 2, 1);
  const auto model = hdbscan::cluster(points.view());
  const std::string at = path("model.h5");
  const auto refusal = [&] { return error_of<FileError>([&] { read_model(at); }); };
  const auto written = [&](const auto& change) {
    auto changed = model;
    change(changed);
    write_model(at, changed, points.view());
    const std::string text = refusal();
    QUINTET_EXPECT_CONTAINS(text, at);
    return text;
  };
  QUINTET_EXPECT_CONTAINS(written([](auto& m) { m.core_distances.pop_back(); }),
                          "model/core_distances has 49 values for 50 points");
  QUINTET_EXPECT_CONTAINS(written([](auto& m) { m.spanning_tree[3].v = 50; }),
                          "model/spanning_tree names point 50 of 50 in row 3");
  QUINTET_EXPECT_CONTAINS(written([](auto& m) { m.spanning_tree[3].weight = -1; }), "weight");
  QUINTET_EXPECT_CONTAINS(written([](auto& m) { m.invalid_rows = {50}; }), "model/invalid_rows names row 50 of 50");
  QUINTET_EXPECT_CONTAINS(written([](auto& m) { m.weights = {1, 2}; }), "model/weights has 2 values for 50 points");
  QUINTET_EXPECT_CONTAINS(written([](auto& m) { m.options.epsilon = -1; }), "epsilon");
  QUINTET_EXPECT_CONTAINS(written([](auto& m) { m.options.distance.kind = metric(99); }), "metric is 99");
  hdf5_writer other(at);
  other.write("labels", model.labels);
  other.commit();
  QUINTET_EXPECT_CONTAINS(refusal(), "holds no model");
  hdf5_writer later(at);
  later.write("model/parameters", std::vector<double>{2});
  later.commit();
  QUINTET_EXPECT_CONTAINS(refusal(), "holds a model of version 2; this program reads 1");
  file("model.h5", "no HDF5");
  QUINTET_EXPECT_CONTAINS(refusal(), at);
  QUINTET_EXPECT_CONTAINS(
      error_of<InvalidArgument>([&] { write_model(path("x.h5"), model, clustered_points<double>(49, 2, 1).view()); }),
      "points.rows must be the points of the clustering: 50 (points.rows=49)");
  EXPECT_EQ(files(), 1);
}

}  // namespace
}  // namespace quintet::io
