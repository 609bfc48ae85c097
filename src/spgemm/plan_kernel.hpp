// Products into a known structure: detail/structured_rows.hpp on every processor.
#pragma once

#include "device/atomic.hpp"
#include "spgemm/problem.hpp"
#include "spgemm/range_loop.hpp"

namespace quintet::spgemm {

/// A team takes `grain` rows at a time until there are none; the host's have a map over the columns each.
/// The numeric phase alone (Gustavson 1978): the structure is given.
template <class Semiring, class Value, class Index, class Shape>
struct structured_kernel {
  using shape = Shape;
  struct scratch {
    std::int64_t ticket;
  };
  enum { threads = 64, emulated_threads = 4 };
  problem<Value, Index> p;
  const std::int64_t* row_pointers;
  const Index* columns;
  Value* values;
  std::uint8_t* touched;  ///< may be null
  std::int64_t rows, grain;
  std::int64_t* next;  ///< row that nobody has taken
  std::int64_t* maps;  ///< null: columns are searched for

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch& s) const {
    std::int64_t* const map = maps == nullptr ? nullptr : maps + tile * p.b.cols;
    for (;;) {
      const std::int64_t begin =
          device::broadcast(team, team.rank() == 0 ? device::atomic_draw(next, grain) : 0, 0, &s.ticket);
      if (begin >= rows) return;
      for (std::int64_t i = begin; i < std::min(rows, begin + grain); ++i)
        detail::structured_row<Semiring>(team, p.a, p.b, i, columns, row_pointers[i], row_pointers[i + 1], values,
                                         touched, map);
    }
  }
};

/// Marked entries of each row.
/// Stream compaction (Blelloch 1990), step 1 of 2; scan.hpp between them.
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

}  // namespace quintet::spgemm
