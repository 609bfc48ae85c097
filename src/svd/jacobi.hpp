// Runs the Jacobi kernel on a batch: picks map and specialisation, lays out and allocates the working memory.
#pragma once

#include "quintet/device/device.hpp"
#include "svd/job.hpp"

namespace quintet::svd {

/// Runs `job`, in which everything but the working memory is set. Pointers are of the device's memory. `batch` is the
/// number of matrices of the whole call, by which the kernel is chosen: bits do not depend on how many need this job.
template <class Real>
void run_jacobi(jacobi_job<Real> job, std::int64_t batch, const Device& device);

/// The specialisations of the kernel for devices.
enum class device_policy {
  lanes,     ///< one thread per matrix
  small,     ///< 32 threads per pair of columns, X and V in team memory
  middle,    ///< 16
  large,     ///< 8
  emulated,  ///< 8, X and V in team memory
};

/// Runs `job`, with root_rows and phase set, on the specialisation that the caller chooses: run_jacobi() for devices,
/// and tests of those that it would not choose where they run.
template <class Real>
void run_jacobi_as(device_policy policy, jacobi_job<Real> job, const Device& device);

}  // namespace quintet::svd
