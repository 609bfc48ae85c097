// Rows of few products, some at a time: all their products are written one behind the other, then every row is put in
// order by ranks: how many columns are smaller. Nothing depends on a comparison of two columns by a branch, and what is
// read as a vector was written long before.
#pragma once

#include <bit>
#include <climits>

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
inline device::pack<std::int32_t, Lanes> numbered(int first) {
  if constexpr (Lanes == 1) {
    return first;
  } else {
    device::pack<std::int32_t, Lanes> lane;
    for (int e = 0; e < Lanes; ++e) lane[e] = first + e;
    return lane;
  }
}

/// Lane + first < count ? key : largest.
template <int Lanes>
inline device::pack<std::int32_t, Lanes> keys_at(const std::int32_t* keys, int first, int count) {
  using pack = device::pack<std::int32_t, Lanes>;
  const pack key = device::load_pack<pack>(keys + first), lane = numbered<Lanes>(first);
  return lane < count ? key : pack{} + INT32_MAX;
}

/// Places of at most Lanes products, loops of fixed length. Equal columns have equal ranks; the place of a column is
/// how many of the ranks below it are taken. Lanes without a product are placed behind all others. Returns the taken
/// ranks.
template <int Lanes>
inline std::uint64_t place_all(const std::int32_t* keys, int count, std::int32_t* places) {
  using pack = device::pack<std::int32_t, Lanes>;
  const pack lane = numbered<Lanes>(0), key = keys_at<Lanes>(keys, 0, count);
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

/// The same for any number of products up to 64, Vectors * Lanes of them at a time. keeps(column) says which are
/// wanted.
template <int Lanes, int Vectors, bool Filtered, class Keeps>
inline std::uint64_t place_some(const std::int32_t* keys, int count, std::int32_t* places, const Keeps& keeps) {
  using pack = device::pack<std::int32_t, Lanes>;
  for (int first = 0; first < count; first += Lanes * Vectors) {
    pack key[Vectors], rank[Vectors];
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) {
      key[v] = keys_at<Lanes>(keys, first + Lanes * v, count);
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

/// The products of a row to their places; `written` of them, more than there are where that is a fixed number.
template <class Product, bool Filtered, class Index, class Value>
inline void scatter_placed(const std::int32_t* keys, const std::int32_t* places, const Value* product, int entries,
                           int written, Index* columns, Value* values) {
  for (int e = 0; e < entries; ++e) values[e] = Product::identity();
  QUINTET_SCALAR_LOOP  // scattered stores of vectors are slower
      for (int e = 0; e < written; ++e) {
    if (Filtered && places[e] < 0) continue;
    columns[places[e]] = Index(keys[e]);
    values[places[e]] = Product::add(values[places[e]], product[e]);
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
  int next = m.start[mine.begin];
  for (std::int64_t k = p.a.row_pointers[first + mine.begin]; k < p.a.row_pointers[first + mine.end]; ++k) {
    ask(k);
    const std::int64_t j = p.a.columns[k];
    next +=
        detail::expand_row<Memory::expanded, Product>(p.a.values[k], p.b.columns, p.b.values, p.b.row_pointers[j],
                                                      p.b.row_pointers[j + 1], b_end, m.keys + next, m.product + next);
  }
  const bool filtered = r.filter.active();
  const auto place = [&](std::int64_t row) -> std::uint64_t {
    const std::int32_t* const keys = m.keys + m.start[row];
    std::int32_t* const places = m.place + m.start[row];
    const int products_of_row = m.start[row + 1] - m.start[row];
    const auto keeps = [&](std::int32_t column) { return r.filter.keeps(first + row, Index(column)); };
    if (filtered) return detail::place_some<lanes, 1, true>(keys, products_of_row, places, keeps);
    if constexpr (lanes > 1) {
      if (products_of_row <= 8) return detail::place_all<8>(keys, products_of_row, places);
      if (products_of_row <= 16) return detail::place_all<16>(keys, products_of_row, places);
      return products_of_row <= 32 ? detail::place_some<lanes, 2, false>(keys, products_of_row, places, keeps)
                                   : detail::place_some<lanes, 4, false>(keys, products_of_row, places, keeps);
    } else {
      return detail::place_some<1, 1, false>(keys, products_of_row, places, keeps);
    }
  };
  const auto scatter = [&](std::int64_t row, int entries, std::int64_t to) {
    const std::int32_t *const keys = m.keys + m.start[row], *const places = m.place + m.start[row];
    const Value* const product = m.product + m.start[row];
    const int products_of_row = m.start[row + 1] - m.start[row];
    Index* const columns = out.columns + to;
    Value* const values = out.values + to;
    if (filtered)
      detail::scatter_placed<Product, true>(keys, places, product, entries, products_of_row, columns, values);
    else if (lanes > 1 && products_of_row <= 8)
      detail::scatter_placed<Product, false>(keys, places, product, 8, 8, columns, values);
    else if (lanes > 1 && products_of_row <= 16)
      detail::scatter_placed<Product, false>(keys, places, product, 16, 16, columns, values);
    else
      detail::scatter_placed<Product, false>(keys, places, product, entries, products_of_row, columns, values);
  };
  std::int64_t* const ends = out.ends + first + 1;
  std::int64_t to = out.used;
  if constexpr (Out::exact) {
    std::int32_t found = 0, entries = 0;
    for (std::int64_t row = mine.begin; row < mine.end; ++row) {
      const int taken = std::popcount(place(row));
      ends[row] = taken;
      found += taken;
    }
    to += exclusive_scan(team, found, scan, &entries);
    if (!out.room(team, entries)) return no_room;
    for (std::int64_t row = mine.begin; row < mine.end; ++row) {
      const int taken = int(ends[row]);
      scatter(row, taken, to);
      to += taken;
      ends[row] = to;
    }
    return entries;
  } else {
    for (std::int64_t row = 0; row < count; ++row) {
      const int taken = std::popcount(place(row));
      scatter(row, taken, to);
      to += taken;
      ends[row] = to;
    }
    return to - out.used;
  }
}

}  // namespace quintet::spgemm
