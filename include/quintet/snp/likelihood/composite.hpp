// Composite likelihood: the sum over small sets of species of the exact log-likelihood of the network restricted to
// them. It costs little where the likelihood of all species together is out of reach.
//
//   const auto found = snp::composite_log_likelihood(network, data, model);
//   found.log_likelihood
//
// It is no likelihood: sites come once for every set, so AIC, BIC and likelihood ratios do not hold. Standard errors
// need a bootstrap of blocks. Networks with the same data do compare by it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "quintet/core/progress.hpp"
#include "quintet/snp/likelihood/likelihood.hpp"
#include "quintet/snp/likelihood/optimise.hpp"
#include "quintet/snp/markers/data.hpp"
#include "quintet/snp/network/model.hpp"
#include "quintet/snp/network/network.hpp"

namespace quintet::snp {

/// Sets of species, and how each is computed.
struct composite_options {
  std::int64_t size = 3;            ///< species of a set: 3, or 4
  likelihood_options likelihood{};  ///< of each set
  progress_callback progress{};     ///< stage "composite"; the fraction is that of the sets
};

/// One set of species.
struct composite_term {
  std::vector<std::string> species;  ///< in the order of the data
  double log_likelihood = 0;         ///< of their counts, all other species without copies
  double truncation_bound = 0;       ///< how much larger the exact log-likelihood is at most
};

/// All sets.
struct composite_result {
  double log_likelihood = 0;          ///< the sum
  std::vector<composite_term> terms;  ///< of the sets that count
  std::int64_t skipped = 0;           ///< sets with a species that has no copies at any site
  double truncation_bound = 0;        ///< how much larger the exact sum is at most
};

/// The composite log-likelihood. Corrections of the model (polymorphic_only, ordered_data) are those of each set.
/// Throws InvalidArgument for another size, fewer species than that or than have copies, unseen sites, and as
/// Likelihood; NetworkError, Cancelled. Cost: C(species, size) likelihoods of few copies.
composite_result composite_log_likelihood(const Network& network, const Data& data, const model& model = {},
                                          const composite_options& options = {});

/// A network at a maximum of its composite log-likelihood, and how it was reached.
struct composite_optimum {
  Network network;          ///< with the parameters of the maximum
  optimise_result outcome;  ///< log-likelihoods are composite ones, so aic() and bic() do not hold; no truncation bound
};

/// Climbs from the parameters of the network to a maximum, as optimise() does. All branches and the root have one
/// theta. The tolerance is multiplied by sets / species, because a site is in many sets. Curvature shows no standard
/// errors, because sites come once for every set: resample() does. Throws InvalidArgument for different thetas,
/// theta_parameters::each, and as optimise() and composite_log_likelihood(). Cost: some composite log-likelihoods an
/// iteration.
composite_optimum optimise_composite(const Network& network, const Data& data, const optimise_options& climb = {},
                                     const model& model = {}, const composite_options& options = {});

}  // namespace quintet::snp
