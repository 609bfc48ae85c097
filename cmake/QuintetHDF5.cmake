# Finds the HDF5 C library. CMake's own FindHDF5 asks for a C compiler and names every library that HDF5 was linked
# with, static ones included; a shared HDF5 brings its own.
#
# Sets QUINTET_HDF5_FOUND, QUINTET_HDF5_INCLUDE_DIR, QUINTET_HDF5_LIBRARY and HDF5_VERSION. Hint: HDF5_ROOT.
# QUINTET_HDF5=OFF: nothing is looked for. QUINTET_HDF5_STATIC: its static library and that of szip. A program then loads 18
# libraries where Debian's shared HDF5 brings curl and 40 others, and starts in half the time. AUTO takes it where a program
# links with it, never into a shared library or a part of another project, whose HDF5 may be the shared one.
set(QUINTET_HDF5_FOUND FALSE)
if(QUINTET_HDF5 STREQUAL "OFF")
  return()
endif()
find_path(QUINTET_HDF5_INCLUDE_DIR hdf5.h HINTS ${HDF5_ROOT} ENV HDF5_ROOT
  PATH_SUFFIXES include hdf5/serial include/hdf5/serial)

# quintet_find_static_hdf5(<out-var>): the archive and szip, where a program links with them, or else an empty list.
function(quintet_find_static_hdf5 output)
  find_library(archive NAMES libhdf5_serial.a libhdf5.a HINTS ${HDF5_ROOT} ENV HDF5_ROOT
    PATH_SUFFIXES lib hdf5/serial NO_CACHE)
  find_library(szip NAMES sz szip libaec NO_CACHE)
  set(${output} "" PARENT_SCOPE)
  if(NOT archive OR NOT QUINTET_HDF5_INCLUDE_DIR)
    return()
  endif()
  set(libraries "${archive}")
  if(szip)
    list(APPEND libraries "${szip}")
  endif()
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_INCLUDES "${QUINTET_HDF5_INCLUDE_DIR}")
  set(CMAKE_REQUIRED_LIBRARIES ${libraries} z ${CMAKE_DL_LIBS})
  set(CMAKE_REQUIRED_QUIET ON)
  check_cxx_source_compiles("#include <hdf5.h>
    int main() { return H5Fcreate(\"x\", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT) + H5Zfilter_avail(H5Z_FILTER_SZIP) < 0; }"
    QUINTET_HDF5_ARCHIVE_LINKS)
  if(QUINTET_HDF5_ARCHIVE_LINKS)
    set(${output} "${libraries}" PARENT_SCOPE)
  endif()
endfunction()

if(QUINTET_HDF5_STATIC AND NOT QUINTET_HDF5_LIBRARY)
  if(NOT QUINTET_HDF5_STATIC STREQUAL "AUTO" OR (PROJECT_IS_TOP_LEVEL AND NOT BUILD_SHARED_LIBS))
    quintet_find_static_hdf5(quintet_hdf5_archive)
  endif()
  if(quintet_hdf5_archive)
    set(QUINTET_HDF5_LIBRARY "${quintet_hdf5_archive}" CACHE STRING "HDF5, with what it needs")
  elseif(NOT QUINTET_HDF5_STATIC STREQUAL "AUTO")
    message(FATAL_ERROR "QUINTET_HDF5_STATIC=ON, but no libhdf5.a was found that a program links with (HDF5_ROOT=${HDF5_ROOT})")
  endif()
endif()
find_library(QUINTET_HDF5_LIBRARY NAMES hdf5_serial hdf5 HINTS ${HDF5_ROOT} ENV HDF5_ROOT PATH_SUFFIXES lib hdf5/serial)
mark_as_advanced(QUINTET_HDF5_INCLUDE_DIR QUINTET_HDF5_LIBRARY)
if(QUINTET_HDF5_INCLUDE_DIR AND QUINTET_HDF5_LIBRARY)
  set(QUINTET_HDF5_FOUND TRUE)
  file(GLOB quintet_hdf5_headers "${QUINTET_HDF5_INCLUDE_DIR}/H5public.h")
  file(STRINGS "${quintet_hdf5_headers}" quintet_hdf5_version REGEX "define H5_VERS_(MAJOR|MINOR|RELEASE)[ \t]+[0-9]+")
  string(REGEX REPLACE "[^0-9;]*H5_VERS_[A-Z]+[ \t]+([0-9]+)[^;]*" "\\1" quintet_hdf5_version "${quintet_hdf5_version}")
  string(REPLACE ";" "." HDF5_VERSION "${quintet_hdf5_version}")
endif()
