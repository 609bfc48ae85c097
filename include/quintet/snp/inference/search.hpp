// Maximum likelihood search over the topologies of networks: hill climbing with the moves of the sampler.
//
//   const auto found = snp::search_networks(data, {.max_reticulations = 2, .starts = 4});
//   for (const auto& level : found.levels) ... level.reticulations, level.log_likelihood, level.bic, level.network
//
// From every start a random tree is improved by subtree moves until `patience` new topologies in a row were no better;
// then reticulations are added one by one, the best of `patience` places each time, and the network is improved in the
// same way. Every topology is judged by the log-likelihood after optimise(). Hill climbing finds local maxima: that
// several starts end in one place is the only sign that there is no better one.
#pragma once

#include <cstdint>
#include <vector>

#include "quintet/snp/likelihood/likelihood.hpp"
#include "quintet/snp/likelihood/optimise.hpp"
#include "quintet/snp/markers/data.hpp"
#include "quintet/snp/network/model.hpp"
#include "quintet/snp/network/network.hpp"

namespace quintet::snp {

/// How networks are searched for.
struct search_options {
  std::int64_t max_reticulations = 2;  ///< R, 0 ... 20
  std::int64_t starts = 4;             ///< random trees to begin with, >= 1
  std::int64_t patience = 40;          ///< new topologies without a gain before a climb ends, >= 1
  double theta = 0.01;                 ///< of all branches at the start, > 0
  std::uint64_t seed = 1;              ///< all chance depends on it
  /// What is optimised at every topology, and how long at most; the winner of each level is optimised with ten times as
  /// many iterations.
  optimise_options optimise{.thetas = theta_parameters::common, .max_iterations = 50, .tolerance = 1e-3};
  snp::model model{};               ///< mutation
  likelihood_options likelihood{};  ///< device and limit
  progress_callback progress{};     ///< stage "search"; the fraction is that of the starts and levels
};

/// The best network with so many reticulations.
struct search_level {
  std::int64_t reticulations = 0;               ///< 0 ... R
  Network network;                              ///< with its parameters
  double log_likelihood = 0;                    ///< natural logarithm
  std::int64_t parameters = 0;                  ///< numbers that were optimised, as in optimise_result
  double aic = 0;                               ///< 2 parameters - 2 log L
  double bic = 0;                               ///< log(sites) parameters - 2 log L
  std::int64_t starts = 0;                      ///< of how many starts this is the result: same topology
  std::vector<parameter_at_bound> at_bounds{};  ///< parameters at an end of their range
};

/// What search_networks() found.
struct search_result {
  std::vector<search_level> levels;  ///< by number of reticulations
  std::int64_t topologies = 0;       ///< that were optimised
};

/// The search. Deterministic in data and options. Throws InvalidArgument for options out of range, fewer than two
/// species, or data of likelihood 0, Cancelled when the callback says so. Cost: an optimise() a topology.
search_result search_networks(const Data& data, const search_options& options = {});

}  // namespace quintet::snp
