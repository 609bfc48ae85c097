// Maximum likelihood search over the topologies of networks: hill climbing with the moves of the sampler.
//
//   const auto found = snp::search_networks(data, {.max_reticulations = 2, .starts = 4});
//   for (const auto& level : found.levels) ... level.reticulations, level.log_likelihood, level.bic, level.network
//
// From every start subtree moves improve a random tree until `patience` new topologies in a row are no better. Then the
// search adds reticulations one by one, the best of `patience` places each time, and improves the network in the same
// way. It compares topologies by the log-likelihood after optimise(). Hill climbing finds local maxima: if several
// starts end in one place, that is the only sign that there is no better one.
//
// With lengths as parameters and one theta for all branches markers do not show the place of the root
// (quintet/snp/network/rooting.hpp), unless mutation is at the root alone. Then topologies are unrooted ones, each is
// optimised once, and the network of a result has the root that `outgroup` asks for, or that of least_rooting().
//
// Tens of species: search_options::composite climbs on the sum over all sets of three (or four) species of their
// log-likelihoods, composite.hpp. It starts from the tree that joins neighbours by pairwise distances; further starts
// take the distances of sites drawn again. Its neighbours are interchanges of subtrees and reticulations in all places.
// Least squares of the distances rank them, and the first `patience` new ones are optimised around the edit. There is
// one theta, so the root is not seen.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "quintet/snp/likelihood/likelihood.hpp"
#include "quintet/snp/likelihood/optimise.hpp"
#include "quintet/snp/markers/data.hpp"
#include "quintet/snp/network/model.hpp"
#include "quintet/snp/network/network.hpp"

namespace quintet::snp {

///@{
/// The most starts, and the most patience.
inline constexpr std::int64_t max_search_starts = 1'000'000, max_search_patience = 1'000'000;
///@}

/// Progress of a search.
struct search_status {
  ///@{
  /// Starts that have ended; reticulations of the climb that goes on; topologies that were optimised.
  std::int64_t start = 0, reticulations = 0, topologies = 0;
  ///@}
  double log_likelihood = 0;  ///< the best of this climb
  bool is_end = false;        ///< the climb with so many reticulations has ended
  double bic = 0;             ///< of `best`
  /// The network with the least BIC so far, with one tenth of the iterations that a result has. Valid during the call.
  const Network* best = nullptr;
};
/// Called after every topology, on the thread that called search_networks(). An exception of it ends the search.
using search_report = std::function<void(const search_status&)>;

/// Options of the search.
struct search_options {
  std::int64_t max_reticulations = 2;  ///< R, 0 ... 20
  std::int64_t starts = 4;             ///< random trees to begin with, 1 ... 10^6
  std::int64_t patience = 40;          ///< new topologies without a gain before a climb ends, 1 ... 10^6
  double theta = 0.01;                 ///< of all branches at the start, > 0
  std::uint64_t seed = 1;              ///< all chance depends on it
  /// 3 or 4: the composite log-likelihood of sets of so many species instead of that of all, for tens of species; 0:
  /// no.
  std::int64_t composite = 0;
  /// Parameters and effort at every topology; the winner of each level is optimised with ten times as many iterations.
  optimise_options optimise{.thetas = theta_parameters::common, .max_iterations = 50, .tolerance = 1e-3};
  snp::model model{};               ///< mutation
  likelihood_options likelihood{};  ///< device and limit
  /// Species that the root separates from the others: networks that cannot have it there are left out. Empty: any.
  std::vector<std::string> outgroup{};
  /// Stage "search"; the fraction is that of the starts, levels, and new topologies without a gain.
  progress_callback progress{};
  search_report report{};  ///< is given the best network so far
};

/// The best network with so many reticulations.
struct search_level {
  std::int64_t reticulations = 0;  ///< 0 ... R
  Network network;                 ///< with its parameters
  double log_likelihood = 0;       ///< natural logarithm
  std::int64_t parameters = 0;     ///< numbers that were optimised, as in optimise_result
  ///@{
  /// 2 parameters - 2 log L, log(sites) parameters - 2 log L; NaN for a composite likelihood.
  double aic = 0, bic = 0;
  ///@}
  std::int64_t starts = 0;                      ///< number of starts that ended in this topology
  std::int64_t rootings = 1;                    ///< places of the root with this likelihood; 1 where it is seen
  std::vector<parameter_at_bound> at_bounds{};  ///< parameters at an end of their range
  double truncation_bound = 0;                  ///< as in optimise_result
  ///@{
  /// With search_options::composite: over the level before, and its standard error where sites are independent.
  double gain = unset, gain_error = unset;
  ///@}
  /// With search_options::composite: branches that the last reticulation could join, counted as pairs.
  std::int64_t places = 0;
  /// With search_options::composite: by how much the extended BIC of the level before falls, (2 gain / gain_error)^2 -
  /// log(sites) - 2 log(places).
  double bic_gain = unset;
};

/// Result of search_networks().
struct search_result {
  std::vector<search_level> levels;  ///< by number of reticulations
  std::int64_t topologies = 0;       ///< that were optimised
  bool is_root_seen = true;          ///< false: topologies are unrooted ones, and their places of the root are equal
  bool is_composite = false;         ///< the log-likelihoods are composite ones
};

/// The level with the least BIC. In a composite search it is the last level up to which every bic_gain is > 0.
///
/// A composite gain counts every site in many sets, so its scale is unknown. Its ratio to its standard error does not
/// depend on that. Where gamma is 0, 2 gain / gain_error of one given place is about as large as a standard normal
/// number. So its square takes the part of a doubled gain of log-likelihood (Pace, Salvan, Sartori 2011). log(sites) is
/// BIC's price of gamma; lengths of the new branches mean nothing where gamma is 0. The best of many places pays for
/// their number too, as in the extended BIC (Chen, Chen 2008).
const search_level& best_level(const search_result& result);

/// The search. Deterministic in data and options. Throws InvalidArgument for options out of range, fewer than two
/// species, an outgroup that is no proper part of them, or data of likelihood 0, Cancelled if the callback returns
/// false. Levels end early where no network with one more reticulation is found that `outgroup` admits. Cost: an
/// optimise() a topology.
search_result search_networks(const Data& data, const search_options& options = {});

}  // namespace quintet::snp
