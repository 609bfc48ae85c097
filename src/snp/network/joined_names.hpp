// Names of species in one line.
#pragma once

#include <string>
#include <vector>

namespace quintet::snp {

/// "A,B,C".
inline std::string joined(const std::vector<std::string>& names, const char* between = ",") {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : between) + name;
  return list;
}

}  // namespace quintet::snp
