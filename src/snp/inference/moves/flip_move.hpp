// flip: turns the direction of a branch. One of the 2r parent branches e of reticulations, uniformly; x is its bottom,
// a its top. s is the other child branch of a and A the branch's top above a; b is the other parent of x, c its child.
// With lo = max(h(s), h(c)), a new split y on b-c at a height uniform in (lo, h(b)), then a new reticulation z on A-s
// at a height uniform in (h(s), min(h(y), h(A))). e joins y and z and keeps theta and gamma, A-z has 1 - gamma; the
// other records stay in their places. Does not apply if a is a reticulation, x a bubble, or h(b) <= lo; in a tree
// neither.
//
// Back leads the flip of e, with b, c in the places of A, s and as many branches to choose from, so the ratio is
//   (h(b) - lo) (min(h(y), h(A)) - h(s)) / [(h(A) - lo) (min(h(a), h(b)) - h(c))], h(a) being that before.
#pragma once

#include "snp/inference/moves/move.hpp"
#include "snp/inference/moves/proposals.hpp"
#include "snp/inference/moves/topology_edits.hpp"

namespace quintet::snp {

class flip_move final : public move {
 public:
  explicit flip_move(double weight) : move(weight, 1) {}
  std::string_view name() const override { return "flip"; }

  proposal propose(network_state& state, random_stream& random) const override {
    if (state.reticulations == 0) return {};
    const auto chosen = static_cast<std::int32_t>(random.below(2 * static_cast<std::uint32_t>(state.reticulations)));
    const std::int32_t x = reticulation_number(state, chosen / 2), e = network_state::branch_of(x, chosen % 2);
    const std::int32_t a = state.top(e);
    if (state.is_reticulation(a) || state.is_bubble(x)) return {};
    const std::int32_t s = state.sister_branch(e), up = network_state::branch_of(a);
    const std::int32_t f = network_state::sibling_parent_branch(e), c = state.node(x).child[0];
    const double h_s = state.bottom_height(s), h_c = state.bottom_height(c), h_b = state.top_height(f);
    const double h_a = state.node(a).height, h_top = state.top_height(up), low = std::max(h_s, h_c);
    if (!(h_b > low)) return {};
    const double h_y = draw_between(low, h_b, random);
    const double h_z = draw_between(h_s, std::min(h_y, h_top), random);
    const double forward = (h_b - low) * (std::min(h_y, h_top) - h_s);
    const double reverse = (h_top - low) * (std::min(h_a, h_b) - h_c);

    // a becomes y and x becomes z, with the records above them in exchange.
    const std::int32_t b = state.top(f), top = state.top(up);
    std::swap(state.node(a).theta[0], state.node(x).theta[static_cast<std::size_t>(f & 1)]);
    join_over(state, c, f);
    join_over(state, s, up);
    put_on_between(state, c, b, up, a, e);
    put_on_between(state, s, top, f, x, -1);
    state.node(a).height = h_y;
    state.node(x).height = h_z;
    return {.applies = true, .log_hastings = std::log(forward / reverse), .topology = true};
  }

 private:
  // Node x comes onto branch `lower`, which ends at `top`; `upper` is the branch above it. Its other child is `kept`.
  static void put_on_between(network_state& state, std::int32_t lower, std::int32_t top, std::int32_t upper,
                             std::int32_t x, std::int32_t remaining) {
    replace_child(state, top, lower, upper);
    set_top(state, upper, top);
    set_top(state, lower, x);
    state.node(x).child = {lower, remaining};
  }
};

}  // namespace quintet::snp
