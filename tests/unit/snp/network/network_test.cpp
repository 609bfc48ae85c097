#include "quintet/snp/network/network.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "support/network_error.hpp"

namespace quintet {
namespace {

using snp::Network;
using snp::network_description;
using snp::node_kind;
using rule = snp::NetworkError::rule;
using test::expect_network_error;

// ((A, (B)H)x, (C, H)y)r: one reticulation.
network_description one_reticulation() {
  return {{"A", "B", "C", "H", "x", "y", "r"},
          {{4, 0, 0.5, 0.1},
           {3, 1, 0.4, 0.2},
           {4, 3, 0.1, 0.3, 0.6},
           {5, 2, 0.6, 0.4},
           {5, 3, 0.2, 0.5, 0.4},
           {6, 4, 0.3, 0.6},
           {6, 5, 0.2, 0.7}},
          0.8};
}

void expect_broken(network_description description, rule broken, const std::string& words) {
  expect_network_error([&] { Network{std::move(description)}; }, broken, words);
}

std::vector<std::int64_t> list(std::span<const std::int64_t> items) { return {items.begin(), items.end()}; }

TEST(network, topology_of_one_reticulation) {
  const Network n(one_reticulation());
  EXPECT_EQ(n.nodes(), 7);
  EXPECT_EQ(n.branches(), 7);
  EXPECT_EQ(n.root(), 6);
  EXPECT_EQ(n.root_theta(), 0.8);
  EXPECT_EQ(n.kind(0), node_kind::leaf);
  EXPECT_EQ(n.kind(3), node_kind::reticulation);
  EXPECT_EQ(n.kind(4), node_kind::tree);
  EXPECT_EQ(n.kind(6), node_kind::root);
  EXPECT_EQ(list(n.leaves()), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(list(n.reticulations()), (std::vector<std::int64_t>{3}));
  EXPECT_EQ((std::vector<std::string>(n.species().begin(), n.species().end())),
            (std::vector<std::string>{"A", "B", "C"}));
  EXPECT_EQ(list(n.parent_branches(3)), (std::vector<std::int64_t>{2, 4}));
  EXPECT_EQ(list(n.child_branches(3)), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(list(n.child_branches(6)), (std::vector<std::int64_t>{5, 6}));
  EXPECT_TRUE(n.parent_branches(6).empty());
  EXPECT_TRUE(n.child_branches(0).empty());
  EXPECT_EQ(n.branch(4).child, 3);
  EXPECT_EQ(n.branch(4).parent, 5);
  EXPECT_EQ(n.branch(4).length, 0.2);
  EXPECT_EQ(n.branch(4).theta, 0.5);
  EXPECT_EQ(n.branch(4).gamma, 0.4);
  EXPECT_EQ(n.branch(0).gamma, 1);
  EXPECT_EQ(n.find("y"), 5);
  EXPECT_EQ(n.find("z"), -1);
  EXPECT_EQ(n.find(""), -1);
}

TEST(network, every_node_comes_after_its_children) {
  const Network n(one_reticulation());
  std::vector<std::int64_t> place(7, -1);
  std::int64_t next = 0;
  for (const std::int64_t node : n.children_first()) place[std::size_t(node)] = next++;
  EXPECT_EQ(next, 7);
  EXPECT_EQ(n.children_first().back(), n.root());
  for (std::int64_t b = 0; b < n.branches(); ++b)
    EXPECT_LT(place[std::size_t(n.branch(b).child)], place[std::size_t(n.branch(b).parent)]);
}

TEST(network, parallel_branches_are_allowed) {
  const Network n(
      {{"A", "B", "H", "x", ""}, {{2, 0, 1, 1}, {3, 2, 1, 1, 0.3}, {3, 2, 2, 1, 0.7}, {4, 3, 1, 1}, {4, 1, 1, 1}}, 1});
  EXPECT_EQ(n.kind(2), node_kind::reticulation);
  EXPECT_EQ(list(n.child_branches(3)), (std::vector<std::int64_t>{1, 2}));
}

TEST(network, missing_gammas_are_filled_in) {
  network_description d = one_reticulation();
  d.edges[4].gamma = snp::unset;
  EXPECT_EQ(Network(d).branch(4).gamma, 1 - 0.6);
  d = one_reticulation();
  d.edges[2].gamma = snp::unset;
  EXPECT_EQ(Network(d).branch(2).gamma, 1 - 0.4);
}

TEST(network, gammas_of_few_digits_sum_to_one_exactly) {
  network_description d = one_reticulation();
  d.edges[2].gamma = 0.3333333;
  d.edges[4].gamma = 0.6666666;
  const Network n(d);
  EXPECT_EQ(n.branch(2).gamma, 0.3333333);
  EXPECT_EQ(n.branch(4).gamma, 1 - 0.3333333);
}

TEST(network, setters) {
  Network n(one_reticulation());
  n.set_length(0, 0);
  n.set_theta(0, 7);
  n.set_root_theta(9);
  EXPECT_EQ(n.branch(0).length, 0);
  EXPECT_EQ(n.branch(0).theta, 7);
  EXPECT_EQ(n.root_theta(), 9);
  n.set_gamma(4, 0.25);
  EXPECT_EQ(n.branch(4).gamma, 0.25);
  EXPECT_EQ(n.branch(2).gamma, 0.75);
  n.set_gamma(2, 1);
  EXPECT_EQ(n.branch(4).gamma, 0);
}

TEST(network, setters_check) {
  Network n(one_reticulation());
  for (const double bad : {-1e-300, snp::unset, std::numeric_limits<double>::infinity()})
    expect_network_error([&] { n.set_length(0, bad); }, rule::length, "length must be finite and >= 0");
  for (const double bad : {-1.0, 0.0, snp::unset, std::numeric_limits<double>::infinity()}) {
    expect_network_error([&] { n.set_theta(0, bad); }, rule::theta, "node 0 \"A\"");
    expect_network_error([&] { n.set_root_theta(bad); }, rule::theta, "root");
  }
  for (const double bad : {-0.1, 1.1, snp::unset})
    expect_network_error([&] { n.set_gamma(2, bad); }, rule::gamma, "gamma must be in [0, 1]");
  expect_network_error([&] { n.set_gamma(0, 0.5); }, rule::gamma, "only the two branches above a reticulation");
  expect_invalid([&] { n.set_length(7, 1); }, "branch must be in [0, 6] (branch=7)");
  expect_invalid([&] { n.set_theta(-1, 1); }, "branch must be");
  expect_invalid([&] { n.kind(7); }, "node must be in [0, 6] (node=7)");
  EXPECT_EQ(n.branch(0).length, 0.5);
  EXPECT_EQ(n.branch(2).gamma, 0.6);
}

TEST(network, broken_topologies_are_named) {
  expect_broken({{}, {}, 1}, rule::empty, "0 nodes");
  expect_broken({{"A"}, {}, 1}, rule::empty, "1 nodes, 0 edges");
  expect_broken({{"A", "r"}, {{1, 0, 1, 1}}, 1}, rule::binary, "node 1 \"r\" has 0 parents and 1 children");
  expect_broken({{"A", "B", "C", "r"}, {{3, 0, 1, 1}, {3, 1, 1, 1}, {3, 2, 1, 1}}, 1}, rule::binary,
                "node 3 \"r\" has more than two children");
  network_description d = one_reticulation();
  d.edges[0].child = 7;
  expect_broken(d, rule::node_index, "edge 0 has an end at node 7; nodes are 0 ... 6");
  d = one_reticulation();
  d.edges.push_back({6, 3, 1, 1});
  expect_broken(d, rule::binary, "node 3 \"H\" has more than two parents");
  d = one_reticulation();
  d.names.push_back("D");
  expect_broken(d, rule::disconnected, "node 7 \"D\" is connected with nothing");
  d.names.push_back("E");
  d.names.push_back("s");
  d.edges.push_back({9, 7, 1, 1});
  d.edges.push_back({9, 8, 1, 1});
  expect_broken(d, rule::root, "two roots, node 6 \"r\" and node 9 \"s\"");
}

TEST(network, cycles_are_named) {
  // x -> y -> x above the leaves, no node without a parent.
  expect_broken({{"A", "x", "y"}, {{1, 0, 1, 1}, {2, 1, 1, 1}, {1, 2, 1, 1}}, 1}, rule::root, "cycle");
  // A root with one good side; p and q are each other's parents.
  expect_broken(
      {{"A", "B", "p", "q", "r"}, {{4, 0, 1, 1}, {4, 2, 1, 1, 0.5}, {2, 3, 1, 1}, {3, 2, 1, 1, 0.5}, {3, 1, 1, 1}}, 1},
      rule::cycle, "is its own ancestor");
  expect_broken({{"A", "x", "r"}, {{2, 0, 1, 1}, {2, 1, 1, 1}, {1, 1, 1, 1}}, 1}, rule::cycle, "node 1 \"x\"");
}

TEST(network, broken_names_are_named) {
  network_description d = one_reticulation();
  d.names[1] = "";
  expect_broken(d, rule::name, "leaf node 1 has no name");
  d.names[1] = "A";
  expect_broken(d, rule::name, "\"A\" belongs to two nodes, 0 and 1");
  d = one_reticulation();
  d.names[4] = d.names[5] = d.names[6] = "";
  EXPECT_EQ(Network(d).nodes(), 7);
}

TEST(network, broken_parameters_are_named) {
  const auto with = [](auto change) {
    network_description d = one_reticulation();
    change(d);
    return d;
  };
  expect_broken(with([](auto& d) { d.edges[3].length = snp::unset; }), rule::length,
                "branch from node 2 \"C\" to node 5 \"y\" has no length");
  expect_broken(with([](auto& d) { d.edges[3].length = -0.5; }), rule::length, "length=-0.5");
  expect_broken(with([](auto& d) { d.edges[3].theta = snp::unset; }), rule::theta, "has no theta");
  expect_broken(with([](auto& d) { d.edges[3].theta = 0; }), rule::theta, "theta=0");
  expect_broken(with([](auto& d) { d.root_theta = snp::unset; }), rule::theta, "the root has no theta");
  expect_broken(with([](auto& d) { d.root_theta = -2; }), rule::theta, "root_theta=-2");
  expect_broken(with([](auto& d) { d.edges[2].gamma = 0.5; }), rule::gamma, "must sum to 1 (0.5 + 0.4 = 0.9)");
  expect_broken(with([](auto& d) { d.edges[2].gamma = d.edges[4].gamma = snp::unset; }), rule::gamma,
                "reticulation node 3 \"H\" has no gamma");
  expect_broken(with([](auto& d) { d.edges[2].gamma = 1.5; }), rule::gamma, "gamma=1.5");
  expect_broken(with([](auto& d) { d.edges[0].gamma = 0.5; }), rule::gamma, "only the two branches above");
}

}  // namespace
}  // namespace quintet
