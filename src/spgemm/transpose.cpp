#include "quintet/spgemm/transpose.hpp"

#include <algorithm>
#include <limits>

namespace quintet::spgemm {

template <class Value, class Index>
csr<Value, Index> transpose(const csr_view<Value, Index>& m, memory_source& memory) {
  check(m, "matrix");
  if (m.rows - 1 > std::numeric_limits<Index>::max())
    throw InvalidArgument(text("matrix.rows must be <= ", std::numeric_limits<Index>::max(), " + 1 to be columns of ",
                               8 * sizeof(Index), " bits (matrix.rows=", m.rows, ")"));
  csr<Value, Index> t{m.cols, m.rows, array<std::int64_t>(m.cols + 1, memory), array<Index>(m.nnz(), memory),
                      array<Value>(m.nnz(), memory)};
  std::int64_t* const next = t.row_pointers.data();  // where the next entry of each column goes, one row further down
  std::fill(t.row_pointers.begin(), t.row_pointers.end(), 0);
  if (m.rows == 0) return t;
  for (std::int64_t k = m.row_pointers[0]; k < m.row_pointers[m.rows]; ++k)
    if (m.columns[k] + std::int64_t(2) <= m.cols) ++next[m.columns[k] + std::int64_t(2)];
  for (std::int64_t j = 2; j <= m.cols; ++j) next[j] += next[j - 1];
  for (std::int64_t i = 0; i < m.rows; ++i)
    for (std::int64_t k = m.row_pointers[i]; k < m.row_pointers[i + 1]; ++k) {
      const std::int64_t place = next[m.columns[k] + std::int64_t(1)]++;
      t.columns[place] = Index(i);
      t.values[place] = m.values[k];
    }
  return t;
}

template csr<float, std::int32_t> transpose(const csr_view<float, std::int32_t>&, memory_source&);
template csr<float, std::int64_t> transpose(const csr_view<float, std::int64_t>&, memory_source&);
template csr<double, std::int32_t> transpose(const csr_view<double, std::int32_t>&, memory_source&);
template csr<double, std::int64_t> transpose(const csr_view<double, std::int64_t>&, memory_source&);

}  // namespace quintet::spgemm
