// The chunks of a product on a device: a team computes a chunk in its memory, and reserves room for it in an arena as
// soon as it knows how many entries it has. What finds no room writes nothing, tells its exact size, and runs again.
#pragma once

#include <type_traits>

#include "quintet/spgemm/options.hpp"
#include "spgemm/mask_filter.hpp"
#include "spgemm/problem.hpp"
#include "spgemm/structured_kernel.hpp"
#include "spgemm/team_sort.hpp"

namespace quintet::spgemm {

enum : std::int32_t {
  batch_products = 1024,      ///< products that a batch of rows expands in team memory, and its entries of A
  batch_rows = 1 << 12,       ///< rows of a batch: 12 bits of a tag beside 10 bits of a position
  largest_table = 2048,       ///< slots of a hash table
  bitmask_columns = 1 << 17,  ///< columns of a window: 16 KB of bits, 16 KB of ranks
};

/// A chunk, how it is computed, and what came of it.
struct device_chunk {
  chunk range;
  strategy how;
  std::int32_t slots;  ///< of the hash table
};
enum : std::int64_t { no_room = -1, table_full = -2 };

template <class Semiring, class Value, class Index, class Filter>
struct device_kernel {
  using shape = team_shape;
  enum { threads = 128, emulated_threads = 4 };
  using Key = std::make_unsigned_t<Index>;

  struct batch_memory {
    Value value[batch_products];
    Index column[batch_products];
    std::uint32_t tag[batch_products];  ///< row in the batch, position among the products: the order of the sums
    std::int32_t offset[batch_products];
  };
  struct table_memory {
    Value value[largest_table];
    Key key[largest_table];
  };
  struct bitmask_memory {
    std::uint32_t bits[bitmask_columns / 32];
    std::int32_t rank[bitmask_columns / 32];
  };
  struct scratch {
    union {
      batch_memory batch;
      table_memory table;
      bitmask_memory bitmask;
    };
    std::int64_t place;
    std::int32_t used;
    std::int32_t scan[threads];
  };

  problem<Value, Index> p;
  const device_chunk* chunks;
  std::int64_t capacity;  ///< of the arena
  std::int64_t* cursor;   ///< tickets for the arena: only ever grows
  Index* columns;         ///< the arena
  Value* values;
  std::int64_t* place;        ///< of each chunk in the arena; no_room or table_full
  std::int64_t* count;        ///< of each chunk
  std::int64_t* row_entries;  ///< of rows in whole-row chunks, counted from first_row
  std::int64_t first_row;
  Filter filter;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch& s) const {
    const device_chunk& c = chunks[tile];
    if (c.how == strategy::segmented)
      batch(team, tile, c.range, s);
    else if (c.how == strategy::streaming)
      stream(team, tile, c.range, s);
    else if (c.how == strategy::hash)
      hash(team, tile, c, s);
    else
      bitmask(team, tile, c.range, s);
  }

 private:
  static Value first_sum(Value product) {
    return Semiring::template add<Value>(Semiring::template identity<Value>(), product);
  }

  /// Room for the entries of a chunk, the same answer for every thread.
  template <class Team>
  std::int64_t reserve(const Team& team, std::int64_t tile, std::int64_t entries, scratch& s) const {
    if (team.rank() == 0) {
      const std::int64_t old = __atomic_fetch_add(cursor, entries, __ATOMIC_RELAXED);
      s.place = old + entries <= capacity ? old : std::int64_t(no_room);
      place[tile] = s.place;
      count[tile] = entries;
    }
    team.barrier();
    const std::int64_t result = s.place;
    team.barrier();
    return result;
  }

  // --- rows of few products, many at a time: expand, sort, sum up
  template <class Team>
  void batch(const Team& team, std::int64_t tile, const chunk& c, scratch& s) const {
    batch_memory& m = s.batch;
    const std::int32_t products = expand(team, c, s);
    std::int32_t padded = 1;
    while (padded < products) padded *= 2;
    for (std::int32_t e = products + team.rank(); e < padded; e += team.size()) m.tag[e] = 0xffffffffu;
    team.barrier();
    team_sort(
        team, padded,
        [&](std::int32_t x, std::int32_t y) {
          const std::uint32_t row_x = m.tag[x] >> 10, row_y = m.tag[y] >> 10;
          if (row_x != row_y) return row_x < row_y;
          if (row_x >= batch_rows) return false;  // padding: no column
          return m.column[x] != m.column[y] ? m.column[x] < m.column[y] : m.tag[x] < m.tag[y];
        },
        [&](std::int32_t x, std::int32_t y) {
          const Index column = m.column[x];
          const std::uint32_t tag = m.tag[x];
          m.column[x] = m.column[y];
          m.tag[x] = m.tag[y];
          m.column[y] = column;
          m.tag[y] = tag;
        });
    const std::int32_t share = (products + team.size() - 1) / team.size();
    const std::int32_t begin = min(products, team.rank() * share), end = min(products, begin + share);
    std::int32_t heads = 0, entries = 0;
    for (std::int32_t e = begin; e < end; ++e) heads += starts_wanted(m, c, e);
    std::int32_t entry = exclusive_scan(team, heads, s.scan, &entries);
    const std::int64_t to = reserve(team, tile, entries, s);
    if (to < 0) return;
    for (std::int32_t e = begin; e < end; ++e) {
      if (!starts_wanted(m, c, e)) continue;
      Value sum = first_sum(m.value[m.tag[e] & 1023u]);
      for (std::int32_t next = e + 1; next < products && !starts_entry(m, next); ++next)
        sum = Semiring::template add<Value>(sum, m.value[m.tag[next] & 1023u]);
      columns[to + entry] = m.column[e];
      values[to + entry] = sum;
      ++entry;
      __atomic_fetch_add(&row_entries[c.first_row + (m.tag[e] >> 10) - first_row], 1, __ATOMIC_RELAXED);
    }
  }

  static std::int32_t min(std::int32_t x, std::int32_t y) { return x < y ? x : y; }

  static bool starts_entry(const batch_memory& m, std::int32_t e) {
    return e == 0 || (m.tag[e] >> 10) != (m.tag[e - 1] >> 10) || m.column[e] != m.column[e - 1];
  }

  bool starts_wanted(const batch_memory& m, const chunk& c, std::int32_t e) const {
    if constexpr (Filter::filters)
      return starts_entry(m, e) && filter.keeps(c.first_row + (m.tag[e] >> 10), m.column[e]);
    else
      return starts_entry(m, e);
  }

  /// Where the wanted of `entries` entries go, each thread taking a range of them: f(entry, place), the place counted
  /// from the reserved room on. Returns how many are wanted, or -1 when there is no room. column(e) ascends with e.
  template <class Team, class Column, class Write>
  std::int64_t write_wanted(const Team& team, std::int64_t tile, std::int64_t row, std::int64_t entries, scratch& s,
                            Column column, Write write) const {
    if constexpr (!Filter::filters) {
      const std::int64_t to = reserve(team, tile, entries, s);
      if (to < 0) return -1;
      for (std::int64_t e = team.rank(); e < entries; e += team.size()) write(e, to + e);
      return entries;
    } else {
      const std::int64_t share = (entries + team.size() - 1) / team.size();
      const std::int64_t first = team.rank() * share, begin = first < entries ? first : entries;
      const std::int64_t end = begin + share < entries ? begin + share : entries;
      std::int32_t mine = 0, wanted = 0;
      for (std::int64_t e = begin; e < end; ++e) mine += filter.keeps(row, column(e));
      std::int64_t place = exclusive_scan(team, mine, s.scan, &wanted);
      const std::int64_t to = reserve(team, tile, wanted, s);
      if (to < 0) return -1;
      for (std::int64_t e = begin; e < end; ++e)
        if (filter.keeps(row, column(e))) write(e, to + place++);
      return wanted;
    }
  }

  /// All products of the rows, in order; returns how many.
  template <class Team>
  std::int32_t expand(const Team& team, const chunk& c, scratch& s) const {
    batch_memory& m = s.batch;
    const std::int64_t first = p.a.row_pointers[c.first_row];
    const std::int32_t entries = std::int32_t(p.a.row_pointers[c.last_row] - first);
    const std::int32_t share = (entries + team.size() - 1) / team.size();
    const std::int32_t begin = min(entries, team.rank() * share), end = min(entries, begin + share);
    std::int32_t sum = 0, products = 0;
    for (std::int32_t e = begin; e < end; ++e) {
      const std::int64_t j = p.a.columns[first + e];
      sum += std::int32_t(p.b.row_pointers[j + 1] - p.b.row_pointers[j]);
    }
    std::int32_t offset = exclusive_scan(team, sum, s.scan, &products);
    for (std::int32_t e = begin; e < end; ++e) {
      const std::int64_t j = p.a.columns[first + e];
      m.offset[e] = offset;
      offset += std::int32_t(p.b.row_pointers[j + 1] - p.b.row_pointers[j]);
    }
    team.barrier();
    for (std::int32_t e = team.rank(); e < entries; e += team.size()) {
      // The last row that begins at or before this entry and is not empty.
      std::int64_t low = c.first_row, high = c.last_row;
      while (high - low > 1) {
        const std::int64_t middle = low + (high - low) / 2;
        if (p.a.row_pointers[middle] <= first + e)
          low = middle;
        else
          high = middle;
      }
      const std::int64_t j = p.a.columns[first + e];
      const Value a = p.a.values[first + e];
      std::int32_t to = m.offset[e];
      for (std::int64_t q = p.b.row_pointers[j]; q < p.b.row_pointers[j + 1]; ++q, ++to) {
        m.column[to] = p.b.columns[q];
        m.value[to] = product_of<Semiring>(a, p.b.values[q]);
        m.tag[to] = (std::uint32_t(low - c.first_row) << 10) | std::uint32_t(to);
      }
    }
    team.barrier();
    return products;
  }

  // --- one entry in A's row
  template <class Team>
  void stream(const Team& team, std::int64_t tile, const chunk& c, scratch& s) const {
    const std::int64_t k = p.a.row_pointers[c.first_row], j = p.a.columns[k];
    const std::int64_t first = p.b.row_pointers[j], entries = p.b.row_pointers[j + 1] - first;
    const std::int64_t wanted = write_wanted(
        team, tile, c.first_row, entries, s, [&](std::int64_t e) { return p.b.columns[first + e]; },
        [&](std::int64_t e, std::int64_t to) {
          columns[to] = p.b.columns[first + e];
          values[to] = first_sum(product_of<Semiring>(p.a.values[k], p.b.values[first + e]));
        });
    if (wanted >= 0 && team.rank() == 0) row_entries[c.first_row - first_row] = wanted;
  }

  // --- a table in team memory: the columns of one row of B differ, so its threads meet over slots but never over sums
  template <class Team>
  void hash(const Team& team, std::int64_t tile, const device_chunk& c, scratch& s) const {
    table_memory& m = s.table;
    const std::int32_t slots = c.slots, most = slots - slots / 8;
    for (std::int32_t e = team.rank(); e < slots; e += team.size()) {
      m.key[e] = Key(-1);
      m.value[e] = Semiring::template identity<Value>();
    }
    if (team.rank() == 0) s.used = 0;
    team.barrier();
    const std::int64_t row = c.range.first_row;
    for (std::int64_t k = p.a.row_pointers[row]; k < p.a.row_pointers[row + 1]; ++k) {
      const std::int64_t j = p.a.columns[k], end = p.b.row_pointers[j + 1];
      for (std::int64_t q = p.b.row_pointers[j] + team.rank(); q < end; q += team.size()) {
        const std::int32_t slot = find(m, s.used, Key(p.b.columns[q]), slots, most);
        if (slot < 0) break;
        m.value[slot] =
            Semiring::template add<Value>(m.value[slot], product_of<Semiring>(p.a.values[k], p.b.values[q]));
      }
      team.barrier();
      const bool full = s.used > most;
      team.barrier();
      if (!full) continue;
      if (team.rank() == 0) {
        place[tile] = table_full;
        count[tile] = 0;
      }
      return;
    }
    const std::int32_t entries = s.used;
    // Empty slots have the largest key: they go last.
    team_sort(
        team, slots, [&](std::int32_t x, std::int32_t y) { return m.key[x] < m.key[y]; },
        [&](std::int32_t x, std::int32_t y) {
          const Key key = m.key[x];
          const Value value = m.value[x];
          m.key[x] = m.key[y];
          m.value[x] = m.value[y];
          m.key[y] = key;
          m.value[y] = value;
        });
    const std::int64_t wanted = write_wanted(
        team, tile, row, entries, s, [&](std::int64_t e) { return Index(m.key[e]); },
        [&](std::int64_t e, std::int64_t to) {
          columns[to] = Index(m.key[e]);
          values[to] = m.value[e];
        });
    if (wanted >= 0 && team.rank() == 0) row_entries[row - first_row] = wanted;
  }

  /// The slot of a column, claimed if need be; -1 when the table is too full.
  static std::int32_t find(table_memory& m, std::int32_t& used, Key column, std::int32_t slots, std::int32_t most) {
    std::int32_t slot = std::int32_t((std::uint64_t(column) * 0x9E3779B97F4A7C15u) >> 40) & (slots - 1);
    for (std::int32_t probes = 0; probes < slots; ++probes, slot = (slot + 1) & (slots - 1)) {
      Key found = __atomic_load_n(&m.key[slot], __ATOMIC_RELAXED);
      if (found == column) return slot;
      if (found != Key(-1)) continue;
      if (__atomic_compare_exchange_n(&m.key[slot], &found, column, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return __atomic_fetch_add(&used, 1, __ATOMIC_RELAXED) < most ? slot : -1;
      if (found == column) return slot;
    }
    __atomic_store_n(&used, most + 1, __ATOMIC_RELAXED);
    return -1;
  }

  // --- a bit per column of a window: how many bits lie before a column is the place of its sum
  template <class Team>
  void bitmask(const Team& team, std::int64_t tile, const chunk& c, scratch& s) const {
    bitmask_memory& m = s.bitmask;
    const std::int32_t words = std::int32_t((c.last_col - c.first_col + 31) / 32);
    for (std::int32_t w = team.rank(); w < words; w += team.size()) m.bits[w] = 0;
    team.barrier();
    each_product(team, c, false, [&](std::int64_t, std::int64_t q) {
      const std::int32_t bit = std::int32_t(std::int64_t(p.b.columns[q]) - c.first_col);
      __atomic_fetch_or(&m.bits[bit / 32], 1u << (bit % 32), __ATOMIC_RELAXED);
    });
    team.barrier();
    if constexpr (Filter::filters) take_out(team, c, m);
    const std::int32_t share = (words + team.size() - 1) / team.size();
    const std::int32_t begin = min(words, team.rank() * share), end = min(words, begin + share);
    std::int32_t mine = 0, entries = 0;
    for (std::int32_t w = begin; w < end; ++w) mine += __builtin_popcount(m.bits[w]);
    std::int32_t rank = exclusive_scan(team, mine, s.scan, &entries);
    for (std::int32_t w = begin; w < end; ++w) {
      m.rank[w] = rank;
      rank += __builtin_popcount(m.bits[w]);
    }
    const std::int64_t to = reserve(team, tile, entries, s);
    if (to < 0) return;
    for (std::int32_t w = team.rank(); w < words; w += team.size()) {
      std::int64_t e = to + m.rank[w];
      for (std::uint32_t bits = m.bits[w]; bits != 0; bits &= bits - 1, ++e) {
        columns[e] = Index(c.first_col + 32 * w + __builtin_ctz(bits));
        values[e] = Semiring::template identity<Value>();
      }
    }
    team.barrier();
    each_product(team, c, true, [&](std::int64_t k, std::int64_t q) {
      const std::int32_t bit = std::int32_t(std::int64_t(p.b.columns[q]) - c.first_col);
      if constexpr (Filter::filters)
        if ((m.bits[bit / 32] >> (bit % 32) & 1u) == 0) return;
      const std::uint32_t before = m.bits[bit / 32] & ((1u << (bit % 32)) - 1u);
      Value& sum = values[to + m.rank[bit / 32] + __builtin_popcount(before)];
      sum = Semiring::template add<Value>(sum, product_of<Semiring>(p.a.values[k], p.b.values[q]));
    });
    if (team.rank() == 0 && !c.cut) row_entries[c.first_row - first_row] = entries;
  }

  /// The bits of what is not wanted.
  template <class Team>
  void take_out(const Team& team, const chunk& c, bitmask_memory& m) const {
    const std::int64_t last = filter.row_pointers[c.first_row + 1];
    const std::int64_t begin = lower_bound(filter.columns, filter.row_pointers[c.first_row], last, c.first_col);
    const std::int64_t end = lower_bound(filter.columns, begin, last, c.last_col);
    for (std::int64_t k = begin + team.rank(); k < end; k += team.size()) {
      const std::int32_t bit = std::int32_t(std::int64_t(filter.columns[k]) - c.first_col);
      __atomic_fetch_and(&m.bits[bit / 32], ~(1u << (bit % 32)), __ATOMIC_RELAXED);
    }
    team.barrier();
  }

  /// f(entry of A, entry of B) for the products in the chunk's columns; in_order: one row of B after the other.
  template <class Team, class Function>
  void each_product(const Team& team, const chunk& c, bool in_order, Function f) const {
    for (std::int64_t k = p.a.row_pointers[c.first_row]; k < p.a.row_pointers[c.first_row + 1]; ++k) {
      const std::int64_t j = p.a.columns[k];
      std::int64_t begin = p.b.row_pointers[j], end = p.b.row_pointers[j + 1];
      if (c.cut) {
        begin = lower_bound(p.b.columns, begin, end, c.first_col);
        end = lower_bound(p.b.columns, begin, end, c.last_col);
      }
      for (std::int64_t q = begin + team.rank(); q < end; q += team.size()) f(k, q);
      if (in_order) team.barrier();
    }
  }
};

/// Where the entries of a chunk lie and where they belong.
struct piece_of_result {
  std::int64_t from, to, count;
  std::int32_t arena;
};

/// Arenas to the result.
template <class Value, class Index>
struct compaction_kernel {
  using shape = team_shape;
  struct scratch {};
  enum { threads = 128, emulated_threads = 4, most_arenas = 3 };
  const piece_of_result* pieces;
  const Index* arena_columns[most_arenas];
  const Value* arena_values[most_arenas];
  Index* columns;
  Value* values;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    const piece_of_result& piece = pieces[tile];
    const Index* from_columns = arena_columns[0];
    const Value* from_values = arena_values[0];
    if (piece.arena == 1) {
      from_columns = arena_columns[1];
      from_values = arena_values[1];
    } else if (piece.arena == 2) {
      from_columns = arena_columns[2];
      from_values = arena_values[2];
    }
    for (std::int64_t e = team.rank(); e < piece.count; e += team.size()) {
      columns[piece.to + e] = from_columns[piece.from + e];
      values[piece.to + e] = from_values[piece.from + e];
    }
  }
};

}  // namespace quintet::spgemm
