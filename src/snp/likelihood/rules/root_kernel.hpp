// What root.hpp launches.
#pragma once

#include "snp/likelihood/rules/join_kernel.hpp"
#include "snp/likelihood/rules/shapes.hpp"

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

/// The same for the numbers of a scaled plan, whose products with the weights leave the range of doubles: likelihood[p]
/// 2^exponent[p]. Bryant et al. 2012.
struct scaled_root_sum {
  std::int64_t entries, patterns;
  const double* weight;
  const std::int32_t* weight_exponent;
  const double* in;
  double* likelihood;
  std::int32_t* exponent;

  // 2^exponent of a positive number, or what is below all.
  static std::int32_t exponent_of(double x) {
    std::int64_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return std::int32_t(bits >> 52 & 2047) - 1023;
  }

  void operator()(std::int64_t p) const {
    std::int32_t top = -(1 << 30);
    for (std::int64_t e = 0; e < entries; ++e) {
      const double x = in[e * patterns + p];
      if (!(x > 0)) continue;
      const std::int32_t total = exponent_of(x) + weight_exponent[e];
      top = total > top ? total : top;
    }
    double sum = 0;
    for (std::int64_t e = 0; e < entries; ++e) {
      const double x = in[e * patterns + p];
      if (!(x > 0)) continue;
      // What is not added is less than 2^-200 of the largest.
      const std::int32_t shift = weight_exponent[e] - top;
      if (exponent_of(x) + shift < -200) continue;
      sum += weight[e] * (x * power_of_two(-exponent_of(x))) * power_of_two(exponent_of(x) + shift);
    }
    likelihood[p] = sum;
    exponent[p] = sum > 0 ? top : 0;
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
