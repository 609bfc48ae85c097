// Is a matrix one of distances?
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "device/launch.hpp"
#include "quintet/core/error.hpp"
#include "quintet/core/view.hpp"

namespace quintet::hdbscan {

namespace detail {

/// Notes for every block of rows the first entry that is not >= 0 or differs from its mirror image.
template <class Real>
struct symmetric_check_kernel {
  using shape = device::host_only_shape;
  struct scratch {};
  enum { side = 64 };
  matrix_view<const Real> matrix;
  std::int64_t* first_wrong;  ///< per block of rows: i * N + j, or -1

  template <class Team>
  void operator()(const Team&, std::int64_t block, scratch&) const {
    const std::int64_t n = matrix.rows(), i0 = block * side, i1 = std::min(n, i0 + side);
    first_wrong[block] = -1;
    // By tiles: the mirror image of a tile is a few cache lines of every row.
    for (std::int64_t j0 = i0; j0 < n; j0 += side)
      for (std::int64_t i = i0; i < i1; ++i)
        for (std::int64_t j = std::max(j0, i + 1); j < std::min(n, j0 + side); ++j) {
          if (matrix(i, j) >= 0 && matrix(i, j) == matrix(j, i)) continue;
          const std::int64_t at = i * n + j;
          if (first_wrong[block] < 0 || at < first_wrong[block]) first_wrong[block] = at;
        }
  }
};

}  // namespace detail

/// Throws InvalidArgument unless `distances` is square, symmetric and >= 0 off the diagonal; infinity is allowed.
template <class Real>
void check_distances(matrix_view<const Real> distances) {
  using kernel = detail::symmetric_check_kernel<Real>;
  const std::int64_t n = distances.rows();
  require_argument(distances.cols() == n, "distances.cols", distances.cols(), text("distances.rows=", n));
  std::vector<std::int64_t> first_wrong((n + kernel::side - 1) / kernel::side);
  device::launch(kernel{distances, first_wrong.data()}, std::int64_t(first_wrong.size()), Device::host());
  const auto wrong = std::find_if(first_wrong.begin(), first_wrong.end(), [](std::int64_t at) { return at >= 0; });
  if (wrong == first_wrong.end()) return;
  const std::int64_t i = *wrong / n, j = *wrong % n;
  require_argument(distances(i, j) >= 0, text("distances(", i, ", ", j, ")"), distances(i, j), ">= 0 and not NaN");
  require_argument(false, text("distances(", i, ", ", j, ")"), distances(i, j),
                   text("equal to distances(", j, ", ", i, ")=", distances(j, i)));
}

}  // namespace quintet::hdbscan
