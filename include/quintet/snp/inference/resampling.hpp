// Standard errors of maximum likelihood estimates: bootstrap and jackknife over blocks of sites.
//
//   const auto found = snp::resample(network, data, {.replicates = 100, .block_sites = 50});
//   const auto gamma = snp::summarise_parameter(found, snp::resampled_parameter::gamma, branch);
//   gamma.standard_error, gamma.low, gamma.high
//
// Sites near each other are linked, so whole blocks are drawn: runs of consecutive sites, or loci. A bootstrap draws as
// many blocks as there are, with replacement. A jackknife leaves out each block once. Every replicate is optimised from
// the parameters of the network, which should be the maximum for all sites.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "quintet/snp/inference/search.hpp"
#include "quintet/snp/likelihood/likelihood.hpp"
#include "quintet/snp/likelihood/optimise.hpp"
#include "quintet/snp/markers/data.hpp"
#include "quintet/snp/network/model.hpp"
#include "quintet/snp/network/network.hpp"

namespace quintet::snp {

/// How blocks are chosen.
enum class resampling_method {
  bootstrap,  ///< as many blocks as there are, drawn with replacement
  jackknife,  ///< all blocks but one
};

/// The most replicates.
inline constexpr std::int64_t max_replicates = 1'000'000;

/// How estimates are repeated.
struct resampling_options {
  resampling_method method = resampling_method::bootstrap;  ///< how blocks are chosen
  std::int64_t replicates = 100;  ///< of the bootstrap, 2 ... 10^6; a jackknife has one for each block
  std::int64_t block_sites = 1;   ///< consecutive sites of a block, >= 1
  /// The block of every site given, any numbers; replaces block_sites. io::snp_input::locus_of_site is one.
  std::vector<std::int64_t> block_of_site{};
  std::uint64_t seed = 1;       ///< with the number of the replicate all that chance depends on
  optimise_options optimise{};  ///< of every replicate; its progress is not called
  /// 3 or 4: of every replicate optimise_composite() of sets of so many species; 0: optimise(). resample() alone.
  std::int64_t composite = 0;
  snp::model model{};               ///< mutation and corrections
  likelihood_options likelihood{};  ///< of every replicate
  progress_callback progress{};     ///< stage "resample"; the fraction is that of the replicates
};

/// Estimates of all replicates.
struct resampling_result {
  resampling_method method = resampling_method::bootstrap;  ///< that was asked for
  std::int64_t blocks = 0;                                  ///< that the data have
  std::int64_t converged = 0;                               ///< replicates that reached a maximum
  Network estimate;                                         ///< the network as given
  std::vector<Network> replicates;  ///< with their parameters; nodes and branches as in the estimate
};

/// Repeats optimise(), or optimise_composite(), on chosen blocks of sites. Deterministic. Throws InvalidArgument for
/// options out of range, fewer than two blocks, data that were given weights, and as optimise() or
/// optimise_composite(); Cancelled. Cost: one of these a replicate.
resampling_result resample(const Network& network, const Data& data, const resampling_options& options = {});

/// How often something is in the best networks of the replicates.
struct resampling_support {
  std::string name;  ///< a topology_key(), species with commas between, or hybrid <- parent | parent
  double share = 0;  ///< of the replicates
};

/// Searches of all replicates. Lists fall by share.
struct resampled_search {
  std::int64_t blocks = 0;                     ///< that the data have
  std::vector<Network> networks;               ///< of each replicate the one with the least BIC
  std::vector<resampling_support> topologies;  ///< unrooted_key() where the root is not seen
  ///@{
  /// Clusters by their weights in displayed trees, and hybrid events; both depend on the root.
  std::vector<resampling_support> clusters, hybrid_events;
  ///@}
};

/// Repeats search_networks() on chosen blocks of sites: `method`, `replicates`, blocks, `seed` and `progress` of
/// `resampling`, all else of `search`. Deterministic. Throws as both. Cost: a search a replicate.
resampled_search resample_search(const Data& data, const search_options& search,
                                 const resampling_options& resampling = {});

/// A number of a branch.
enum class resampled_parameter { length, theta, gamma };

/// How far an estimate may be off.
struct parameter_error {
  double estimate = 0;  ///< with all sites
  double mean = 0;      ///< of the replicates
  /// Bootstrap: standard deviation of the replicates. Jackknife: sqrt((g - 1) / g sum (x - mean)^2) over g blocks.
  double standard_error = 0;
  ///@{
  /// 95 % interval. Bootstrap: quantiles of the replicates. Jackknife: 1.96 standard errors around the estimate.
  double low = 0, high = 0;
  ///@}
};
/// Of one parameter of a branch. Throws InvalidArgument for a branch that does not exist. O(R log R).
parameter_error summarise_parameter(const resampling_result& result, resampled_parameter parameter,
                                    std::int64_t branch);

}  // namespace quintet::snp
