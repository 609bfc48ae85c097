// How an accumulator hands over the entries of a row: `out` is where the chunk goes.
//
//   struct out {
//     enum { exact };                    // 0: room for the bound is there, and the team is one thread
//     Index* columns; Value* values;     // of the chunk
//     std::int64_t used;                 // entries of the chunk so far; the same for every thread
//     std::int64_t* ends;                // ends[i + 1]: entries of the chunk up to the end of row i
//     bool room(team, count);            // for `count` entries more, exactly that many when `exact`
//   };
//
// An accumulator writes behind the entries used so far and returns how many there are, or why there are none.
#pragma once

#include "spgemm/problem.hpp"
#include "spgemm/team_sort.hpp"

namespace quintet::spgemm {

/// Writes the wanted ones of a row's `count` entries, column(e) ascending in e, value(e).
template <class Team, class Out, class Index, class Column, class Sum>
inline std::int64_t emit(const Team& team, Out& out, const mask_filter<Index>& filter, std::int64_t row,
                         std::int64_t count, std::int32_t* scan, Column column, Sum value) {
  if (!filter.active()) {
    if (!out.room(team, count)) return no_room;
    auto* const columns = out.columns + out.used;
    auto* const values = out.values + out.used;
    for (std::int64_t e = team.rank(); e < count; e += team.size()) {
      columns[e] = column(e);
      values[e] = value(e);
    }
    return count;
  }
  const team_share share(team, count);
  std::int32_t in_share = 0;
  std::int64_t place = 0;
  const auto each_wanted = [&](auto f) {
    if (share.begin == share.end) return;
    mask_cursor<Index> mask(filter, row, column(share.begin));
    for (std::int64_t e = share.begin; e < share.end; ++e)
      if (mask.keeps(column(e))) f(e);
  };
  if constexpr (Out::exact) {
    std::int32_t own_entries = 0;
    each_wanted([&](std::int64_t) { ++own_entries; });
    place = exclusive_scan(team, own_entries, scan, &in_share);
    if (!out.room(team, in_share)) return no_room;
  }
  each_wanted([&](std::int64_t e) {
    out.columns[out.used + place] = column(e);
    out.values[out.used + place++] = value(e);
  });
  return Out::exact ? in_share : place;
}

}  // namespace quintet::spgemm
