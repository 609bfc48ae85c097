// Text that is read as a network is written, and read again: the same network.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "quintet/snp/network/newick.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace snp = quintet::snp;
  try {
    const snp::Network network =
        snp::parse_newick({reinterpret_cast<const char*>(data), size}, {.theta = 0.01, .root_theta = 0.02});
    const std::string text = snp::to_newick(network);
    if (snp::to_newick(snp::parse_newick(text)) != text) std::abort();
  } catch (const snp::NetworkError&) {
    // The text is no network.
  }
  return 0;
}
