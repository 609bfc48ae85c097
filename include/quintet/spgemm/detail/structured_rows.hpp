// Products into a known structure, on the host. In a header so that it works for semirings of any program.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

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

/// Calls work(begin, end, map) on the host's threads for ranges of rows that cover [0, rows). `map` has `cols` elements
/// that are -1 when a call begins and must be -1 when it ends; it is null when there are too many columns.
void structured_loop(std::int64_t rows, std::int64_t cols, memory_source& memory,
                     const std::function<void(std::int64_t begin, std::int64_t end, std::int64_t* map)>& work);

/// Row i of A * B where columns[begin, end) are wanted: values[begin, end), and in touched[begin, end), unless it is
/// null, 1 where there is a product and 0 elsewhere.
template <class Semiring, class Value, class Index>
void structured_row(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b, std::int64_t i,
                    const Index* columns, std::int64_t begin, std::int64_t end, Value* values, std::uint8_t* touched,
                    std::int64_t* map) {
  const auto place_of = [&](Index column) {
    if (map != nullptr) return map[column];
    const Index* const found = std::lower_bound(columns + begin, columns + end, column);
    return found < columns + end && *found == column ? std::int64_t(found - columns) : std::int64_t(-1);
  };
  for (std::int64_t e = begin; e < end; ++e) {
    if (map != nullptr) map[columns[e]] = e;
    values[e] = Semiring::template identity<Value>();
    if (touched != nullptr) touched[e] = 0;
  }
  for (std::int64_t k = a.row_pointers[i]; k < a.row_pointers[i + 1]; ++k) {
    const std::int64_t j = a.columns[k];
    for (std::int64_t q = b.row_pointers[j]; q < b.row_pointers[j + 1]; ++q) {
      const std::int64_t place = place_of(b.columns[q]);
      if (place < 0) continue;
      const Value product = product_of<Semiring>(a.values[k], b.values[q]);
      values[place] = Semiring::template add<Value>(values[place], product);
      if (touched != nullptr) touched[place] = 1;
    }
  }
  for (std::int64_t e = begin; map != nullptr && e < end; ++e) map[columns[e]] = -1;
}

/// All rows of c's structure.
template <class Semiring, class Value, class Index>
void structured_product(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b,
                        const std::int64_t* row_pointers, const Index* columns, Value* values, std::uint8_t* touched,
                        memory_source& memory) {
  structured_loop(a.rows, b.cols, memory, [&](std::int64_t begin, std::int64_t end, std::int64_t* map) {
    for (std::int64_t i = begin; i < end; ++i)
      structured_row<Semiring>(a, b, i, columns, row_pointers[i], row_pointers[i + 1], values, touched, map);
  });
}

}  // namespace quintet::spgemm::detail
