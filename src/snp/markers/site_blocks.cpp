#include "quintet/snp/markers/site_blocks.hpp"

#include <map>

#include "quintet/core/error.hpp"
#include "snp/network/numbers.hpp"

namespace quintet::snp {

std::vector<std::vector<std::int64_t>> sites_of_blocks(const Data& data, const site_blocks& options) {
  require_argument(options.block_sites >= 1, "block_sites", options.block_sites, ">= 1");
  require_argument(options.block_of_site.empty() || std::int64_t(options.block_of_site.size()) == data.given_sites(),
                   "size of block_of_site", options.block_of_site.size(),
                   text(data.given_sites(), ", the sites given"));
  std::vector<std::vector<std::int64_t>> blocks;
  std::map<std::int64_t, std::size_t> place;
  std::int64_t counted = 0;
  for (std::int64_t site = 0; site < data.given_sites(); ++site) {
    if (data.pattern_of_site()[at(site)] < 0) continue;
    const std::int64_t name =
        options.block_of_site.empty() ? counted++ / options.block_sites : options.block_of_site[at(site)];
    const auto [it, is_new] = place.try_emplace(name, blocks.size());
    if (is_new) blocks.emplace_back();
    blocks[it->second].push_back(site);
  }
  return blocks;
}

}  // namespace quintet::snp
