#include "quintet/svd/applications.hpp"

#include <algorithm>
#include <limits>

#include "device/for_each.hpp"
#include "device/staged.hpp"
#include "quintet/core/error.hpp"
#include "svd/checks.hpp"
#include "svd/sums.hpp"

namespace quintet::svd {

namespace {

/// Largest number that counts as zero in a matrix, by its largest singular value.
template <class Real>
struct zero_limit {
  Real relative = 0, absolute = 0;
  Real of(Real largest) const { return larger(relative * largest, absolute); }
};

/// What a singular value is replaced by.
enum class weight : std::int32_t { one, value, inverse };

/// out(b, i, j) = outer(b, i) sum_k left(b, i, k) inner(b, k) right(b, j, k), one element of all matrices per call. The
/// pseudo-inverse (Penrose 1955), nearest matrices (Eckart, Young 1936) and polar factors (Higham 1986) are such
/// products.
template <class T, class Right, class Out>
struct weighted_product {
  using real = accumulator_t<T>;
  batch_view<const T> left;
  batch_view<const Right> right;
  matrix_view<const real> s;
  batch_view<Out> out;
  std::int64_t count;
  weight inner, outer;
  zero_limit<real> limit;  ///< singular values at or below it have no inverse

  real weight_of(weight kind, std::int64_t b, std::int64_t k) const {
    if (kind == weight::one) return real(1);
    const real* values = s.data() + b * s.stride();
    if (kind == weight::value) return values[k];
    return values[k] <= limit.of(values[0]) ? real(0) : real(1) / values[k];  // NaN stays
  }

  void operator()(std::int64_t index) const {
    const std::int64_t j = index % out.cols(), row = index / out.cols(), i = row % out.rows(), b = row / out.rows();
    const real sum = sum_of_terms<real>(
        count, [&](std::int64_t k) { return real(left(b, i, k)) * weight_of(inner, b, k) * real(right(b, j, k)); });
    out(b, i, j) = Out(sum * weight_of(outer, b, i));
  }
};

template <class T, class Right, class Out>
void multiply(const weighted_product<T, Right, Out>& product, const Device& device) {
  device::for_each(product.out.batch() * product.out.rows() * product.out.cols(), product, device);
}

/// s_1 / s_n (Golub, Van Loan 1996, 2.7.2).
template <class Real>
struct condition_function {
  matrix_view<const Real> s;
  Real* out;
  void operator()(std::int64_t b) const {
    const std::int64_t k = s.cols();
    const Real* values = s.data() + b * s.stride();
    out[b] = k == 0 ? Real(1) : values[k - 1] == 0 ? std::numeric_limits<Real>::infinity() : values[0] / values[k - 1];
  }
};

template <class Real>
zero_limit<Real> limit_of(rank_tolerance tolerance, std::int64_t rows, std::int64_t cols) {
  const double usual = double(std::max(rows, cols)) * double(std::numeric_limits<Real>::epsilon());
  const double relative = tolerance.relative.value_or(tolerance.absolute ? 0.0 : usual);
  const double absolute = tolerance.absolute.value_or(0.0);
  require_argument(relative >= 0, "relative", relative, ">= 0");
  require_argument(absolute >= 0, "absolute", absolute, ">= 0");
  return {Real(relative), Real(absolute)};
}

template <class T>
void require_factors(const factors_view<T>& f) {
  if (f.u.cols() < f.s.cols() || f.v.cols() < f.s.cols())
    throw InvalidArgument("the decomposition must have its vectors");
  require_argument(f.u.batch() == f.s.rows(), "u.batch", f.u.batch(), text("the batch, ", f.s.rows()));
  require_argument(f.v.batch() == f.s.rows(), "v.batch", f.v.batch(), text("the batch, ", f.s.rows()));
}

/// Calls compute(factors, out) with everything in the memory of the device of the call.
template <class T, class Compute>
Device compute_on_device(const factors_view<T>& f, const batch_view<T>& out, const Device& requested_device,
                         Compute compute) {
  const Device device = device::run_device(requested_device, {{"u", f.u}, {"v", f.v}, {"s", f.s}, {"out", out}});
  const device::staged_in u(f.u, device), v(f.v, device);
  const device::staged_in s(f.s, device);
  device::staged_out to(out, device);
  compute(factors_view<T>{u.view(), v.view(), s.view()}, to.view(), device);
  to.finish();
  return device;
}

template <class T>
Device typed_pseudo_inverse(const factors_view<T>& f, batch_view<T> out, rank_tolerance tolerance,
                            const Device& requested_device) {
  require_factors(f);
  require_shape(out, f.s.rows(), f.v.rows(), f.u.rows(), "out");
  using real = accumulator_t<T>;
  const zero_limit<real> limit = limit_of<real>(tolerance, f.u.rows(), f.v.rows());
  return compute_on_device(
      f, out, requested_device, [&](const factors_view<T>& g, const batch_view<T>& to, const Device& device) {
        multiply<T, T, T>({g.v, g.u, g.s, to, g.s.cols(), weight::inverse, weight::one, limit}, device);
      });
}

template <class T>
Device typed_least_squares(const factors_view<T>& f, batch_view<const T> right, batch_view<T> out,
                           rank_tolerance tolerance, const Device& requested_device) {
  using real = accumulator_t<T>;
  require_factors(f);
  const std::int64_t batch = f.s.rows(), values = f.s.cols(), count = right.cols();
  require_argument(right.batch() == batch, "right.batch", right.batch(), text("the batch, ", batch));
  require_argument(right.rows() == f.u.rows(), "right.rows", right.rows(), text("m = ", f.u.rows()));
  require_shape(out, batch, f.v.rows(), count, "out");
  const zero_limit<real> limit = limit_of<real>(tolerance, f.u.rows(), f.v.rows());
  const Device target =
      device::run_device(requested_device, {{"right", right}, {"u", f.u}, {"v", f.v}, {"s", f.s}, {"out", out}});
  return compute_on_device(
      f, out, target, [&](const factors_view<T>& g, const batch_view<T>& to, const Device& device) {
        const device::staged_in given_right(right, device);
        // diag(1 / S) U^T R, then V times that.
        Buffer<real> coordinates(batch * values * count, device);
        const batch_view<real> middle(coordinates.data(), batch, values, count, device);
        const batch_view<const real> columns(coordinates.data(), batch, count, values, values * count, 1, count,
                                             device);
        const batch_view<const T> u(g.u.data(), batch, values, g.u.rows(), g.u.batch_stride(), g.u.col_stride(),
                                    g.u.row_stride(), device);
        multiply<T, T, real>(
            {u, given_right.view().transposed(), g.s, middle, g.u.rows(), weight::one, weight::inverse, limit}, device);
        multiply<T, real, T>({g.v, columns, g.s, to, values, weight::one, weight::one, limit}, device);
      });
}

template <class T>
Device typed_low_rank_approximation(const factors_view<T>& f, std::int64_t rank, batch_view<T> out,
                                    const Device& requested_device) {
  require_factors(f);
  require_argument(rank >= 0, "rank", rank, ">= 0");
  require_shape(out, f.s.rows(), f.u.rows(), f.v.rows(), "out");
  return compute_on_device(
      f, out, requested_device, [&](const factors_view<T>& g, const batch_view<T>& to, const Device& device) {
        multiply<T, T, T>({g.u, g.v, g.s, to, std::min(rank, g.s.cols()), weight::value, weight::one, {}}, device);
      });
}

template <class Real>
Device typed_condition_number(matrix_view<const Real> s, vector_view<Real> out, const Device& requested_device) {
  require_argument(out.size() == s.rows(), "out.size", out.size(), text("the batch, ", s.rows()));
  const Device device = device::run_device(requested_device, {{"s", s}, {"out", out}});
  const device::staged_in values(s, device);
  device::staged_out to(out, device);
  device::for_each(s.rows(), condition_function<Real>{values.view(), to.view().data()}, device);
  to.finish();
  return device;
}

template <class T>
Device typed_polar(const factors_view<T>& f, batch_view<T> w, batch_view<T> h, const Device& requested_device) {
  require_factors(f);
  const std::int64_t m = f.u.rows(), n = f.v.rows();
  require_all_values({f.s.rows(), m, n, f.s.cols()});
  require_shape(w, f.s.rows(), m, n, "w");
  require_shape(h, f.s.rows(), n, n, "h");
  const Device target = device::run_device(requested_device, {{"w", w}, {"h", h}, {"u", f.u}, {"v", f.v}, {"s", f.s}});
  compute_on_device(f, w, target, [&](const factors_view<T>& g, const batch_view<T>& to, const Device& device) {
    multiply<T, T, T>({g.u, g.v, g.s, to, g.s.cols(), weight::one, weight::one, {}}, device);
  });
  return compute_on_device(f, h, target, [&](const factors_view<T>& g, const batch_view<T>& to, const Device& device) {
    multiply<T, T, T>({g.v, g.v, g.s, to, g.s.cols(), weight::value, weight::one, {}}, device);
  });
}

}  // namespace

std::vector<std::int64_t> numerical_rank(const any_factors& f, rank_tolerance tolerance) {
  return with_real(f.s.type, "s", [&]<class Real>() {
    const matrix_view<const Real> s = f.s.as<Real>("s");
    const zero_limit<Real> limit = limit_of<Real>(tolerance, f.u.rows, f.v.rows);
    std::vector<std::int64_t> ranks(s.rows());
    for (std::int64_t b = 0; b < s.rows(); ++b)
      for (std::int64_t j = 0; j < s.cols(); ++j) ranks[b] += s(b, j) > limit.of(s(b, 0)) ? 1 : 0;
    return ranks;
  });
}

Device pseudo_inverse(const any_factors& f, any_output_batch out, rank_tolerance tolerance, const Device& device) {
  return with_storage(f.u.type, [&]<class T>() {
    return typed_pseudo_inverse<T>(factors_of<T>(f), out.as<T>("out"), tolerance, device);
  });
}

Device least_squares(const any_factors& f, any_batch right, any_output_batch out, rank_tolerance tolerance,
                     const Device& device) {
  return with_storage(f.u.type, [&]<class T>() {
    return typed_least_squares<T>(factors_of<T>(f), right.as<T>("right"), out.as<T>("out"), tolerance, device);
  });
}

Device low_rank_approximation(const any_factors& f, std::int64_t rank, any_output_batch out, const Device& device) {
  return with_storage(f.u.type, [&]<class T>() {
    return typed_low_rank_approximation<T>(factors_of<T>(f), rank, out.as<T>("out"), device);
  });
}

Device condition_number(any_matrix s, any_output_vector out, const Device& device) {
  return with_real(s.type, "s", [&]<class Real>() {
    return typed_condition_number<Real>(s.as<Real>("s"), out.as<Real>("out"), device);
  });
}

Device polar(const any_factors& f, any_output_batch w, any_output_batch h, const Device& device) {
  return with_storage(f.u.type,
                      [&]<class T>() { return typed_polar<T>(factors_of<T>(f), w.as<T>("w"), h.as<T>("h"), device); });
}

void require_all_values(const decomposition_shape& d) {
  const std::int64_t all = std::min(d.rows, d.cols);
  require_argument(d.values == all, "values", d.values, text("min(m, n) = ", all));
}

}  // namespace quintet::svd
