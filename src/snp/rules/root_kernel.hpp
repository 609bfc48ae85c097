// What root.hpp launches.
#pragma once

#include "snp/rules/shapes.hpp"

namespace quintet::snp {

/// likelihood[p] = sum over entries of weight[e] in[e][p]. Bryant et al. 2012: the sum over the states of the root with
/// their stationary distribution.
template <class Shape>
struct root_kernel {
  using shape = Shape;
  using pack = rule_pack<Shape>;
  struct scratch {};
  enum { threads = 32, emulated_threads = 4 };
  std::int64_t entries, patterns;
  const double *weight, *in;
  double* likelihood;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    const std::int64_t first = tile * tile_columns;
    const std::int64_t last = first + tile_columns < patterns ? first + tile_columns : patterns;
    for (std::int64_t p = first + team.rank() * Shape::lanes; p < last; p += team.size() * Shape::lanes) {
      pack sum = device::broadcast_pack<pack>(0.0);
      for (std::int64_t e = 0; e < entries; ++e)
        sum = device::fma(weight[e], device::load_pack<pack>(in + e * patterns + p), sum);
      device::store_pack(likelihood + p, sum);
    }
  }
};

/// adjoint[e][p] = weight[e] seed[p]. The root's sum (Bryant et al. 2012), backwards.
struct root_adjoint {
  std::int64_t patterns;
  const double *weight, *seed;
  double* adjoint;
  void operator()(std::int64_t i) const { adjoint[i] = weight[i / patterns] * seed[i % patterns]; }
};

/// by_weight[e] = sum over patterns of seed[p] in[e][p]. The root's sum (Bryant et al. 2012), backwards.
struct root_weight_adjoint {
  std::int64_t patterns;
  const double *seed, *in;
  double* by_weight;
  void operator()(std::int64_t e) const {
    double chain[line] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (std::int64_t p = 0; p < patterns; p += line)
      for (int j = 0; j < line; ++j) chain[j] += seed[p + j] * in[e * patterns + p + j];
    double sum = 0;
    for (int j = 0; j < line; ++j) sum += chain[j];
    by_weight[e] = sum;
  }
};

}  // namespace quintet::snp
