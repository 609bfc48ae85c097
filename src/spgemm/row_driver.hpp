// The rows of a chunk, one text for all processors: which accumulator takes them, and where their entries go.
//
// A team is one thread with SIMD lanes on the host, where every row chooses its accumulator, and a block of threads on
// a device, where a kernel has one accumulator and the chunks for it are planned before. What `out` is: emit.hpp.
#pragma once

#include "spgemm/accumulators/bitmask.hpp"
#include "spgemm/accumulators/dense.hpp"
#include "spgemm/accumulators/group.hpp"
#include "spgemm/accumulators/hash.hpp"
#include "spgemm/accumulators/ranks.hpp"
#include "spgemm/accumulators/sort.hpp"
#include "spgemm/accumulators/stream.hpp"

namespace quintet::spgemm {

enum : std::int64_t {
  always_ranked_products = 16,    ///< rows of so many products are, however few the columns
  cached_columns = 1 << 18,       ///< wider accumulators leave the second-level cache
  small_row_products = 4096,      ///< rows of a wide B with at most so many use a hash table instead
  grouped_products = 6,           ///< for each entry of A, before rows are worth a look together
  ungrouped_rows = 128,           ///< that are taken one by one after a group that did not pay
  entries_ahead = 24,             ///< entries of A whose rows of B are asked for ahead of their use
  rows_ahead = 48,                ///< and whose row pointers are
  batch_products = 1024,          ///< products that a team sorts in its memory
  team_table = 2048,              ///< slots of a hash table in team memory
  team_dense_columns = 2048,      ///< columns of an array of sums in team memory
  team_bitmask_columns = 1 << 17  ///< columns of a block: 16 KB of bits, 16 KB of ranks
};

/// Products of a row up to which an array with flags over `cols` columns does not serve it faster than order does.
inline std::int64_t max_ordered_products(std::int64_t cols) {
  return std::max<std::int64_t>(always_ranked_products, (cols - 1) / flagged_columns);
}
/// Products up to which rows are put in order before anything else is looked at.
inline std::int64_t max_ranked_products(std::int64_t cols) {
  return std::min(ranked_products, max_ordered_products(cols));
}

/// Whether a row is worth a look for neighbours that it has much in common with.
inline bool worth_grouping(std::int64_t entries, std::int64_t products) {
  return entries >= 2 && products >= grouped_products * entries && products > ranked_products;
}

struct strategy_counts {
  std::int64_t rows[strategies] = {}, products[strategies] = {};
  void add(strategy s, std::int64_t count, std::int64_t products_of_rows) {
    rows[int(s)] += count;
    products[int(s)] += products_of_rows;
  }
};

/// What one thread of the host has: arrays that host_arrays owns, and where it is.
template <class Value, class Index>
struct thread_memory {
  using hash_type = hash_memory<Value, Index, 2 * small_row_products, true>;
  using sort_type = sort_memory<Value, Index, small_row_products>;
  ranks_memory<Value, 16>* ranks_ = nullptr;
  hash_type* hash_ = nullptr;
  sort_type* sort_ = nullptr;
  dense_arrays<Value> dense_{};
  bitmask_arrays bitmask_{};
  group_arrays<Value> group_{};
  std::int32_t* scan = nullptr;
  detail::row_rest<Value>* rests = nullptr;
  std::int64_t ungrouped = 0;  ///< rows before this one are not looked at for groups again
  std::int64_t asked = 0;      ///< entries of A before this one have been asked for
  strategy_counts counts;

  auto& ranks() { return *ranks_; }
  auto& hash() { return *hash_; }
  auto& sort() { return *sort_; }
  auto& dense() { return dense_; }
  auto& bitmask() { return bitmask_; }
  auto& group() { return group_; }
};

struct no_memory {};
/// What a team of a kernel for one accumulator has.
template <class Value, class Index, strategy How>
struct team_memory {
  template <strategy S, class Memory, class Other>
  using when = std::conditional_t<How == S, Memory, Other>;
  using type = when<strategy::tiny, ranks_memory<Value, 1>,
                    when<strategy::segmented, sort_memory<Value, Index, batch_products>,
                         when<strategy::hash, hash_memory<Value, Index, team_table, false>,
                              when<strategy::dense, dense_memory<Value, team_dense_columns>,
                                   when<strategy::bitmask, bitmask_memory<team_bitmask_columns>,
                                        when<strategy::grouped, group_memory<Value, 256, 256>, no_memory>>>>>>;
  type memory;
  std::int32_t scan[128];
  std::int64_t place;

  auto& ranks() { return memory; }
  auto& hash() { return memory; }
  auto& sort() { return memory; }
  auto& dense() { return memory; }
  auto& bitmask() { return memory; }
  auto& group() { return memory; }
};

/// Asks memory for the row of B that entry k of A uses, and for the row pointers of a later one. By value, so that they
/// are in registers: what a kernel stores might be them otherwise.
template <class Value, class Index>
struct rows_of_b {
  const Index* a_columns;
  const std::int64_t* pointers;
  const Index* columns;
  const Value* values;
  std::int64_t end;  ///< where A's entries end that are soon used

  rows_of_b(const problem<Value, Index>& p, std::int64_t end)
      : a_columns(p.a.columns), pointers(p.b.row_pointers), columns(p.b.columns), values(p.b.values), end(end) {}
  void operator()(std::int64_t k) const {
    if (k + rows_ahead < end) __builtin_prefetch(pointers + a_columns[k + rows_ahead]);
    const std::int64_t q = pointers[a_columns[k]];
    __builtin_prefetch(columns + q);
    __builtin_prefetch(values + q);
  }
};

/// How: the accumulator of all chunks; empty: every row chooses.
template <class Semiring, class Value, class Index, strategy How>
struct row_driver {
  row_product<Semiring, Value, Index> r;
  const std::int64_t* products;     ///< of A's rows
  std::int32_t slots = team_table;  ///< of hash tables at most, for rows that choose

  /// All rows of the chunk; returns its entries, or no_room or accumulator_full.
  template <class Team, class Memory, class Out>
  std::int64_t compute(const Team& team, const chunk& c, Memory& m, Out& out) const {
    const std::int64_t before = out.used;
    for (std::int64_t i = c.first_row; i < c.last_row;) {
      const step next = step_at(c, i, m);
      const std::int64_t entries = accumulate(team, next, c, i, m, out);
      if constexpr (How == strategy::empty) {
        if (entries == accumulator_full) {  // only a group is: its rows are taken one by one
          m.ungrouped = i + next.rows;
          continue;
        }
        count(next, c, i, entries, m);
      } else {
        if (entries < 0) return entries;
      }
      out.used += entries;
      i += next.rows;
    }
    return out.used - before;
  }

 private:
  struct step {
    strategy accumulator;
    std::int64_t rows;
  };
  static constexpr bool may(strategy s) { return How == strategy::empty || How == s; }

  std::int64_t entries_of(std::int64_t i) const { return r.p.a.row_pointers[i + 1] - r.p.a.row_pointers[i]; }

  template <class Memory>
  step step_at(const chunk& c, std::int64_t i, Memory& m) const {
    if constexpr (How == strategy::tiny || How == strategy::segmented || How == strategy::grouped) {
      return {How, c.last_row - c.first_row};
    } else if constexpr (How != strategy::empty) {
      return {How, 1};
    } else {
      if (c.cut) return {c.accumulator == strategy::bitmask ? strategy::bitmask : strategy::dense, 1};
      return c.accumulator == strategy::empty ? chosen(c, i, m) : forced(c, i, m);
    }
  }

  /// The accumulator that is fastest on one thread.
  template <class Memory>
  step chosen(const chunk& c, std::int64_t i, const Memory& m) const {
    const std::int64_t cols = r.p.b.cols;
    if (const int rows = ranked_rows(c, i, max_ranked_products(cols)); rows > 0) return {strategy::tiny, rows};
    if (i >= m.ungrouped)
      if (const int rows = grouped_rows(c, i); rows > 1) return {strategy::grouped, rows};
    const std::int64_t max_sorted = std::min(sorted_products, max_ordered_products(cols));
    if (products[i] <= max_sorted && sorts_rows(r))
      if (const int rows = ranked_rows(c, i, max_sorted); rows > 0) return {strategy::tiny, rows};
    if (products[i] == 0) return {strategy::empty, 1};
    if (entries_of(i) == 1) return {strategy::streaming, 1};
    const bool small = cols > cached_columns && products[i] <= small_row_products;
    return {small ? strategy::hash : strategy::dense, 1};
  }
  /// The one that the caller wants, where it can be.
  template <class Memory>
  step forced(const chunk& c, std::int64_t i, const Memory& m) const {
    const std::int64_t entries = entries_of(i);
    if (c.accumulator == strategy::tiny)
      if (const int rows = ranked_rows(c, i, ranked_products); rows > 0) return {strategy::tiny, rows};
    if (c.accumulator == strategy::grouped && i >= m.ungrouped)
      return {strategy::grouped, std::min<std::int64_t>(group_rows, c.last_row - i)};
    if (products[i] == 0) return {strategy::empty, 1};
    const bool fits = c.accumulator == strategy::streaming ? entries == 1
                      : c.accumulator == strategy::segmented
                          ? sorts(i)
                          : c.accumulator == strategy::hash || c.accumulator == strategy::bitmask;
    return {fits ? c.accumulator : strategy::dense, 1};
  }
  bool sorts(std::int64_t i) const { return products[i] <= small_row_products && entries_of(i) <= small_row_products; }

  /// How many rows from i on are put in order by ranks; 0: another accumulator is better.
  int ranked_rows(const chunk& c, std::int64_t i, std::int64_t max_products) const {
    if (r.p.b.cols > INT32_MAX) return 0;
    int count = 0;
    std::int64_t sum = 0;
    while (count < 32 && i + count < c.last_row && products[i + count] <= max_products && sum < 1024)
      sum += products[i + count++];
    // Rows of one entry are copied, and empty ones need nothing.
    const std::int64_t *row = r.p.a.row_pointers + i, first_entries = row[count > 0] - row[0];
    return first_entries > 1 || row[count] - row[0] > count ? count : 0;
  }
  /// How many rows from i on might be summed up together.
  int grouped_rows(const chunk& c, std::int64_t i) const {
    int count = 0;
    while (count < group_rows && i + count < c.last_row && worth_grouping(entries_of(i + count), products[i + count]))
      ++count;
    return count;
  }

  /// The entries of the step's rows, whose ends are set.
  template <class Team, class Memory, class Out>
  std::int64_t accumulate(const Team& team, const step& s, const chunk& c, std::int64_t i, Memory& m, Out& out) const {
    if constexpr (may(strategy::tiny))
      if (s.accumulator == strategy::tiny) {
        if constexpr (Team::on_device) {
          return accumulate_sorted_positions(team, r, i, int(s.rows), products, m.ranks(), m.scan, out,
                                             [](std::int64_t) {});
        } else {
          const std::int64_t first = r.p.a.row_pointers[i], last = r.p.a.row_pointers[i + s.rows];
          const rows_of_b ask(r.p, r.p.a.row_pointers[c.last_row]);
          prefetch_rows(first, ask, m);
          const std::int64_t entries = accumulate_sorted_positions(team, r, i, int(s.rows), products, m.ranks(), m.scan,
                                                                   out, [ask](std::int64_t k) {
                                                                     if (k + entries_ahead < ask.end)
                                                                       ask(k + entries_ahead);
                                                                   });
          m.asked = std::max(m.asked, std::min(ask.end, last + entries_ahead));
          return entries;
        }
      }
    if constexpr (may(strategy::segmented))
      if (s.accumulator == strategy::segmented) return sort_rows(team, c, i, s.rows, m, out);
    if constexpr (may(strategy::grouped))
      if (s.accumulator == strategy::grouped) return accumulate_group(team, r, i, int(s.rows), m.group(), m.scan, out);
    const std::int64_t entries = accumulate_row(team, s.accumulator, c, i, m, out);
    if (entries >= 0 && c.ends_row && team.rank() == 0) out.ends[i + 1] = out.used + entries;
    return entries;
  }

  template <class Team, class Memory, class Out>
  std::int64_t sort_rows(const Team& team, const chunk& c, std::int64_t i, std::int64_t rows, Memory& m,
                         Out& out) const {
    chunk part = c;
    part.first_row = i;
    part.last_row = i + rows;
    return accumulate_sort(team, r, part, m.sort(), m.scan, out);
  }

  template <class Team, class Memory, class Out>
  std::int64_t accumulate_row(const Team& team, strategy accumulator, const chunk& c, std::int64_t i, Memory& m,
                              Out& out) const {
    if constexpr (How == strategy::empty) {
      if (accumulator == strategy::empty) return 0;
      if (!c.cut && products[i] <= small_row_products)
        prefetch_rows(r.p.a.row_pointers[i], rows_of_b(r.p, r.p.a.row_pointers[c.last_row]), m);
    }
    if constexpr (may(strategy::streaming))
      if (accumulator == strategy::streaming) return accumulate_stream(team, r, i, m.scan, out);
    if constexpr (may(strategy::hash))
      if (accumulator == strategy::hash) {
        std::int32_t size = c.slots;
        if constexpr (How == strategy::empty)
          size = std::int32_t(std::min<std::int64_t>(slots, std::bit_ceil(2 * std::uint64_t(products[i]))));
        const std::int64_t entries = accumulate_hash(team, r, i, size, m.hash(), m.scan, out);
        if constexpr (How == strategy::empty)
          if (entries == accumulator_full) return after_hash(team, c, i, m, out);
        return entries;
      }
    if constexpr (may(strategy::bitmask))
      if (accumulator == strategy::bitmask) return accumulate_bitmask(team, r, c, i, m.bitmask(), m.scan, out);
    if constexpr (How == strategy::empty)
      if (!c.cut && in_ranges(r.p.b.cols, entries_of(i), products[i]))
        return accumulate_in_ranges(team, r, i, m.dense(), m.rests, m.scan, out);
    if constexpr (may(strategy::dense))
      return accumulate_dense(team, r, c, i, c.cut ? c.products : products[i], m.dense(), m.scan, out);
    return no_room;
  }

  /// A row whose table was too small.
  template <class Team, class Memory, class Out>
  std::int64_t after_hash(const Team& team, const chunk& c, std::int64_t i, Memory& m, Out& out) const {
    m.counts.rows[int(strategy::hash)] -= 1;  // it will be counted as one of these
    m.counts.products[int(strategy::hash)] -= products[i];
    m.counts.add(sorts(i) ? strategy::segmented : strategy::dense, 1, products[i]);
    if (sorts(i)) return sort_rows(team, c, i, 1, m, out);
    return accumulate_dense(team, r, c, i, products[i], m.dense(), m.scan, out);
  }

  template <class Memory>
  void count(const step& s, const chunk& c, std::int64_t i, std::int64_t entries, Memory& m) const {
    if (c.cut) return m.counts.add(strategy::windows, c.first_col == 0, c.products);
    if (s.rows == 1 && s.accumulator != strategy::tiny)
      return m.counts.add(products[i] == 0 ? strategy::empty : s.accumulator, 1, products[i]);
    std::int64_t empty = 0, copied = 0, copied_products = 0, sum = 0;
    for (std::int64_t row = i; row < i + s.rows; ++row) {
      const bool none = products[row] == 0, one = !none & (entries_of(row) == 1) & (s.accumulator == strategy::tiny);
      empty += none;
      copied += one;
      copied_products += one ? products[row] : 0;
      sum += products[row];
    }
    m.counts.add(strategy::empty, empty, 0);
    m.counts.add(strategy::streaming, copied, copied_products);
    m.counts.add(s.accumulator, s.rows - empty - copied, sum - copied_products);
    // Entries of a group up to which its products are so many that groups are worth while.
    if (s.accumulator == strategy::grouped && entries > sum / 3) m.ungrouped = i + s.rows + ungrouped_rows;
  }

  /// Asks for the rows of B that A's entries from k on use, a little ahead of their use: the rows of a graph lie
  /// anywhere in memory.
  template <class Memory>
  static void prefetch_rows(std::int64_t k, const rows_of_b<Value, Index>& ask, Memory& m) {
    std::int64_t asked = std::max(m.asked, k);
    for (const std::int64_t stop = std::min<std::int64_t>(ask.end, k + entries_ahead); asked < stop; ++asked)
      ask(asked);
    m.asked = asked;
  }
};

}  // namespace quintet::spgemm
