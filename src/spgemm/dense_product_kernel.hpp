// Sparse times dense: a row of the result in pieces, whose sums stay in registers.
#pragma once

#include "device/pack.hpp"
#include "quintet/spgemm/semiring.hpp"
#include "spgemm/problem.hpp"
#include "spgemm/range_loop.hpp"

namespace quintet::spgemm {

/// A piece is `Lanes` columns wide: two registers of a host, one number of a thread.
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
      for (std::int64_t j = whole + team.rank(); j < cols; j += team.size()) piece<1>(i, j);
    }
  }

 private:
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

}  // namespace quintet::spgemm
