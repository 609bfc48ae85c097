# pip chooses no compiler (QUINTET_CHOOSE_COMPILER=ON, before project()). Kernels are fastest with clang 19 where it is
# installed. Without it CMake takes the compiler in CXX, which scikit-build-core sets to the one that made Python. Where
# that is not installed, g++ is taken; and a machine without a compiler gets a sentence that says what to install.
# QuintetOpenMP.cmake chooses gcc for C.

# quintet_choose_compiler(<name>...): sets CMAKE_CXX_COMPILER where CXX names no compiler that is installed.
function(quintet_choose_compiler)
  separate_arguments(command UNIX_COMMAND "$ENV{CXX}")
  if(command)
    list(GET command 0 program)
    find_program(QUINTET_CXX_OF_ENVIRONMENT "${program}")
    mark_as_advanced(QUINTET_CXX_OF_ENVIRONMENT)
    if(QUINTET_CXX_OF_ENVIRONMENT)
      return()
    endif()
  endif()
  find_program(QUINTET_CXX_COMPILER NAMES ${ARGN})
  mark_as_advanced(QUINTET_CXX_COMPILER)
  if(NOT QUINTET_CXX_COMPILER)
    message(FATAL_ERROR "pip compiles quintet, and this machine has no C++ compiler. On Debian and Ubuntu: "
      "apt-get install g++ zlib1g-dev python3-dev python3-venv")
  endif()
  set(CMAKE_CXX_COMPILER "${QUINTET_CXX_COMPILER}" PARENT_SCOPE)
endfunction()

if(QUINTET_CHOOSE_COMPILER AND NOT DEFINED CMAKE_CXX_COMPILER)
  find_program(QUINTET_CLANG clang++-19)
  mark_as_advanced(QUINTET_CLANG)
  if(QUINTET_CLANG)
    set(CMAKE_CXX_COMPILER "${QUINTET_CLANG}")
  else()
    quintet_choose_compiler(g++ clang++ c++)
  endif()
endif()
