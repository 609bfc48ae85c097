// A kept clustering has the bits of calls that keep nothing.
#include "quintet/hdbscan/predictor.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <thread>
#include <vector>

#include "quintet/hdbscan/membership.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"
#include "support/points.hpp"

namespace quintet::hdbscan {
namespace {

using test::clustered_points;
using test::grid_points;
using test::point_set;

void expect_places(const prediction& kept, const prediction& fresh) {
  EXPECT_EQ(kept.labels, fresh.labels);
  EXPECT_EQ(kept.neighbours, fresh.neighbours);
  test::expect_same_bits(kept.probabilities, fresh.probabilities);
  test::expect_same_bits(kept.outlier_scores, fresh.outlier_scores);
  test::expect_same_bits(kept.lambdas, fresh.lambdas);
}

template <class Storage>
std::vector<Storage> stored(const point_set<float>& points, float scale) {
  std::vector<Storage> rows;
  for (const float x : points.data) rows.push_back(Storage(x * scale));
  return rows;
}

/// Predictions for 1, 9 and 70 rows, with one that is no point and one far away.
template <class Storage>
void expect_bits(const point_set<float>& fit, point_set<float> unseen, const cluster_options& options,
                 float scale = 1) {
  unseen(3, 0) = std::numeric_limits<float>::quiet_NaN();
  if (options.distance.kind != metric::poincare) unseen(5, 1) *= 1000;
  auto points = stored<Storage>(fit, scale);
  points[2 * fit.dim] = Storage(std::numeric_limits<float>::quiet_NaN());
  const auto rows = stored<Storage>(unseen, scale);
  const matrix_view<const Storage> known(points.data(), fit.n, fit.dim);
  const cluster_result model = cluster(known, options);
  const predictor place(model, known);
  for (const std::int64_t count : {0, 1, 9, 70}) {
    const matrix_view<const Storage> some(rows.data(), count, fit.dim);
    expect_places(place.predict(some), approximate_predict(model, known, some));
    test::expect_same_bits(place.membership_vectors(some), membership_vectors(model, known, some));
  }
}

TEST(predictor, has_the_bits_of_approximate_predict) {
  for (const point_metric& distance :
       {point_metric(metric::euclidean), point_metric(metric::cosine), point_metric(metric::poincare),
        point_metric(metric::manhattan), point_metric(metric::chebyshev), point_metric(metric::minkowski, 3)}) {
    SCOPED_TRACE(to_string(distance));
    for (const std::int64_t dim : {3, 40}) {
      const auto fit = clustered_points<float>(400, dim, 5), unseen = clustered_points<float>(70, dim, 5);
      const cluster_options options{.min_cluster_size = 6, .min_samples = 4, .distance = distance};
      expect_bits<float>(fit, unseen, options, 0.02f);
      expect_bits<double>(fit, unseen, options, 0.02f);
    }
  }
}

// Where a row joins is not among its k nearest points: few samples, and an alpha that makes distances larger.
TEST(predictor, searches_beyond_the_nearest_points) {
  const auto fit = clustered_points<float>(600, 2, 7), unseen = clustered_points<float>(70, 2, 8);
  for (const double alpha : {1.0, 0.2, 1.4})
    for (const bool count_self : {false, true})
      expect_bits<float>(fit, unseen,
                         {.min_cluster_size = 5, .min_samples = 1, .count_self = count_self, .alpha = alpha});
}

TEST(predictor, ties_go_to_the_smaller_index) {
  const auto fit = grid_points<float>(500, 2, 12, 8), unseen = grid_points<float>(70, 2, 12, 9);
  for (const std::int64_t k : {1, 4}) {
    expect_bits<float>(fit, unseen, {.min_cluster_size = 5, .min_samples = k});
    expect_bits<half>(fit, unseen, {.min_cluster_size = 5, .min_samples = k});
    expect_bits<bfloat16>(fit, unseen, {.min_cluster_size = 5, .min_samples = k, .distance = metric::manhattan});
  }
}

TEST(predictor, few_points_and_no_clusters) {
  for (const std::int64_t n : {3, 7})
    expect_bits<double>(clustered_points<float>(n, 2, 1), clustered_points<float>(70, 2, 2),
                        {.min_cluster_size = 5, .min_samples = 4});
}

TEST(predictor, many_threads_ask_at_once) {
  const auto fit = clustered_points<double>(2000, 3, 5), unseen = clustered_points<double>(60, 3, 6);
  const cluster_result model = cluster(fit.view(), {.min_cluster_size = 10});
  const auto fresh = approximate_predict(model, fit.view(), unseen.view());
  const auto soft = membership_vectors(model, fit.view(), unseen.view());
  const predictor place(model, fit.view());
  std::vector<prediction> places(6);
  std::vector<std::vector<double>> vectors(6);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < places.size(); ++t)
    threads.emplace_back([&, t] {
      places[t] = place.predict(unseen.view());
      vectors[t] = place.membership_vectors(unseen.view());
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t t = 0; t < places.size(); ++t) {
    expect_places(places[t], fresh);
    test::expect_same_bits(vectors[t], soft);
  }
}

TEST(predictor, bad_arguments_are_named) {
  const auto fit = clustered_points<double>(50, 3, 5), wide = clustered_points<double>(2, 4, 5);
  const auto other = clustered_points<float>(2, 3, 5);
  const cluster_result model = cluster(fit.view(), {.min_cluster_size = 5});
  const predictor place(model, fit.view());
  expect_invalid([&] { place.predict(wide.view()); }, "new_points.cols must be points.cols=3 (new_points.cols=4)");
  expect_invalid([&] { place.membership_vectors(wide.view()); }, "new_points.cols must be points.cols=3");
  expect_invalid([&] { place.predict(other.view()); }, "new_points");
  expect_invalid([&] { predictor(model, wide.view()); }, "points.rows must be the number of points of the model, 50");
}

}  // namespace
}  // namespace quintet::hdbscan
