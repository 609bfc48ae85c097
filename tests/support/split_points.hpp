// Points of one distribution, some to cluster and some to predict.
#pragma once

#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "support/points.hpp"

namespace quintet::test {

template <class Real>
struct split_points {
  point_set<Real> fit, unseen;
};

/// The first `fitted` of clustered_points(n, ...), and the others.
template <class Real>
split_points<Real> split_clustered_points(std::int64_t n, std::int64_t fitted, std::int64_t dim, std::uint64_t seed) {
  const point_set<Real> all = clustered_points<Real>(n, dim, seed);
  std::vector<std::int64_t> first(fitted), last(n - fitted);
  std::iota(first.begin(), first.end(), 0);
  std::iota(last.begin(), last.end(), fitted);
  return {reordered(all, first), reordered(all, last)};
}

/// Two groups of six equal points each, at 0 and at 10, on a line.
template <class Real>
point_set<Real> two_groups_of_duplicates() {
  point_set<Real> points(12, 1);
  for (std::int64_t i = 0; i < 12; ++i) points(i, 0) = i < 6 ? Real(0) : Real(10);
  return points;
}

/// The distances of row i of `a` to all rows of `b`, in long double and rounded.
template <class Real>
std::vector<double> distances_to(const point_set<Real>& a, std::int64_t i, const point_set<Real>& b) {
  std::vector<double> result;
  for (std::int64_t j = 0; j < b.n; ++j) {
    long double sum = 0;
    for (std::int64_t d = 0; d < a.dim; ++d) {
      const long double difference = static_cast<long double>(a(i, d)) - static_cast<long double>(b(j, d));
      sum += difference * difference;
    }
    result.push_back(double(std::sqrt(sum)));
  }
  return result;
}

}  // namespace quintet::test
