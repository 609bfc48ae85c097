// Distances, core distances and mutual reachability, plain and slow: whole matrices in long double.
#pragma once

#include <cstdint>
#include <vector>

#include "quintet/pairwise/metric.hpp"
#include "reference/matrix.hpp"

namespace quintet::reference {

/// All distances; NaN in the rows and columns of points that have none.
matrix distances(const matrix& points, const point_metric& measure);

/// The k-th smallest distance of every point to another one; 0 for k = 0, NaN for a point without distances.
std::vector<long double> core_distances(const matrix& distances, std::int64_t k);

/// max(core_i, core_j, distance / alpha), 0 on the diagonal of points that have distances.
matrix mutual_reachability(const matrix& distances, const std::vector<long double>& core, long double alpha);

}  // namespace quintet::reference
