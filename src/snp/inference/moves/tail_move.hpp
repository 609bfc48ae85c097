// tail (prune and regraft): a tree node x (the root too) and one of its child branches e = x-c, uniformly. s is the
// other child branch, b the branch above x. x is suppressed, so that s ends where b did. A branch is chosen uniformly
// among those but e whose top is above c, the root branch and the joined branch s included; x comes onto it at a height
// uniform in (max(h(c), bottom), top), and b's record goes above x.
//
// Back leads the same choice of x and e; the number of branches to choose from is the same, because the network without
// x is. So the ratio is that of the intervals, new over old: l' / l with l = top(b) - max(h(c), bottom(s)).
#pragma once

#include "snp/inference/moves/move.hpp"
#include "snp/inference/moves/proposals.hpp"
#include "snp/inference/moves/topology_edits.hpp"

namespace quintet::snp {

class tail_move final : public move {
 public:
  explicit tail_move(double weight) : move(weight, 1) {}
  std::string_view name() const override { return "tail"; }

  proposal propose(network_state& state, random_stream& random) const override {
    auto chosen = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(tree_nodes(state))));
    std::int32_t x = state.leaves();
    while (!state.is_tree_node(x) || chosen-- > 0) ++x;
    const std::size_t side = random.below(2);
    const std::int32_t e = state.node(x).child[side], s = state.node(x).child[1 - side];
    const std::int32_t b = network_state::branch_of(x);
    const double floor = state.bottom_height(e);
    const double before = state.top_height(b) - std::max(floor, state.bottom_height(s));
    join_over(state, s, b);
    std::vector<std::int32_t> candidates = all_branches(state);
    std::erase_if(candidates, [&](std::int32_t t) { return t == e || t == b || !(state.top_height(t) > floor); });
    const std::int32_t t = candidates[random.below(static_cast<std::uint32_t>(candidates.size()))];
    const double low = std::max(floor, state.bottom_height(t)), high = state.top_height(t);
    state.node(x).height = draw_between(low, high, random);
    put_on(state, t, b, 1 - side);
    return {.applies = true, .log_hastings = std::log((high - low) / before), .topology = true};
  }

 private:
  static std::int32_t tree_nodes(const network_state& state) { return state.leaves() - 1 + state.reticulations; }
};

}  // namespace quintet::snp
