// Sparse times dense: a row of the result in pieces, whose sums stay in registers.
#pragma once

#include <type_traits>

#include "device/atomic.hpp"
#include "device/pack.hpp"
#include "quintet/spgemm/semiring.hpp"
#include "spgemm/column_check.hpp"
#include "spgemm/problem.hpp"
#include "spgemm/range_loop.hpp"

namespace quintet::spgemm {

/// A piece is `Lanes` columns wide: two registers of a host, whose teams are one thread, or one number of a thread.
/// Row by row over CSR (Saad 2003, 3.4), blocked over the columns of X.
template <class Value, class Index, int Lanes>
struct dense_product_rows {
  csr_view<Value, Index> a;
  const Value* x;
  std::int64_t x_stride, cols;
  Value* y;
  std::int64_t y_stride;

  template <class Team>
  void operator()(const Team& team, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t whole = cols / Lanes * Lanes;
      for (std::int64_t j = team.rank() * Lanes; j < whole; j += team.size() * std::int64_t(Lanes)) piece<Lanes>(i, j);
      if constexpr (Lanes > 1) rest<Lanes / 2>(i, whole);
    }
  }

 private:
  /// The columns from j on, fewer than two pieces of this width: in pieces of it, of half of it, and so on.
  template <int Width>
  void rest(std::int64_t i, std::int64_t j) const {
    if (cols - j >= Width) {
      piece<Width>(i, j);
      j += Width;
    }
    if constexpr (Width > 1) rest<Width / 2>(i, j);
  }

  template <int Width>
  void piece(std::int64_t i, std::int64_t j) const {
    using pack = device::pack<Value, Width>;
    pack sum{};
    for (std::int64_t k = a.row_pointers[i]; k < a.row_pointers[i + 1]; ++k) {
      const Value* const from = x + a.columns[k] * x_stride + j;
      const Value factor = a.values[k];
      if constexpr (Width == 1) {
        sum = sum + product_of<plus_times>(factor, *from);
      } else {
        const pack other = device::load_pack<pack>(from);
        pack product;
        for (int e = 0; e < Width; ++e) product[e] = product_of<plus_times>(factor, Value(other[e]));
#if !defined(__clang__)
        product = __builtin_assoc_barrier(product);  // g++ loses the barriers of the lanes
#endif
        sum = sum + product;
      }
    }
    device::store_pack(y + i * y_stride + j, sum);
  }
};

/// One column of X: a thread sums a row. Rows are taken in stretches whose columns are compared first, so that one pass
/// reads A: what the sums use comes from the cache. The lowest entry that is out of range goes to `outside`; the rows
/// of its stretch stay as they are.
template <class Value, class Index>
struct vector_product_rows {
  csr_view<Value, Index> a;
  const Value* x;
  std::int64_t x_stride;
  Value* y;
  std::int64_t y_stride;
  std::int64_t* outside;

  template <class Team>
  void operator()(const Team& team, std::int64_t begin, std::int64_t end) const {
    constexpr std::int64_t stretch = Team::on_device ? 1 : 64;
    const column_check<Value, Index> check{a};
    for (std::int64_t i = begin + team.rank() * stretch; i < end; i += team.size() * stretch) {
      const std::int64_t last = i + stretch < end ? i + stretch : end;
      if (!check.fits(a.row_pointers[i], a.row_pointers[last]))
        device::atomic_min(outside, check.first_outside(a.row_pointers[i]));
      else if (x_stride == 1)
        sum_rows(i, last, std::integral_constant<std::int64_t, 1>{});
      else
        sum_rows(i, last, x_stride);
    }
  }

 private:
  template <class Stride>
  void sum_rows(std::int64_t first, std::int64_t last, Stride stride) const {
    for (std::int64_t i = first; i < last; ++i) {
      Value sum = 0;
      // Each sum waits for the one before: unrolled, a row only has more branches that are hard to predict.
#pragma GCC unroll 1
      for (std::int64_t k = a.row_pointers[i]; k < a.row_pointers[i + 1]; ++k)
        sum = sum + product_of<plus_times>(a.values[k], x[a.columns[k] * stride]);
      y[i * y_stride] = sum;
    }
  }
};

}  // namespace quintet::spgemm
