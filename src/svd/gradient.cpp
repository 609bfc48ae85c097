#include "quintet/svd/gradient.hpp"

#include <algorithm>
#include <limits>

#include "device/launch.hpp"
#include "quintet/core/error.hpp"
#include "svd/gradient_kernel.hpp"
#include "svd/resident_batch.hpp"

namespace quintet::svd {

namespace {

struct host_shape {
  enum { on_device = 0 };
};
struct device_shape {
  enum { on_device = 1 };
};

/// Tiles that may be in work on a device at the same time.
constexpr std::int64_t device_tiles = 2048;

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
void check(const decomposition<T>& d, batch_view<const T> gu, matrix_view<const accumulator_t<T>> gs,
           batch_view<const T> gv, const gradient_options& options) {
  const std::int64_t all = std::min(d.rows, d.cols);
  require_argument(d.values == all, "values", d.values, text("min(m, n) = ", all, ": gradients need all of them"));
  if (d.u_cols < all || d.v_cols < all) throw InvalidArgument("the decomposition must have its vectors");
  check_derivative(gu, d.batch, d.rows, d.u_cols, "gu");
  check_derivative(gv, d.batch, d.cols, d.v_cols, "gv");
  if (!is_absent(gs) && (gs.rows() != d.batch || gs.cols() != d.values))
    throw InvalidArgument(
        text("gs must be empty or [", d.batch, " x ", d.values, "] (gs=[", gs.rows(), " x ", gs.cols(), "])"));
  require_argument(options.tolerance >= 0, "tolerance", options.tolerance, ">= 0");
}

/// A view as a dense row-major vector; empty for an absent one.
template <class T>
std::vector<T> dense(batch_view<const T> a) {
  std::vector<T> values;
  if (is_absent(a)) return values;
  values.reserve(a.batch() * a.rows() * a.cols());
  for (std::int64_t b = 0; b < a.batch(); ++b)
    for (std::int64_t i = 0; i < a.rows(); ++i)
      for (std::int64_t j = 0; j < a.cols(); ++j) values.push_back(a(b, i, j));
  return values;
}

template <class T>
std::vector<T> dense(matrix_view<const T> a) {
  return dense(batch_view<const T>(a.data(), 1, a.rows(), a.cols(), 0, a.stride(), 1));
}

template <class T>
const T* data_or_null(const device::mirror<T>& mirror, const std::vector<T>& values) {
  return values.empty() ? nullptr : mirror.data();
}

}  // namespace

template <class T>
std::vector<T> gradient(const decomposition<T>& d, batch_view<const T> gu, matrix_view<const accumulator_t<T>> gs,
                        batch_view<const T> gv, const gradient_options& options, const Device& device) {
  using real = accumulator_t<T>;
  check(d, gu, gs, gv, options);
  std::vector<T> result(d.batch * d.rows * d.cols);
  if (result.empty()) return result;
  const std::vector<T> dense_gu = dense(gu), dense_gv = dense(gv);
  const std::vector<real> dense_gs = dense(gs);
  const device::mirror<T> u(d.u, device), v(d.v, device), on_gu(dense_gu, device), on_gv(dense_gv, device);
  const device::mirror<real> s(d.s, device), on_gs(dense_gs, device);
  const std::int64_t slot = 3 * d.values * d.values + (d.rows + d.cols) * d.values;
  const std::int64_t most = device.kind() == device_kind::host ? 8 * std::int64_t(threads()) : device_tiles;
  const std::int64_t tiles = std::min(d.batch, most);
  Buffer<real> workspace(slot * tiles, device);
  const double tolerance = options.tolerance > 0
                               ? options.tolerance
                               : 10.0 * double(std::max(d.rows, d.cols)) * double(std::numeric_limits<real>::epsilon());
  {
    device::mirror_back<T> ga(result, device);
    device::with_shape<host_shape, device_shape>(device, [&](auto shape) {
      const gradient_kernel<T, decltype(shape)> kernel{u.data(),
                                                       v.data(),
                                                       data_or_null(on_gu, dense_gu),
                                                       data_or_null(on_gv, dense_gv),
                                                       s.data(),
                                                       data_or_null(on_gs, dense_gs),
                                                       ga.data(),
                                                       d.batch,
                                                       tiles,
                                                       std::int32_t(d.rows),
                                                       std::int32_t(d.cols),
                                                       std::int32_t(d.values),
                                                       std::int32_t(d.u_cols),
                                                       std::int32_t(d.v_cols),
                                                       std::int32_t(options.policy),
                                                       real(tolerance),
                                                       workspace.data(),
                                                       slot};
      device::launch(kernel, tiles, device);
    });
  }
  return result;
}

template std::vector<double> gradient(const decomposition<double>&, batch_view<const double>, matrix_view<const double>,
                                      batch_view<const double>, const gradient_options&, const Device&);
template std::vector<float> gradient(const decomposition<float>&, batch_view<const float>, matrix_view<const float>,
                                     batch_view<const float>, const gradient_options&, const Device&);
template std::vector<half> gradient(const decomposition<half>&, batch_view<const half>, matrix_view<const float>,
                                    batch_view<const half>, const gradient_options&, const Device&);
template std::vector<bfloat16> gradient(const decomposition<bfloat16>&, batch_view<const bfloat16>,
                                        matrix_view<const float>, batch_view<const bfloat16>, const gradient_options&,
                                        const Device&);

}  // namespace quintet::svd
