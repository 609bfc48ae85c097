// Posterior-predictive checks: whether data simulated from draws of the posterior look like the data.
//
//   std::vector<snp::predictive_draw> draws;   // networks and rates of some samples
//   for (const auto& statistic : snp::predictive_check(data, draws, model))
//     if (statistic.p < 0.025 || statistic.p > 0.975) ...   // the model does not explain it
//
// Every draw simulates as many sites with the same copies. Statistics are the number of different patterns, and f4 of
// every four species in its three orders. A model may be right about all of them and wrong elsewhere.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "quintet/snp/markers/data.hpp"
#include "quintet/snp/network/model.hpp"
#include "quintet/snp/network/network.hpp"

namespace quintet::snp {

/// A draw of the posterior, with lengths in expected mutations.
struct predictive_draw {
  Network network;  ///< its leaves are the species of the data
  ///@{
  /// Rates of mutation, > 0.
  double u = 1, v = 1;
  ///@}
};

/// A number of the data and of simulated ones.
struct predictive_statistic {
  std::string name;     ///< "patterns", or "f4(A, B; C, D)"
  double observed = 0;  ///< of the data
  ///@{
  /// Mean and standard deviation over the draws.
  double mean = 0, sd = 0;
  ///@}
  double p = 0;  ///< share of the draws with more, those with as much counted half
};

/// All statistics. Simulates under `model`: plain, or polymorphic_only. Deterministic in the seed. Throws
/// InvalidArgument for other parts of a model, dominant markers, weights that are no whole numbers, fewer than two
/// draws, and as simulate_sites(); NetworkError for other species. Cost: that of draws x sites simulated, and O(draws
/// sites species^4).
std::vector<predictive_statistic> predictive_check(const Data& data, std::span<const predictive_draw> draws,
                                                   const model& model = {}, std::uint64_t seed = 1);

}  // namespace quintet::snp
