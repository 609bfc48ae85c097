// Sparse times dense: lanes and threads share out the columns of the dense matrix.
#pragma once

#include "quintet/spgemm/semiring.hpp"
#include "spgemm/problem.hpp"
#include "spgemm/structured_kernel.hpp"

namespace quintet::spgemm {

constexpr std::int64_t dense_rows_per_tile = 16;

template <class Value, class Index, class Shape>
struct dense_product_kernel {
  using shape = Shape;
  struct scratch {};
  enum { threads = 64, emulated_threads = 4 };
  csr_view<Value, Index> a;
  const Value* x;
  std::int64_t x_stride, cols;
  Value* y;
  std::int64_t y_stride;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    const std::int64_t first = tile * dense_rows_per_tile;
    const std::int64_t last = first + dense_rows_per_tile < a.rows ? first + dense_rows_per_tile : a.rows;
    for (std::int64_t i = first; i < last; ++i) {
      Value* const row = y + i * y_stride;
      if constexpr (Team::on_device) {
        for (std::int64_t j = team.rank(); j < cols; j += team.size()) {
          Value sum = 0;
          for (std::int64_t k = a.row_pointers[i]; k < a.row_pointers[i + 1]; ++k)
            sum = sum + product_of<plus_times>(a.values[k], x[a.columns[k] * x_stride + j]);
          row[j] = sum;
        }
      } else {
        for (std::int64_t j = 0; j < cols; ++j) row[j] = 0;
        for (std::int64_t k = a.row_pointers[i]; k < a.row_pointers[i + 1]; ++k) {
          const Value* const from = x + a.columns[k] * x_stride;
          const Value factor = a.values[k];
#pragma omp simd
          for (std::int64_t j = 0; j < cols; ++j) row[j] = row[j] + product_of<plus_times>(factor, from[j]);
        }
      }
    }
  }
};

}  // namespace quintet::spgemm
