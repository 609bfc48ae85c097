// The topology of a state as a graph without names: leaves are the first nodes, as in the state.
#pragma once

#include "quintet/snp/network/network_state.hpp"
#include "snp/network/network_graph.hpp"

namespace quintet::snp {

network_graph graph_of(const network_state& state);

}  // namespace quintet::snp
