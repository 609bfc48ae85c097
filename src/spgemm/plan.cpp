// What the products into a known structure share.
#include "quintet/spgemm/plan.hpp"

#include "spgemm/plan_impl.hpp"
#include "spgemm/scan.hpp"

#include "instantiate.hpp"

namespace quintet::spgemm::detail {

namespace {

/// Marked entries of each row.
/// Stream compaction (Blelloch 1990), step 1 of 2; scan_counts() between them.
struct count_marked {
  const std::int64_t* row_pointers;
  const std::uint8_t* marked;
  std::int64_t* counts;
  template <class Team>
  void operator()(const Team& team, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t i = begin + team.rank(); i < end; i += team.size()) {
      std::int64_t count = 0;
      for (std::int64_t k = row_pointers[i]; k < row_pointers[i + 1]; ++k) count += marked[k];
      counts[i + 1] = count;
    }
  }
};

/// The marked entries, closed up.
/// Stream compaction, step 2 of 2.
template <class Value, class Index>
struct keep_marked {
  csr_view<Value, Index> m;
  const std::uint8_t* marked;
  const std::int64_t* row_pointers;
  Index* columns;
  Value* values;
  template <class Team>
  void operator()(const Team& team, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t i = begin + team.rank(); i < end; i += team.size()) {
      std::int64_t next = row_pointers[i];
      for (std::int64_t k = m.row_pointers[i]; k < m.row_pointers[i + 1]; ++k) {
        if (marked[k] == 0) continue;
        columns[next] = m.columns[k];
        values[next++] = m.values[k];
      }
    }
  }
};

}  // namespace

template <class Value, class Index>
device_matrix<Value, Index> marked_entries(const csr_view<Value, Index>& m, const std::uint8_t* marked,
                                           const Device& device, memory_source& memory) {
  device_array<std::int64_t> row_pointers(m.rows + 1, device, memory);
  range_loop(m.rows, 256, count_marked{m.row_pointers, marked, row_pointers.data()}, device);
  const std::int64_t entries = scan_counts(row_pointers.data(), m.rows, device, memory);
  device_matrix<Value, Index> copy{
      m.rows, m.cols, std::move(row_pointers), {entries, device, memory}, {entries, device, memory}, device};
  range_loop(m.rows, 256,
             keep_marked<Value, Index>{m, marked, copy.row_pointers.data(), copy.columns.data(), copy.values.data()},
             device);
  return copy;
}

void structured_loop(std::int64_t rows, std::int64_t cols, memory_source& memory,
                     const std::function<void(std::int64_t, std::int64_t, std::int64_t*)>& work) {
  constexpr std::int64_t grain = 64;
  column_maps maps((rows + grain - 1) / grain, cols, memory);
  const auto* call = &work;
  host_loop(rows, grain, [=, all = maps.all()](std::int64_t begin, std::int64_t end) {
    column_maps::lease map;
    all.take(map);
    (*call)(begin, end, map.data);
  });
}

#define QUINTET_INSTANTIATE(Value, Index)                                                                 \
  template device_matrix<Value, Index> marked_entries(const csr_view<Value, Index>&, const std::uint8_t*, \
                                                      const Device&, memory_source&);
QUINTET_FOR_EACH_SPARSE(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::spgemm::detail
