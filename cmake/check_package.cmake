# Read by cpack before it makes a package.
if(CPACK_QUINTET_HOST_ARCH STREQUAL "native")
  message(FATAL_ERROR "a package has to run on other processors than this one: configure with --preset package "
    "(or -DQUINTET_HOST_ARCH=x86-64-v3; it is native now)")
endif()
