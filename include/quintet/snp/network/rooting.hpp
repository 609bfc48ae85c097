// The places that the root of a network may have.
//
// Where all thetas are equal, markers do not show the root, because mutation and drift are reversible and the frequency
// at the root is stationary. The root may lie on every branch that is reached from it without passing a reticulation
// downwards. The branches on the way turn round; those above reticulations keep their direction.
//
//   for (const auto& level : snp::search_networks(data).levels)
//     const auto rooted = snp::rooted_at(level.network, {"outgroup"});
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "quintet/snp/network/network.hpp"

namespace quintet::snp {

/// The network with its root on every branch that may have it, first as it is. The branch with the new root is halved,
/// the two at the old one become one with the theta of the second; nodes keep their numbers, and the root's theta
/// stays. O(nodes) each.
std::vector<Network> rootings(const Network& network);

/// The one of rootings() with the least topology_key(), the first of equal ones. O(nodes) keys.
Network least_rooting(const Network& network);

/// topology_key() of least_rooting(): two networks share it exactly when they are equal but for the place of the root.
std::string unrooted_key(const Network& network);

/// The first of rootings() with exactly these species below one branch of the root. Empty where the root cannot lie
/// there, as above a species below a reticulation. Throws InvalidArgument for no species, a name that is no species
/// of the network, and all of them. O(nodes^2).
std::optional<Network> rooted_at(const Network& network, std::span<const std::string> outgroup);

/// Whether the root separates these species from the others already; errors as of rooted_at(). O(nodes).
bool is_rooted_at(const Network& network, std::span<const std::string> outgroup);

}  // namespace quintet::snp
