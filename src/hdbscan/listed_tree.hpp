// A spanning tree with the lists that it was made from.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pairwise/metric.hpp"
#include "pairwise/neighbours.hpp"
#include "quintet/core/progress.hpp"
#include "quintet/core/view.hpp"
#include "quintet/hdbscan/spanning_tree.hpp"

namespace quintet::hdbscan {

/// On the host; distances are reduced. Lists are empty for fewer than two valid points.
template <class Real>
struct listed_tree {
  spanning_tree_result tree;
  pairwise::reduced_metric<Real> measure;
  std::vector<std::int32_t> order;        ///< the caller's number of every list
  pairwise::neighbour_table<Real> lists;  ///< rows and indices are positions in `order`
  int exact = 0;                          ///< entries of each that are the nearest: of equal distances any
  std::vector<Real> edge_distance;        ///< of the edges of the tree
};

/// spanning_tree() at options.min_samples. Lists have the k nearest at least, or `times` as many if there are points.
template <class Storage>
listed_tree<accumulator_t<Storage>> listed_spanning_tree(matrix_view<const Storage> points,
                                                         const spanning_tree_options& options, std::int64_t times,
                                                         const Device& device, const progress_callback& report,
                                                         std::span<const double> weights);

}  // namespace quintet::hdbscan
