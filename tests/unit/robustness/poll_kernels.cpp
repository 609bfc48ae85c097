#include "robustness/poll_kernels.hpp"

#include "device/parallel.hpp"

namespace quintet::test {

void side_by_side(std::int64_t count, const std::function<void(std::int64_t)>& call) {
  device::for_each_side_by_side(count, call);
}

}  // namespace quintet::test
