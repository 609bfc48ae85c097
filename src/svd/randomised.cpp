#include "quintet/svd/randomised.hpp"

#include <algorithm>
#include <cmath>

#include "device/for_each.hpp"
#include "device/pack.hpp"
#include "device/staged.hpp"
#include "quintet/core/error.hpp"
#include "quintet/core/profile.hpp"
#include "quintet/device/buffer.hpp"
#include "svd/checks.hpp"
#include "svd/range_finder.hpp"
#include "svd/workspace.hpp"

namespace quintet::svd {

namespace {

// The decomposition of (Q^T A)^T takes so many rows, and the kernel counts in 32 bits.
constexpr std::int64_t max_cols = 32768, max_rows = std::int64_t(1) << 30;

void check(std::int64_t rows, std::int64_t cols, const randomised_options& options) {
  require_argument(rows <= max_rows, "rows", rows, text("<= ", max_rows));
  require_argument(cols <= max_cols, "cols", cols, text("<= ", max_cols));
  require_argument(options.rank >= 1, "rank", options.rank, ">= 1");
  require_argument(options.oversampling >= 0, "oversampling", options.oversampling, ">= 0");
  require_argument(options.power_iterations >= 0 && options.power_iterations <= 1000, "power_iterations",
                   options.power_iterations, "in 0 ... 1000");
}

/// Makes the element of largest size of a column of U positive, one column per call; the first one decides among
/// equals. The convention of scikit-learn's svd_flip.
template <class T>
struct fix_sign {
  batch_view<T> u, v;

  void operator()(std::int64_t index) const {
    const std::int64_t b = index / u.cols(), j = index % u.cols();
    T largest = 0;
    for (std::int64_t i = 0; i < u.rows(); ++i)
      if (absolute(u(b, i, j)) > absolute(largest)) largest = u(b, i, j);
    if (!(largest < 0)) return;
    for (std::int64_t i = 0; i < u.rows(); ++i) u(b, i, j) *= T(-1);
    for (std::int64_t i = 0; i < v.rows(); ++i) v(b, i, j) *= T(-1);
  }
};

/// |A - U S V^T|_F of a matrix from |A|_F and the singular values. By Pythagoras; the error that Halko, Martinsson,
/// Tropp 2011 bound.
template <class T>
struct remaining_norm {
  range_memory<T> of;
  const range_scale<T>* scale;
  matrix_view<const T> s;
  std::int64_t n;
  double* out;

  void operator()(std::int64_t b) const {
    const double unit = 1.0 / double(scale[b].first) / double(scale[b].second);
    double left = 0;
    for (std::int64_t j = 0; j < n; ++j) left += of.square[b * n + j];
    for (std::int64_t j = 0; j < s.cols(); ++j) {
      const double value = double(s(b, j)) / unit;
      left = device::fma(-value, value, left);
    }
    out[b] = left < 0 ? 0.0 : std::sqrt(left) * unit;  // NaN stays
  }
};

/// randomised_outputs with elements of T.
template <class T>
struct typed_sketch_outputs {
  batch_view<T> u, v;
  matrix_view<T> s;
  vector_view<double> residual;
  vector_view<std::int32_t> status, sweeps;
};

/// Matrices first ... first + count - 1 of a batch.
template <class T>
batch_view<T> part(const batch_view<T>& a, std::int64_t first, std::int64_t count) {
  return {a.data() + first * a.batch_stride(),
          count,
          a.rows(),
          a.cols(),
          a.batch_stride(),
          a.row_stride(),
          a.col_stride(),
          a.device()};
}

/// Everything in the memory of the device: a and the results.
template <class Policy>
void compute(const batch_view<const typename Policy::real>& a, std::int64_t l, const randomised_options& options,
             const typed_sketch_outputs<typename Policy::real>& out, const Device& device) {
  using real = typename Policy::real;
  const std::int64_t m = a.rows(), n = a.cols(), k = out.s.cols();
  svd::options inner_options;
  inner_options.top = k;
  const std::int64_t bytes = range_finder<Policy>::numbers(m, n, l) * std::int64_t(sizeof(real));
  const std::int64_t limit = device.kind() == device_kind::host ? host_workspace : device_workspace;
  const std::int64_t group_size = std::min(a.batch(), std::max<std::int64_t>(1, limit / bytes));
  range_finder<Policy> finder(group_size, m, n, l, device);
  Buffer<real> right(group_size * l * k, device);
  const range_memory<real>& range = finder.memory();
  for (std::int64_t first = 0; first < a.batch(); first += group_size) {
    const std::int64_t count = std::min(group_size, a.batch() - first);
    finder.find(part(a, first, count), first, options.power_iterations, options.seed);
    // (Q^T A)^T = A^T Q [n x l] has the right vectors of A on its left.
    const batch_view<real> u = part(out.u, first, count);
    const batch_view<real> v = part(out.v, first, count);
    const matrix_view<real> s(out.s.data() + first * out.s.stride(), count, k, out.s.stride(), device);
    const outputs inner{v,
                        any_output_batch(right.data(), count, l, k, device),
                        s,
                        {out.status.data() + first, count, device},
                        {out.sweeps.data() + first, count, device}};
    decompose(any_batch(range.z, count, n, l, range.slot, 1, range.ld_n, device), inner, inner_options, device);
    finder.lift({right.data(), l * k, k, 1}, int(k), {u.data(), u.batch_stride(), u.row_stride(), u.col_stride()},
                count);
    if (options.canonical_signs) device::for_each(count * k, fix_sign<real>{u, v}, device);
    device::for_each(count, remaining_norm<real>{range, finder.scale(), s, n, out.residual.data() + first}, device);
  }
}

/// |A - U S V^T|_F of matrices without rows or columns.
struct set_zero {
  double* out;
  void operator()(std::int64_t b) const { out[b] = 0; }
};

std::int64_t rank_of(std::int64_t rows, std::int64_t cols, const randomised_options& options) {
  return std::min({options.rank, rows, cols});
}

template <class T>
void check_outputs(const batch_view<const T>& a, std::int64_t rank, const typed_sketch_outputs<T>& out) {
  const std::int64_t batch = a.batch();
  require_shape(out.u, batch, a.rows(), rank, "u");
  require_shape(out.v, batch, a.cols(), rank, "v");
  require_argument(out.s.rows() == batch, "s.rows", out.s.rows(), text("the batch, ", batch));
  require_argument(out.s.cols() == rank, "s.cols", out.s.cols(), text("the number of values, ", rank));
  const std::string target = text("the batch, ", batch);
  require_argument(out.residual.size() == batch, "residual.size", out.residual.size(), target);
  require_argument(out.status.size() == batch, "status.size", out.status.size(), target);
  require_argument(out.sweeps.size() == batch, "sweeps.size", out.sweeps.size(), target);
}

template <class T>
Device typed_randomised(batch_view<const T> a, const typed_sketch_outputs<T>& out, const randomised_options& options,
                        const Device& requested_device) {
  check(a.rows(), a.cols(), options);
  const std::int64_t small = std::min(a.rows(), a.cols()), rank = rank_of(a.rows(), a.cols(), options);
  check_outputs(a, rank, out);
  const Device device = device::run_device(requested_device, {{"a", a},
                                                              {"u", out.u},
                                                              {"v", out.v},
                                                              {"s", out.s},
                                                              {"residual", out.residual},
                                                              {"status", out.status},
                                                              {"sweeps", out.sweeps}});
  if (a.batch() == 0) return device;
  const stage_region stage("decompose");
  // Each at most `small` before they are added: their sum may be none of 64 bits.
  const std::int64_t l = std::min((rank + std::min(options.oversampling, small) + 3) / 4 * 4, small);
  const device::staged_in in(a, device);
  device::staged_out u(out.u, device), v(out.v, device);
  device::staged_out s(out.s, device);
  device::staged_out residual(out.residual, device);
  device::staged_out status(out.status, device), sweeps(out.sweeps, device);
  const typed_sketch_outputs<T> results{u.view(), v.view(), s.view(), residual.view(), status.view(), sweeps.view()};
  if (small == 0) {
    decompose(in.view(), outputs{u.view(), v.view(), s.view(), status.view(), sweeps.view()}, {}, device);
    device::for_each(a.batch(), set_zero{residual.view().data()}, device);
  } else if (device.kind() == device_kind::host) {
    compute<host_rows<T>>(in.view(), l, options, results, device);
  } else {
    compute<device_rows<T, 8, 0>>(in.view(), l, options, results, device);
  }
  device::finish(u, v, s, residual, status, sweeps);
  return device;
}

}  // namespace

decomposition_shape shape_of(std::int64_t batch, std::int64_t rows, std::int64_t cols,
                             const randomised_options& options) {
  check(rows, cols, options);
  const std::int64_t rank = rank_of(rows, cols, options);
  return {batch, rows, cols, rank, rank, rank};
}

Device randomised(any_batch a, const randomised_outputs& out, const randomised_options& options, const Device& device) {
  return with_real(a.type, "a", [&]<class T>() {
    return typed_randomised<T>(
        a.as<T>("a"), {out.u.as<T>("u"), out.v.as<T>("v"), out.s.as<T>("s"), out.residual, out.status, out.sweeps},
        options, device);
  });
}

}  // namespace quintet::svd
