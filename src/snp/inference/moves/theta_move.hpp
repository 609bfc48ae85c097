// theta: the common theta, or that of a branch, uniformly (the root branch too), times s, log s uniform in (-w/2, w/2).
// The ratio is s.
#pragma once

#include "snp/inference/moves/move.hpp"
#include "snp/inference/moves/proposals.hpp"
#include "snp/inference/moves/topology_edits.hpp"

namespace quintet::snp {

class theta_move final : public move {
 public:
  explicit theta_move(double weight) : move(weight, 2) {}
  std::string_view name() const override { return "theta"; }
  bool is_tunable() const override { return true; }

  proposal propose(network_state& state, random_stream& random) const override {
    const double factor = draw_factor(width(), random);
    const proposal result{.applies = true, .log_hastings = std::log(factor)};
    if (state.thetas == theta_mode::common) {
      state.common_theta *= factor;
      return result;
    }
    auto chosen = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(state.branches())));
    std::int32_t x = 0;
    while (chosen >= state.node(x).parents) chosen -= state.node(x++).parents;
    state.node(x).theta[static_cast<std::size_t>(chosen)] *= factor;
    return result;
  }
};

}  // namespace quintet::snp
