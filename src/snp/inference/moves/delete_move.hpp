// delete: a reticulation less. One of the 2r parent branches of reticulations, uniformly; does not apply if its top is
// a reticulation, nor in a tree. The branch goes and both its ends are suppressed, the lower records stay. The opposite
// of add_move.hpp: with k' = k - 3 branches left, l_t and l_h the lengths of the two joined branches (a bubble: both
// the one), and the thetas that stay as bases,
//   log_hastings = log(4r) - 2 log k' - log l_t - log l_h + log b(gamma) + sum log phi(theta_i | base_i).
#pragma once

#include "snp/inference/moves/move.hpp"
#include "snp/inference/moves/reversible_jump.hpp"
#include "snp/inference/moves/topology_edits.hpp"

namespace quintet::snp {

class delete_move final : public move {
 public:
  delete_move(double weight, std::shared_ptr<double> width, jump_options options)
      : move(weight, std::move(width)), options_(options) {}
  std::string_view name() const override { return "delete"; }

  proposal propose(network_state& state, random_stream& random) const override {
    if (state.reticulations == 0) return {};
    const auto chosen = static_cast<std::int32_t>(random.below(2 * static_cast<std::uint32_t>(state.reticulations)));
    const std::int32_t x = reticulation_number(state, chosen / 2), e = network_state::branch_of(x, chosen % 2);
    const std::int32_t a = state.top(e);
    if (state.is_reticulation(a)) return {};
    const std::int32_t f = network_state::sibling_parent_branch(e), d = state.node(x).child[0];
    const std::int32_t up = network_state::branch_of(a);
    const double gamma = state.gamma(e), theta_e = state.theta(e), theta_f = state.theta(f), theta_up = state.theta(up);
    const std::int32_t r = state.reticulations;

    join_over(state, d, f);                         // x is gone; a bubble's d now ends at a
    const std::int32_t s = state.sister_branch(e);  // of a bubble: d
    join_over(state, s, up);                        // a is gone
    const double l_t = state.length(s), l_h = state.length(d);
    double log_hastings = std::log(4.0 * r) - std::log(l_t) - std::log(l_h) + jump_gamma(options_).log_density(gamma);
    if (options_.draws_thetas)
      log_hastings += log_jump_density(theta_up, state.theta(s), width()) +
                      log_jump_density(theta_f, state.theta(d), width()) +
                      log_jump_density(theta_e, state.theta(d), width());
    erase_nodes(state, x, a);
    --state.reticulations;
    log_hastings -= 2 * std::log(state.branches());
    return {.applies = true, .log_hastings = log_hastings, .topology = true};
  }

 private:
  jump_options options_;
};

}  // namespace quintet::snp
