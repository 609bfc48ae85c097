// trade: theta of a branch against its length. An inner node x, uniformly, and one of the branches that end at it,
// uniformly; not the root branch, because the likelihood does not depend on its length. x gets a new height by a normal
// step, as wide as a part of its interval, reflected at the ends. Theta of the branch is multiplied by its new length
// over the old one, so that its coalescent units stay. For priors with a theta for every branch.
//
// The choice back is the same, and the step of the height is symmetric. (h, theta) -> (h', theta l' / l) has the
// Jacobian l' / l, which is the ratio.
#pragma once

#include "snp/inference/moves/move.hpp"
#include "snp/inference/moves/proposals.hpp"
#include "snp/inference/moves/topology_edits.hpp"

namespace quintet::snp {

class trade_move final : public move {
 public:
  explicit trade_move(double weight) : move(weight, 0.2) {}
  std::string_view name() const override { return "trade"; }
  bool is_tunable() const override { return true; }

  proposal propose(network_state& state, random_stream& random) const override {
    const std::int32_t x =
        state.leaves() + static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(state.inner_nodes())));
    const std::vector<std::int32_t> branches = branches_at(state, x);
    const std::int32_t b = branches[random.below(static_cast<std::uint32_t>(branches.size()))];
    const height_range range = range_of(state, x);
    const double before = state.length(b);
    double& height = state.node(x).height;
    height =
        reflect(height + width() * (range.high - range.low) * random.normals<double>().first, range.low, range.high);
    const double factor = state.length(b) / before;
    state.node(network_state::bottom(b)).theta[static_cast<std::size_t>(b & 1)] *= factor;
    return {.applies = true, .log_hastings = std::log(factor)};
  }

 private:
  static std::vector<std::int32_t> branches_at(const network_state& state, std::int32_t x) {
    const state_node& node = state.node(x);
    std::vector<std::int32_t> branches(node.child.begin(), node.child.begin() + node.children);
    for (std::int32_t i = 0; i < node.parents && x != state.root; ++i)
      branches.push_back(network_state::branch_of(x, i));
    return branches;
  }
};

}  // namespace quintet::snp
