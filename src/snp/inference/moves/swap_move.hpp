// swap: two branches exchange their tops. A branch e whose top a is neither the root nor the origin, uniformly, of
// which there are 2n - 4 + 3r; then a branch f uniformly among those that cross the height of a, top(f) > h(a) >
// bottom(f). Records go with the lower ends. Does not apply without such branches, or when e and f have one lower end.
//
// Back leads the choice of f, which now ends at a, and then of e, which now crosses h(a). Heights stay, so the number
// of branches at h(a) does: the ratio is 1.
#pragma once

#include "snp/inference/moves/move.hpp"
#include "snp/inference/moves/topology_edits.hpp"

namespace quintet::snp {

class swap_move final : public move {
 public:
  explicit swap_move(double weight) : move(weight, 1) {}
  std::string_view name() const override { return "swap"; }

  proposal propose(network_state& state, random_stream& random) const override {
    const std::vector<std::int32_t> branches = all_branches(state);
    std::vector<std::int32_t> candidates = branches;
    std::erase_if(candidates,
                  [&](std::int32_t t) { return state.top(t) == state_node::none || state.top(t) == state.root; });
    if (candidates.empty()) return {};
    const std::int32_t e = candidates[random.below(static_cast<std::uint32_t>(candidates.size()))];
    const std::int32_t a = state.top(e);
    const double height = state.node(a).height;
    candidates = branches;
    std::erase_if(candidates,
                  [&](std::int32_t t) { return !(state.top_height(t) > height && height > state.bottom_height(t)); });
    if (candidates.empty()) return {};
    const std::int32_t f = candidates[random.below(static_cast<std::uint32_t>(candidates.size()))];
    if (network_state::bottom(e) == network_state::bottom(f)) return {};
    const std::int32_t top = state.top(f);
    replace_child(state, a, e, f);
    replace_child(state, top, f, e);
    set_top(state, e, top);
    set_top(state, f, a);
    return {.applies = true, .log_hastings = 0, .topology = true};
  }
};

}  // namespace quintet::snp
