#include "svd/definite.hpp"

#include <algorithm>

#include "device/for_each.hpp"
#include "device/launch.hpp"
#include "device/staged.hpp"
#include "quintet/core/error.hpp"
#include "quintet/core/profile.hpp"
#include "quintet/svd/decompose.hpp"
#include "svd/checks.hpp"
#include "svd/cholesky_kernel.hpp"
#include "svd/workspace.hpp"

namespace quintet::svd {

namespace {

struct definite_host {
  enum { on_device = 0 };
};
struct definite_device {
  enum { on_device = 1 };
};

template <class T>
struct definite_outputs {
  matrix_view<accumulator_t<T>> w;
  batch_view<T> v;
  vector_view<std::int32_t> status;
};

/// The part of `view` that begins with matrix `first`.
template <class T>
batch_view<T> part_of(const batch_view<T>& view, std::int64_t first, std::int64_t count) {
  return {view.data() == nullptr ? nullptr : view.data() + first * view.batch_stride(),
          count,
          view.rows(),
          view.cols(),
          view.batch_stride(),
          view.row_stride(),
          view.col_stride(),
          view.device()};
}
template <class T>
definite_outputs<T> part_of(const definite_outputs<T>& out, std::int64_t first, std::int64_t count) {
  const Device& device = out.w.device();
  return {{out.w.data() + first * out.w.stride(), count, out.w.cols(), out.w.stride(), device},
          part_of(out.v, first, count),
          {out.status.data() + first, count, device}};
}

/// What becomes of the factors of G, A = G G^T: w = S^2, V = U.
template <class T>
struct square_values {
  using real = accumulator_t<T>;
  const real *s, *u;  ///< [count, n] and [count, n, n]
  const std::int32_t *of_factor, *of_values;
  definite_outputs<T> out;
  std::int64_t n, first;  ///< values of each, and the first of those that are wanted

  void operator()(std::int64_t index) const {
    const std::int64_t b = index / n, j = index % n, to = n - 1 - j - first;
    if (j == 0) out.status[b] = of_factor[b] != ok ? of_factor[b] : of_values[b];
    if (to < 0 || to >= out.w.cols()) return;
    out.w(b, to) = s[index] * s[index];
    for (std::int64_t i = 0; i < out.v.rows(); ++i) out.v(b, i, to) = T(u[(b * n + i) * n + j]);
  }
};

/// Vectors of the generalised problem, with the largest element positive.
template <class T>
struct store_restored {
  using real = accumulator_t<T>;
  const real *w, *vectors;  ///< [count, k] and [count, n, k]
  const std::int32_t *of_factor, *of_values;
  definite_outputs<T> out;

  void operator()(std::int64_t index) const {
    const std::int64_t n = out.v.rows(), k = out.w.cols(), b = index / k, j = index % k;
    out.w(b, j) = w[index];
    if (j == 0) out.status[b] = of_factor[b] != ok ? of_factor[b] : of_values[b];
    if (n == 0) return;
    const real* const column = vectors + b * n * k + j;
    real largest = 0;
    for (std::int64_t i = 0; i < n; ++i)
      if (absolute(column[i * k]) > absolute(largest)) largest = column[i * k];
    const real sign = largest < 0 ? real(-1) : real(1);
    for (std::int64_t i = 0; i < n; ++i) out.v(b, i, j) = T(sign * column[i * k] + real(0));  // no zero is -0
  }
};

/// The factors of a group of matrices and what is computed with them.
template <class T>
class definite_group {
  using real = accumulator_t<T>;

 public:
  definite_group(std::int64_t count, std::int64_t n, const eigen_options& options, const Device& device)
      : device_(device),
        options_(options),
        n_(n),
        factor_(count * n * n, device),
        rest_(count * n * n, device),
        vectors_(options.vectors ? count * n * n : 0, device),
        size_(count * n, device),
        values_(count * n, device),
        used_(count * n, device),
        of_factor_(count, device),
        of_values_(count, device),
        sweeps_(count, device) {}

  /// w = S^2 and V = U of the singular values of a factor, by one-sided Jacobi.
  void square(const batch_view<const T>& a, const definite_outputs<T>& out) {
    factorise(a, true);
    const std::int64_t count = a.batch();
    // Row k of the memory is column k of the factor. V of the decomposition is not wanted; `rest` has room for it.
    const batch_view<const real> factor(factor_.data(), count, n_, n_, n_ * n_, 1, n_, device_);
    svd::options options;
    options.vectors = options_.vectors ? vectors::economy : vectors::none;
    options.preconditioning = preconditioning::none;
    options.canonical_signs = true;
    options.part_of = options_.part_of;
    any_output_batch u, v;
    if (options_.vectors) {
      u = any_output_batch(vectors_.data(), count, n_, n_, device_);
      v = any_output_batch(rest_.data(), count, n_, n_, device_);
    }
    decompose(any_batch(factor),
              {u, v, any_output_matrix(values_.data(), count, n_, device_), status(of_values_, count),
               status(sweeps_, count)},
              options, device_);
    device::for_each(count * n_,
                     square_values<T>{values_.data(), vectors_.data(), of_factor_.data(), of_values_.data(), out, n_,
                                      options_.first},
                     device_);
  }

  /// A x = lambda B x by B = L L^T.
  void solve(const batch_view<const T>& a, const batch_view<const T>& b, const definite_outputs<T>& out) {
    factorise(b, false);
    const std::int64_t count = a.batch(), values = out.w.cols();
    const bool upper = options_.triangle == triangle::upper;
    launch_on(reduce_kernel<T, definite_host>{a, upper, memory()},
              reduce_kernel<T, definite_device>{a, upper, memory()}, count);
    any_output_batch vectors;
    if (options_.vectors) vectors = any_output_batch(vectors_.data(), count, n_, values, device_);
    const eigen_options options{
        .vectors = options_.vectors, .first = options_.first, .count = options_.count, .part_of = options_.part_of};
    eigen(batch_view<const real>(rest_.data(), count, n_, n_, device_),
          {any_output_matrix(values_.data(), count, values, device_), vectors, status(of_values_, count)}, options,
          device_);
    if (options_.vectors)
      launch_on(restore_kernel<real, definite_host>{memory(), vectors_.data(), std::int32_t(values)},
                restore_kernel<real, definite_device>{memory(), vectors_.data(), std::int32_t(values)}, count);
    device::for_each(count * values,
                     store_restored<T>{values_.data(), vectors_.data(), of_factor_.data(), of_values_.data(), out},
                     device_);
  }

 private:
  Device device_;
  eigen_options options_;
  std::int64_t n_;
  Buffer<real> factor_, rest_, vectors_, size_, values_;
  Buffer<std::int32_t> used_, of_factor_, of_values_, sweeps_;

  cholesky_memory<real> memory() {
    return {factor_.data(), rest_.data(), size_.data(), used_.data(), of_factor_.data(), std::int32_t(n_)};
  }
  vector_view<std::int32_t> status(Buffer<std::int32_t>& buffer, std::int64_t count) {
    return {buffer.data(), count, device_};
  }

  template <class Host, class OnDevice>
  void launch_on(const Host& host, const OnDevice& on_device, std::int64_t tiles) {
    if (device_.kind() == device_kind::host)
      device::launch(host, tiles, device_);
    else
      device::launch(on_device, tiles, device_);
  }

  void factorise(const batch_view<const T>& a, bool pivots) {
    const bool upper = options_.triangle == triangle::upper;
    launch_on(cholesky_kernel<T, definite_host>{a, upper, pivots, memory()},
              cholesky_kernel<T, definite_device>{a, upper, pivots, memory()}, a.batch());
  }
};

/// compute(group, first, count) for groups of matrices that memory holds.
template <class T, class Compute>
void for_groups(std::int64_t batch, std::int64_t n, eigen_options options, const Device& device, Compute compute) {
  const std::int64_t bytes = 3 * n * n * std::int64_t(sizeof(accumulator_t<T>));
  const std::int64_t limit = device.kind() == device_kind::host ? host_workspace : device_workspace;
  const std::int64_t size = std::min(batch, std::max<std::int64_t>(1, limit / bytes));
  options.part_of = std::max(batch, options.part_of);
  definite_group<T> group(size, n, options, device);
  for (std::int64_t first = 0; first < batch; first += size) compute(group, first, std::min(size, batch - first));
}

template <class T>
definite_outputs<T> outputs_of(const eigen_outputs& out, const eigen_options& options) {
  return {out.w.as<accumulator_t<T>>("w"), options.vectors ? out.v.as<T>("v") : batch_view<T>(), out.status};
}

template <class T>
Device typed_positive(const batch_view<const T>& a, const definite_outputs<T>& out, const eigen_options& options,
                      const Device& requested_device) {
  const Device device =
      device::run_device(requested_device, {{"a", a}, {"w", out.w}, {"v", out.v}, {"status", out.status}});
  if (a.batch() == 0 || a.rows() == 0) return device;
  const stage_region stage("eigen");
  const device::staged_in in(a, device);
  device::staged_out w(out.w, device);
  device::staged_out v(out.v, device);
  device::staged_out status(out.status, device);
  const definite_outputs<T> all{w.view(), v.view(), status.view()};
  for_groups<T>(a.batch(), a.rows(), options, device, [&](definite_group<T>& group, auto first, auto count) {
    group.square(part_of(in.view(), first, count), part_of(all, first, count));
  });
  device::finish(w, v, status);
  return device;
}

template <class T>
Device typed_generalised(const batch_view<const T>& a, const batch_view<const T>& b, const definite_outputs<T>& out,
                         const eigen_options& options, const Device& requested_device) {
  check_eigen(a, out.w, out.v, out.status, options);
  require_shape(b, a.batch(), a.rows(), a.rows(), "b");
  require_argument(!options.positive, "positive", options.positive, "false: B has to be definite, not A");
  const Device device =
      device::run_device(requested_device, {{"a", a}, {"b", b}, {"w", out.w}, {"v", out.v}, {"status", out.status}});
  if (a.batch() == 0) return device;
  const stage_region stage("eigen");
  const device::staged_in of_a(a, device), of_b(b, device);
  device::staged_out w(out.w, device);
  device::staged_out v(out.v, device);
  device::staged_out status(out.status, device);
  const definite_outputs<T> all{w.view(), v.view(), status.view()};
  if (a.rows() == 0)
    device::for_each(a.batch(), device::detail::fill_function<std::int32_t>{status.view().data(), ok}, device);
  else
    for_groups<T>(a.batch(), a.rows(), options, device, [&](definite_group<T>& group, auto first, auto count) {
      group.solve(part_of(of_a.view(), first, count), part_of(of_b.view(), first, count), part_of(all, first, count));
    });
  device::finish(w, v, status);
  return device;
}

}  // namespace

Device eigen_positive(any_batch a, const eigen_outputs& out, const eigen_options& options, const Device& device) {
  return with_storage(
      a.type, [&]<class T>() { return typed_positive<T>(a.as<T>("a"), outputs_of<T>(out, options), options, device); });
}

Device eigen_generalised(any_batch a, any_batch b, const eigen_outputs& out, const eigen_options& options,
                         const Device& device) {
  return with_storage(a.type, [&]<class T>() {
    return typed_generalised<T>(a.as<T>("a"), b.as<T>("b"), outputs_of<T>(out, options), options, device);
  });
}

}  // namespace quintet::svd
