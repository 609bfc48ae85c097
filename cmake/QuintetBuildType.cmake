# A numerical library built without optimisation is of no use to anyone: Release is the default. As part of another project
# it is so in this folder only, because the type of the whole is that project's to choose.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  if(PROJECT_IS_TOP_LEVEL)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo or Debug" FORCE)
  else()
    set(CMAKE_BUILD_TYPE Release)
  endif()
endif()
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG" CACHE STRING "")
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
