// Where the root of networks is that a search compares.
#pragma once

#include <string>
#include <vector>

#include "quintet/snp/network/network.hpp"
#include "quintet/snp/network/rooting.hpp"

namespace quintet::snp {

/// Whether the root can separate the outgroup from the others; an empty one is anywhere.
inline bool admits_outgroup(const Network& network, const std::vector<std::string>& outgroup, bool is_root_seen) {
  if (outgroup.empty()) return true;
  return is_root_seen ? is_rooted_at(network, outgroup) : rooted_at(network, outgroup).has_value();
}

/// The rooting that a result has.
inline Network with_asked_root(const Network& network, const std::vector<std::string>& outgroup, bool is_root_seen) {
  if (is_root_seen) return network;
  return outgroup.empty() ? least_rooting(network) : *rooted_at(network, outgroup);
}

}  // namespace quintet::snp
