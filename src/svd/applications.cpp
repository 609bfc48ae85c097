#include "quintet/svd/applications.hpp"

#include <algorithm>
#include <limits>

#include "device/for_each.hpp"
#include "device/staged.hpp"
#include "instantiate.hpp"
#include "quintet/core/error.hpp"
#include "svd/checks.hpp"
#include "svd/sums.hpp"

namespace quintet::svd {

namespace {

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
  real relative;  ///< singular values at or below this part of the first have no inverse

  real weight_of(weight which, std::int64_t b, std::int64_t k) const {
    if (which == weight::one) return real(1);
    const real* values = s.data() + b * s.stride();
    if (which == weight::value) return values[k];
    return values[k] <= relative * values[0] ? real(0) : real(1) / values[k];  // NaN stays
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

double tolerance_of(rank_tolerance tolerance, std::int64_t rows, std::int64_t cols, double epsilon) {
  const double relative = tolerance.relative.value_or(double(std::max(rows, cols)) * epsilon);
  require_argument(relative >= 0, "relative", relative, ">= 0");
  return relative;
}

template <class T>
void require_factors(const factors_view<T>& f) {
  if (f.u.cols() < f.s.cols() || f.v.cols() < f.s.cols())
    throw InvalidArgument("the decomposition must have its vectors");
  require_argument(f.u.batch() == f.s.rows(), "u.batch", f.u.batch(), text("the batch, ", f.s.rows()));
  require_argument(f.v.batch() == f.s.rows(), "v.batch", f.v.batch(), text("the batch, ", f.s.rows()));
}

void require_all_values(std::int64_t values, std::int64_t rows, std::int64_t cols) {
  const std::int64_t all = std::min(rows, cols);
  require_argument(values == all, "values", values, text("min(m, n) = ", all));
}

/// Calls compute(factors, out) with everything in the memory of the device of the call.
template <class T, class Compute>
Device compute_on_device(const factors_view<T>& f, const batch_view<T>& out, const Device& given, Compute compute) {
  const Device device = device::run_device(given, {{"u", f.u}, {"v", f.v}, {"s", f.s}, {"out", out}});
  const device::staged_in u(f.u, device), v(f.v, device);
  const device::staged_in s(f.s, device);
  device::staged_out to(out, device);
  compute(factors_view<T>{u.view(), v.view(), s.view()}, to.view(), device);
  to.finish();
  return device;
}

}  // namespace

template <class T>
Device pseudo_inverse(const factors_view<T>& f, batch_view<T> out, rank_tolerance tolerance, const Device& given) {
  require_factors(f);
  require_shape(out, f.s.rows(), f.v.rows(), f.u.rows(), "out");
  using real = accumulator_t<T>;
  const real relative = real(tolerance_of(tolerance, f.u.rows(), f.v.rows(), std::numeric_limits<real>::epsilon()));
  return compute_on_device(f, out, given, [&](const factors_view<T>& g, const batch_view<T>& to, const Device& device) {
    multiply<T, T, T>({g.v, g.u, g.s, to, g.s.cols(), weight::inverse, weight::one, relative}, device);
  });
}

template <class T>
Device least_squares(const factors_view<T>& f, batch_view<const T> right, batch_view<T> out, rank_tolerance tolerance,
                     const Device& given) {
  using real = accumulator_t<T>;
  require_factors(f);
  const std::int64_t batch = f.s.rows(), values = f.s.cols(), count = right.cols();
  require_argument(right.batch() == batch, "right.batch", right.batch(), text("the batch, ", batch));
  require_argument(right.rows() == f.u.rows(), "right.rows", right.rows(), text("m = ", f.u.rows()));
  require_shape(out, batch, f.v.rows(), count, "out");
  const real relative =
      real(tolerance_of(tolerance, f.u.rows(), f.v.rows(), double(std::numeric_limits<real>::epsilon())));
  const Device there = device::run_device(given, {{"right", right}, {"u", f.u}, {"v", f.v}, {"s", f.s}, {"out", out}});
  return compute_on_device(f, out, there, [&](const factors_view<T>& g, const batch_view<T>& to, const Device& device) {
    const device::staged_in given_right(right, device);
    // diag(1 / S) U^T R, then V times that.
    Buffer<real> coordinates(batch * values * count, device);
    const batch_view<real> middle(coordinates.data(), batch, values, count, device);
    const batch_view<const real> columns(coordinates.data(), batch, count, values, values * count, 1, count, device);
    const batch_view<const T> u(g.u.data(), batch, values, g.u.rows(), g.u.batch_stride(), g.u.col_stride(),
                                g.u.row_stride(), device);
    multiply<T, T, real>(
        {u, given_right.view().transposed(), g.s, middle, g.u.rows(), weight::one, weight::inverse, relative}, device);
    multiply<T, real, T>({g.v, columns, g.s, to, values, weight::one, weight::one, relative}, device);
  });
}

template <class T>
Device low_rank_approximation(const factors_view<T>& f, std::int64_t rank, batch_view<T> out, const Device& given) {
  require_factors(f);
  require_argument(rank >= 0, "rank", rank, ">= 0");
  require_shape(out, f.s.rows(), f.u.rows(), f.v.rows(), "out");
  return compute_on_device(f, out, given, [&](const factors_view<T>& g, const batch_view<T>& to, const Device& device) {
    multiply<T, T, T>({g.u, g.v, g.s, to, std::min(rank, g.s.cols()), weight::value, weight::one, accumulator_t<T>(0)},
                      device);
  });
}

template <class T>
Device condition_number(const factors_view<T>& f, vector_view<accumulator_t<T>> out, const Device& given) {
  require_argument(out.size() == f.s.rows(), "out.size", out.size(), text("the batch, ", f.s.rows()));
  const Device device = device::run_device(given, {{"s", f.s}, {"out", out}});
  const device::staged_in s(f.s, device);
  device::staged_out to(out, device);
  device::for_each(f.s.rows(), condition_function<accumulator_t<T>>{s.view(), to.view().data()}, device);
  to.finish();
  return device;
}

template <class T>
Device polar(const factors_view<T>& f, batch_view<T> w, batch_view<T> h, const Device& given) {
  require_factors(f);
  const std::int64_t m = f.u.rows(), n = f.v.rows();
  require_all_values(f.s.cols(), m, n);
  require_shape(w, f.s.rows(), m, n, "w");
  require_shape(h, f.s.rows(), n, n, "h");
  const Device there = device::run_device(given, {{"w", w}, {"h", h}, {"u", f.u}, {"v", f.v}, {"s", f.s}});
  const accumulator_t<T> none = 0;
  compute_on_device(f, w, there, [&](const factors_view<T>& g, const batch_view<T>& to, const Device& device) {
    multiply<T, T, T>({g.u, g.v, g.s, to, g.s.cols(), weight::one, weight::one, none}, device);
  });
  return compute_on_device(f, h, there, [&](const factors_view<T>& g, const batch_view<T>& to, const Device& device) {
    multiply<T, T, T>({g.v, g.v, g.s, to, g.s.cols(), weight::value, weight::one, none}, device);
  });
}

template <class T>
std::vector<std::int64_t> numerical_rank(const decomposition<T>& d, rank_tolerance tolerance) {
  using real = accumulator_t<T>;
  const real relative = real(tolerance_of(tolerance, d.rows, d.cols, double(std::numeric_limits<real>::epsilon())));
  std::vector<std::int64_t> ranks(d.batch);
  for (std::int64_t b = 0; b < d.batch; ++b)
    for (std::int64_t j = 0; j < d.values; ++j)
      ranks[b] += d.singular_value(b, j) > relative * d.singular_value(b, 0) ? 1 : 0;
  return ranks;
}

template <class T>
std::vector<T> pseudo_inverse(const decomposition<T>& d, rank_tolerance tolerance, const Device& device) {
  std::vector<T> result(d.batch * d.cols * d.rows);
  pseudo_inverse<T>(d.view(), {result.data(), d.batch, d.cols, d.rows}, tolerance, device);
  return result;
}

template <class T>
std::vector<T> least_squares(const decomposition<T>& d, batch_view<const T> right, rank_tolerance tolerance,
                             const Device& device) {
  std::vector<T> result(d.batch * d.cols * right.cols());
  least_squares<T>(d.view(), right, {result.data(), d.batch, d.cols, right.cols()}, tolerance, device);
  return result;
}

template <class T>
std::vector<T> low_rank_approximation(const decomposition<T>& d, std::int64_t rank, const Device& device) {
  std::vector<T> result(d.batch * d.rows * d.cols);
  low_rank_approximation<T>(d.view(), rank, {result.data(), d.batch, d.rows, d.cols}, device);
  return result;
}

template <class T>
std::vector<accumulator_t<T>> condition_number(const decomposition<T>& d) {
  require_all_values(d.values, d.rows, d.cols);
  std::vector<accumulator_t<T>> result(d.batch);
  condition_number<T>(d.view(), result, Device::host());
  return result;
}

template <class T>
polar_factors<T> polar(const decomposition<T>& d, const Device& device) {
  polar_factors<T> result;
  result.w.resize(d.batch * d.rows * d.cols);
  result.h.resize(d.batch * d.cols * d.cols);
  polar<T>(d.view(), {result.w.data(), d.batch, d.rows, d.cols}, {result.h.data(), d.batch, d.cols, d.cols}, device);
  return result;
}

#define QUINTET_INSTANTIATE(T)                                                                                        \
  template std::vector<std::int64_t> numerical_rank(const decomposition<T>&, rank_tolerance);                         \
  template std::vector<T> pseudo_inverse(const decomposition<T>&, rank_tolerance, const Device&);                     \
  template std::vector<T> least_squares(const decomposition<T>&, batch_view<const T>, rank_tolerance, const Device&); \
  template std::vector<T> low_rank_approximation(const decomposition<T>&, std::int64_t, const Device&);               \
  template std::vector<accumulator_t<T>> condition_number(const decomposition<T>&);                                   \
  template polar_factors<T> polar(const decomposition<T>&, const Device&);                                            \
  template Device pseudo_inverse<T>(const factors_view<T>&, batch_view<T>, rank_tolerance, const Device&);            \
  template Device least_squares<T>(const factors_view<T>&, batch_view<const T>, batch_view<T>, rank_tolerance,        \
                                   const Device&);                                                                    \
  template Device low_rank_approximation<T>(const factors_view<T>&, std::int64_t, batch_view<T>, const Device&);      \
  template Device condition_number<T>(const factors_view<T>&, vector_view<accumulator_t<T>>, const Device&);          \
  template Device polar<T>(const factors_view<T>&, batch_view<T>, batch_view<T>, const Device&);
QUINTET_FOR_EACH_STORAGE(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::svd
