# Writes the source file behind quintet::build_info() and sets <out-var> to its path.
function(quintet_build_info output)
  set(QUINTET_GIT_HASH "")
  find_package(Git QUIET)
  # Only a checkout of this project counts, not a repository that happens to hold an unpacked copy of it.
  if(GIT_FOUND AND EXISTS "${PROJECT_SOURCE_DIR}/.git")
    execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --short=10 HEAD
      WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE QUINTET_GIT_HASH OUTPUT_STRIP_TRAILING_WHITESPACE
      ERROR_QUIET)
    # A commit or a switch of branches configures anew, so that the hash is not the one of last week.
    execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --git-path logs/HEAD
      WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE log OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    get_filename_component(log "${log}" ABSOLUTE BASE_DIR "${PROJECT_SOURCE_DIR}")
    if(EXISTS "${log}")
      set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${log}")
    endif()
  endif()
  string(REPLACE ";" "," QUINTET_INFO_OFFLOAD "${QUINTET_OFFLOAD_ARCH}")
  if(NOT QUINTET_INFO_OFFLOAD)
    set(QUINTET_INFO_OFFLOAD "none")
  endif()
  set(QUINTET_INFO_ARCH "${QUINTET_HOST_ARCH}")
  if(NOT QUINTET_INFO_ARCH)
    set(QUINTET_INFO_ARCH "default")
  endif()
  set(source "${PROJECT_BINARY_DIR}/generated/build_info.cpp")
  configure_file("${PROJECT_SOURCE_DIR}/src/core/build_info.cpp.in" "${source}" @ONLY)
  set(${output} "${source}" PARENT_SCOPE)
endfunction()
