// Starts for chains of networks that fit the data and are far from each other.
//
//   options.starts = snp::search_starts(data, prior, {.chains = 4});
//   snp::sampler chains(species, &data, prior, options);
//
// Draws from the prior are the safest starts, but chains then need long to come near. Here search_networks() runs for
// every chain from another random tree, with as many reticulations as the prior allows. Of its levels the chain takes
// the one with the least BIC, but rather another one than a topology that a chain before has. So chains begin in
// different topologies wherever the searches end in several.
//
// A maximum of the likelihood may have lengths of 0 and endless thetas. Lengths are therefore cut to 0.001 to 10 times
// the middle of the prior of the origin, and thetas to 1/20 to 5 times that of their prior. Gammas are cut to 0.05 to
// 0.95. Then a chain runs for `steps` steps in this topology, and its last state is the start.
#pragma once

#include <cstdint>
#include <vector>

#include "quintet/core/progress.hpp"
#include "quintet/snp/inference/priors.hpp"
#include "quintet/snp/likelihood/likelihood.hpp"
#include "quintet/snp/markers/data.hpp"
#include "quintet/snp/network/network_state.hpp"

namespace quintet::snp {

/// Options of search_starts().
struct start_options {
  std::int64_t chains = 4;          ///< number of starts, 1 ... 4096
  std::int64_t patience = 20;       ///< of the searches, 1 ... 10^6
  std::int64_t steps = 2000;        ///< of the chain in the topology that was found, 1 ... 10^9
  std::uint64_t seed = 1;           ///< all chance depends on it
  snp::model model{};               ///< u and v are those in the middle of the prior
  likelihood_options likelihood{};  ///< device and limit
  progress_callback progress{};     ///< stage "starts"; the fraction is that of the chains
};

/// A start for every chain, for sampler_options::starts. Deterministic in data, priors and options.
///
/// Throws InvalidArgument for options out of range and a prior for another number of species. Also if no level of a
/// search is in the class, keeps the constraints, and has a prior density > 0 (calibrations may exclude its heights).
/// Cancelled if the callback returns false. Cost: a search and `steps` steps for every chain.
std::vector<network_state> search_starts(const Data& data, const priors& prior, const start_options& options = {});

}  // namespace quintet::snp
