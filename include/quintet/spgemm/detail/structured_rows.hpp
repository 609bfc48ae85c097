// Products into a known structure, on the host. In a header so that it works for semirings of any program.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include "quintet/spgemm/csr.hpp"

namespace quintet::spgemm::detail {

/// a * b as its own rounded value; without it a compiler may fuse it with the addition that follows.
template <class Semiring, class Value>
inline Value product_of(Value a, Value b) {
#if defined(__clang__)
  const Value product = Semiring::template multiply<Value>(a, b);
  return product;
#else
  return __builtin_assoc_barrier(Semiring::template multiply<Value>(a, b));
#endif
}

/// Hides where a value comes from. Compilers that may fuse across statements (-ffast-math, -ffp-contract=fast) heed no
/// pragma, so that a program's own semirings need this; the kernels of the library are compiled without such flags.
template <class Value>
inline void hide_origin([[maybe_unused]] Value& value) {
#if defined(__clang__) && defined(__x86_64__)
  asm("" : "+x"(value));
#elif defined(__clang__) && defined(__aarch64__)
  asm("" : "+w"(value));
#elif defined(__clang__) && !defined(__NVPTX__) && !defined(__AMDGPU__)
  asm("" : "+m"(value));
#endif
}

/// Calls work(begin, end, map) on the host's threads for ranges of rows that cover [0, rows). `map` has `cols` elements
/// that are -1 when a call begins and must be -1 when it ends; it is null when there are too many columns.
void structured_loop(std::int64_t rows, std::int64_t cols, memory_source& memory,
                     const std::function<void(std::int64_t begin, std::int64_t end, std::int64_t* map)>& work);

/// A team of one thread of the host.
struct one_thread {
  int rank() const { return 0; }
  int size() const { return 1; }
  void barrier() const {}
};

/// The first of the ascending columns[begin, end) that is >= col; end if all are smaller.
template <class Index>
inline std::int64_t first_not_below(const Index* columns, std::int64_t begin, std::int64_t end, Index col) {
  while (begin < end) {
    const std::int64_t middle = begin + (end - begin) / 2;
    if (columns[middle] < col)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

/// Row i of A * B for the ascending columns[begin, end): values[begin, end), and in touched[begin, end), unless it is
/// null, 1 where there is a product and 0 elsewhere. `map`, unless it is null, has an element -1 for every column,
/// before and after. The threads of the team share one row of B at a time (or the row of C, if that is shorter). Its
/// columns differ, so no two threads write one sum, and the barrier before the next row fixes the order of the sums.
/// B's rows ascend strictly.
template <class Semiring, class Team, class Value, class Index>
void structured_row(const Team& team, const csr_view<Value, Index>& a, const csr_view<Value, Index>& b, std::int64_t i,
                    const Index* columns, std::int64_t begin, std::int64_t end, Value* values, std::uint8_t* touched,
                    std::int64_t* map) {
  for (std::int64_t e = begin + team.rank(); e < end; e += team.size()) {
    if (map != nullptr) map[columns[e]] = e;
    values[e] = Semiring::template identity<Value>();
    if (touched != nullptr) touched[e] = 0;
  }
  team.barrier();
  const auto add = [&](std::int64_t k, std::int64_t q, std::int64_t e) {
    Value product = product_of<Semiring>(a.values[k], b.values[q]);
    if constexpr (std::is_same_v<Team, one_thread>) hide_origin(product);
    values[e] = Semiring::template add<Value>(values[e], product);
    if (touched != nullptr) touched[e] = 1;
  };
  for (std::int64_t k = a.row_pointers[i]; k < a.row_pointers[i + 1]; ++k) {
    const std::int64_t j = a.columns[k], first = b.row_pointers[j], last = b.row_pointers[j + 1];
    if (map != nullptr) {
      for (std::int64_t q = first + team.rank(); q < last; q += team.size())
        if (const std::int64_t e = map[b.columns[q]]; e >= 0) add(k, q, e);
    } else if (team.size() == 1 || last - first <= end - begin) {
      for (std::int64_t q = first + team.rank(); q < last; q += team.size()) {
        const std::int64_t e = first_not_below(columns, begin, end, b.columns[q]);
        if (e < end && columns[e] == b.columns[q]) add(k, q, e);
      }
    } else {
      for (std::int64_t e = begin + team.rank(); e < end; e += team.size()) {
        const std::int64_t q = first_not_below(b.columns, first, last, columns[e]);
        if (q < last && columns[e] == b.columns[q]) add(k, q, e);
      }
    }
    team.barrier();
  }
  if (map == nullptr) return;
  for (std::int64_t e = begin + team.rank(); e < end; e += team.size()) map[columns[e]] = -1;
  team.barrier();
}

/// Entries of row i of one column become one, the sum of theirs in their order. `order` has the numbers of the entries,
/// beginning with `first`, in the order of their columns.
template <class Semiring, class Value, class Index>
void merge_row(const csr_view<Value, Index>& m, std::int64_t i, std::int64_t first, const std::int64_t* order,
               std::int64_t next, Index* columns, Value* values) {
  for (std::int64_t e = m.row_pointers[i] - first, begin = e; e < m.row_pointers[i + 1] - first; ++e) {
    const std::int64_t k = order[e];
    const bool repeats = e > begin && m.columns[order[e - 1]] == m.columns[k];
    if (!repeats) columns[next++] = m.columns[k];
    if (m.values == nullptr) continue;
    Value& sum = values[next - 1];
    // As in every sum of products: min_plus passes over a NaN only behind its identity.
    if (repeats && sum != sum) sum = Semiring::template add<Value>(Semiring::template identity<Value>(), sum);
    sum = repeats ? Semiring::template add<Value>(sum, m.values[k]) : m.values[k];
  }
}

/// Puts the numbers of each row's entries in the order of their columns, and makes the row pointers of a matrix without
/// repeated columns. Returns false, and does nothing, where the columns of every row ascend strictly.
template <class Value, class Index>
bool order_columns(const csr_view<Value, Index>& m, array<std::int64_t>& order, array<std::int64_t>& row_pointers,
                   memory_source& memory);

/// The matrix, or a copy in `copy`, with strictly ascending columns; repeated entries are added with the semiring's
/// addition.
template <class Semiring, class Value, class Index>
csr_view<Value, Index> with_ascending_columns(const csr_view<Value, Index>& m, csr<Value, Index>& copy,
                                              memory_source& memory) {
  array<std::int64_t> order, row_pointers;
  if (!order_columns(m, order, row_pointers, memory)) return m;
  const std::int64_t entries = row_pointers[m.rows];
  copy = {m.rows, m.cols, std::move(row_pointers), array<Index>(entries, memory), array<Value>(entries, memory)};
  structured_loop(m.rows, 0, memory, [&](std::int64_t begin, std::int64_t end, std::int64_t*) {
    for (std::int64_t i = begin; i < end; ++i)
      merge_row<Semiring>(m, i, m.row_pointers[0], order.data(), copy.row_pointers[i], copy.columns.data(),
                          copy.values.data());
  });
  return copy.view();
}

/// All rows of c's structure, for semirings without kernels.
template <class Semiring, class Value, class Index>
void structured_product(const csr_view<Value, Index>& a, const csr_view<Value, Index>& any_b,
                        const std::int64_t* row_pointers, const Index* columns, Value* values, std::uint8_t* touched,
                        memory_source& memory) {
  csr<Value, Index> copy;
  const csr_view<Value, Index> b = with_ascending_columns<Semiring>(any_b, copy, memory);
  structured_loop(a.rows, b.cols, memory, [&](std::int64_t begin, std::int64_t end, std::int64_t* map) {
    for (std::int64_t i = begin; i < end; ++i)
      structured_row<Semiring>(one_thread(), a, b, i, columns, row_pointers[i], row_pointers[i + 1], values, touched,
                               map);
  });
}

}  // namespace quintet::spgemm::detail
