// Chances of lineage numbers on a network, and what a truncation drops of them: sparse tables in long double, with the
// death process of every number of lineages by a single Poisson sum. Shares nothing with the library but the network.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "quintet/snp/network/network.hpp"

namespace quintet::reference {

/// By (n1, ..., nK) of a group of open branches.
using lineage_chances = std::map<std::vector<int>, long double>;

struct lineage_truncation {
  std::vector<lineage_chances> kept;  ///< after every rule: of a node (not of a leaf), then of each branch above it
  long double dropped = 0;
};

/// The nodes in this order; after every rule the cells of least chance are dropped while their sum is at most tau.
lineage_truncation truncated_lineages(const snp::Network& network, std::span<const std::int64_t> order,
                                      const std::vector<int>& copies, long double tau);

}  // namespace quintet::reference
