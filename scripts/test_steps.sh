# The steps of scripts/test: what may keep one from running, and what it does; sourced by it, not run.
usage() { sed -n '2,/^set/{/^# \{0,1\}/s///p}' "$0"; }
wrong() { echo "$1" >&2; usage >&2; exit 2; }

[ -d /usr/local/cuda/bin ] && PATH=$PATH:/usr/local/cuda/bin
command -v ccache >/dev/null && export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 \
  CCACHE_SLOPPINESS=pch_defines,time_macros
# Three tests at a time, whose threads sleep while they wait: much of a test has one thread.
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)} CTEST_PARALLEL_LEVEL=3 OMP_WAIT_POLICY=passive

families="hdbscan neighbours poincare snp spgemm svd"
default_steps="format host-clang python emulated asan sm_90_gate host-gcc"

# The processor has all of these instructions.
cpu_has() {
  local flag
  for flag in "$@"; do grep -qm 1 -w -- "$flag" /proc/cpuinfo 2>/dev/null || return 1; done
}

# obstacle_of STEP: why it cannot run here; empty if it can, or if what it needs can be installed.
obstacle_of() {
  local machine
  machine=$(uname -m)
  case $1 in
    python | torch | peers | long)
      [ -e build/host-clang/src/libquintet.a ] || { [ -z "$running" ] && [[ " $chosen " == *" host-clang "* ]]; } ||
        echo "host-clang has built no library" ;;
    emulated)
      if [ "$machine" != x86_64 ]; then echo "its offload plugin exists on x86_64 only"
      elif ! cpu_has avx2 fma; then echo "it is compiled for AVX2, which this processor lacks"; fi ;;
    x86-64-v2)
      if [ "$machine" != x86_64 ]; then echo "this is no x86_64 processor"
      elif ! cpu_has sse4_2 popcnt cx16; then echo "this processor lacks SSE4.2"; fi ;;
    x86-64-v3)
      if [ "$machine" != x86_64 ]; then echo "this is no x86_64 processor"
      elif ! cpu_has avx2 fma bmi2 f16c movbe; then echo "this processor lacks AVX2"
      elif ! cpu_has avx512f; then echo "this processor has no AVX-512, so that host-clang has run with the registers of x86-64-v3 already"; fi ;;
    tsan) ! command -v clang++-19 >/dev/null || [ -e "$(dirname "$(clang++-19 -print-file-name=libomp.so)")/libarcher.so" ] ||
      echo "libarcher.so was not found" ;;
    check_install) [ "$(id -u)" -eq 0 ] || echo "it makes a system of its own and needs root" ;;
  esac
}

# Whether AMD's device libraries are there (the places of cmake/QuintetRocm.cmake).
has_rocm() {
  local folder
  for folder in "${HIP_DEVICE_LIB_PATH-}" "${ROCM_PATH:-/opt/rocm}/amdgcn/bitcode" /usr/lib/*/amdgcn/bitcode /usr/lib/amdgcn/bitcode; do
    [ ! -e "$folder/ocml.bc" ] || return 0
  done
  return 1
}

# skip STEP REASON: the last words of a step that could not be prepared.
skip() { echo "=== $1: SKIPPED, $2"; return 77; }

# prepare STEP: fetches what only it needs.
prepare() {
  case $1 in
    sm_90*) command -v ptxas >/dev/null || [ -x build/cuda12/bin/ptxas ] || { [ -n "$install" ] && limited scripts/get_ptxas; } ||
      skip "$1" "ptxas of the CUDA toolkit was neither found nor fetched" ;;
    gfx*) has_rocm || { [ -n "$install" ] && install_packages "AMD's gate" $packages_amd && has_rocm; } ||
      skip "$1" "rocm-device-libs was neither found nor installed" ;;
    aarch64*) limited scripts/aarch64_sysroot || skip "$1" "the sysroot could not be made" ;;
    check_install) command -v debootstrap >/dev/null || { [ -n "$install" ] && install_packages "check_install" debootstrap; } ||
      skip "$1" "debootstrap was neither found nor installed" ;;
  esac
}

# limited COMMAND...: ends it when the time of the run is over, with status 124.
limited() {
  local left=$((60 * ${within:-0} - SECONDS))
  if [ -z "$within" ]; then "$@"; else timeout -k 20 $((left > 1 ? left : 1)) "$@"; fi
}

# The checks of sources, a line for each tool.
format_commands() {
  local options=()
  [ -z "$long" ] || options+=(--all)
  [ -n "$install" ] || options+=(--no-install)
  limited scripts/check_style "${options[@]}"
}

# Configures, builds and tests a preset; with --long all targets and all tests of it, if it is more than a gate.
preset_commands() {
  local options=() labels=()
  [ "$1" != fuzz ] || options=(-DQUINTET_FUZZ_SECONDS="$fuzz_seconds")
  limited cmake --preset "$1" "${options[@]}" || return
  if [ -n "$family" ]; then
    labels=(-L "^$family\$")
    limited cmake --build "build/$1" --target "${family}_tests" || return
    if [ -z "$long" ]; then limited ctest --preset "$1" "${labels[@]}"
    else limited ctest --test-dir "build/$1" --output-on-failure --no-tests=error "${labels[@]}"; fi
  elif [ -n "$long" ] && [[ $1 != *_gate && $1 != fuzz ]]; then
    limited cmake --build "build/$1" || return
    if [ "$1" = host-clang ] && [[ " $chosen " == *" long "* ]]; then limited ctest --preset "$1"
    else limited ctest --test-dir "build/$1" --output-on-failure --no-tests=error; fi
  else
    limited cmake --build --preset "$1" || return
    # Half of a shorter list: emulated registers take a hundred times as long.
    if [ "$1" = aarch64 ] && [ -n "$rotate" ]; then limited ctest --preset aarch64_part -I "$(($(round_of "$turn") % 2 + 1)),,2"
    else limited ctest --preset "$1"; fi
  fi
}

# The long tests of host-clang; within a time five of them, later ones at each turn. What needs the logs of seven others is
# for runs without limit.
long_commands() {
  local names begin part=5
  limited cmake --build build/host-clang || return
  if [ -z "$within" ]; then
    ctest --test-dir build/host-clang --output-on-failure --no-tests=error -L '^long$'
    return
  fi
  names=($(ctest --test-dir build/host-clang -N -L '^long$' 2>/dev/null | sed -n 's/^ *Test *#[0-9]*: //p' | grep -vx kernels_are_executed))
  begin=$(($(round_of "$turn") * part % ${#names[@]}))
  names=("${names[@]:begin}" "${names[@]:0:begin}")
  echo "Long tests $((begin + 1)) to $((begin + part)) of ${#names[@]}, for at most $long_seconds s"
  limited timeout -k 20 "$long_seconds" ctest --test-dir build/host-clang --output-on-failure --no-tests=error \
    -R "^($(IFS='|'; echo "${names[*]:0:part}"))\$"
}

commands_of() {
  prepare "$1" || return
  case $1 in
    format) format_commands ;;
    python) limited scripts/test_python --built build/host-clang ;;
    torch | peers) limited scripts/test_python --built build/host-clang "--$1" ;;
    long) long_commands ;;
    check_install) limited scripts/check_install ;;
    *) preset_commands "$1" ;;
  esac
}
