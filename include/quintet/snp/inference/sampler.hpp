// Bayesian inference of species networks from biallelic markers: Markov chain Monte Carlo over networks of any number
// of reticulations up to R.
//
//   const snp::priors prior(snp::parse_priors("theta = each gamma(2,20)"), 4);
//   snp::sampler chains(species, &data, prior, {.chains = 4, .iterations = 100000, .burn_in = 10000});
//   while (!chains.is_done()) {
//     chains.advance();
//     for (const auto& chain : chains.take_samples()) ...
//   }
//
// A step chooses a move by its weight, proposes, and accepts with min(1, exp(beta dlogL + dlog prior + log Hastings)).
// Every chain has a Likelihood of its own: what changes parameters of a topology is a proposal to it, what changes the
// topology makes a new one, whose plan comes from a cache of the process when the topology was met before.
//
// *Temperatures* (MC3): a chain is a ladder of walkers with beta_i = 1 / (1 + heat i) on the likelihood alone; every
// swap_every steps one neighbouring pair is exchanged with min(1, exp((beta_i - beta_j)(logL_j - logL_i))). Only the
// walker at beta = 1 is sampled. heat is tuned in burn-in so that 30 % of the exchanges are accepted; where chains
// start at local maxima far apart that makes all temperatures cold, and a heat that stays lets the hot ones leave them.
//
// *Delayed acceptance*: a proposal is first tried with a cheap likelihood L*, of the most frequent patterns with their
// weights scaled up, min(1, prior ratio [L*(y) / L*(x)]^beta e^H); what passes is accepted with
// min(1, ([L(y) / L(x)] [L*(x) / L*(y)])^beta). The posterior is that of L, whatever L* is.
//
// *Bits.* Step t of walker w draws from random_stream(seed, 2^40 w + t), and exchanges from a stream of their own;
// there is no other state of chance. At every step divisible by 1000 likelihoods are computed anew from the states,
// because a proposal's last bits depend on the proposals before it; only there snapshot() may be taken. So the same
// samples come from any number of threads, and from a run that was stopped and went on.
//
// *Tuning*: in burn-in log width += (accepted - target) / (1 + t)^0.6 after the t-th trial; then widths are frozen.
//
// Memory: a walker holds one Likelihood, two while a topology is tried (see Likelihood::size()), and the cache of plans
// at most 64 MB for all; samples are kept until they are taken, some 100 bytes per node each.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "quintet/core/process_group.hpp"
#include "quintet/core/progress.hpp"
#include "quintet/snp/inference/priors.hpp"
#include "quintet/snp/likelihood/likelihood.hpp"
#include "quintet/snp/markers/data.hpp"
#include "quintet/snp/network/network_state.hpp"

namespace quintet::snp {

/// How chains are run.
struct sampler_options {
  std::int64_t chains = 1;               ///< independent ones, >= 1
  std::int64_t temperatures = 1;         ///< walkers of a chain, >= 1
  double heat = 0.1;                     ///< between two temperatures at the start, > 0
  bool tune_heat = true;                 ///< in burn-in
  std::int64_t iterations = 100000;      ///< steps of a walker, burn-in included, >= 1
  std::int64_t burn_in = 10000;          ///< steps that tune and are not sampled, 0 ... iterations
  std::int64_t sample_every = 100;       ///< steps from sample to sample, >= 1
  std::int64_t swap_every = 100;         ///< steps from exchange to exchange, a divisor of 1000
  std::uint64_t seed = 1;                ///< all chance depends on it
  std::int64_t threads = 0;              ///< that walkers share, >= 0; 0: quintet::threads()
  std::optional<network_state> start{};  ///< of all walkers; without one, draws from the prior
  ///@{
  /// Parts that stay as they are in `start`, which must be given: nodes and branches (heights stay free); heights of
  /// all nodes below the origin (with the topology only); the origin; thetas; gammas; pi1, d and q.
  bool fix_topology = false, fix_heights = false, fix_origin = false, fix_theta = false, fix_gamma = false,
       fix_rates = false;
  ///@}
  /// Replaces weights of moves by name; those of weight 0 are never tried. Throws for a name that is no move here.
  std::map<std::string, double> weights{};
  bool delayed_acceptance = false;  ///< with the likelihood of frequent patterns
  double frequent_share = 0.1;      ///< of the patterns, in (0, 1]
  /// Another log L* for delayed acceptance; must be a function of the state alone and is called by several threads.
  std::function<double(const network_state&)> surrogate{};
  snp::model model{};                                       ///< u and v are those of the state
  likelihood_options likelihood{.device = Device::host()};  ///< device and limit of each Likelihood
  /// Processes that run the chains together: walker w begins in process w mod P, and exchanges move temperatures from
  /// walker to walker, not walkers from process to process. The samples are those of one process, bit for bit. Each
  /// exchange takes 8 bytes per walker, and about 100 bytes per move where temperatures change the process. Members
  /// that say so are then collective. Of more processes than walkers those with the same number mod W share the
  /// patterns of a walker; each likelihood then gathers 8 bytes per pattern. Null: this process alone.
  std::shared_ptr<process_group> shared_by{};
};

/// A state that was sampled.
struct sampled_state {
  std::int64_t step = 0;      ///< after which step
  network_state state;        ///< where the chain was
  double log_likelihood = 0;  ///< 0 without data
  prior_parts prior;          ///< log densities
};

/// What became of the proposals of a move.
struct move_record {
  std::string name;  ///< as move::name()
  ///@{
  /// Times chosen; accepted; chosen where there was nothing to propose.
  std::int64_t tried = 0, accepted = 0, not_applicable = 0;
  ///@}
  double width = 0;    ///< now; 0 for moves without one
  double seconds = 0;  ///< since this object was made: not part of a snapshot
};

/// Exchanges between neighbouring temperatures of a chain.
struct exchange_record {
  ///@{
  /// Tried and accepted.
  std::int64_t tried = 0, accepted = 0;
  ///@}
  double heat = 0;  ///< now
};

/// Everything that a sampler needs to go on.
struct sampler_snapshot {
  std::int64_t step = 0;             ///< a multiple of 1000
  std::vector<double> numbers;       ///< states, widths, heats
  std::vector<std::int64_t> counts;  ///< of moves and exchanges
};

/// Chains that advance together. An object serves one thread at a time.
class sampler {
 public:
  /// `data` may be null: the chains then sample the prior, which must be proper. `species` are the leaves of all
  /// states, those of the data in their order. Data and priors are used as long as the object lives, the priors as
  /// copies. Makes the starts and evaluates them. Throws InvalidArgument for options out of range, another number of
  /// species, data in which no site is polymorphic, a start that breaks a rule, is outside the class or has prior or
  /// likelihood 0, parts fixed without a start, and when 1000 draws in a row have likelihood 0.
  sampler(std::shared_ptr<const std::vector<std::string>> species, const Data* data, const priors& prior,
          sampler_options options = {});
  ~sampler();
  sampler(const sampler&) = delete;
  sampler& operator=(const sampler&) = delete;

  /// Runs all walkers to the next step that is divisible by 1000, or to the end. `callback` gets the stage "sample"
  /// and its finished part, burn-in included, at every exchange; when it says stop, Cancelled is thrown. After that,
  /// and after an exception of a poll, of memory or of a surrogate, the object must not be used but for take_samples()
  /// and restore(). Throws Error when a recomputed log-likelihood differs by more than 1e-6. Collective.
  void advance(const progress_callback& callback = {});
  /// Steps done.
  std::int64_t step() const;
  /// All iterations are done.
  bool is_done() const { return step() >= options().iterations; }
  /// The samples since the last call, by chain. Collective: process 0 gets those of all, the others none.
  std::vector<std::vector<sampled_state>> take_samples();

  /// Where things stand, to be given to restore() of a sampler with the same arguments (iterations may differ). Throws
  /// InvalidArgument when step() is not divisible by 1000. Collective: every process gets all of it, and any number of
  /// processes may go on from it.
  sampler_snapshot snapshot() const;
  /// Goes back, or forth, to a snapshot. Throws InvalidArgument for one that does not fit. Collective.
  void restore(const sampler_snapshot& from);

  /// Moves of the sampled walker of every chain, [chain][move]. Collective; every process gets them.
  std::vector<std::vector<move_record>> moves() const;
  /// Exchanges by chain.
  std::vector<exchange_record> exchanges() const;
  /// Where the sampled walker of a chain is now. Throws InvalidArgument for a chain that does not exist. Collective;
  /// every process gets it.
  sampled_state current(std::int64_t chain) const;
  /// As given.
  const sampler_options& options() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Names of the columns of a trace, in the order of trace_row(): Sample, posterior, likelihood, prior, reticulations,
/// root_height, origin, network_length (without the root branch), theta_mean (of all branches), theta_root,
/// theta_<species>, pi1, u, v, lambda, nu, level, bubbles.
std::vector<std::string> trace_columns(const std::vector<std::string>& species);
/// The numbers of one sample. O(nodes^2).
std::vector<double> trace_row(const sampled_state& sample, const priors& prior);

/// The data of the most frequent patterns, ceil(share x patterns) of them (of equal weights the first), their weights
/// scaled up so that the sum stays. Throws InvalidArgument for share not in (0, 1]. O(patterns log patterns).
Data frequent_patterns(const Data& data, double share);

}  // namespace quintet::snp
