quintet_sources(svd
  KERNELS
    applications.cpp
    block_jacobi.cpp
    centring.cpp
    certify.cpp
    decompose.cpp
    definite.cpp
    eigen.cpp
    gradient.cpp
    gram_qr.cpp
    jacobi.cpp
    kabsch.cpp
    randomised.cpp
    residuals.cpp
    subspaces.cpp
    symmetric.cpp
  C
    svd.cpp)

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
if(QUINTET_OFFLOAD_ARCH MATCHES "^sm_")
  # openmp-opt takes 90 of 105 s for each of these until nothing changes any more. The device link runs it again on all of
  # them, without a limit; with this one for every source, three other kernels need a stack.
  set(large ${QUINTET_KERNEL_SOURCES})
  list(FILTER large INCLUDE REGEX "/jacobi_kernel_gpu_")
  set_source_files_properties(${large} PROPERTIES COMPILE_OPTIONS "-mllvm;-openmp-opt-max-iterations=8")
endif()
set(types "")
foreach(policy host_lanes host_half_lanes host_rows device_lanes gpu_large)
  list(APPEND types "quintet::svd::${policy}<float> | quintet::svd::${policy}<double>")
endforeach()
quintet_instantiate(QUINTET_KERNEL_SOURCES HEADER svd/eigen_kernel.hpp TEMPLATE "struct svd::eigen_launch" TYPES ${types})
set(types "")
foreach(symmetric false true)
  foreach(real IN LISTS QUINTET_REALS)
    # Two registers of 4 x 4 would take 12 KB of stack.
    set(type "quintet::svd::host_double_lanes<${real}>")
    list(APPEND types
      "${type}, 2, ${symmetric} | ${type}, 3, ${symmetric} | quintet::svd::host_lanes<${real}>, 4, ${symmetric}")
    set(type "quintet::svd::device_lanes<${real}>")
    list(APPEND types "${type}, 2, ${symmetric} | ${type}, 3, ${symmetric} | ${type}, 4, ${symmetric}")
  endforeach()
endforeach()
quintet_instantiate(QUINTET_KERNEL_SOURCES HEADER svd/small_kernel.hpp TEMPLATE "struct svd::small_launch" TYPES ${types})
