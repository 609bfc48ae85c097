// Rows of few products, some at a time: all their products are written one behind the other, then every row is put in
// order. On a host, a row of a band is summed up in a window of columns, and in its registers others are sorted by a
// network (Batcher 1968), their products' places with them; elsewhere by ranks: how many columns are smaller
// (comparison counting: Knuth 1998, 5.2). Nothing in these depends on a comparison of two columns by a branch, and what
// is read as a vector was written long before.
#pragma once

#include <bit>
#include <climits>

#include "device/inline.hpp"
#include "device/lane_moves.hpp"
#include "device/pack.hpp"
#include "device/sort_packs.hpp"
#include "spgemm/accumulators/emit.hpp"

#if defined(__clang__)
#define QUINTET_SCALAR_LOOP _Pragma("clang loop vectorize(disable)")
#else
#define QUINTET_SCALAR_LOOP
#endif

namespace quintet::spgemm {

/// Rows of at most so many products are ordered by ranks,
constexpr std::int64_t ranked_products = 64;
/// and of so many where they are sorted in registers.
constexpr std::int64_t sorted_products = 128;

/// `Lanes` columns are ranked at a time: 16 in the registers of a host, one by a thread of a team. With several, a row
/// is written a little beyond its end.
template <class Value, int Lanes>
struct ranks_memory {
  enum {
    lanes = Lanes,
    rows = Lanes == 1 ? 8 : 32,  ///< at most, at a time
    expanded = Lanes == 1 ? 1 : 8,
    products = int(Lanes == 1 ? ranked_products : sorted_products),
    room = Lanes == 1 ? (rows + 1) * products : 1024 + 2 * products,
  };
  std::int32_t start[rows + 1];
  alignas(64) std::int32_t keys[room];
  alignas(64) std::int32_t place[room];  ///< of each product in its row; -1: not wanted
  alignas(64) Value product[room];
};

namespace detail {

/// One row of B times a; returns its length. Some elements at a time, beyond its end too where B has more: most rows
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

/// At most Lanes products, loops of fixed length, where lanes cannot be moved. A row is written a little beyond its
/// end.
template <int Lanes>
struct all_ranks {
  enum { in_registers = 0 };
  /// Equal columns have equal ranks; the place of a column is how many of the ranks below it are taken. Lanes without a
  /// product are placed behind all others. Returns how many ranks are taken.
  template <class Keeps>
  QUINTET_INLINE static int place(const std::int32_t* keys, int count, std::int32_t* places, const Keeps&) {
    using pack = device::pack<std::int32_t, Lanes>;
    const pack lane = lane_numbers<Lanes>(), key = keys_at<Lanes>(keys, count);
    pack rank{};
#pragma GCC unroll 16
    for (int e = 0; e < Lanes; ++e) rank -= key > pack{} + key[e];  // true is -1
    const pack bit = (pack{} + 1) << rank;
    std::uint32_t placed = 0;
    for (int e = 0; e < Lanes; ++e) placed |= std::uint32_t(bit[e]);
    placed &= (std::uint32_t{1} << count) - 1;
    pack place = (bit - 1) & std::int32_t(placed);
    for (int e = 0; e < Lanes; ++e) place[e] = std::popcount(std::uint32_t(place[e]));
    place = lane < count ? place : lane;
    __builtin_memcpy(places, &place, sizeof place);
    return std::popcount(placed);
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

/// Any number of products up to 64, Lanes of them at a time. keeps(column) says which are wanted.
template <int Lanes>
struct some_ranks {
  enum { in_registers = 0 };
  template <class Keeps>
  static int place(const std::int32_t* keys, int count, std::int32_t* places, const Keeps& keeps) {
    using pack = device::pack<std::int32_t, Lanes>;
    for (int first = 0; first < count; first += Lanes) {
      const pack key = keys_at<Lanes>(keys + first, count - first);
      pack rank{};
      // Columns are >= 0: the sign, no mask.
      for (int e = 0; e < count; ++e) rank -= ((pack{} + keys[e]) - key) >> 31;
      __builtin_memcpy(places + first, &rank, sizeof rank);
    }
    std::uint64_t placed = 0;
    for (int e = 0; e < count; ++e)
      if (keeps(keys[e])) placed |= std::uint64_t{1} << places[e];
    for (int e = 0; e < count; ++e) {
      const std::uint64_t bit = std::uint64_t{1} << places[e];
      places[e] = (placed & bit) == 0 ? -1 : std::popcount(placed & (bit - 1));
    }
    return std::popcount(placed);
  }
  template <class Product, class Index, class Value>
  static void scatter(const std::int32_t* keys, const std::int32_t* places, const Value* product, int count,
                      int entries, Index* columns, Value* values) {
    for (int e = 0; e < entries; ++e) values[e] = Product::identity();
    QUINTET_SCALAR_LOOP
    for (int e = 0; e < count; ++e) {
      if (places[e] < 0) continue;
      columns[places[e]] = Index(keys[e]);
      values[places[e]] = Product::add(values[places[e]], product[e]);
    }
  }
};

/// At most Vectors * Lanes products, sorted in registers: a number is a column and behind it the place among the
/// products, so that equal columns keep their order. `places` gets these numbers.
template <int Lanes, int Vectors>
struct sorted_ranks {
  enum { in_registers = 0, place_bits = 7, place_mask = (1 << place_bits) - 1, step = 8 };
  template <class Keeps>
  QUINTET_INLINE static int place(const std::int32_t* keys, int count, std::int32_t* places, const Keeps&) {
    using pack = device::pack<std::int32_t, Lanes>;
    pack number[Vectors + 1];
    number[Vectors] = pack{} + INT32_MAX;
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) {
      const pack at = lane_numbers<Lanes>() + Lanes * v;
      const pack key = device::load_pack<pack>(keys + Lanes * v);
      number[v] = at < count ? (key << int(place_bits) | at) : pack{} + INT32_MAX;
    }
    device::sort_packs<Lanes, Vectors>(number);
    pack last{};  // of equal columns: minus their number
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) {
      const pack next = device::next_lanes<Lanes>(number[v], number[v + 1]);
      last += (number[v] ^ next) > pack{} + int(place_mask);
    }
    __builtin_memcpy(places, number, sizeof number);
    return -device::sum_lanes<std::int32_t>(last);
  }
  template <class Product, class Index, class Value>
  QUINTET_INLINE static void scatter(const std::int32_t*, const std::int32_t* places, const Value* product, int count,
                                     int entries, Index* columns, Value* values) {
    if (entries == count) {
      for (int e = 0; e < count; e += step)
#pragma GCC unroll 8
        for (int f = e; f < e + step; ++f) {
          columns[f] = Index(places[f] >> place_bits);
          values[f] = Product::first_sum(product[places[f] & place_mask]);
        }
      return;
    }
    for (int e = 0; e < entries; e += step)
      for (int f = e; f < e + step; ++f) values[f] = Product::identity();
    QUINTET_SCALAR_LOOP
    for (int e = 0; e < count; ++e) {
      const std::int32_t number = places[e];
      *columns = Index(number >> place_bits);
      *values = Product::add(*values, product[number & place_mask]);
      const int ends = (number ^ places[e + 1]) > place_mask;
      columns += ends;
      values += ends;
    }
  }
};

/// At most Lanes products, sorted and summed up in registers; Lanes is 8.
template <int Lanes>
struct row_in_registers {
  enum { in_registers = 1, lanes = Lanes, place_bits = 3, place_mask = lanes - 1 };
  /// Writes the row, and a little beyond its end; returns its entries.
  template <class Product, class Index, class Value>
  QUINTET_INLINE static int emit(const std::int32_t* keys, const Value* product, int count, Index* columns,
                                 Value* values) {
    using pack = device::pack<std::int32_t, lanes>;
    using value_pack = device::pack<Value, lanes>;
    const pack lane = lane_numbers<lanes>(), none = pack{} + INT32_MAX;
    pack number = lane < count ? (device::load_pack<pack>(keys) << int(place_bits) | lane) : none;
    device::sort_packs<lanes, 1>(&number);
    const std::uint32_t last = device::lanes_above(number ^ device::next_lanes<lanes>(number, none), place_mask);
    const std::uint32_t repeats = ~(last << 1) & ((1u << count) - 1) & ~1u;  // lanes of the column before theirs
    const value_pack value = device::permuted(device::load_pack<value_pack>(product), number & int(place_mask));
    value_pack sum = Product::add_lanes(device::broadcast_pack<value_pack>(Product::identity()), value);
    // Every round is right for one lane more of every column.
    const auto add_before = [&]() QUINTET_INLINE {
      sum = device::selected(repeats, Product::add_lanes(device::previous_lanes<lanes>(sum), value), sum);
    };
    add_before();
    add_before();
    for (std::uint32_t more = repeats & repeats << 1 & repeats << 2; more != 0; more &= more << 1) add_before();
    const pack column = device::gathered(last, number >> int(place_bits));
    sum = device::gathered(last, sum);
    if constexpr (sizeof(Index) == sizeof column[0])
      __builtin_memcpy(columns, &column, sizeof column);
    else
      for (int e = 0; e < lanes; ++e) columns[e] = column[e];
    __builtin_memcpy(values, &sum, sizeof sum);
    return std::popcount(last);
  }
};

/// Products whose columns lie in a window: an array of its sums, and a bit for every column that has one. Rows of bands
/// and of well numbered meshes are such; nothing is put in order.
template <int Lanes>
struct window_of_columns {
  enum { width = 64, step = 8 };
  std::int32_t first, last;
  /// The window of a row's columns.
  explicit window_of_columns(const std::int32_t* keys, int count) : first(keys[0]), last(keys[count - 1]) {
    // Columns of a row of B ascend: few rows that have no window get beyond this.
    if (std::uint32_t(last) - std::uint32_t(first) + width >= 2 * width) {
      first = 0;
      last = INT32_MAX;
      return;
    }
    using pack = device::pack<std::int32_t, Lanes>;
    const pack lane = lane_numbers<Lanes>(), any = pack{} + first;
    pack least = any, most = any;
    for (int e = 0; e < count; e += Lanes) {
      const pack key = lane < count - e ? device::load_pack<pack>(keys + e) : any;
      least = key < least ? key : least;
      most = key > most ? key : most;
    }
    first = least[0];
    last = most[0];
    for (int e = 1; e < Lanes; ++e) {
      first = std::min(first, std::int32_t(least[e]));
      last = std::max(last, std::int32_t(most[e]));
    }
  }
  bool holds() const { return last - first < width; }
  /// Writes the row, and a little beyond its end; returns its entries.
  template <class Product, class Index, class Value>
  QUINTET_INLINE int emit(const std::int32_t* keys, const Value* product, int count, Index* columns,
                          Value* values) const {
    alignas(64) Value sums[width];
    for (int e = 0; e <= last - first; e += step)
#pragma GCC unroll 8
      for (int f = e; f < e + step; ++f) sums[f] = Product::identity();
    std::uint64_t present = 0;
    for (int e = 0; e < count; ++e) {
      const std::int32_t at = keys[e] - first;
      sums[at] = Product::add(sums[at], product[e]);
      present |= std::uint64_t{1} << at;
    }
    const int entries = std::popcount(present);
    if ((present & (present + 1)) == 0) {  // without a gap
      for (int e = 0; e < entries; e += step)
#pragma GCC unroll 8
        for (int f = e; f < e + step; ++f) {
          columns[f] = Index(first + f);
          values[f] = sums[f];
        }
    } else {
      for (std::uint64_t left = present; left != 0; left &= left - 1) {
        const int at = std::countr_zero(left);
        *columns++ = Index(first + at);
        *values++ = sums[at];
      }
    }
    return entries;
  }
};

/// Columns up to which a column and a place are one number, and no such number is INT32_MAX.
constexpr std::int64_t sorted_columns = (std::int64_t{1} << 24) - 1;

/// f(how a row of so many products is put in order).
template <int Lanes, class Function>
QUINTET_INLINE inline void with_ranks(bool sorts, int products, const Function& f) {
  if constexpr (Lanes > 1) {
    if (sorts) {
      if (products <= 8) return f(std::conditional_t<device::has_lane_moves, row_in_registers<8>, all_ranks<8>>{});
      if (products <= 16) return f(sorted_ranks<Lanes, 1>{});
      if (products <= 32) return f(sorted_ranks<Lanes, 2>{});
      if (products <= 64) return f(sorted_ranks<Lanes, 4>{});
      return f(sorted_ranks<Lanes, 8>{});
    }
  }
  f(some_ranks<Lanes>{});
}

}  // namespace detail

/// Whether rows of several products are sorted in the registers of a host.
template <class Product>
inline bool sorts_rows(const Product& r) {
  return r.p.b.cols <= detail::sorted_columns && !r.filter.active();
}

/// `count` rows from `first` on, with at most ranked_products each (sorted_products where sorts_rows() says so), of
/// fewer than 2^31 columns. ask(k) comes before A's entry k is used.
template <class Team, class Product, class Memory, class Out, class Ask>
inline std::int64_t accumulate_sorted_positions(const Team& team, const Product& r, std::int64_t first, int count,
                                                const std::int64_t* products, Memory& m, std::int32_t* scan, Out& out,
                                                const Ask& ask) {
  using Index = typename Product::index_type;
  using Value = typename Product::value_type;
  constexpr int lanes = Memory::lanes;
  const auto& p = r.p;
  const std::int64_t b_end = p.b.rows > 0 ? *p.b_last : 0;
  if (team.rank() == 0) {
    m.start[0] = 0;
    for (int row = 0; row < count; ++row) m.start[row + 1] = m.start[row] + int(products[first + row]);
  }
  team.barrier();
  const team_share share(team, count);
  {
    const auto a = p.a;  // in registers: what is stored might be them otherwise
    const auto b = p.b;
    const std::int64_t* const b_ends = p.b_ends;
    const Ask prefetch_rows = ask;
    int next = m.start[share.begin];
    for (std::int64_t k = a.row_pointers[first + share.begin], end = a.row_pointers[first + share.end]; k < end; ++k) {
      prefetch_rows(k);
      const std::int64_t j = a.columns[k];
      next += detail::expand_row<Memory::expanded, Product>(a.values[k], b.columns, b.values, b.row_pointers[j],
                                                            b_ends[j], b_end, m.keys + next, m.product + next);
    }
  }
  const bool sorts = sorts_rows(r);
  std::int64_t* const ends = out.ends + first + 1;
  std::int64_t to = out.used;
  // Calls f(its ranks, columns, products, how many, which are wanted).
  const auto with_row = [&](std::int64_t row, const auto& f) QUINTET_INLINE {
    const std::int32_t begin = m.start[row], products_of_row = m.start[row + 1] - begin;
    const auto keeps = [&](std::int32_t column) { return r.filter.keeps(first + row, Index(column)); };
    detail::with_ranks<lanes>(sorts, products_of_row, [&](auto ranks) QUINTET_INLINE {
      f(ranks, m.keys + begin, m.product + begin, products_of_row, keeps);
    });
  };
  if constexpr (Out::exact) {
    std::int32_t own_entries = 0, entries = 0;
    for (std::int64_t row = share.begin; row < share.end; ++row)
      with_row(row, [&](auto ranks, auto* keys, auto*, int products_of_row, const auto& keeps) {
        const int placed = ranks.place(keys, products_of_row, m.place + m.start[row], keeps);
        ends[row] = placed;
        own_entries += placed;
      });
    to += exclusive_scan(team, own_entries, scan, &entries);
    if (!out.room(team, entries)) return no_room;
    for (std::int64_t row = share.begin; row < share.end; ++row)
      with_row(row, [&](auto ranks, auto* keys, auto* product, int products_of_row, const auto&) {
        const int placed = int(ends[row]);
        ranks.template scatter<Product>(keys, m.place + m.start[row], product, products_of_row, placed,
                                        out.columns + to, out.values + to);
        to += placed;
        ends[row] = to;
      });
    return entries;
  } else {
    struct row_places {
      alignas(64) std::int32_t of[sorted_products + Memory::lanes];
    };
    Index* const columns = out.columns;
    Value* const values = out.values;
    for (std::int64_t row = 0; row < count; ++row) {
      if constexpr (lanes > 1) {
        constexpr int one_step = 8;  // products that are put in order in one step
        const std::int32_t begin = m.start[row], products_of_row = m.start[row + 1] - begin;
        if (products_of_row > one_step && !r.filter.active()) {
          const detail::window_of_columns<Memory::expanded> window(m.keys + begin, products_of_row);
          if (window.holds()) {
            to += window.template emit<Product>(m.keys + begin, m.product + begin, products_of_row, columns + to,
                                                values + to);
            ends[row] = to;
            continue;
          }
        }
      }
      with_row(row, [&](auto ranks, auto* keys, auto* product, int products_of_row, const auto& keeps) QUINTET_INLINE {
        if constexpr (ranks.in_registers) {
          to += ranks.template emit<Product>(keys, product, products_of_row, columns + to, values + to);
        } else {
          row_places places;
          const int placed = ranks.place(keys, products_of_row, places.of, keeps);
          ranks.template scatter<Product>(keys, places.of, product, products_of_row, placed, columns + to, values + to);
          to += placed;
        }
        ends[row] = to;
      });
    }
    return to - out.used;
  }
}

}  // namespace quintet::spgemm
