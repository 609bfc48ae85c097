// Blocks of sites: those near each other are linked, so standard errors need whole blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "quintet/snp/markers/data.hpp"

namespace quintet::snp {

/// Blocks of sites.
struct site_blocks {
  std::int64_t block_sites = 1;  ///< consecutive sites of a block, >= 1
  /// The block of every site given, any numbers; replaces block_sites. io::snp_input::locus_of_site is one.
  std::vector<std::int64_t> block_of_site{};
};

/// Sites of every block, those without a pattern left out: a block is what the likelihood sees. Throws InvalidArgument
/// for blocks out of range. O(sites log blocks).
std::vector<std::vector<std::int64_t>> sites_of_blocks(const Data& data, const site_blocks& blocks);

}  // namespace quintet::snp
