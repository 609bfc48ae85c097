// CRC-32C, the checksum of what is kept in files (Castagnoli, Braeuer, Herrmann 1993; RFC 3720, appendix B.4).
#pragma once

#include <cstdint>
#include <span>

namespace quintet {

/// The checksum of bytes, the first of which is first. One pass; a changed bit, or a run of up to 32, always shows.
std::uint32_t crc32c(std::span<const std::byte> bytes);

}  // namespace quintet
