// Random counts for the species of a network.
#pragma once

#include <vector>

#include "quintet/core/philox.hpp"
#include "quintet/snp/markers/data.hpp"
#include "quintet/snp/network/network.hpp"

namespace quintet::test {

/// So many sites with 1 ... `max` copies per species and weights 1 ... 5.
inline snp::Data random_data(random_stream& random, const snp::Network& network, int sites, int max) {
  const auto species = network.species();
  snp::DataBuilder builder({species.begin(), species.end()}, {.empty = snp::empty_species::keep});
  for (int s = 0; s < sites; ++s) {
    std::vector<std::int64_t> red, copies;
    for (std::size_t i = 0; i < species.size(); ++i) {
      copies.push_back(1 + random.below(std::uint32_t(max)));
      red.push_back(random.below(std::uint32_t(copies.back()) + 1));
    }
    builder.add_site(red, copies, 1 + random.below(5));
  }
  return builder.finish();
}

}  // namespace quintet::test
