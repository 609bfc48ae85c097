// Points of the Poincare ball for tests: the reference data, and random points by norm.
#pragma once

#include <cmath>
#include <random>
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

/// n points of a direction drawn at random whose sqrt(c) |x| lies between `least` and `most`.
template <class Real>
point_set<Real> ball_points(std::int64_t n, std::int64_t dim, double least, double most, double c, std::uint64_t seed,
                            std::int64_t padding = 0) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> norm(least, most);
  point_set<Real> points(n, dim, padding);
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<double> row(dim);
    double square = 0;
    for (double& x : row) {
      x = normal(random);
      square += x * x;
    }
    const double length = norm(random) / std::sqrt(c * square);
    for (std::int64_t k = 0; k < dim; ++k) points(i, k) = Real(row[k] * length);
    double rounded = 0;  // rounding must not leave the ball
    for (std::int64_t k = 0; k < dim; ++k) rounded += double(points(i, k)) * double(points(i, k));
    if (c * rounded >= 1)
      for (std::int64_t k = 0; k < dim; ++k) points(i, k) *= Real(1 - 4 * std::numeric_limits<Real>::epsilon());
  }
  return points;
}

template <class Real>
std::span<const Real> row_of(const point_set<Real>& points, std::int64_t i) {
  return {points.data.data() + i * points.stride, std::size_t(points.dim)};
}

}  // namespace quintet::test
