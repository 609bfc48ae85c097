#include "reference/svd_reference.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace quintet::reference {

namespace {

using numbers = std::vector<long double>;

/// Makes v the unit vector with (I - 2 v v^T) v = -sign(v_0) |v| e_0, and returns that first element. What is a
/// multiple of e_0 stays, with v = 0.
long double reflector(numbers& v) {
  long double square = 0;
  for (std::size_t i = 1; i < v.size(); ++i) square += v[i] * v[i];
  if (square == 0) return std::exchange(v[0], 0);
  square += v[0] * v[0];
  const long double first = v[0] >= 0 ? -std::sqrt(square) : std::sqrt(square);
  const long double length = std::sqrt(2 * (square - v[0] * first));
  v[0] -= first;
  for (long double& x : v) x /= length;
  return first;
}

/// The lower right part of `a` from (top, left) on, multiplied by I - 2 v v^T from the left.
void reflect_rows(matrix& a, std::int64_t top, std::int64_t left, const numbers& v) {
  const std::int64_t count = a.cols() - left;
  numbers product(std::size_t(count), 0);
  for (std::int64_t i = top; i < a.rows(); ++i) {
    const long double factor = 2 * v[std::size_t(i - top)], *row = &a(i, left);
    for (std::int64_t j = 0; j < count; ++j) product[std::size_t(j)] += factor * row[j];
  }
  for (std::int64_t i = top; i < a.rows(); ++i) {
    const long double factor = v[std::size_t(i - top)];
    long double* row = &a(i, left);
    for (std::int64_t j = 0; j < count; ++j) row[j] -= factor * product[std::size_t(j)];
  }
}

/// The same from the right.
void reflect_columns(matrix& a, std::int64_t top, std::int64_t left, const numbers& v) {
  for (std::int64_t i = top; i < a.rows(); ++i) {
    long double product = 0, *row = &a(i, left);
    for (std::size_t j = 0; j < v.size(); ++j) product += 2 * row[j] * v[j];
    for (std::size_t j = 0; j < v.size(); ++j) row[j] -= product * v[j];
  }
}

/// d_0, e_0, d_1, e_1, ..., d_{n-1}: the diagonal of the bidiagonal form and what is above it (Golub and Kahan 1965).
numbers bidiagonal(matrix a) {
  numbers result;
  for (std::int64_t j = 0; j < a.cols(); ++j) {
    numbers column, row;
    for (std::int64_t i = j; i < a.rows(); ++i) column.push_back(a(i, j));
    result.push_back(reflector(column));
    reflect_rows(a, j, j, column);
    if (j + 1 == a.cols()) break;
    for (std::int64_t k = j + 1; k < a.cols(); ++k) row.push_back(a(j, k));
    result.push_back(reflector(row));
    reflect_columns(a, j, j + 1, row);
  }
  return result;
}

}  // namespace

orthonormal_triangle qr(const matrix& a) {
  const std::int64_t m = a.rows(), n = a.cols();
  matrix r = a, q(m, n);
  std::vector<numbers> reflections;
  for (std::int64_t j = 0; j < n; ++j) {
    q(j, j) = 1;
    numbers column;
    for (std::int64_t i = j; i < m; ++i) column.push_back(r(i, j));
    reflector(column);
    reflect_rows(r, j, j, column);
    for (std::int64_t i = j + 1; i < m; ++i) r(i, j) = 0;
    reflections.push_back(std::move(column));
  }
  for (std::int64_t j = n; j-- > 0;) reflect_rows(q, j, j, reflections[std::size_t(j)]);
  return {q, corner(r, n, n)};
}

matrix with_singular_values(const matrix& left, const std::vector<long double>& s, const matrix& right) {
  return scaled_columns(qr(left).q, s) * transposed(qr(right).q);
}

std::vector<double> with_singular_values(const double* left, const std::vector<double>& s, const double* right) {
  const auto n = std::int64_t(s.size());
  matrix wide_left(n, n), wide_right(n, n);
  std::copy(left, left + n * n, wide_left.data());
  std::copy(right, right + n * n, wide_right.data());
  const matrix made = with_singular_values(wide_left, numbers(s.begin(), s.end()), wide_right);
  return {made.data(), made.data() + n * n};
}

// The singular values of B are the positive eigenvalues of the matrix with d_0, e_0, d_1, ... beside its diagonal.
std::vector<long double> singular_values_by_bidiagonalisation(matrix a) {
  if (a.rows() < a.cols()) a = transposed(a);
  const std::int64_t n = a.cols();
  numbers values = eigenvalues_with_zero_diagonal(bidiagonal(std::move(a)));
  std::reverse(values.begin(), values.end());
  values.resize(std::size_t(n));
  return values;
}

bool is_positive_definite(matrix a) {
  for (std::int64_t k = 0; k < a.rows(); ++k) {
    if (!(a(k, k) > 0)) return false;
    for (std::int64_t i = k + 1; i < a.rows(); ++i)
      for (std::int64_t j = k + 1; j < a.rows(); ++j) a(i, j) -= a(i, k) / a(k, k) * a(k, j);
  }
  return true;
}

static std::vector<long double> inverses(std::vector<long double> s) {
  for (long double& x : s) x = 1 / x;
  return s;
}

matrix pseudo_inverse(const decomposition& d) { return scaled_columns(d.v, inverses(d.s)) * transposed(d.u); }

matrix low_rank(const decomposition& d, std::int64_t rank) {
  return scaled_columns(corner(d.u, d.u.rows(), rank), d.s) * transposed(corner(d.v, d.v.rows(), rank));
}

matrix orthonormal_factor(const decomposition& d) { return d.u * transposed(d.v); }
matrix semidefinite_factor(const decomposition& d) { return scaled_columns(d.v, d.s) * transposed(d.v); }

matrix gradient(const decomposition& d, const matrix& gu, const std::vector<long double>& gs, const matrix& gv) {
  const auto k = std::int64_t(d.s.size());
  const matrix ut = transposed(d.u), vt = transposed(d.v), p = ut * gu, q = vt * gv;
  matrix middle(k, k);
  for (std::int64_t i = 0; i < k; ++i)
    for (std::int64_t j = 0; j < k; ++j) {
      const long double si = d.s[std::size_t(i)], sj = d.s[std::size_t(j)];
      middle(i, j) =
          i == j ? gs[std::size_t(i)] : ((p(i, j) - p(j, i)) * sj + si * (q(i, j) - q(j, i))) / (sj * sj - si * si);
    }
  const std::vector<long double> inverse = inverses(d.s);
  return d.u * middle * vt + scaled_columns(gu - d.u * p, inverse) * vt +
         scaled_columns(d.u, inverse) * transposed(gv - d.v * q);
}

}  // namespace quintet::reference
