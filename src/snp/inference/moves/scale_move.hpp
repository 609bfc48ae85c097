// scale, up-up, up-down, all thetas: many numbers at once times s or 1 / s, log s uniform in (-w/2, w/2). The map
// (x, y, s) -> (s x, y / s, 1 / s) of k numbers x and l numbers y has the Jacobian s^(k - l - 2), and the density of
// 1 / s over that of s is s^2: the ratio is s^(k - l). A root above a fixed origin is out of range.
//
//   scale       all inner heights, and the origin where it is free
//   up-up       these and all thetas: along the ridge on which coalescent units stay
//   up-down     these times s, all thetas times 1 / s
//   all thetas  every branch's theta
#pragma once

#include "snp/inference/moves/move.hpp"
#include "snp/inference/moves/proposals.hpp"

namespace quintet::snp {

/// Power of s by which numbers are multiplied: 1 (up), -1 (down) or 0 (they stay).
struct scale_exponents {
  std::int32_t heights = 0, origin = 0, thetas = 0;
};

class scale_move final : public move {
 public:
  scale_move(std::string_view name, double weight, double width, scale_exponents exponents)
      : move(weight, width), name_(name), exponents_(exponents) {}
  std::string_view name() const override { return name_; }
  bool is_tunable() const override { return true; }

  proposal propose(network_state& state, random_stream& random) const override {
    const double s = draw_factor(width(), random);
    const auto factor = [&](std::int32_t exponent) { return exponent > 0 ? s : 1 / s; };
    std::int32_t power = 0;  // of s in the ratio
    if (exponents_.heights != 0) {
      for (std::int32_t x = state.leaves(); x < static_cast<std::int32_t>(state.nodes.size()); ++x)
        state.node(x).height *= factor(exponents_.heights);
      power += exponents_.heights * state.inner_nodes();
    }
    if (exponents_.origin != 0) {
      state.origin *= factor(exponents_.origin);
      power += exponents_.origin;
    }
    if (exponents_.thetas != 0) {
      scale_thetas(state, factor(exponents_.thetas));
      power += exponents_.thetas * state.theta_count();
    }
    return {.applies = true, .log_hastings = power * std::log(s)};
  }

 private:
  static void scale_thetas(network_state& state, double factor) {
    if (state.thetas == theta_mode::common) {
      state.common_theta *= factor;
      return;
    }
    for (state_node& node : state.nodes)
      for (std::int32_t i = 0; i < node.parents; ++i) node.theta[static_cast<std::size_t>(i)] *= factor;
  }

  std::string_view name_;
  scale_exponents exponents_;
};

}  // namespace quintet::snp
