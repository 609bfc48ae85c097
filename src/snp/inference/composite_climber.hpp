// Hill climbing on a composite likelihood, which looks first where distances of species fit best.
#pragma once

#include "quintet/snp/inference/search.hpp"
#include "quintet/snp/markers/data.hpp"

namespace quintet::snp {

/// search_networks() with options.composite > 0, whose other options have been checked.
search_result search_composite(const Data& data, const search_options& options);

}  // namespace quintet::snp
