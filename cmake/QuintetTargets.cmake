# Helpers that add the library's targets, tests and drivers with the flags they share.

# Warnings, host architecture and sanitizers, for everything that belongs to the project.
add_library(quintet_build_flags INTERFACE)
target_compile_features(quintet_build_flags INTERFACE cxx_std_20)
target_compile_options(quintet_build_flags INTERFACE -Wall -Wextra -Wno-unknown-pragmas
  # Packs wider than the registers of the processor stay inside the library.
  -Wno-psabi)
if(QUINTET_WERROR)
  # All that -Wshadow of g++ finds are also constructors' parameters that initialise members of their names, and variables
  # named as types; what it finds among locals is shown, while clang's are errors. std::stable_sort of libstdc++ 12 calls a
  # function that C++17 deprecates, which clang reports at every use. Names of sources that are merged hide each other's.
  target_compile_options(quintet_build_flags INTERFACE -Werror
    "$<$<CXX_COMPILER_ID:Clang>:-Wno-error=deprecated-declarations>"
    "$<$<AND:$<CXX_COMPILER_ID:Clang>,$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>>:-Wshadow>"
    "$<$<CXX_COMPILER_ID:GNU>:-Wshadow=local;-Wno-error=shadow=local>")
endif()
# A source of the target quintet_baseline runs before anybody knows what the processor can do (src/core/processor.hpp).
set(is_baseline $<BOOL:$<TARGET_PROPERTY:QUINTET_BASELINE>>)
if(QUINTET_HOST_ARCH)
  target_compile_options(quintet_build_flags INTERFACE $<$<NOT:${is_baseline}>:-march=${QUINTET_HOST_ARCH}>)
endif()
# Where the processor is compared: x86-64 and ELF alone.
set(QUINTET_COMPARES_PROCESSOR OFF)
set(QUINTET_ENTRY_FLAGS "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8 AND UNIX AND NOT APPLE)
  set(QUINTET_COMPARES_PROCESSOR ON)
  target_compile_options(quintet_build_flags INTERFACE $<${is_baseline}:-march=x86-64>)
  target_compile_definitions(quintet_build_flags INTERFACE $<${is_baseline}:QUINTET_COMPARES_PROCESSOR>)
  set(entry_flags -DQUINTET_COMPARES_PROCESSOR)
  # The entries of all other functions of the library: 5 bytes that the comparison may make a jump. By clang alone: g++ 12
  # lists inline functions in one section with others, and linkers refuse that where another object has the same function.
  set(QUINTET_CLOSES_ENTRIES OFF)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    set(QUINTET_CLOSES_ENTRIES ON)
  endif()
  if(QUINTET_CLOSES_ENTRIES)
    if(QUINTET_OFFLOAD_ARCH)
      string(APPEND entry_flags " -Xarch_host")
    endif()
    string(APPEND entry_flags " -fpatchable-function-entry=5")
  endif()
  set(QUINTET_ENTRY_FLAGS "$<$<COMPILE_LANGUAGE:CXX>:SHELL:${entry_flags}>")
endif()
if(QUINTET_HOST_THREADS STREQUAL "gcc")
  target_compile_definitions(quintet_build_flags INTERFACE QUINTET_GCC_THREADS)
  # Before every source, because <omp.h> is included only where a compiler says that it has OpenMP.
  target_compile_options(quintet_build_flags INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include ${PROJECT_SOURCE_DIR}/src/device/gcc_threads/omp.h>")
  target_include_directories(quintet_build_flags INTERFACE ${PROJECT_SOURCE_DIR}/src/device/gcc_threads)
endif()
# Every program of the project has the library: with LLVM's linker they link in a third of the time. Offload has a linker of
# its own before that.
if(NOT QUINTET_OFFLOAD_ARCH)
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=lld QUINTET_HAS_LLD)
  if(QUINTET_HAS_LLD)
    target_link_options(quintet_build_flags INTERFACE -fuse-ld=lld)
  endif()
endif()
if(QUINTET_SANITIZE)
  target_compile_options(quintet_build_flags INTERFACE -fsanitize=${QUINTET_SANITIZE} -fno-omit-frame-pointer
    -gline-tables-only -fno-sanitize-recover=all)
  target_link_options(quintet_build_flags INTERFACE -fsanitize=${QUINTET_SANITIZE})
  if(QUINTET_SANITIZE MATCHES "address.*undefined")
    # AddressSanitizer stops at what is read or written through such a pointer, and these checks beside its own were 40 % of
    # the compile time. Alignment, which it does not see, stays.
    target_compile_options(quintet_build_flags INTERFACE -fno-sanitize=null,object-size,pointer-overflow)
  endif()
endif()

# What the library is compiled with: multiply-adds are written (device::fma), so that every compiler and processor has the
# same; errno is not.
set(QUINTET_KERNEL_FLAGS -fno-math-errno -fno-trapping-math -ffp-contract=off)

# quintet_baseline_objects(<name> <source>...): objects for every x86-64, without a look at QUINTET_HOST_ARCH.
function(quintet_baseline_objects name)
  add_library(${name} OBJECT ${ARGN})
  set_target_properties(${name} PROPERTIES QUINTET_BASELINE ON POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(${name} PRIVATE -ffp-contract=off)
  target_link_libraries(${name} PRIVATE quintet_build_flags)
  quintet_unity_groups(${name})
endfunction()

# Replaces the objects of `target` that hold target regions by relocatable objects in which the device code is already
# linked: an archive of plain offload objects would silently lose its device code in a consumer's link. One object, and so
# one image, per folder of sources named in the further arguments; the others, or all, make one more. A device link has one
# thread, so folders side by side, and only that of a changed source again, are what keeps it short.
function(quintet_device_link target output)
  set(flags "")
  if(NOT QUINTET_OFFLOAD_ARCH STREQUAL "x86_64")
    # A GPU kernel has to be one function: what is called needs a stack, and its caller spills registers around it.
    list(APPEND flags -mllvm -inline-threshold=1000000)
  endif()
  if(QUINTET_OFFLOAD_ARCH MATCHES "^(sm_|gfx)")
    # What scripts/check_resources reads. openmp-opt looks at the whole program here, so what it still misses here is
    # what the kernels really have; its remarks on single sources are mostly solved by inlining later.
    list(APPEND flags -Rpass-missed=openmp-opt -Rpass-analysis=openmp-opt)
  endif()
  if(QUINTET_OFFLOAD_ARCH MATCHES "gfx")
    # Inlining for AMD ends at 1100 basic blocks otherwise. The driver says of -mllvm that it is unused, and hands it on.
    list(APPEND flags -Wno-unused-command-line-argument -mllvm -amdgpu-inline-max-bb=0)
  endif()
  if(QUINTET_OFFLOAD_ARCH MATCHES "^sm_")
    list(APPEND flags -Xoffload-linker -v)
    if(QUINTET_KEEP_ASSEMBLY)
      list(APPEND flags -save-temps)  # beside the object: its --assembly
    endif()
  endif()
  set(all "$<TARGET_OBJECTS:${target}>")
  set(rest "${all}")
  set(linked "")
  foreach(folder IN LISTS ARGN ITEMS "")
    set(stem "${CMAKE_CURRENT_BINARY_DIR}/${target}")
    set(objects "${rest}")
    if(folder)
      string(APPEND stem "_${folder}")
      set(inside "/${target}[.]dir/([.]/)?((generated/)?${folder}/|Unity/unity_${folder}_)")
      set(objects "$<FILTER:${all},INCLUDE,${inside}>")
      set(rest "$<FILTER:${rest},EXCLUDE,${inside}>")
    endif()
    add_custom_command(OUTPUT "${stem}_device.o" BYPRODUCTS "${stem}_resources.txt"
      COMMAND ${CMAKE_COMMAND} -DREPORT=${stem}_resources.txt -P ${PROJECT_SOURCE_DIR}/cmake/run_and_keep_output.cmake --
              ${CMAKE_CXX_COMPILER} -O3 -fopenmp ${QUINTET_OFFLOAD_FLAGS} ${flags} -r -nostdlib
              ${objects} -o ${stem}_device.o ${QUINTET_OFFLOAD_LINK_LIBRARIES}
      DEPENDS ${objects}
      COMMENT "Linking device code of ${target} ${folder} for ${QUINTET_OFFLOAD_ARCH}"
      COMMAND_EXPAND_LISTS VERBATIM)
    set_source_files_properties("${stem}_device.o" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    list(APPEND linked "${stem}_device.o")
  endforeach()
  set(${output} ${linked} PARENT_SCOPE)
endfunction()

# quintet_unity_groups(<target>): with CMAKE_UNITY_BUILD, up to six sources of one folder are compiled as one, so that what
# they include is read once and the templates they share are instantiated once. Never of two folders: each is an image of
# its own on devices, and a name may mean something else there. Never of generated sources and others: beside the
# definitions of a template, whatever uses it would instantiate it again.
function(quintet_unity_groups target)
  get_target_property(sources ${target} SOURCES)
  set(groups "")
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP
    UNITY_BUILD_CODE_AFTER_INCLUDE "#undef QUINTET_INSTANTIATE")
  # g++ takes sources that are included for headers, where unnamed namespaces would be a fault.
  if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  foreach(source IN LISTS sources)
    string(REGEX REPLACE "^.*/generated/" "" folder "${source}")
    if(folder MATCHES "^([a-z_]+)/.*[.]cpp$")
      set(folder "${CMAKE_MATCH_1}")
      if(source MATCHES "/generated/")
        string(APPEND folder "_generated")
      endif()
      list(APPEND of_${folder} "${source}")
      list(LENGTH of_${folder} place)
      math(EXPR group "(${place} - 1) / 6")
      set_source_files_properties("${source}" PROPERTIES UNITY_GROUP ${folder}_${group})
      list(APPEND groups ${folder}_${group})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES groups)
  set_target_properties(${target} PROPERTIES QUINTET_UNITY_GROUPS "${groups}")
endfunction()

# quintet_kernel_objects(<name> <out-var> SOURCES ... [IMAGES ...]): sources with kernels -> what to put into a library or
# program. IMAGES: folders of sources that are linked for devices on their own.
function(quintet_kernel_objects name output)
  cmake_parse_arguments(arg "" "" "SOURCES;IMAGES" ${ARGN})
  add_library(${name} OBJECT ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src
    ${PROJECT_BINARY_DIR}/src/generated)
  target_compile_options(${name} PRIVATE ${QUINTET_OPENMP_FLAGS} ${QUINTET_KERNEL_FLAGS} ${QUINTET_OFFLOAD_FLAGS})
  target_link_libraries(${name} PRIVATE quintet_build_flags)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  quintet_unity_groups(${name})
  if(QUINTET_OFFLOAD_ARCH)
    target_compile_definitions(${name} PRIVATE QUINTET_OFFLOAD)
    if(QUINTET_OFFLOAD_ARCH STREQUAL "x86_64")
      target_compile_definitions(${name} PRIVATE QUINTET_OFFLOAD_EMULATION)
    endif()
    if(QUINTET_OFFLOAD_ARCH MATCHES "gfx")
      target_compile_options(${name} PRIVATE "SHELL:-include ${PROJECT_SOURCE_DIR}/src/device/amd_string.hpp")
      # The time of openmp-opt grows faster than what it sees of code for AMD: an image for what is compiled as one. The last
      # of them is what is left, which is never nothing.
      if(CMAKE_UNITY_BUILD AND arg_IMAGES)
        get_target_property(arg_IMAGES ${name} QUINTET_UNITY_GROUPS)
        list(POP_BACK arg_IMAGES)
      endif()
    endif()
    quintet_device_link(${name} objects ${arg_IMAGES})
  else()
    set(objects $<TARGET_OBJECTS:${name}>)
  endif()
  set(${output} ${objects} PARENT_SCOPE)
endfunction()

# quintet_ptx_test(<name> <source>...): the program <name> with the PTX of its kernels executed, if it has tests on every
# device and QUINTET_PTX_EMULATOR names a libcuda.so that can do that. The library finds the files in QUINTET_PTX.
function(quintet_ptx_test name)
  if(NOT QUINTET_PTX_EMULATOR OR NOT QUINTET_OFFLOAD_ARCH MATCHES "^sm_")
    return()
  endif()
  set(uses "")
  foreach(source IN LISTS ARGN)
    file(STRINGS "${source}" found REGEX "on_(every|other)_device")
    list(APPEND uses ${found})
  endforeach()
  if(uses)
    get_filename_component(folder "${QUINTET_PTX_EMULATOR}" DIRECTORY)
    add_test(NAME ptx_${name}
      COMMAND ${PROJECT_SOURCE_DIR}/tests/kernels/run_ptx $<TARGET_FILE:${name}> ${PROJECT_BINARY_DIR})
    set_tests_properties(ptx_${name} PROPERTIES LABELS ptx TIMEOUT 7200 ENVIRONMENT
      "${QUINTET_TEST_ENVIRONMENT};LD_LIBRARY_PATH=${folder};QUINTET_EXPECTED_DEVICES=1;QUINTET_EMULATED_THREADS=1;GTEST_FILTER=-*emulated*")
  endif()
endfunction()

# quintet_test(<name> [LABEL long] [LABELS ...] [COST <seconds>] SOURCES ... [KERNELS ...] [LIBRARIES ...] [OPTIONS ...]):
# a GoogleTest program, registered as one test. LABELS beside fast or long: `kernels` for what other compilers and memories
# can change (built by the target kernel_tests), `races` for what the race checker runs (race_tests), `files`, `system` for
# what asks the system (core/platform.hpp). Its families are labels too (svd_tests builds those of svd). COST: of those
# that take long; CTest begins with them, so that none runs alone at the end. KERNELS: sources that hold kernels of their
# own; they are compiled as the library's are, without GoogleTest. OPTIONS: for the compiler; such a program cannot use the
# precompiled headers of the others.
function(quintet_test name)
  cmake_parse_arguments(arg "" "LABEL;COST" "LABELS;SOURCES;KERNELS;LIBRARIES;OPTIONS" ${ARGN})
  set(objects "")
  if(arg_KERNELS)
    quintet_kernel_objects(${name}_kernels objects SOURCES ${arg_KERNELS})
    target_include_directories(${name}_kernels PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  endif()
  add_executable(${name} ${arg_SOURCES} ${objects})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/src
    ${PROJECT_BINARY_DIR}/src/generated)
  target_link_libraries(${name} PRIVATE quintet::quintet quintet_build_flags ${arg_LIBRARIES} GTest::gtest_main)
  target_compile_options(${name} PRIVATE ${QUINTET_TEST_OPTIMISATION} ${arg_OPTIONS})
  if(NOT arg_OPTIONS)
    target_precompile_headers(${name} REUSE_FROM quintet_test_headers)
  endif()
  if(NOT arg_LABEL)
    set(arg_LABEL fast)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  # A part that was skipped is no part that has passed. These are GoogleTest's last words when nothing has failed.
  quintet_families_of(${name} families)
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABEL};${arg_LABELS};${families}"
    ENVIRONMENT "${QUINTET_TEST_ENVIRONMENT}" SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\] [^\n]*\n$")
  if(arg_LABEL STREQUAL "long")
    set_tests_properties(${name} PROPERTIES TIMEOUT 7200)
  endif()
  if(arg_COST)
    set_tests_properties(${name} PROPERTIES COST ${arg_COST})
  endif()
  quintet_test_targets(${name} ${arg_LABELS} ${families})
  quintet_ptx_test(${name} ${arg_SOURCES})
endfunction()

# quintet_test_targets(<name> <label>...): the targets that build the tests of these labels build <name> too.
function(quintet_test_targets name)
  foreach(label IN LISTS ARGN)
    string(REGEX REPLACE "s$" "" stem "${label}")
    foreach(target IN ITEMS ${label}_tests ${stem}_tests)
      if(TARGET ${target})
        add_dependencies(${target} ${name})
        break()
      endif()
    endforeach()
  endforeach()
endfunction()

# quintet_families_of(<test> <out-var>): the families that a test is of, by its name, for labels: those that it names, and of
# the tests of pairs of points those that are built on them.
function(quintet_families_of name output)
  set(families "")
  foreach(family IN LISTS QUINTET_FAMILIES)
    if(name MATCHES "(^|_)${family}_")
      list(APPEND families ${family})
    endif()
  endforeach()
  if(name MATCHES "^pairwise_")
    list(APPEND families hdbscan neighbours poincare)
  endif()
  set(${output} ${families} PARENT_SCOPE)
endfunction()

# quintet_driver(<task> [FAMILY <family>] [<source>...]): programs/<task>.cpp, with more sources, becomes the
# program quintet-<task>, if its family is built: the first word of the task where FAMILY does not say; what is '-' in the
# task is '_' in the file.
function(quintet_driver task)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FAMILY" "")
  if(NOT arg_FAMILY)
    string(REGEX REPLACE "-.*" "" arg_FAMILY "${task}")
  endif()
  if(arg_FAMILY IN_LIST QUINTET_MISSING_FAMILIES)
    return()
  endif()
  string(REPLACE "-" "_" stem "${task}")
  add_executable(quintet-${task} ${stem}.cpp ${arg_UNPARSED_ARGUMENTS} $<TARGET_OBJECTS:quintet_driver_start>)
  target_link_libraries(quintet-${task} PRIVATE quintet_driver_support quintet_build_flags)
  target_precompile_headers(quintet-${task} REUSE_FROM quintet_driver_support)
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    # htslib and what it needs would be loaded by programs that read no VCF: a fifth of the libraries of a start.
    target_link_options(quintet-${task} PRIVATE LINKER:--as-needed)
  endif()
  set_target_properties(quintet-${task} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}" INSTALL_RPATH_USE_LINK_PATH ON)
  if(QUINTET_INSTALL)
    install(TARGETS quintet-${task} COMPONENT tools)
  endif()
endfunction()
