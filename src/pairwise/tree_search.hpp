// Questions to a block tree, as functions: each picks the instantiation for the device.
#pragma once

#include <cstdint>
#include <vector>

#include "pairwise/neighbours.hpp"
#include "pairwise/tree_kernel.hpp"

namespace quintet::pairwise {

/// Work of searches.
struct tree_work {
  std::int64_t pairs = 0;  ///< distances computed
};

/// Every point's k nearest other points (k >= 1), on the tree's device. Lists hold `number` of every point (in the
/// memory of the device), which also decides between ties; null: as they are packed. Workspace: that of the lists.
template <class Real>
device_neighbours<Real> nearest_others_on_device(const block_tree<Real>& tree, int k, tree_work& work,
                                                 const std::int32_t* number = nullptr,
                                                 const part_callback& report = {});

/// The same of the points of some leaves, given in ascending order: lists of one leaf's points after another's.
template <class Real>
device_neighbours<Real> nearest_others_on_device(const block_tree<Real>& tree, const std::vector<std::int32_t>& leaves,
                                                 int k, tree_work& work);

/// The k nearest points of `tree` of every point of `queries`; both are on one device, of one dimension.
template <class Real>
device_neighbours<Real> nearest_points_on_device(const block_tree<Real>& queries, const block_tree<Real>& tree, int k,
                                                 tree_work& work, const std::int32_t* number);

/// Every point's neighbours within a radius.
template <class Real>
struct radius_lists {
  std::vector<std::int64_t> row_pointers;  ///< by the rows as they are packed
  Buffer<std::int64_t> index;              ///< `number` of the neighbours, ascending in every row
  Buffer<Real> value;                      ///< their reduced distances
};

/// The points of `tree` whose reduced distances are at most `limit`, of every point of `queries`. With queries the same
/// object as `tree` a point is not its own neighbour.
template <class Real>
radius_lists<Real> within_reduced(const block_tree<Real>& queries, const block_tree<Real>& tree, Real limit,
                                  tree_work& work, const std::int32_t* number);

/// The share of all ordered pairs that nearest_points_on_device() would compute, from the searches of about 1 % of the
/// leaves.
template <class Real>
double sampled_share(const block_tree<Real>& queries, const block_tree<Real>& tree, int k);
template <class Real>
double sampled_share(const block_tree<Real>& tree, int k) {
  return sampled_share(tree, tree, k);
}

/// Lightest edges that leave a component, for the points of `leaves` leaves, which are all or those in `a`.
template <class Real>
void lightest(const tree_lightest_arguments<Real>& a, std::int64_t leaves, const Device& device);

}  // namespace quintet::pairwise
