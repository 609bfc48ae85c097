#include "quintet/svd/symmetric.hpp"

#include "device/for_each.hpp"
#include "device/staged.hpp"
#include "quintet/core/error.hpp"
#include "svd/checks.hpp"
#include "svd/lane_math.hpp"

namespace quintet::svd {

namespace {

template <class T>
struct typed_symmetric_outputs {
  batch_view<T> u, v;
  matrix_view<accumulator_t<T>> s;
  vector_view<std::int32_t> status, sweeps;
};

/// Eigenpair j of matrix b at the place of its size among all.
template <class T>
struct sort_by_size {
  using real = accumulator_t<T>;
  matrix_view<const real> w;
  batch_view<const T> vectors;
  typed_symmetric_outputs<T> out;

  void operator()(std::int64_t index) const {
    const std::int64_t n = w.cols(), b = index / n, j = index % n;
    const real value = w(b, j), size = absolute(value);
    std::int64_t place = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const real other = absolute(w(b, i));
      if (other > size || (!(size > other) && i < j)) ++place;
    }
    if (place >= out.s.cols()) return;
    out.s(b, place) = size;
    for (std::int64_t i = 0; i < out.v.rows(); ++i) {
      const T element = vectors(b, i, j);
      out.v(b, i, place) = element;
      out.u(b, i, place) = value < 0 ? T(real(0) - real(element)) : element;  // no zero becomes -0
    }
  }
};

template <class T>
void require_outputs(const batch_view<const T>& a, const typed_symmetric_outputs<T>& out,
                     const eigen_options& options) {
  const std::int64_t batch = a.batch(), n = a.rows();
  if (a.cols() != n) throw InvalidArgument(text("a must be square (a=[", batch, " x ", n, " x ", a.cols(), "])"));
  require_argument(options.count == 0 && options.first == 0, "count", options.count,
                   "0, and first too: the largest |w| are wanted, whose number is that of the columns of s");
  require_argument(out.s.rows() == batch, "s.rows", out.s.rows(), text("the batch, ", batch));
  require_argument(out.s.cols() <= n, "s.cols", out.s.cols(), text("<= the size of the matrices, ", n));
  if (options.vectors) require_shape(out.u, batch, n, out.s.cols(), "u");
  if (options.vectors) require_shape(out.v, batch, n, out.s.cols(), "v");
  require_argument(out.sweeps.size() == batch, "sweeps.size", out.sweeps.size(), text("the batch, ", batch));
}

template <class T>
Device typed_decompose_symmetric(const batch_view<const T>& a, typed_symmetric_outputs<T> out,
                                 const eigen_options& options, const Device& requested_device) {
  using real = accumulator_t<T>;
  require_outputs(a, out, options);
  if (!options.vectors) out.u = out.v = {};
  const Device device = device::run_device(
      requested_device,
      {{"a", a}, {"u", out.u}, {"v", out.v}, {"s", out.s}, {"status", out.status}, {"sweeps", out.sweeps}});
  const std::int64_t batch = a.batch(), n = a.rows();
  Buffer<real> w(batch * n, device);
  Buffer<T> vectors(options.vectors ? batch * n * n : 0, device);
  device::staged_out u(out.u, device), v(out.v, device);
  device::staged_out s(out.s, device);
  device::staged_out status(out.status, device), sweeps(out.sweeps, device);
  any_output_batch v_of_eigen;
  if (options.vectors) v_of_eigen = any_output_batch(vectors.data(), batch, n, n, device);
  eigen(any_batch(a), {any_output_matrix(w.data(), batch, n, n, device), v_of_eigen, status.view()}, options, device);
  const sort_by_size<T> sort{matrix_view<const real>(w.data(), batch, n, device),
                             batch_view<const T>(vectors.data(), batch, options.vectors ? n : 0, n, device),
                             {u.view(), v.view(), s.view(), status.view(), sweeps.view()}};
  device::for_each(batch * n, sort, device);
  device::for_each(batch, device::detail::fill_function<std::int32_t>{sweeps.view().data(), 0}, device);
  device::finish(u, v, s, status, sweeps);
  return device;
}

}  // namespace

Device decompose_symmetric(any_batch a, const outputs& out, const eigen_options& options, const Device& device) {
  return with_storage(a.type, [&]<class T>() {
    return typed_decompose_symmetric<T>(
        a.as<T>("a"), {out.u.as<T>("u"), out.v.as<T>("v"), out.s.as<accumulator_t<T>>("s"), out.status, out.sweeps},
        options, device);
  });
}

}  // namespace quintet::svd
