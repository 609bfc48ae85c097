// The tree stage against scikit-learn-contrib/hdbscan 0.8.43 and an independent reference, on real and made data.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "quintet/hdbscan/cluster_tree.hpp"
#include "support/embedding_data.hpp"
#include "support/near.hpp"

namespace quintet::hdbscan {
namespace {

using test::clustering_case;
using test::csv_table;
using test::read_edges;
using test::read_linkage;

std::filesystem::path folder() { return test::embedding_folder(); }

// The bound is absolute up to 1 and relative above: the files have 9 or 12 significant digits.
void expect_near(const std::vector<double>& found, const std::vector<double>& expected, double bound) {
  test::expect_near(found, expected, bound, 1);
}

void expect_result(const clustering_case& c, const clustering& found, const std::string& suffix) {
  const csv_table table = test::read_results(c);
  EXPECT_EQ(found.labels, table.integers("label_" + suffix));
  expect_near(found.probabilities, table.doubles("prob_" + suffix), 1e-12);
  expect_near(found.outlier_scores, table.doubles("outlier_" + suffix), 1e-12);
}

TEST(cluster_tree_data, given_linkage_gives_the_peers_result) {
  QUINTET_SKIP_WITHOUT(folder());
  for (clustering_case c : test::clustering_cases()) {
    SCOPED_TRACE(c.stem);
    c.options.tie_mode = ties::binary;
    const clustering found = cluster_tree(read_linkage(c), c.options);
    expect_result(c, found, "prims");
    expect_near(found.persistence, c.persistence_peer, 1e-9);
  }
}

TEST(cluster_tree_data, given_linkage_gives_the_peers_condensed_tree) {
  QUINTET_SKIP_WITHOUT(folder());
  for (clustering_case c : test::clustering_cases()) {
    const auto path = folder() / (c.stem + "_condensed_prims.csv");
    if (!std::filesystem::exists(path)) continue;
    SCOPED_TRACE(c.stem);
    c.options.tie_mode = ties::binary;
    const csv_table table(path);
    const auto parent = table.integers("parent"), child = table.integers("child"), size = table.integers("size");
    const auto lambda = table.doubles("lambda");
    std::vector<condensed_row> expected;
    for (std::size_t i = 0; i < table.rows(); ++i) expected.push_back({parent[i], child[i], lambda[i], size[i]});
    std::sort(expected.begin(), expected.end(), [](const auto& a, const auto& b) {
      return std::tie(a.parent, a.lambda, a.child) < std::tie(b.parent, b.lambda, b.child);
    });
    EXPECT_EQ(condense(read_linkage(c), c.options).rows, expected);
  }
}

TEST(cluster_tree_data, spanning_tree_in_binary_mode_gives_the_total_order_result) {
  QUINTET_SKIP_WITHOUT(folder());
  for (clustering_case c : test::clustering_cases()) {
    SCOPED_TRACE(c.stem);
    c.options.tie_mode = ties::binary;
    expect_result(c, cluster_tree(read_edges(c), c.n, c.options), "total_order");
  }
}

TEST(cluster_tree_data, spanning_tree_in_canonical_mode_gives_the_canonical_result) {
  QUINTET_SKIP_WITHOUT(folder());
  for (const clustering_case& c : test::clustering_cases()) {
    SCOPED_TRACE(c.stem);
    const clustering found = cluster_tree(read_edges(c), c.n, c.options);
    expect_result(c, found, "canonical");
    expect_near(found.persistence, c.persistence_canonical, 1e-9);
    EXPECT_EQ(found.clusters(), c.clusters_canonical);
    EXPECT_EQ(std::count(found.labels.begin(), found.labels.end(), -1), c.noise_canonical);
  }
}

// The peer's tree and ours are different minimum spanning trees of the same graph.
TEST(cluster_tree_data, canonical_mode_does_not_depend_on_the_spanning_tree) {
  QUINTET_SKIP_WITHOUT(folder());
  for (const clustering_case& c : test::clustering_cases()) {
    SCOPED_TRACE(c.stem);
    const clustering ours = cluster_tree(read_edges(c), c.n, c.options);
    const clustering peers = cluster_tree(read_linkage(c), c.options);
    EXPECT_EQ(ours.condensed.rows, peers.condensed.rows);
    EXPECT_EQ(ours.labels, peers.labels);
    EXPECT_EQ(ours.probabilities, peers.probabilities);
    EXPECT_EQ(ours.outlier_scores, peers.outlier_scores);
    EXPECT_EQ(ours.persistence, peers.persistence);
    EXPECT_EQ(ours.exemplars.points, peers.exemplars.points);
  }
}

}  // namespace
}  // namespace quintet::hdbscan
