#include "svd/jacobi_policies.hpp"

namespace quintet::svd {

template void launch_jacobi<gpu_small<double>>(const jacobi_job<double>&, const Device&);
template void launch_jacobi<gpu_middle<double>>(const jacobi_job<double>&, const Device&);
template void launch_jacobi<gpu_large<double>>(const jacobi_job<double>&, const Device&);
template void launch_jacobi<emulated_small<double>>(const jacobi_job<double>&, const Device&);

}  // namespace quintet::svd
