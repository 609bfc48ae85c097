// Memory that fails when it is told to: this program's operators new and delete, the library's included.
#pragma once

#include <cstdint>

namespace quintet::test {

/// The allocation that comes `countdown` allocations from now fails, once; a negative number: none does.
void fail_allocation_after(std::int64_t countdown);

/// Allocations since the program began, their bytes, and blocks that are not given back.
std::int64_t allocation_count();
std::int64_t allocated_bytes();
std::int64_t live_allocations();

}  // namespace quintet::test
