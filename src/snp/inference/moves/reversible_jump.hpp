// What add and delete share: the densities of the numbers that a new reticulation brings. add draws from them, delete
// takes them into its ratio; both must use the same width.
#pragma once

#include <cmath>
#include <numbers>

#include "quintet/core/philox.hpp"
#include "quintet/snp/inference/priors.hpp"

namespace quintet::snp {

/// Options of add and delete.
struct jump_options {
  std::int64_t max_reticulations;
  double inheritance;  ///< gamma ~ Beta(a, a), as in the prior
  bool draws_thetas;   ///< theta_mode::each with a density: three new thetas; otherwise new branches take their base's
};

/// phi(x | base): log x is normal around log base with this width.
inline double log_jump_density(double x, double base, double width) {
  const double z = (std::log(x) - std::log(base)) / width;
  return -0.5 * z * z - std::log(x * width) - 0.5 * std::log(2 * std::numbers::pi);
}
inline double draw_jump(double base, double width, random_stream& random) {
  return base * std::exp(width * random.normals<double>().first);
}

inline univariate_prior jump_gamma(const jump_options& options) {
  return {univariate_prior::family::beta, options.inheritance, options.inheritance};
}

}  // namespace quintet::snp
