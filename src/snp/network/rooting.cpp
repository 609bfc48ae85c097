#include "quintet/snp/network/rooting.hpp"

#include <algorithm>

#include "quintet/snp/network/network_topology.hpp"
#include "snp/network/leaves_below.hpp"
#include "snp/network/numbers.hpp"

namespace quintet::snp {

namespace {

// A branch that may have the root, and the branches from the root down to its upper end.
struct root_place {
  std::int64_t branch;
  std::vector<std::int64_t> path;
};

// Below the two branches of the root, which are one place: it has the root already.
std::vector<root_place> other_root_places(const Network& network) {
  std::vector<root_place> places, open{{-1, {}}};
  while (!open.empty()) {
    const root_place place = std::move(open.back());
    open.pop_back();
    const std::int64_t node = place.branch < 0 ? network.root() : network.branch(place.branch).child;
    if (place.branch >= 0 && network.kind(node) != node_kind::tree) continue;  // nothing turns round below it
    for (const std::int64_t b : network.child_branches(node)) {
      root_place next{b, place.path};
      if (place.branch >= 0) next.path.push_back(place.branch);
      if (place.branch >= 0) places.push_back(next);
      open.push_back(std::move(next));
    }
  }
  std::sort(places.begin(), places.end(), [](const root_place& a, const root_place& b) { return a.branch < b.branch; });
  return places;
}

Network with_root_at(const Network& network, const root_place& place) {
  network_description d{.names = {}, .edges = {}, .root_theta = network.root_theta()};
  for (std::int64_t x = 0; x < network.nodes(); ++x) d.names.push_back(network.name(x));
  for (std::int64_t b = 0; b < network.branches(); ++b) {
    const branch& old = network.branch(b);
    d.edges.push_back({old.parent, old.child, old.length, old.theta, old.gamma});
  }
  // The two branches of the root: the first on the way becomes both, the other one is free for the new place.
  const auto of_root = network.child_branches(network.root());
  const std::int64_t first = place.path[0], second = of_root[0] == first ? of_root[1] : of_root[0];
  for (const std::int64_t b : place.path) std::swap(d.edges[at(b)].parent, d.edges[at(b)].child);
  const network_edge other = d.edges[at(second)];
  d.edges[at(first)] = {network.branch(first).child, other.child, d.edges[at(first)].length + other.length, other.theta,
                        other.gamma};
  network_edge& upper = d.edges[at(place.branch)];
  d.edges[at(second)] = {network.root(), upper.child, upper.length / 2, upper.theta, upper.gamma};
  upper = {network.root(), upper.parent, upper.length / 2, upper.theta, 1};
  return Network(std::move(d));
}

using name_list = std::vector<std::string>;

name_list checked_outgroup(const Network& network, std::span<const std::string> outgroup) {
  name_list names(outgroup.begin(), outgroup.end());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const auto species = network.species();
  for (const std::string& name : names)
    require_argument(std::find(species.begin(), species.end(), name) != species.end(), "outgroup", name,
                     "a species of the network");
  require_argument(!names.empty() && names.size() < species.size(), "size of outgroup", names.size(),
                   text("in [1, ", species.size() - 1, "]"));
  return names;
}

bool root_separates(const Network& network, const name_list& names) {
  const auto below = leaves_below(network);
  const auto branches = network.child_branches(network.root());
  return std::any_of(branches.begin(), branches.end(),
                     [&](std::int64_t b) { return below[at(network.branch(b).child)] == names; });
}

}  // namespace

std::vector<Network> rootings(const Network& network) {
  std::vector<Network> all{network};
  for (const root_place& place : other_root_places(network)) all.push_back(with_root_at(network, place));
  return all;
}

Network least_rooting(const Network& network) {
  std::vector<Network> all = rootings(network);
  std::vector<std::string> keys;
  for (const Network& rooted : all) keys.push_back(topology_key(rooted));
  return std::move(all[std::size_t(std::min_element(keys.begin(), keys.end()) - keys.begin())]);
}

std::string unrooted_key(const Network& network) { return topology_key(least_rooting(network)); }

std::optional<Network> rooted_at(const Network& network, std::span<const std::string> outgroup) {
  const name_list names = checked_outgroup(network, outgroup);
  for (Network& rooted : rootings(network))
    if (root_separates(rooted, names)) return std::move(rooted);
  return {};
}

bool is_rooted_at(const Network& network, std::span<const std::string> outgroup) {
  return root_separates(network, checked_outgroup(network, outgroup));
}

}  // namespace quintet::snp
