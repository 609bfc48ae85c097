// Sparse products by Eigen: any semiring as a type of number, terms in the order of A's entries.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <type_traits>
#include <vector>

#include "quintet/spgemm/csr.hpp"
#include "quintet/spgemm/semiring.hpp"

namespace quintet::test {

/// What a semiring computes, written down a second time.
enum class formula { plus_times, min_plus, or_and, max_times, max_min };

/// The formula of a semiring of the library, or the member `formula` of another.
template <class Semiring>
constexpr formula formula_of() {
  if constexpr (std::is_same_v<Semiring, spgemm::plus_times>)
    return formula::plus_times;
  else if constexpr (std::is_same_v<Semiring, spgemm::min_plus>)
    return formula::min_plus;
  else if constexpr (std::is_same_v<Semiring, spgemm::or_and>)
    return formula::or_and;
  else
    return Semiring::formula;
}

/// Compressed rows with 32-bit numbers, as Eigen takes them.
template <class Value>
struct plain_matrix {
  int rows = 0, cols = 0;
  std::vector<int> row_pointers{0}, columns;
  std::vector<Value> values;
};

/// A * B by Eigen; columns of the result ascend.
template <class Value>
plain_matrix<Value> eigen_product(formula semiring, const plain_matrix<Value>& a, const plain_matrix<Value>& b);

/// The rows of a matrix, with the columns renumbered by `number`.
template <class Value, class Index, class Number>
plain_matrix<Value> plain_rows(const spgemm::csr_view<Value, Index>& m, std::int64_t cols, Number number) {
  plain_matrix<Value> plain{int(m.rows), int(cols), {0}, {}, {}};
  for (std::int64_t i = 0; i < m.rows; ++i) {
    for (std::int64_t k = m.row_pointers[i]; k < m.row_pointers[i + 1]; ++k) {
      plain.columns.push_back(int(number(m.columns[k])));
      plain.values.push_back(m.values[k]);
    }
    plain.row_pointers.push_back(int(plain.columns.size()));
  }
  return plain;
}

/// A * B over a semiring. B may have more columns than Eigen counts: only those with entries are given to it.
template <class Semiring, class Value, class Index>
spgemm::csr<Value, Index> reference_product(const spgemm::csr_view<Value, Index>& a,
                                            const spgemm::csr_view<Value, Index>& b) {
  std::vector<Index> used;
  for (std::int64_t i = 0; i < b.rows; ++i)
    used.insert(used.end(), b.columns + b.row_pointers[i], b.columns + b.row_pointers[i + 1]);
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  const plain_matrix<Value> c = eigen_product(
      formula_of<Semiring>(), plain_rows(a, a.cols, [](Index column) { return column; }),
      plain_rows(b, std::int64_t(used.size()),
                 [&](Index column) { return std::lower_bound(used.begin(), used.end(), column) - used.begin(); }));
  std::vector<Index> columns;
  for (const int column : c.columns) columns.push_back(used[std::size_t(column)]);
  return {a.rows, b.cols, std::vector<std::int64_t>(c.row_pointers.begin(), c.row_pointers.end()), columns, c.values};
}

/// Rows of x by its columns, in their order.
template <class Value, class Index>
spgemm::csr<Value, Index> reference_transpose(const spgemm::csr<Value, Index>& x) {
  std::vector<std::int64_t> row_pointers{0};
  std::vector<Index> columns;
  std::vector<Value> values;
  for (std::int64_t j = 0; j < x.cols; ++j) {
    for (std::int64_t i = 0; i < x.rows; ++i)
      for (std::int64_t k = x.row_pointers[i]; k < x.row_pointers[i + 1]; ++k)
        if (x.columns[k] == j) {
          columns.push_back(Index(i));
          values.push_back(x.values[k]);
        }
    row_pointers.push_back(std::int64_t(columns.size()));
  }
  return {x.cols, x.rows, row_pointers, columns, values};
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
