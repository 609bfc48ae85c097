// Made sparse matrices of many kinds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "quintet/core/philox.hpp"
#include "quintet/spgemm/csr.hpp"

namespace quintet::test {

/// Rows given by f(i), a list of columns in any order; values are random in (-1, 1).
template <class Value, class Index, class Rows>
spgemm::csr<Value, Index> matrix_of_rows(std::int64_t rows, std::int64_t cols, std::uint64_t seed, Rows f) {
  random_stream random(seed, 77);
  std::vector<std::int64_t> row_pointers{0};
  std::vector<Index> columns;
  std::vector<Value> values;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (const std::int64_t j : f(i)) {
      columns.push_back(Index(j));
      values.push_back(2 * random.uniform<Value>() - 1);
    }
    row_pointers.push_back(std::int64_t(columns.size()));
  }
  return {rows, cols, row_pointers, columns, values};
}

/// About `entries` different columns in a row, uniform.
template <class Value, class Index>
spgemm::csr<Value, Index> uniform_matrix(std::int64_t rows, std::int64_t cols, double entries, std::uint64_t seed) {
  random_stream random(seed);
  return matrix_of_rows<Value, Index>(rows, cols, seed, [&](std::int64_t) {
    std::set<std::int64_t> row;
    const auto count = std::int64_t(2 * entries * random.uniform<double>() + 0.5);
    for (std::int64_t e = 0; e < count && cols > 0; ++e) row.insert(std::int64_t(random.below_64(std::uint64_t(cols))));
    return std::vector<std::int64_t>(row.begin(), row.end());
  });
}

/// 2^scale rows and columns, `edges` a row on average, as Chakrabarti, Zhan and Faloutsos draw power-law graphs.
template <class Value, class Index>
spgemm::csr<Value, Index> rmat_matrix(int scale, std::int64_t edges, std::uint64_t seed) {
  random_stream random(seed);
  const std::int64_t n = std::int64_t(1) << scale;
  std::vector<std::vector<std::int64_t>> rows(static_cast<std::size_t>(n));
  for (std::int64_t e = 0; e < n * edges; ++e) {
    std::int64_t i = 0, j = 0;
    for (int bit = 0; bit < scale; ++bit) {
      const double u = random.uniform<double>();
      i = 2 * i + (u >= 0.57 + 0.19 ? 1 : 0);
      j = 2 * j + ((u >= 0.57 && u < 0.76) || u >= 0.95 ? 1 : 0);
    }
    rows[static_cast<std::size_t>(i)].push_back(j);
  }
  for (auto& row : rows) {
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
  }
  return matrix_of_rows<Value, Index>(n, n, seed, [&](std::int64_t i) { return rows[static_cast<std::size_t>(i)]; });
}

/// Dense blocks of `size` on the diagonal.
template <class Value, class Index>
spgemm::csr<Value, Index> block_diagonal(std::int64_t blocks, std::int64_t size, std::uint64_t seed) {
  return matrix_of_rows<Value, Index>(blocks * size, blocks * size, seed, [&](std::int64_t i) {
    std::vector<std::int64_t> row;
    for (std::int64_t j = i / size * size; j < (i / size + 1) * size; ++j) row.push_back(j);
    return row;
  });
}

/// A dense first row, first column and diagonal.
template <class Value, class Index>
spgemm::csr<Value, Index> arrow_matrix(std::int64_t n, std::uint64_t seed) {
  return matrix_of_rows<Value, Index>(n, n, seed, [&](std::int64_t i) {
    std::vector<std::int64_t> row{0};
    for (std::int64_t j = 1; j < n; ++j)
      if (i == 0 || i == j) row.push_back(j);
    return row;
  });
}

}  // namespace quintet::test
