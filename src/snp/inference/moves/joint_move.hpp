// joint: all free numbers of a state at once, within its topology. In log coordinates (log_coordinates.hpp) the point y
// takes a normal step with the covariance w^2 (2.38^2 / d) C, C what burn-in learnt of this topology
// (learnt_covariance.hpp; Haario, Saksman, Tamminen 2001, but frozen after burn-in). Does not apply to a topology that
// burn-in did not know well.
//
// The step is symmetric in y, so the ratio is that of the volumes: q(x' | x) = normal(y' | y) / |dx' / dy'|, and
// log_hastings = log_volume(y') - log_volume(y). In a topology with symmetries the order of the coordinates may be
// another one at x' than at x; the step back would then have another covariance, so such a step is rejected.
#pragma once

#include <vector>

#include "snp/inference/moves/learnt_covariance.hpp"
#include "snp/inference/moves/log_coordinates.hpp"
#include "snp/inference/moves/move.hpp"

namespace quintet::snp {

class joint_move final : public move {
 public:
  joint_move(double weight, const coordinate_parts& parts) : move(weight, 1), parts_(parts) {}
  std::string_view name() const override { return "joint"; }
  bool is_tunable() const override { return true; }
  double target() const override { return 0.234; }
  proposal propose(network_state& state, random_stream& random) const override;

  bool learns() const override { return true; }
  void learn(const network_state& state) override;
  std::vector<double> learnt() const override;
  void set_learnt(std::span<const double> numbers) override;

  /// Topologies that are known at a time; the one that was not met for the longest time goes first.
  static constexpr std::size_t most_topologies = 16;

 private:
  struct known_topology {
    std::vector<double> topology;
    std::int64_t last_met;
    learnt_covariance covariance;
  };
  const known_topology* find(const std::vector<double>& topology) const;

  coordinate_parts parts_;
  std::int64_t states_ = 0;  // learnt from
  std::vector<known_topology> known_;
};

}  // namespace quintet::snp
