// Definition of jacobi_launch<Policy>::run; instantiated by svd.cmake.
#pragma once

#include "device/launch.hpp"
#include "svd/jacobi_policies.hpp"

namespace quintet::svd {

template <class Policy>
void jacobi_launch<Policy>::run(const jacobi_job<typename Policy::real>& job, const Device& device) {
  device::launch(jacobi_kernel<Policy>{{}, job}, job.tiles, device);
}

}  // namespace quintet::svd
