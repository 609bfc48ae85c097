// Rows of few products, some at a time: all their products are written one behind the other, then every row is put in
// order by ranks: how many columns are smaller (comparison counting: Knuth 1998, 5.2). Nothing depends on a comparison
// of two columns by a branch, and what is read as a vector was written long before.
#pragma once

#include <bit>
#include <climits>

#include "device/inline.hpp"
#include "device/pack.hpp"
#include "spgemm/accumulators/emit.hpp"

#if defined(__clang__)
#define QUINTET_SCALAR_LOOP _Pragma("clang loop vectorize(disable)")
#else
#define QUINTET_SCALAR_LOOP
#endif

namespace quintet::spgemm {

/// Rows of at most so many products are ordered by ranks.
constexpr std::int64_t ranked_products = 64;

/// `Lanes` columns are ranked at a time: 16 in the registers of a host, one by a thread of a team. With several, a row
/// is written a little beyond its end.
template <class Value, int Lanes>
struct ranks_memory {
  enum { lanes = Lanes, rows = 8, expanded = Lanes == 1 ? 1 : 4, room = (rows + 1) * int(ranked_products) };
  std::int32_t start[rows + 1];
  alignas(64) std::int32_t keys[room];
  alignas(64) std::int32_t place[room];  ///< of each product in its row; -1: not wanted
  alignas(64) Value product[room];
};

namespace detail {

/// One row of B times a; returns its length. A few elements at a time, beyond its end too where B has more: most rows
/// take one round, so that no branch is guessed wrong.
template <int Lanes, class Product, class Value, class Index>
inline int expand_row(Value a, const Index* columns, const Value* values, std::int64_t begin, std::int64_t end,
                      std::int64_t b_end, std::int32_t* keys, Value* product) {
  columns += begin;
  values += begin;
  const int count = int(end - begin);
  if constexpr (Lanes > 1) {
    if (begin + (std::max(count, 1) + Lanes - 1) / Lanes * Lanes <= b_end) {  // an empty row takes one, too
      int e = 0;
      do {
        device::pack<std::int32_t, Lanes> key;
        if constexpr (sizeof(Index) == 4)
          __builtin_memcpy(&key, columns + e, sizeof key);
        else
          for (int f = 0; f < Lanes; ++f) key[f] = std::int32_t(columns[e + f]);
        device::pack<Value, Lanes> value, result;
        __builtin_memcpy(&value, values + e, sizeof value);
        for (int f = 0; f < Lanes; ++f) result[f] = Product::multiply(a, Value(value[f]));
        __builtin_memcpy(keys + e, &key, sizeof key);
        __builtin_memcpy(product + e, &result, sizeof result);
        e += Lanes;
      } while (e < count);
      return count;
    }
  }
  for (int e = 0; e < count; ++e) {
    keys[e] = std::int32_t(columns[e]);
    product[e] = Product::multiply(a, values[e]);
  }
  return count;
}

template <int Lanes>
inline device::pack<std::int32_t, Lanes> lane_numbers() {
  device::pack<std::int32_t, Lanes> lane{};
  if constexpr (Lanes > 1)
    for (int e = 0; e < Lanes; ++e) lane[e] = e;
  return lane;
}

/// Lane < count ? key : largest.
template <int Lanes>
inline device::pack<std::int32_t, Lanes> keys_at(const std::int32_t* keys, int count) {
  using pack = device::pack<std::int32_t, Lanes>;
  const pack key = device::load_pack<pack>(keys);
  return lane_numbers<Lanes>() < count ? key : pack{} + INT32_MAX;
}

/// At most Lanes products, loops of fixed length. A row is written a little beyond its end.
template <int Lanes>
struct all_ranks {
  /// Equal columns have equal ranks; the place of a column is how many of the ranks below it are taken. Lanes without a
  /// product are placed behind all others. Returns the taken ranks.
  template <class Keeps>
  static std::uint64_t place(const std::int32_t* keys, int count, std::int32_t* places, const Keeps&) {
    using pack = device::pack<std::int32_t, Lanes>;
    const pack lane = lane_numbers<Lanes>(), key = keys_at<Lanes>(keys, count);
    pack rank{};
#pragma GCC unroll 16
    for (int e = 0; e < Lanes; ++e) rank -= key > pack{} + key[e];  // true is -1
    const pack bit = (pack{} + 1) << rank;
    std::uint32_t taken = 0;
    for (int e = 0; e < Lanes; ++e) taken |= std::uint32_t(bit[e]);
    taken &= (std::uint32_t{1} << count) - 1;
    pack place = (bit - 1) & std::int32_t(taken);
    for (int e = 0; e < Lanes; ++e) place[e] = std::popcount(std::uint32_t(place[e]));
    place = lane < count ? place : lane;
    __builtin_memcpy(places, &place, sizeof place);
    return taken;
  }
  template <class Product, class Index, class Value>
  static void scatter(const std::int32_t* keys, const std::int32_t* places, const Value* product, int, int,
                      Index* columns, Value* values) {
    for (int e = 0; e < Lanes; ++e) values[e] = Product::identity();
    QUINTET_SCALAR_LOOP  // scattered stores of vectors are slower
        for (int e = 0; e < Lanes; ++e) {
      columns[places[e]] = Index(keys[e]);
      values[places[e]] = Product::add(values[places[e]], product[e]);
    }
  }
};

/// Any number of products up to 64, Vectors * Lanes of them at a time: at once where Rounds is 1. keeps(column) says
/// which are wanted.
template <int Lanes, int Vectors, int Rounds, bool Filtered>
struct some_ranks {
  template <class Keeps>
  static std::uint64_t place(const std::int32_t* keys, int count, std::int32_t* places, const Keeps& keeps) {
    using pack = device::pack<std::int32_t, Lanes>;
    for (int first = 0; first < (Rounds == 1 ? 1 : count); first += Lanes * Vectors) {
      pack key[Vectors], rank[Vectors];
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) {
        key[v] = keys_at<Lanes>(keys + first + Lanes * v, count - first - Lanes * v);
        rank[v] = pack{};
      }
      for (int e = 0; e < count; ++e) {
        const pack other = pack{} + keys[e];
#pragma GCC unroll 4
        for (int v = 0; v < Vectors; ++v) rank[v] -= (other - key[v]) >> 31;  // columns are >= 0: the sign, no mask
      }
      __builtin_memcpy(places + first, rank, sizeof rank);
    }
    std::uint64_t taken = 0;
    for (int e = 0; e < count; ++e)
      if (!Filtered || keeps(keys[e])) taken |= std::uint64_t{1} << places[e];
    for (int e = 0; e < count; ++e) {
      const std::uint64_t bit = std::uint64_t{1} << places[e];
      places[e] = Filtered && (taken & bit) == 0 ? -1 : std::popcount(taken & (bit - 1));
    }
    return taken;
  }
  template <class Product, class Index, class Value>
  static void scatter(const std::int32_t* keys, const std::int32_t* places, const Value* product, int count,
                      int entries, Index* columns, Value* values) {
    for (int e = 0; e < entries; ++e) values[e] = Product::identity();
    QUINTET_SCALAR_LOOP
    for (int e = 0; e < count; ++e) {
      if (Filtered && places[e] < 0) continue;
      columns[places[e]] = Index(keys[e]);
      values[places[e]] = Product::add(values[places[e]], product[e]);
    }
  }
};

/// f(how a row of so many products is ranked).
template <int Lanes, class Function>
QUINTET_INLINE inline void with_ranks(bool filtered, int products, const Function& f) {
  if (filtered) return f(some_ranks<Lanes, 1, 64 / Lanes, true>{});
  if constexpr (Lanes > 1) {
    if (products <= 8) return f(all_ranks<8>{});
    if (products <= 16) return f(all_ranks<16>{});
    if (products <= 32) return f(some_ranks<Lanes, 2, 1, false>{});
    f(some_ranks<Lanes, 4, 1, false>{});
  } else {
    f(some_ranks<1, 1, 64, false>{});
  }
}

}  // namespace detail

/// `count` rows from `first` on, with at most ranked_products each, of fewer than 2^31 columns. ask(k) comes before A's
/// entry k is used.
template <class Team, class Product, class Memory, class Out, class Ask>
inline std::int64_t accumulate_ranks(const Team& team, const Product& r, std::int64_t first, int count,
                                     const std::int64_t* products, Memory& m, std::int32_t* scan, Out& out,
                                     const Ask& ask) {
  using Index = typename Product::index_type;
  using Value = typename Product::value_type;
  constexpr int lanes = Memory::lanes;
  const auto& p = r.p;
  const std::int64_t b_end = p.b.rows > 0 ? p.b.row_pointers[p.b.rows] : 0;
  if (team.rank() == 0) {
    m.start[0] = 0;
    for (int row = 0; row < count; ++row) m.start[row + 1] = m.start[row] + int(products[first + row]);
  }
  team.barrier();
  const team_share mine(team, count);
  {
    const auto a = p.a;  // in registers: what is stored might be them otherwise
    const auto b = p.b;
    const Ask ask_ahead = ask;
    int next = m.start[mine.begin];
    for (std::int64_t k = a.row_pointers[first + mine.begin], end = a.row_pointers[first + mine.end]; k < end; ++k) {
      ask_ahead(k);
      const std::int64_t j = a.columns[k];
      next +=
          detail::expand_row<Memory::expanded, Product>(a.values[k], b.columns, b.values, b.row_pointers[j],
                                                        b.row_pointers[j + 1], b_end, m.keys + next, m.product + next);
    }
  }
  const bool filtered = r.filter.active();
  std::int64_t* const ends = out.ends + first + 1;
  std::int64_t to = out.used;
  // Calls f(its ranks, columns, products, how many, which are wanted).
  const auto with_row = [&](std::int64_t row, const auto& f) QUINTET_INLINE {
    const std::int32_t begin = m.start[row], products_of_row = m.start[row + 1] - begin;
    const auto keeps = [&](std::int32_t column) { return r.filter.keeps(first + row, Index(column)); };
    detail::with_ranks<lanes>(filtered, products_of_row, [&](auto ranks) QUINTET_INLINE {
      f(ranks, m.keys + begin, m.product + begin, products_of_row, keeps);
    });
  };
  if constexpr (Out::exact) {
    std::int32_t found = 0, entries = 0;
    for (std::int64_t row = mine.begin; row < mine.end; ++row)
      with_row(row, [&](auto ranks, auto* keys, auto*, int products_of_row, const auto& keeps) {
        const int taken = std::popcount(ranks.place(keys, products_of_row, m.place + m.start[row], keeps));
        ends[row] = taken;
        found += taken;
      });
    to += exclusive_scan(team, found, scan, &entries);
    if (!out.room(team, entries)) return no_room;
    for (std::int64_t row = mine.begin; row < mine.end; ++row)
      with_row(row, [&](auto ranks, auto* keys, auto* product, int products_of_row, const auto&) {
        const int taken = int(ends[row]);
        ranks.template scatter<Product>(keys, m.place + m.start[row], product, products_of_row, taken, out.columns + to,
                                        out.values + to);
        to += taken;
        ends[row] = to;
      });
    return entries;
  } else {
    Index* const columns = out.columns;
    Value* const values = out.values;
    for (std::int64_t row = 0; row < count; ++row)
      with_row(row, [&](auto ranks, auto* keys, auto* product, int products_of_row, const auto& keeps) QUINTET_INLINE {
        alignas(64) std::int32_t places[ranked_products];
        const int taken = std::popcount(ranks.place(keys, products_of_row, places, keeps));
        ranks.template scatter<Product>(keys, places, product, products_of_row, taken, columns + to, values + to);
        to += taken;
        ends[row] = to;
      });
    return to - out.used;
  }
}

}  // namespace quintet::spgemm
