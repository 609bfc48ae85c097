// One entry in A's row: a scaled copy of a row of B.
#pragma once

#include "spgemm/accumulators/emit.hpp"

namespace quintet::spgemm {

template <class Team, class Product, class Out>
inline std::int64_t accumulate_stream(const Team& team, const Product& r, std::int64_t i, std::int32_t* scan,
                                      Out& out) {
  const std::int64_t k = r.p.a.row_pointers[i], j = r.p.a.columns[k];
  const std::int64_t first = r.p.b.row_pointers[j];
  const auto a = r.p.a.values[k];
  const auto* const columns = r.p.b.columns + first;
  const auto* const values = r.p.b.values + first;
  return emit(
      team, out, r.filter, i, r.p.b_ends[j] - first, scan, [=](std::int64_t e) { return columns[e]; },
      [=](std::int64_t e) { return Product::first_sum(Product::multiply(a, values[e])); });
}

}  // namespace quintet::spgemm
