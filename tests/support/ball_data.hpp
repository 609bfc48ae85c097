// The reference data of the Poincare ball.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "support/csv_table.hpp"
#include "support/data_folder.hpp"
#include "support/points.hpp"

namespace quintet::test {

inline std::filesystem::path hyperbolic_folder() { return data_folder("hyperbolic"); }

/// Numbers of one field, apart by blanks.
template <class Real>
std::vector<Real> parse_vector(const std::string& field) {
  std::istringstream in(field);
  std::vector<Real> values;
  for (std::string word; in >> word;) values.push_back(Real(std::stold(word)));
  return values;
}

/// The same, vectors apart by |.
template <class Real>
std::vector<std::vector<Real>> parse_vectors(const std::string& field) {
  std::istringstream in(field);
  std::vector<std::vector<Real>> vectors;
  for (std::string part; std::getline(in, part, '|');) vectors.push_back(parse_vector<Real>(part));
  return vectors;
}

/// The embedding of mammals, 1182 x 10.
template <class Real>
point_set<Real> mammals() {
  std::ifstream file(hyperbolic_folder() / "mammals_poincare10.csv");
  std::vector<Real> data;
  std::int64_t rows = 0;
  for (std::string line; std::getline(file, line); ++rows) {
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');) data.push_back(Real(std::stof(field)));
  }
  if (rows == 0) throw std::runtime_error("mammals_poincare10.csv: cannot be read");
  point_set<Real> points(rows, std::int64_t(data.size()) / rows);
  points.data = std::move(data);
  return points;
}

}  // namespace quintet::test
