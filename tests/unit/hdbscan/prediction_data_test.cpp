// Prediction, membership and validity against scikit-learn-contrib/hdbscan 0.8.43. Where the library differs from it on
// purpose, a plain reference does what the peer does and must give the peer's numbers; the library must give those of
// the reference without these rules.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "quintet/hdbscan/cut.hpp"
#include "quintet/hdbscan/membership.hpp"
#include "quintet/hdbscan/prediction.hpp"
#include "quintet/hdbscan/validity.hpp"
#include "reference/prediction_reference.hpp"
#include "support/near.hpp"
#include "support/partition.hpp"
#include "support/prediction_data.hpp"

namespace quintet::hdbscan {
namespace {

constexpr std::int64_t neighbours = 5;

double distance(const test::point_set<double>& a, std::int64_t i, const test::point_set<double>& b, std::int64_t j) {
  const double *x = &a.data[i * a.stride], *y = &b.data[j * b.stride];
  double sum = 0;
  for (std::int64_t d = 0; d < a.dim; ++d) sum = std::fma(x[d] - y[d], x[d] - y[d], sum);
  return std::sqrt(sum);
}

/// A data set, the clustering of its points to fit in the order of the peer's tree, and what the peer found.
struct fitted_case {
  std::string name;
  test::prediction_case expected;
  test::point_set<double> fit, unseen;
  cluster_result model;
  std::vector<std::vector<double>> rows;  ///< [unseen][fit] distances

  explicit fitted_case(const std::string& data)
      : name(data),
        expected(test::read_prediction(data)),
        fit(test::reordered(test::read_points<double>(data), expected.fit.rows)),
        unseen(test::reordered(test::read_points<double>(data), expected.unseen.rows)),
        model(cluster(fit.view(), {.min_cluster_size = 5, .tie_mode = ties::binary, .min_samples = neighbours})) {
    for (std::int64_t i = 0; i < unseen.n; ++i) {
      rows.emplace_back();
      for (std::int64_t j = 0; j < fit.n; ++j) rows.back().push_back(distance(unseen, i, fit, j));
    }
  }

  const std::vector<double>& distances(std::int64_t i) const { return rows[i]; }
  std::vector<double> to_exemplars(const std::vector<double>& distances) const {
    const point_groups& groups = model.exemplars;
    std::vector<double> nearest;
    for (std::int64_t k = 0; k < model.clusters(); ++k) {
      double min = std::numeric_limits<double>::infinity();
      for (std::int64_t e = groups.offsets[k]; e < groups.offsets[k + 1]; ++e)
        min = std::min(min, distances[groups.points[e]]);
      nearest.push_back(min);
    }
    return nearest;
  }
};

/// Each is fitted once.
const fitted_case& fitted(const std::string& name) {
  static std::map<std::string, fitted_case> known;
  return known.try_emplace(name, name).first->second;
}

class prediction_data : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!test::has_embedding(GetParam()))
      GTEST_SKIP() << "no reference data of " << GetParam() << " (QUINTET_DATA_DIR)";
  }
};
INSTANTIATE_TEST_SUITE_P(sets, prediction_data, ::testing::Values("iris", "epiverse384"),
                         [](const auto& info) { return info.param; });

TEST_P(prediction_data, the_fit_is_that_of_the_peer) {
  const fitted_case& c = fitted(GetParam());
  EXPECT_EQ(c.model.labels, c.expected.fit.labels);
  test::expect_near(c.model.probabilities, c.expected.fit.probabilities, 1e-11, 1);
}

TEST_P(prediction_data, the_peer_differs_by_its_core_distances_alone) {
  const fitted_case& c = fitted(GetParam());
  const reference::plain_tree tree(c.model);
  const auto peer_core = core_distances(c.fit.view(), {.min_samples = neighbours - 1}).distances;
  for (std::int64_t i = 0; i < c.unseen.n; ++i) {
    const auto found = reference::predict(tree, reference::join(c.distances(i), peer_core, neighbours, 1, true));
    EXPECT_EQ(found.label, c.expected.unseen.labels[i]) << i;
    EXPECT_NEAR(found.probability, c.expected.unseen.probabilities[i], 1e-11) << i;
  }
}

TEST_P(prediction_data, prediction_is_that_of_the_plain_reference) {
  const fitted_case& c = fitted(GetParam());
  const reference::plain_tree tree(c.model);
  const prediction found = approximate_predict(c.model, c.fit.view(), c.unseen.view());
  for (std::int64_t i = 0; i < c.unseen.n; ++i) {
    const auto joined = reference::join(c.distances(i), c.model.core_distances, neighbours, 1, false);
    const auto expected = reference::predict(tree, joined);
    EXPECT_NEAR(found.lambdas[i] / joined.lambda, 1, 1e-12) << i;
    EXPECT_EQ(found.labels[i], expected.label) << i;
    EXPECT_NEAR(found.probabilities[i], expected.probability, 1e-12) << i;
  }
}

// One neighbour less for the core distance of a new point, one more for those of the fit: labels hardly move.
TEST_P(prediction_data, prediction_is_near_the_peer) {
  const fitted_case& c = fitted(GetParam());
  const prediction found = approximate_predict(c.model, c.fit.view(), c.unseen.view());
  std::int64_t other_labels = 0;
  double largest = 0, sum = 0;
  for (std::int64_t i = 0; i < c.unseen.n; ++i) {
    if (found.labels[i] != c.expected.unseen.labels[i]) {
      ++other_labels;
      continue;
    }
    const double difference = std::abs(found.probabilities[i] - c.expected.unseen.probabilities[i]);
    largest = std::max(largest, difference);
    sum += difference;
  }
  RecordProperty("mean_probability_difference", std::to_string(sum / double(c.unseen.n)));
  test::expect_error_within("labels_that_differ", double(other_labels), 3);
  test::expect_error_within("probability_difference", largest, 0.17);
}

TEST_P(prediction_data, membership_of_fitted_points_is_that_of_the_peer) {
  const fitted_case& c = fitted(GetParam());
  const std::int64_t clusters = c.model.clusters();
  const std::vector<double> found = all_points_membership_vectors(c.model, c.fit.view());
  std::int64_t other_rows = 0;
  for (std::int64_t i = 0; i < c.fit.n; ++i) {
    const std::vector<double> row(found.begin() + i * clusters, found.begin() + (i + 1) * clusters);
    other_rows += test::largest_error(row, c.expected.fit.members[i], 1) > 1e-9;
  }
  // One point of iris lies where two merges have one height, and leaves its cluster elsewhere in the peer's tree.
  EXPECT_LE(other_rows, c.name == "iris" ? 1 : 0);
}

TEST_P(prediction_data, membership_of_new_points) {
  const fitted_case& c = fitted(GetParam());
  const reference::plain_tree tree(c.model);
  const auto peer_core = core_distances(c.fit.view(), {.min_samples = neighbours - 1}).distances;
  const std::int64_t clusters = c.model.clusters();
  const std::vector<double> found = membership_vectors(c.model, c.fit.view(), c.unseen.view());
  std::int64_t other_rows = 0;
  for (std::int64_t i = 0; i < c.unseen.n; ++i) {
    SCOPED_TRACE(i);
    const std::vector<double>& distances = c.distances(i);
    const std::vector<double> nearest = c.to_exemplars(distances);
    const auto as_peer = reference::join(distances, peer_core, neighbours, 1, true);
    const auto& neighbour_row = tree.row_of(as_peer.neighbour);
    const std::vector<double> of_peer = reference::membership(
        tree, neighbour_row.parent, std::min(as_peer.lambda, neighbour_row.lambda), nearest, true, true);
    other_rows += test::largest_error(of_peer, c.expected.unseen.members[i], 1) > 1e-6;

    const auto place = tree.place(reference::join(distances, c.model.core_distances, neighbours, 1, false));
    const std::vector<double> expected = reference::membership(tree, place.parent, place.lambda, nearest, true, false);
    const std::vector<double> row(found.begin() + i * clusters, found.begin() + (i + 1) * clusters);
    test::expect_near(row, expected, 1e-9, 1);
  }
  EXPECT_LE(other_rows, 1) << "rows in which the reference that follows the peer does not give its numbers";
}

TEST_P(prediction_data, validity) {
  const fitted_case& c = fitted(GetParam());
  test::expect_error_within(
      "dbcv", std::abs(validity_index(c.fit.view(), c.expected.fit.labels).index / c.expected.dbcv - 1), 1e-12);
  test::expect_error_within(
      "relative_validity",
      std::abs(relative_validity(c.model.spanning_tree, c.expected.fit.labels) / c.expected.relative_validity - 1),
      1e-12);
  const auto in_float = test::reordered(test::read_points<float>(c.name), c.expected.fit.rows);
  test::expect_error_within(
      "dbcv_float", std::abs(validity_index(in_float.view(), c.expected.fit.labels).index / c.expected.dbcv - 1), 1e-5);
}

TEST_P(prediction_data, cut) {
  const fitted_case& c = fitted(GetParam());
  const auto labels = hdbscan::cut(c.model.single_linkage, c.expected.cut, 5);
  EXPECT_EQ(*std::max_element(labels.begin(), labels.end()) + 1, c.expected.clusters_at_cut);
  EXPECT_EQ(std::count(labels.begin(), labels.end(), -1), c.expected.noise_at_cut);
}

}  // namespace
}  // namespace quintet::hdbscan
