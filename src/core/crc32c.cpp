#include "core/crc32c.hpp"

#include <array>
#include <cstddef>
#include <cstring>

namespace quintet {

namespace {

constexpr std::uint32_t reflected_polynomial = 0x82f63b78;
constexpr int bytes_at_once = 8;

/// [b][v]: what a byte v does to the checksum b bytes later.
constexpr auto tables = [] {
  std::array<std::array<std::uint32_t, 256>, bytes_at_once> table{};
  for (std::uint32_t v = 0; v < 256; ++v) {
    std::uint32_t crc = v;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? reflected_polynomial : 0);
    table[0][v] = crc;
  }
  for (int b = 1; b < bytes_at_once; ++b)
    for (std::uint32_t v = 0; v < 256; ++v) table[b][v] = (table[b - 1][v] >> 8) ^ table[0][table[b - 1][v] & 255];
  return table;
}();

}  // namespace

// Eight bytes at a time (Kounavis, Berry 2005).
std::uint32_t crc32c(std::span<const std::byte> bytes) {
  std::uint32_t crc = ~std::uint32_t(0);
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= bytes_at_once; left -= bytes_at_once, at += bytes_at_once) {
    std::uint32_t low, high;
    std::memcpy(&low, at, 4);
    std::memcpy(&high, at + 4, 4);
    low ^= crc;
    crc = tables[7][low & 255] ^ tables[6][low >> 8 & 255] ^ tables[5][low >> 16 & 255] ^ tables[4][low >> 24] ^
          tables[3][high & 255] ^ tables[2][high >> 8 & 255] ^ tables[1][high >> 16 & 255] ^ tables[0][high >> 24];
  }
  for (; left > 0; --left, ++at) crc = (crc >> 8) ^ tables[0][(crc ^ std::uint32_t(*at)) & 255];
  return ~crc;
}

}  // namespace quintet
