// The tree stage against scikit-learn-contrib/hdbscan 0.8.43 and an independent reference, on real and made data.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "quintet/hdbscan/cluster_tree.hpp"
#include "support/csv_table.hpp"
#include "support/data_folder.hpp"

namespace quintet::hdbscan {
namespace {

using test::csv_table;

// One line of cases.csv.
struct data_case {
  std::string dataset, stem;  // "iris", "iris_cfg0"
  std::int64_t n = 0, clusters_canonical = 0, noise_canonical = 0;
  tree_options options;
  double spanning_tree_weight = 0;
  std::vector<double> persistence_peer, persistence_canonical;
};

std::filesystem::path folder() { return test::data_folder("embeddings"); }

tree_options parse_options(const std::string& params) {
  const auto json = nlohmann::json::parse(params);
  tree_options options;
  options.min_cluster_size = json.at("min_cluster_size");
  options.max_cluster_size = json.value("max_cluster_size", std::int64_t{0});
  options.allow_single_cluster = json.value("allow_single_cluster", false);
  options.epsilon = json.value("cluster_selection_epsilon", 0.0);
  options.method = json.value("cluster_selection_method", "eom") == "leaf" ? selection::leaf : selection::eom;
  return options;
}

std::vector<double> parse_list(const std::string& field) {
  std::istringstream in(field);
  return {std::istream_iterator<double>(in), std::istream_iterator<double>()};
}

std::vector<data_case> all_cases() {
  const csv_table table(folder() / "cases.csv");
  std::vector<data_case> cases;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    data_case c;
    c.dataset = table.at(i, "dataset");
    c.stem = c.dataset + "_cfg" + table.at(i, "cfg");
    c.n = std::stoll(table.at(i, "n"));
    c.clusters_canonical = std::stoll(table.at(i, "k_canonical"));
    c.noise_canonical = std::stoll(table.at(i, "noise_canonical"));
    c.options = parse_options(table.at(i, "params"));
    c.spanning_tree_weight = std::stod(table.at(i, "mst_total_weight"));
    c.persistence_peer = parse_list(table.at(i, "persistence_prims"));
    c.persistence_canonical = parse_list(table.at(i, "persistence_canonical"));
    cases.push_back(c);
  }
  return cases;
}

single_linkage_tree read_linkage(const data_case& c) {
  const csv_table table(folder() / (c.stem + "_linkage_prims.csv"));
  const auto left = table.integers("left"), right = table.integers("right"), size = table.integers("size");
  const auto height = table.doubles("height");
  single_linkage_tree tree{c.n, {}};
  for (std::size_t t = 0; t < table.rows(); ++t) tree.rows.push_back({left[t], right[t], height[t], size[t]});
  return tree;
}

std::vector<edge> read_edges(const data_case& c) {
  const csv_table table(folder() / (c.stem + "_mst.csv"));
  const auto u = table.integers("u"), v = table.integers("v");
  const auto weight = table.doubles("weight");
  std::vector<edge> edges;
  for (std::size_t t = 0; t < table.rows(); ++t) edges.push_back({u[t], v[t], weight[t]});
  return edges;
}

// The bound is absolute up to 1 and relative above: the files have 9 or 12 significant digits.
void expect_near(const std::vector<double>& found, const std::vector<double>& expected, double bound) {
  ASSERT_EQ(found.size(), expected.size());
  double error = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    error = std::fmax(error, std::fabs(found[i] - expected[i]) / std::fmax(1.0, std::fabs(expected[i])));
  EXPECT_LE(error, bound);
}

void expect_result(const data_case& c, const clustering& found, const std::string& suffix) {
  const csv_table table(folder() / (c.stem + "_result.csv"));
  EXPECT_EQ(found.labels, table.integers("label_" + suffix));
  expect_near(found.probabilities, table.doubles("prob_" + suffix), 1e-12);
  expect_near(found.outlier_scores, table.doubles("outlier_" + suffix), 1e-12);
}

TEST(cluster_tree_data, given_linkage_gives_the_peers_result) {
  QUINTET_SKIP_WITHOUT(folder());
  for (data_case c : all_cases()) {
    SCOPED_TRACE(c.stem);
    c.options.tie_mode = ties::binary;
    const clustering found = cluster_tree(read_linkage(c), c.options);
    expect_result(c, found, "prims");
    expect_near(found.persistence, c.persistence_peer, 1e-9);
  }
}

TEST(cluster_tree_data, given_linkage_gives_the_peers_condensed_tree) {
  QUINTET_SKIP_WITHOUT(folder());
  for (data_case c : all_cases()) {
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
  for (data_case c : all_cases()) {
    SCOPED_TRACE(c.stem);
    c.options.tie_mode = ties::binary;
    expect_result(c, cluster_tree(read_edges(c), c.n, c.options), "total_order");
  }
}

TEST(cluster_tree_data, spanning_tree_in_canonical_mode_gives_the_canonical_result) {
  QUINTET_SKIP_WITHOUT(folder());
  for (const data_case& c : all_cases()) {
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
  for (const data_case& c : all_cases()) {
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
