# Finds the OpenMP runtime, and for an offload build the device runtime beside it.
#
# Sets QUINTET_OPENMP_FLAGS (compile), QUINTET_OPENMP_LIBRARIES (full paths, so that consumers get the rpath and need no
# OpenMP flag), QUINTET_OFFLOAD_FLAGS (compile and device link) and QUINTET_OFFLOAD_LINK_LIBRARIES (device link only).
#
# QUINTET_HOST_THREADS=gcc: the only parallel region of the host is one C file, compiled by gcc for libgomp
# (src/device/host_threads.h). C++ has no OpenMP but its simd directives; there is no emulated device then.

# quintet_find_gcc(<out-var>): the compiler in CC where it is gcc, and else the gcc of this machine: conda, clusters and
# people who prefer clang set CC for all that they build.
function(quintet_find_gcc output)
  separate_arguments(command UNIX_COMMAND "$ENV{CC}")
  if(command)
    execute_process(COMMAND ${command} --version OUTPUT_VARIABLE version ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed AND version MATCHES "Free Software Foundation")
      return()  # CMake takes CC itself, with its options
    endif()
  endif()
  find_program(QUINTET_GCC_FOR_THREADS gcc)
  mark_as_advanced(QUINTET_GCC_FOR_THREADS)
  if(NOT QUINTET_GCC_FOR_THREADS)
    message(FATAL_ERROR "QUINTET_HOST_THREADS=gcc needs gcc for one file in C, and there is none (CC=$ENV{CC}). On Debian and "
      "Ubuntu: apt-get install gcc")
  endif()
  if(command)
    message(STATUS "CC=$ENV{CC} is not gcc: ${QUINTET_GCC_FOR_THREADS} compiles the file with the host's threads")
  endif()
  set(${output} "${QUINTET_GCC_FOR_THREADS}" PARENT_SCOPE)
endfunction()

if(NOT QUINTET_HOST_THREADS STREQUAL "")
  if(NOT QUINTET_HOST_THREADS STREQUAL "gcc")
    message(FATAL_ERROR "QUINTET_HOST_THREADS must be empty or gcc (QUINTET_HOST_THREADS=${QUINTET_HOST_THREADS})")
  endif()
  if(QUINTET_OFFLOAD_ARCH)
    message(FATAL_ERROR "QUINTET_HOST_THREADS=gcc is for host builds (QUINTET_OFFLOAD_ARCH=${QUINTET_OFFLOAD_ARCH})")
  endif()
  if(NOT DEFINED CMAKE_C_COMPILER)
    quintet_find_gcc(CMAKE_C_COMPILER)
  endif()
  enable_language(C)
  if(NOT CMAKE_C_COMPILER_ID STREQUAL "GNU")
    message(FATAL_ERROR "QUINTET_HOST_THREADS=gcc needs gcc for C (CMAKE_C_COMPILER=${CMAKE_C_COMPILER} is "
      "${CMAKE_C_COMPILER_ID}); leave CMAKE_C_COMPILER out, or let it name gcc")
  endif()
  find_package(OpenMP REQUIRED COMPONENTS C)
  set(QUINTET_OPENMP_FLAGS -fopenmp-simd)
  set(QUINTET_OPENMP_LIBRARIES ${OpenMP_C_LIBRARIES})
  list(FILTER QUINTET_OPENMP_LIBRARIES EXCLUDE REGEX "pthread")
  set(QUINTET_OFFLOAD_FLAGS "")
  return()
endif()

find_package(OpenMP REQUIRED COMPONENTS CXX)
set(QUINTET_OPENMP_FLAGS ${OpenMP_CXX_FLAGS})
separate_arguments(QUINTET_OPENMP_FLAGS)
set(QUINTET_OPENMP_LIBRARIES ${OpenMP_CXX_LIBRARIES})
# FindOpenMP adds -lpthread, which is part of the C library; keep only what must be named.
list(FILTER QUINTET_OPENMP_LIBRARIES EXCLUDE REGEX "pthread")

set(QUINTET_OFFLOAD_FLAGS "")
set(QUINTET_OFFLOAD_LINK_LIBRARIES "")
if(NOT QUINTET_OFFLOAD_ARCH)
  return()
endif()

if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "QUINTET_OFFLOAD_ARCH=${QUINTET_OFFLOAD_ARCH} needs clang++ (found ${CMAKE_CXX_COMPILER_ID}); "
    "configure with -DCMAKE_CXX_COMPILER=clang++-19 or leave QUINTET_OFFLOAD_ARCH empty")
endif()

# The runtime's folder is wherever the compiler itself looks for libomp.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libomp.so OUTPUT_VARIABLE quintet_libomp
  OUTPUT_STRIP_TRAILING_WHITESPACE)
get_filename_component(quintet_libomp "${quintet_libomp}" REALPATH)
get_filename_component(QUINTET_RUNTIME_DIR "${quintet_libomp}" DIRECTORY)
find_library(QUINTET_OMPTARGET_LIBRARY omptarget HINTS "${QUINTET_RUNTIME_DIR}" NO_DEFAULT_PATH)
if(NOT QUINTET_OMPTARGET_LIBRARY)
  message(FATAL_ERROR "libomptarget.so was not found in ${QUINTET_RUNTIME_DIR}; on Debian install libomp-19-dev")
endif()
list(APPEND QUINTET_OPENMP_LIBRARIES ${QUINTET_OMPTARGET_LIBRARY})

if("x86_64" IN_LIST QUINTET_OFFLOAD_ARCH)
  if(NOT QUINTET_OFFLOAD_ARCH STREQUAL "x86_64")
    message(FATAL_ERROR "QUINTET_OFFLOAD_ARCH: x86_64 is an emulation and cannot be combined with GPU targets")
  endif()
  # Without LLVM's pass "openmp-opt", made for GPUs: it takes team memory, a stack variable here, for memory of one
  # thread, and lets a thread that reads another's value after a barrier have its own (clang 19; code for sm_90 is right,
  # team memory is shared memory there). The test of broadcast() finds it.
  set(QUINTET_OFFLOAD_FLAGS -fopenmp-targets=x86_64-pc-linux-gnu -mllvm -openmp-opt-disable)
  # The device image is a shared library of its own here, with its own need of the runtime, the C library, and C++'s for
  # what becomes of an exception that leaves a parallel region.
  set(QUINTET_OFFLOAD_LINK_LIBRARIES -Wno-unused-command-line-argument)
  foreach(part "${quintet_libomp}" -lstdc++ -lm -lc "-rpath=${QUINTET_RUNTIME_DIR}")
    list(APPEND QUINTET_OFFLOAD_LINK_LIBRARIES -Xoffload-linker ${part})
  endforeach()
else()
  foreach(arch IN LISTS QUINTET_OFFLOAD_ARCH)
    if(NOT arch MATCHES "^(sm_[0-9]+a?|gfx[0-9a-f]+)$")
      message(FATAL_ERROR "QUINTET_OFFLOAD_ARCH: '${arch}' is not a target; allowed are sm_NN, gfxNNN and x86_64")
    endif()
    list(APPEND QUINTET_OFFLOAD_FLAGS --offload-arch=${arch})
  endforeach()
  set(nvidia ${QUINTET_OFFLOAD_ARCH})
  list(FILTER nvidia INCLUDE REGEX "^sm_")
  if(nvidia)
    include(QuintetCuda)
    quintet_find_cuda(QUINTET_OFFLOAD_FLAGS ${nvidia})
  endif()
  set(amd ${QUINTET_OFFLOAD_ARCH})
  list(FILTER amd INCLUDE REGEX "^gfx")
  if(amd)
    include(QuintetRocm)
    quintet_find_rocm(QUINTET_OFFLOAD_FLAGS ${amd})
  endif()
  # Debian's driver finds the device runtime only when it links with LTO.
  list(APPEND QUINTET_OFFLOAD_FLAGS -foffload-lto)
  set(QUINTET_OFFLOAD_LINK_LIBRARIES -L${QUINTET_RUNTIME_DIR} -lomptarget.devicertl)
endif()

# One whole compile and device link, so that a missing tool is told at configure time with its reason.
set(quintet_probe "${CMAKE_BINARY_DIR}/CMakeFiles/quintet_offload_probe")
file(WRITE "${quintet_probe}.cpp" "int probe(int n) {\n#pragma omp target teams map(tofrom : n)\n  n += 1;\n  return n;\n}\n")
execute_process(
  COMMAND ${CMAKE_CXX_COMPILER} -O1 -fopenmp ${QUINTET_OFFLOAD_FLAGS} -c "${quintet_probe}.cpp" -o "${quintet_probe}.o"
  COMMAND_ECHO NONE RESULT_VARIABLE quintet_probe_failed ERROR_VARIABLE quintet_probe_error)
if(NOT quintet_probe_failed)
  execute_process(
    COMMAND ${CMAKE_CXX_COMPILER} -O1 -fopenmp ${QUINTET_OFFLOAD_FLAGS} -r -nostdlib "${quintet_probe}.o"
            -o "${quintet_probe}_device.o" ${QUINTET_OFFLOAD_LINK_LIBRARIES}
    RESULT_VARIABLE quintet_probe_failed ERROR_VARIABLE quintet_probe_error)
endif()
if(quintet_probe_failed)
  message(FATAL_ERROR "no program could be compiled for QUINTET_OFFLOAD_ARCH=${QUINTET_OFFLOAD_ARCH}. "
    "On Debian the tools are in clang-tools-19 and libomp-19-dev; NVIDIA targets also need ptxas, nvlink and libdevice "
    "of CUDA, AMD targets rocm-device-libs. The compiler said:\n${quintet_probe_error}")
endif()
