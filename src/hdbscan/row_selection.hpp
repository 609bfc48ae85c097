// The k-th smallest value in every row of a square matrix, the diagonal left out.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "device/launch.hpp"
#include "device/pack.hpp"
#include "pairwise/edge_bounds.hpp"
#include "pairwise/shape.hpp"
#include "quintet/core/view.hpp"
#include "quintet/device/buffer.hpp"

namespace quintet::hdbscan {

namespace detail {

/// One row per thread; packs of its values side by side on the host. Insertion into a sorted list for small k (Knuth
/// 1998, 5.2.1); above, bisection of the bits: radix selection (Alabi et al. 2012) with digits of one bit.
template <class Real, class Shape>
struct row_selection_kernel {
  using shape = Shape;
  struct scratch {};
  enum { threads = 64, emulated_threads = 4, rows_per_tile = Shape::on_device ? 64 : 1, lanes = Shape::lanes };
  // Keeping the k smallest in order beats bisection while k is small: after a short start, a whole pack of candidates
  // is nearly always refused at once.
  enum { max_kept = 64 };
  const Real* matrix;
  std::int64_t n, stride, k;
  Real* smallest;  ///< [row][k], for k <= max_kept
  Real* selected;  ///< [row]

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    for (int r = team.rank(); r < rows_per_tile; r += team.size()) {
      const std::int64_t i = tile * rows_per_tile + r;
      if (i < n) selected[i] = k <= max_kept ? by_insertion(i) : by_bisection(i);
    }
  }

 private:
  typedef device::pack<Real, lanes> value;

  Real by_insertion(std::int64_t i) const {
    Real* list = smallest + i * k;
    for (std::int64_t e = 0; e < k; ++e) list[e] = std::numeric_limits<Real>::infinity();
    keep_smallest(matrix + i * stride, i, list);
    keep_smallest(matrix + i * stride + i + 1, n - i - 1, list);
    return list[k - 1];
  }

  void keep_smallest(const Real* values, std::int64_t count, Real* list) const {
    const value infinite = device::broadcast_pack<value>(std::numeric_limits<Real>::infinity());
    std::int64_t j = 0;
    for (; j + lanes <= count; j += lanes) {
      const value v = device::load_pack<value>(values + j);
      if (!(device::least_lane<Real>(v < infinite ? v : infinite) < list[k - 1])) continue;
      for (int e = 0; e < lanes; ++e) keep(values[j + e], list);
    }
    for (; j < count; ++j) keep(values[j], list);
  }

  /// Puts a candidate into its place; NaN and what is too large are refused.
  void keep(Real candidate, Real* list) const {
    if (!(candidate < list[k - 1])) return;
    std::int64_t e = k - 1;
    for (; e > 0 && candidate < list[e - 1]; --e) list[e] = list[e - 1];
    list[e] = candidate;
  }

  /// The smallest number that k values are not larger than: the bits of numbers >= 0 are ordered as they are.
  Real by_bisection(std::int64_t i) const {
    using key = pairwise::weight_key<Real>;
    key low = 0, high = std::bit_cast<key>(std::numeric_limits<Real>::infinity());
    while (low < high) {
      const key middle = low + (high - low) / 2;
      if (count_up_to(i, std::bit_cast<Real>(middle)) >= k)
        high = middle;
      else
        low = middle + 1;
    }
    return std::bit_cast<Real>(low);
  }

  std::int64_t count_up_to(std::int64_t i, Real limit) const {
    const Real* row = matrix + i * stride;
    std::int32_t count = row[i] <= limit ? -1 : 0;
#pragma omp simd reduction(+ : count)
    for (std::int64_t j = 0; j < n; ++j) count += row[j] <= limit ? 1 : 0;
    return count;
  }
};

}  // namespace detail

/// selected[i] := the k-th smallest value >= 0 of row i of an N x N matrix, 1 <= k < N, all in memory of `device`. NaN
/// is passed over; infinity where fewer than k values are left. Cost: one pass over the matrix, with k > 64 as many as
/// a number has bits; memory for k numbers per row where k <= 64.
template <class Real>
void kth_smallest_of_rows(matrix_view<const Real> matrix, std::int64_t k, Real* selected, const Device& device) {
  device::with_shape<pairwise::host_shape<Real>, pairwise::device_shape<Real>>(device, [&](auto shape) {
    using kernel = detail::row_selection_kernel<Real, decltype(shape)>;
    Buffer<Real> smallest(k <= kernel::max_kept ? k * matrix.rows() : 0, device);
    device::launch(kernel{matrix.data(), matrix.rows(), matrix.stride(), k, smallest.data(), selected},
                   (matrix.rows() + kernel::rows_per_tile - 1) / kernel::rows_per_tile, device);
  });
}

}  // namespace quintet::hdbscan
