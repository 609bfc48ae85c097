#include "snp/network/stable_ancestors.hpp"

#include <algorithm>
#include <numeric>

#include "snp/network/numbers.hpp"

namespace quintet::snp {

std::vector<std::int32_t> children_first(const network_state& state) {
  std::vector<std::int32_t> order(state.nodes.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin() + state.leaves(), order.end(),
            [&](std::int32_t a, std::int32_t b) { return state.node(a).height < state.node(b).height; });
  return order;
}

stable_ancestors::stable_ancestors(const network_state& state)
    : above_(state.nodes.size(), state_node::none), depth_(state.nodes.size(), 0) {
  const std::vector<std::int32_t> order = children_first(state);
  for (auto x = order.rbegin(); x != order.rend(); ++x) {
    const state_node& node = state.node(*x);
    if (*x == state.root) continue;
    above_[at(*x)] = node.parents == 2 ? common(node.parent[0], node.parent[1]) : node.parent[0];
    depth_[at(*x)] = depth_[at(above_[at(*x)])] + 1;
  }
}

std::int32_t stable_ancestors::common(std::int32_t a, std::int32_t b) const {
  while (a != b) {
    std::int32_t& lower = depth_[at(a)] >= depth_[at(b)] ? a : b;
    lower = above_[at(lower)];
  }
  return a;
}

std::int32_t stable_ancestors::lowest_above(std::span<const std::int32_t> leaves) const {
  std::int32_t node = leaves[0];
  for (const std::int32_t leaf : leaves) node = common(node, leaf);
  return node;
}

}  // namespace quintet::snp
