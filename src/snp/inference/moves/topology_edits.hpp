// What the moves of topology are made of. Records of branches stay with the lower parts; see network_state.hpp. Between
// two operations a state may have loose ends.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "quintet/snp/network/network_state.hpp"

namespace quintet::snp {

/// Every branch, the root branch included, in the order of the nodes.
inline std::vector<std::int32_t> all_branches(const network_state& state) {
  std::vector<std::int32_t> list;
  list.reserve(static_cast<std::size_t>(state.branches()));
  for (std::int32_t x = 0; x < static_cast<std::int32_t>(state.nodes.size()); ++x)
    for (std::int32_t i = 0; i < state.node(x).parents; ++i) list.push_back(network_state::branch_of(x, i));
  return list;
}

/// Branch `b` now ends at `top`; the children of `top` are not touched.
inline void set_top(network_state& state, std::int32_t b, std::int32_t top) {
  state.node(b >> 1).parent[static_cast<std::size_t>(b & 1)] = top;
}

/// `now` takes the place of `old` among the children of x; at the origin, as the root branch.
inline void replace_child(network_state& state, std::int32_t x, std::int32_t old, std::int32_t replacement) {
  if (x == state_node::none) {
    state.root = network_state::bottom(replacement);
    return;
  }
  auto& child = state.node(x).child;
  child[child[0] == old ? 0 : 1] = replacement;
}

/// Takes out the node above branch `lower`, the upper part of which is `upper`: `lower` ends where `upper` did. The
/// node keeps its other branch, the end of `upper` is loose.
inline void join_over(network_state& state, std::int32_t lower, std::int32_t upper) {
  const std::int32_t top = state.top(upper);
  replace_child(state, top, upper, lower);
  set_top(state, lower, top);
}

/// The opposite: the node below `upper`, whose end is loose, comes onto `branch`, as child number `place` of the node.
inline void put_on(network_state& state, std::int32_t branch, std::int32_t upper, std::size_t place) {
  const std::int32_t top = state.top(branch), x = network_state::bottom(upper);
  replace_child(state, top, branch, upper);
  set_top(state, upper, top);
  set_top(state, branch, x);
  state.node(x).child[place] = branch;
}

/// Takes nodes that nothing leads to any more out of the list; the last ones get their numbers.
inline void erase_nodes(network_state& state, std::int32_t a, std::int32_t b) {
  for (const std::int32_t gap : {std::max(a, b), std::min(a, b)}) {
    const auto last = static_cast<std::int32_t>(state.nodes.size()) - 1;
    if (gap != last) {
      state.node(gap) = state.node(last);
      const state_node& moved = state.node(gap);
      for (std::int32_t i = 0; i < moved.parents; ++i)
        replace_child(state, moved.parent[static_cast<std::size_t>(i)], network_state::branch_of(last, i),
                      network_state::branch_of(gap, i));
      for (std::int32_t i = 0; i < moved.children; ++i) set_top(state, moved.child[static_cast<std::size_t>(i)], gap);
    }
    state.nodes.pop_back();
  }
}

/// The heights between which node x can be without a change of topology.
struct height_range {
  double low, high;
};
inline height_range range_of(const network_state& state, std::int32_t x) {
  const state_node& node = state.node(x);
  height_range range{0, state.top_height(network_state::branch_of(x, 0))};
  if (node.parents == 2) range.high = std::min(range.high, state.top_height(network_state::branch_of(x, 1)));
  for (std::int32_t i = 0; i < node.children; ++i)
    range.low = std::max(range.low, state.bottom_height(node.child[static_cast<std::size_t>(i)]));
  return range;
}

/// The reticulation that comes after `which` others in the list of nodes.
inline std::int32_t reticulation_number(const network_state& state, std::int32_t chosen) {
  for (std::int32_t x = state.leaves();; ++x)
    if (state.is_reticulation(x) && chosen-- == 0) return x;
}

}  // namespace quintet::snp
