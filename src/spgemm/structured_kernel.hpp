// Products into a known structure on a device: one team a row of C.
#pragma once

#include "spgemm/problem.hpp"

namespace quintet::spgemm {

struct team_shape {
  enum { on_device = 1 };
};

/// The threads of the team share out one row of B at a time (or the row of C, when that is shorter): its columns
/// differ, so no two threads meet, and the barrier before the next one fixes the order of the sums.
template <class Semiring, class Value, class Index>
struct structured_kernel {
  using shape = team_shape;
  struct scratch {};
  enum { threads = 64, emulated_threads = 4 };
  problem<Value, Index> p;
  const std::int64_t* row_pointers;
  const Index* columns;
  Value* values;
  std::uint8_t* touched;  ///< may be null

  template <class Team>
  void operator()(const Team& team, std::int64_t i, scratch&) const {
    const std::int64_t begin = row_pointers[i], end = row_pointers[i + 1];
    for (std::int64_t e = begin + team.rank(); e < end; e += team.size()) {
      values[e] = Semiring::template identity<Value>();
      if (touched != nullptr) touched[e] = 0;
    }
    team.barrier();
    for (std::int64_t k = p.a.row_pointers[i]; k < p.a.row_pointers[i + 1]; ++k) {
      const std::int64_t j = p.a.columns[k];
      const std::int64_t first = p.b.row_pointers[j], last = p.b.row_pointers[j + 1];
      if (last - first <= end - begin) {
        for (std::int64_t q = first + team.rank(); q < last; q += team.size())
          add(k, q, lower_bound(columns, begin, end, p.b.columns[q]), end);
      } else {
        for (std::int64_t e = begin + team.rank(); e < end; e += team.size()) {
          const std::int64_t q = lower_bound(p.b.columns, first, last, columns[e]);
          if (q < last) add(k, q, e, end);
        }
      }
      team.barrier();
    }
  }

 private:
  void add(std::int64_t k, std::int64_t q, std::int64_t e, std::int64_t end) const {
    if (e == end || columns[e] != p.b.columns[q]) return;
    values[e] = Semiring::template add<Value>(values[e], product_of<Semiring>(p.a.values[k], p.b.values[q]));
    if (touched != nullptr) touched[e] = 1;
  }
};

}  // namespace quintet::spgemm
