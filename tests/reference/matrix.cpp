#include "reference/matrix.hpp"

#include <algorithm>
#include <cmath>

#include "quintet/core/storage16.hpp"

namespace quintet::reference {

template <class Real>
matrix widened(matrix_view<const Real> a) {
  matrix result(a.rows(), a.cols());
  for (std::int64_t i = 0; i < a.rows(); ++i)
    for (std::int64_t j = 0; j < a.cols(); ++j) result(i, j) = a(i, j);
  return result;
}
template matrix widened(matrix_view<const float>);
template matrix widened(matrix_view<const double>);

template <class T>
matrix widened(batch_view<const T> a, std::int64_t b) {
  matrix result(a.rows(), a.cols());
  for (std::int64_t i = 0; i < a.rows(); ++i)
    for (std::int64_t j = 0; j < a.cols(); ++j) result(i, j) = static_cast<long double>(a(b, i, j));
  return result;
}
template matrix widened(batch_view<const float>, std::int64_t);
template matrix widened(batch_view<const double>, std::int64_t);
template matrix widened(batch_view<const half>, std::int64_t);
template matrix widened(batch_view<const bfloat16>, std::int64_t);

matrix operator*(const matrix& a, const matrix& b) {
  matrix product(a.rows(), b.cols());
  for (std::int64_t i = 0; i < a.rows(); ++i)
    for (std::int64_t k = 0; k < a.cols(); ++k)
      for (std::int64_t j = 0; j < b.cols(); ++j) product(i, j) += a(i, k) * b(k, j);
  return product;
}

matrix operator+(matrix a, const matrix& b) {
  for (std::int64_t e = 0; e < a.size(); ++e) a.data()[e] += b.data()[e];
  return a;
}

matrix operator-(matrix a, const matrix& b) {
  for (std::int64_t e = 0; e < a.size(); ++e) a.data()[e] -= b.data()[e];
  return a;
}

matrix transposed(const matrix& a) {
  matrix result(a.cols(), a.rows());
  for (std::int64_t i = 0; i < a.rows(); ++i)
    for (std::int64_t j = 0; j < a.cols(); ++j) result(j, i) = a(i, j);
  return result;
}

matrix identity(std::int64_t n) {
  matrix result(n, n);
  for (std::int64_t i = 0; i < n; ++i) result(i, i) = 1;
  return result;
}

matrix corner(const matrix& a, std::int64_t rows, std::int64_t cols) {
  matrix result(rows, cols);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < cols; ++j) result(i, j) = a(i, j);
  return result;
}

matrix scaled_columns(matrix a, const std::vector<long double>& factors) {
  for (std::int64_t i = 0; i < a.rows(); ++i)
    for (std::int64_t j = 0; j < a.cols(); ++j) a(i, j) *= factors[std::size_t(j)];
  return a;
}

long double norm(const matrix& a) {
  long double square = 0;
  for (const long double x : a.elements()) square += x * x;
  return std::sqrt(square);
}

long double largest(const matrix& a) {
  long double max = 0;
  for (const long double x : a.elements()) max = std::max(max, std::fabs(x));
  return max;
}

}  // namespace quintet::reference
