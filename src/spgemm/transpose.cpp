#include "quintet/spgemm/transpose.hpp"

#include <algorithm>
#include <limits>

#include "spgemm/range_loop.hpp"
#include "spgemm/results.hpp"
#include "spgemm/scan.hpp"

#include "instantiate.hpp"

namespace quintet::spgemm {

namespace {

/// The entries in blocks of whole rows with about equally many, and how many of each column every block has: that
/// gives an entry its place among those of its column, whoever moves it.
template <class Value, class Index>
struct row_blocks {
  csr_view<Value, Index> m;
  std::int64_t first, nnz, count;
  std::int64_t* counts;  ///< of block w and column j at w * cols + j; then where the next of them goes

  std::int64_t begin(std::int64_t w) const {
    if (w == count) return m.rows;
    std::int64_t low = 0, high = m.rows;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (m.row_pointers[middle] - first < nnz / count * w)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
};

/// A counting sort by columns in blocks (HALFPERM of Gustavson 1978; radix sort of Zagha, Blelloch 1991), step 1 of 4.
template <class Value, class Index>
struct count_columns {
  row_blocks<Value, Index> blocks;
  template <class Team>
  void operator()(const Team& team, std::int64_t begin, std::int64_t end) const {
    const auto& m = blocks.m;
    for (std::int64_t w = begin + team.rank(); w < end; w += team.size()) {
      std::int64_t* const counts = blocks.counts + w * m.cols;
      for (std::int64_t j = 0; j < m.cols; ++j) counts[j] = 0;
      const std::int64_t last = m.row_pointers[blocks.begin(w + 1)];
      for (std::int64_t k = m.row_pointers[blocks.begin(w)]; k < last; ++k) ++counts[m.columns[k]];
    }
  }
};

/// Step 2 of 4: the scan over columns follows.
template <class Value, class Index>
struct sum_columns {
  row_blocks<Value, Index> blocks;
  std::int64_t* pointers;
  template <class Team>
  void operator()(const Team& team, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t j = begin + team.rank(); j < end; j += team.size()) {
      std::int64_t sum = 0;
      for (std::int64_t w = 0; w < blocks.count; ++w) sum += blocks.counts[w * blocks.m.cols + j];
      pointers[j + 1] = sum;
    }
  }
};

/// Step 3 of 4.
template <class Value, class Index>
struct place_columns {
  row_blocks<Value, Index> blocks;
  const std::int64_t* pointers;
  template <class Team>
  void operator()(const Team& team, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t j = begin + team.rank(); j < end; j += team.size()) {
      std::int64_t next = pointers[j];
      for (std::int64_t w = 0; w < blocks.count; ++w) {
        std::int64_t& at = blocks.counts[w * blocks.m.cols + j];
        const std::int64_t entries = at;
        at = next;
        next += entries;
      }
    }
  }
};

/// Step 4 of 4.
template <class Value, class Index>
struct move_entries {
  row_blocks<Value, Index> blocks;
  Index* columns;
  Value* values;
  template <class Team>
  void operator()(const Team& team, std::int64_t begin, std::int64_t end) const {
    const auto& m = blocks.m;
    for (std::int64_t w = begin + team.rank(); w < end; w += team.size()) {
      std::int64_t* const next = blocks.counts + w * m.cols;
      for (std::int64_t i = blocks.begin(w); i < blocks.begin(w + 1); ++i)
        for (std::int64_t k = m.row_pointers[i]; k < m.row_pointers[i + 1]; ++k) {
          const std::int64_t place = next[m.columns[k]]++;
          columns[place] = Index(i);
          values[place] = m.values[k];
        }
    }
  }
};

}  // namespace

template <class Value, class Index>
device_matrix<Value, Index> transpose_there(const csr_view<Value, Index>& any, const Device& device,
                                            memory_source& memory) {
  check(any, "matrix");
  if (any.rows - 1 > std::numeric_limits<Index>::max())
    throw InvalidArgument(text("matrix.rows must be <= ", std::numeric_limits<Index>::max(), " + 1 to be columns of ",
                               8 * sizeof(Index), " bits (matrix.rows=", any.rows, ")"));
  const device_operand<Value, Index> device_copy(any, device);
  const csr_view<Value, Index>& m = device_copy.view();
  const auto [first, last] = entry_range(m);
  const std::int64_t nnz = last - first;
  device_matrix<Value, Index> t{
      m.cols, m.rows, {m.cols + 1, device, memory}, {nnz, device, memory}, {nnz, device, memory}, device};
  if (m.rows == 0) {
    range_loop(m.cols + 1, 4096, set_zero{t.row_pointers.data()}, device);
    return t;
  }
  // Counts of all blocks take at most four times the room of a column number each.
  const bool host = device.kind() == device_kind::host;
  const std::int64_t max = host ? (nnz < 100'000 ? 1 : threads()) : 256;
  const std::int64_t count = std::clamp<std::int64_t>(4 * nnz / std::max<std::int64_t>(m.cols, 1), 1, max);
  device_array<std::int64_t> counts(count * m.cols, device, memory);
  const row_blocks<Value, Index> blocks{m, first, nnz, count, counts.data()};
  const std::int64_t grain = host ? 1 : 32;
  range_loop(count, grain, count_columns<Value, Index>{blocks}, device);
  range_loop(m.cols, 4096, sum_columns<Value, Index>{blocks, t.row_pointers.data()}, device);
  scan_counts(t.row_pointers.data(), m.cols, device, memory);
  range_loop(m.cols, 4096, place_columns<Value, Index>{blocks, t.row_pointers.data()}, device);
  range_loop(count, grain, move_entries<Value, Index>{blocks, t.columns.data(), t.values.data()}, device);
  return t;
}

template <class Value, class Index>
csr<Value, Index> transpose(const csr_view<Value, Index>& m, memory_source& memory, const Device& device) {
  return to_host(transpose_there(m, device_of_operands(device, {{"matrix", m}}), memory), memory);
}

template <class Value, class Index>
device_csr<Value, Index> transpose(const device_csr<Value, Index>& m) {
  check_sizes(m, "matrix");
  return to_buffers(transpose_there(m.view(), m.device(), memory_source::standard()));
}

#define QUINTET_INSTANTIATE(Value, Index)                                                                             \
  template device_matrix<Value, Index> transpose_there(const csr_view<Value, Index>&, const Device&, memory_source&); \
  template csr<Value, Index> transpose(const csr_view<Value, Index>&, memory_source&, const Device&);                 \
  template device_csr<Value, Index> transpose(const device_csr<Value, Index>&);
QUINTET_FOR_EACH_SPARSE(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::spgemm
