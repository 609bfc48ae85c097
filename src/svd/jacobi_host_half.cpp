#include "svd/jacobi_policies.hpp"

namespace quintet::svd {

template void launch_jacobi<host_half_lanes<float>>(const jacobi_job<float>&, const Device&);
template void launch_jacobi<host_half_lanes<double>>(const jacobi_job<double>&, const Device&);

}  // namespace quintet::svd
