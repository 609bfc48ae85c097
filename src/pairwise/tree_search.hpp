// Questions to a block tree, as functions: each picks the instantiation for the device.
#pragma once

#include <cstdint>

#include "pairwise/neighbours.hpp"
#include "pairwise/tree_kernel.hpp"

namespace quintet::pairwise {

/// Work of searches.
struct tree_work {
  std::int64_t pairs = 0;  ///< distances computed
};

/// Every point's k nearest other points (k >= 1), on the tree's device. Workspace: that of the lists.
template <class Real>
neighbours_there<Real> nearest_others_there(const block_tree<Real>& tree, int k, tree_work& work);

/// The share of all pairs (each counted twice) whose distances nearest_others_there() would compute, from the searches
/// of about 1 % of the leaves.
template <class Real>
double sampled_share(const block_tree<Real>& tree, int k);

/// Lightest edges that leave a component, for the points of all leaves.
template <class Real>
void lightest(const tree_lightest_arguments<Real>& a, const Device& device);

}  // namespace quintet::pairwise
