// What solutions of linear systems leave.
#include <limits>

#include "device/for_each.hpp"
#include "device/staged.hpp"
#include "quintet/core/error.hpp"
#include "quintet/svd/applications.hpp"
#include "svd/checks.hpp"
#include "svd/sums.hpp"

namespace quintet::svd {

namespace {

/// out(b, i, j) = (A x - right)_ij, one element of all matrices per call.
template <class T>
struct residual_element {
  using real = accumulator_t<T>;
  batch_view<const T> a, x, right;
  batch_view<real> out;

  void operator()(std::int64_t index) const {
    const std::int64_t j = index % out.cols(), row = index / out.cols(), i = row % out.rows(), b = row / out.rows();
    const real product =
        sum_of_terms<real>(a.cols(), [&](std::int64_t k) { return real(a(b, i, k)) * real(x(b, k, j)); });
    out(b, i, j) = product - real(right(b, i, j));
  }
};

/// Norms of columns, scaled by their largest element, so that no square overflows.
template <class Real>
struct column_norm {
  batch_view<const Real> columns;
  matrix_view<Real> out;

  void operator()(std::int64_t index) const {
    const std::int64_t j = index % columns.cols(), b = index / columns.cols();
    Real largest = 0;
    for (std::int64_t i = 0; i < columns.rows(); ++i) {
      const Real size = absolute(columns(b, i, j));
      if (!(size <= largest)) largest = size;  // NaN stays
    }
    if (!(largest > 0 && largest <= std::numeric_limits<Real>::max())) {
      out(b, j) = largest;
      return;
    }
    const Real sum = sum_of_terms<Real>(columns.rows(), [&](std::int64_t i) {
      const Real part = columns(b, i, j) / largest;
      return part * part;
    });
    out(b, j) = largest * root(sum);
  }
};

template <class T>
void require_system(batch_view<const T> a, batch_view<const T> x, batch_view<const T> right,
                    const matrix_view<accumulator_t<T>>& out) {
  require_shape(x, a.batch(), a.cols(), right.cols(), "x");
  require_shape(right, a.batch(), a.rows(), right.cols(), "right");
  require_argument(out.rows() == a.batch(), "out.rows", out.rows(), text("the batch, ", a.batch()));
  require_argument(out.cols() == right.cols(), "out.cols", out.cols(), text("the columns of right, ", right.cols()));
}

template <class T>
Device typed_residual_norm(batch_view<const T> a, batch_view<const T> x, batch_view<const T> right,
                           matrix_view<accumulator_t<T>> out, const Device& requested_device) {
  using real = accumulator_t<T>;
  require_system(a, x, right, out);
  const Device device = device::run_device(requested_device, {{"a", a}, {"x", x}, {"right", right}, {"out", out}});
  const std::int64_t batch = a.batch(), rows = a.rows(), cols = right.cols();
  if (batch == 0 || cols == 0) return device;
  const device::staged_in matrices(a, device), solutions(x, device), sides(right, device);
  device::staged_out to(out, device);
  Buffer<real> rest(batch * rows * cols, device);
  const batch_view<real> elements(rest.data(), batch, rows, cols, device);
  device::for_each(rest.size(), residual_element<T>{matrices.view(), solutions.view(), sides.view(), elements}, device);
  device::for_each(batch * cols, column_norm<real>{elements, to.view()}, device);
  to.finish();
  return device;
}

}  // namespace

Device residual_norm(any_batch a, any_batch x, any_batch right, any_output_matrix out, const Device& device) {
  return with_storage(a.type, [&]<class T>() {
    return typed_residual_norm<T>(a.as<T>("a"), x.as<T>("x"), right.as<T>("right"), out.as<accumulator_t<T>>("out"),
                                  device);
  });
}

}  // namespace quintet::svd
