// The specialisations of the Jacobi kernel, in one place.
#pragma once

#include "svd/jacobi.hpp"
#include "svd/jacobi_kernel.hpp"

namespace quintet::svd {

/// Numbers of team memory for X and V: n = 64 in float, n = 52 in double.
template <class Real>
constexpr int team_numbers = sizeof(Real) == 4 ? 2 * 64 * 64 : 2 * 52 * 52;

template <class Real>
using gpu_small = device_rows<Real, 32, team_numbers<Real>>;
template <class Real>
using gpu_middle = device_rows<Real, 16, 0>;
template <class Real>
using gpu_large = device_rows<Real, 8, 0>;
/// For emulated devices, whose teams have 16 threads.
template <class Real>
using emulated_small = device_rows<Real, 8, team_numbers<Real>>;

template <class Policy>
void launch_jacobi(const jacobi_job<typename Policy::real>& job, const Device& device) {
  device::launch(jacobi_kernel<Policy>{job}, job.tiles, device);
}

extern template void launch_jacobi<host_lanes<float>>(const jacobi_job<float>&, const Device&);
extern template void launch_jacobi<host_half_lanes<float>>(const jacobi_job<float>&, const Device&);
extern template void launch_jacobi<host_rows<float>>(const jacobi_job<float>&, const Device&);
extern template void launch_jacobi<device_lanes<float>>(const jacobi_job<float>&, const Device&);
extern template void launch_jacobi<gpu_small<float>>(const jacobi_job<float>&, const Device&);
extern template void launch_jacobi<gpu_middle<float>>(const jacobi_job<float>&, const Device&);
extern template void launch_jacobi<gpu_large<float>>(const jacobi_job<float>&, const Device&);
extern template void launch_jacobi<emulated_small<float>>(const jacobi_job<float>&, const Device&);
extern template void launch_jacobi<host_lanes<double>>(const jacobi_job<double>&, const Device&);
extern template void launch_jacobi<host_half_lanes<double>>(const jacobi_job<double>&, const Device&);
extern template void launch_jacobi<host_rows<double>>(const jacobi_job<double>&, const Device&);
extern template void launch_jacobi<device_lanes<double>>(const jacobi_job<double>&, const Device&);
extern template void launch_jacobi<gpu_small<double>>(const jacobi_job<double>&, const Device&);
extern template void launch_jacobi<gpu_middle<double>>(const jacobi_job<double>&, const Device&);
extern template void launch_jacobi<gpu_large<double>>(const jacobi_job<double>&, const Device&);
extern template void launch_jacobi<emulated_small<double>>(const jacobi_job<double>&, const Device&);

}  // namespace quintet::svd
