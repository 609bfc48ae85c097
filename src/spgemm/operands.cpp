#include "spgemm/operands.hpp"

#include <algorithm>
#include <vector>

#include "device/atomic.hpp"
#include "spgemm/heap.hpp"
#include "spgemm/scan.hpp"

#include "instantiate.hpp"

namespace quintet::spgemm {

namespace {

/// Counts where columns do not ascend strictly within a row: of all entries that are not above the one before, without
/// a look at rows, those at the beginning of a row do not count.
template <class Index>
struct find_unsorted {
  const std::int64_t* row_pointers;
  const Index* columns;
  std::int64_t* total;
  template <class Team>
  void operator()(const Team& team, std::int64_t begin, std::int64_t end) const {
    const std::int64_t first = row_pointers[begin], last = row_pointers[end];
    const Index* const c = columns;
    std::int64_t descents = 0;
    for (std::int64_t k = first + 1 + team.rank(); k < last; k += team.size()) descents += c[k - 1] >= c[k];
    for (std::int64_t i = begin + 1 + team.rank(); i < end; i += team.size()) {
      const std::int64_t k = row_pointers[i];
      if (k > row_pointers[i - 1] && k > first && k < last) descents -= c[k - 1] >= c[k];
    }
    if (descents != 0) device::atomic_add(total, descents);
  }
};

/// Puts the numbers of each row's entries in the order of their columns (heapsort: it needs no memory and no stack),
/// and counts different columns. A thread takes a row.
/// Heapsort: Williams 1964, built bottom-up by Floyd 1964 (Algorithm 245).
template <class Value, class Index>
struct order_rows {
  csr_view<Value, Index> m;
  std::int64_t first;
  std::int64_t *order, *counts;

  template <class Team>
  void operator()(const Team& team, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t i = begin + team.rank(); i < end; i += team.size()) {
      const std::int64_t from = m.row_pointers[i], count = m.row_pointers[i + 1] - from;
      std::int64_t* const row = order + (from - first);
      bool sorted = true;
      for (std::int64_t e = 0; e < count; ++e) {
        row[e] = from + e;
        sorted &= e == 0 || m.columns[from + e - 1] <= m.columns[from + e];
      }
      if (!sorted) sort(row, count);
      std::int64_t different = 0;
      for (std::int64_t e = 0; e < count; ++e) different += e == 0 || m.columns[row[e]] != m.columns[row[e - 1]];
      counts[i + 1] = different;
    }
  }

 private:
  bool less(std::int64_t x, std::int64_t y) const {
    return m.columns[x] != m.columns[y] ? m.columns[x] < m.columns[y] : x < y;
  }
  void sort(std::int64_t* row, std::int64_t count) const {
    const auto later = [this, row](std::int64_t i, std::int64_t j) { return less(row[j], row[i]); };
    const auto swap = [row](std::int64_t i, std::int64_t j) {
      const std::int64_t moved = row[i];
      row[i] = row[j];
      row[j] = moved;
    };
    build_heap(count, later, swap);
    sort_heap(count, later, swap);
  }
};

}  // namespace

template <class Value, class Index>
bool is_canonical(const csr_view<Value, Index>& m, const Device& device) {
  std::int64_t count = 0;
  if (device.shares_host_memory()) {
    range_loop(m.rows, 4096, find_unsorted<Index>{m.row_pointers, m.columns, &count}, device);
    return count == 0;
  }
  device_array<std::int64_t> device_copy(&count, 1, device, memory_source::standard());
  range_loop(m.rows, 4096, find_unsorted<Index>{m.row_pointers, m.columns, device_copy.data()}, device);
  device_copy.to_host(&count, 1);
  return count == 0;
}

template <class Value, class Index>
std::int64_t order_entries(const csr_view<Value, Index>& m, std::int64_t first, std::int64_t* order,
                           std::int64_t* row_pointers, const Device& device, memory_source& memory) {
  range_loop(m.rows, ordered_grain, order_rows<Value, Index>{m, first, order, row_pointers}, device);
  return scan_counts(row_pointers, m.rows, device, memory);
}

template <class Value, class Index>
bool detail::order_columns(const csr_view<Value, Index>& m, array<std::int64_t>& order,
                           array<std::int64_t>& row_pointers, memory_source& memory) {
  const Device host = Device::host();
  if (is_canonical(m, host)) return false;
  const auto [first, last] = entry_range(m);
  order = array<std::int64_t>(last - first, memory);
  row_pointers = array<std::int64_t>(m.rows + 1, memory);
  order_entries(m, first, order.data(), row_pointers.data(), host, memory);
  return true;
}

template <class Value, class Index>
void renumber_columns(prepared_operand<Value, Index>& b, memory_source& memory) {
  if (b.view.cols <= widest_accumulator || !b.view.where.shares_host_memory()) return;
  const std::int64_t nnz = b.view.nnz();
  if (b.view.cols / 2 < nnz || nnz == 0) return;
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

template <class Value, class Index>
csr<Value, Index> renumbered_mask(const csr_view<Value, Index>& mask, const array<Index>& original,
                                  memory_source& memory) {
  csr<Value, Index> copy{
      mask.rows, original.size(), array<std::int64_t>(mask.rows + 1, memory), array<Index>(mask.nnz(), memory), {}};
  std::int64_t next = 0;
  copy.row_pointers[0] = 0;
  for (std::int64_t i = 0; i < mask.rows; ++i) {
    for (std::int64_t k = mask.row_pointers[i]; k < mask.row_pointers[i + 1]; ++k) {
      const Index* const it = std::lower_bound(original.begin(), original.end(), mask.columns[k]);
      if (it < original.end() && *it == mask.columns[k]) copy.columns[next++] = Index(it - original.begin());
    }
    copy.row_pointers[i + 1] = next;
  }
  copy.columns.trim(next);
  return copy;
}

template <class Value, class Index>
void check_operands(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b) {
  check(a, "a");
  if (a.row_pointers != b.row_pointers || a.columns != b.columns || a.rows != b.rows || a.cols != b.cols) check(b, "b");
  if (a.cols != b.rows)
    throw InvalidArgument(
        text("a.cols must be b.rows (a is ", a.rows, " x ", a.cols, ", b is ", b.rows, " x ", b.cols, ")"));
}

#define QUINTET_INSTANTIATE(Value, Index)                                                                         \
  template bool is_canonical(const csr_view<Value, Index>&, const Device&);                                       \
  template std::int64_t order_entries(const csr_view<Value, Index>&, std::int64_t, std::int64_t*, std::int64_t*,  \
                                      const Device&, memory_source&);                                             \
  template bool detail::order_columns(const csr_view<Value, Index>&, array<std::int64_t>&, array<std::int64_t>&,  \
                                      memory_source&);                                                            \
  template void renumber_columns(prepared_operand<Value, Index>&, memory_source&);                                \
  template csr<Value, Index> renumbered_mask(const csr_view<Value, Index>&, const array<Index>&, memory_source&); \
  template void check_operands(const csr_view<Value, Index>&, const csr_view<Value, Index>&);
QUINTET_FOR_EACH_SPARSE(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::spgemm
