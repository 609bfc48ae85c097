// Distribution of rows to ranks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "quintet/core/compiler.hpp"

namespace quintet::mpi {

/// Rows first, first + 1, ..., count of them.
struct row_range {
  std::int64_t first = 0;  ///< the first row
  std::int64_t count = 0;  ///< how many follow, with it
};

/// The rows of rank `rank` if n >= 0 rows are cut into `size` parts. Lengths differ by one at most, longer parts first.
inline row_range even_rows(std::int64_t n, int rank, int size) {
  const std::int64_t whole = n / size, rest = n % size;
  return {rank * whole + std::min<std::int64_t>(rank, rest), whole + (rank < rest ? 1 : 0)};
}

/// The lengths of these parts.
inline std::vector<std::int64_t> even_counts(std::int64_t n, int size) {
  std::vector<std::int64_t> counts(size);
  for (int r = 0; r < size; ++r) counts[r] = even_rows(n, r, size).count;
  return counts;
}

}  // namespace quintet::mpi
