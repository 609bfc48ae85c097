// up-down: all inner heights and the origin where it is free times s, all thetas times 1/s, log s uniform in (-w/2,
// w/2). The ratio is s to the number of the former minus that of the latter; see scale_move.hpp.
#pragma once

#include "snp/inference/moves/move.hpp"
#include "snp/inference/moves/proposals.hpp"
#include "snp/inference/moves/scaling.hpp"

namespace quintet::snp {

class up_down_move final : public move {
 public:
  up_down_move(double weight, bool with_origin) : move(weight, 0.3), with_origin_(with_origin) {}
  std::string_view name() const override { return "up-down"; }
  bool is_tunable() const override { return true; }

  proposal propose(network_state& state, random_stream& random) const override {
    proposal made{.applies = true};
    const double factor = draw_factor(width(), random);
    const std::int32_t heights = scale_heights(state, factor, with_origin_), thetas = scale_thetas(state, 1 / factor);
    made.log_hastings = (heights - thetas) * std::log(factor);
    made.all_heights = made.all_thetas = true;
    made.origin = with_origin_;
    return made;
  }

 private:
  bool with_origin_;
};

}  // namespace quintet::snp
