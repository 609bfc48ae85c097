#include "quintet/snp/network/network_topology.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "quintet/snp/network/newick.hpp"
#include "snp/network/leaves_below.hpp"
#include "snp/network/network_graph.hpp"
#include "snp/network/numbers.hpp"

namespace quintet::snp {

namespace {

constexpr std::size_t max_reticulations = 20;

using name_set = std::vector<std::string>;

void require_few_reticulations(const Network& network) {
  if (network.reticulations().size() > max_reticulations)
    require_argument(false, "reticulations", network.reticulations().size(), text("at most ", max_reticulations));
}

// Takes away nodes below which there is no leaf, and suppresses those with one child.
void prune(network_graph& graph) {
  for (bool is_done = false; !is_done;) {
    is_done = true;
    for (std::int32_t x = 0; x < graph.size(); ++x) {
      const graph_node& node = graph.node(x);
      const bool is_dead = node.children == 0 && node.parents > 0 && graph.name(x).empty();
      const bool is_passed = node.children == 1 && (node.parents == 1 || x == graph.root);
      if (is_dead) {
        const std::array<std::int32_t, 2> parents = node.parent;
        for (std::int32_t i = node.parents; i-- > 0;) graph.disconnect(parents[at(i)], x);
      } else if (is_passed) {
        graph.suppress(x);
      } else {
        continue;
      }
      is_done = false;
    }
  }
}

struct choice {
  network_graph tree;
  double weight;
};

// Every choice of one parent branch a reticulation, in a fixed order, those of weight 0 left out.
template <class Visit>
void for_every_tree(const Network& network, const Visit& visit) {
  require_few_reticulations(network);
  const auto reticulations = network.reticulations();
  const network_graph whole = graph_of(network);
  for (std::uint32_t chosen = 0; chosen < 1u << reticulations.size(); ++chosen) {
    choice chosen_tree{whole, 1};
    for (std::size_t i = 0; i < reticulations.size(); ++i) {
      const auto up = network.parent_branches(reticulations[i]);
      const snp::branch& chosen_branch = network.branch(up[(chosen >> i) & 1]);
      const snp::branch& cut = network.branch(up[1 - ((chosen >> i) & 1)]);
      chosen_tree.weight *= chosen_branch.gamma;
      chosen_tree.tree.disconnect(static_cast<std::int32_t>(cut.parent), static_cast<std::int32_t>(cut.child));
    }
    if (chosen_tree.weight == 0) continue;
    prune(chosen_tree.tree);
    visit(chosen_tree);
  }
}

// Leaves below every node of a tree that hangs together with its root.
void collect_clusters(const network_graph& tree, std::int32_t x, std::set<name_set>& clusters, name_set& below) {
  if (tree.node(x).children == 0) below.push_back(tree.name(x));
  for (std::int32_t i = 0; i < tree.node(x).children; ++i) {
    name_set child;
    collect_clusters(tree, tree.node(x).child[at(i)], clusters, child);
    below.insert(below.end(), child.begin(), child.end());
  }
  std::sort(below.begin(), below.end());
  if (below.size() > 1 && x != tree.root) clusters.insert(below);
}

// The branch by which one goes on from a reticulation: larger gamma, then the first.
std::int64_t main_parent_branch(const Network& network, std::int64_t x) {
  const auto up = network.parent_branches(x);
  return up.size() == 2 && network.branch(up[1]).gamma > network.branch(up[0]).gamma ? up[1] : up[0];
}

std::int64_t sister_of(const Network& network, std::int64_t b) {
  while (network.kind(network.branch(b).parent) == node_kind::reticulation)
    b = main_parent_branch(network, network.branch(b).parent);
  const auto children = network.child_branches(network.branch(b).parent);
  return network.branch(children[0] == b ? children[1] : children[0]).child;
}

bool is_bubble(const graph_node& node) { return node.parents == 2 && node.parent[0] == node.parent[1]; }

std::vector<std::vector<std::int64_t>> path_vectors(const Network& network, const name_set& species) {
  std::vector<std::vector<std::int64_t>> paths(at(network.nodes()));
  for (const std::int64_t x : network.children_first()) {
    std::vector<std::int64_t>& own = paths[at(x)];
    own.assign(species.size(), 0);
    if (network.kind(x) == node_kind::leaf)
      own[at(std::lower_bound(species.begin(), species.end(), network.name(x)) - species.begin())] = 1;
    for (const std::int64_t b : network.child_branches(x))
      for (std::size_t i = 0; i < own.size(); ++i) {
        own[i] += paths[at(network.branch(b).child)][i];
        if (own[i] > std::int64_t{1} << 62) throw InvalidArgument("a network must have at most 2^62 paths to a leaf");
      }
  }
  std::vector<std::vector<std::int64_t>> inner;
  for (std::int64_t x = 0; x < network.nodes(); ++x)
    if (network.kind(x) != node_kind::leaf) inner.push_back(std::move(paths[at(x)]));
  std::sort(inner.begin(), inner.end());
  return inner;
}

}  // namespace

std::vector<name_set> leaves_below(const Network& network) {
  std::vector<name_set> below(at(network.nodes()));
  for (const std::int64_t x : network.children_first()) {
    name_set& own = below[at(x)];
    if (network.kind(x) == node_kind::leaf) own.push_back(network.name(x));
    for (const std::int64_t b : network.child_branches(x)) {
      const name_set& child = below[at(network.branch(b).child)];
      own.insert(own.end(), child.begin(), child.end());
    }
    std::sort(own.begin(), own.end());
    own.erase(std::unique(own.begin(), own.end()), own.end());
  }
  return below;
}

std::string topology_key(const Network& network) { return key_of(graph_of(network)); }

bool is_isomorphic(const Network& a, const Network& b) { return topology_key(a) == topology_key(b); }

Network parse_topology(const std::string& key) { return parse_newick(key, {.theta = 1, .length = 1, .gamma = 0.5}); }

std::int64_t mu_distance(const Network& a, const Network& b) {
  name_set species(a.species().begin(), a.species().end()), others(b.species().begin(), b.species().end());
  std::sort(species.begin(), species.end());
  std::sort(others.begin(), others.end());
  if (species != others) throw InvalidArgument("both networks must have the same species");
  const auto mu_a = path_vectors(a, species), mu_b = path_vectors(b, species);
  std::vector<std::vector<std::int64_t>> difference;
  std::set_symmetric_difference(mu_a.begin(), mu_a.end(), mu_b.begin(), mu_b.end(), std::back_inserter(difference));
  return static_cast<std::int64_t>(difference.size());
}

std::vector<displayed_tree> displayed_trees(const Network& network) {
  std::map<std::string, double> weights;
  for_every_tree(network, [&](const choice& chosen_tree) { weights[key_of(chosen_tree.tree)] += chosen_tree.weight; });
  std::vector<displayed_tree> trees;
  for (const auto& [newick, weight] : weights) trees.push_back({newick, weight});
  std::sort(trees.begin(), trees.end(), [](const displayed_tree& a, const displayed_tree& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.newick < b.newick;
  });
  return trees;
}

std::vector<cluster_weight> clusters(const Network& network) {
  std::map<name_set, double> weights;
  for_every_tree(network, [&](const choice& chosen_tree) {
    std::set<name_set> clusters;
    name_set all;
    collect_clusters(chosen_tree.tree, chosen_tree.tree.root, clusters, all);
    for (const name_set& cluster : clusters) weights[cluster] += chosen_tree.weight;
  });
  std::vector<cluster_weight> list;
  for (const auto& [leaves, weight] : weights) list.push_back({leaves, weight});
  std::sort(list.begin(), list.end(), [](const cluster_weight& a, const cluster_weight& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.leaves < b.leaves;
  });
  return list;
}

std::vector<hybrid_event> hybrid_events(const Network& network) {
  const std::vector<name_set> below = leaves_below(network);
  std::vector<hybrid_event> events;
  for (const std::int64_t x : network.reticulations()) {
    hybrid_event event{below[at(x)], {}, {}};
    for (std::size_t i = 0; i < 2; ++i) {
      const std::int64_t b = network.parent_branches(x)[i];
      event.parents[i] = below[at(sister_of(network, b))];
      event.gamma[i] = network.branch(b).gamma;
    }
    const bool is_swapped = event.parents[1] < event.parents[0] ||
                            (event.parents[0] == event.parents[1] && event.gamma[1] > event.gamma[0]);
    if (is_swapped) {
      std::swap(event.parents[0], event.parents[1]);
      std::swap(event.gamma[0], event.gamma[1]);
    }
    events.push_back(std::move(event));
  }
  std::sort(events.begin(), events.end(), [](const hybrid_event& a, const hybrid_event& b) {
    return std::tie(a.hybrid, a.parents, b.gamma) < std::tie(b.hybrid, b.parents, a.gamma);
  });
  return events;
}

std::string reduced_topology(const Network& network) {
  network_graph graph = graph_of(network);
  for (std::int32_t x = 0; x < graph.size();) {
    if (!is_bubble(graph.node(x))) {
      ++x;
      continue;
    }
    const std::int32_t above = graph.node(x).parent[0];
    graph.disconnect(above, x);
    graph.suppress(x);
    graph.suppress(above);
    x = 0;  // two ends of other branches may have met
  }
  return key_of(graph);
}

std::int64_t count_bubbles(const Network& network) {
  const network_graph graph = graph_of(network);
  return std::count_if(graph.nodes.begin(), graph.nodes.end(), is_bubble);
}

std::int64_t level(const Network& network) { return level_of(graph_of(network)); }

}  // namespace quintet::snp
