// scale: all inner heights, and the origin where it is free, times s with log s uniform in (-w/2, w/2). The map
// (x, s) -> (s x, 1/s) has the Jacobian s^(k - 2) for k numbers, and the density of 1/s over that of s is s^2: the
// ratio is s^k. A root above a fixed origin is out of range.
#pragma once

#include "snp/inference/moves/move.hpp"
#include "snp/inference/moves/proposals.hpp"
#include "snp/inference/moves/scaling.hpp"

namespace quintet::snp {

class scale_move final : public move {
 public:
  scale_move(double weight, bool with_origin) : move(weight, 0.5), with_origin_(with_origin) {}
  std::string_view name() const override { return "scale"; }
  bool is_tunable() const override { return true; }

  proposal propose(network_state& state, random_stream& random) const override {
    proposal made{.applies = true};
    const double factor = draw_factor(width(), random);
    made.log_hastings = scale_heights(state, factor, with_origin_) * std::log(factor);
    made.all_heights = true;
    made.origin = with_origin_;
    return made;
  }

 private:
  bool with_origin_;
};

}  // namespace quintet::snp
