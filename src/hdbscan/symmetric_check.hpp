// Is a matrix one of distances? Mirror images may differ by rounding.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "device/atomic.hpp"
#include "device/launch.hpp"
#include "pairwise/shape.hpp"
#include "pairwise/triangle.hpp"
#include "quintet/core/error.hpp"
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

/// Shortest text with all digits: numbers that differ look different.
template <class Real>
std::string all_digits(Real value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

/// Throws InvalidArgument for a distance that is negative or NaN.
template <class Real>
[[noreturn]] void refuse_negative(const std::string& name, Real value) {
  throw InvalidArgument(text(name, " must be >= 0 and not NaN (", name, "=", all_digits(value), ")",
                             value < 0 ? "; where rounding made it negative, 0 is meant" : ""));
}

/// 0 without a finite one.
template <class Values>
auto largest_finite(const Values& values) {
  using Real = std::remove_cvref_t<decltype(values[0])>;
  Real largest = 0;
  for (const Real value : values)
    if (std::isfinite(value)) largest = std::max(largest, value);
  return largest;
}

/// Whether a point's distance from itself is 0 but for rounding, where `largest` is the largest finite distance.
template <class Real>
bool is_rounded_zero(Real distance, Real largest) {
  return std::abs(double(distance)) <= std::sqrt(double(std::numeric_limits<Real>::epsilon())) * double(largest);
}

/// Mirror images differ by rounding alone: by this many units in the last place of the larger or of the largest of all.
constexpr double rounding_units = 1000;

/// Whether a and b are one distance, where `largest` is the largest finite one.
template <class Real>
bool is_rounded(Real a, Real b, Real largest) {
  if (a == b) return true;
  const double unit = rounding_units * double(std::numeric_limits<Real>::epsilon());
  return std::isfinite(a) && std::isfinite(b) &&
         std::abs(double(a) - double(b)) <= unit * (double(std::max(a, b)) + double(largest));
}

/// The smaller one of all mirror images in a dense n x n matrix, where no two differ by more than rounding; otherwise
/// returns the first (row, column), row < column, that do, or that are not >= 0.
template <class Real>
pairwise::tile_index take_smaller(std::vector<Real>& matrix, std::int64_t n) {
  constexpr std::int64_t side = 64;  // the mirror image of a tile is a few cache lines of every row
  const Real largest = largest_finite(matrix);
  pairwise::tile_index wrong{-1, -1};
  for (std::int64_t i0 = 0; i0 < n; i0 += side)
    for (std::int64_t j0 = i0; j0 < n; j0 += side)
      for (std::int64_t i = i0; i < std::min(i0 + side, n); ++i)
        for (std::int64_t j = std::max(j0, i + 1); j < std::min(j0 + side, n); ++j) {
          Real &a = matrix[i * n + j], &b = matrix[j * n + i];
          if (a >= 0 && b >= 0 && is_rounded(a, b, largest)) {
            a = b = std::min(a, b);
          } else if (wrong.row < 0 || i < wrong.row || (i == wrong.row && j < wrong.col)) {
            wrong = {i, j};
          }
        }
  return wrong;
}

}  // namespace quintet::hdbscan
