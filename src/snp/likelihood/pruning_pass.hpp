// One pruning pass, from the leaves to the root, for one pair of mutation rates: repeated only where something changed,
// with the pass back that gives the derivatives.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "quintet/snp/network/network.hpp"
#include "snp/likelihood/adjoint_context.hpp"
#include "snp/likelihood/device_plan.hpp"
#include "snp/likelihood/parameters.hpp"

namespace quintet::snp {

/// What changed since the last evaluation.
struct parameter_changes {
  bool all = false, root = false;
  std::vector<bool> branch;       ///< length, theta
  std::vector<bool> inheritance;  ///< by branch: gamma of the reticulation whose parent branch y it is
};

class pruning_pass {
 public:
  explicit pruning_pass(std::shared_ptr<const device_plan> plan);
  /// The first evaluation may copy exponentials from `donor`, which must live until then and have no open proposal.
  void take_from(const pruning_pass& donor);
  ~pruning_pass();
  pruning_pass(pruning_pass&&) noexcept;

  /// Computes what depends on the changes; `propose`: into the other version. A proposal that does not change the root
  /// is computed up to where its changes meet, or a little higher, and multiplied with the pre-order partial there.
  /// Such likelihoods differ from those of a fresh evaluation by rounding. Where is_contracted() but not is_in_range()
  /// they are useless, and finish() computes the proposal up to the root; of processes that share the patterns all do
  /// so when it is so in any, so that the likelihoods do not depend on how patterns are shared.
  void evaluate(const Network& network, const mutation_rates& rates, const parameter_changes& changes, bool propose);
  bool is_contracted() const;
  bool is_in_range() const;
  void finish(const Network& network, const mutation_rates& rates);
  /// Likelihood of every pattern of the root is likelihood * 2^exponent.
  std::span<const double> likelihoods() const;
  std::span<const std::int32_t> exponents() const;
  void accept();
  void reject();
  /// Derivatives of sum seed[p] * likelihoods()[p]. The last evaluation must be of these parameters.
  pruning_gradient differentiate(const Network& network, const mutation_rates& rates, std::span<const double> seed);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace quintet::snp
