// Columns compared by the kernel that uses them, a stretch of entries at a time.
#pragma once

#include <cstdint>
#include <type_traits>

#include "quintet/spgemm/csr.hpp"

namespace quintet::spgemm {

template <class Value, class Index>
struct column_check {
  csr_view<Value, Index> a;

  /// Whether the columns of entries [first, last) are in [0, a.cols).
  bool fits(std::int64_t first, std::int64_t last) const {
    number largest = 0;
    for (std::int64_t k = first; k < last; ++k) {
      const number column = number(a.columns[k]);
      largest = column > largest ? column : largest;
    }
    return first == last || std::uint64_t(largest) < std::uint64_t(a.cols);
  }
  /// The first entry from k on with another column; there is one.
  std::int64_t first_outside(std::int64_t k) const {
    while (std::uint64_t(number(a.columns[k])) < std::uint64_t(a.cols)) ++k;
    return k;
  }

 private:
  using number = std::make_unsigned_t<Index>;
};

}  // namespace quintet::spgemm
