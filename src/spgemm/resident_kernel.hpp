// Checks and analysis of matrices that are on a device: functions of a row, for device::for_each.
#pragma once

#include "spgemm/analysis.hpp"

namespace quintet::spgemm {

/// What is wrong with a matrix, as bits that rows add.
enum : std::int32_t { pointers_fall = 1, columns_outside = 2, columns_unsorted = 4 };

template <class Value, class Index>
struct inspect_row {
  csr_view<Value, Index> m;
  std::int64_t entries;
  std::int32_t* found;

  void operator()(std::int64_t i) const {
    const std::int64_t begin = m.row_pointers[i], end = m.row_pointers[i + 1];
    std::int32_t faults = 0;
    if (begin < 0 || begin > end || end > entries) {
      faults = pointers_fall;
    } else {
      for (std::int64_t k = begin; k < end; ++k) {
        const std::int64_t column = m.columns[k];
        if (column < 0 || column >= m.cols) faults |= columns_outside;
        if (k > begin && m.columns[k - 1] >= m.columns[k]) faults |= columns_unsorted;
      }
    }
    if (faults != 0) __atomic_fetch_or(found, faults, __ATOMIC_RELAXED);
  }
};

/// products and bound of a row, as analyse() finds them on the host.
template <class Value, class Index>
struct analyse_row {
  problem<Value, Index> p;
  std::int64_t *products, *bound;

  void operator()(std::int64_t i) const {
    std::int64_t count = 0;
    for (std::int64_t k = p.a.row_pointers[i]; k < p.a.row_pointers[i + 1]; ++k) {
      const std::int64_t j = p.a.columns[k];
      count += p.b.row_pointers[j + 1] - p.b.row_pointers[j];
    }
    products[i] = count;
    bound[i] = row_bound(p, i, count);
  }
};

}  // namespace quintet::spgemm
