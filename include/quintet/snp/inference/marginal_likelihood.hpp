// Marginal likelihoods of models: log Z, the mean of the likelihood under the prior, from power posteriors.
//
//   sampler_options options{.powers = snp::power_ladder(32), .swap_every = 10, ...};
//   ... run a sampler; put take_log_likelihoods() of all parts together ...
//   const auto z = snp::marginal_likelihood(options.powers, log_likelihoods);
//   z.log_z, z.error
//
// A power posterior is prior x L^beta. With powers 0 = b_0 < b_1 < ... < b_K = 1:
//
// - stepping stone (Xie, Lewis, Fan, Kuo, Chen 2011): log Z = sum over k of log mean exp((b_{k+1} - b_k) log L), means
//   over the draws at b_k;
// - thermodynamic integration with the variance correction (Friel, Hurn, Wyse 2014): trapezoids of the means of log L,
//   less (b_{k+1} - b_k)^2 / 12 of the difference of the variances.
//
// The difference of log Z of two models is the logarithm of their Bayes factor. If their species differ, the data are
// the same only when the likelihood says which copies are red (model::ordered_data), not how many of each species.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "quintet/core/compiler.hpp"

namespace quintet::snp {

/// 1 = power of the first, falling to 0: (k / steps)^(1 / 0.3), k = steps ... 0, steps + 1 of them. Throws
/// InvalidArgument for steps not in 1 ... 1023.
std::vector<double> power_ladder(std::int64_t steps);

/// Fewest draws at every power.
inline constexpr std::int64_t min_power_draws = 4;

/// What one power adds.
struct power_step {
  double power = 0;  ///< b_k
  ///@{
  /// Mean, variance and effective number of log L there.
  double mean = 0, variance = 0, ess = 0;
  ///@}
  ///@{
  /// log mean exp((b_{k+1} - b_k) log L) and its standard error; 0 at power 1.
  double log_ratio = 0, error = 0;
  ///@}
};

/// log Z and how certain it is.
struct marginal_likelihood_estimate {
  double log_z = 0;  ///< by stepping stones
  /// Standard error: the larger of that from effective numbers of draws, and that between chains.
  double error = 0;
  ///@{
  /// By thermodynamic integration, and its standard error.
  double thermodynamic = 0, thermodynamic_error = 0;
  ///@}
  std::vector<double> by_chain;   ///< log_z of each chain alone
  std::vector<power_step> steps;  ///< in the order of the powers given
  bool agrees = true;             ///< whether both estimates are within three standard errors
  std::int64_t worst_step = -1;   ///< the step with the largest error
};

/// `log_likelihoods` are [chain][power][draw], powers falling from 1 to 0. Throws InvalidArgument for powers that do
/// not, for no chain, fewer than min_power_draws draws, different numbers of them, and values that are not finite.
/// O(draws log draws).
marginal_likelihood_estimate marginal_likelihood(std::span<const double> powers,
                                                 std::span<const std::vector<std::vector<double>>> log_likelihoods);

/// Words of Kass and Raftery (1995) for 2 log B, B > 1: "not worth more than a bare mention" below 2, "positive" below
/// 6, "strong" below 10, "very strong".
std::string_view evidence_in_words(double two_log_factor);

}  // namespace quintet::snp
