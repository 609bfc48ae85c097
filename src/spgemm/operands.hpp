// Operands made fit for the kernels: checked, B's rows sorted, its columns few enough for arrays over them.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "quintet/spgemm/csr.hpp"
#include "spgemm/host_loop.hpp"
#include "spgemm/problem.hpp"

namespace quintet::spgemm {

/// Columns that an accumulator of the host covers at most.
constexpr std::int64_t widest_accumulator = std::int64_t{1} << 22;

/// Whether every row has strictly ascending columns.
template <class Value, class Index>
bool is_canonical(const csr_view<Value, Index>& m) {
  bool canonical = true;
  bool* found = &canonical;
  host_loop(m.rows, 4096, [=](std::int64_t begin, std::int64_t end) {
    bool good = true;
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t k = m.row_pointers[i] + 1; k < m.row_pointers[i + 1]; ++k)
        good &= m.columns[k - 1] < m.columns[k];
    if (!good) __atomic_store_n(found, false, __ATOMIC_RELAXED);
  });
  return canonical;
}

/// A copy with sorted rows; repeated columns become one entry, the sum of theirs in their order.
template <class Semiring, class Value, class Index>
csr<Value, Index> canonical_copy(const csr_view<Value, Index>& m, memory_source& memory) {
  csr<Value, Index> copy{m.rows, m.cols, array<std::int64_t>(m.rows + 1, memory), array<Index>(m.nnz(), memory),
                         array<Value>(m.nnz(), memory)};
  std::vector<std::int64_t> order;
  std::int64_t next = 0;
  copy.row_pointers[0] = 0;
  for (std::int64_t i = 0; i < m.rows; ++i) {
    order.resize(std::size_t(m.row_pointers[i + 1] - m.row_pointers[i]));
    std::iota(order.begin(), order.end(), m.row_pointers[i]);
    std::sort(order.begin(), order.end(),
              [&](auto x, auto y) { return m.columns[x] != m.columns[y] ? m.columns[x] < m.columns[y] : x < y; });
    const std::int64_t first = next;
    for (const std::int64_t k : order) {
      if (next > first && copy.columns[next - 1] == m.columns[k]) {
        copy.values[next - 1] = Semiring::template add<Value>(copy.values[next - 1], m.values[k]);
      } else {
        copy.columns[next] = m.columns[k];
        copy.values[next++] = m.values[k];
      }
    }
    copy.row_pointers[i + 1] = next;
  }
  copy.columns.trim(next);
  copy.values.trim(next);
  return copy;
}

/// B as the kernels want it. `view` may point into the caller's matrix.
template <class Value, class Index>
struct prepared_operand {
  csr_view<Value, Index> view;
  csr<Value, Index> sorted;        ///< a copy, when the rows were not canonical
  array<Index> columns, original;  ///< hypersparse: columns renumbered, and what number they had

  /// Whether the columns of a result must be given back their numbers.
  bool renumbered() const { return !original.empty(); }
};

/// Columns without an entry are left out when there are so many of them that accumulators would be too wide.
template <class Value, class Index>
void renumber_columns(prepared_operand<Value, Index>& b, memory_source& memory) {
  const std::int64_t nnz = b.view.nnz();
  if (b.view.cols <= widest_accumulator || b.view.cols / 2 < nnz || nnz == 0) return;
  const Index* old = b.view.columns + b.view.row_pointers[0];
  std::vector<Index> used(old, old + nnz);
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  b.columns = array<Index>(nnz, memory);
  for (std::int64_t k = 0; k < nnz; ++k)
    b.columns[k] = Index(std::lower_bound(used.begin(), used.end(), old[k]) - used.begin());
  b.original = array<Index>(std::int64_t(used.size()), memory);
  std::copy(used.begin(), used.end(), b.original.begin());
  // Row pointers may count from elsewhere.
  b.view.columns = b.columns.data() - b.view.row_pointers[0];
  b.view.cols = std::int64_t(used.size());
}

/// B with canonical rows.
template <class Semiring, class Value, class Index>
prepared_operand<Value, Index> canonical(const csr_view<Value, Index>& b, memory_source& memory) {
  prepared_operand<Value, Index> prepared;
  prepared.view = b;
  if (!is_canonical(b)) {
    prepared.sorted = canonical_copy<Semiring>(b, memory);
    prepared.view = prepared.sorted.view();
  }
  return prepared;
}

template <class Semiring, class Value, class Index>
prepared_operand<Value, Index> prepare(const csr_view<Value, Index>& b, memory_source& memory) {
  prepared_operand<Value, Index> prepared = canonical<Semiring>(b, memory);
  renumber_columns(prepared, memory);
  return prepared;
}

/// Throws InvalidArgument unless a * b exists.
template <class Value, class Index>
void check_operands(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b) {
  check(a, "a");
  if (a.row_pointers != b.row_pointers || a.columns != b.columns || a.rows != b.rows || a.cols != b.cols) check(b, "b");
  if (a.cols != b.rows)
    throw InvalidArgument(
        text("a.cols must be b.rows (a is ", a.rows, " x ", a.cols, ", b is ", b.rows, " x ", b.cols, ")"));
}

}  // namespace quintet::spgemm
