// Likelihood of biallelic markers on a phylogenetic network under the multispecies network coalescent, exact, with
// gradients.
//
//   snp::Likelihood likelihood(network, data, {.u = 1, .v = 1});
//   double now = likelihood.evaluate();
//   likelihood.set_length(branch, 0.02);           // a proposal
//   double then = likelihood.evaluate();           // computes the branch and one product with the part above it
//   better ? likelihood.accept() : likelihood.reject();
//   snp::gradient slope = likelihood.gradient();
//
// Method: Bryant et al. (2012) for trees, Rabier et al. (2021) for networks. Partial likelihoods of *groups* of open
// branches go through five rules from the leaves to the root: F(n1, r1, ..., nK, rK) = Pr(data below | n_i lineages,
// r_i of them red) Pr(n1 ... nK). Only possible states are stored. Everything is a sum of products of non-negative
// numbers (the exponentials too: uniformisation and squaring), so nothing cancels.
//
// Accuracy: a likelihood of a site is right to about 1e-13 relative to itself; docs/design/numerics.md has the bound
// and the measured errors. Same bits for any number of threads. An impossible site has likelihood 0, log-likelihood
// -infinity. Small numbers are scaled by powers of two, so many species do not underflow.
//
// Cost of an evaluation: see estimate(). Patterns are deduplicated below every group of branches, so a species' own
// branch costs as much as it has distinct counts. Memory is linear in patterns: states x patterns x 8 bytes for every
// rule, twice that with proposals, three times with gradients.
//
// A proposal changes a length, theta or gamma, or several below a common branch. It is computed up to the branch where
// the changes meet, and multiplied with the pre-order partial of that branch: the likelihood of all the rest of the
// network. The pre-order partial is kept while you reject proposals. It takes states x distinct patterns of all the
// data x 8 bytes for every rule on the way, never more than the memory limit. docs/design/numerics.md, "Proposals", has
// the bounds; docs/performance.md the times.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "quintet/core/process_group.hpp"
#include "quintet/device/device.hpp"
#include "quintet/snp/markers/data.hpp"
#include "quintet/snp/network/model.hpp"
#include "quintet/snp/network/network.hpp"

namespace quintet::snp {

///@{
/// How much of a log-likelihood truncation may take away: usually, and at most.
inline constexpr double default_truncation = 1e-9, max_truncation = 0.1;
///@}

/// Device, memory and truncation of a likelihood.
struct likelihood_options {
  Device device = Device::best();  ///< does the work
  /// Bytes that one evaluation may take, >= 0; 0: half the memory of the device. Patterns that do not fit together are
  /// computed in blocks, with the same bits.
  std::int64_t memory_limit = 0;
  /// Processes that compute one likelihood together: each computes the patterns of its share, and all get the same
  /// results. Members that compute are then collective, and evaluate() of a new object has the same bits as without the
  /// group. Gradients are summed by rank: within (P - 1) eps times the sum of magnitudes. Null: this process alone.
  std::shared_ptr<process_group> shared_by{};
  /// How much larger the exact log-likelihood may be, in [0, max_truncation]. In a network with large groups of open
  /// branches most combinations of lineage numbers have next to no chance. Those that cannot change the log-likelihood
  /// by more than this together are dropped; truncation() has the bound that was reached. 0: all are kept.
  double truncation = default_truncation;
};

/// A group of branches while it is computed.
struct group_size {
  std::vector<std::int64_t> branches;  ///< open branches; -1: the population above the root
  ///@{
  /// Combinations of lineages and red ones that can occur; distinct patterns below.
  std::int64_t states, patterns;
  ///@}
};

/// Needs of an evaluation.
struct evaluation_estimate {
  std::vector<group_size> groups;  ///< one for every rule, in the order of the evaluation
  ///@{
  /// States of the largest, and as many as it had without truncation.
  std::int64_t largest_group = 0, largest_group_untruncated = 0;
  ///@}
  /// Of one evaluation without proposals: values, matrices of branches and workspace of kernels.
  std::int64_t bytes = 0;
  double operations = 0;  ///< multiply-adds of the rules, all of them
  /// Parts of the patterns that are computed one after another, as many as the memory limit makes necessary. Of several
  /// every evaluation computes everything, and gradients evaluate once more.
  std::int64_t blocks = 1;
};

/// Sizes of groups, memory and operations, before anything is computed. Throws as the constructor of Likelihood does,
/// and takes its time and memory.
evaluation_estimate estimate(const Network& network, const Data& data, const model& model = {},
                             const likelihood_options& options = {});

/// What a truncated log-likelihood leaves out. The exact one is at least as large, and larger by at most `bound`.
struct truncation_report {
  double bound = 0;  ///< of the log-likelihood of all sites, with their weights
  double mass = 0;   ///< chance of all combinations of lineage numbers that were dropped, the same for every site
};

/// Derivatives of the log-likelihood, by branch or one number.
struct gradient {
  ///@{
  /// By length and by theta of every branch.
  std::vector<double> length, theta;
  ///@}
  std::vector<double> gamma;  ///< by gamma of the branch, its sibling's being 1 - gamma; 0 for branches without one
  ///@{
  /// By the rates and by the theta above the root.
  double u = 0, v = 0, root_theta = 0;
  ///@}
};

/// The likelihood of data on a network, with parameters that change. Computed parts are kept for the next evaluation.
/// An object serves one thread at a time; different objects are independent. Every member that computes can throw
/// OutOfMemory and DeviceError.
class Likelihood {
 public:
  /// Makes the schedule and the tables; they depend on the topology and the counts alone. Network, data and model are
  /// copied as far as they are needed.
  ///
  /// Throws NetworkError if leaves and species differ. Throws InvalidArgument for a model out of range, a negative
  /// limit, a truncation out of range, data without a pattern, or more than 8000 gene copies. So it does for more than
  /// 1000 lineages that are kept below a reticulation, and for groups larger than the limit; the message names the
  /// reticulations. Cost: O(patterns x species) time and memory for every rule; nothing is evaluated.
  Likelihood(const Network& network, const Data& data, const snp::model& model = {},
             const likelihood_options& options = {});
  ~Likelihood();
  ///@{
  /// Takes everything of another likelihood, which must not be used afterwards.
  Likelihood(Likelihood&&) noexcept;
  Likelihood& operator=(Likelihood&&) noexcept;
  ///@}

  /// The log-likelihood of the current parameters, natural logarithm. It computes only the parts that changed since the
  /// last call: at most size().operations multiply-adds, after a proposal those above the branch. The value of a
  /// proposal may differ from that of a new object by rounding (1e-12 relative for a site), and its bits depend on the
  /// proposals before.
  ///
  /// A truncated likelihood keeps the states of earlier parameters as long as the bound holds for the present ones;
  /// otherwise it chooses others and computes everything again. Throws InvalidArgument if no choice reaches the bound.
  double evaluate();

  ///@{
  /// Change a parameter; ranges and errors as in Network, rates as in model (InvalidArgument). Nothing has changed
  /// after an error. A change after the first evaluate() is a proposal until accept(). O(1), set_rates() O(branches):
  /// nothing is computed before evaluate().
  void set_length(std::int64_t branch, double length);
  void set_theta(std::int64_t branch, double theta);
  void set_gamma(std::int64_t branch, double gamma);
  void set_root_theta(double theta);
  void set_rates(double u, double v);
  ///@}
  ///@{
  /// Keep or take back everything that was set since the last accept() or reject(). Time in the number of parts
  /// computed for the proposal; nothing is computed again after reject().
  void accept();
  void reject();
  ///@}

  ///@{
  /// Parameters as they are now; references are valid as long as the object. O(1).
  const Network& network() const;
  const snp::model& model() const;
  ///@}

  /// log L of every pattern of the data, without corrections and weights, at the current parameters; -infinity for an
  /// impossible one. Cost: that of evaluate(), and O(patterns).
  std::vector<double> pattern_log_likelihoods();
  /// The same for every site that was given; NaN for sites that were left out. O(sites) more.
  std::vector<double> site_log_likelihoods();
  /// Derivatives of evaluate() at the current parameters, by one pass from the root to the leaves. NaN when the
  /// log-likelihood is -infinity. Costs about five evaluations, and twice the memory of one.
  snp::gradient gradient();

  /// Needs of an evaluation, those of estimate(). A truncated likelihood keeps other states after parameters changed
  /// much. O(1).
  const evaluation_estimate& size() const;

  /// What the last evaluate() left out. Rigorous but for rounding: a site's likelihood is a sum of non-negative terms,
  /// and those of a dropped combination of lineage numbers are at most its chance. O(1).
  const truncation_report& truncation() const;

 private:
  friend class chain_likelihood;
  /// The first evaluate(): exponentials that the donor has are copied, so the bits may be those of its history.
  double evaluate_beside(const Likelihood& donor);

  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace quintet::snp
