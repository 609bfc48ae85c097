// Counts of biallelic data as a text, for comparison with what is expected.
#pragma once

#include <string>

#include "quintet/snp/markers/data.hpp"

namespace quintet::test {

/// "A,B: 1/2 0/3; dropped; ...": species, then red/copies of every site given.
inline std::string counts_text(const snp::Data& data) {
  std::string all;
  for (const std::string& name : data.species()) all += (all.empty() ? "" : ",") + name;
  const char* separator = ": ";
  for (const std::int64_t p : data.pattern_of_site()) {
    std::string site = p < 0 ? "dropped" : "";
    for (std::int64_t s = 0; p >= 0 && s < std::int64_t(data.species().size()); ++s)
      site += (s == 0 ? "" : " ") + std::to_string(data.red(p, s)) + "/" + std::to_string(data.copies(p, s));
    all += separator + site;
    separator = "; ";
  }
  return all;
}

}  // namespace quintet::test
