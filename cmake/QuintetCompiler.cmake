# pip chooses no compiler (QUINTET_CHOOSE_COMPILER=ON, before project()). Kernels are fastest with clang 19 where it is
# installed. Without it CMake takes the compiler in CXX or CC, which scikit-build-core sets to the one that made Python. Where
# that is not installed, g++ is taken; and a machine without a compiler gets a sentence that says what to install.

# quintet_choose_compiler(<language> <variable of the environment> <name>...): sets CMAKE_<language>_COMPILER where the
# environment names no compiler that is installed.
function(quintet_choose_compiler language variable)
  separate_arguments(command UNIX_COMMAND "$ENV{${variable}}")
  if(command)
    list(GET command 0 program)
    find_program(QUINTET_${language}_OF_ENVIRONMENT "${program}")
    mark_as_advanced(QUINTET_${language}_OF_ENVIRONMENT)
    if(QUINTET_${language}_OF_ENVIRONMENT)
      return()
    endif()
  endif()
  find_program(QUINTET_${language}_COMPILER NAMES ${ARGN})
  mark_as_advanced(QUINTET_${language}_COMPILER)
  if(NOT QUINTET_${language}_COMPILER)
    string(REPLACE "CXX" "C++" name ${language})
    message(FATAL_ERROR "pip compiles quintet, and this machine has no ${name} compiler. On Debian and Ubuntu: "
      "apt-get install g++ zlib1g-dev python3-dev python3-venv")
  endif()
  set(CMAKE_${language}_COMPILER "${QUINTET_${language}_COMPILER}" PARENT_SCOPE)
endfunction()

if(QUINTET_CHOOSE_COMPILER AND NOT DEFINED CMAKE_CXX_COMPILER)
  find_program(QUINTET_CLANG clang++-19)
  mark_as_advanced(QUINTET_CLANG)
  if(QUINTET_CLANG)
    set(CMAKE_CXX_COMPILER "${QUINTET_CLANG}")
  else()
    quintet_choose_compiler(CXX CXX g++ clang++ c++)
  endif()
endif()
if(QUINTET_CHOOSE_COMPILER AND NOT DEFINED CMAKE_C_COMPILER)
  quintet_choose_compiler(C CC gcc)
endif()
