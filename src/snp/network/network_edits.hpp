// Networks one edit away: a subtree on a neighbouring branch, a reticulation more or less. Leaves keep their nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "quintet/snp/network/network.hpp"

namespace quintet::snp {

/// A network, and the branches in it that the edit touched.
struct edited_network {
  Network network;
  std::vector<char> is_touched;  ///< by branch
};

/// The branch moves with its upper end to the target, at the middle. Nothing where its upper end is no tree node, the
/// target is below the branch or next to it, or parallel branches would come. O(nodes).
std::optional<edited_network> moved_tail(const Network& network, std::int64_t branch, std::int64_t target);

/// Every subtree on the branches at the other end of an inner branch next to it; the root counts as no node.
std::vector<edited_network> neighbour_interchanges(const Network& network);

/// A new reticulation at the middle of `hybrid`, whose second parent branch comes from the middle of `donor` and has
/// this length and gamma. Nothing where the donor is below the hybrid, or next to it. O(nodes).
std::optional<edited_network> with_reticulation(const Network& network, std::int64_t hybrid, std::int64_t donor,
                                                double length, double gamma);

/// Without a branch above a reticulation. Nothing where its upper end is a reticulation, or a leaf would come under
/// the root. O(nodes).
std::optional<Network> without_parent_branch(const Network& network, std::int64_t branch);

}  // namespace quintet::snp
