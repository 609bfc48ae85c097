// pi1: a uniform step of the logit of allele 1's frequency p. The ratio is p' (1 - p') / (p (1 - p)); see
// proposals.hpp.
#pragma once

#include "snp/inference/moves/move.hpp"
#include "snp/inference/moves/proposals.hpp"

namespace quintet::snp {

class pi1_move final : public move {
 public:
  explicit pi1_move(double weight) : move(weight, 1) {}
  std::string_view name() const override { return "pi1"; }
  bool is_tunable() const override { return true; }

  proposal propose(network_state& state, random_stream& random) const override {
    const logit_step step = draw_logit_step(state.pi1, width(), random);
    state.pi1 = step.value;
    return {.applies = true, .log_hastings = step.log_hastings, .pi1 = true};
  }
};

}  // namespace quintet::snp
