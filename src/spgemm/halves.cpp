#include "spgemm/halves.hpp"

#include <algorithm>

#include "spgemm/range_loop.hpp"

#include "instantiate.hpp"

namespace quintet::spgemm {

namespace {

constexpr std::int64_t halves_grain = 256;             // rows of a tile
constexpr std::int64_t entries_for_threads = 100'000;  // with fewer one thread walks through B

/// Where the rows of B begin and end that the entries of A's rows use. `original` may be null.
template <class Value, class Index>
struct begin_at_diagonal {
  problem<Value, Index> p;
  const Index* original;
  std::int64_t first;  ///< of A's row pointers
  Index* numbers;
  std::int64_t *begins, *ends;

  template <class Team>
  void operator()(const Team& team, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t i = begin + team.rank(); i < end; i += team.size()) {
      const std::int64_t col = column_of(i);
      for (std::int64_t k = p.a.row_pointers[i]; k < p.a.row_pointers[i + 1]; ++k) {
        const std::int64_t j = p.a.columns[k], end_of_row = p.b.row_pointers[j + 1];
        set(k, lower_bound(p.b.columns, p.b.row_pointers[j], end_of_row, col), end_of_row);
      }
    }
  }
  /// The first column that counts in row i, as B's columns are numbered.
  std::int64_t column_of(std::int64_t i) const {
    return original == nullptr ? i : lower_bound(original, 0, p.b.cols, i);
  }
  void set(std::int64_t k, std::int64_t begin, std::int64_t end) const {
    numbers[k - first] = Index(k - first);
    begins[k - first] = begin;
    ends[k - first] = end;
  }
};

/// The same on the host, in blocks of rows. A's rows ask for ascending columns, so a row of B is gone through once, and
/// nothing is searched but the beginnings of a block.
template <class Value, class Index>
struct walk_to_diagonal {
  begin_at_diagonal<Value, Index> search;
  std::int64_t blocks;
  std::int64_t* places;  ///< of each block and row of B

  void operator()(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t block = begin; block < end; ++block) walk(block);
  }
  void walk(std::int64_t block) const {
    const problem<Value, Index>& p = search.p;
    const std::int64_t begin = p.a.rows * block / blocks, end = p.a.rows * (block + 1) / blocks;
    std::int64_t* const next = places + block * p.b.rows;
    const std::int64_t first_col = search.column_of(begin);
    for (std::int64_t j = 0; j < p.b.rows; ++j)
      next[j] = block == 0 ? p.b.row_pointers[j]
                           : lower_bound(p.b.columns, p.b.row_pointers[j], p.b.row_pointers[j + 1], first_col);
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t col = search.column_of(i);
      for (std::int64_t k = p.a.row_pointers[i]; k < p.a.row_pointers[i + 1]; ++k) {
        const std::int64_t j = p.a.columns[k], last = p.b.row_pointers[j + 1];
        std::int64_t place = next[j];
        while (place < last && p.b.columns[place] < col) ++place;
        next[j] = place;
        search.set(k, place, last);
      }
    }
  }
};

}  // namespace

template <class Value, class Index>
half_operands<Value, Index> halve_operands(const problem<Value, Index>& p, const array<Index>& original,
                                           const Device& device, memory_source& memory) {
  const auto [first, last] = entry_range(p.a);
  const std::int64_t entries = last - first;
  half_operands<Value, Index> half{p, {entries, device, memory}, {entries, device, memory}, {entries, device, memory}};
  const begin_at_diagonal<Value, Index> search{
      p, original.empty() ? nullptr : original.data(), first, half.numbers.data(), half.begin.data(), half.end.data()};
  if (device.kind() == device_kind::host) {
    const std::int64_t blocks = entries < entries_for_threads ? 1 : std::max<std::int64_t>(threads(), 1);
    device_array<std::int64_t> places(blocks * p.b.rows, device, memory);
    host_loop(blocks, 1, walk_to_diagonal<Value, Index>{search, blocks, places.data()});
  } else {
    device::launch(range_kernel<begin_at_diagonal<Value, Index>, team_shape>{search, p.a.rows, halves_grain},
                   (p.a.rows + halves_grain - 1) / halves_grain, device);
  }
  half.p.a.cols = entries;
  half.p.a.columns = half.numbers.data() - first;
  half.p.b.rows = entries;
  half.p.b.row_pointers = half.begin.data();
  half.p.b_ends = half.end.data();
  return half;
}

#define QUINTET_INSTANTIATE(Value, Index)                                                                \
  template half_operands<Value, Index> halve_operands(const problem<Value, Index>&, const array<Index>&, \
                                                      const Device&, memory_source&);
QUINTET_FOR_EACH_SPARSE(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::spgemm
