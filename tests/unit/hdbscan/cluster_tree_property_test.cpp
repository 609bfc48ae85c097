// Properties over random trees with many ties: equal to the plain reference, and independent of every order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "quintet/hdbscan/cluster_tree.hpp"
#include "quintet/hdbscan/cut.hpp"
#include "reference/cluster_tree_reference.hpp"
#include "support/random_tree.hpp"

namespace quintet::hdbscan {
namespace {

using indices = std::vector<std::int64_t>;

tree_options random_options(std::mt19937_64& random) {
  const auto one_in = [&](int k) { return random() % k == 0; };
  tree_options options;
  options.min_cluster_size = 2 + static_cast<std::int64_t>(random() % 5);
  options.tie_mode = one_in(2) ? ties::binary : ties::canonical;
  options.method = one_in(3) ? selection::leaf : selection::eom;
  options.allow_single_cluster = one_in(2);
  if (one_in(3)) options.epsilon = static_cast<double>(random() % 12) / 3;
  if (one_in(5)) options.epsilon_max = static_cast<double>(1 + random() % 12) / 3;
  if (one_in(4)) options.max_cluster_size = 1 + static_cast<std::int64_t>(random() % 30);
  return options;
}

struct sample {
  std::int64_t n;
  std::vector<edge> edges;
  tree_options options;
};

sample random_sample(std::mt19937_64& random) {
  const auto n = static_cast<std::int64_t>(2 + random() % 60);
  const auto heights = static_cast<std::int64_t>(1 + random() % 14);
  const auto reach = static_cast<std::int64_t>(1 + random() % n);
  sample s{n, test::random_tree(n, heights, reach, random), random_options(random)};
  if (random() % 4 == 0) s.edges.back().weight = std::numeric_limits<double>::infinity();
  return s;
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-12) << "at " << i;
}

indices exemplars_of(const clustering& found, std::int64_t k) {
  const auto first = found.exemplars.points.begin();
  return {first + found.exemplars.offsets[k], first + found.exemplars.offsets[k + 1]};
}

TEST(cluster_tree_properties, equals_the_definitions) {
  std::mt19937_64 random(20130414);
  for (int round = 0; round < 1500; ++round) {
    SCOPED_TRACE(round);
    const sample s = random_sample(random);
    const clustering found = cluster_tree(s.edges, s.n, s.options);
    const reference::result expected = reference::tree_stage(s.edges, s.n, s.options).run();
    ASSERT_EQ(found.condensed.rows, expected.rows);
    ASSERT_EQ(found.selected, expected.selected);
    ASSERT_EQ(found.labels, expected.labels);
    expect_near(found.probabilities, expected.probabilities);
    expect_near(found.outlier_scores, expected.outlier_scores);
    expect_near(found.persistence, expected.persistence);
    for (std::int64_t k = 0; k < found.clusters(); ++k)
      ASSERT_EQ(exemplars_of(found, k), indices(expected.exemplars[k].begin(), expected.exemplars[k].end()));
  }
}

// Labels after permuting points are the same partition under other numbers; `map` takes old numbers to new ones.
bool is_same_partition(const indices& a, const indices& b, const indices& name) {
  std::map<std::int64_t, std::int64_t> map{{-1, -1}};
  std::set<std::int64_t> images{-1};
  for (std::size_t p = 0; p < a.size(); ++p) {
    const std::int64_t image = b[name[p]];
    const auto [entry, is_new] = map.emplace(a[p], image);
    if (is_new && !images.insert(image).second) return false;
    if (entry->second != image) return false;
  }
  return true;
}

std::vector<edge> rename(const std::vector<edge>& edges, const indices& name, std::mt19937_64& random) {
  std::vector<edge> renamed;
  for (const edge& e : edges) renamed.push_back(test::make_edge(name[e.u], name[e.v], e.weight));
  std::shuffle(renamed.begin(), renamed.end(), random);
  return renamed;
}

std::vector<double> sorted(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v;
}

TEST(cluster_tree_properties, canonical_mode_is_bitwise_independent_of_the_order_of_points) {
  std::mt19937_64 random(99);
  for (int round = 0; round < 1500; ++round) {
    SCOPED_TRACE(round);
    sample s = random_sample(random);
    s.options.tie_mode = ties::canonical;
    if (random() % 3 == 0) s.options.tie_tolerance = 0.2;
    const indices name = test::random_permutation(s.n, random);
    const clustering a = cluster_tree(s.edges, s.n, s.options);
    const clustering b = cluster_tree(rename(s.edges, name, random), s.n, s.options);
    ASSERT_TRUE(is_same_partition(a.labels, b.labels, name));
    for (std::int64_t p = 0; p < s.n; ++p) {
      ASSERT_EQ(a.probabilities[p], b.probabilities[name[p]]);
      ASSERT_EQ(a.outlier_scores[p], b.outlier_scores[name[p]]);
    }
    ASSERT_EQ(sorted(a.persistence), sorted(b.persistence));
    ASSERT_EQ(a.exemplars.points.size(), b.exemplars.points.size());
  }
}

// Another minimum spanning tree: an edge that joins two points already connected at its weight or below may be swapped
// for any other pair across the same cut, at the same weight.
TEST(cluster_tree_properties, canonical_mode_is_bitwise_independent_of_the_spanning_tree) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 500; ++round) {
    SCOPED_TRACE(round);
    sample s = random_sample(random);
    s.options.tie_mode = ties::canonical;
    // Kruskal's merges, each made by an arbitrary pair of points of the two sides.
    const single_linkage_tree tree = single_linkage(s.edges, s.n);
    std::vector<indices> below(s.n + tree.rows.size());
    for (std::int64_t p = 0; p < s.n; ++p) below[p] = {p};
    std::vector<edge> other;
    for (std::size_t t = 0; t < tree.rows.size(); ++t) {
      const auto &left = below[tree.rows[t].left], &right = below[tree.rows[t].right];
      const auto any = [&](const indices& points) { return points[random() % points.size()]; };
      other.push_back(test::make_edge(any(left), any(right), tree.rows[t].height));
      below[s.n + t] = left;
      below[s.n + t].insert(below[s.n + t].end(), right.begin(), right.end());
    }
    const clustering a = cluster_tree(s.edges, s.n, s.options), b = cluster_tree(other, s.n, s.options);
    ASSERT_EQ(a.condensed.rows, b.condensed.rows);
    ASSERT_EQ(a.labels, b.labels);
    ASSERT_EQ(a.persistence, b.persistence);
  }
}

TEST(cluster_tree_properties, cut_gives_the_components_of_short_edges) {
  std::mt19937_64 random(17);
  for (int round = 0; round < 300; ++round) {
    const sample s = random_sample(random);
    const double height = static_cast<double>(random() % 14) / 3;
    const indices labels = cut(single_linkage(s.edges, s.n), height, 1);
    for (const edge& e : s.edges) {
      if (e.weight < height) {
        ASSERT_EQ(labels[e.u], labels[e.v]);
      } else {
        ASSERT_NE(labels[e.u], labels[e.v]);
      }
    }
  }
}

}  // namespace
}  // namespace quintet::hdbscan
