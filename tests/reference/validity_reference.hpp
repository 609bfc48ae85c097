// DBCV, plain and slow: whole matrices in long double, powers in logarithms. After Moulavi et al. 2014.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/matrix.hpp"

namespace quintet::reference {

struct validity {
  double index = 0;
  std::vector<double> cluster_validity, sparseness, separation;
};

/// The index of labels, -1 for noise, with the distances of all points.
validity validity_index(const matrix& d, const std::vector<std::int64_t>& labels, long double dimension);

}  // namespace quintet::reference
