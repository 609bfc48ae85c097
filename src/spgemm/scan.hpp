// Row pointers from counts, on any device.
#pragma once

#include <cstdint>

#include "quintet/device/device.hpp"
#include "quintet/spgemm/memory.hpp"

namespace quintet::spgemm {

/// pointers[i + 1], the entries of row i, become the row pointers of `rows` rows; pointers[0] becomes 0. Returns the
/// last one.
std::int64_t scan_counts(std::int64_t* pointers, std::int64_t rows, const Device& device, memory_source& memory);

}  // namespace quintet::spgemm
