// Maximum likelihood on a fixed topology: branch lengths, thetas and inheritance probabilities.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "quintet/core/progress.hpp"
#include "quintet/snp/likelihood/likelihood.hpp"

namespace quintet::snp {

/// Which thetas are parameters.
enum class theta_parameters {
  fixed,   ///< none
  each,    ///< one for every branch and one for the root
  common,  ///< one for all branches and the root; starts at the geometric mean of the present thetas
};

///@{
/// The most iterations of a climb, and the most climbs.
inline constexpr std::int64_t max_optimise_iterations = 1'000'000'000, max_optimise_starts = 1'000'000;
///@}

/// Which parameters optimise() moves, in which ranges, and when it ends.
struct optimise_options {
  bool lengths = true;                               ///< whether branch lengths are parameters
  theta_parameters thetas = theta_parameters::each;  ///< which thetas are
  bool gammas = true;                                ///< whether inheritance probabilities are
  std::int64_t max_iterations = 200;                 ///< 1 ... 10^9
  /// Done when two steps in a row gain less than this log-likelihood, and their quadratic model promises less; finite,
  /// > 0. 1e-6 is far below the resolution of the data and above the rounding of the sum.
  double tolerance = 1e-6;
  ///@{
  /// Ranges of the parameters, 0 < least < most (gamma < 1). A start outside is moved to the nearest end.
  double min_length = 1e-8, max_length = 1e3, min_theta = 1e-8, max_theta = 1e3;
  ///@}
  double min_gamma = 1e-6;  ///< gamma is in [min_gamma, 1 - min_gamma], < 1/2
  /// Climbs, 1 ... 10^6: the first one from the parameters of the likelihood, the others from lengths and thetas
  /// multiplied by random factors between 1/10 and 10 and gammas in (0.05, 0.95).
  std::int64_t starts = 1;
  std::uint64_t seed = 1;           ///< all chance of the starts depends on it
  progress_callback progress = {};  ///< stage "optimise"; the fraction is that of max_iterations in all climbs
};

/// A parameter that optimise() left at an end of its range, or within a factor of ten of it. The data do not support
/// that branch or edge, or ask for a value outside the range.
struct parameter_at_bound {
  std::string name;      ///< as "length of branch from node 3 "A" to node 5"
  double value = 0;      ///< its value
  bool is_lower = true;  ///< the lower end
};

/// Result of optimise().
struct optimise_result {
  ///@{
  /// Log-likelihood at the start and at the end.
  double start = 0, log_likelihood = 0;
  ///@}
  ///@{
  /// Steps of L-BFGS, and evaluations of the log-likelihood for them.
  std::int64_t iterations = 0, evaluations = 0;
  ///@}
  /// False: the iterations were used up, or no further step led upwards although the gradient promised one.
  bool converged = false;
  /// Numbers that were optimised. Without a theta for every branch the two lengths at the root count as one.
  std::int64_t parameters = 0;
  std::vector<parameter_at_bound> at_bounds;  ///< of the best climb
  std::vector<double> ends;     ///< log-likelihood that each start reached; -infinity where the start itself had it
  double truncation_bound = 0;  ///< how much larger the exact log-likelihood of the end is at most
};

///@{
/// Akaike's and Schwarz's criteria, the smaller the better: 2 parameters - 2 log L, log(sites) parameters - 2 log L.
double aic(double log_likelihood, std::int64_t parameters);
double bic(double log_likelihood, std::int64_t parameters, double sites);
///@}

/// Climbs from the parameters of `likelihood` to a local maximum and leaves it there; earlier proposals are accepted.
/// The method is L-BFGS in the logarithms of lengths and thetas and the logits of gammas, with Likelihood::gradient().
/// A length of 0 and a gamma of 0 or 1 move to the ends of their ranges. A parameter near an end, where the slope in
/// logarithms vanishes, is released if the likelihood rises inwards. A parameter without any information in the data
/// (theta above a single copy) stays as it is. Deterministic.
///
/// A network has several maxima, and the curve between a length and a theta may be flat: take several starts. The best
/// of them is kept; iterations and evaluations are those of all. Throws InvalidArgument for options out of range,
/// nothing to optimise, or a start with log-likelihood -infinity, Cancelled when the callback asks for it (the best
/// point so far is then accepted), OutOfMemory, DeviceError. Cost: a gradient() and one or more evaluate() an
/// iteration; optimise_result has their numbers.
optimise_result optimise(Likelihood& likelihood, const optimise_options& options = {});

}  // namespace quintet::snp
