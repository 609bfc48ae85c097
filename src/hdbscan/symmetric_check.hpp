// Is a matrix one of distances?
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "device/atomic.hpp"
#include "device/launch.hpp"
#include "pairwise/shape.hpp"
#include "pairwise/triangle.hpp"
#include "quintet/core/view.hpp"
#include "quintet/device/buffer.hpp"

namespace quintet::hdbscan {

namespace detail {

/// Finds the first entry that is not >= 0 or differs from its mirror image. By tiles: the mirror image of a tile is a
/// few cache lines of every row.
template <class Real, class Shape>
struct symmetric_check_kernel {
  using shape = Shape;
  struct scratch {};
  enum { threads = 64, emulated_threads = 4, side = 64 };
  const Real* matrix;
  std::int64_t n, stride;
  std::int64_t* first_wrong;  ///< i * N + j

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    const pairwise::tile_index block = pairwise::tile_by_column(tile);
    const std::int64_t i0 = block.row * side, j0 = block.col * side;
    const std::int64_t end_i = i0 + side < n ? i0 + side : n, end_j = j0 + side < n ? j0 + side : n;
    std::int64_t wrong = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t i = i0 + team.rank(); i < end_i; i += team.size())
      for (std::int64_t j = j0 > i ? j0 : i + 1; j < end_j; ++j) {
        const Real value = matrix[i * stride + j];
        if (value >= 0 && value == matrix[j * stride + i]) continue;
        wrong = i * n + j < wrong ? i * n + j : wrong;
      }
    if (wrong < std::numeric_limits<std::int64_t>::max()) device::atomic_min(first_wrong, wrong);
  }
};

}  // namespace detail

/// The first (row, column), row < column, of a square matrix in memory of `device` with an entry that is not >= 0 or
/// differs from its mirror image; (-1, -1) if there is none. Infinity is allowed.
template <class Real>
pairwise::tile_index first_asymmetry(matrix_view<const Real> matrix, const Device& device) {
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  const std::int64_t n = matrix.rows();
  Buffer<std::int64_t> first(std::vector<std::int64_t>{none}, device);
  device::with_shape<pairwise::host_shape<Real>, pairwise::device_shape<Real>>(device, [&](auto shape) {
    using kernel = detail::symmetric_check_kernel<Real, decltype(shape)>;
    device::launch(kernel{matrix.data(), n, matrix.stride(), first.data()},
                   pairwise::triangle_size((n + kernel::side - 1) / kernel::side), device);
  });
  const std::int64_t wrong = first.to_vector()[0];
  return wrong == none ? pairwise::tile_index{-1, -1} : pairwise::tile_index{wrong / n, wrong % n};
}

}  // namespace quintet::hdbscan
