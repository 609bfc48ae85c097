// Launches for tests of polls.
#pragma once

#include <cstdint>
#include <functional>

namespace quintet::test {

/// device::for_each_side_by_side().
void side_by_side(std::int64_t count, const std::function<void(std::int64_t)>& call);

}  // namespace quintet::test
