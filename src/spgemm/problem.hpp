// What the kernels of a product see: raw pointers and numbers.
#pragma once

#include <cstdint>

#include "quintet/spgemm/csr.hpp"
#include "quintet/spgemm/detail/structured_rows.hpp"

namespace quintet::spgemm {

using detail::product_of;

/// A and B, where the kernel runs. B's rows have strictly ascending columns.
template <class Value, class Index>
struct problem {
  csr_view<Value, Index> a, b;
};

/// Rows [first_row, last_row), or of a single row the columns [first_col, last_col): one item of work with consecutive
/// entries in the result. Chunks in order are the result in order.
struct chunk {
  std::int64_t first_row, last_row;
  std::int64_t first_col, last_col;
  std::int64_t bound;     ///< entries at most
  std::int64_t products;  ///< of its rows; for a range of columns a share
  bool cut;               ///< a range of the columns of one row
  bool ends_row;          ///< whole rows, or the last range of one
};

/// Position of the first of the ascending columns[begin, end) that is >= col; end if there is none.
template <class Index>
inline std::int64_t lower_bound(const Index* columns, std::int64_t begin, std::int64_t end, std::int64_t col) {
  while (begin < end) {
    const std::int64_t middle = begin + (end - begin) / 2;
    if (std::int64_t(columns[middle]) < col)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

}  // namespace quintet::spgemm
