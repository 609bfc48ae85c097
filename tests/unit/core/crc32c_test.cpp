#include "core/crc32c.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string_view>
#include <vector>

namespace quintet {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// RFC 3720, appendix B.4, and the catalogue of parametrised CRC algorithms (CRC-32/ISCSI).
TEST(crc32c, has_the_published_values) {
  EXPECT_EQ(crc32c({}), 0u);
  EXPECT_EQ(crc32c(bytes_of("123456789")), 0xe3069283u);
  EXPECT_EQ(crc32c(std::vector<std::byte>(32, std::byte(0))), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::vector<std::byte>(32, std::byte(0xff))), 0x62a8ab43u);
  std::vector<std::byte> ascending(32);
  for (int i = 0; i < 32; ++i) ascending[i] = std::byte(i);
  EXPECT_EQ(crc32c(ascending), 0x46dd794eu);
}

}  // namespace
}  // namespace quintet
