// Topologies of networks: equality, distance, displayed trees.
//
// Two networks have the same topology (are isomorphic) when a bijection of their nodes keeps the names of the leaves
// and the branches, parallel ones with their number. Lengths, thetas and gammas do not matter, nor do names of inner
// nodes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "quintet/snp/network/network.hpp"

namespace quintet::snp {

/// Extended Newick without lengths in canonical order: equal for two networks exactly when they are isomorphic.
/// Reads back with parse_topology(). Colour refinement with individualisation; about O(nodes^2) for networks without
/// large symmetries.
std::string topology_key(const Network& network);
/// Whether the keys are equal.
bool is_isomorphic(const Network& a, const Network& b);
/// A network with this topology: lengths and thetas 1, gammas 1/2. Throws as parse_newick(). O(nodes).
Network parse_topology(const std::string& key);

/// mu(x) of Cardona, Rossello and Valiente (2009): how many paths lead from x to every leaf. Returns the size of the
/// symmetric difference of the multisets of mu over the inner nodes. 0 does not prove that two networks are isomorphic.
/// Throws InvalidArgument for other species, or more than 2^62 paths. O(nodes x leaves).
std::int64_t mu_distance(const Network& a, const Network& b);

/// A tree that a network displays, and how likely a lineage of every reticulation takes its branches.
struct displayed_tree {
  std::string newick;  ///< without lengths, children in canonical order
  double weight;       ///< product of the gammas of the branches that were kept
};
/// One parent branch of every reticulation is kept, parts without leaves are pruned, and nodes with one child are
/// suppressed. Equal trees are added up; sorted by falling weight, then by text. Throws InvalidArgument for more than
/// 20 reticulations. O(2^r nodes).
std::vector<displayed_tree> displayed_trees(const Network& network);

/// Leaves below a node of a displayed tree, sorted names; and the sum of the weights of the trees that have it.
struct cluster_weight {
  std::vector<std::string> leaves;  ///< sorted; clusters of one leaf or of all are left out
  double weight;                    ///< in (0, 1]
};
/// Sorted by falling weight, then by names. Errors and cost as of displayed_trees().
std::vector<cluster_weight> clusters(const Network& network);

/// A reticulation in a form that can be compared between topologies: the hybrid and its parents.
struct hybrid_event {
  std::vector<std::string> hybrid;                  ///< leaves below the reticulation, sorted
  std::array<std::vector<std::string>, 2> parents;  ///< leaves below the sister of each parent branch, sorted lists
  std::array<double, 2> gamma;                      ///< of the two parent branches
};
/// One for every reticulation, parents in lexicographic order (equal ones: larger gamma first), the list sorted. If a
/// parent branch ends at a reticulation, its sister is that of the first branch upwards (by larger gamma, then by
/// canonical number) that ends at a tree node. A bubble has the hybrid's leaves on both sides. O(r nodes).
std::vector<hybrid_event> hybrid_events(const Network& network);

/// The topology without bubbles: one branch is removed from every bubble and its ends are suppressed, until no bubble
/// remains. Text as topology_key(); for a network of bubbles at the root above a tree, that of the tree. O(r nodes^2).
std::string reduced_topology(const Network& network);
/// Number of bubbles: reticulations with parent branches that end at one node. O(nodes).
std::int64_t count_bubbles(const Network& network);
/// The most reticulations in one biconnected component. O(nodes).
std::int64_t level(const Network& network);

}  // namespace quintet::snp
