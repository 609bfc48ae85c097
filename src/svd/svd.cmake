# Jacobi's rotations have a translation unit for every specialisation of the kernel (jacobi_policies.hpp); small ones share
# one.
set(types "")
foreach(policy host_lanes host_half_lanes host_rows device_lanes)
  list(APPEND types "quintet::svd::${policy}<float> | quintet::svd::${policy}<double>")
endforeach()
foreach(real IN LISTS QUINTET_REALS)
  list(APPEND types "quintet::svd::gpu_small<${real}> | quintet::svd::gpu_middle<${real}> | quintet::svd::gpu_large<${real}> | quintet::svd::emulated_small<${real}>")
endforeach()
quintet_instantiate(QUINTET_KERNEL_SOURCES HEADER svd/jacobi_kernel.hpp TEMPLATE "struct svd::jacobi_launch"
  TYPES ${types})
set(types "")
foreach(real IN LISTS QUINTET_REALS)
  foreach(policy host_double_lanes device_lanes)
    set(type "quintet::svd::${policy}<${real}>")
    list(APPEND types "${type}, 2 | ${type}, 3 | ${type}, 4")
  endforeach()
endforeach()
quintet_instantiate(QUINTET_KERNEL_SOURCES HEADER svd/small_kernel.hpp TEMPLATE "struct svd::small_launch" TYPES ${types})
