# How tests run and how they are compiled, so that two processors finish them in minutes: the environment that every test gets
# (QUINTET_TEST_ENVIRONMENT) and the optimisation of their own code (QUINTET_TEST_OPTIMISATION, _LOOPS, _KERNELS).
# A limit of time is for a test that hangs, not for one on a loaded machine: CTest's own 1500 s for what takes seconds or
# minutes, ten minutes for programs of several ranks, two hours for the label long.
# Included by tests/CMakeLists.txt, whose directory gets the options.

# The x86_64 offload plugin gives several threads per team only when told so, and no more than OMP_NUM_THREADS.
set(QUINTET_TEST_ENVIRONMENT "KMP_TEAMS_THREAD_LIMIT=1024")
if(QUINTET_OFFLOAD_ARCH STREQUAL "x86_64")
  list(APPEND QUINTET_TEST_ENVIRONMENT "OMP_NUM_THREADS=16")
  add_compile_definitions(QUINTET_TEST_EMULATION)
endif()

# The threads of a team look for a millisecond before they sleep at a barrier: asleep at once, emulated devices spend half
# their time waking each other; awake for long, they starve the tests beside them.
if(NOT QUINTET_SANITIZE MATCHES "thread")
  list(APPEND QUINTET_TEST_ENVIRONMENT "KMP_BLOCKTIME=1")
endif()

# Teams of as many threads as a kernel asks for spend two thirds of the time of a test in handing two processors round. In
# these presets they have two threads, which wait for each other all the same; the others have the usual teams, and
# tests/kernels teams of every size.
if(QUINTET_OFFLOAD_ARCH STREQUAL "x86_64" OR CMAKE_CROSSCOMPILING
   OR (CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT QUINTET_SANITIZE))
  list(APPEND QUINTET_TEST_ENVIRONMENT "QUINTET_EMULATED_THREADS=2")
endif()

# ThreadSanitizer understands barriers and forks of OpenMP only with archer, a tool that libomp loads, and must not look
# into libomp itself, which is not instrumented. Threads that spin starve the others under it.
if(QUINTET_SANITIZE MATCHES "thread")
  set(runtime ${QUINTET_OPENMP_LIBRARIES})
  list(FILTER runtime INCLUDE REGEX "libomp\\.so")
  get_filename_component(runtime "${runtime}" REALPATH)
  get_filename_component(runtime "${runtime}" DIRECTORY)
  find_library(QUINTET_ARCHER_LIBRARY archer HINTS "${runtime}" REQUIRED)
  list(APPEND QUINTET_TEST_ENVIRONMENT "OMP_TOOL_LIBRARIES=${QUINTET_ARCHER_LIBRARY}" OMP_WAIT_POLICY=passive
    "TSAN_OPTIONS=ignore_noninstrumented_modules=1:allocator_may_return_null=1")
elseif(QUINTET_SANITIZE MATCHES "address")
  # A request for too much memory is a test here. Threads of an emulated device that spin cost the others half their time.
  list(APPEND QUINTET_TEST_ENVIRONMENT OMP_WAIT_POLICY=passive "ASAN_OPTIONS=allocator_may_return_null=1"
    "LSAN_OPTIONS=print_suppressions=0:suppressions=${CMAKE_CURRENT_SOURCE_DIR}/leaks.supp")
endif()

# Tests spend their time in the library and the compiler most of its time in tests: they are optimised little (without
# that, those with loops of their own take several times as long), and under the sanitizers of memory, where compiling takes
# three times as long, not at all. clang inlines only what is no longer than its call: element access, which is what their
# loops need, but not the containers, which took two thirds of the compile time.
set(QUINTET_TEST_OPTIMISATION -O1)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  list(APPEND QUINTET_TEST_OPTIMISATION "SHELL:-mllvm -inline-threshold=5")
endif()
# For OPTIONS of a test whose own loops, references in long double and sorted rows, take minutes under a sanitizer when
# nothing is optimised.
set(QUINTET_TEST_LOOPS "")
set(QUINTET_TEST_KERNELS "")  # for kernels in a test
if(QUINTET_SANITIZE MATCHES "address")
  set(QUINTET_TEST_LOOPS ${QUINTET_TEST_OPTIMISATION})
  set(QUINTET_TEST_KERNELS -O1)
  set(QUINTET_TEST_OPTIMISATION -O0)
  add_compile_options(-O0)
endif()

# An emulator of another processor runs a test, but not the program that a death test starts again by its own name.
if(CMAKE_CROSSCOMPILING)
  list(APPEND QUINTET_TEST_ENVIRONMENT "GTEST_FILTER=-*DeathTest*")
endif()
