// Operands made fit for the kernels, where they are: B's rows sorted, its columns few enough for arrays over them.
#pragma once

#include "quintet/spgemm/csr.hpp"
#include "quintet/spgemm/detail/structured_rows.hpp"
#include "spgemm/device_memory.hpp"
#include "spgemm/problem.hpp"
#include "spgemm/range_loop.hpp"

namespace quintet::spgemm {

/// Columns that an accumulator of the host covers at most.
constexpr std::int64_t widest_accumulator = std::int64_t{1} << 22;
/// Rows of a loop that a thread takes to put their entries in order.
constexpr std::int64_t ordered_grain = 256;

/// Whether every row has strictly ascending columns. Runs on `device`, where the matrix is.
template <class Value, class Index>
bool is_canonical(const csr_view<Value, Index>& m, const Device& device);

/// Puts the numbers of each row's entries in the order of their columns, into `order`, and makes the row pointers of a
/// matrix without repeated columns. Returns its entries. `first`: the first of m's row pointers.
template <class Value, class Index>
std::int64_t order_entries(const csr_view<Value, Index>& m, std::int64_t first, std::int64_t* order,
                           std::int64_t* row_pointers, const Device& device, memory_source& memory);

/// Entries of one column become one, the sum of theirs in their order.
/// The compression of expand-sort-compress (Bell, Dalton, Olson 2012).
template <class Semiring, class Value, class Index>
struct merge_ordered {
  csr_view<Value, Index> m;
  std::int64_t first;
  const std::int64_t *order, *row_pointers;
  Index* columns;
  Value* values;

  template <class Team>
  void operator()(const Team& team, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t i = begin + team.rank(); i < end; i += team.size()) {
      detail::merge_row<Semiring>(m, i, first, order, row_pointers[i], columns, values);
    }
  }
};

/// A copy with sorted rows on `device`, where the matrix is; repeated columns become one entry, the sum of theirs in
/// their order.
template <class Semiring, class Value, class Index>
device_matrix<Value, Index> canonical_copy(const csr_view<Value, Index>& m, const Device& device,
                                           memory_source& memory) {
  const auto [first, last] = entry_range(m);
  device_array<std::int64_t> order(last - first, device, memory), pointers(m.rows + 1, device, memory);
  const std::int64_t entries = order_entries(m, first, order.data(), pointers.data(), device, memory);
  device_matrix<Value, Index> copy{m.rows,
                                   m.cols,
                                   std::move(pointers),
                                   {entries, device, memory},
                                   {m.values != nullptr ? entries : 0, device, memory},
                                   device};
  range_loop(m.rows, ordered_grain,
             merge_ordered<Semiring, Value, Index>{m, first, order.data(), copy.row_pointers.data(),
                                                   copy.columns.data(), copy.values.data()},
             device);
  return copy;
}

/// An operand as the kernels on a device want it.
template <class Value, class Index>
struct prepared_operand {
  csr_view<Value, Index> view;               ///< there, with canonical rows; may be the caller's
  device_operand<Value, Index> device_copy;  ///< a copy of a matrix that is elsewhere
  device_matrix<Value, Index> sorted;        ///< a copy, when the rows were not canonical
  array<Index> columns, original;            ///< hypersparse: columns renumbered, and what number they had

  /// Whether the columns of a result must be given back their numbers.
  bool renumbered() const { return !original.empty(); }
};

/// Columns without an entry are left out when there are so many of them that accumulators would be too wide. For
/// matrices in memory of the host.
template <class Value, class Index>
void renumber_columns(prepared_operand<Value, Index>& b, memory_source& memory);

/// The mask in B's new numbers; entries in columns that B does not have are of no use.
template <class Value, class Index>
csr<Value, Index> renumbered_mask(const csr_view<Value, Index>& mask, const array<Index>& original,
                                  memory_source& memory);

/// Puts the operand where `device` sees it, with canonical rows.
template <class Semiring, class Value, class Index>
void make_canonical(prepared_operand<Value, Index>& prepared, const Device& device, memory_source& memory) {
  prepared.device_copy = device_operand<Value, Index>(prepared.view, device);
  prepared.view = prepared.device_copy.view();
  if (is_canonical(prepared.view, device)) return;
  prepared.sorted = canonical_copy<Semiring>(prepared.view, device, memory);
  prepared.view = prepared.sorted.view();
}

template <class Semiring, class Value, class Index>
prepared_operand<Value, Index> canonical(const csr_view<Value, Index>& m, const Device& device, memory_source& memory) {
  prepared_operand<Value, Index> prepared;
  prepared.view = m;
  make_canonical<Semiring>(prepared, device, memory);
  return prepared;
}

/// The same for B: with few columns, too.
template <class Semiring, class Value, class Index>
prepared_operand<Value, Index> prepare(const csr_view<Value, Index>& b, const Device& device, memory_source& memory) {
  prepared_operand<Value, Index> prepared;
  prepared.view = b;
  renumber_columns(prepared, memory);
  make_canonical<Semiring>(prepared, device, memory);
  return prepared;
}

/// Throws InvalidArgument unless a * b exists.
template <class Value, class Index>
void check_operands(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b);

}  // namespace quintet::spgemm
