// theta mean: m, the mean of the thetas' density, times s, log s uniform in (-w/2, w/2). The ratio is s.
#pragma once

#include "snp/inference/moves/move.hpp"
#include "snp/inference/moves/proposals.hpp"

namespace quintet::snp {

class theta_mean_move final : public move {
 public:
  explicit theta_mean_move(double weight) : move(weight, 1) {}
  std::string_view name() const override { return "theta mean"; }
  bool is_tunable() const override { return true; }

  proposal propose(network_state& state, random_stream& random) const override {
    const double factor = draw_factor(width(), random);
    state.theta_mean *= factor;
    return {.applies = true, .log_hastings = std::log(factor), .hyper = true};
  }
};

}  // namespace quintet::snp
