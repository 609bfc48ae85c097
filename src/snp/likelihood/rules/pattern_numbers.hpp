// Whole numbers by pattern, seen from the patterns of the root.
#pragma once

#include <cstdint>

namespace quintet::snp {

/// Numbers of a partial likelihood's patterns, as the patterns of the root see them.
struct pattern_numbers {
  const std::int32_t* number = nullptr;  ///< null: all zero
  const std::int32_t* of = nullptr;      ///< null: the same patterns
  std::int32_t operator()(std::int64_t p) const { return number == nullptr ? 0 : number[of != nullptr ? of[p] : p]; }
};

}  // namespace quintet::snp
