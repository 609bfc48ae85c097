// Matrices without the means of their columns, as a copy. QR by the Gram matrix (gram_qr.hpp) takes the means off where
// it reads the matrix, without one.
#pragma once

#include <vector>

#include "quintet/device/buffer.hpp"
#include "quintet/device/device.hpp"
#include "svd/job.hpp"

namespace quintet::svd {

/// Where the means of a batch go: those of matrix b lie at data + b * stride. Null: nothing is taken off.
template <class Real>
struct column_means {
  Real* data = nullptr;
  std::int64_t stride = 0;
};

/// The sizes of a batch.
struct batch_sizes {
  std::int64_t batch, rows, cols;
};

/// [batch, rows, cols] with a - means for the matrices of the list; the others are not set. Writes their means, which
/// are sums in double of parts of fixed length, rounded once. Memory of `device`, without a list all matrices.
template <class Real>
Buffer<Real> centre_columns(const stored_batch& a, const batch_sizes& sizes, const std::vector<std::int64_t>* list,
                            const column_means<Real>& means, const Device& device);

}  // namespace quintet::svd
