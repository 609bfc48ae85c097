// The sparse matrices of the reference data and what is known of their products.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "quintet/io/sparse_file.hpp"
#include "quintet/spgemm/transpose.hpp"
#include "support/csv_table.hpp"
#include "support/data_folder.hpp"

namespace quintet::test {

struct matrix_case {
  std::string name;
  bool transposed;  ///< the product is A * transpose(A), not A * A
  std::int64_t rows, cols, nnz, products, result_nnz, struct_ij;
  double sum, sum_abs, frobenius, weighted;
};

inline std::filesystem::path matrix_folder() { return data_folder("matrices"); }

inline std::vector<matrix_case> matrix_cases() {
  const csv_table table(matrix_folder() / "expected.csv");
  std::vector<matrix_case> cases;
  for (std::size_t r = 0; r < table.rows(); ++r) {
    const auto integer = [&](const char* name) { return std::int64_t(std::stoll(table.at(r, name))); };
    const auto real = [&](const char* name) { return std::stod(table.at(r, name)); };
    cases.push_back({table.at(r, "name"), table.at(r, "op") != "A*A", integer("rows"), integer("cols"), integer("nnzA"),
                     integer("products"), integer("nnzC"), integer("struct_ij"), real("sum"), real("sum_abs"),
                     real("fro"), real("weighted")});
  }
  return cases;
}

/// Both operands of a case.
template <class Value, class Index>
struct matrix_pair {
  spgemm::csr<Value, Index> a, b;
};

template <class Value, class Index>
matrix_pair<Value, Index> read_matrices(const matrix_case& c) {
  matrix_pair<Value, Index> pair;
  pair.a = io::read_sparse<Value, Index>(matrix_folder() / (c.name + ".mtx.gz"));
  pair.b = c.transposed ? spgemm::transpose(pair.a.view()) : pair.a;
  return pair;
}

}  // namespace quintet::test
