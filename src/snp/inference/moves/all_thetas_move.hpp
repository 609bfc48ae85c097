// all thetas: every branch's theta times one s, log s uniform in (-w/2, w/2). The ratio is s to the number of thetas;
// see scale_move.hpp.
#pragma once

#include "snp/inference/moves/move.hpp"
#include "snp/inference/moves/proposals.hpp"
#include "snp/inference/moves/scaling.hpp"

namespace quintet::snp {

class all_thetas_move final : public move {
 public:
  explicit all_thetas_move(double weight) : move(weight, 0.5) {}
  std::string_view name() const override { return "all thetas"; }
  bool is_tunable() const override { return true; }

  proposal propose(network_state& state, random_stream& random) const override {
    proposal made{.applies = true};
    const double factor = draw_factor(width(), random);
    made.log_hastings = scale_thetas(state, factor) * std::log(factor);
    made.all_thetas = true;
    return made;
  }
};

}  // namespace quintet::snp
