// Clustered unit vectors, the usual shape of text and image embeddings.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "quintet/core/philox.hpp"

namespace quintet::bench {

/// n unit vectors: 90 % around `clusters` random directions, with normal noise of total length `spread` added before
/// normalisation; 10 % without any cluster.
template <class Real>
std::vector<Real> clustered_points(std::int64_t n, std::int64_t dim, std::int64_t clusters = 50, double spread = 0.5) {
  constexpr std::uint64_t seed = 1, centres = 0, members = 1, noise_of = 2;
  const auto normalise = [&](Real* row) {
    double sum = 0;
    for (std::int64_t k = 0; k < dim; ++k) sum += double(row[k]) * double(row[k]);
    for (std::int64_t k = 0; k < dim; ++k) row[k] = Real(row[k] / std::sqrt(sum));
  };
  std::vector<Real> centre(clusters * dim), points(n * dim);
  for (std::int64_t e = 0; e < clusters * dim; ++e) centre[e] = normal_at<Real>(seed, centres, e);
  random_stream member(seed, members);
  for (std::int64_t c = 0; c < clusters; ++c) normalise(&centre[c * dim]);
  for (std::int64_t i = 0; i < n; ++i) {
    const Real* around = &centre[std::int64_t(member.below(std::uint32_t(clusters))) * dim];
    Real* row = &points[i * dim];
    for (std::int64_t k = 0; k < dim; ++k) {
      const Real noise = normal_at<Real>(seed, noise_of, i * dim + k);
      row[k] = i % 10 == 0 ? noise : around[k] + Real(spread / std::sqrt(double(dim))) * noise;
    }
    normalise(row);
  }
  return points;
}

}  // namespace quintet::bench
