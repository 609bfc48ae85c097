// Convergence and effective sample sizes of chains of dependent draws.
//
//   const std::vector<std::vector<double>> chains = {{...}, {...}};  // one column of a run, one vector per chain
//   const double r = snp::split_rhat(chains);    // over 1.01: the chains do not agree
//   const double n = snp::ess_bulk(chains);      // so many independent draws estimate the median as well
//
// R-hat and effective sample sizes are those of Vehtari, Gelman, Simpson, Carpenter and Buerkner, "Rank-normalization,
// folding, and localization: an improved R-hat" (Bayesian Analysis 16:667, 2021). Chains are split in halves (of an odd
// number the middle draw is left out), and values are replaced by normal scores of their ranks. tracer_ess() is the
// number that Tracer shows for one chain.
//
// Chains have one length; under 4 draws per chain every answer is NaN, as for values that are all equal. All throw
// InvalidArgument for no chain, chains of different lengths, and a value that is not finite. Deterministic.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "quintet/core/compiler.hpp"

namespace quintet::snp {

/// Draws of one number, one vector per chain.
using chain_values = std::span<const std::vector<double>>;

/// Convergence: the larger of R-hat of the normal scores of x and of |x - median|. 1 is perfect, over 1.01 chains do
/// not agree; infinity if each chain stands still, at different places. O(S log S) for S draws.
double split_rhat(chain_values chains);

///@{
/// Effective sample size for the centre (normal scores), for the tails (the lesser of those of x <= 5 % quantile and
/// x <= 95 % quantile) and for the mean (the values themselves). O(S log S + S t), t the autocorrelation time.
double ess_bulk(chain_values chains);
double ess_tail(chain_values chains);
double ess_mean(chain_values chains);
///@}

/// Effective sample size of one chain as Tracer has it: autocovariances with divisor N - t, pairs of lags added until a
/// pair is not positive, at most 2000 lags.
double tracer_ess(std::span<const double> chain);

/// Two ends, low <= high.
struct interval {
  ///@{
  /// The ends.
  double low, high;
  ///@}
};

/// The shortest interval with ceil(mass S) of the S values; the lowest of several. Throws InvalidArgument for no value
/// or mass not in (0, 1]. O(S log S).
interval shortest_interval(std::vector<double> values, double mass = 0.95);

/// Summary of one column of a run.
struct column_summary {
  ///@{
  /// Of all draws together; sd with divisor S - 1.
  double mean, sd, median;
  ///@}
  interval hpd95;  ///< shortest_interval() of all draws
  ///@{
  /// As the functions of these names have them.
  double ess_bulk, ess_tail, rhat;
  ///@}
  double mcse;  ///< standard error of the mean: sd / sqrt(ess_mean)
};

/// All of it.
column_summary summarise(chain_values chains);

/// Average standard deviation (divisor C - 1) over the C chains of the frequencies of things that have at least the
/// frequency `min` in one of them: 0 if the chains agree, under 0.01 by custom. `frequencies` has the frequency of each
/// thing for every chain. 0 if nothing is that frequent; NaN for fewer than two chains.
double frequency_deviation(std::span<const std::map<std::string, double>> frequencies, double min = 0.1);

/// Standard normal quantile of p in (0, 1), to a few units in the last place.
double normal_quantile(double p);

}  // namespace quintet::snp
