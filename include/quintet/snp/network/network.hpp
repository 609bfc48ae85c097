// Phylogenetic networks for the multispecies network coalescent: a fixed rooted binary topology with parameters that
// change.
//
// A *branch* is an edge from a node up to a parent: a population of size theta > 0 that lasts a length t >= 0. A leaf
// (species) and a tree node have one parent branch. A reticulation has two, y and z, each with its t and theta and with
// the inheritance probabilities gamma_y + gamma_z = 1. Every lineage that reaches the reticulation from below goes up y
// with probability gamma_y. Above the root is a population of endless length and size root_theta. The units are those
// of the likelihood: two lineages of one branch merge with rate 2 / theta per unit of length.
//
// Lengths are free: ways from the root down to a node may have different lengths. Two parallel branches from a
// reticulation to one parent are allowed.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quintet/core/error.hpp"

namespace quintet::snp {

/// Kind of a node. A leaf has no child, one parent; a tree node two children, one parent; a reticulation one child, two
/// parents; the root two children, no parent.
enum class node_kind { leaf, tree, reticulation, root };

/// An invalid network. The text names the nodes; `reason()` says which rule is broken.
class NetworkError : public InvalidArgument {
 public:
  /// Rules of a network.
  enum class rule {
    empty,          ///< no nodes, or fewer than one edge
    node_index,     ///< an edge with an end that is no node
    cycle,          ///< a node that is its own ancestor
    root,           ///< no node without a parent, or several
    disconnected,   ///< parts that are not connected
    binary,         ///< another number of parents and children than a kind of node has
    length,         ///< a length that is missing, negative or not finite
    theta,          ///< a theta that is missing, not positive or not finite
    gamma,          ///< missing at a reticulation, outside [0, 1], not 1 elsewhere, or a sum that is not 1
    name,           ///< a leaf without a name, a name twice
    unknown_taxon,  ///< a species of the data that is no leaf, or the other way round
    syntax,         ///< text that is not extended Newick
  };
  /// `message` is the whole text.
  NetworkError(rule broken, const std::string& message) : InvalidArgument(message), broken_(broken) {}
  /// The rule that is broken.
  rule reason() const noexcept { return broken_; }

 private:
  rule broken_;
};

/// A number that was not given.
inline constexpr double unset = std::numeric_limits<double>::quiet_NaN();

/// An edge as it is written: nodes by number; `unset` where a number was not given.
struct network_edge {
  ///@{
  /// The ends.
  std::int64_t parent = -1, child = -1;
  ///@}
  double length = unset;  ///< >= 0, required
  double theta = unset;   ///< > 0, required
  double gamma = unset;   ///< in [0, 1]; at a reticulation one of the two may be missing, elsewhere 1 or missing
};

/// A network as it is written, before any check: nodes are 0 ... names.size() - 1.
struct network_description {
  std::vector<std::string> names;   ///< of every node; inner nodes may have an empty one, leaves not
  std::vector<network_edge> edges;  ///< at least one; edge b becomes branch b
  double root_theta = unset;        ///< > 0, required
};

/// Branch from `child` up to `parent`.
struct branch {
  ///@{
  /// Nodes.
  std::int64_t child, parent;
  ///@}
  ///@{
  /// Parameters: length >= 0, theta > 0, gamma in [0, 1]; gamma is 1 unless `child` is a reticulation.
  double length, theta, gamma;
  ///@}
};

/// A valid network with parameters that change. Members are O(1) unless they say so, and their references are valid as
/// long as the object. Members that take a node or a branch throw InvalidArgument if it does not exist; the others
/// throw only what they say.
class Network {
 public:
  /// Checks everything; nodes and branches keep the numbers of the description, the parent branches of a reticulation
  /// and the child branches of a node the order of its edges. Two gammas may miss the sum 1 by 1e-6; the second is then
  /// replaced by 1 - the first. Throws NetworkError. Time and memory O(nodes).
  explicit Network(network_description description);

  ///@{
  /// Counts; numbers count from 0.
  std::int64_t nodes() const { return static_cast<std::int64_t>(names_.size()); }
  std::int64_t branches() const { return static_cast<std::int64_t>(branches_.size()); }
  ///@}

  /// Kind of a node. This and all members that take a number throw InvalidArgument for one that does not exist.
  node_kind kind(std::int64_t node) const { return kinds_[checked_node(node)]; }
  /// Name of a node; may be empty unless it is a leaf.
  const std::string& name(std::int64_t node) const { return names_[checked_node(node)]; }
  /// Branches up from a node: none for the root, two for a reticulation, otherwise one.
  std::span<const std::int64_t> parent_branches(std::int64_t node) const { return parents_[checked_node(node)].span(); }
  /// Branches down from a node: none for a leaf, one for a reticulation, otherwise two.
  std::span<const std::int64_t> child_branches(std::int64_t node) const { return children_[checked_node(node)].span(); }
  /// Ends and parameters of branch b.
  const snp::branch& branch(std::int64_t b) const { return branches_[checked_branch(b)]; }

  /// The root's node.
  std::int64_t root() const { return root_; }
  /// Size of the population above the root, > 0.
  double root_theta() const { return root_theta_; }
  ///@{
  /// Nodes that are leaves, in ascending order; species() holds their names in the same order.
  std::span<const std::int64_t> leaves() const { return leaves_; }
  std::span<const std::string> species() const { return species_; }
  ///@}
  /// Nodes that are reticulations, in ascending order.
  std::span<const std::int64_t> reticulations() const { return reticulations_; }
  /// All nodes, every one after its children, the root last.
  std::span<const std::int64_t> children_first() const { return order_; }
  /// The node of this name, -1 without such a node. O(nodes).
  std::int64_t find(std::string_view name) const;
  /// "branch from node 3 "A" to node 5 above "B"", as far as there are names: for messages. O(nodes) at most.
  std::string describe_branch(std::int64_t b) const;

  ///@{
  /// Change a parameter. Throw NetworkError (length, theta, gamma) for values out of range and InvalidArgument for a
  /// branch that does not exist; nothing has changed then.
  void set_length(std::int64_t b, double length);
  void set_theta(std::int64_t b, double theta);
  void set_root_theta(double theta);
  ///@}
  /// Sets gamma in [0, 1] of a parent branch of a reticulation, and that of the other one to 1 - gamma. Throws as the
  /// other setters do, also if the branch is not a parent branch of a reticulation.
  void set_gamma(std::int64_t b, double gamma);

 private:
  // At most two numbers.
  struct pair {
    std::array<std::int64_t, 2> item{-1, -1};
    std::int64_t count = 0;
    std::span<const std::int64_t> span() const { return {item.data(), static_cast<std::size_t>(count)}; }
  };

  std::size_t checked_node(std::int64_t node) const;
  std::size_t checked_branch(std::int64_t b) const;
  void attach(const std::vector<network_edge>& edges);
  void find_root();
  void order_nodes();
  void classify();
  void check_names() const;
  void check_parameters(const std::vector<network_edge>& edges);
  void check_gammas();
  std::string describe_node(std::int64_t node) const;

  std::vector<std::string> names_;
  std::vector<node_kind> kinds_;
  std::vector<pair> parents_, children_;
  std::vector<snp::branch> branches_;
  std::vector<std::int64_t> order_, leaves_, reticulations_;
  std::vector<std::string> species_;
  std::int64_t root_ = -1;
  double root_theta_ = unset;
};

}  // namespace quintet::snp
