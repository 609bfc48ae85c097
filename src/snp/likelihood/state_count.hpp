// How many states a network's groups of branches have when none is dropped.
#pragma once

#include <cstdint>
#include <span>

#include "quintet/snp/network/network.hpp"
#include "snp/likelihood/lineage_masses.hpp"

namespace quintet::snp {

/// States of the largest group that a schedule makes, the population above the root included. They are counted, not
/// listed: lineage numbers of open branches can occur if copies of the leaves can be shared out so. Where four or more
/// branches with more than 1e6 combinations are open, it is the number with n_i <= copies below branch i, and all n
/// together <= copies below the group: at least as many.
double largest_uncut_group(const Network& network, std::span<const std::int64_t> schedule, const leaf_copies& copies);

}  // namespace quintet::snp
