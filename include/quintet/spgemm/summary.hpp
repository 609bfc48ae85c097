// Numbers that distinguish two sparse matrices without comparing them.
#pragma once

#include <cstdint>

#include "quintet/spgemm/csr.hpp"

namespace quintet::spgemm {

/// Sums run over the stored entries, in order, in extended precision.
struct matrix_summary {
  double sum = 0;              ///< of the values
  double sum_abs = 0;          ///< of their magnitudes
  double frobenius = 0;        ///< root of the sum of their squares
  double weighted = 0;         ///< of value * (7 i mod 11 + 1) * (5 j mod 13 + 1): moves when an entry is misplaced
  std::int64_t struct_ij = 0;  ///< of (i + 1) * (j + 1), modulo 2^64: moves when the structure is another
  bool sorted = true;          ///< every row's columns ascend strictly
};

/// Rows and columns i, j count from 0. For a matrix that comes in blocks of rows: `first_row` >= 0 is the number of
/// this block's first row and `before` the summary of the blocks before. Throws as check() does, and InvalidArgument
/// for first_row < 0. Cost: O(nnz), one pass on one thread; no memory.
template <class Value, class Index>
matrix_summary summarise(const csr_view<Value, Index>& matrix, std::int64_t first_row = 0,
                         const matrix_summary& before = {});

}  // namespace quintet::spgemm
