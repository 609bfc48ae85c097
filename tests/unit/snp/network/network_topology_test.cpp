#include "quintet/snp/network/network_topology.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

#include "quintet/snp/network/newick.hpp"
#include "support/expect_error.hpp"
#include "support/random_network.hpp"

namespace quintet {
namespace {

using snp::Network;

Network topology(const std::string& text) { return snp::parse_topology(text); }

// All networks that are made of one by a new branch from somewhere (the root branch too) to somewhere, acyclic.
std::vector<Network> with_one_more_reticulation(const Network& network) {
  std::vector<Network> made;
  const std::int64_t branches = network.branches(), root_branch = branches;  // -1 above the root
  for (std::int64_t upper = 0; upper <= root_branch; ++upper)
    for (std::int64_t lower = 0; lower <= root_branch; ++lower) {
      snp::network_description d;
      for (std::int64_t x = 0; x < network.nodes(); ++x)
        d.names.push_back(network.kind(x) == snp::node_kind::leaf ? network.name(x) : "");
      const std::int64_t split = network.nodes(), reticulation = split + 1;
      d.names.resize(d.names.size() + 2);
      d.root_theta = 1;
      const auto edge = [&](std::int64_t parent, std::int64_t child) {
        d.edges.push_back({parent, child, 1, 1, snp::unset});
      };
      for (std::int64_t b = 0; b < branches; ++b) {
        std::vector<std::int64_t> way{network.branch(b).parent};
        if (b == upper) way.push_back(split);
        if (b == lower) way.push_back(reticulation);
        way.push_back(network.branch(b).child);
        for (std::size_t i = 0; i + 1 < way.size(); ++i) edge(way[i], way[i + 1]);
      }
      // Above the root: split, then the reticulation, then the old root.
      if (upper == root_branch) edge(split, lower == root_branch ? reticulation : network.root());
      if (lower == root_branch) {
        if (upper != root_branch) continue;  // a reticulation above the split that it descends from
        edge(reticulation, network.root());
      }
      edge(split, reticulation);
      // Each reticulation's branches have 1/2.
      std::vector<std::int64_t> ways_up(d.names.size(), 0);
      for (const auto& e : d.edges) ++ways_up[static_cast<std::size_t>(e.child)];
      for (auto& e : d.edges)
        if (ways_up[static_cast<std::size_t>(e.child)] == 2) e.gamma = 0.5;
      try {
        made.emplace_back(std::move(d));
      } catch (const snp::NetworkError& e) {
        EXPECT_EQ(e.reason(), snp::NetworkError::rule::cycle) << e.what();
      }
    }
  return made;
}

std::vector<Network> all_trees(int species) {
  if (species == 2) return {topology("(A,B);")};
  if (species == 3) return {topology("((A,B),C);"), topology("((A,C),B);"), topology("((B,C),A);")};
  std::vector<Network> trees;
  const std::string names = "ABCD";
  for (int i = 0; i < 4; ++i)
    for (int j = i + 1; j < 4; ++j) {
      std::string rest;
      for (int k = 0; k < 4; ++k)
        if (k != i && k != j) rest += names[static_cast<std::size_t>(k)];
      const std::string cherry = {'(', names[static_cast<std::size_t>(i)], ',', names[static_cast<std::size_t>(j)],
                                  ')'};
      trees.push_back(topology("((" + cherry + "," + rest[0] + ")," + rest[1] + ");"));
      trees.push_back(topology("((" + cherry + "," + rest[1] + ")," + rest[0] + ");"));
      if (i == 0) trees.push_back(topology("(" + cherry + ",(" + rest[0] + "," + rest[1] + "));"));
    }
  return trees;
}

struct counts {
  std::size_t all, without_bubbles;
};
std::vector<counts> count_topologies(int species, int reticulations) {
  std::map<std::string, Network> now;
  for (const Network& tree : all_trees(species)) now.emplace(snp::topology_key(tree), tree);
  std::vector<counts> found;
  for (int r = 0;; ++r) {
    std::size_t plain = 0;
    for (const auto& [key, network] : now) plain += snp::count_bubbles(network) == 0;
    found.push_back({now.size(), plain});
    if (r == reticulations) return found;
    std::map<std::string, Network> next;
    for (const auto& [key, network] : now)
      for (const Network& made : with_one_more_reticulation(network)) next.emplace(snp::topology_key(made), made);
    now = std::move(next);
  }
}

TEST(topology, numbers_of_topologies) {
  const std::vector<std::vector<counts>> expected{
      {{1, 1}, {5, 2}, {39, 18}, {469, 225}}, {{3, 3}, {36, 21}, {507, 279}}, {{15, 15}, {333, 228}}};
  for (int species = 2; species <= 4; ++species) {
    const auto& row = expected[static_cast<std::size_t>(species - 2)];
    const auto found = count_topologies(species, static_cast<int>(row.size()) - 1);
    for (std::size_t r = 0; r < row.size(); ++r) {
      EXPECT_EQ(found[r].all, row[r].all) << species << " species, " << r << " reticulations";
      EXPECT_EQ(found[r].without_bubbles, row[r].without_bubbles) << species << " species, " << r << " reticulations";
    }
  }
}

// Nodes and edges in another order.
snp::network_description shuffled(const snp::network_description& given, random_stream& random) {
  const auto size = given.names.size();
  std::vector<std::size_t> place(size);
  std::iota(place.begin(), place.end(), std::size_t{0});
  for (std::size_t i = size; i > 1; --i) std::swap(place[i - 1], place[random.below(static_cast<std::uint32_t>(i))]);
  snp::network_description made;
  made.names.resize(size);
  made.root_theta = given.root_theta;
  for (std::size_t i = 0; i < size; ++i) made.names[place[i]] = given.names[i];
  made.edges = given.edges;
  for (auto& e : made.edges) {
    e.parent = static_cast<std::int64_t>(place[static_cast<std::size_t>(e.parent)]);
    e.child = static_cast<std::int64_t>(place[static_cast<std::size_t>(e.child)]);
  }
  for (std::size_t i = made.edges.size(); i > 1; --i)
    std::swap(made.edges[i - 1], made.edges[random.below(static_cast<std::uint32_t>(i))]);
  return made;
}

TEST(topology, key_does_not_depend_on_the_order_of_nodes_and_reads_back) {
  random_stream random(5);
  for (int i = 0; i < 300; ++i) {
    const snp::network_description given = test::random_network(random, 2 + i % 6, i % 5);
    const Network network(given), other(shuffled(given, random));
    const std::string key = snp::topology_key(network);
    EXPECT_EQ(key, snp::topology_key(other));
    EXPECT_TRUE(snp::is_isomorphic(network, other));
    EXPECT_EQ(key, snp::topology_key(topology(key))) << key;
    EXPECT_EQ(snp::mu_distance(network, other), 0);
    EXPECT_EQ(snp::level(network), snp::level(other));
    EXPECT_EQ(snp::reduced_topology(network), snp::reduced_topology(other));
  }
}

// Nodes that colours alone cannot tell apart: x and y, both parents of the reticulations z and w, which meet in a third
// one. Up to three of these in a row.
TEST(topology, symmetric_networks) {
  random_stream random(6);
  for (int copies = 1; copies <= 3; ++copies) {
    snp::network_description d;
    d.names = {"A", "B"};
    d.root_theta = 1;
    const auto node = [&] {
      d.names.emplace_back();
      return static_cast<std::int64_t>(d.names.size()) - 1;
    };
    const auto edge = [&](std::int64_t parent, std::int64_t child, double gamma) {
      d.edges.push_back({parent, child, 1, 1, gamma});
    };
    std::int64_t below = 0;
    for (int i = 0; i < copies; ++i) {
      // Three reticulations: z and w below both of x and y, and the one in which they meet.
      const std::int64_t join = node(), z = node(), w = node(), x = node(), y = node(), top = node();
      edge(join, below, snp::unset);
      edge(z, join, 0.5);
      edge(w, join, 0.5);
      for (const std::int64_t parent : {x, y})
        for (const std::int64_t child : {z, w}) edge(parent, child, 0.5);
      edge(top, x, snp::unset);
      edge(top, y, snp::unset);
      below = top;
    }
    const std::int64_t root = node();
    edge(root, below, snp::unset);
    edge(root, 1, snp::unset);
    const std::string key = snp::topology_key(Network(d));
    for (int i = 0; i < 30; ++i) EXPECT_EQ(snp::topology_key(Network(shuffled(d, random))), key);
    EXPECT_EQ(snp::level(Network(d)), 3);
  }
}

TEST(topology, mu_distance) {
  EXPECT_EQ(snp::mu_distance(topology("((A,(B)#H1),(C,#H1));"), topology("((A,B),C);")), 4);
  EXPECT_EQ(snp::mu_distance(topology("((A,B),C);"), topology("((A,C),B);")), 2);
  expect_invalid([] { snp::mu_distance(topology("(A,B);"), topology("(A,C);")); }, "species");
}

TEST(topology, displayed_trees_and_clusters) {
  const Network network = snp::parse_newick("((A,(B)#H1:::.3),(C,#H1:::.7));", {.theta = 1, .length = 1});
  const auto trees = snp::displayed_trees(network);
  ASSERT_EQ(trees.size(), 2u);
  EXPECT_EQ(trees[0].newick, snp::topology_key(topology("(A,(B,C));")));
  EXPECT_NEAR(trees[0].weight, 0.7, 1e-15);
  EXPECT_EQ(trees[1].newick, snp::topology_key(topology("((A,B),C);")));
  EXPECT_NEAR(trees[1].weight, 0.3, 1e-15);
  const auto clusters = snp::clusters(network);
  ASSERT_EQ(clusters.size(), 2u);
  EXPECT_EQ(clusters[0].leaves, (std::vector<std::string>{"B", "C"}));
  EXPECT_NEAR(clusters[0].weight, 0.7, 1e-15);
  EXPECT_EQ(clusters[1].leaves, (std::vector<std::string>{"A", "B"}));

  // A bubble displays one tree; a bubble at the root too.
  EXPECT_EQ(snp::displayed_trees(topology("(((A)#H1,#H1),B);")).size(), 1u);
  const auto at_root = snp::displayed_trees(topology("(((A,B))#H1,#H1);"));
  ASSERT_EQ(at_root.size(), 1u);
  EXPECT_EQ(at_root[0].newick, "(A,B);");
  EXPECT_NEAR(at_root[0].weight, 1, 1e-15);

  // Weights sum to 1, whatever the network.
  random_stream random(7);
  for (int i = 0; i < 50; ++i) {
    const Network any(test::random_network(random, 2 + i % 5, i % 6));
    double total = 0;
    for (const auto& tree : snp::displayed_trees(any)) total += tree.weight;
    EXPECT_NEAR(total, 1, 1e-12);
    for (const auto& cluster : snp::clusters(any)) EXPECT_LE(cluster.weight, 1 + 1e-12);
  }
}

TEST(topology, hybrid_events) {
  const Network network = snp::parse_newick("((A,(B)#H1:::.3),(C,#H1:::.7));", {.theta = 1, .length = 1});
  const auto events = snp::hybrid_events(network);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].hybrid, (std::vector<std::string>{"B"}));
  EXPECT_EQ(events[0].parents[0], (std::vector<std::string>{"A"}));
  EXPECT_EQ(events[0].parents[1], (std::vector<std::string>{"C"}));
  EXPECT_NEAR(events[0].gamma[0], 0.3, 1e-15);
  EXPECT_NEAR(events[0].gamma[1], 0.7, 1e-15);
  EXPECT_TRUE(snp::hybrid_events(topology("(A,B);")).empty());
}

TEST(topology, reduced_topology_and_bubbles) {
  EXPECT_EQ(snp::reduced_topology(topology("(((A)#H1,#H1),B);")), "(A,B);");
  EXPECT_EQ(snp::reduced_topology(topology("(((A,B))#H1,#H1);")), "(A,B);");
  // A bubble inside a bubble.
  EXPECT_EQ(snp::reduced_topology(topology("(((((A)#H1,#H1))#H2,#H2),B);")), "(A,B);");
  const Network plain = topology("((A,(B)#H1),(C,#H1));");
  EXPECT_EQ(snp::reduced_topology(plain), snp::topology_key(plain));
  EXPECT_EQ(snp::count_bubbles(plain), 0);
  EXPECT_EQ(snp::count_bubbles(topology("(((A)#H1,#H1),B);")), 1);
}

TEST(topology, level) {
  EXPECT_EQ(snp::level(topology("((A,B),C);")), 0);
  EXPECT_EQ(snp::level(topology("((A,(B)#H1),(C,#H1));")), 1);
  EXPECT_EQ(snp::level(topology("((((A)#H1,#H1),B),((C)#H2,(#H2,D)));")), 1);  // two blobs
  EXPECT_EQ(snp::level(topology("((A,((B)#H1)#H2),((C,#H1),#H2));")), 2);
}

}  // namespace
}  // namespace quintet
