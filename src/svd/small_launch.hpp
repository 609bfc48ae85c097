// Definition of small_launch<Policy, N>::run; instantiated by svd.cmake.
#pragma once

#include "svd/jacobi_policies.hpp"
#include "svd/small_kernel.hpp"

namespace quintet::svd {

template <class Policy, int N>
void small_launch<Policy, N>::run(const jacobi_job<typename Policy::real>& job, const Device& device) {
  device::launch(small_kernel<Policy, N>{job}, job.tiles, device);
}

}  // namespace quintet::svd
