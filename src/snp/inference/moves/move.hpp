// What a move of the sampler is. A move takes a state, changes it in place, and says what it changed and the logarithm
// of its Hastings ratio, log [q(y -> x) / q(x -> y)]: the step is accepted with
//   min(1, exp(beta dlogL + dlog prior + log_hastings)).
// Each move is in a file of its own, which states the proposal and why the ratio is what it is.
//
// A move neither knows the likelihood nor the prior's values. The caller keeps a copy of the state and takes it back
// when it rejects; the copy has every bit. A proposal that `applies` may still be outside the support: the caller
// checks is_in_range() and priors::admit(), in this order, and rejects.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "quintet/core/philox.hpp"
#include "quintet/snp/inference/priors.hpp"
#include "quintet/snp/network/network_state.hpp"

namespace quintet::snp {

/// What a move did.
struct proposal {
  /// False: there was nothing to choose; the state is as before, the step counts as rejected.
  bool applies = false;
  double log_hastings = 0;
  /// Nodes, branches, or which branch is where, may have changed: number_canonically() tells whether the topology did.
  /// Everything else may have changed too, and node and branch numbers are new.
  bool topology = false;
  /// False where only numbers changed that the likelihood does not depend on: the origin; d, q or m.
  bool changes_likelihood = true;
};

/// A kind of proposal with its weight and its width. Objects are immutable but for the width and what they learn.
class move {
 public:
  virtual ~move() = default;

  virtual std::string_view name() const = 0;
  /// Share of the steps, relative to the other moves; does not depend on the state.
  double weight() const { return weight_; }

  /// Whether there is a width to tune, and the acceptance to tune it for.
  virtual bool is_tunable() const { return false; }
  virtual double target() const { return 0.44; }
  ///@{
  /// Width of the proposal, in [1e-4, 20]; add and delete share theirs: it must be the same in both directions.
  double width() const { return *width_; }
  void set_width(double width) { *width_ = width; }
  ///@}
  /// Moves with the same width are tuned as one: equal addresses.
  const void* width_identity() const { return width_.get(); }

  /// Changes `state`, which keeps all rules of broken_rule(), to a proposal. Deterministic in state and random, and in
  /// what was learnt.
  virtual proposal propose(network_state& state, random_stream& random) const = 0;

  /// Whether the move needs states of burn-in.
  virtual bool learns() const { return false; }
  /// Takes in a state of the chain; in burn-in only, or the chain would not keep its distribution.
  virtual void learn(const network_state& /*state*/) {}
  ///@{
  /// What it learnt as numbers, and back, bit for bit. set_learnt() throws InvalidArgument for numbers of another move.
  virtual std::vector<double> learnt() const { return {}; }
  virtual void set_learnt(std::span<const double> /*numbers*/) {}
  ///@}

 protected:
  move(double weight, double width) : move(weight, std::make_shared<double>(width)) {}
  move(double weight, std::shared_ptr<double> width) : weight_(weight), width_(std::move(width)) {}

 private:
  double weight_;
  std::shared_ptr<double> width_;
};

/// Parts of the state that stay as they are at the start.
struct fixed_parts {
  bool topology = false;  ///< nodes and branches; heights stay free
  bool heights = false;   ///< of all nodes below the origin; the topology must be fixed too
  bool origin = false;    ///< also without this when the prior has it fixed
  bool theta = false;     ///< also without this when the prior has it fixed
  bool gamma = false;     ///< also without this when there are no reticulations to be had
  bool rates = false;     ///< pi1, d, q
};

/// The moves that a prior and a start leave something to do for, with the weights of the specification; the order is
/// always the same. `priors` must outlive them. Throws InvalidArgument for parts that cannot be fixed alone: heights or
/// thetas of each branch or gammas without the topology.
std::vector<std::unique_ptr<move>> make_moves(const priors& priors, const fixed_parts& fixed = {});

}  // namespace quintet::snp
