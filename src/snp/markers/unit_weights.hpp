// Data whose sites are sites: resampling and statistics count them.
#pragma once

#include "quintet/snp/markers/data.hpp"

namespace quintet::snp {

/// Throws InvalidArgument for data that were given weights. O(sites).
void require_unit_weights(const Data& data);

}  // namespace quintet::snp
