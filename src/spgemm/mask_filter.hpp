// What the kernels see of a mask: nothing, or entries that are not wanted.
#pragma once

#include "spgemm/operands.hpp"

namespace quintet::spgemm {

/// Every entry is wanted.
struct no_filter {
  enum { filters = 0 };
};

/// Entries of `mask` are not wanted; its rows ascend strictly.
template <class Index>
struct complement_filter {
  enum { filters = 1 };
  const std::int64_t* row_pointers;
  const Index* columns;

  bool keeps(std::int64_t row, Index column) const {
    const std::int64_t end = row_pointers[row + 1];
    const std::int64_t place = lower_bound(columns, row_pointers[row], end, column);
    return place == end || columns[place] != column;
  }
};

/// Closes up the wanted ones of a row's entries, which ascend; returns how many there are.
template <class Filter, class Value, class Index>
std::int64_t keep_wanted([[maybe_unused]] const Filter& filter, [[maybe_unused]] std::int64_t row, std::int64_t count,
                         [[maybe_unused]] Index* columns, [[maybe_unused]] Value* values) {
  if constexpr (!Filter::filters) {
    return count;
  } else {
    if (count == 0) return 0;
    const std::int64_t end = filter.row_pointers[row + 1];
    std::int64_t k = lower_bound(filter.columns, filter.row_pointers[row], end, columns[0]), kept = 0;
    for (std::int64_t e = 0; e < count; ++e) {
      while (k < end && filter.columns[k] < columns[e]) ++k;
      if (k < end && filter.columns[k] == columns[e]) continue;
      columns[kept] = columns[e];
      values[kept++] = values[e];
    }
    return kept;
  }
}

/// The mask in B's new numbers; entries in columns that B does not have are of no use.
template <class Value, class Index>
csr<Value, Index> renumbered_mask(const csr_view<Value, Index>& mask, const array<Index>& original,
                                  memory_source& memory) {
  csr<Value, Index> copy{
      mask.rows, original.size(), array<std::int64_t>(mask.rows + 1, memory), array<Index>(mask.nnz(), memory), {}};
  std::int64_t next = 0;
  copy.row_pointers[0] = 0;
  for (std::int64_t i = 0; i < mask.rows; ++i) {
    for (std::int64_t k = mask.row_pointers[i]; k < mask.row_pointers[i + 1]; ++k) {
      const Index* const found = std::lower_bound(original.begin(), original.end(), mask.columns[k]);
      if (found < original.end() && *found == mask.columns[k]) copy.columns[next++] = Index(found - original.begin());
    }
    copy.row_pointers[i + 1] = next;
  }
  copy.columns.trim(next);
  return copy;
}

}  // namespace quintet::spgemm
