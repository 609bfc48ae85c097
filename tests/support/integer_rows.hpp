// Rows of integers for tests, and plain distances of them.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "quintet/pairwise/packed_integers.hpp"
#include "reference/matrix.hpp"
#include "support/points.hpp"

namespace quintet::test {

constexpr metric integer_metrics[] = {metric::integer_euclidean, metric::integer_cosine, metric::integer_inner_product};

/// n rows of `dim` integers, and their words.
struct integer_set {
  std::int64_t n, dim;
  std::vector<std::int8_t> values;
  packed_integers packed;

  integer_set(std::vector<std::int8_t> numbers, std::int64_t dim)
      : n(std::ssize(numbers) / dim), dim(dim), values(std::move(numbers)), packed(values.data(), n, dim) {}

  matrix_view<const double> points() const { return packed.points(); }
  matrix_view<const double> points(std::int64_t first, std::int64_t end) const { return points().slice(first, end); }
  std::int64_t product(std::int64_t i, const integer_set& other, std::int64_t j) const {
    std::int64_t sum = 0;
    for (std::int64_t k = 0; k < dim; ++k) sum += std::int64_t(values[i * dim + k]) * other.values[j * dim + k];
    return sum;
  }
  std::int64_t square(std::int64_t i) const { return product(i, *this, i); }
};

/// The words as rows of points, NaN between them.
inline point_set<double> words_of(const integer_set& rows, std::int64_t padding = 0) {
  const auto words = rows.points();
  point_set<double> points(rows.n, words.cols(), padding);
  for (std::int64_t i = 0; i < rows.n; ++i)
    std::memcpy(&points.data[i * points.stride], words.row(i), std::size_t(words.cols()) * sizeof(double));
  return points;
}

/// Groups around random rows; copies, multiples of other rows, the least and the largest numbers, no row of zeros.
inline integer_set clustered_integers(std::int64_t n, std::int64_t dim, std::uint64_t seed, double spread = 8) {
  constexpr std::int64_t groups = 6;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<std::int8_t> centre(groups * dim), values(n * dim);
  for (std::int8_t& x : centre) x = std::int8_t(std::int64_t(random() % 200) - 100);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t group = std::int64_t(random() % groups), kind = i > 0 ? std::int64_t(random() % 16) : 2;
    for (std::int64_t k = 0; k < dim; ++k) {
      const double x = centre[group * dim + k] + std::rint(spread * normal(random));
      std::int8_t& to = values[i * dim + k];
      to = std::int8_t(x < -128 ? -128 : x > 127 ? 127 : x);
      if (kind == 0) to = values[(i - 1) * dim + k];
      if (kind == 1) to = std::int8_t(values[(i - 1) * dim + k] / 3 * 2);
      if (i == 4 || i == 9) to = i == 4 ? -128 : 127;
    }
    if (values[i * dim] == 0) values[i * dim] = 1;
  }
  return {std::move(values), dim};
}

/// 1 - g / (|x| |y|) by long double, without cancellation; d = |x|^2 |y|^2 - g^2 is exact.
inline double integer_cosine_distance(std::int64_t g, std::int64_t x, std::int64_t y) {
  const auto d = (long double)((__int128)x * y - (__int128)g * g);
  const long double both = std::sqrt((long double)x * (long double)y);
  return double(g > 0 ? d / (both * (both + (long double)g)) : 1 - (long double)g / both);
}

inline double integer_distance(const integer_set& a, std::int64_t i, const integer_set& b, std::int64_t j,
                               metric kind) {
  const std::int64_t g = a.product(i, b, j);
  if (kind == metric::integer_inner_product) return -double(g);
  if (kind == metric::integer_euclidean) return std::sqrt(double(a.square(i) + b.square(j) - 2 * g));
  return integer_cosine_distance(g, a.square(i), b.square(j));
}

/// All distances.
inline reference::matrix integer_distances(const integer_set& a, const integer_set& b, metric kind) {
  reference::matrix d(a.n, b.n);
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int64_t j = 0; j < b.n; ++j) d(i, j) = integer_distance(a, i, b, j, kind);
  return d;
}

}  // namespace quintet::test
