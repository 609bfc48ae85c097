#include "quintet/svd/gradient.hpp"

#include <algorithm>
#include <limits>

#include "device/launch.hpp"
#include "device/staged.hpp"
#include "quintet/core/error.hpp"
#include "svd/checks.hpp"
#include "svd/gradient_kernel.hpp"
#include "svd/polar_gradient_kernel.hpp"

namespace quintet::svd {

namespace {

struct host_shape {
  enum { on_device = 0 };
};
struct device_shape {
  enum { on_device = 1 };
};

/// Tiles that may be in work on a device at the same time.
constexpr std::int64_t device_gradient_tiles = 2048;

template <class View>
bool is_absent(const View& view) {
  return view.data() == nullptr;
}

template <class T>
void check_derivative(batch_view<const T> g, std::int64_t batch, std::int64_t rows, std::int64_t cols,
                      const char* name) {
  if (is_absent(g) || (g.batch() == batch && g.rows() == rows && g.cols() == cols)) return;
  throw InvalidArgument(text(name, " must be empty or [", batch, " x ", rows, " x ", cols, "] (", name, "=[", g.batch(),
                             " x ", g.rows(), " x ", g.cols(), "])"));
}

template <class T>
void check_factors(const factors_view<T>& f, const batch_view<T>& out, const gradient_options& options) {
  const std::int64_t batch = f.s.rows(), m = f.u.rows(), n = f.v.rows(), all = std::min(m, n);
  require_argument(f.u.batch() == batch, "u.batch", f.u.batch(), text("the batch, ", batch));
  require_argument(f.v.batch() == batch, "v.batch", f.v.batch(), text("the batch, ", batch));
  require_argument(f.s.cols() == all, "values", f.s.cols(), text("min(m, n) = ", all, ": gradients need all of them"));
  if (f.u.cols() < all || f.v.cols() < all) throw InvalidArgument("the decomposition must have its vectors");
  require_shape(out, batch, m, n, "out");
  require_argument(options.tolerance >= 0, "tolerance", options.tolerance, ">= 0");
}

template <class T>
void check(const factors_view<T>& f, batch_view<const T> gu, matrix_view<const accumulator_t<T>> gs,
           batch_view<const T> gv, const batch_view<T>& out, const gradient_options& options) {
  check_factors(f, out, options);
  const std::int64_t batch = f.s.rows(), all = f.s.cols();
  check_derivative(gu, batch, f.u.rows(), f.u.cols(), "gu");
  check_derivative(gv, batch, f.v.rows(), f.v.cols(), "gv");
  if (!is_absent(gs) && (gs.rows() != batch || gs.cols() != all))
    throw InvalidArgument(
        text("gs must be empty or [", batch, " x ", all, "] (gs=[", gs.rows(), " x ", gs.cols(), "])"));
}

/// Matrices in work at the same time.
std::int64_t tiles_of(std::int64_t batch, const Device& device) {
  return std::min(batch, device.kind() == device_kind::host ? 8 * std::int64_t(threads()) : device_gradient_tiles);
}

template <class Real>
Real tolerance_of(const gradient_options& options, std::int64_t m, std::int64_t n) {
  if (options.tolerance > 0) return Real(options.tolerance);
  return Real(10.0 * double(std::max(m, n)) * double(std::numeric_limits<Real>::epsilon()));
}

/// Of falling values; `rectangular`: the zeros of the longer side count, too.
template <class Real>
bool is_degenerate(vector_view<const Real> s, Real limit, bool rectangular) {
  for (std::int64_t j = 1; j < s.size(); ++j)
    if (s[j - 1] - s[j] <= limit) return true;
  return rectangular && s.size() > 0 && s[s.size() - 1] <= limit;
}

template <class T>
Device typed_gradient(const factors_view<T>& f, batch_view<const T> gu, matrix_view<const accumulator_t<T>> gs,
                      batch_view<const T> gv, batch_view<T> out, const gradient_options& options,
                      const Device& requested_device) {
  using real = accumulator_t<T>;
  check(f, gu, gs, gv, out, options);
  const Device device = device::run_device(
      requested_device, {{"u", f.u}, {"v", f.v}, {"s", f.s}, {"gu", gu}, {"gs", gs}, {"gv", gv}, {"out", out}});
  const std::int64_t batch = out.batch(), m = out.rows(), n = out.cols(), k = f.s.cols();
  if (batch * m * n == 0) return device;
  const device::staged_in u(f.u, device), v(f.v, device), on_gu(gu, device), on_gv(gv, device);
  const device::staged_in s(f.s, device), on_gs(gs, device);
  device::staged_out ga(out, device);
  const std::int64_t completing = u.view().cols() - k + v.view().cols() - k;
  const std::int64_t slot = 3 * k * k + (m + n + completing) * k, tiles = tiles_of(batch, device);
  Buffer<real> workspace(slot * tiles, device);
  device::with_shape<host_shape, device_shape>(device, [&](auto shape) {
    const gradient_kernel<T, decltype(shape)> kernel{u.view(),
                                                     v.view(),
                                                     on_gu.view(),
                                                     on_gv.view(),
                                                     s.view(),
                                                     on_gs.view(),
                                                     ga.view(),
                                                     tiles,
                                                     std::int32_t(m),
                                                     std::int32_t(n),
                                                     std::int32_t(k),
                                                     {std::int32_t(options.policy)},
                                                     tolerance_of<accumulator_t<T>>(options, m, n),
                                                     workspace.data(),
                                                     slot};
    device::launch(kernel, tiles, device);
  });
  ga.finish();
  return device;
}

template <class T>
Device typed_polar_gradient(const factors_view<T>& f, batch_view<const T> gw, batch_view<const T> gh, batch_view<T> out,
                            const gradient_options& options, const Device& requested_device) {
  using real = accumulator_t<T>;
  check_factors(f, out, options);
  const std::int64_t batch = out.batch(), m = out.rows(), n = out.cols(), k = f.s.cols();
  check_derivative(gw, batch, m, n, "gw");
  check_derivative(gh, batch, n, n, "gh");
  const Device device =
      device::run_device(requested_device, {{"u", f.u}, {"v", f.v}, {"s", f.s}, {"gw", gw}, {"gh", gh}, {"out", out}});
  if (batch * m * n == 0) return device;
  const device::staged_in u(f.u, device), v(f.v, device), on_gw(gw, device), on_gh(gh, device);
  const device::staged_in s(f.s, device);
  device::staged_out ga(out, device);
  const std::int64_t tiles = tiles_of(batch, device);
  device::with_shape<host_shape, device_shape>(device, [&](auto shape) {
    using kernel_type = polar_gradient_kernel<T, decltype(shape)>;
    const std::int64_t slot = kernel_type::slot_size(m, n, k);
    Buffer<real> workspace(slot * tiles, device);
    const kernel_type kernel{u.view(),
                             v.view(),
                             on_gw.view(),
                             on_gh.view(),
                             s.view(),
                             ga.view(),
                             tiles,
                             std::int32_t(m),
                             std::int32_t(n),
                             std::int32_t(k),
                             {std::int32_t(options.policy)},
                             tolerance_of<accumulator_t<T>>(options, m, n),
                             workspace.data(),
                             slot};
    device::launch(kernel, tiles, device);
  });
  ga.finish();
  return device;
}

}  // namespace

std::int64_t count_degenerate(const any_factors& f, const gradient_options& options) {
  require_argument(options.tolerance >= 0, "tolerance", options.tolerance, ">= 0");
  return with_real(f.s.type, "s", [&]<class Real>() {
    const matrix_view<const Real> s = f.s.as<Real>("s");
    const Real relative = tolerance_of<Real>(options, f.u.rows, f.v.rows);
    std::int64_t count = 0;
    for (std::int64_t b = 0; b < s.rows(); ++b)
      count += s.cols() > 0 && is_degenerate<Real>({s.row(b), s.cols()}, relative * s(b, 0), f.u.rows != f.v.rows);
    return count;
  });
}

Device gradient(const any_factors& f, any_batch gu, any_matrix gs, any_batch gv, any_output_batch out,
                const gradient_options& options, const Device& device) {
  return with_storage(out.type, [&]<class T>() {
    return typed_gradient<T>(factors_of<T>(f), gu.as<T>("gu"), gs.as<accumulator_t<T>>("gs"), gv.as<T>("gv"),
                             out.as<T>("out"), options, device);
  });
}

Device polar_gradient(const any_factors& f, any_batch gw, any_batch gh, any_output_batch out,
                      const gradient_options& options, const Device& device) {
  return with_storage(out.type, [&]<class T>() {
    return typed_polar_gradient<T>(factors_of<T>(f), gw.as<T>("gw"), gh.as<T>("gh"), out.as<T>("out"), options, device);
  });
}

}  // namespace quintet::svd
