// height: an inner node, uniformly (the root too, the origin not), gets a new height between its highest child and its
// lowest parent (the origin for the root): half of the time uniform, otherwise by a normal step, as wide as a part of
// the interval, reflected at its ends. The interval does not depend on the node's own height, and both densities are
// symmetric: the ratio is 1.
#pragma once

#include "snp/inference/moves/move.hpp"
#include "snp/inference/moves/proposals.hpp"
#include "snp/inference/moves/topology_edits.hpp"

namespace quintet::snp {

class height_move final : public move {
 public:
  explicit height_move(double weight) : move(weight, 0.2) {}
  std::string_view name() const override { return "height"; }
  bool is_tunable() const override { return true; }

  proposal propose(network_state& state, random_stream& random) const override {
    const std::int32_t x =
        state.leaves() + static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(state.inner_nodes())));
    const height_range range = range_of(state, x);
    double& height = state.node(x).height;
    if (random.uniform<double>() < 0.5)
      height = draw_between(range.low, range.high, random);
    else
      height =
          reflect(height + width() * (range.high - range.low) * random.normals<double>().first, range.low, range.high);
    return {.applies = true};
  }
};

}  // namespace quintet::snp
