#include "reference/matrix.hpp"

#include "quintet/core/storage16.hpp"
#include "reference/mapped_matrix.hpp"

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

namespace {

template <class Expression>
matrix evaluated(const Expression& expression) {
  matrix result(expression.rows(), expression.cols());
  mapped(result) = expression;
  return result;
}

}  // namespace

matrix operator*(const matrix& a, const matrix& b) { return evaluated(mapped(a) * mapped(b)); }
matrix operator+(matrix a, const matrix& b) {
  mapped(a) += mapped(b);
  return a;
}
matrix operator-(matrix a, const matrix& b) {
  mapped(a) -= mapped(b);
  return a;
}
matrix transposed(const matrix& a) { return evaluated(mapped(a).transpose()); }
matrix identity(std::int64_t n) { return evaluated(eigen_rows::Identity(n, n)); }
matrix corner(const matrix& a, std::int64_t rows, std::int64_t cols) {
  return evaluated(mapped(a).topLeftCorner(rows, cols));
}
matrix scaled_columns(matrix a, const std::vector<long double>& factors) {
  using row = Eigen::Array<long double, 1, Eigen::Dynamic>;
  mapped(a).array().rowwise() *= Eigen::Map<const row>(factors.data(), a.cols());
  return a;
}
long double norm(const matrix& a) { return mapped(a).norm(); }
long double largest(const matrix& a) { return a.size() == 0 ? 0 : mapped(a).cwiseAbs().maxCoeff(); }

}  // namespace quintet::reference
