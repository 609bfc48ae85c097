// Numbers that many sources of this family name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace quintet::snp {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// The number of a node, a branch or a species as an index.
inline std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace quintet::snp
