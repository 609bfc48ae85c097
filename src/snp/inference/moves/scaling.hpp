// What scale, up-up and up-down share: numbers times a common factor.
#pragma once

#include "quintet/snp/network/network_state.hpp"

namespace quintet::snp {

/// All inner heights, and the origin where it is free, times a factor. Returns how many numbers that are.
inline std::int32_t scale_heights(network_state& state, double factor, bool with_origin) {
  for (std::int32_t x = state.leaves(); x < static_cast<std::int32_t>(state.nodes.size()); ++x)
    state.node(x).height *= factor;
  if (with_origin) state.origin *= factor;
  return state.inner_nodes() + (with_origin ? 1 : 0);
}

/// All thetas times a factor. Returns how many numbers that are.
inline std::int32_t scale_thetas(network_state& state, double factor) {
  if (state.thetas == theta_mode::common)
    state.common_theta *= factor;
  else
    for (state_node& node : state.nodes)
      for (std::int32_t i = 0; i < node.parents; ++i) node.theta[static_cast<std::size_t>(i)] *= factor;
  return state.theta_count();
}

}  // namespace quintet::snp
