// Which nodes lie on every way from the root down to a node: the dominators of a network.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "quintet/snp/network/network_state.hpp"

namespace quintet::snp {

/// Node numbers of a state, every one after its children: leaves, then the others by height. O(nodes log nodes).
std::vector<std::int32_t> children_first(const network_state& state);

/// Of the nodes of one state. O(nodes^2) at most to make, mostly O(nodes).
class stable_ancestors {
 public:
  explicit stable_ancestors(const network_state& state);

  /// The lowest node that lies on every way from the root to each of these leaves; of a tree their most recent common
  /// ancestor. At least one leaf. O(leaves nodes).
  std::int32_t lowest_above(std::span<const std::int32_t> leaves) const;

 private:
  std::int32_t common(std::int32_t a, std::int32_t b) const;

  std::vector<std::int32_t> above_, depth_;  // the next dominator of every node, and how many it has
};

}  // namespace quintet::snp
