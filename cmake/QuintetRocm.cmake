# AMD's device libraries: bitcode that clang links into what it compiles for gfx targets.
#
# quintet_find_rocm(<flags-var>) appends the flag that names their folder. clang looks in /opt/rocm only; Debian's package
# rocm-device-libs has a place of its own.
function(quintet_find_rocm flags)
  find_path(QUINTET_ROCM_DEVICE_LIBS NAMES ocml.bc HINTS ENV HIP_DEVICE_LIB_PATH
    PATHS $ENV{ROCM_PATH}/amdgcn/bitcode $ENV{ROCM_PATH}/lib/llvm/lib/clang/amdgcn/bitcode /opt/rocm/amdgcn/bitcode
          /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/amdgcn/bitcode /usr/lib/amdgcn/bitcode
    NO_DEFAULT_PATH DOC "AMD's device libraries: the folder of ocml.bc")
  mark_as_advanced(QUINTET_ROCM_DEVICE_LIBS)
  if(NOT QUINTET_ROCM_DEVICE_LIBS)
    message(FATAL_ERROR "QUINTET_OFFLOAD_ARCH=${QUINTET_OFFLOAD_ARCH} needs AMD's device libraries, whose ocml.bc was found "
      "neither in HIP_DEVICE_LIB_PATH, nor in ROCM_PATH/amdgcn/bitcode, nor in /opt/rocm, nor where Debian has it "
      "(apt-get install rocm-device-libs). A GPU or a driver is not needed to compile.")
  endif()
  set(${flags} ${${flags}} "--rocm-device-lib-path=${QUINTET_ROCM_DEVICE_LIBS}" PARENT_SCOPE)
endfunction()
