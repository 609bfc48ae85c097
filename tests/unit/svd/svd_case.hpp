// The cases of the reference data: matrices with singular values of 30 digits.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/csv_table.hpp"
#include "support/data_folder.hpp"

namespace quintet::test {

/// Numbers of a file without a header, row by row.
inline std::vector<double> read_numbers(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path.string() + ": cannot be read");
  std::vector<double> numbers;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');) numbers.push_back(std::strtod(field.c_str(), nullptr));
  }
  return numbers;
}

struct svd_case {
  std::string name, type, accuracy_class;
  std::int64_t rows, cols;
  std::vector<double> a, s;
};

inline std::filesystem::path svd_folder() { return data_folder("svd"); }

inline std::vector<svd_case> svd_cases() {
  const csv_table index(svd_folder() / "index.csv");
  std::vector<svd_case> cases;
  for (std::size_t i = 0; i < index.rows(); ++i) {
    const std::string name = index.at(i, "name");
    cases.push_back({name, index.at(i, "dtype"), index.at(i, "class"), std::stoll(index.at(i, "m")),
                     std::stoll(index.at(i, "n")), read_numbers(svd_folder() / (name + "_A.csv")),
                     read_numbers(svd_folder() / (name + "_S.csv"))});
  }
  return cases;
}

}  // namespace quintet::test
