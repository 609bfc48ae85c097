// Which species are below a node.
#pragma once

#include <string>
#include <vector>

#include "quintet/snp/network/network.hpp"

namespace quintet::snp {

/// Names of the leaves below every node, sorted, each once. O(nodes leaves).
std::vector<std::vector<std::string>> leaves_below(const Network& network);

}  // namespace quintet::snp
