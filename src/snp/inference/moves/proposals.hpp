// Steps of single numbers that several moves take.
#pragma once

#include <cmath>

#include "quintet/core/philox.hpp"
#include "snp/network/random_variates.hpp"

namespace quintet::snp {

/// exp(width (U - 1/2)): the logarithm moves symmetrically. A number x = exp(y) times this has the density q(x' | x) =
/// q(y' | y) / x', so the ratio of the reverse to the forward density is x' / x: log_hastings is the logarithm of the
/// factor for every number that is multiplied.
inline double draw_factor(double width, random_stream& random) {
  return std::exp(width * (random.uniform<double>() - 0.5));
}

///@{
/// log(x / (1 - x)) of x in (0, 1), and back.
inline double logit(double x) { return std::log(x) - std::log1p(-x); }
inline double inverse_logit(double y) { return y < 0 ? std::exp(y) / (1 + std::exp(y)) : 1 / (1 + std::exp(-y)); }
///@}

/// logit x' = logit x + width (U - 1/2) for x in (0, 1). As d logit x / dx = 1 / (x (1 - x)), the ratio of the
/// densities is x' (1 - x') / (x (1 - x)).
struct logit_step {
  double value, log_hastings;
};
inline logit_step draw_logit_step(double x, double width, random_stream& random) {
  const double value = inverse_logit(logit(x) + width * (random.uniform<double>() - 0.5));
  return {value, std::log(value) + std::log1p(-value) - std::log(x) - std::log1p(-x)};
}

/// x moved to where mirrors at low and high bring it.
inline double reflect(double x, double low, double high) {
  const double period = 2 * (high - low);
  double offset = std::fmod(x - low, period);
  if (offset < 0) offset += period;
  return offset <= high - low ? low + offset : high - (offset - (high - low));
}

/// Uniform in the open interval, as far as doubles go.
inline double draw_between(double low, double high, random_stream& random) {
  return low + (high - low) * draw_open_unit(random);
}

}  // namespace quintet::snp
