// Sparse products the plain way: a map per row, products in the order of A's entries.
#pragma once

#include <cstdint>
#include <map>
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

}  // namespace quintet::test
