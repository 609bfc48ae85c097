#!/usr/bin/env bash
# summary_test.sh SOURCE: scripts/test names what failed with its first failing line, counts tests, and ends steps in time.
# The logs are those of ninja, ctest and pytest of small projects with these faults.
set -u
source=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/build" "$folder/scripts" && cp "$source"/scripts/test_*.sh "$source/scripts/first_failures.awk" "$folder/scripts" || exit 1
cd "$folder" || exit 1
. scripts/test_plan.sh
. scripts/test_steps.sh
. scripts/test_summary.sh
cores=2 slower=100 within=300 family="" fuzz_seconds=60 passed=0 rotate="" long="" install="" running=1 turn=0

cat >ctest.txt <<'LOG'
[1/2] Building CXX object a.o
[10/20] Building CXX object c.o
[2/2] Linking CXX executable b
-- a line of CMake
    Start 1: good_test
1/8 Test #1: good_test ........................   Passed    0.03 sec
    Start 4: crash_test
2/8 Test #3: script_test ......................***Failed    0.01 sec
begin
FAILED: no such kernel
end

3/8 Test #2: bad_test .........................***Failed    0.02 sec
Running main() from ./googletest/src/gtest_main.cc
[ RUN      ] a.right
[       OK ] a.right (0 ms)
[ RUN      ] a.wrong
/src/t.cpp:3: Failure
Expected equality of these values:
  x
    Which is: 3
  4
[  FAILED  ] a.wrong (0 ms)
[  FAILED  ] 1 test, listed below:
[  FAILED  ] a.wrong

 1 FAILED TEST

4/8 Test #4: crash_test .......................***Exception: SegFault  0.01 sec

5/8 Test #6: regex_test .......................***Failed  Required regular expression not found. Regex=[world
]  0.01 sec
hello

6/8 Test #8: absent_test ......................***Not Run   0.00 sec
7/8 Test #7: skip_test ........................***Skipped   0.01 sec
8/8 Test #5: slow_test ........................***Timeout   1.01 sec


25% tests passed, 6 tests failed out of 8

The following tests FAILED:
	  2 - bad_test (Failed)
LOG
cat >clang.txt <<'LOG'
[1/2] Building CXX object CMakeFiles/bad.dir/bad.cpp.o
FAILED: CMakeFiles/bad.dir/bad.cpp.o 
/usr/bin/clang++-19 -MD -Werror -o CMakeFiles/bad.dir/bad.cpp.o -c /src/bad.cpp
/src/bad.cpp:1:5: warning: unused
/src/bad.cpp:1:21: error: use of undeclared identifier 'undefined_name'
ninja: build stopped: subcommand failed.
LOG
cat >linker.txt <<'LOG'
FAILED: bin/program 
: && /usr/bin/clang++-19 link.cpp.o -o bin/program && :
/usr/bin/ld: link.cpp.o: in function `main':
link.cpp:(.text+0x10): undefined reference to `f()'
clang++-19: error: linker command failed with exit code 1 (use -v to see invocation)
LOG
cat >cmake.txt <<'LOG'
CMake Error at CMakeLists.txt:4 (find_package):
  By not providing "FindNothing.cmake" in CMAKE_MODULE_PATH
LOG
cat >pytest.txt <<'LOG'
.FsE                                                                     [100%]
E       assert [1, 2] == [1, 3]
=========================== short test summary info ============================
SKIPPED [1] test_x.py:6: no reason
ERROR python/tests/test_x.py::test_error - ValueError: broken fixture
FAILED python/tests/test_x.py::test_wrong[a b] - assert [1, 2] == [1, 3]
1 failed, 4 passed, 1 skipped, 1 error in 0.15s
=== python: FAILED, see above
LOG
cat >right.txt <<'LOG'
1/2 Test #1: good_test ........................   Passed    0.03 sec
2/2 Test #2: part_test ........................***Skipped   0.03 sec
100% tests passed, 0 tests failed out of 2
LOG
echo "=== peers: SKIPPED, no package index: nobody answers" >skipped.txt
echo "1/9 Test #1: good_test ........................   Passed    0.03 sec" >stopped.txt

obstacle_of() { [ "$1" != gfx90a_gate ] || echo "there is no such device"; }
commands_of() {
  case $1 in
    host-clang) cat ctest.txt; return 8 ;;
    host-gcc) cat clang.txt; return 1 ;;
    emulated) cat linker.txt; return 1 ;;
    asan) cat cmake.txt; return 1 ;;
    python) cat pytest.txt; return 1 ;;
    tsan) cat right.txt ;;
    peers) cat skipped.txt ;;
    fuzz) cat stopped.txt; return 124 ;;
    format) : ;;
    torch) (limited sleep 30) ;;
  esac
}
chosen="format host-clang host-gcc emulated asan python tsan peers fuzz gfx90a_gate"
{ run_all $chosen; print_report; } >said.txt 2>&1
status=$?
# What would not end in time is ended.
(within=1 SECONDS=58 chosen=torch always="" rows=() reasons="" sum_passed=0 sum_failed=0 sum_skipped=0; expected() { echo 1; }; run_all torch; print_report) >ended.txt 2>&1

faults=0
expect() { # expect FILE TEXT: a line has it
  grep -qF -- "$2" "$1" || { echo "FAILED: no line of $1 has: $2"; faults=$((faults + 1)); }
}
[ $status -eq 1 ] || { echo "FAILED: the status is $status"; faults=1; }
expect said.txt "=== step 2 of 9: host-clang, about 40 min"
expect said.txt "    built 50 % (10 of 20) after"
expect said.txt "  bad_test: a.wrong /src/t.cpp:3: Failure Expected equality of these values: x Which is: 3 4"
expect said.txt "  script_test: FAILED: no such kernel"
expect said.txt "  crash_test: Exception: SegFault"
expect said.txt "  regex_test: Failed  Required regular expression not found. Regex=[world"
expect said.txt "  absent_test: Not Run"
expect said.txt "  slow_test: Timeout"
expect said.txt "6 failed of 7: script_test: FAILED: no such kernel"
expect said.txt "1 failed of 1: CMakeFiles/bad.dir/bad.cpp.o: /src/bad.cpp:1:21: error: use of undeclared identifier"
expect said.txt "bin/program: link.cpp:(.text+0x10): undefined reference to \`f()'"
expect said.txt "configuration: CMake Error at CMakeLists.txt:4 (find_package): By not providing"
expect said.txt "  python/tests/test_x.py::test_error: ValueError: broken fixture"
expect said.txt "  python/tests/test_x.py::test_wrong[a b]: assert [1, 2] == [1, 3]"
expect said.txt "no package index: nobody answers"
expect said.txt "there is no such device"
expect said.txt "ended by the time of the run, not by itself (1 tests had passed)"
expect said.txt "1 tests, 1 skipped or with skipped parts"
expect said.txt "Not asked for, or without a turn: torch sm_90_gate"
# Passed: format, good_test, four of Python, good_test twice; failed: six, three builds, two of Python.
[ "$(tail -n 1 said.txt)" = "8 passed, 11 failed, 6 skipped" ] || { echo "FAILED: the last line is $(tail -n 1 said.txt)"; faults=1; }
[ "$(grep -c 'Building' said.txt)" -eq 0 ] || { echo "FAILED: lines of a build are shown"; faults=1; }
expect ended.txt "ended by the time of the run"
[ "$(tail -n 1 ended.txt)" = "0 passed, 0 failed, 1 skipped" ] || { echo "FAILED: the last line is $(tail -n 1 ended.txt)"; faults=1; }
[ $faults -eq 0 ] && echo "summaries are right" && exit 0
cat said.txt ended.txt
exit 1
