# The steps of scripts/test and its summary; sourced by it, not run.
summary=() reasons="" skipped=0 failures=0
usage() { sed -n '2,/^set/{/^# \{0,1\}/s///p}' "$0"; }
wrong() { echo "$1" >&2; usage >&2; exit 2; }

[ -d /usr/local/cuda/bin ] && PATH=$PATH:/usr/local/cuda/bin
command -v ccache >/dev/null && export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 \
  CCACHE_SLOPPINESS=pch_defines,time_macros
# Three tests at a time, whose threads sleep while they wait: much of a test has one thread.
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)} CTEST_PARALLEL_LEVEL=3 OMP_WAIT_POLICY=passive

# obstacle_of STEP: why it cannot run; empty if it can.
obstacle_of() {
  [ "$SECONDS" -lt $((60 * stop_after)) ] || { echo "$stop_after minutes had passed"; return; }
  case $1 in
    sm_90*) command -v ptxas >/dev/null || echo "ptxas of the CUDA toolkit was not found" ;;
    gfx*) has_rocm || echo "rocm-device-libs was neither found nor installed" ;;
    emulated) [ "$(uname -m)" = x86_64 ] || echo "its offload plugin exists on x86_64 only" ;;
    tsan) [ -e "$(dirname "$(clang++-19 -print-file-name=libomp.so)")/libarcher.so" ] || echo "libarcher.so was not found" ;;
  esac
}

# Whether AMD's device libraries are there (the places of cmake/QuintetRocm.cmake), after an attempt to install them.
has_rocm() {
  local folder
  for folder in "${HIP_DEVICE_LIB_PATH-}" "${ROCM_PATH:-/opt/rocm}/amdgcn/bitcode" /usr/lib/*/amdgcn/bitcode /usr/lib/amdgcn/bitcode; do
    [ ! -e "$folder/ocml.bc" ] || return 0
  done
  [ -n "$install" ] && command -v apt-get >/dev/null && install_packages "AMD's gate" $packages_amd >&2
}

# Names the sources that clang-format would change.
check_format() {
  local unformatted
  unformatted=$(git ls-files '*.hpp' '*.cpp' '*.h' '*.c' 2>/dev/null | xargs -r clang-format-19 --dry-run -Werror 2>&1 |
    sed -n 's/:.*error:.*//p' | sort -u | tr '\n' ' ')
  [ -z "$unformatted" ] || report format FAILED 0 "run clang-format-19 -i on $unformatted"
}

# report STEP RESULT SECONDS TEXT
report() {
  summary+=("$*")
  [ "$2" != FAILED ] || { failures=1; reasons+=$'\n'"=== $1: FAILED, $4"; }
}
report_skipped() { echo "=== $1: SKIPPED, $2"; report "$1" skipped - "$2"; }

# Configures, builds and tests; with --long all targets and all tests of the preset, if it is more than a gate.
preset_commands() {
  [ "$1" != aarch64 ] || scripts/aarch64_sysroot || return
  cmake --preset "$1" || return
  if [ -n "$long" ] && [[ $1 != *_gate ]]; then cmake --build "build/$1" && ctest --test-dir "build/$1" --output-on-failure --no-tests=error
  else cmake --build --preset "$1" && ctest --preset "$1"; fi
}

run_preset() {
  local started=$SECONDS log=build/$1.log result=passed
  echo "=== $1 (all of it: $log)"
  preset_commands "$1" 2>&1 | tee "$log" | grep -av '^\[[0-9]*/[0-9]*\]\|^-- '
  [ "${PIPESTATUS[0]}" -eq 0 ] || result=FAILED
  report "$1" $result $((SECONDS - started)) "$(sed -n 's/.*tests passed, \(.*\)/\1/p' "$log" | tail -n 1)$(
    sed -n '/FAILED:$/,$s/^\t *[0-9]* - \([^ ]*\) .*/ \1/p' "$log" | tr -d '\n')"
  [ $result = passed ] || reasons+=$'\n'$(grep -aE -A9 ' error: |Error |^FAILED|: Failure$|Error:' "$log" | cut -c1-400 | head -n 60)
  skipped=$((skipped + $(sed -n 's/^\[  SKIPPED \] \([0-9]*\) tests\{0,1\}, listed below:.*/\1/p' \
    "build/$1/Testing/Temporary/LastTest.log" 2>/dev/null | paste -sd+ - | sed 's/^$/0/')))
}

# The Python package against the library that host-clang has built.
run_python() {
  local started=$SECONDS log=build/python-tests.log result=passed
  [ -e build/host-clang/src/libquintet.a ] || { report_skipped python "host-clang has built no library"; return; }
  scripts/test_python --built build/host-clang 2>&1 | tee "$log" || result=FAILED
  ! grep -q '^=== python: SKIPPED' "$log" || result=skipped
  report python $result $((SECONDS - started)) "$(
    sed -n 's/^=== python: \(SKIPPED.*\)/\1/p; s/^\(.* passed.*\) in .*/\1/p' "$log" | tail -n 1)"
}

# The summary; its status is 0 when all that ran has passed.
print_report() {
  local line
  printf '%s\n\n%-12s %-8s %8s  %s\n' "$reasons" step result seconds tests
  for line in "${summary[@]}"; do
    printf '%-12s %-8s %8s  %s\n' ${line%% *} $(cut -d' ' -f2,3 <<<"$line") "$(cut -d' ' -f4- <<<"$line")"
  done
  echo "$SECONDS s in all, $skipped tests skipped in what ran (named in build/*/Testing/Temporary/LastTest.log)"
  return $failures
}
