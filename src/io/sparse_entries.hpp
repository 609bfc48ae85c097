// Compressed rows from entries in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "io/input_file.hpp"
#include "quintet/core/error.hpp"
#include "quintet/spgemm/csr.hpp"

namespace quintet::io {

/// Throws FileError when the row pointers of this many rows, twice while rows are counted, do not fit into the memory,
/// or so many columns do not fit into Index.
template <class Index>
void require_size_of_rows(const std::string& path, std::int64_t rows, std::int64_t cols) {
  require_memory(path, rows, 16);
  if (cols - 1 > std::numeric_limits<Index>::max()) throw FileError(path, text(cols, " columns need 64-bit indices"));
}

/// The matrix whose entries `visit(append)` passes to append(row, column, value), twice the same ones: they are counted
/// first. Entries keep their order within a row. Rows are in [0, rows).
template <class Value, class Index, class Visit>
spgemm::csr<Value, Index> rows_of_entries(std::int64_t rows, std::int64_t cols, const Visit& visit) {
  std::vector<std::int64_t> next(static_cast<std::size_t>(rows) + 1);
  visit([&](std::int64_t row, std::int64_t, Value) { ++next[static_cast<std::size_t>(row) + 1]; });
  for (std::size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
  spgemm::csr<Value, Index> m{rows, cols, spgemm::array<std::int64_t>(next), spgemm::array<Index>(next.back()),
                              spgemm::array<Value>(next.back())};
  visit([&](std::int64_t row, std::int64_t col, Value value) {
    const std::int64_t place = next[static_cast<std::size_t>(row)]++;
    m.columns[place] = static_cast<Index>(col);
    m.values[place] = value;
  });
  return m;
}

/// The rows of what was stored by columns, whose entries are valid.
template <class Value, class Index>
spgemm::csr<Value, Index> rows_of_columns(const spgemm::csr<Value, Index>& columns) {
  return rows_of_entries<Value, Index>(columns.cols, columns.rows, [&](const auto& append) {
    for (std::int64_t j = 0; j < columns.rows; ++j)
      for (std::int64_t k = columns.row_pointers[j]; k < columns.row_pointers[j + 1]; ++k)
        append(std::int64_t(columns.columns[k]), j, columns.values[k]);
  });
}

/// spgemm::check() of what a file holds: throws FileError.
template <class Value, class Index>
void check_read(const std::string& path, const spgemm::csr_view<Value, Index>& m) {
  try {
    spgemm::check(m, "matrix");
  } catch (const InvalidArgument& e) {
    throw FileError(path, e.what());
  }
}

}  // namespace quintet::io
