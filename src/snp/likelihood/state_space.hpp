// The states of one branch: (n, r), r of n lineages carry allele 1, 0 <= r <= n <= m; and the layout of matrices on
// them.
//
// Coordinates. Where the literature (Bryant et al. 2012) has F(n, r), the library keeps C(n, r) F(n, r): the total over
// the C(n, r) ways to say which lineages are red. In these coordinates joining two branches is a plain convolution, all
// numbers stay non-negative, and the generator A of the literature becomes that of generator.hpp.
#pragma once

#include <cstdint>

namespace quintet::snp {

/// Number of states with at most m lineages, (0, 0) included.
constexpr std::int64_t state_count(std::int64_t m) { return (m + 1) * (m + 2) / 2; }
/// Number of a state.
constexpr std::int64_t state_index(std::int64_t n, std::int64_t r) { return n * (n + 1) / 2 + r; }

// Matrices P = exp(A t) are block upper triangular in n. They are stored by column blocks: block n has the rows of all
// states with at most n lineages and n + 1 columns, row-major. So the matrix for fewer lineages is a prefix of that for
// more.

/// Where column block n begins; column_block(m + 1) is the size of a matrix.
constexpr std::int64_t column_block(std::int64_t n) { return n * (n + 1) * (n + 2) * (3 * n + 1) / 24; }
/// Element (row state, (n, r)).
constexpr std::int64_t element_index(std::int64_t row, std::int64_t n, std::int64_t r) {
  return column_block(n) + row * (n + 1) + r;
}

}  // namespace quintet::snp
