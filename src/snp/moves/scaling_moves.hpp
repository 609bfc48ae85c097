// Moves that multiply heights, thetas or both with a common factor.
#pragma once

#include "quintet/snp/network_state.hpp"
#include "snp/moves/move.hpp"
#include "snp/moves/proposals.hpp"

namespace quintet::snp {

/// All inner heights, and the origin where it is free, times a factor. Returns how many numbers that are.
inline std::int32_t scale_heights(network_state& state, double factor, bool with_origin) {
  for (std::int32_t x = state.leaves(); x < static_cast<std::int32_t>(state.nodes.size()); ++x)
    state.node(x).height *= factor;
  if (with_origin) state.origin *= factor;
  return state.inner_nodes() + (with_origin ? 1 : 0);
}

/// All thetas times a factor. Returns how many numbers that are.
inline std::int32_t scale_thetas(network_state& state, double factor) {
  if (state.thetas == theta_mode::common)
    state.common_theta *= factor;
  else
    for (state_node& node : state.nodes)
      for (std::int32_t i = 0; i < node.parents; ++i) node.theta[static_cast<std::size_t>(i)] *= factor;
  return state.theta_count();
}

/// scale: all inner heights, and the origin where it is free, times s with log s uniform in (-w/2, w/2). The map
/// (x, s) -> (s x, 1/s) has the Jacobian s^(k - 2) for k numbers, and the density of 1/s over that of s is s^2: the
/// ratio is s^k. A root above a fixed origin is out of range.
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

/// all thetas: every branch's theta times one s, log s uniform in (-w/2, w/2). The ratio is s to the number of thetas;
/// see scale_move.
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

/// up-up: all inner heights, the origin where it is free, and all thetas times s, log s uniform in (-w/2, w/2): along
/// the ridge on which coalescent units stay. The ratio is s to the number of what is multiplied; see scale_move.
class up_up_move final : public move {
 public:
  up_up_move(double weight, bool with_origin) : move(weight, 0.5), with_origin_(with_origin) {}
  std::string_view name() const override { return "up-up"; }
  bool is_tunable() const override { return true; }

  proposal propose(network_state& state, random_stream& random) const override {
    proposal made{.applies = true};
    const double factor = draw_factor(width(), random);
    const std::int32_t heights = scale_heights(state, factor, with_origin_), thetas = scale_thetas(state, factor);
    made.log_hastings = (heights + thetas) * std::log(factor);
    made.all_heights = made.all_thetas = true;
    made.origin = with_origin_;
    return made;
  }

 private:
  bool with_origin_;
};

/// up-down: all inner heights and the origin where it is free times s, all thetas times 1/s, log s uniform in (-w/2,
/// w/2). The ratio is s to the number of the former minus that of the latter; see scale_move.
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
