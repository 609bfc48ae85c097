// Sparse products the plain way: a map per row, products in the order of A's entries.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "quintet/spgemm/csr.hpp"
#include "quintet/spgemm/detail/structured_rows.hpp"

namespace quintet::test {

/// Compiled where every product is rounded before it is added, as product_of demands: the same bits are expected.
template <class Semiring, class Value, class Index>
spgemm::csr<Value, Index> reference_product(const spgemm::csr_view<Value, Index>& a,
                                            const spgemm::csr_view<Value, Index>& b) {
  std::vector<std::int64_t> row_pointers{0};
  std::vector<Index> columns;
  std::vector<Value> values;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    std::map<Index, Value> row;
    for (std::int64_t k = a.row_pointers[i]; k < a.row_pointers[i + 1]; ++k)
      for (std::int64_t q = b.row_pointers[a.columns[k]]; q < b.row_pointers[a.columns[k] + 1]; ++q) {
        Value& sum = row.try_emplace(b.columns[q], Semiring::template identity<Value>()).first->second;
        const Value product = spgemm::detail::product_of<Semiring>(a.values[k], b.values[q]);
        sum = Semiring::template add<Value>(sum, product);
      }
    for (const auto& [column, value] : row) {
      columns.push_back(column);
      values.push_back(value);
    }
    row_pointers.push_back(std::int64_t(columns.size()));
  }
  return {a.rows, b.cols, row_pointers, columns, values};
}

/// The entries of `whole` where the mask has one (inside), or has none.
template <class Value, class Index>
spgemm::csr<Value, Index> reference_masked(const spgemm::csr<Value, Index>& whole,
                                           const spgemm::csr<Value, Index>& mask, bool inside) {
  std::vector<std::int64_t> row_pointers{0};
  std::vector<Index> columns;
  std::vector<Value> values;
  for (std::int64_t i = 0; i < whole.rows; ++i) {
    const std::set<Index> row(mask.columns.data() + mask.row_pointers[i],
                              mask.columns.data() + mask.row_pointers[i + 1]);
    for (std::int64_t k = whole.row_pointers[i]; k < whole.row_pointers[i + 1]; ++k) {
      if (row.contains(whole.columns[k]) != inside) continue;
      columns.push_back(whole.columns[k]);
      values.push_back(whole.values[k]);
    }
    row_pointers.push_back(std::int64_t(columns.size()));
  }
  return {whole.rows, whole.cols, row_pointers, columns, values};
}

}  // namespace quintet::test
