// gamma: the inheritance probability g of a reticulation, uniformly, by a uniform step of logit g (either parent's: the
// step is symmetric). The ratio is g' (1 - g') / (g (1 - g)); see proposals.hpp. Does not apply to a tree.
#pragma once

#include "snp/inference/moves/move.hpp"
#include "snp/inference/moves/proposals.hpp"
#include "snp/inference/moves/topology_edits.hpp"

namespace quintet::snp {

class gamma_move final : public move {
 public:
  explicit gamma_move(double weight) : move(weight, 3) {}
  std::string_view name() const override { return "gamma"; }
  bool is_tunable() const override { return true; }

  proposal propose(network_state& state, random_stream& random) const override {
    if (state.reticulations == 0) return {};
    const std::int32_t x = reticulation_number(
        state, static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(state.reticulations))));
    auto& gamma = state.node(x).gamma;
    const logit_step step = draw_logit_step(gamma[0], width(), random);
    gamma = {step.value, 1 - step.value};
    return {.applies = true, .log_hastings = step.log_hastings};
  }
};

}  // namespace quintet::snp
