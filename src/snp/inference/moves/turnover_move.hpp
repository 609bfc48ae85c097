// turnover: a uniform step of the logit of q = nu / lambda. The ratio is q' (1 - q') / (q (1 - q)); see proposals.hpp.
#pragma once

#include "snp/inference/moves/move.hpp"
#include "snp/inference/moves/proposals.hpp"

namespace quintet::snp {

class turnover_move final : public move {
 public:
  explicit turnover_move(double weight) : move(weight, 3) {}
  std::string_view name() const override { return "turnover"; }
  bool is_tunable() const override { return true; }

  proposal propose(network_state& state, random_stream& random) const override {
    const logit_step step = draw_logit_step(state.turnover, width(), random);
    state.turnover = step.value;
    return {.applies = true, .log_hastings = step.log_hastings, .hyper = true};
  }
};

}  // namespace quintet::snp
