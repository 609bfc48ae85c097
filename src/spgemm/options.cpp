#include "quintet/spgemm/options.hpp"

namespace quintet::spgemm {

std::string_view name_of(strategy s) {
  constexpr std::string_view names[strategies] = {"empty", "streaming", "tiny",    "segmented", "hash",
                                                  "dense", "bitmask",   "windows", "grouped"};
  return names[int(s)];
}

}  // namespace quintet::spgemm
