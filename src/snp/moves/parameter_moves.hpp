// Moves of one parameter: of the prior, of the mutation process, a theta, a gamma, or the origin.
#pragma once

#include "snp/moves/move.hpp"
#include "snp/moves/proposals.hpp"
#include "snp/moves/surgery.hpp"

namespace quintet::snp {

/// netdiv: d = lambda - nu times s, log s uniform in (-w/2, w/2). The ratio is s.
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

/// turnover: a uniform step of the logit of q = nu / lambda. The ratio is q' (1 - q') / (q (1 - q)); see proposals.hpp.
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

/// theta mean: m, the mean of the thetas' density, times s, log s uniform in (-w/2, w/2). The ratio is s.
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

/// pi1: a uniform step of the logit of allele 1's frequency p. The ratio is p' (1 - p') / (p (1 - p)); see
/// proposals.hpp.
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

/// theta: the common theta, or that of a branch, uniformly (the root branch too), times s, log s uniform in (-w/2,
/// w/2). The ratio is s.
class theta_move final : public move {
 public:
  explicit theta_move(double weight) : move(weight, 2) {}
  std::string_view name() const override { return "theta"; }
  bool is_tunable() const override { return true; }

  proposal propose(network_state& state, random_stream& random) const override {
    proposal made{.applies = true};
    const double factor = draw_factor(width(), random);
    made.log_hastings = std::log(factor);
    if (state.thetas == theta_mode::common) {
      state.common_theta *= factor;
      made.all_thetas = true;
      return made;
    }
    auto which = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(state.branches())));
    std::int32_t x = 0;
    while (which >= state.node(x).parents) which -= state.node(x++).parents;
    state.node(x).theta[static_cast<std::size_t>(which)] *= factor;
    made.thetas.push_back(network_state::branch_of(x, which));
    return made;
  }
};

/// gamma: the inheritance probability g of a reticulation, uniformly, by a uniform step of logit g (either parent's:
/// the step is symmetric). The ratio is g' (1 - g') / (g (1 - g)); see proposals.hpp. Does not apply to a tree.
class gamma_move final : public move {
 public:
  explicit gamma_move(double weight) : move(weight, 3) {}
  std::string_view name() const override { return "gamma"; }
  bool is_tunable() const override { return true; }

  proposal propose(network_state& state, random_stream& random) const override {
    if (state.reticulations == 0) return {};
    proposal made{.applies = true};
    const std::int32_t x = reticulation_number(
        state, static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(state.reticulations))));
    auto& gamma = state.node(x).gamma;
    const logit_step step = draw_logit_step(gamma[0], width(), random);
    gamma = {step.value, 1 - step.value};
    made.log_hastings = step.log_hastings;
    made.gammas.push_back(network_state::branch_of(x));
    return made;
  }
};

/// origin: tau' = tau s with log s uniform in (-w/2, w/2); below the root it is reflected there on the logarithmic
/// scale, tau' = h(root)^2 / tau'. log tau moves symmetrically, reflected or not, so the ratio is that of d tau to d
/// log tau: tau' / tau.
class origin_move final : public move {
 public:
  explicit origin_move(double weight) : move(weight, 2) {}
  std::string_view name() const override { return "origin"; }
  bool is_tunable() const override { return true; }

  proposal propose(network_state& state, random_stream& random) const override {
    proposal made{.applies = true};
    const double before = state.origin, root_height = state.node(state.root).height;
    state.origin *= draw_factor(width(), random);
    if (state.origin < root_height) state.origin = root_height * (root_height / state.origin);
    made.log_hastings = std::log(state.origin / before);
    made.origin = true;
    return made;
  }
};

}  // namespace quintet::snp
