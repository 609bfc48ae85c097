#include "svd/jacobi_policies.hpp"

namespace quintet::svd {

template void launch_jacobi<gpu_small<float>>(const jacobi_job<float>&, const Device&);
template void launch_jacobi<gpu_middle<float>>(const jacobi_job<float>&, const Device&);
template void launch_jacobi<gpu_large<float>>(const jacobi_job<float>&, const Device&);
template void launch_jacobi<emulated_small<float>>(const jacobi_job<float>&, const Device&);

}  // namespace quintet::svd
