// Names of species in one line.
#pragma once

#include <string>
#include <vector>

namespace quintet::snp {

/// "A,B,C".
inline std::string joined(const std::vector<std::string>& names, const char* between = ",") {
  std::string line;
  for (const std::string& name : names) line += (line.empty() ? "" : between) + name;
  return line;
}

}  // namespace quintet::snp
