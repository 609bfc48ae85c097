// The constant patterns whose probability a model needs: at the copies of the sites that are conditioned on being
// polymorphic, or at the full samples.
#pragma once

#include <cstdint>
#include <vector>

#include "quintet/snp/markers/data.hpp"
#include "quintet/snp/network/model.hpp"

namespace quintet::snp {

struct constant_patterns {
  /// Different numbers of copies, [species of the data], at which a site may be constant for either allele.
  std::vector<std::vector<std::int16_t>> copies;
  /// Of every pattern of the data, the numbers of copies that it is conditioned on; -1: none.
  std::vector<std::int64_t> condition_of_pattern;

  constant_patterns(const Data& data, const model& m);
};

}  // namespace quintet::snp
