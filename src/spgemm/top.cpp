#include "spgemm/top_rows.hpp"

#include "spgemm/range_loop.hpp"
#include "spgemm/scan.hpp"

#include "instantiate.hpp"

namespace quintet::spgemm {

namespace {

/// The first entries of each row, at its beginning, and their number. A thread takes a row.
/// Stream compaction (Blelloch 1990), step 1 of 2; scan_counts() between them.
template <class Value, class Index>
struct select_top {
  row_entries<Value, Index> m;
  top_rule<Value> rule;
  std::int64_t* counts;
  template <class Team>
  void operator()(const Team& team, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t i = begin + team.rank(); i < end; i += team.size()) {
      const std::int64_t first = m.row_pointers[i];
      counts[i + 1] = keep_top(rule, m.columns + first, m.values + first, m.row_pointers[i + 1] - first);
    }
  }
};

/// These entries, one row behind the other.
/// Stream compaction (Blelloch 1990), step 2 of 2.
template <class Value, class Index>
struct move_top {
  row_entries<Value, Index> m;
  const std::int64_t* row_pointers;
  Index* columns;
  Value* values;
  template <class Team>
  void operator()(const Team& team, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t i = begin + team.rank(); i < end; i += team.size()) {
      const std::int64_t from = m.row_pointers[i], to = row_pointers[i];
      for (std::int64_t e = 0; e < row_pointers[i + 1] - to; ++e) {
        columns[to + e] = m.columns[from + e];
        values[to + e] = m.values[from + e];
      }
    }
  }
};

}  // namespace

template <class Value, class Index>
device_matrix<Value, Index> top_entries(const row_entries<Value, Index>& m, const top_rule<Value>& rule,
                                        const Device& device, memory_source& memory) {
  constexpr std::int64_t grain = 128;
  device_array<std::int64_t> row_pointers(m.rows + 1, device, memory);
  range_loop(m.rows, grain, select_top<Value, Index>{m, rule, row_pointers.data()}, device);
  const std::int64_t entries = scan_counts(row_pointers.data(), m.rows, device, memory);
  device_matrix<Value, Index> top{
      m.rows, m.cols, std::move(row_pointers), {entries, device, memory}, {entries, device, memory}, device};
  range_loop(m.rows, grain, move_top<Value, Index>{m, top.row_pointers.data(), top.columns.data(), top.values.data()},
             device);
  return top;
}

#define QUINTET_INSTANTIATE(Value, Index)                                                                    \
  template device_matrix<Value, Index> top_entries(const row_entries<Value, Index>&, const top_rule<Value>&, \
                                                   const Device&, memory_source&);
QUINTET_FOR_EACH_SPARSE(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::spgemm
