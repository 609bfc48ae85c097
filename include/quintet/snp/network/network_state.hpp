// A point of the space of inference of species networks. It is a binary network with a height for every node, an origin
// above the root, a theta for every branch, inheritance probabilities, and the rates of the models.
//
// All leaves have height 0, and every inner node is higher than its children. Above the root the *root branch* leads to
// the origin at height `origin` > height of the root. With n species and r reticulations there are n - 1 + r nodes with
// two children (the root is one of them), r reticulations, and 2n - 1 + 3r branches, the root branch included.
//
// A branch belongs to the node below it: branch b is the parent branch `b & 1` of node `b >> 1`. Its theta, and at a
// reticulation its gamma, are stored there. So if a node is put on a branch, the branch's record stays with the lower
// part, and if a node is taken out, the lower record stays. Moves rely on this to undo each other.
//
// The length of a branch is always the difference of two heights; nothing is added up. Heights are expected mutations a
// site, because 2uv = u + v: the rates are u = 1 / (2 pi1) and v = 1 / (2 (1 - pi1)), and pi1 is the frequency of
// allele 1.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "quintet/snp/network/model.hpp"
#include "quintet/snp/network/network.hpp"

namespace quintet::snp {

/// Whether all branches share one theta, or every one has its own.
enum class theta_mode {
  common,  ///< network_state::common_theta, on every branch and above the root
  each,    ///< state_node::theta
};

/// A node with its parent branches.
struct state_node {
  /// No node, no branch; as a parent: the origin.
  static constexpr std::int32_t none = -1;

  double height = 0;                               ///< 0 for leaves, above its children's for all others
  std::array<double, 2> theta{unset, unset};       ///< of the parent branches, > 0; not looked at in theta_mode::common
  std::array<double, 2> gamma{1, 1};               ///< of the parent branches: in (0, 1), sum 1; without a second: 1
  std::array<std::int32_t, 2> parent{none, none};  ///< nodes; none and one parent: this is the root
  std::array<std::int32_t, 2> child{none, none};   ///< branches down from here
  std::int32_t parents = 1;                        ///< 2: a reticulation
  std::int32_t children = 0;                       ///< 0: a leaf, 1: a reticulation, 2: a tree node or the root
};

/// The sampled state. A plain value: copies are cheap (the names are shared), and assignment to a state of the same
/// species allocates nothing. Members are O(1) unless they say so and check nothing; see broken_rule().
struct network_state {
  /// Names of the leaves; node i < n is the leaf (*species)[i].
  std::shared_ptr<const std::vector<std::string>> species;
  std::vector<state_node> nodes;           ///< leaves first, then inner nodes in any order; no gaps
  std::int32_t root = 0;                   ///< the node below the root branch
  std::int32_t reticulations = 0;          ///< r
  theta_mode thetas = theta_mode::common;  ///< where the thetas are
  double origin = 0;                       ///< height where the root branch ends
  double common_theta = unset;             ///< theta_mode::common: of all branches
  double pi1 = 0.5;                        ///< stationary frequency of allele 1, in (0, 1)
  double netdiv = unset;                   ///< d = speciation rate - hybridization rate, where it is free
  double turnover = unset;                 ///< q = hybridization rate / speciation rate, where it is free
  double theta_mean = unset;               ///< m, the mean of the thetas, where it is free
  double clock = unset;                    ///< c, expected mutations a year, where it is free

  ///@{
  /// Counts; branches with the root branch, inner nodes with the root and the reticulations.
  std::int32_t leaves() const { return static_cast<std::int32_t>(species->size()); }
  std::int32_t inner_nodes() const { return static_cast<std::int32_t>(nodes.size()) - leaves(); }
  std::int32_t branches() const { return 2 * leaves() - 1 + 3 * reticulations; }
  ///@}
  /// Number of free thetas in this mode: 1 or branches().
  std::int32_t theta_count() const { return thetas == theta_mode::common ? 1 : branches(); }

  ///@{
  /// Node x, and what it is; a tree node has two children, and so has the root.
  const state_node& node(std::int32_t x) const { return nodes[static_cast<std::size_t>(x)]; }
  state_node& node(std::int32_t x) { return nodes[static_cast<std::size_t>(x)]; }
  bool is_leaf(std::int32_t x) const { return node(x).children == 0; }
  bool is_reticulation(std::int32_t x) const { return node(x).parents == 2; }
  bool is_tree_node(std::int32_t x) const { return node(x).children == 2; }
  ///@}

  ///@{
  /// The branch above the root, and parent branch `which` of node x.
  std::int32_t root_branch() const { return 2 * root; }
  static constexpr std::int32_t branch_of(std::int32_t x, std::int32_t parent = 0) { return 2 * x + parent; }
  ///@}
  ///@{
  /// Ends of branch b: nodes; state_node::none above the root branch.
  static constexpr std::int32_t bottom(std::int32_t b) { return b >> 1; }
  std::int32_t top(std::int32_t b) const { return node(b >> 1).parent[static_cast<std::size_t>(b & 1)]; }
  ///@}
  ///@{
  /// Heights of the ends of branch b, and their difference; the root branch ends at the origin.
  double bottom_height(std::int32_t b) const { return node(b >> 1).height; }
  double top_height(std::int32_t b) const { return top(b) == state_node::none ? origin : node(top(b)).height; }
  double length(std::int32_t b) const { return top_height(b) - bottom_height(b); }
  ///@}
  ///@{
  /// Theta of branch b, and gamma of a parent branch of a reticulation; 1 for all other branches.
  double theta(std::int32_t b) const {
    return thetas == theta_mode::common ? common_theta : node(b >> 1).theta[static_cast<std::size_t>(b & 1)];
  }
  double gamma(std::int32_t b) const { return node(b >> 1).gamma[static_cast<std::size_t>(b & 1)]; }
  ///@}
  /// The other parent branch of a reticulation.
  static constexpr std::int32_t sibling_parent_branch(std::int32_t b) { return b ^ 1; }
  /// The other child branch of the tree node above branch b.
  std::int32_t sister_branch(std::int32_t b) const {
    const state_node& above = node(top(b));
    return above.child[0] == b ? above.child[1] : above.child[0];
  }
  /// Both parent branches of x end at one node.
  bool is_bubble(std::int32_t x) const { return node(x).parents == 2 && node(x).parent[0] == node(x).parent[1]; }

  ///@{
  /// Rates of mutation.
  double u() const { return 1 / (2 * pi1); }
  double v() const { return 1 / (2 * (1 - pi1)); }
  ///@}
};

/// The state as numbers, and back: all of it but the names, bit for bit. The first number is that of the format.
/// state_from_numbers() throws InvalidArgument for numbers that are no state of these species. O(nodes).
std::vector<double> numbers_of(const network_state& state);
/// See numbers_of().
network_state state_from_numbers(std::shared_ptr<const std::vector<std::string>> species,
                                 std::span<const double> numbers);

/// The first fault of a state, with its node: kinds and links of nodes, h(parent) <= h(child), a theta that is not
/// finite and > 0, pi1 not in (0, 1). Also gammas that are not in (0, 1), or with a sum off by more than 1e-15. Empty:
/// no fault. O(nodes).
std::string broken_rule(const network_state& state);
/// The part of broken_rule() that proposals of the moves can break: order of heights, ranges of numbers. Fast.
bool is_in_range(const network_state& state);

/// The networks among which is sampled.
struct network_limits {
  std::int64_t max_reticulations = 2;  ///< R, 0 ... 1000
  std::int64_t max_level = -1;         ///< most reticulations in one biconnected component; -1: any
  bool bubbles = true;                 ///< whether both parent branches of a reticulation may end at one node
};
/// Whether a network belongs to the class. O(nodes).
bool is_allowed(const network_state& state, const network_limits& limits);

/// Parts of a state that a Network does not have.
struct state_options {
  double origin = unset;                 ///< above the root; unset: 1.5 times the height of the root
  theta_mode thetas = theta_mode::each;  ///< common: all thetas of the network must be equal
  double pi1 = 0.5;                      ///< in (0, 1)
  /// Ways of different length, as maximum likelihood finds them, are no error: a node is as high as its longer way, and
  /// branches become longer.
  bool may_stretch = false;
};
/// The state of a network. Its ways from a node down to the leaves must be equally long up to `1e-6` of the height of
/// the root, because numbers in a file are rounded. Heights are the means of the two ways. `species` assigns nodes to
/// leaves. Throws InvalidArgument: another set of species, ways of different length, an inner node not above its
/// children, gamma 0 or 1, options out of range, theta_mode::common with different thetas. O(nodes).
network_state state_of(const Network& network, std::shared_ptr<const std::vector<std::string>> species,
                       const state_options& options = {});

/// The canonical form of a state's topology: equal keys, and equal lists of branches, exactly for isomorphic networks.
struct canonical_numbering {
  std::vector<std::int32_t> node;  ///< number of every node of the state; leaves by name, then the others
  std::vector<std::int32_t>
      branch;       ///< by number of the branch in the state: that in the Network; -1: root branch, none
  std::string key;  ///< extended Newick without lengths, children in canonical order
};
/// If several numberings give the same list of branches, heights, gammas and thetas decide; of parallel branches the
/// one with the larger gamma comes first. So the result depends on the network alone, not on its history. Time about
/// O(nodes^2) for networks without large symmetries.
canonical_numbering number_canonically(const network_state& state);
///@{
/// The network in canonical numbering: equal topologies share the schedule of the likelihood, and the bits of a
/// likelihood depend on the state alone. The root's theta is that of the root branch; inner nodes have no names.
Network to_network(const network_state& state, const canonical_numbering& numbering);
Network to_network(const network_state& state);
///@}

}  // namespace quintet::snp
