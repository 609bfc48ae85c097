// Clustering of rows of bits: against whole matrices of exact fractions.
#include "quintet/pairwise/packed_bits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "quintet/hdbscan/core_distances.hpp"
#include "quintet/hdbscan/hdbscan.hpp"
#include "quintet/hdbscan/medoids.hpp"
#include "quintet/hdbscan/membership.hpp"
#include "quintet/hdbscan/mutual_reachability.hpp"
#include "quintet/hdbscan/precomputed.hpp"
#include "quintet/hdbscan/prediction.hpp"
#include "quintet/hdbscan/predictor.hpp"
#include "quintet/hdbscan/sweep.hpp"
#include "quintet/hdbscan/validity.hpp"
#include "reference/pairwise_reference.hpp"
#include "reference/prediction_reference.hpp"
#include "reference/spanning_tree_reference.hpp"
#include "reference/validity_reference.hpp"
#include "support/bit_rows.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"

namespace quintet::hdbscan {
namespace {

using test::bit_set;
using test::clustered_bits;

constexpr metric bit_metrics[] = {metric::hamming, metric::jaccard};

std::vector<double> rounded(const std::vector<long double>& values) { return {values.begin(), values.end()}; }

std::vector<edge> plain_tree(const reference::matrix& d, const std::vector<double>& core) {
  std::vector<std::int64_t> all(core.size());
  std::iota(all.begin(), all.end(), 0);
  return reference::spanning_tree(
      all, [&](std::int64_t i, std::int64_t j) { return std::max({core[i], core[j], double(d(i, j))}); });
}

TEST(bit_clustering, tree_and_core_distances_are_those_of_all_fractions) {
  // More than 1024 rows are put into an order of their own first.
  for (const auto& [n, bits] : {std::pair<std::int64_t, std::int64_t>{2, 70}, {150, 100}, {1100, 200}}) {
    const bit_set rows = clustered_bits(n, bits, 4, 0.06, 1);
    for (const metric kind : bit_metrics) {
      SCOPED_TRACE(::testing::Message() << n << " rows, " << to_string(kind));
      const point_metric distance = rows.packed().distance(kind);
      const reference::matrix d = test::bit_distances(rows, rows, kind);
      const std::int64_t k = std::min<std::int64_t>(n - 1, 5);
      const std::vector<double> core = rounded(reference::core_distances(d, k));
      const std::vector<edge> edges = plain_tree(d, core);
      test::on_every_device([&](const Device& device) {
        const auto tree = spanning_tree(rows.points(), {.min_samples = k, .distance = distance}, device);
        EXPECT_EQ(tree.core_distances, core);
        EXPECT_EQ(tree.edges, edges);
        EXPECT_EQ(core_distances(rows.points(), {.min_samples = k, .distance = distance}, device).distances, core);
      });
      for (const int threads : {1, 3}) {
        set_threads(threads);
        EXPECT_EQ(spanning_tree(rows.points(), {.min_samples = k, .distance = distance}).edges, edges);
      }
      set_threads(0);
    }
  }
}

/// Numbers of ones that differ: the tree of blocks passes over pairs by them.
TEST(bit_clustering, rows_of_very_different_numbers_of_ones) {
  std::mt19937_64 random(3);
  bit_set rows(2200, 130);
  for (std::int64_t i = 0; i < rows.n; ++i)
    for (std::int64_t b = 0; b < rows.bits; ++b) rows.set(i, b, b < i % 121 ? random() % 40 != 0 : false);
  for (const metric kind : bit_metrics) {
    const point_metric distance = rows.packed().distance(kind);
    const reference::matrix d = test::bit_distances(rows, rows, kind);
    const std::vector<double> core = rounded(reference::core_distances(d, 3));
    const std::vector<edge> edges = plain_tree(d, core);
    test::on_every_device([&](const Device& device) {
      EXPECT_EQ(spanning_tree(rows.points(), {.min_samples = 3, .distance = distance}, device).edges, edges);
    });
  }
}

/// Many copies, and words that are no numbers as doubles: NaN, and -0 beside 0.
TEST(bit_clustering, piles_of_copies) {
  bit_set rows(700, 128);
  const std::uint64_t kinds[] = {0, std::uint64_t(1) << 63, ~std::uint64_t(0), std::uint64_t(0x7ff8) << 48, 5, 6, 7};
  for (std::int64_t i = 0; i < rows.n; ++i) {
    rows.words[2 * i] = kinds[i % 7];
    rows.words[2 * i + 1] = i < 40 ? std::uint64_t(i) << 55 : kinds[i % 3];
  }
  for (const metric kind : bit_metrics) {
    const reference::matrix d = test::bit_distances(rows, rows, kind);
    const std::vector<double> core = rounded(reference::core_distances(d, 4));
    const auto tree = spanning_tree(rows.points(), {.min_samples = 4, .distance = rows.packed().distance(kind)});
    EXPECT_EQ(tree.core_distances, core);
    EXPECT_EQ(tree.edges, plain_tree(d, core));
  }
}

TEST(bit_clustering, clusters_are_those_of_the_matrix) {
  const bit_set rows = clustered_bits(300, 166, 11, 0.08);
  for (const metric kind : bit_metrics)
    for (const double alpha : {1.0, 0.75}) {
      const point_metric distance = rows.packed().distance(kind);
      const reference::matrix d = test::bit_distances(rows, rows, kind);
      const std::vector<double> matrix(d.elements().begin(), d.elements().end());
      const cluster_options settings{.min_cluster_size = 8, .min_samples = 4, .alpha = alpha, .distance = distance};
      cluster_options of_matrix = settings;
      of_matrix.distance = metric::euclidean;
      of_matrix.tie_tolerance = 0;
      const auto expected = cluster_distances(matrix_view<const double>(matrix.data(), rows.n, rows.n), of_matrix);
      ASSERT_GT(expected.clusters(), 2);
      test::on_every_device([&](const Device& device) {
        const auto found = cluster(rows.points(), settings, device);
        EXPECT_EQ(found.labels, expected.labels);
        EXPECT_EQ(found.probabilities, expected.probabilities);
        EXPECT_EQ(found.outlier_scores, expected.outlier_scores);
        EXPECT_EQ(found.core_distances, expected.core_distances);
      });
    }
}

TEST(bit_clustering, matrices_and_pairs) {
  const bit_set rows = clustered_bits(140, 90, 2);
  std::vector<std::int64_t> pairs;
  for (std::int64_t i = 0; i < rows.n; ++i)
    for (std::int64_t j = 0; j < rows.n; ++j) pairs.insert(pairs.end(), {i, j});
  for (const metric kind : bit_metrics) {
    const point_metric distance = rows.packed().distance(kind);
    const reference::matrix d = test::bit_distances(rows, rows, kind);
    const std::vector<double> expected(d.elements().begin(), d.elements().end());
    test::on_every_device([&](const Device& device) {
      std::vector<double> found(rows.n * rows.n);
      mutual_reachability(rows.points(), {}, {found.data(), rows.n, rows.n}, {.distance = distance}, device);
      EXPECT_EQ(found, expected);
      EXPECT_EQ(mutual_reachability_pairs<double>(rows.points(), {}, {pairs.data(), rows.n * rows.n, 2},
                                                  {.distance = distance}, device),
                expected);
    });
  }
}

TEST(bit_clustering, predictions_are_those_of_the_reference) {
  const bit_set all = clustered_bits(460, 166, 5, 0.08);
  for (const metric kind : bit_metrics) {
    const point_metric distance = all.packed().distance(kind);
    const auto fit = all.points(0, 400), unseen = all.points(400, 460);
    const cluster_result model = cluster(fit, {.min_cluster_size = 6, .min_samples = 4, .distance = distance});
    ASSERT_GT(model.clusters(), 2);
    const reference::matrix d = test::bit_distances(all, all, kind);
    const auto found = approximate_predict(model, fit, unseen);
    const reference::plain_tree tree(model);
    for (std::int64_t q = 0; q < 60; ++q) {
      const std::vector<double> row(&d(400 + q, 0), &d(400 + q, 0) + 400);
      const auto joined = reference::join(row, model.core_distances, model.neighbours, 1, false);
      EXPECT_EQ(found.lambdas[q], joined.lambda) << q;
      EXPECT_EQ(found.labels[q], reference::predict(tree, joined).label) << q;
    }
    const predictor kept(model, fit);
    EXPECT_EQ(kept.predict(unseen).labels, found.labels);
    const auto membership = membership_vectors(model, fit, unseen);
    EXPECT_EQ(kept.membership_vectors(unseen), membership);
    // Few rows are searched for one after another.
    EXPECT_EQ(kept.predict(all.points(400, 403)).labels,
              std::vector<std::int64_t>(found.labels.begin(), found.labels.begin() + 3));
    test::on_other_devices([&](const Device& device) {
      EXPECT_EQ(approximate_predict(model, fit, unseen, device).labels, found.labels);
      EXPECT_EQ(membership_vectors(model, fit, unseen, device), membership);
    });
  }
}

TEST(bit_clustering, validity_and_medoids) {
  const bit_set rows = clustered_bits(260, 100, 6, 0.08);
  for (const metric kind : bit_metrics) {
    const point_metric distance = rows.packed().distance(kind);
    const cluster_result model =
        cluster(rows.points(), {.min_cluster_size = 6, .min_samples = 4, .distance = distance});
    const reference::matrix d = test::bit_distances(rows, rows, kind);
    for (const double dimension : {2.0, 9.5})
      EXPECT_NEAR(validity_index(rows.points(), model.labels, {.distance = distance, .dimension = dimension}).index,
                  reference::validity_index(d, model.labels, dimension).index, 1e-9);
    const double positional =
        validity_index(rows.points(), model.labels,
                       {.distance = distance, .dimension = 2, .convention = validity_convention::positional})
            .index;
    EXPECT_GT(positional, -1);
    EXPECT_LT(positional, 1);
    expect_invalid([&] { validity_index(rows.points(), model.labels, {.distance = distance}); },
                   "dimension must be > 0 with metric " + std::string(to_string(kind)) +
                       ": rows of bits have no dimension (dimension=0)");
    const auto medoid = medoids(rows.points(), model.labels, {}, distance);
    for (std::int64_t k = 0; k < std::ssize(medoid); ++k) {
      const auto total = [&](std::int64_t i) {
        double sum = 0;
        for (std::int64_t j = 0; j < rows.n; ++j) sum += model.labels[j] == k ? double(d(i, j)) : 0;
        return sum;
      };
      std::int64_t best = -1;
      for (std::int64_t i = 0; i < rows.n; ++i)
        if (model.labels[i] == k && (best < 0 || total(i) < total(best))) best = i;
      EXPECT_NEAR(total(medoid[k]), total(best), 1e-12);
    }
    expect_invalid([&] { weighted_centroids(rows.points(), model.labels, {}, distance); },
                   "rows of bits have no mean: medoids() chooses among them");
  }
}

TEST(bit_clustering, a_sweep_is_all_fits_and_weights_are_copies) {
  const bit_set rows = clustered_bits(250, 100, 12, 0.08);
  for (const metric kind : bit_metrics) {
    const point_metric distance = rows.packed().distance(kind);
    const auto swept = sweep(rows.points(), {.min_samples = {2, 5}, .min_cluster_size = {5, 12}, .distance = distance});
    for (std::size_t s = 0; s < swept.settings.size(); ++s) {
      const auto& setting = swept.settings[s];
      const auto fresh = cluster(
          rows.points(),
          {.min_cluster_size = setting.min_cluster_size, .min_samples = setting.min_samples, .distance = distance});
      EXPECT_EQ(setting.clusters, fresh.clusters());
      for (std::int64_t i = 0; i < rows.n; ++i)
        ASSERT_EQ(swept.labels[s * rows.n + i], fresh.labels[i]) << "setting " << s << ", row " << i;
    }
    expect_invalid([&] { sweep(rows.points(), {.min_samples = {2}, .distance = distance, .by = score::dbcv}); },
                   "DBCV needs the dimension of points, which rows of bits do not have");
    std::vector<double> weights(rows.n, 1);
    bit_set repeated(rows.n + 50, rows.bits);
    std::copy(rows.words.begin(), rows.words.end(), repeated.words.begin());
    for (std::int64_t i = 0; i < 50; ++i) {
      weights[3 * i] = 2;
      std::copy_n(&rows.words[3 * i * rows.stride], rows.stride, &repeated.words[(rows.n + i) * rows.stride]);
    }
    const cluster_options settings{.min_cluster_size = 8, .min_samples = 4, .distance = distance};
    const auto weighted = cluster(rows.points(), settings, Device::best(), {}, weights);
    const auto copies = cluster(repeated.points(), settings);
    EXPECT_TRUE(std::equal(weighted.labels.begin(), weighted.labels.end(), copies.labels.begin()));
    EXPECT_TRUE(
        std::equal(weighted.core_distances.begin(), weighted.core_distances.end(), copies.core_distances.begin()));
  }
}

}  // namespace
}  // namespace quintet::hdbscan
