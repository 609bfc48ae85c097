// The bare topology of a network: what canonical forms, distances and displayed trees are computed from.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "quintet/snp/network/network.hpp"

namespace quintet::snp {

/// A node with its neighbours; a neighbour comes twice when two branches lead to it.
struct graph_node {
  std::array<std::int32_t, 2> parent{-1, -1}, child{-1, -1};
  std::int32_t parents = 0, children = 0;
};

/// Nodes in any order. Leaves are the nodes without children.
struct network_graph {
  std::vector<graph_node> nodes;
  std::vector<std::string> names;  ///< of the leaves by node; "" for other nodes
  std::int32_t root = 0;

  std::int32_t size() const { return static_cast<std::int32_t>(nodes.size()); }
  graph_node& node(std::int32_t x) { return nodes[static_cast<std::size_t>(x)]; }
  const graph_node& node(std::int32_t x) const { return nodes[static_cast<std::size_t>(x)]; }
  const std::string& name(std::int32_t x) const { return names[static_cast<std::size_t>(x)]; }

  void connect(std::int32_t parent_node, std::int32_t child_node);
  /// Takes away one of the branches between them.
  void disconnect(std::int32_t parent_node, std::int32_t child_node);
  /// Joins the only parent and the only child of x, which stays as a node without neighbours.
  void suppress(std::int32_t x);
};

/// Nodes keep their numbers.
network_graph graph_of(const Network& network);

/// Numbers 0 ... nodes - 1 for the nodes of a graph: leaves by name, then the root, tree nodes, reticulations.
struct canonical_form {
  std::vector<std::int32_t> number;                             ///< of every node
  std::vector<std::pair<std::int32_t, std::int32_t>> branches;  ///< sorted (child, parent), by these numbers
};
/// Of two numberings with the same branches, whether the first is to be kept; empty: any.
using numbering_order = std::function<bool(std::span<const std::int32_t>, std::span<const std::int32_t>)>;

/// Equal `branches` and names exactly for isomorphic graphs. Colours (leaf: name; others: number of parents) are
/// refined by those of children and parents until nothing changes; while nodes share a colour, each member of the first
/// such class is told apart in turn, and the least list of branches is kept. `names` holds the leaves' names by node.
canonical_form canonise(const network_graph& graph, std::span<const std::int32_t> rank_of_leaf,
                        const numbering_order& order = {});
/// By node, the place of a leaf's name in their sorted list; -1 for inner nodes.
std::vector<std::int32_t> ranks_of_leaves(std::span<const std::string> names);

/// Extended Newick without lengths, children in the order of their numbers; nodes without neighbours do not count.
/// `names` are those of the leaves by node.
std::string newick_of(const network_graph& graph, std::span<const std::string> names,
                      std::span<const std::int32_t> number);
/// canonise() and newick_of() of what hangs together with the root.
std::string key_of(const network_graph& graph);

/// The most reticulations in one biconnected component.
std::int64_t level_of(const network_graph& graph);

}  // namespace quintet::snp
