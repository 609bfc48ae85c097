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
// Every chain has a separate Likelihood. A move of parameters is a proposal to it. A move of the topology makes a new
// one; its plan comes from a cache of the process if the topology occurred before.
//
// *Temperatures* (MC3): a chain is a ladder of walkers with beta_i = 1 / (1 + heat i) on the likelihood alone. Every
// swap_every steps neighbours are exchanged with min(1, exp((beta_i - beta_j)(logL_j - logL_i))): the pairs that begin
// at an even place, the next time those at an odd one (Syed et al. 2022). A walker then goes on in one direction until
// an exchange is rejected, so that it passes T temperatures in some T exchanges, not T^2. Only the walker at beta = 1
// is sampled. Burn-in tunes heat so that 30 % of the exchanges are accepted. If chains start at distant local maxima,
// tuning removes all heating; a fixed heat lets hot chains escape.
//
// *Delayed acceptance*: a proposal first meets a cheap likelihood L*, that of the most frequent patterns with their
// weights scaled up: min(1, prior ratio [L*(y) / L*(x)]^beta e^H). If it passes, it is accepted with min(1, ([L(y) /
// L(x)] [L*(x) / L*(y)])^beta). The posterior is that of L, whatever L* is.
//
// *Bits.* Step t of walker w draws from random_stream(seed, 2^40 w + t), and exchanges from a separate stream; no other
// random state exists. At every step divisible by 1000 likelihoods are computed again from the states, because a
// proposal's last bits depend on the proposals before it. Only there may you take a snapshot(). So the samples are the
// same for any number of threads, and for a run that was stopped and resumed.
//
// *Tuning*: in burn-in log width += (accepted - target) / (1 + t)^0.6 after the t-th trial; then widths are frozen.
// The move "joint" also learns in burn-in: for each topology the covariance of all free numbers in logarithms and
// logits, from every fifth state. It changes them together by a normal step with 2.38^2 / d times this covariance
// (Haario, Saksman, Tamminen 2001), which then is frozen too. Topologies that burn-in saw too little of are left to the
// other moves.
//
// Memory: a walker holds one Likelihood, or two while it tries a topology (see Likelihood::size()). The cache of plans
// takes at most 64 MB for all. A walker keeps at most 16 covariances of d (d + 1) / 2 numbers, with their factors.
// Samples are kept until you take them, some 100 bytes per node each.
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

/// Options of the chains.
struct sampler_options {
  std::int64_t chains = 1;        ///< independent ones, >= 1
  std::int64_t temperatures = 1;  ///< walkers of a chain, >= 1
  double heat = 0.1;              ///< between two temperatures at the start, > 0
  bool tune_heat = true;          ///< in burn-in
  /// Powers of the likelihood at the temperatures, instead of 1 / (1 + heat i): as many, falling from 1, >= 0.
  /// take_log_likelihoods() then has what marginal_likelihood() needs. Empty: heat.
  std::vector<double> powers{};
  std::int64_t iterations = 100000;      ///< steps of a walker, burn-in included, >= 1
  std::int64_t burn_in = 10000;          ///< steps that tune and are not sampled, 0 ... iterations
  std::int64_t sample_every = 100;       ///< steps from sample to sample, >= 1
  std::int64_t swap_every = 100;         ///< steps from exchange to exchange, a divisor of 1000
  std::uint64_t seed = 1;                ///< all chance depends on it
  std::int64_t threads = 0;              ///< that walkers share, >= 0; 0: quintet::threads()
  std::optional<network_state> start{};  ///< of all walkers; without one, draws from the prior
  /// Instead of `start`: one for the walkers of each chain, see search_starts(). Empty, or as many as chains.
  std::vector<network_state> starts{};
  ///@{
  /// Parts that stay as they are in `start` or `starts`, which must be set. fix_topology: nodes and branches (heights
  /// stay free). fix_heights: heights of all nodes below the origin (with the topology only). The others: the origin;
  /// thetas; gammas; pi1, d, q and the rate of the clock.
  bool fix_topology = false, fix_heights = false, fix_origin = false, fix_theta = false, fix_gamma = false,
       fix_rates = false;
  ///@}
  /// Replaces weights of moves by name; a move of weight 0 is never tried. Throws for an unknown name.
  std::map<std::string, double> weights{};
  bool delayed_acceptance = false;  ///< with the likelihood of frequent patterns
  double frequent_share = 0.1;      ///< of the patterns, in (0, 1]
  /// Another log L* for delayed acceptance. It must depend on the state alone, and several threads call it.
  std::function<double(const network_state&)> surrogate{};
  snp::model model{};                                       ///< u and v are those of the state
  likelihood_options likelihood{.device = Device::host()};  ///< device and limit of each Likelihood
  /// Processes that run the chains together: walker w begins in process w mod P. Exchanges move temperatures from
  /// walker to walker, not walkers from process to process. The samples are those of one process, bit for bit. Each
  /// exchange takes 8 bytes per walker, and about 100 bytes per move and the covariances if temperatures change the
  /// process. Members that say so are then collective. If there are more processes than walkers, those with the same
  /// number mod W share the patterns of a walker; each likelihood then gathers 8 bytes per pattern. Null: this process
  /// alone.
  std::shared_ptr<process_group> shared_by{};
};

/// A state that was sampled.
struct sampled_state {
  std::int64_t step = 0;      ///< after which step
  network_state state;        ///< where the chain was
  double log_likelihood = 0;  ///< 0 without data
  prior_parts prior;          ///< log densities
};

/// Counts of the proposals of a move.
struct move_record {
  std::string name;  ///< as move::name()
  ///@{
  /// Times chosen; accepted; chosen without a possible proposal.
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
  /// Walkers that came back to beta = 1 after they had been at the hottest temperature. What they bring is new to the
  /// sampled chain, so their number is the one to raise, by temperatures or heat.
  std::int64_t round_trips = 0;
};

/// The state that a sampler needs to continue.
struct sampler_snapshot {
  std::int64_t step = 0;             ///< a multiple of 1000
  std::vector<double> numbers;       ///< states, widths, what moves learnt, heats
  std::vector<std::int64_t> counts;  ///< of moves and exchanges
};

/// Chains that advance together. An object serves one thread at a time.
class sampler {
 public:
  /// `data` may be null: the chains then sample the prior, which must be proper. `species` are the leaves of all
  /// states, those of the data in their order. The object refers to the data and copies the priors. Makes the starts
  /// and evaluates them.
  ///
  /// Throws InvalidArgument for options out of range, another number of species, data without a polymorphic site, parts
  /// fixed without a start, and if 1000 draws in a row have likelihood 0. Also for a start that breaks a rule, is
  /// outside the class or has prior or likelihood 0.
  sampler(std::shared_ptr<const std::vector<std::string>> species, const Data* data, const priors& prior,
          sampler_options options = {});
  ~sampler();
  sampler(const sampler&) = delete;
  sampler& operator=(const sampler&) = delete;

  /// Runs all walkers to the next step that is divisible by 1000, or to the end. `callback` gets the stage "sample" and
  /// its finished part, burn-in included, at every exchange; if it returns stop, the call throws Cancelled. After that,
  /// and after an exception of a poll, of memory or of a surrogate, the object may only be used for take_samples() and
  /// restore(). Throws Error if a recomputed log-likelihood differs by more than 1e-6. Collective.
  void advance(const progress_callback& callback = {});
  /// Steps done.
  std::int64_t step() const;
  /// All iterations are done.
  bool is_done() const { return step() >= options().iterations; }
  /// The samples since the last call, by chain. Collective: process 0 gets those of all processes, the others get empty
  /// vectors.
  std::vector<std::vector<sampled_state>> take_samples();

  /// With powers: log-likelihoods of all temperatures since the last call, [chain][temperature][draw], at the steps of
  /// the samples. They are not part of a snapshot. Collective; every process gets them.
  std::vector<std::vector<std::vector<double>>> take_log_likelihoods();

  /// The state of the run, for restore() of a sampler with the same arguments (iterations may differ). Throws
  /// InvalidArgument if step() is not divisible by 1000. Collective: every process gets all of it, and any number of
  /// processes may continue from it.
  sampler_snapshot snapshot() const;
  /// Goes to a snapshot, before or after the present step. Throws InvalidArgument for one that does not fit.
  /// Collective.
  void restore(const sampler_snapshot& from);

  /// Moves of the sampled walker of every chain, [chain][move]. Collective; every process gets them.
  std::vector<std::vector<move_record>> moves() const;
  /// Exchanges by chain.
  std::vector<exchange_record> exchanges() const;
  /// The present state of the sampled walker of a chain. Throws InvalidArgument for a chain that does not exist.
  /// Collective; every process gets it.
  sampled_state current(std::int64_t chain) const;
  /// As given.
  const sampler_options& options() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Names of the columns of a trace, in the order of trace_row(): Sample, posterior, likelihood, prior, reticulations,
/// root_height, origin, network_length (without the root branch), theta_mean (of all branches), theta_root,
/// theta_<species>. Then pi1, u, v, lambda, nu, level, bubbles. With a clock heights and thetas are in years, and clock
/// follows; with a generation time also Ne_root and Ne_<species>, theta / (4 generations).
std::vector<std::string> trace_columns(const std::vector<std::string>& species, const priors& prior);
/// The numbers of one sample. O(nodes^2).
std::vector<double> trace_row(const sampled_state& sample, const priors& prior);

/// The data of the most frequent patterns, ceil(share x patterns) of them (of equal weights the first), their weights
/// scaled up so that the sum stays. Throws InvalidArgument for share not in (0, 1]. O(patterns log patterns).
Data frequent_patterns(const Data& data, double share);

}  // namespace quintet::snp
