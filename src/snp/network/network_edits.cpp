#include "snp/network/network_edits.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "snp/network/numbers.hpp"

namespace quintet::snp {

namespace {

// Edges that come and go; edge b of the network is edge b here as long as it stays.
struct edge_list {
  network_description text;
  std::vector<char> is_gone, is_touched;

  explicit edge_list(const Network& network) : text{.names = {}, .edges = {}, .root_theta = network.root_theta()} {
    for (std::int64_t x = 0; x < network.nodes(); ++x) text.names.push_back(network.name(x));
    for (std::int64_t b = 0; b < network.branches(); ++b) {
      const branch& each = network.branch(b);
      text.edges.push_back({each.parent, each.child, each.length, each.theta, each.gamma});
    }
    is_gone.assign(text.edges.size(), 0);
    is_touched = is_gone;
  }

  network_edge& edge(std::int64_t b) { return text.edges[at(b)]; }
  std::int64_t add_node() {
    text.names.emplace_back();
    return std::int64_t(text.names.size()) - 1;
  }
  void add_edge(const network_edge& edge) {
    text.edges.push_back(edge);
    is_gone.push_back(0);
    is_touched.push_back(1);
  }
  void remove(std::int64_t b) { is_gone[at(b)] = 1; }
  void touch(std::int64_t b) { is_touched[at(b)] = 1; }

  // A node in the middle of edge b, which keeps its lower half.
  void split(std::int64_t b, std::int64_t node) {
    network_edge& lower = edge(b);
    network_edge upper = lower;
    lower.length /= 2;
    upper.length = lower.length;
    upper.child = node;
    upper.gamma = 1;
    lower.parent = node;
    touch(b);
    add_edge(upper);
  }
  // The edge below a node with one parent and one child becomes both; one below a root with one child goes away.
  void suppress(std::int64_t node) {
    std::int64_t above = -1, below = -1;
    for (std::int64_t b = 0; b < std::int64_t(text.edges.size()); ++b) {
      if (is_gone[at(b)] != 0) continue;
      if (edge(b).child == node) above = b;
      if (edge(b).parent == node) below = b;
    }
    if (above < 0) return remove(below);
    edge(below).parent = edge(above).parent;
    edge(below).length += edge(above).length;
    touch(below);
    remove(above);
  }

  edited_network finish() const {
    network_description result{.names = {}, .edges = {}, .root_theta = text.root_theta};
    std::vector<std::int64_t> number(text.names.size(), -1);
    for (std::size_t b = 0; b < text.edges.size(); ++b)
      if (is_gone[b] == 0) number[at(text.edges[b].child)] = number[at(text.edges[b].parent)] = 0;
    for (std::size_t x = 0; x < number.size(); ++x) {
      if (number[x] < 0) continue;
      number[x] = std::int64_t(result.names.size());
      result.names.push_back(text.names[x]);
    }
    std::vector<char> touched;
    for (std::size_t b = 0; b < text.edges.size(); ++b) {
      if (is_gone[b] != 0) continue;
      network_edge edge = text.edges[b];
      edge.parent = number[at(edge.parent)];
      edge.child = number[at(edge.child)];
      result.edges.push_back(edge);
      touched.push_back(is_touched[b]);
    }
    return {Network(std::move(result)), std::move(touched)};
  }
};

bool is_at_or_below(const Network& network, std::int64_t node, std::int64_t top) {
  if (node == top) return true;
  const auto up = network.parent_branches(node);
  return std::any_of(up.begin(), up.end(),
                     [&](std::int64_t b) { return is_at_or_below(network, network.branch(b).parent, top); });
}

std::int64_t sister_of(const Network& network, std::int64_t b) {
  const auto both = network.child_branches(network.branch(b).parent);
  return both[0] == b ? both[1] : both[0];
}

bool has_bubble(const Network& network) {
  const auto nodes = network.reticulations();
  return std::any_of(nodes.begin(), nodes.end(), [&](std::int64_t node) {
    const auto up = network.parent_branches(node);
    return network.branch(up[0]).parent == network.branch(up[1]).parent;
  });
}

// Child branches of a node, those of the root's other child in place of a branch of the root.
void add_child_branches(const Network& network, std::int64_t node, std::int64_t without,
                        std::vector<std::int64_t>& to) {
  for (const std::int64_t b : network.child_branches(node))
    if (b != without) to.push_back(b);
}

std::vector<std::int64_t> places_beyond(const Network& network, std::int64_t b) {
  std::vector<std::int64_t> places;
  const std::int64_t node = network.branch(b).parent;
  add_child_branches(network, network.branch(sister_of(network, b)).child, -1, places);
  const std::int64_t above = network.parent_branches(node)[0], upper = network.branch(above).parent;
  if (upper == network.root()) {
    add_child_branches(network, network.branch(sister_of(network, above)).child, -1, places);
  } else {
    for (const std::int64_t up : network.parent_branches(upper)) places.push_back(up);
    add_child_branches(network, upper, above, places);
  }
  return places;
}

}  // namespace

std::optional<edited_network> moved_tail(const Network& network, std::int64_t b, std::int64_t target) {
  const branch moving = network.branch(b), place = network.branch(target);
  if (network.kind(moving.parent) != node_kind::tree || place.parent == moving.parent || place.child == moving.parent ||
      is_at_or_below(network, place.parent, moving.child))
    return {};
  edge_list edges(network);
  edges.touch(b);
  edges.edge(b).parent = -1;
  edges.suppress(moving.parent);
  edges.edge(b).parent = moving.parent;
  edges.split(target, moving.parent);
  edited_network result = edges.finish();
  if (has_bubble(result.network)) return {};
  return result;
}

std::vector<edited_network> neighbour_interchanges(const Network& network) {
  std::vector<edited_network> all;
  for (std::int64_t b = 0; b < network.branches(); ++b) {
    if (network.kind(network.branch(b).parent) != node_kind::tree) continue;
    for (const std::int64_t target : places_beyond(network, b))
      if (auto edited = moved_tail(network, b, target)) all.push_back(*std::move(edited));
  }
  return all;
}

std::optional<edited_network> with_reticulation(const Network& network, std::int64_t hybrid, std::int64_t donor,
                                                double length, double gamma) {
  const branch taker = network.branch(hybrid), giver = network.branch(donor);
  if (hybrid == donor || is_at_or_below(network, giver.child, taker.child)) return {};
  edge_list edges(network);
  const std::int64_t reticulation = edges.add_node(), source = edges.add_node();
  edges.split(hybrid, reticulation);
  edges.split(donor, source);
  // The upper half of the hybrid's branch is the one before the last.
  network_edge& upper = edges.text.edges[edges.text.edges.size() - 2];
  upper.gamma = 1 - gamma;
  edges.add_edge({source, reticulation, length, network.root_theta(), gamma});
  return edges.finish();
}

std::optional<Network> without_parent_branch(const Network& network, std::int64_t b) {
  const branch lost = network.branch(b);
  if (network.kind(lost.parent) == node_kind::reticulation) return {};
  const auto up = network.parent_branches(lost.child);
  const std::int64_t stays = up[0] == b ? up[1] : up[0];
  const bool is_bubble = network.branch(stays).parent == lost.parent;
  if (is_bubble) return {};
  if (lost.parent == network.root() && network.kind(network.branch(sister_of(network, b)).child) != node_kind::tree)
    return {};
  edge_list edges(network);
  edges.remove(b);
  edges.edge(stays).gamma = 1;
  edges.suppress(lost.parent);
  edges.suppress(lost.child);
  Network result = edges.finish().network;
  if (has_bubble(result)) return {};
  return result;
}

}  // namespace quintet::snp
