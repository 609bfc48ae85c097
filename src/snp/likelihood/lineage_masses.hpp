// Chances of lineage numbers, and which of them a truncated likelihood keeps.
//
// W(n1, ..., nK) of a group of open branches is the chance of these lineage numbers, whatever the data. It follows the
// rules of the likelihood without alleles: 1 for the copies of a leaf, Kingman's death process along a branch, binomial
// shares at a reticulation, convolutions at nodes. After every rule the cells (n1, ..., nK) of least mass are dropped.
//
// F(n, r) = Pr(data below | n, r) Pr(n), and everything above multiplies by chances. So a site's likelihood is a sum of
// non-negative terms, and what a dropped cell contributes is at most its mass:
//   L_cut <= L <= L_cut + D,   D = sum of all masses dropped in the whole network.
// This holds for any choice of cells, so the cells chosen for some parameters serve for others, with the D of those.
//
// Where sites have different numbers of copies, a mass is an upper bound for all of them: a leaf has 1 for every number
// that occurs, and no mass exceeds 1.
//
// All terms are non-negative, so masses of 1e-200 keep their digits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "quintet/snp/network/network.hpp"
#include "snp/likelihood/layout.hpp"

namespace quintet::snp {

/// The cells that are kept, and for which parameters they were chosen.
struct lineage_cut {
  /// After every rule, in the order of the schedule: the group of a node, then that at the top of each branch above it.
  /// A leaf has no group at its bottom here: nothing is dropped there.
  std::vector<kept_cells> steps;
  double tau = 0;                 ///< mass that a rule may drop
  double mass = 0;                ///< D of the parameters that the cells were chosen for
  std::int32_t max_lineages = 0;  ///< on any branch
  double states = 0;              ///< of the largest group
};

/// Copies that occur at the leaves of a network, in ascending order, by network.leaves().
using leaf_copies = std::vector<std::vector<std::int32_t>>;

/// Drops the cells of least mass after every rule while their sum is at most tau; among equals the first in ascending
/// order. A function of network, copies and tau alone. Throws InvalidArgument where a group has more combinations of
/// lineage numbers than can be looked at. Cost: combinations of lineage numbers x lineages of one branch, for every
/// rule.
lineage_cut cut_lineages(const Network& network, std::span<const std::int64_t> schedule, const leaf_copies& copies,
                         double tau);

/// D of a network with the topology that the cells were chosen for, and other parameters.
double dropped_mass(const Network& network, std::span<const std::int64_t> schedule, const leaf_copies& copies,
                    const lineage_cut& cut);

}  // namespace quintet::snp
