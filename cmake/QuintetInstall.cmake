# Installation: libraries, headers, drivers, a CMake package, pkg-config files, and Debian packages through CPack.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(quintet_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/quintet")

# Shared libraries find each other, and the runtime where this build had it.
set_target_properties(quintet PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
if(TARGET quintet_io)
  set_target_properties(quintet_io PROPERTIES INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH ON)
endif()

install(TARGETS quintet quintet_runtime EXPORT quintetTargets COMPONENT development)
if(TARGET quintet_io)
  install(TARGETS quintet_io quintet_io_runtime EXPORT quintetTargets COMPONENT development)
endif()
if(TARGET quintet_mpi)
  set_target_properties(quintet_mpi PROPERTIES INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS quintet_mpi EXPORT quintetMpiTargets COMPONENT mpi)
  install(EXPORT quintetMpiTargets NAMESPACE quintet:: DESTINATION "${quintet_package_dir}" COMPONENT mpi)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/quintet/mpi" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/quintet"
    COMPONENT mpi FILES_MATCHING PATTERN "*.hpp")
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/quintet" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  COMPONENT development FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h" PATTERN "mpi" EXCLUDE)
install(EXPORT quintetTargets NAMESPACE quintet:: DESTINATION "${quintet_package_dir}" COMPONENT development)
foreach(file IN ITEMS LICENSE CHANGELOG.md)
  install(FILES "${PROJECT_SOURCE_DIR}/${file}" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT development)
endforeach()

# The documents as they stand in the tree, so that their links hold, and what draws results.
install(FILES README.md CONTRIBUTING.md DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT development)
install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT development
  FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN "*.svg")
install(DIRECTORY bench/results DESTINATION "${CMAKE_INSTALL_DOCDIR}/bench" COMPONENT development)
install(DIRECTORY examples DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT development
  PATTERN "skeleton" EXCLUDE PATTERN "CMakeLists.txt" EXCLUDE PATTERN "plot_*.py" EXCLUDE PATTERN "neighbour_map.py" EXCLUDE)
if(TARGET quintet_driver_support)
  install(PROGRAMS examples/neighbour_map.py examples/plot_clusters.py examples/plot_mcmc.py examples/plot_svd_rank.py
    DESTINATION "${CMAKE_INSTALL_DATADIR}/quintet" COMPONENT tools)
endif()

# The package finds the libraries that quintet needs where this build had them, or else where the linker does.
set(QUINTET_PACKAGE_RUNTIME "${QUINTET_OPENMP_LIBRARIES}")
set(QUINTET_PACKAGE_IO_RUNTIME "${QUINTET_IO_LIBRARIES}")
set(QUINTET_PACKAGE_FAMILIES "${QUINTET_FAMILIES}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/quintetConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/quintetConfig.cmake" INSTALL_DESTINATION "${quintet_package_dir}")
# 0.x versions promise nothing to each other.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/quintetConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/quintetConfig.cmake" "${PROJECT_BINARY_DIR}/quintetConfigVersion.cmake"
  DESTINATION "${quintet_package_dir}" COMPONENT development)

# quintet_pkg_config(<name> <description> <requires> <link flags>)
function(quintet_pkg_config PC_NAME PC_DESCRIPTION PC_REQUIRES)
  set(PC_LIBS "")
  foreach(library IN LISTS ARGN)
    if(library MATCHES "/libhts[.]so")
      # It brings curl and much else into a program: only into one that reads VCF.
      string(APPEND PC_LIBS " -Wl,--push-state,--as-needed,${library},--pop-state")
    elseif(library MATCHES "\\.so")
      get_filename_component(folder "${library}" DIRECTORY)
      string(APPEND PC_LIBS " ${library} -Wl,-rpath,${folder}")
    else()
      string(APPEND PC_LIBS " ${library}")
    endif()
  endforeach()
  file(RELATIVE_PATH PC_PREFIX "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/quintet.pc.in" "${PROJECT_BINARY_DIR}/${PC_NAME}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${PC_NAME}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
    COMPONENT development)
endfunction()
# C programs link the library too, which is written in C++.
quintet_pkg_config(quintet "${PROJECT_DESCRIPTION}" "" -lquintet ${QUINTET_OPENMP_LIBRARIES} -lstdc++ -lm)
if(TARGET quintet_io)
  quintet_pkg_config(quintet-io "Files for quintet: CSV, NumPy, HDF5, Matrix Market, NEXUS, VCF" quintet
    -lquintet_io ${QUINTET_IO_LIBRARIES})
endif()

# Packages: libquintet-dev, quintet-tools, and quintet::mpi in one of its own, as the MPIs differ in ABI.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME quintet)
set(CPACK_PACKAGE_VENDOR quintet)
set(CPACK_PACKAGE_CONTACT "quintet developers <quintet@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL development)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libquintet-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
# What a program that links the static libraries needs.
set(quintet_depends "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  list(APPEND quintet_depends libomp-19-dev)
endif()
if(TARGET quintet_io)
  list(APPEND quintet_depends libhdf5-dev zlib1g-dev)
endif()
if(HTSLIB_VERSION)
  list(APPEND quintet_depends libhts-dev)
endif()
list(JOIN quintet_depends ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS)
if(QUINTET_BUILD_EXAMPLES)
  list(APPEND CPACK_COMPONENTS_ALL tools)
  set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME quintet-tools)
  set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION science)
  if(BUILD_SHARED_LIBS)
    # Those of the other package.
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}/src")
    set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "libquintet-dev (= ${PROJECT_VERSION})")
  endif()
endif()
if(TARGET quintet_mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
  set(quintet_mpi_name mpich)
  if(QUINTET_MPI_IS_OPEN_MPI)
    set(quintet_mpi_name openmpi)
  endif()
  set(CPACK_DEBIAN_MPI_PACKAGE_NAME libquintet-${quintet_mpi_name}-dev)
  set(CPACK_DEBIAN_MPI_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "libquintet-dev (= ${PROJECT_VERSION}), lib${quintet_mpi_name}-dev")
  # One at a time: both have the same files.
  set(CPACK_DEBIAN_MPI_PACKAGE_PROVIDES libquintet-mpi-dev)
  set(CPACK_DEBIAN_MPI_PACKAGE_CONFLICTS libquintet-mpi-dev)
endif()
# Checked when a package is made: code for the processor of this machine stops with an illegal instruction elsewhere.
set(CPACK_QUINTET_HOST_ARCH "${QUINTET_HOST_ARCH}")
set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_SOURCE_DIR}/cmake/check_package.cmake")
include(CPack)
