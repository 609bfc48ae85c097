// The part of a network that some of its species see.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "quintet/snp/network/network.hpp"

namespace quintet::snp {

/// Branches that meet at a node without another way become one, which needs one theta for all branches. `branches` has
/// those of the whole network that make up each one, from below; what is above the last node that all species share is
/// left out.
struct restricted_network {
  Network network;                                  ///< leaf i is the i-th that was asked for
  std::vector<std::vector<std::int64_t>> branches;  ///< of the whole network, by branch; their lengths add up
};

/// The network of these leaves, at least two. O(nodes).
restricted_network restrict_network(const Network& network, std::span<const std::int64_t> leaves);

/// Three leaves without a reticulation: the three ways from the middle to the leaves, wherever the root is. Markers do
/// not show it with one theta and mutation on all branches.
restricted_network star_of(const restricted_network& tree);

}  // namespace quintet::snp
