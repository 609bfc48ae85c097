# Finds the HDF5 C library. CMake's own FindHDF5 asks for a C compiler and names every library that HDF5 was linked
# with, static ones included; a shared HDF5 brings its own.
#
# Sets QUINTET_HDF5_FOUND, QUINTET_HDF5_INCLUDE_DIR, QUINTET_HDF5_LIBRARY and HDF5_VERSION. Hint: HDF5_ROOT.
# QUINTET_HDF5=OFF: nothing is looked for. QUINTET_HDF5_STATIC=ON: its static library and that of szip; programs start
# in half the time where the shared one brings libraries of networks with it, as Debian's does.
set(QUINTET_HDF5_FOUND FALSE)
if(QUINTET_HDF5 STREQUAL "OFF")
  return()
endif()
find_path(QUINTET_HDF5_INCLUDE_DIR hdf5.h HINTS ${HDF5_ROOT} ENV HDF5_ROOT
  PATH_SUFFIXES include hdf5/serial include/hdf5/serial)
if(QUINTET_HDF5_STATIC AND NOT QUINTET_HDF5_LIBRARY MATCHES "\\.a")
  unset(QUINTET_HDF5_LIBRARY CACHE)
  find_library(quintet_hdf5_archive NAMES libhdf5_serial.a libhdf5.a HINTS ${HDF5_ROOT} ENV HDF5_ROOT
    PATH_SUFFIXES lib hdf5/serial NO_CACHE)
  find_library(quintet_szip NAMES sz szip libaec NO_CACHE)
  if(NOT quintet_hdf5_archive)
    message(FATAL_ERROR "QUINTET_HDF5_STATIC=ON, but no libhdf5.a was found (HDF5_ROOT=${HDF5_ROOT})")
  endif()
  set(QUINTET_HDF5_LIBRARY "${quintet_hdf5_archive}" CACHE STRING "HDF5, with what it needs")
  if(quintet_szip)
    set_property(CACHE QUINTET_HDF5_LIBRARY PROPERTY VALUE "${quintet_hdf5_archive};${quintet_szip}")
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
