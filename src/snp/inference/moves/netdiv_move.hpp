// netdiv: d = lambda - nu times s, log s uniform in (-w/2, w/2). The ratio is s.
#pragma once

#include "snp/inference/moves/move.hpp"
#include "snp/inference/moves/proposals.hpp"

namespace quintet::snp {

class netdiv_move final : public move {
 public:
  explicit netdiv_move(double weight) : move(weight, 3) {}
  std::string_view name() const override { return "netdiv"; }
  bool is_tunable() const override { return true; }

  proposal propose(network_state& state, random_stream& random) const override {
    const double factor = draw_factor(width(), random);
    state.netdiv *= factor;
    return {.applies = true, .log_hastings = std::log(factor), .hyper = true};
  }
};

}  // namespace quintet::snp
