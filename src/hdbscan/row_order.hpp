// Rows in an order that does not follow from their numbers.
#pragma once

#include <cstdint>
#include <cstring>

#include "quintet/core/storage16.hpp"
#include "quintet/core/view.hpp"

namespace quintet::hdbscan {

/// Rows by their coordinates, the first one first; equal rows by number. Words are compared as bytes.
template <class Storage>
struct row_order {
  matrix_view<const Storage> points;
  bool are_words;

  int compare(std::int32_t a, std::int32_t b) const {
    using Real = accumulator_t<Storage>;
    const Storage *x = points.row(a), *y = points.row(b);
    if (are_words) return std::memcmp(x, y, std::size_t(points.cols()) * sizeof(Storage));
    for (std::int64_t k = 0; k < points.cols(); ++k)
      if (Real(x[k]) != Real(y[k])) return Real(x[k]) < Real(y[k]) ? -1 : 1;
    return 0;
  }
  bool operator()(std::int32_t a, std::int32_t b) const {
    const int side = compare(a, b);
    return side < 0 || (side == 0 && a < b);
  }
};

}  // namespace quintet::hdbscan
