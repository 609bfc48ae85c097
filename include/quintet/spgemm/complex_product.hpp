// Products of complex sparse matrices, from products of their real and imaginary parts.
//
//   const auto c = multiply_complex(a.view(), b.view());                              // A * B
//   const auto g = multiply_complex(a.view(), a.view(), {.a = operand_form::adjoint}); // A^H * A
#pragma once

#include <complex>
#include <cstdint>

#include "quintet/spgemm/csr.hpp"
#include "quintet/spgemm/options.hpp"

namespace quintet::spgemm {

/// A complex matrix that is not owned, in memory of the host; otherwise as csr_view. Real is float or double.
template <class Real, class Index>
struct complex_csr_view {
  ///@{
  /// Size of the matrix.
  std::int64_t rows = 0, cols = 0;
  ///@}
  const std::int64_t* row_pointers = nullptr;  ///< entries of row i: [row_pointers[i], row_pointers[i + 1])
  const Index* columns = nullptr;              ///< of every entry, in [0, cols)
  const std::complex<Real>* values = nullptr;  ///< of every entry

  /// Number of stored entries. O(1).
  std::int64_t nnz() const { return rows == 0 ? 0 : row_pointers[rows] - row_pointers[0]; }
};

/// A complex matrix that owns its memory. Results have strictly ascending columns in every row.
template <class Real, class Index>
struct complex_csr {
  ///@{
  /// Size of the matrix.
  std::int64_t rows = 0, cols = 0;
  ///@}
  array<std::int64_t> row_pointers{0};  ///< rows + 1
  array<Index> columns;                 ///< nnz
  array<std::complex<Real>> values;     ///< nnz

  /// Number of stored entries. O(1).
  std::int64_t nnz() const { return columns.size(); }
  /// The matrix without its memory: valid as long as the arrays stay as they are. O(1).
  complex_csr_view<Real, Index> view() const QUINTET_LIFETIMEBOUND {
    return {rows, cols, row_pointers.data(), columns.data(), values.data()};
  }
  /// The same size, structure and values. O(nnz).
  friend bool operator==(const complex_csr&, const complex_csr&) = default;
};

namespace detail {
/// The structure, with values that are not read.
template <class Real, class Index>
csr_view<Real, Index> structure_of(const complex_csr_view<Real, Index>& m) {
  // Arrays of complex numbers are arrays of pairs, [complex.numbers.general].
  return {m.rows, m.cols, m.row_pointers, m.columns, reinterpret_cast<const Real*>(m.values)};
}
}  // namespace detail

/// Throws as check() of real matrices does. Cost: O(rows + nnz).
template <class Real, class Index>
void check(const complex_csr_view<Real, Index>& matrix, const char* name) {
  check(detail::structure_of(matrix), name);
}

/// What of an operand is multiplied.
enum class operand_form {
  plain,       ///< the matrix
  transposed,  ///< its transpose
  adjoint,     ///< its conjugate transpose
};
/// Of both operands.
struct complex_forms {
  ///@{
  /// Of A and of B.
  operand_form a = operand_form::plain, b = operand_form::plain;
  ///@}
};

/// C = A * B of complex matrices, or of their transposes, plus-times. With A = P + iQ and B = R + iS:
///
///   Re C = P R - Q S,   Im C = P S + Q R;
///
/// every product has the bits of multiply(), and each difference and sum is rounded once. So the bits are the same for
/// any number of threads and on every device. An entry exists where a product exists. A NaN or an infinity in one part
/// stays in what is computed from it. Errors of an entry: p u sum |a| |b| of p products, twice.
///
/// Time: four products of real matrices, and a pass over A, B and C on all threads. Memory: C, two real products, and
/// the values of A and B; for a transposed operand also its transpose. Operands are on the host; `device` may be
/// another, where each product then runs. `stats`, if not null, is the report of the four products; its peak is that
/// of one. Throws as multiply() and transpose() do.
template <class Real, class Index>
complex_csr<Real, Index> multiply_complex(const complex_csr_view<Real, Index>& a,
                                          const complex_csr_view<Real, Index>& b, const complex_forms& forms = {},
                                          const options& settings = {}, const Device& device = Device::best(),
                                          report* stats = nullptr);

}  // namespace quintet::spgemm
