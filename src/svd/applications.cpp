#include "quintet/svd/applications.hpp"

#include <algorithm>
#include <limits>

#include "quintet/core/error.hpp"

namespace quintet::svd {

namespace {

template <class T>
void require_vectors(const decomposition<T>& d) {
  if (d.u_cols < d.values || d.v_cols < d.values) throw InvalidArgument("the decomposition must have its vectors");
}

template <class T>
void require_all_values(const decomposition<T>& d) {
  const std::int64_t all = std::min(d.rows, d.cols);
  require_argument(d.values == all, "values", d.values, text("min(m, n) = ", all));
}

/// The smallest singular value of matrix b that counts.
template <class T>
accumulator_t<T> least_value(const decomposition<T>& d, std::int64_t b, rank_tolerance tolerance) {
  using real = accumulator_t<T>;
  require_argument(tolerance.relative >= 0, "relative", tolerance.relative, ">= 0");
  const double relative = tolerance.relative > 0
                              ? tolerance.relative
                              : double(std::max(d.rows, d.cols)) * double(std::numeric_limits<real>::epsilon());
  return d.values > 0 ? real(relative) * d.singular_value(b, 0) : real(0);
}

/// Singular values of matrix b, inverted; 0 for those that do not count. NaN stays.
template <class T>
std::vector<accumulator_t<T>> inverted(const decomposition<T>& d, std::int64_t b, rank_tolerance tolerance) {
  using real = accumulator_t<T>;
  const real least = least_value(d, b, tolerance);
  std::vector<real> factors(d.values);
  for (std::int64_t j = 0; j < d.values; ++j)
    factors[j] = d.singular_value(b, j) <= least ? real(0) : real(1) / d.singular_value(b, j);
  return factors;
}

/// out [rows of left, rows of right] = left diag(factor) right^T for matrix b, over the first factors.
template <class T>
void multiply(batch_view<const T> left, const std::vector<accumulator_t<T>>& factor, batch_view<const T> right,
              std::int64_t b, T* out) {
  using real = accumulator_t<T>;
  const std::int64_t count = std::int64_t(factor.size());
  for (std::int64_t i = 0; i < left.rows(); ++i)
    for (std::int64_t j = 0; j < right.rows(); ++j) {
      real sum = 0;
      for (std::int64_t k = 0; k < count; ++k) sum += real(left(b, i, k)) * factor[k] * real(right(b, j, k));
      out[i * right.rows() + j] = T(sum);
    }
}

}  // namespace

template <class T>
std::vector<std::int64_t> numerical_rank(const decomposition<T>& d, rank_tolerance tolerance) {
  std::vector<std::int64_t> ranks(d.batch);
  for (std::int64_t b = 0; b < d.batch; ++b) {
    const auto least = least_value(d, b, tolerance);
    for (std::int64_t j = 0; j < d.values; ++j) ranks[b] += d.singular_value(b, j) > least ? 1 : 0;
  }
  return ranks;
}

template <class T>
std::vector<T> pseudo_inverse(const decomposition<T>& d, rank_tolerance tolerance) {
  require_vectors(d);
  std::vector<T> result(d.batch * d.cols * d.rows);
  for (std::int64_t b = 0; b < d.batch; ++b)
    multiply(d.v_view(), inverted(d, b, tolerance), d.u_view(), b, &result[b * d.cols * d.rows]);
  return result;
}

template <class T>
std::vector<T> least_squares(const decomposition<T>& d, batch_view<const T> right, rank_tolerance tolerance) {
  using real = accumulator_t<T>;
  require_vectors(d);
  require_argument(right.batch() == d.batch, "right.batch", right.batch(), text("the batch, ", d.batch));
  require_argument(right.rows() == d.rows, "right.rows", right.rows(), text("m = ", d.rows));
  const auto u = d.u_view(), v = d.v_view();
  const std::int64_t count = right.cols();
  std::vector<T> result(d.batch * d.cols * count);
  std::vector<real> part(d.values);
  for (std::int64_t b = 0; b < d.batch; ++b) {
    const std::vector<real> factors = inverted(d, b, tolerance);
    for (std::int64_t c = 0; c < count; ++c) {
      for (std::int64_t k = 0; k < d.values; ++k) {
        part[k] = 0;
        for (std::int64_t i = 0; i < d.rows; ++i) part[k] += real(u(b, i, k)) * real(right(b, i, c));
        part[k] *= factors[k];
      }
      for (std::int64_t j = 0; j < d.cols; ++j) {
        real sum = 0;
        for (std::int64_t k = 0; k < d.values; ++k) sum += real(v(b, j, k)) * part[k];
        result[(b * d.cols + j) * count + c] = T(sum);
      }
    }
  }
  return result;
}

template <class T>
std::vector<T> low_rank_approximation(const decomposition<T>& d, std::int64_t rank) {
  require_vectors(d);
  require_argument(rank >= 0, "rank", rank, ">= 0");
  std::vector<T> result(d.batch * d.rows * d.cols);
  for (std::int64_t b = 0; b < d.batch; ++b) {
    const auto* s = d.s.data() + b * d.values;
    multiply(d.u_view(), {s, s + std::min(rank, d.values)}, d.v_view(), b, &result[b * d.rows * d.cols]);
  }
  return result;
}

template <class T>
std::vector<accumulator_t<T>> condition_number(const decomposition<T>& d) {
  using real = accumulator_t<T>;
  require_all_values(d);
  std::vector<real> result(d.batch, real(1));
  for (std::int64_t b = 0; b < d.batch && d.values > 0; ++b) {
    const real first = d.singular_value(b, 0), last = d.singular_value(b, d.values - 1);
    result[b] = last == 0 ? std::numeric_limits<real>::infinity() : first / last;
  }
  return result;
}

template <class T>
polar_factors<T> polar(const decomposition<T>& d) {
  using real = accumulator_t<T>;
  require_vectors(d);
  require_all_values(d);
  polar_factors<T> result{std::vector<T>(d.batch * d.rows * d.cols), std::vector<T>(d.batch * d.cols * d.cols)};
  for (std::int64_t b = 0; b < d.batch; ++b) {
    const auto* s = d.s.data() + b * d.values;
    multiply(d.u_view(), std::vector<real>(d.values, real(1)), d.v_view(), b, &result.w[b * d.rows * d.cols]);
    multiply(d.v_view(), {s, s + d.values}, d.v_view(), b, &result.h[b * d.cols * d.cols]);
  }
  return result;
}

#define QUINTET_INSTANTIATE(T)                                                                         \
  template std::vector<std::int64_t> numerical_rank(const decomposition<T>&, rank_tolerance);          \
  template std::vector<T> pseudo_inverse(const decomposition<T>&, rank_tolerance);                     \
  template std::vector<T> least_squares(const decomposition<T>&, batch_view<const T>, rank_tolerance); \
  template std::vector<T> low_rank_approximation(const decomposition<T>&, std::int64_t);               \
  template std::vector<accumulator_t<T>> condition_number(const decomposition<T>&);                    \
  template polar_factors<T> polar(const decomposition<T>&);
QUINTET_INSTANTIATE(double)
QUINTET_INSTANTIATE(float)
QUINTET_INSTANTIATE(half)
QUINTET_INSTANTIATE(bfloat16)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::svd
