// What all rules have in common.
//
// The rules of Rabier et al. (2021) turn the partial likelihoods of groups of open branches into those of other groups,
// from the leaves to the root. Each has a file of its own in this folder that says
//   encode()    which states its result has, and the tables that its kernels read; what it costs
//   forward()   partial likelihoods from those below                               (pruning pass)
//   adjoint()   derivatives of what is below from those of the result              (gradient)
//   preorder()  what the rest of the network says about an input                   (proposals)
// Rule 0, the leaf, has only the first: its partial likelihood is given.
#pragma once

#include <cstdint>

#include "snp/likelihood/rules/tile.hpp"

namespace quintet::snp {

/// Partial likelihoods are numbered; -1: none. Places in the tables of a plan count from their beginnings; -1: none.
struct rule_base {
  std::int32_t in = -1, out = -1;
  tile_slice tiles;
  double operations = 0;  ///< multiply-adds of one evaluation
};

}  // namespace quintet::snp
