#include "snp/likelihood/restriction.hpp"

#include <string>
#include <utility>

#include "snp/network/numbers.hpp"

namespace quintet::snp {

namespace {

// Which nodes have one of the leaves below, and how many ways lead down to them.
struct kept_part {
  std::vector<std::int64_t> ways;  // child branches that are kept; a leaf that was asked for has one
  std::int64_t root;

  bool is_passed(const Network& network, std::int64_t node) const {
    return node != root && ways[at(node)] == 1 && network.parent_branches(node).size() == 1;
  }
};

kept_part kept_of(const Network& network, std::span<const std::int64_t> leaves) {
  kept_part outline{std::vector<std::int64_t>(at(network.nodes()), 0), network.root()};
  for (const std::int64_t leaf : leaves) outline.ways[at(leaf)] = 1;
  for (const std::int64_t node : network.children_first())
    for (const std::int64_t b : network.child_branches(node))
      outline.ways[at(node)] += outline.ways[at(network.branch(b).child)] > 0 ? 1 : 0;
  while (outline.ways[at(outline.root)] == 1) {
    for (const std::int64_t b : network.child_branches(outline.root)) {
      const std::int64_t child = network.branch(b).child;
      if (outline.ways[at(child)] == 0) continue;
      outline.root = child;
      break;
    }
  }
  return outline;
}

}  // namespace

restricted_network restrict_network(const Network& network, std::span<const std::int64_t> leaves) {
  const kept_part outline = kept_of(network, leaves);
  std::vector<std::int64_t> number(at(network.nodes()), -1), order;
  const auto number_of = [&](std::int64_t node) {
    if (number[at(node)] < 0) {
      number[at(node)] = std::int64_t(order.size());
      order.push_back(node);
    }
    return number[at(node)];
  };
  network_description part{.names = {}, .edges = {}, .root_theta = network.root_theta()};
  std::vector<std::vector<std::int64_t>> branches;
  for (const std::int64_t leaf : leaves) number_of(leaf);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::int64_t node = order[i];
    part.names.push_back(i < leaves.size() ? network.name(node) : std::string());
    if (node == outline.root) continue;
    for (const std::int64_t lowest : network.parent_branches(node)) {
      std::vector<std::int64_t> chain{lowest};
      double length = network.branch(lowest).length;
      while (outline.is_passed(network, network.branch(chain.back()).parent)) {
        chain.push_back(network.parent_branches(network.branch(chain.back()).parent)[0]);
        length += network.branch(chain.back()).length;
      }
      part.edges.push_back({number_of(network.branch(chain.back()).parent), std::int64_t(i), length,
                            network.branch(lowest).theta, network.branch(lowest).gamma});
      branches.push_back(std::move(chain));
    }
  }
  return {Network(std::move(part)), std::move(branches)};
}

restricted_network star_of(const restricted_network& tree) {
  const Network& network = tree.network;
  std::int64_t outer = -1, inner_branch = -1;  // the leaf below the root, and the branch to the other two
  for (const std::int64_t b : network.child_branches(network.root())) {
    const std::int64_t child = network.branch(b).child;
    (network.kind(child) == node_kind::leaf ? outer : inner_branch) =
        network.kind(child) == node_kind::leaf ? child : b;
  }
  std::vector<std::vector<std::int64_t>> branches(4);
  network_description star{.names = {}, .edges = {}, .root_theta = network.root_theta()};
  star.names = {network.name(0), network.name(1), network.name(2), "", ""};
  const double theta = network.root_theta();
  for (std::int64_t leaf = 0; leaf < 3; ++leaf) {
    const std::int64_t own = network.parent_branches(leaf)[0];
    double length = network.branch(own).length;
    branches[at(leaf)] = tree.branches[at(own)];
    if (leaf == outer) {
      length += network.branch(inner_branch).length;
      const auto& upper = tree.branches[at(inner_branch)];
      branches[at(leaf)].insert(branches[at(leaf)].end(), upper.begin(), upper.end());
    }
    star.edges.push_back({leaf < 2 ? 3 : 4, leaf, length, theta, 1});
  }
  star.edges.push_back({4, 3, 0, theta, 1});
  return {Network(std::move(star)), std::move(branches)};
}

}  // namespace quintet::snp
