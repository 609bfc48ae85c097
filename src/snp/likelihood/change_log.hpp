// What changed in the parameters of a likelihood: since the last evaluation, and since the last accepted state.
#pragma once

#include <cstdint>
#include <vector>

#include "quintet/snp/network/model.hpp"
#include "quintet/snp/network/network.hpp"
#include "snp/likelihood/pruning_pass.hpp"

namespace quintet::snp {

class change_log {
 public:
  /// A parameter with the value that reject() puts back; the rates have two.
  struct change {
    enum { length, theta, gamma, root_theta, rates } parameter;
    std::int64_t branch;
    double before, before2;
  };

  change_log() = default;
  /// Nothing has been evaluated.
  explicit change_log(std::int64_t branches);

  ///@{
  /// Flags of what an evaluation has to repeat.
  const parameter_changes& since_evaluation() const { return changes_; }
  void mark_branch(std::int64_t branch) { changes_.branch[std::size_t(branch)] = true; }
  void mark_all_branches() { changes_.branch.assign(changes_.branch.size(), true); }
  void mark_inheritance(std::int64_t branch) { changes_.inheritance[std::size_t(branch)] = true; }
  void mark_root() { changes_.root = true; }
  bool is_changed() const;
  ///@}
  /// Part of the proposal, once there is a state to come back to.
  void remember(const change& c) {
    if (has_evaluated_ || is_base_lost_) proposal_.push_back(c);
  }
  bool has_proposal() const { return !proposal_.empty(); }

  /// Passes hold a state: that of the last evaluation.
  bool has_evaluated() const { return has_evaluated_; }
  /// After an exception of a poll or of memory: passes must be made again.
  bool is_interrupted() const { return is_interrupted_; }
  void passes_are_new() { is_interrupted_ = false; }

  void evaluated();
  /// An evaluation threw. What the parameters before the proposal gave is lost with the passes.
  void interrupt();
  void accept();
  /// What reject() has to do with the passes: nothing without an evaluation, put back the base, or make them again.
  enum class rejection { nothing, to_base, base_is_lost };
  rejection kind_of_rejection() const;
  /// Puts the values before the proposal back, the last change first.
  void reject(Network& network, model& m);

 private:
  void clear_flags();

  parameter_changes changes_;
  std::vector<change> proposal_;
  bool has_evaluated_ = false, is_interrupted_ = false, is_base_lost_ = false;
};

}  // namespace quintet::snp
