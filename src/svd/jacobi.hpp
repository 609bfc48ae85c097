// Runs the Jacobi kernel on a batch: picks map and specialisation, lays out and allocates the working memory.
#pragma once

#include "quintet/device/device.hpp"
#include "svd/job.hpp"

namespace quintet::svd {

/// Runs `job`, in which everything but the working memory is set. Pointers are of the device's memory.
template <class Real>
void run_jacobi(jacobi_job<Real> job, const Device& device);

}  // namespace quintet::svd
