// Simulation of biallelic markers on a network, and of networks from the birth-hybridization process: exact, and a pure
// function of the seed.
//
//   const snp::Data data = snp::simulate(network, {.copies = {2, 2, 2}, .sites = 1000, .seed = 1});
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "quintet/snp/inference/priors.hpp"
#include "quintet/snp/markers/data.hpp"
#include "quintet/snp/network/model.hpp"
#include "quintet/snp/network/network.hpp"
#include "quintet/snp/network/network_state.hpp"

namespace quintet::snp {

/// Options of a simulation.
struct simulate_options {
  /// Gene copies of every species in the order of Network::species(), each >= 0, the sum >= 1 and <= 8000.
  std::vector<std::int64_t> copies;
  ///@{
  /// Rates of mutation as in snp::model, finite and > 0.
  double u = 1, v = 1;
  ///@}
  std::int64_t sites = 1000;      ///< 1 ... 10^9
  std::uint64_t seed = 1;         ///< with the site's number all that chance depends on
  bool polymorphic_only = false;  ///< a site is made again until both alleles show
};

/// Counts of allele 1, row-major [sites, species], in the order of Network::species().
struct simulated_sites {
  std::vector<std::int16_t> red;       ///< 0 ... copies of the species
  std::vector<std::int64_t> attempts;  ///< of every site; 1 unless polymorphic_only
};

/// Site s uses random_stream(seed, s). So the counts are the same for any number of threads, and the first sites of a
/// longer run are those of a shorter one. Lineages go from the leaves to the root:
///
/// - on a branch with j >= 2 of them wait Exp(rate j (j-1) / theta) up to its top, then a uniform pair merges;
/// - at a reticulation each goes up branch y with chance gamma_y;
/// - above the root they merge until one is left.
///
/// Then alleles go down: 1 with chance v / (u + v) at the top, after time t P(1) = p + (state - p) exp(-(u + v) t).
/// Throws InvalidArgument for options out of range, and for polymorphic_only if a site shows one allele in 1e6 tries.
/// Memory: 2 bytes per site and species, 8 per site.
simulated_sites simulate_sites(const Network& network, const simulate_options& options);
/// The same as data for a Likelihood.
Data simulate(const Network& network, const simulate_options& options);

/// A network from the birth-hybridization process with these fixed rates: n named lineages at height 0 and r <= R.
/// priors.hpp has its density. Exact, by simulation of the process conditioned on its end; no rejection. All thetas are
/// options.theta.a or drawn. Same as priors::draw() with the stream random_stream(seed, number).
network_state simulate_network(const prior_options& options, std::shared_ptr<const std::vector<std::string>> species,
                               const network_limits& limits, std::uint64_t seed, std::uint64_t number);

}  // namespace quintet::snp
