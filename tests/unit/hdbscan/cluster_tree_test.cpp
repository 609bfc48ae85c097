// The whole tree stage: the table of edge cases, rows left out, and large trees.
#include "quintet/hdbscan/cluster_tree.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <random>

#include "support/expect_error.hpp"
#include "support/random_tree.hpp"
#include "support/sanitized.hpp"

namespace quintet::hdbscan {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
using indices = std::vector<std::int64_t>;
using values = std::vector<double>;

std::vector<edge> chain(std::int64_t n, double weight) {
  std::vector<edge> edges;
  for (std::int64_t p = 1; p < n; ++p) edges.push_back({p - 1, p, weight});
  return edges;
}

void expect_all_noise(const clustering& found, std::size_t n) {
  EXPECT_EQ(found.labels, indices(n, -1));
  EXPECT_EQ(found.probabilities, values(n, 0));
  EXPECT_EQ(found.clusters(), 0);
  EXPECT_TRUE(found.persistence.empty());
}

void expect_one_certain_cluster(const clustering& found, std::size_t n) {
  EXPECT_EQ(found.labels, indices(n, 0));
  EXPECT_EQ(found.probabilities, values(n, 1));
  EXPECT_EQ(found.selected, indices{static_cast<std::int64_t>(n)});
}

TEST(cluster_tree, no_points_is_an_error) {
  expect_invalid([] { cluster_tree(std::vector<edge>{}, 0); }, "n must be >= 1 (n=0)");
  expect_invalid([] { cluster_tree(single_linkage_tree{}); }, "points must be >= 1 (points=0)");
}

TEST(cluster_tree, one_point_is_noise_whatever_the_options) {
  for (const bool allow : {false, true}) {
    for (const double epsilon : {0.0, 1.0}) {
      const auto found = cluster_tree(std::vector<edge>{}, 1, {.epsilon = epsilon, .allow_single_cluster = allow});
      expect_all_noise(found, 1);
      EXPECT_EQ(found.outlier_scores, values{0});
      EXPECT_TRUE(found.single_linkage.rows.empty());
      EXPECT_EQ(found.components, 1);
    }
  }
}

TEST(cluster_tree, two_points_are_a_cluster_only_as_the_root) {
  expect_all_noise(cluster_tree(chain(2, 1.0), 2, {.min_cluster_size = 2}), 2);
  expect_one_certain_cluster(cluster_tree(chain(2, 1.0), 2, {.min_cluster_size = 2, .allow_single_cluster = true}), 2);
}

TEST(cluster_tree, min_cluster_size_above_n) {
  expect_all_noise(cluster_tree(chain(4, 1.0), 4, {.min_cluster_size = 5}), 4);
  expect_one_certain_cluster(cluster_tree(chain(4, 1.0), 4, {.min_cluster_size = 5, .allow_single_cluster = true}), 4);
}

TEST(cluster_tree, min_cluster_size_one_is_an_error) {
  expect_invalid([] { cluster_tree(chain(4, 1.0), 4, {.min_cluster_size = 1}); },
                 "min_cluster_size must be >= 2 (min_cluster_size=1)");
}

TEST(cluster_tree, equal_points) {
  for (const ties mode : {ties::canonical, ties::binary}) {
    expect_all_noise(cluster_tree(chain(20, 0.0), 20, {.tie_mode = mode}), 20);
    const auto single = cluster_tree(chain(20, 0.0), 20, {.tie_mode = mode, .allow_single_cluster = true});
    expect_one_certain_cluster(single, 20);
    EXPECT_EQ(single.outlier_scores, values(20, 0));
    EXPECT_EQ(single.persistence, values{1});
    EXPECT_EQ(single.exemplars.points.size(), 20u);
  }
}

TEST(cluster_tree, two_groups_of_duplicates) {
  auto edges = chain(12, 0.0);
  edges[5].weight = 3.0;
  for (const ties mode : {ties::canonical, ties::binary}) {
    const auto found = cluster_tree(edges, 12, {.min_cluster_size = 5, .tie_mode = mode});
    EXPECT_EQ(found.labels, (indices{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}));
    EXPECT_EQ(found.probabilities, values(12, 1));
    EXPECT_EQ(found.persistence, (values{1, 1}));
    EXPECT_EQ(found.outlier_scores, values(12, 0));
  }
}

// The copies leave at infinity; what the others are compared with is finite.
TEST(cluster_tree, points_beside_duplicates) {
  auto edges = chain(12, 0.0);
  edges[5].weight = 3.0;
  edges.push_back({11, 12, 2.0});  // leaves the second group at lambda 1/2
  edges.push_back({11, 13, 2.5});  // at 2/5
  const auto found = cluster_tree(edges, 14, {.min_cluster_size = 5});
  EXPECT_EQ(found.labels[12], 1);
  EXPECT_EQ(found.probabilities[12], 1);
  EXPECT_EQ(found.outlier_scores[12], 0);
  EXPECT_EQ(found.labels[13], 1);
  EXPECT_DOUBLE_EQ(found.probabilities[13], 0.8);
  EXPECT_DOUBLE_EQ(found.outlier_scores[13], 0.2);
  EXPECT_EQ(found.probabilities[11], 1);
  EXPECT_EQ(found.outlier_scores[11], 0);
}

TEST(cluster_tree, missing_edges_are_reported_and_part_at_lambda_zero) {
  auto edges = chain(12, 1.0);
  edges.erase(edges.begin() + 5);
  const auto found = cluster_tree(edges, 12, {.min_cluster_size = 5});
  EXPECT_EQ(found.components, 2);
  EXPECT_EQ(found.single_linkage.rows.back().height, infinity);
  EXPECT_EQ(found.labels, (indices{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(found.probabilities, values(12, 1));
  EXPECT_EQ(found.persistence, (values{1, 1}));
}

TEST(cluster_tree, no_edges_at_all) {
  const auto found = cluster_tree(std::vector<edge>{}, 4, {.min_cluster_size = 2, .allow_single_cluster = true});
  expect_one_certain_cluster(found, 4);
  EXPECT_EQ(found.components, 4);
  EXPECT_EQ(found.outlier_scores, values(4, 0));
  EXPECT_EQ(found.persistence, values{1});
}

TEST(cluster_tree, edges_and_their_dendrogram_give_the_same) {
  std::mt19937_64 random(1);
  const auto edges = test::random_tree(200, 12, 20, random);
  const auto a = cluster_tree(edges, 200, {.min_cluster_size = 3});
  const auto b = cluster_tree(single_linkage(edges, 200), {.min_cluster_size = 3});
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_EQ(a.condensed.rows, b.condensed.rows);
  EXPECT_EQ(a.outlier_scores, b.outlier_scores);
}

TEST(reinsert_rows, left_out_rows_are_noise_with_score_one) {
  auto edges = chain(6, 1.0);
  edges[2].weight = 2.0;
  const indices kept{1, 2, 3, 5, 6, 7};
  const auto before = cluster_tree(edges, 6, {.min_cluster_size = 3});
  const auto found = reinsert_rows(before, kept, 9);
  EXPECT_EQ(found.labels, (indices{-1, 0, 0, 0, -1, 1, 1, 1, -1}));
  EXPECT_EQ(found.probabilities, (values{0, 1, 1, 1, 0, 1, 1, 1, 0}));
  EXPECT_EQ(found.outlier_scores, (values{1, 0, 0, 0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(found.selected, (indices{10, 11}));
  EXPECT_EQ(found.exemplars.points, kept);
  EXPECT_EQ(found.persistence, before.persistence);
  EXPECT_EQ(found.components, 1);
}

TEST(reinsert_rows, trees_hold_the_rows_as_if_they_were_infinitely_far) {
  auto edges = chain(6, 1.0);
  edges[2].weight = 2.0;
  const auto found = reinsert_rows(cluster_tree(edges, 6, {.min_cluster_size = 3}), indices{1, 2, 3, 5, 6, 7}, 9);
  EXPECT_NO_THROW(check_linkage(found.single_linkage));
  EXPECT_EQ(found.single_linkage.rows[5], (linkage_row{13, 0, infinity, 7}));
  EXPECT_EQ(condense(found.single_linkage, {.min_cluster_size = 3}).rows, found.condensed.rows);
}

TEST(reinsert_rows, keeps_the_order_of_rows_when_components_part) {
  auto edges = chain(6, 1.0);
  edges.erase(edges.begin() + 2);
  const auto found = reinsert_rows(cluster_tree(edges, 6, {.min_cluster_size = 3}), indices{0, 1, 2, 3, 4, 5}, 7);
  EXPECT_EQ(condense(found.single_linkage, {.min_cluster_size = 3}).rows, found.condensed.rows);
}

TEST(reinsert_rows, all_one_or_no_row_left_out) {
  const auto none_kept = reinsert_rows({}, {}, 3);
  expect_all_noise(none_kept, 3);
  EXPECT_EQ(none_kept.outlier_scores, values(3, 1));
  EXPECT_NO_THROW(check_linkage(none_kept.single_linkage));
  EXPECT_EQ(none_kept.condensed.rows, condense(none_kept.single_linkage, {}).rows);

  const auto one_kept = reinsert_rows(cluster_tree(std::vector<edge>{}, 1), indices{1}, 3);
  expect_all_noise(one_kept, 3);
  EXPECT_EQ(one_kept.outlier_scores, (values{1, 0, 1}));
  EXPECT_NO_THROW(check_linkage(one_kept.single_linkage));
  EXPECT_EQ(one_kept.condensed.rows, condense(one_kept.single_linkage, {}).rows);

  const auto all_kept = reinsert_rows(cluster_tree(chain(3, 1.0), 3), indices{0, 1, 2}, 3);
  EXPECT_EQ(all_kept.condensed.rows, cluster_tree(chain(3, 1.0), 3).condensed.rows);
}

TEST(reinsert_rows, bad_arguments_are_named) {
  const auto result = cluster_tree(chain(2, 1.0), 2);
  expect_invalid([&] { reinsert_rows(result, indices{0}, 3); }, "kept.size() must be the number of labels, 2");
  expect_invalid([&] { reinsert_rows(result, indices{1, 1}, 3); }, "kept[1] must be in (1, n=3) (kept[1]=1)");
  expect_invalid([&] { reinsert_rows(result, indices{1, 3}, 3); }, "kept[1] must be in (1, n=3) (kept[1]=3)");
  expect_invalid([&] { reinsert_rows(result, indices{-1, 2}, 3); }, "kept[0] must be in (-1, n=3) (kept[0]=-1)");
  const auto expect_refused = [&](auto change, const std::string& message) {
    auto wrong = result;
    change(wrong);
    expect_invalid([&] { reinsert_rows(wrong, indices{0, 2}, 3); }, message);
  };
  expect_refused([](auto& r) { r.probabilities.pop_back(); }, "result.probabilities.size()");
  expect_refused([](auto& r) { r.outlier_scores.pop_back(); }, "result.outlier_scores.size()");
  expect_refused([](auto& r) { r.single_linkage.points = 5; }, "result.single_linkage.points");
  expect_refused([](auto& r) { r.single_linkage.rows[0].left = -1; }, "rows[0].left");
  expect_refused([](auto& r) { r.condensed.points = 5; }, "result.condensed.points");
  expect_refused([](auto& r) { r.condensed.rows[0].child = -7; }, "rows[0]");
  expect_refused([](auto& r) { r.selected = {1}; }, "result.selected[0]");
  expect_refused([](auto& r) { r.exemplars.points = {9}; }, "exemplars");
}

// Depth of the tree must cost neither stack nor time.
void expect_quick(const std::vector<edge>& edges, std::int64_t n, const tree_options& options) {
  const auto start = std::chrono::steady_clock::now();
  const auto found = cluster_tree(edges, n, options);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  testing::Test::RecordProperty("seconds", std::to_string(seconds.count()));
  EXPECT_EQ(std::ssize(found.labels), n);
  EXPECT_LT(seconds.count(), 60);  // a quadratic step would take hours
}

constexpr std::int64_t million = test::sized(1000000, 100000);

TEST(cluster_tree, a_chain_of_a_million_merges) {
  auto edges = chain(million, 1.0);
  for (std::size_t i = 0; i < edges.size(); ++i) edges[i].weight = 1 + static_cast<double>(i);
  expect_quick(edges, million, {});
}

TEST(cluster_tree, a_million_points_with_ties_in_both_modes) {
  std::mt19937_64 random(7);
  const auto edges = test::random_tree(million, 1000, 50, random);
  expect_quick(edges, million, {});
  expect_quick(edges, million, {.tie_mode = ties::binary});
}

TEST(cluster_tree, a_cluster_tree_as_deep_as_it_is_large) {
  // Pairs hang on a chain of growing weights: every second merge splits off a cluster of two, and every cluster climbs
  // all the way up.
  std::vector<edge> edges;
  for (std::int64_t p = 0; p + 1 < million; p += 2) {
    edges.push_back({p, p + 1, 0.5});
    if (p > 0) edges.push_back({p - 1, p, 1 + static_cast<double>(p)});
  }
  expect_quick(edges, million, {.min_cluster_size = 2, .method = selection::leaf, .epsilon = 1e9});
}

}  // namespace
}  // namespace quintet::hdbscan
