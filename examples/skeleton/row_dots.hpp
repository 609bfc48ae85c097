// Dot products of the rows of two matrices: the skeleton of a kernel, small enough to read and to copy.
// docs/adding_a_kernel.md walks through it.
//
//   std::vector<float> dots = quintet::skeleton::row_dots<float>({x, n, dim}, {y, n, dim});
#pragma once

#include <vector>

#include "quintet/core/view.hpp"
#include "quintet/device/device.hpp"

namespace quintet::skeleton {

/// result[i] = <x_i, y_i> for the rows of x [N x D] and y [N x D], N >= 0, D >= 0, any row strides.
///
/// Real is float or double. Products are summed in 16 chains, k mod 16, by fused multiply-adds where the processor has
/// them: |error| <= (D / 16 + 16) epsilon sum_k |x_ik y_ik|. NaN and infinity go through as arithmetic has it. Same
/// bits for any number of threads and on every device. Throws InvalidArgument if the shapes differ, OutOfMemory. Cost:
/// N D multiply-adds; memory, on a device of its own, for copies of x and y.
template <class Real>
std::vector<Real> row_dots(matrix_view<const Real> x, matrix_view<const Real> y, const Device& device = Device::best());

extern template std::vector<float> row_dots(matrix_view<const float>, matrix_view<const float>, const Device&);
extern template std::vector<double> row_dots(matrix_view<const double>, matrix_view<const double>, const Device&);

}  // namespace quintet::skeleton
