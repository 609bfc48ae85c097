// head (relocate a reticulation): a reticulation x and one of its parent branches e, with top a, uniformly. f is the
// other parent branch, d the child branch. x is suppressed, so that d ends where f did. A branch is chosen uniformly
// among those but e whose bottom is below a, the joined branch d included; x comes onto it at a height uniform in
// (bottom, min(top, h(a))), and f's record goes above x.
//
// Back leads the same choice of x and e among as many branches, so the ratio is that of the intervals, l' / l with
// l = min(h(a), top(f)) - bottom(d). Does not apply to a tree.
#pragma once

#include "snp/inference/moves/move.hpp"
#include "snp/inference/moves/proposals.hpp"
#include "snp/inference/moves/topology_edits.hpp"

namespace quintet::snp {

class head_move final : public move {
 public:
  explicit head_move(double weight) : move(weight, 1) {}
  std::string_view name() const override { return "head"; }

  proposal propose(network_state& state, random_stream& random) const override {
    if (state.reticulations == 0) return {};
    const auto chosen = static_cast<std::int32_t>(random.below(2 * static_cast<std::uint32_t>(state.reticulations)));
    const std::int32_t x = reticulation_number(state, chosen / 2), e = network_state::branch_of(x, chosen % 2);
    const std::int32_t f = network_state::sibling_parent_branch(e), d = state.node(x).child[0];
    const double ceiling = state.top_height(e);
    const double before = std::min(ceiling, state.top_height(f)) - state.bottom_height(d);
    join_over(state, d, f);
    std::vector<std::int32_t> candidates = all_branches(state);
    std::erase_if(candidates, [&](std::int32_t t) { return t == e || t == f || !(state.bottom_height(t) < ceiling); });
    const std::int32_t t = candidates[random.below(static_cast<std::uint32_t>(candidates.size()))];
    const double low = state.bottom_height(t), high = std::min(state.top_height(t), ceiling);
    state.node(x).height = draw_between(low, high, random);
    put_on(state, t, f, 0);
    return {.applies = true, .log_hastings = std::log((high - low) / before), .topology = true};
  }
};

}  // namespace quintet::snp
