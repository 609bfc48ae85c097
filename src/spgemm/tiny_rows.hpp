// Rows of few products, some at a time: all their products are written one behind the other, then every row is put in
// order by ranks: how many columns are smaller. Nothing depends on a comparison of two columns by a branch, and what is
// read as a vector was written long before.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "spgemm/problem.hpp"

#if defined(__clang__)
#define QUINTET_SCALAR_LOOP _Pragma("clang loop vectorize(disable)")
#else
#define QUINTET_SCALAR_LOOP
#endif

namespace quintet::spgemm {

/// Rows of at most so many products are ordered by ranks.
constexpr std::int64_t tiny_products = 64;
/// The same where B has at most narrow_columns columns: an array over them serves larger rows faster.
constexpr std::int64_t tiny_products_narrow = 16, narrow_columns = 8192;

template <class Semiring, class Value, class Index>
class tiny_rows {
 public:
  enum { most_rows = 8 };

  explicit tiny_rows(const problem<Value, Index>& p) : p_(p), b_end_(p.b.rows > 0 ? p.b.row_pointers[p.b.rows] : 0) {}

  /// Products of the rows [first, first + count) with at most tiny_products each; B's columns fit 32 bits.
  /// ask(k) comes before A's entry k is used.
  template <class Ask>
  void expand(std::int64_t first, int count, const std::int64_t* products, const Ask& ask) {
    const std::int64_t end = p_.a.row_pointers[first + count];
    int next = 0;
    for (std::int64_t k = p_.a.row_pointers[first]; k < end; ++k) {
      ask(k);
      const std::int64_t j = p_.a.columns[k];
      next += expand(p_.a.values[k], p_.b.row_pointers[j], p_.b.row_pointers[j + 1], keys_ + next, product_ + next);
    }
    start_[0] = 0;
    for (int r = 0; r < count; ++r) start_[r + 1] = start_[r] + int(products[first + r]);
  }

  /// Row r of them: sorted entries, and how many there are. Up to tiny_products behind them are written, too.
  std::int64_t row(int r, Index* columns, Value* values) const {
    const int start = start_[r], count = start_[r + 1] - start;
    if (count <= 8) return order<8>(start, count, columns, values);
    if (count <= 16) return order<16>(start, count, columns, values);
    return count <= 32 ? order_more<2>(start, count, columns, values) : order_more<4>(start, count, columns, values);
  }

 private:
  enum { expanded = 4, room = (most_rows + 1) * int(tiny_products) };
  typedef std::int32_t four_keys __attribute__((vector_size(16)));  // `expanded` of them; g++ wants a number here
  typedef Value four_values __attribute__((vector_size(expanded * sizeof(Value))));
  template <int Lanes>
  struct vector_of {
    typedef std::int32_t type __attribute__((vector_size(4 * Lanes)));
  };
  template <int Lanes>
  using lanes = typename vector_of<Lanes>::type;

  static constexpr Value identity() { return Semiring::template identity<Value>(); }
  static Value add(Value sum, Value product) { return Semiring::template add<Value>(sum, product); }

  // One row of B times a; returns its length. A few elements at a time, beyond its end too where B has more: most rows
  // take one round, so that no branch is guessed wrong.
  int expand(Value a, std::int64_t begin, std::int64_t end, std::int32_t* keys, Value* product) const {
    const Index* const columns = p_.b.columns + begin;
    const Value* const values = p_.b.values + begin;
    const int count = int(end - begin);
    if (begin + (std::max(count, 1) + expanded - 1) / expanded * expanded <= b_end_) {  // an empty row takes one, too
      int e = 0;
      do {
        four_keys key;
        if constexpr (sizeof(Index) == 4)
          __builtin_memcpy(&key, columns + e, sizeof key);
        else
          for (int f = 0; f < expanded; ++f) key[f] = std::int32_t(columns[e + f]);
        four_values value, result;
        __builtin_memcpy(&value, values + e, sizeof value);
        for (int f = 0; f < expanded; ++f) result[f] = product_of<Semiring>(a, Value(value[f]));
        __builtin_memcpy(keys + e, &key, sizeof key);
        __builtin_memcpy(product + e, &result, sizeof result);
        e += expanded;
      } while (e < count);
      return count;
    }
    for (int e = 0; e < count; ++e) {
      keys[e] = std::int32_t(columns[e]);
      product[e] = product_of<Semiring>(a, values[e]);
    }
    return count;
  }

  // Lane + first < count ? key : largest.
  template <int Lanes>
  static lanes<Lanes> keys_at(const std::int32_t* keys, lanes<Lanes> lane, int count) {
    lanes<Lanes> key;
    __builtin_memcpy(&key, keys, sizeof key);
    return lane < count ? key : lanes<Lanes>{} + INT32_MAX;
  }
  template <int Lanes>
  static lanes<Lanes> numbered(int first) {
    lanes<Lanes> lane;
    for (int e = 0; e < Lanes; ++e) lane[e] = first + e;
    return lane;
  }

  // At most as many products as lanes, loops of fixed length. Equal columns have equal ranks; the place of a column is
  // how many of the ranks below it are taken. Lanes without a product are placed behind all others.
  template <int Lanes>
  std::int64_t order(int start, int count, Index* columns, Value* values) const {
    const std::int32_t* const keys = keys_ + start;
    const Value* const product = product_ + start;
    const lanes<Lanes> lane = numbered<Lanes>(0), key = keys_at<Lanes>(keys, lane, count);
    lanes<Lanes> rank{};
#pragma GCC unroll 16
    for (int e = 0; e < Lanes; ++e) rank -= key > lanes<Lanes>{} + key[e];  // true is -1
    const lanes<Lanes> bit = (lanes<Lanes>{} + 1) << rank;
    std::uint32_t taken = 0;
    for (int e = 0; e < Lanes; ++e) taken |= std::uint32_t(bit[e]);
    taken &= (std::uint32_t{1} << count) - 1;
    lanes<Lanes> place = (bit - 1) & std::int32_t(taken);
    for (int e = 0; e < Lanes; ++e) place[e] = std::popcount(std::uint32_t(place[e]));
    place = lane < count ? place : lane;
    alignas(64) std::int32_t places[Lanes];
    __builtin_memcpy(places, &place, sizeof place);
    for (int e = 0; e < Lanes; ++e) values[e] = identity();
    QUINTET_SCALAR_LOOP  // scattered stores of vectors are slower
        for (int e = 0; e < Lanes; ++e) {
      columns[places[e]] = Index(keys[e]);
      values[places[e]] = add(values[places[e]], product[e]);
    }
    return std::popcount(taken);
  }

  // At most 16 Vectors products; loops over those that there are.
  template <int Vectors>
  std::int64_t order_more(int start, int count, Index* columns, Value* values) const {
    const std::int32_t* const keys = keys_ + start;
    const Value* const product = product_ + start;
    lanes<16> key[Vectors], rank[Vectors];
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) {
      key[v] = keys_at<16>(keys + 16 * v, numbered<16>(16 * v), count);
      rank[v] = lanes<16>{};
    }
    for (int e = 0; e < count; ++e) {
      const lanes<16> other = lanes<16>{} + keys[e];
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) rank[v] -= (other - key[v]) >> 31;  // columns are >= 0: the sign, no mask
    }
    alignas(64) std::int32_t ranks[16 * Vectors];
    __builtin_memcpy(ranks, rank, sizeof rank);
    std::uint64_t taken = 0;
    for (int e = 0; e < count; ++e) taken |= std::uint64_t{1} << ranks[e];
    for (int e = 0; e < count; ++e) {
      ranks[e] = std::popcount(taken & ((std::uint64_t{1} << ranks[e]) - 1));
      values[e] = identity();
    }
    QUINTET_SCALAR_LOOP
    for (int e = 0; e < count; ++e) {
      columns[ranks[e]] = Index(keys[e]);
      values[ranks[e]] = add(values[ranks[e]], product[e]);
    }
    return std::popcount(taken);
  }

  problem<Value, Index> p_;
  std::int64_t b_end_;
  int start_[most_rows + 1] = {};
  alignas(64) std::int32_t keys_[room] = {};
  alignas(64) Value product_[room] = {};
};

}  // namespace quintet::spgemm
