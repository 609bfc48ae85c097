#include "quintet/svd/randomised.hpp"

#include <algorithm>
#include <cmath>

#include "quintet/core/error.hpp"
#include "quintet/device/buffer.hpp"
#include "svd/range_kernel.hpp"
#include "svd/resident_batch.hpp"

namespace quintet::svd {

namespace {

constexpr std::int64_t host_workspace = std::int64_t(1) << 29, device_workspace = std::int64_t(1) << 31;
constexpr std::int64_t device_tiles = 2048;

// The decomposition of (Q^T A)^T takes so many rows, and the kernel counts in 32 bits.
constexpr std::int64_t most_cols = 32768, most_rows = std::int64_t(1) << 30;

void check(std::int64_t rows, std::int64_t cols, const randomised_options& options) {
  require_argument(rows <= most_rows, "rows", rows, text("<= ", most_rows));
  require_argument(cols <= most_cols, "cols", cols, text("<= ", most_cols));
  require_argument(options.rank >= 1, "rank", options.rank, ">= 1");
  require_argument(options.oversampling >= 0, "oversampling", options.oversampling, ">= 0");
  require_argument(options.power_iterations >= 0 && options.power_iterations <= 1000, "power_iterations",
                   options.power_iterations, "in 0 ... 1000");
}

/// What the range finder leaves: Q^T [B, l, m], Q^T A [B, l, n], |A / unit|_F^2 and the unit.
template <class Real>
struct ranges {
  std::vector<Real> q, product;
  std::vector<double> square, unit;
};

template <class Policy>
void find_ranges(batch_view<const typename Policy::real> a, std::int64_t l, const randomised_options& options,
                 const Device& device, ranges<typename Policy::real>& found) {
  using real = typename Policy::real;
  using kernel_type = range_kernel<Policy>;
  const std::int64_t slot = kernel_type::numbers(a.rows(), a.cols(), l);
  const bool is_host = device.kind() == device_kind::host;
  const std::int64_t fitting = (is_host ? host_workspace : device_workspace) / (slot * std::int64_t(sizeof(real)));
  const std::int64_t tiles =
      std::min({a.batch(), is_host ? std::int64_t(threads()) : device_tiles, std::max<std::int64_t>(fitting, 1)});
  Buffer<real> workspace(slot * tiles, device);
  const resident_batch<real> input(a, device);
  const auto view = input.view();
  device::mirror_back<real> q(found.q, device), product(found.product, device);
  device::mirror_back<double> square(found.square, device), unit(found.unit, device);
  const kernel_type kernel{view.data(),
                           view.batch_stride(),
                           view.row_stride(),
                           view.col_stride(),
                           a.batch(),
                           tiles,
                           slot,
                           std::int32_t(a.rows()),
                           std::int32_t(a.cols()),
                           std::int32_t(l),
                           std::int32_t(options.power_iterations),
                           options.seed,
                           q.data(),
                           product.data(),
                           square.data(),
                           unit.data(),
                           workspace.data()};
  device::launch(kernel, tiles, device);
}

/// U = Q W for each matrix, where W are the right factors of the decomposition of (Q^T A)^T.
template <class T>
std::vector<T> lift(const std::vector<T>& q, const decomposition<T>& inner, std::int64_t m, std::int64_t l) {
  const std::int64_t k = inner.values;
  std::vector<T> u(inner.batch * m * k);
  for (std::int64_t b = 0; b < inner.batch; ++b)
    for (std::int64_t r = 0; r < l; ++r)
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < k; ++j)
          u[(b * m + i) * k + j] += q[(b * l + r) * m + i] * inner.v[(b * l + r) * k + j];
  return u;
}

/// Makes the element of largest size of each column of U positive.
template <class T>
void fix_signs(decomposition<T>& d) {
  for (std::int64_t b = 0; b < d.batch; ++b)
    for (std::int64_t j = 0; j < d.u_cols; ++j) {
      T largest = 0;
      for (std::int64_t i = 0; i < d.rows; ++i) {
        const T value = d.u[(b * d.rows + i) * d.u_cols + j];
        if (std::fabs(value) > std::fabs(largest)) largest = value;
      }
      if (!(largest < 0)) continue;
      for (std::int64_t i = 0; i < d.rows; ++i) d.u[(b * d.rows + i) * d.u_cols + j] *= T(-1);
      for (std::int64_t i = 0; i < d.cols; ++i) d.v[(b * d.cols + i) * d.v_cols + j] *= T(-1);
    }
}

template <class T>
double residual_of(const decomposition<T>& d, std::int64_t b, double square, double unit) {
  double left = square;
  for (std::int64_t j = 0; j < d.values; ++j) left -= std::pow(double(d.singular_value(b, j)) / unit, 2);
  return std::isnan(left) ? left : std::sqrt(std::max(left, 0.0)) * unit;
}

}  // namespace

template <class T>
randomised_decomposition<T> randomised(batch_view<const T> a, const randomised_options& options, const Device& device) {
  check(a.rows(), a.cols(), options);
  const std::int64_t m = a.rows(), n = a.cols(), small = std::min(m, n);
  const std::int64_t rank = std::min(options.rank, small);
  // Each at most `small` before they are added: their sum may be none of 64 bits.
  const std::int64_t l = std::min((rank + std::min(options.oversampling, small) + 7) / 8 * 8, small);
  svd::options inner_options;
  inner_options.top = std::max<std::int64_t>(rank, 1);
  randomised_decomposition<T> result;
  if (a.batch() == 0 || small == 0) {
    result.factors = decompose<T>(a, inner_options, device);
    result.residual.assign(a.batch(), 0.0);
    return result;
  }
  ranges<T> found{std::vector<T>(a.batch() * l * m), std::vector<T>(a.batch() * l * n), std::vector<double>(a.batch()),
                  std::vector<double>(a.batch())};
  if (device.kind() == device_kind::host)
    find_ranges<host_rows<T>>(a, l, options, device, found);
  else
    find_ranges<device_rows<T, 8, 0>>(a, l, options, device, found);
  // (Q^T A)^T = A^T Q [n x l] has the right vectors of A on its left.
  const batch_view<const T> inner_view(found.product.data(), a.batch(), n, l, n * l, 1, n);
  decomposition<T> inner = decompose<T>(inner_view, inner_options, device);
  decomposition<T>& d = result.factors;
  d.u = lift(found.q, inner, m, l);
  d.v = std::move(inner.u);
  d.s = std::move(inner.s);
  d.status = std::move(inner.status);
  d.sweeps = std::move(inner.sweeps);
  d.batch = a.batch();
  d.rows = m;
  d.cols = n;
  d.values = d.u_cols = d.v_cols = inner.values;
  if (options.canonical_signs) fix_signs(d);
  for (std::int64_t b = 0; b < d.batch; ++b)
    result.residual.push_back(residual_of(d, b, found.square[b], found.unit[b]));
  return result;
}

template randomised_decomposition<float> randomised(batch_view<const float>, const randomised_options&, const Device&);
template randomised_decomposition<double> randomised(batch_view<const double>, const randomised_options&,
                                                     const Device&);

}  // namespace quintet::svd
