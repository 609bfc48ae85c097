# The CUDA tools that NVIDIA images are made with, and whether the offload runtime takes what they make.
#
# LLVM 19's runtime reads the architecture of an image from the low byte of its e_flags. CUDA 13's ptxas writes another
# layout: the runtime drops such an image before it opens a driver, and a program finds no device. QUINTET_CUDA_PATH names
# a CUDA 12: a toolkit, or what scripts/get_ptxas fetches from PyPI, which has libnvJitLink.so.12 in place of nvlink.
#
# quintet_find_cuda(<flags-var> <arch>...) appends the flags that choose the tools, and sets QUINTET_IMAGES_START.
set(QUINTET_CUDA_PATH "" CACHE PATH "CUDA whose ptxas makes NVIDIA images: a folder with bin/ptxas; empty = found")

# quintet_image_flags(<ptxas> <sm_NN> <out-var>): e_flags of what this ptxas makes, as 0x... .
function(quintet_image_flags ptxas arch output)
  set(probe "${CMAKE_BINARY_DIR}/CMakeFiles/quintet_image_probe")
  file(WRITE "${probe}.ptx" ".version 7.8\n.target ${arch}\n.address_size 64\n.visible .entry probe() { ret; }\n")
  execute_process(COMMAND "${ptxas}" -arch ${arch} "${probe}.ptx" -o "${probe}.cubin"
    RESULT_VARIABLE failed ERROR_VARIABLE error OUTPUT_VARIABLE error)
  if(failed)
    message(FATAL_ERROR "${ptxas} makes no image for ${arch}: ${error}")
  endif()
  file(READ "${probe}.cubin" bytes OFFSET 48 LIMIT 4 HEX)
  string(REGEX REPLACE "(..)(..)(..)(..)" "0x\\4\\3\\2\\1" flags "${bytes}")
  set(${output} "${flags}" PARENT_SCOPE)
endfunction()

function(quintet_find_cuda flags)
  set(cuda "${QUINTET_CUDA_PATH}")
  if(NOT cuda AND EXISTS "${PROJECT_SOURCE_DIR}/build/cuda12/bin/ptxas")
    set(cuda "${PROJECT_SOURCE_DIR}/build/cuda12")
  endif()
  if(cuda)
    set(ptxas "${cuda}/bin/ptxas")
    if(NOT EXISTS "${ptxas}")
      message(FATAL_ERROR "QUINTET_CUDA_PATH=${QUINTET_CUDA_PATH} has no bin/ptxas")
    endif()
    if(NOT EXISTS "${cuda}/bin/nvlink")
      set(tools "${CMAKE_BINARY_DIR}/cuda")
      file(MAKE_DIRECTORY "${tools}/bin")
      foreach(part bin/ptxas include lib nvvm)
        file(CREATE_LINK "${cuda}/${part}" "${tools}/${part}" SYMBOLIC)
      endforeach()
      file(COPY "${PROJECT_SOURCE_DIR}/cmake/nvlink" DESTINATION "${tools}/bin" USE_SOURCE_PERMISSIONS)
      set(cuda "${tools}")
    endif()
    set(${flags} ${${flags}} "--cuda-path=${cuda}" PARENT_SCOPE)
  else()
    find_program(QUINTET_PTXAS ptxas HINTS ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin
      DOC "Assembler of CUDA, for NVIDIA targets")
    mark_as_advanced(QUINTET_PTXAS)
    if(NOT QUINTET_PTXAS)
      message(FATAL_ERROR "QUINTET_OFFLOAD_ARCH=${QUINTET_OFFLOAD_ARCH} needs ptxas of NVIDIA's CUDA toolkit, which was "
        "found neither in PATH nor in CUDA_PATH nor in /usr/local/cuda/bin. A GPU or a driver is not needed to compile. "
        "Without CUDA use QUINTET_OFFLOAD_ARCH=x86_64 (preset emulated) or leave it empty for the host")
    endif()
    set(ptxas "${QUINTET_PTXAS}")
  endif()

  set(start ON)
  foreach(arch IN LISTS ARGN)
    quintet_image_flags("${ptxas}" ${arch} image)
    string(REGEX REPLACE "[^0-9]" "" number "${arch}")
    math(EXPR low "${image} & 255")
    if(NOT low EQUAL number)
      set(start OFF)
      message(STATUS "NOTE: images of ${ptxas} for ${arch} (e_flags ${image}) do not start: LLVM's offload runtime takes those "
        "of CUDA 12 only. They serve the compile gate; for a GPU run scripts/get_ptxas or set QUINTET_CUDA_PATH")
    endif()
  endforeach()
  set(QUINTET_IMAGES_START ${start} PARENT_SCOPE)
endfunction()
