// The rules of the likelihood one by one, on partial likelihoods of one site, small enough to read.
//
//   using namespace quintet::snp;
//   auto b = rules::branch(rules::leaf(3, 2), 0, {.length = 0.4, .theta = 0.1}, {.u = 1, .v = 1});
//   auto open = rules::split(b, 0, 0.6);                       // two open branches, one table for both
//   auto y = rules::branch(open, 0, {.length = 0.1, .theta = 0.1}, {});
//
// snp::Likelihood computes the same with the same kernels for many sites at once, in another order. Use these functions
// to read the papers next to the program, for teaching and for tests. Each call makes its tables again.
//
// In the notation of Rabier et al. (2021): a group of open branches has F(n1, r1, ..., nK, rK) = Pr(data below | n_i
// lineages, r_i of them with allele 1, on branch i) Pr(n1, ..., nK). Numbers are those of the paper; the library itself
// keeps F times C(n1, r1) ... C(nK, rK).
//
// All functions throw InvalidArgument for a table of another size than its shape, an axis that does not exist, more
// than 1000 lineages, and parameters out of range. They throw OutOfMemory if a result takes more than half the memory.
// Cost: that of the rule, O(states of the result x states of a branch).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "quintet/device/device.hpp"
#include "quintet/snp/network/model.hpp"

namespace quintet::snp {

/// Lineages on one branch, and how many of them carry allele 1.
struct lineage_state {
  ///@{
  /// 0 <= r <= n.
  std::int64_t n = 0, r = 0;
  ///@}
};

/// F of one group of open branches.
struct partial_likelihood {
  std::vector<std::int64_t> max;  ///< the most lineages on every open branch
  /// One number for every combination of states, the last branch fastest; state (n, r) of a branch has number
  /// n (n + 1) / 2 + r. States that cannot be have 0.
  std::vector<double> entries;

  /// F of one state of every branch; 0 for more lineages than there can be. Throws InvalidArgument for another number
  /// of states than branches.
  double at(std::span<const lineage_state> states) const;
};

/// A population: its duration and its size.
struct population {
  double length = 0;  ///< >= 0
  double theta = 1;   ///< > 0
};

/// Rates of mutation: u from allele 1 to 0, v from 0 to 1, as in model.
struct rates {
  ///@{
  /// >= 0, one of them > 0.
  double u = 1, v = 1;
  ///@}
};

namespace rules {

/// Rule 0: the bottom of a leaf's branch, with `copies` gene copies; `red` of them carry allele 1. Dominant: `red` of
/// copies / 2 diploid individuals show the band.
partial_likelihood leaf(std::int64_t copies, std::int64_t red, bool dominant = false);

/// Rule 1: from the bottom of branch `axis` of the group to its top.
partial_likelihood branch(const partial_likelihood& below, std::int64_t axis, const population& on,
                          const snp::rates& mutation, const Device& device = Device::best());

/// Rule 2: branch `left_axis` of one group and `right_axis` of another meet at a node. The result begins with the
/// branch above the node, at its bottom; the other branches of `left` and those of `right` follow.
partial_likelihood join(const partial_likelihood& left, std::int64_t left_axis, const partial_likelihood& right,
                        std::int64_t right_axis, const Device& device = Device::best());

/// Rule 3: the branch below a reticulation, at its top, becomes the two branches above it, at their bottoms. They are
/// the first of the result; a lineage takes the first one with probability gamma.
partial_likelihood split(const partial_likelihood& below, std::int64_t axis, double gamma,
                         const Device& device = Device::best());

/// Rule 4: two branches of one group, at their tops, meet at a node; the branch above it is the first of the result.
partial_likelihood merge(const partial_likelihood& below, std::int64_t first_axis, std::int64_t second_axis,
                         const Device& device = Device::best());

/// The likelihood of the site: a group of one branch at the root, below an endless population.
double root(const partial_likelihood& below, double theta, const snp::rates& mutation,
            const Device& device = Device::best());

}  // namespace rules

}  // namespace quintet::snp
