# Finds the HDF5 C library. CMake's own FindHDF5 asks for a C compiler and names every library that HDF5 was linked
# with, static ones included; a shared HDF5 brings its own.
#
# Sets QUINTET_HDF5_FOUND, QUINTET_HDF5_INCLUDE_DIR, QUINTET_HDF5_LIBRARY and HDF5_VERSION. Hint: HDF5_ROOT.
# QUINTET_HDF5=OFF: nothing is looked for.
set(QUINTET_HDF5_FOUND FALSE)
if(QUINTET_HDF5 STREQUAL "OFF")
  return()
endif()
find_path(QUINTET_HDF5_INCLUDE_DIR hdf5.h HINTS ${HDF5_ROOT} ENV HDF5_ROOT
  PATH_SUFFIXES include hdf5/serial include/hdf5/serial)
find_library(QUINTET_HDF5_LIBRARY NAMES hdf5_serial hdf5 HINTS ${HDF5_ROOT} ENV HDF5_ROOT PATH_SUFFIXES lib hdf5/serial)
mark_as_advanced(QUINTET_HDF5_INCLUDE_DIR QUINTET_HDF5_LIBRARY)
if(QUINTET_HDF5_INCLUDE_DIR AND QUINTET_HDF5_LIBRARY)
  set(QUINTET_HDF5_FOUND TRUE)
  file(GLOB quintet_hdf5_headers "${QUINTET_HDF5_INCLUDE_DIR}/H5public.h")
  file(STRINGS "${quintet_hdf5_headers}" quintet_hdf5_version REGEX "define H5_VERS_(MAJOR|MINOR|RELEASE)[ \t]+[0-9]+")
  string(REGEX REPLACE "[^0-9;]*H5_VERS_[A-Z]+[ \t]+([0-9]+)[^;]*" "\\1" quintet_hdf5_version "${quintet_hdf5_version}")
  string(REPLACE ";" "." HDF5_VERSION "${quintet_hdf5_version}")
endif()
