#include "quintet/svd/applications.hpp"

#include <algorithm>
#include <limits>

#include "device/for_each.hpp"
#include "quintet/core/error.hpp"
#include "svd/checks.hpp"
#include "svd/resident_batch.hpp"
#include "svd/sums.hpp"

namespace quintet::svd {

namespace {

/// What a singular value is replaced by.
enum class weight : std::int32_t { one, value, inverse };

/// out(b, i, j) = outer(b, i) sum_k left(b, i, k) inner(b, k) right(b, j, k), one element of all matrices a call.
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
  require_argument(tolerance.relative >= 0, "relative", tolerance.relative, ">= 0");
  return tolerance.relative > 0 ? tolerance.relative : double(std::max(rows, cols)) * epsilon;
}

template <class T>
void require_factors(const resident_factors<T>& f) {
  if (f.u.cols() < f.s.cols() || f.v.cols() < f.s.cols())
    throw InvalidArgument("the decomposition must have its vectors");
  require_argument(f.u.batch() == f.s.rows(), "u.batch", f.u.batch(), text("the batch, ", f.s.rows()));
  require_argument(f.v.batch() == f.s.rows(), "v.batch", f.v.batch(), text("the batch, ", f.s.rows()));
}

void require_all_values(std::int64_t values, std::int64_t rows, std::int64_t cols) {
  const std::int64_t all = std::min(rows, cols);
  require_argument(values == all, "values", values, text("min(m, n) = ", all));
}

template <class T>
void require_vectors(const decomposition<T>& d) {
  if (d.u_cols < d.values || d.v_cols < d.values) throw InvalidArgument("the decomposition must have its vectors");
}

/// The factors of a decomposition where a kernel on the device can read them.
template <class T>
class factors_on {
 public:
  factors_on(const decomposition<T>& d, const Device& device)
      : d_(d), u_(d.u, device), v_(d.v, device), s_(d.s, device) {
    require_vectors(d);
  }
  resident_factors<T> view() const {
    return {{u_.data(), d_.batch, d_.rows, d_.u_cols},
            {v_.data(), d_.batch, d_.cols, d_.v_cols},
            {s_.data(), d_.batch, d_.values}};
  }

 private:
  const decomposition<T>& d_;
  device::mirror<T> u_, v_;
  device::mirror<accumulator_t<T>> s_;
};

/// A result [batch, rows, cols] that `compute` writes on the device.
template <class T, class Compute>
std::vector<T> result_of(std::int64_t batch, std::int64_t rows, std::int64_t cols, const Device& device,
                         Compute compute) {
  std::vector<T> result(batch * rows * cols);
  {
    device::mirror_back<T> out(result, device);
    compute(batch_view<T>(out.data(), batch, rows, cols));
  }
  return result;
}

}  // namespace

template <class T>
void pseudo_inverse_into(const resident_factors<T>& f, batch_view<T> out, rank_tolerance tolerance,
                         const Device& device) {
  require_factors(f);
  require_shape(out, f.s.rows(), f.v.rows(), f.u.rows(), "out");
  const double relative =
      tolerance_of(tolerance, f.u.rows(), f.v.rows(), std::numeric_limits<accumulator_t<T>>::epsilon());
  multiply<T, T, T>({f.v, f.u, f.s, out, f.s.cols(), weight::inverse, weight::one, accumulator_t<T>(relative)}, device);
}

template <class T>
void least_squares_into(const resident_factors<T>& f, batch_view<const T> right, batch_view<T> out,
                        rank_tolerance tolerance, const Device& device) {
  using real = accumulator_t<T>;
  require_factors(f);
  const std::int64_t batch = f.s.rows(), values = f.s.cols(), count = right.cols();
  require_argument(right.batch() == batch, "right.batch", right.batch(), text("the batch, ", batch));
  require_argument(right.rows() == f.u.rows(), "right.rows", right.rows(), text("m = ", f.u.rows()));
  require_shape(out, batch, f.v.rows(), count, "out");
  const real relative =
      real(tolerance_of(tolerance, f.u.rows(), f.v.rows(), double(std::numeric_limits<real>::epsilon())));
  // diag(1 / S) U^T R, then V times that.
  Buffer<real> coordinates(batch * values * count, device);
  const batch_view<real> middle(coordinates.data(), batch, values, count);
  const batch_view<const real> columns(coordinates.data(), batch, count, values, values * count, 1, count);
  const batch_view<const T> u(f.u.data(), batch, values, f.u.rows(), f.u.batch_stride(), f.u.col_stride(),
                              f.u.row_stride());
  multiply<T, T, real>({u, right.transposed(), f.s, middle, f.u.rows(), weight::one, weight::inverse, relative},
                       device);
  multiply<T, real, T>({f.v, columns, f.s, out, values, weight::one, weight::one, relative}, device);
}

template <class T>
void low_rank_approximation_into(const resident_factors<T>& f, std::int64_t rank, batch_view<T> out,
                                 const Device& device) {
  require_factors(f);
  require_argument(rank >= 0, "rank", rank, ">= 0");
  require_shape(out, f.s.rows(), f.u.rows(), f.v.rows(), "out");
  multiply<T, T, T>({f.u, f.v, f.s, out, std::min(rank, f.s.cols()), weight::value, weight::one, accumulator_t<T>(0)},
                    device);
}

template <class T>
void condition_number_into(matrix_view<const accumulator_t<T>> s, accumulator_t<T>* out, const Device& device) {
  if (out == nullptr && s.rows() > 0) throw InvalidArgument(text("out must not be null (batch=", s.rows(), ")"));
  device::for_each(s.rows(), condition_function<accumulator_t<T>>{s, out}, device);
}

template <class T>
void polar_into(const resident_factors<T>& f, batch_view<T> w, batch_view<T> h, const Device& device) {
  require_factors(f);
  const std::int64_t m = f.u.rows(), n = f.v.rows();
  require_all_values(f.s.cols(), m, n);
  require_shape(w, f.s.rows(), m, n, "w");
  require_shape(h, f.s.rows(), n, n, "h");
  multiply<T, T, T>({f.u, f.v, f.s, w, f.s.cols(), weight::one, weight::one, accumulator_t<T>(0)}, device);
  multiply<T, T, T>({f.v, f.v, f.s, h, f.s.cols(), weight::value, weight::one, accumulator_t<T>(0)}, device);
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
  const factors_on<T> f(d, device);
  return result_of<T>(d.batch, d.cols, d.rows, device,
                      [&](batch_view<T> out) { pseudo_inverse_into(f.view(), out, tolerance, device); });
}

template <class T>
std::vector<T> least_squares(const decomposition<T>& d, batch_view<const T> right, rank_tolerance tolerance,
                             const Device& device) {
  const factors_on<T> f(d, device);
  const resident_batch<T> on_device(right, device);
  return result_of<T>(d.batch, d.cols, right.cols(), device, [&](batch_view<T> out) {
    least_squares_into(f.view(), on_device.view(), out, tolerance, device);
  });
}

template <class T>
std::vector<T> low_rank_approximation(const decomposition<T>& d, std::int64_t rank, const Device& device) {
  const factors_on<T> f(d, device);
  return result_of<T>(d.batch, d.rows, d.cols, device,
                      [&](batch_view<T> out) { low_rank_approximation_into(f.view(), rank, out, device); });
}

template <class T>
std::vector<accumulator_t<T>> condition_number(const decomposition<T>& d) {
  require_all_values(d.values, d.rows, d.cols);
  std::vector<accumulator_t<T>> result(d.batch);
  condition_number_into<T>({d.s.data(), d.batch, d.values}, result.data(), Device::host());
  return result;
}

template <class T>
polar_factors<T> polar(const decomposition<T>& d, const Device& device) {
  const factors_on<T> f(d, device);
  polar_factors<T> result;
  result.w = result_of<T>(d.batch, d.rows, d.cols, device, [&](batch_view<T> w) {
    result.h =
        result_of<T>(d.batch, d.cols, d.cols, device, [&](batch_view<T> h) { polar_into(f.view(), w, h, device); });
  });
  return result;
}

#define QUINTET_INSTANTIATE(T)                                                                                        \
  template std::vector<std::int64_t> numerical_rank(const decomposition<T>&, rank_tolerance);                         \
  template std::vector<T> pseudo_inverse(const decomposition<T>&, rank_tolerance, const Device&);                     \
  template std::vector<T> least_squares(const decomposition<T>&, batch_view<const T>, rank_tolerance, const Device&); \
  template std::vector<T> low_rank_approximation(const decomposition<T>&, std::int64_t, const Device&);               \
  template std::vector<accumulator_t<T>> condition_number(const decomposition<T>&);                                   \
  template polar_factors<T> polar(const decomposition<T>&, const Device&);                                            \
  template void pseudo_inverse_into(const resident_factors<T>&, batch_view<T>, rank_tolerance, const Device&);        \
  template void least_squares_into(const resident_factors<T>&, batch_view<const T>, batch_view<T>, rank_tolerance,    \
                                   const Device&);                                                                    \
  template void low_rank_approximation_into(const resident_factors<T>&, std::int64_t, batch_view<T>, const Device&);  \
  template void condition_number_into<T>(matrix_view<const accumulator_t<T>>, accumulator_t<T>*, const Device&);      \
  template void polar_into(const resident_factors<T>&, batch_view<T>, batch_view<T>, const Device&);
QUINTET_INSTANTIATE(double)
QUINTET_INSTANTIATE(float)
QUINTET_INSTANTIATE(half)
QUINTET_INSTANTIATE(bfloat16)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::svd
