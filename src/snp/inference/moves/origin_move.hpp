// origin: tau' = tau s with log s uniform in (-w/2, w/2); below the root it is reflected there on the logarithmic
// scale, tau' = h(root)^2 / tau'. log tau moves symmetrically, reflected or not, so the ratio is that of d tau to d log
// tau: tau' / tau.
#pragma once

#include "snp/inference/moves/move.hpp"
#include "snp/inference/moves/proposals.hpp"

namespace quintet::snp {

class origin_move final : public move {
 public:
  explicit origin_move(double weight) : move(weight, 2) {}
  std::string_view name() const override { return "origin"; }
  bool is_tunable() const override { return true; }

  proposal propose(network_state& state, random_stream& random) const override {
    const double before = state.origin, root_height = state.node(state.root).height;
    state.origin *= draw_factor(width(), random);
    if (state.origin < root_height) state.origin = root_height * (root_height / state.origin);
    return {.applies = true, .log_hastings = std::log(state.origin / before), .changes_likelihood = false};
  }
};

}  // namespace quintet::snp
