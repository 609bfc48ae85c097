// add: a reticulation more. Two branches, independently and uniformly of the k = 2n-1+3r, the root branch included and
// the same one allowed; on each a uniform point. The higher point becomes a split on its branch (of length l_t), the
// lower one a reticulation on its branch (l_h); a new branch joins them, with gamma from b, the density of the prior,
// its sibling has 1 - gamma. On the same branch that is a bubble, l_t = l_h being the whole length. With a theta for
// every branch there are three new ones: of the part above the split (base: theta of its branch), of the part above the
// reticulation and of the new branch (base: theta of the branch that got the reticulation), each from phi(. | base) of
// reversible_jump.hpp. Does not apply if r = R.
//
// Two ordered choices of branches make one network, and one of the 2 (r + 1) parent branches of reticulations undoes it
// (delete_move.hpp): 1 / (2 (r + 1)) against 2 / (k^2 l_t l_h). For a bubble there are four ways (the order of the
// points; gamma or 1 - gamma) and two back: the same. Points are heights, thetas and gamma come directly: the Jacobian
// is 1. So
//   log_hastings = 2 log k + log l_t + log l_h - log(4 (r + 1)) - log b(gamma) - sum log phi(theta_i | base_i).
#pragma once

#include "snp/inference/moves/move.hpp"
#include "snp/inference/moves/proposals.hpp"
#include "snp/inference/moves/reversible_jump.hpp"
#include "snp/inference/moves/topology_edits.hpp"

namespace quintet::snp {

class add_move final : public move {
 public:
  add_move(double weight, std::shared_ptr<double> width, jump_options options)
      : move(weight, std::move(width)), options_(options) {}
  std::string_view name() const override { return "add"; }

  proposal propose(network_state& state, random_stream& random) const override {
    if (state.reticulations >= options_.max_reticulations) return {};
    const std::vector<std::int32_t> branches = all_branches(state);
    const auto k = static_cast<std::uint32_t>(branches.size());
    std::int32_t t = branches[random.below(k)], h = branches[random.below(k)];
    double h_split = draw_between(state.bottom_height(t), state.top_height(t), random);
    double h_reticulation = draw_between(state.bottom_height(h), state.top_height(h), random);
    if (h_split < h_reticulation) {
      std::swap(t, h);
      std::swap(h_split, h_reticulation);
    }
    const double base_t = state.theta(t), base_h = state.theta(h);
    double log_hastings = 2 * std::log(k) + std::log(state.length(t)) + std::log(state.length(h)) -
                          std::log(4.0 * (state.reticulations + 1));
    const double gamma = draw_beta(options_.inheritance, options_.inheritance, random);
    log_hastings -= jump_gamma(options_).log_density(gamma);
    const auto draw_theta = [&](double base) {
      if (!options_.draws_thetas) return base;
      const double theta = draw_jump(base, width(), random);
      log_hastings -= log_jump_density(theta, base, width());
      return theta;
    };

    const auto x = static_cast<std::int32_t>(state.nodes.size()), a = x + 1;
    state_node reticulation, split;
    reticulation.height = h_reticulation;
    reticulation.parents = 2;
    reticulation.children = 1;
    split.height = h_split;
    split.children = 2;
    split.theta[0] = draw_theta(base_t);
    reticulation.theta[0] = draw_theta(base_h);
    reticulation.theta[1] = draw_theta(base_h);
    reticulation.gamma = {1 - gamma, gamma};
    reticulation.parent[1] = a;
    split.child[1] = network_state::branch_of(x, 1);
    state.nodes.push_back(reticulation);
    state.nodes.push_back(split);
    put_on(state, t, network_state::branch_of(a), 0);
    put_on(state, h, network_state::branch_of(x), 0);  // on the same branch: between its bottom and the split
    ++state.reticulations;
    return {.applies = true, .log_hastings = log_hastings, .topology = true};
  }

 private:
  jump_options options_;
};

}  // namespace quintet::snp
