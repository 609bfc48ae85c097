#include "svd/jacobi_policies.hpp"

namespace quintet::svd {

template void launch_jacobi<host_rows<float>>(const jacobi_job<float>&, const Device&);
template void launch_jacobi<host_rows<double>>(const jacobi_job<double>&, const Device&);

}  // namespace quintet::svd
