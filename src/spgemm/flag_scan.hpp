// Byte flags to bit masks.
#pragma once

#include <cstdint>
#include <cstring>

namespace quintet::spgemm {

/// Bit i of the result is bit `bit` of flags[i], for 64 of them.
inline std::uint64_t mask_of_bit(const std::uint8_t* flags, int bit) {
  std::uint64_t mask = 0;
#pragma GCC unroll 8
  for (int w = 0; w < 8; ++w) {
    std::uint64_t word;
    std::memcpy(&word, flags + 8 * w, 8);
    // Moves the lowest bit of byte i to bit 56 + i; nothing carries.
    mask |= (((word >> bit & 0x0101010101010101u) * 0x0102040810204080u) >> 56) << (8 * w);
  }
  return mask;
}

/// Bit i of the result is whether flags[i] has any bit, for 64 of them.
inline std::uint64_t mask_of_any_bit(const std::uint8_t* flags) {
  std::uint64_t mask = 0;
  for (int bit = 0; bit < 8; ++bit) mask |= mask_of_bit(flags, bit);
  return mask;
}

/// Bit i of the result is flags[i], for 64 flags that are 0 or 1.
inline std::uint64_t mask_of_flags(const std::uint8_t* flags) { return mask_of_bit(flags, 0); }

}  // namespace quintet::spgemm
