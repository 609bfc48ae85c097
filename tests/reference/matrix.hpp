// A matrix of long double, what references compute with: no expressions, no packs, nothing to compile twice.
#pragma once

#include <cstdint>
#include <vector>

#include "quintet/core/view.hpp"

namespace quintet::reference {

/// Row-major; owns its elements.
class matrix {
 public:
  matrix() = default;
  /// All zeros.
  matrix(std::int64_t rows, std::int64_t cols)
      : rows_(rows), cols_(cols), values_(std::size_t(rows) * std::size_t(cols), 0) {}

  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  std::int64_t size() const { return rows_ * cols_; }
  long double* data() { return values_.data(); }
  const long double* data() const { return values_.data(); }
  const std::vector<long double>& elements() const { return values_; }
  long double& operator()(std::int64_t i, std::int64_t j) { return values_[std::size_t(i * cols_ + j)]; }
  const long double& operator()(std::int64_t i, std::int64_t j) const { return values_[std::size_t(i * cols_ + j)]; }

 private:
  std::int64_t rows_ = 0, cols_ = 0;
  std::vector<long double> values_;
};

/// The same numbers; of float and double.
template <class Real>
matrix widened(matrix_view<const Real> a);
/// Matrix b of a batch; of every storage type.
template <class T>
matrix widened(batch_view<const T> a, std::int64_t b);

matrix operator*(const matrix& a, const matrix& b);
matrix operator+(matrix a, const matrix& b);
matrix operator-(matrix a, const matrix& b);
matrix transposed(const matrix& a);
matrix identity(std::int64_t n);
/// The first rows and columns.
matrix corner(const matrix& a, std::int64_t rows, std::int64_t cols);
/// A diag(factors).
matrix scaled_columns(matrix a, const std::vector<long double>& factors);
/// The Frobenius norm.
long double norm(const matrix& a);
/// max |a_ij|
long double largest(const matrix& a);

}  // namespace quintet::reference
