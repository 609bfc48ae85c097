# AMD's device libraries: bitcode that clang links into what it compiles for gfx targets.
#
# quintet_find_rocm(<flags-var> <target>...) appends the flag that names their folder. clang looks in /opt/rocm only; Debian's
# package rocm-device-libs has a place of its own.
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
  set(folder "${QUINTET_ROCM_DEVICE_LIBS}")
  foreach(target IN LISTS ARGN)
    quintet_add_rocm_target(folder ${target})
  endforeach()
  set(${flags} ${${flags}} "--rocm-device-lib-path=${folder}" PARENT_SCOPE)
endfunction()

# quintet_add_rocm_target(<folder-var> <target>): libraries older than a target lack one file of it, which is one number:
# Debian 12's of ROCm 5.2 for gfx942 and gfx1100. It is written into a folder of the build, which becomes <folder-var>, with
# links to all the others.
function(quintet_add_rocm_target output target)
  string(REGEX REPLACE "^gfx" "" version "${target}")
  if(EXISTS "${${output}}/oclc_isa_version_${version}.bc" OR NOT version MATCHES "^([0-9]+)([0-9a-f])([0-9a-f])$")
    return()
  endif()
  math(EXPR number "${CMAKE_MATCH_1} * 1000 + 0x${CMAKE_MATCH_2} * 100 + 0x${CMAKE_MATCH_3}")
  set(own "${CMAKE_BINARY_DIR}/rocm-device-libs")
  file(GLOB libraries "${${output}}/*.bc")
  file(MAKE_DIRECTORY "${own}")
  foreach(library IN LISTS libraries)
    get_filename_component(name "${library}" NAME)
    if(NOT library STREQUAL "${own}/${name}")
      file(CREATE_LINK "${library}" "${own}/${name}" SYMBOLIC)
    endif()
  endforeach()
  file(WRITE "${own}/${version}.ll" "target triple = \"amdgcn-amd-amdhsa\"\n"
    "@__oclc_ISA_version = linkonce_odr protected local_unnamed_addr addrspace(4) constant i32 ${number}, align 4\n")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} --target=amdgcn-amd-amdhsa -nogpulib -x ir -emit-llvm -c "${own}/${version}.ll"
    -o "${own}/oclc_isa_version_${version}.bc" COMMAND_ERROR_IS_FATAL ANY)
  set(${output} "${own}" PARENT_SCOPE)
endfunction()
