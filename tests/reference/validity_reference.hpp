// DBCV, plain and slow: whole matrices in long double, powers in logarithms. After Moulavi et al. 2014.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "reference/matrix.hpp"
#include "reference/spanning_tree_reference.hpp"

namespace quintet::reference {

struct validity {
  double index = 0;
  std::vector<double> cluster_validity, sparseness, separation;
};

/// The minimum spanning tree of some points under a weight.
using tree_of = std::function<std::vector<hdbscan::edge>(const std::vector<std::int64_t>&,
                                                         const std::function<double(std::int64_t, std::int64_t)>&)>;

/// The index of labels, -1 for noise, with the distances of all points.
validity validity_index(const matrix& d, const std::vector<std::int64_t>& labels, long double dimension,
                        const tree_of& tree = spanning_tree);

/// Prim's tree from the first point: the nearest one follows, of equally near ones the first, by the edge found first.
std::vector<hdbscan::edge> tree_from_first(const std::vector<std::int64_t>& points,
                                           const std::function<double(std::int64_t, std::int64_t)>& weight);

}  // namespace quintet::reference
