// Eigenproblems of positive semidefinite matrices, with relative accuracy: see eigen_options::positive.
#pragma once

#include "quintet/svd/eigen.hpp"

namespace quintet::svd {

/// eigen() with options.positive; arguments are checked.
Device eigen_positive(any_batch a, const eigen_outputs& out, const eigen_options& options, const Device& device);

}  // namespace quintet::svd
