// Sparse matrices in compressed rows: row i holds columns[k] and values[k] for row_pointers[i] <= k <
// row_pointers[i+1].
//
// Index (of columns) is std::int32_t or std::int64_t; row pointers and sizes are 64-bit always. Members are O(1) and
// check nothing unless they say so; check() and every function that takes a matrix do.
#pragma once

#include <cstdint>
#include <type_traits>

#include "quintet/core/error.hpp"
#include "quintet/device/buffer.hpp"
#include "quintet/spgemm/array.hpp"

namespace quintet::spgemm {

/// Types of entries. The library computes in float and double; a specialisation lets a program keep other numbers in
/// the structures.
template <class Value>
constexpr bool is_entry_type = std::is_same_v<Value, float> || std::is_same_v<Value, double>;

/// A matrix that is not owned, in memory of the host or of a device. row_pointers has rows + 1 elements and need not
/// begin with 0: a range of rows of a larger matrix is a view too. As an operand, columns may come in any order and
/// repeatedly; repeated entries are added, in their order, with the addition of the product's semiring.
template <class Value, class Index>
struct csr_view {
  static_assert(is_entry_type<Value>, "quintet: values of a sparse matrix must be float or double: convert them first");
  static_assert(std::is_same_v<Index, std::int32_t> || std::is_same_v<Index, std::int64_t>,
                "quintet: columns of a sparse matrix must be std::int32_t or std::int64_t: convert them first");
  using value_type = Value;  ///< of the entries
  using index_type = Index;  ///< of the columns

  ///@{
  /// Size of the matrix.
  std::int64_t rows = 0, cols = 0;
  ///@}
  const std::int64_t* row_pointers = nullptr;  ///< entries of row i: [row_pointers[i], row_pointers[i + 1])
  const Index* columns = nullptr;              ///< of every entry, in [0, cols)
  const Value* values = nullptr;               ///< of every entry
  Device where = Device::host();               ///< the device of the three arrays

  /// The device of the arrays.
  const Device& device() const { return where; }
  /// Number of stored entries. Two transfers where the memory is not the host's.
  std::int64_t nnz() const {
    if (rows == 0) return 0;
    if (where.shares_host_memory()) return row_pointers[rows] - row_pointers[0];
    std::int64_t first = 0, last = 0;
    quintet::detail::copy(&first, Device::host(), row_pointers, where, sizeof first);
    quintet::detail::copy(&last, Device::host(), row_pointers + rows, where, sizeof last);
    return last - first;
  }
  /// Rows [first, last) as a matrix of the same columns, 0 <= first <= last <= rows; not checked, nothing is copied.
  csr_view slice(std::int64_t first, std::int64_t last) const {
    return {last - first, cols, row_pointers + first, columns, values, where};
  }
};

/// A matrix that owns its memory. Results of this library have strictly ascending columns in every row.
template <class Value, class Index>
struct csr {
  static_assert(sizeof(csr_view<Value, Index>) > 0);  // says which types there are
  ///@{
  /// Size of the matrix.
  std::int64_t rows = 0, cols = 0;
  ///@}
  array<std::int64_t> row_pointers{0};  ///< rows + 1
  array<Index> columns;                 ///< nnz
  array<Value> values;                  ///< nnz

  /// Number of stored entries.
  std::int64_t nnz() const { return columns.size(); }
  /// The matrix without its memory: valid as long as the arrays stay as they are.
  csr_view<Value, Index> view() const QUINTET_LIFETIMEBOUND {
    return {rows, cols, row_pointers.data(), columns.data(), values.data()};
  }
  /// Bytes of the three arrays.
  std::int64_t bytes() const { return row_pointers.size() * 8 + nnz() * std::int64_t(sizeof(Index) + sizeof(Value)); }
  /// The same size, structure and values. O(nnz).
  friend bool operator==(const csr&, const csr&) = default;
};

/// Throws InvalidArgument unless `matrix` is valid: sizes in [0, 2^63 - 1) and, for the columns, within Index; row
/// pointers that begin at >= 0 and do not fall; columns in [0, cols). Arrays must not be null if there are elements.
/// The message calls the matrix `name`. Cost: O(rows + nnz), one pass over row pointers and columns by all threads; no
/// memory.
template <class Value, class Index>
void check(const csr_view<Value, Index>& matrix, const char* name);

}  // namespace quintet::spgemm
