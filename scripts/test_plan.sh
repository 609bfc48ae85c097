# What the steps of scripts/test need, which of them a run has, and whose turn it is; sourced by it, not run.

# The table: processor-seconds of building and testing, without ccache, on the machine of reference (two cores of an EPYC
# of the first generation, 2 GHz, AVX2: `reference_probe` below); seconds that no processor shortens (downloads, readers
# that are fuzzed for a given time); what it is. `~` marks what was counted from compilations, not measured: the summary
# of a run has a column with the processor-seconds of every step to put here.
steps_table="
  format          ~270   20  clang-format, ruff, mypy, import-linter, codespell, clang-tidy on what has changed
  host-clang    ~4700    0  clang: library, programs, examples, benchmarks, and all tests but the long ones
  python          260   30  the Python package on what host-clang built
  emulated      ~2700    0  kernels on a device with memory of its own
  torch          ~500  240  PyTorch's tests; its download has 2 to 3 GB where no index has the build for processors
  asan          ~3300    0  kernels and files under the sanitizers of addresses and undefined behaviour
  sm_90_gate    ~1700   10  registers and stack of every kernel for NVIDIA's Hopper
  host-gcc      ~2900    0  kernels by g++
  peers          ~900    70  the Python tests with hdbscan, pandas, matplotlib, arviz, umap and others, the slow ones too
  x86-64-v2     ~2900    0  kernels and the accuracy suite with registers of 128 bits, without fused multiply-adds
  fuzz           1060 fuzz  readers of files against libFuzzer
  x86-64-v3     ~2900    0  kernels and the accuracy suite with registers of 256 bits
  gfx90a_gate   ~1700    0  registers and scratch of every kernel for AMD's CDNA 2
  tsan          ~2400    0  what shares memory, under ThreadSanitizer
  portable      ~1900    0  what asks the system, with POSIX alone
  aarch64       ~3400   30  kernels on emulated 64-bit ARM, a part of the short list
  long               0 long  tests of host-clang that take minutes each, as many as the time allows
  check_install ~3600 300  the lines of README.md on a bare Debian 12
"
# Steps of every landing, and those that take turns: the first two of a turn are neighbours here, which both fit into the time.
always="format host-clang python"
rotating="emulated portable asan peers host-gcc sm_90_gate x86-64-v2 fuzz x86-64-v3 gfx90a_gate tsan long aarch64 torch"
first_of_turn=2
# Continuous integration ends a run after 90 minutes; this many are for the steps.
rotation_minutes=85
# Seconds for the long tests of one turn.
long_seconds=900
# Processor-seconds that the machine of reference takes for the probe, in hundredths.
reference_probe=800

declare -A work_of wait_of text_of
step_names=""
while read -r name work wait text; do
  [ -n "$name" ] || continue
  step_names="$step_names $name" work_of[$name]=${work#"~"} wait_of[$name]=$wait text_of[$name]=$text
done <<<"$steps_table"
all_steps() { printf '%s\n' $step_names; }
is_step() { [ -n "${work_of[$1]-}" ]; }

# expected STEP: seconds on this machine, from the table, `slower` (per cent of the machine of reference) and `cores`.
expected() {
  local work wait
  work=${work_of[$1]} wait=${wait_of[$1]}
  case $wait in
    fuzz) wait=$((8 * fuzz_seconds * 11 / 10 / (cores < 3 ? cores : 3))) ;;
    long) if [ -n "$within" ]; then wait=$long_seconds; else wait=21600; fi ;;
  esac
  [ -z "$family" ] || work=$((work * 6 / 10))
  echo $((work * slower / 100 / cores + wait + 1))
}

# Per cent of the time that the machine of reference takes: processor time of one compilation, with one on each core, because
# two threads of a core are slower together.
measure_machine() {
  local used
  command -v clang++-19 >/dev/null || { echo 100; return; }
  used=$( { TIMEFORMAT='%U %S'; time compile_probes; } 2>&1)
  awk -v reference="$reference_probe" -v copies="$cores" '{
    p = ($1 + $2) * 10000 / reference / copies
    print int(p < 10 ? 10 : p > 1000 ? 1000 : p)
  }' <<<"$used"
}
compile_probes() {
  local i
  for i in $(seq "$cores"); do
    clang++-19 -std=c++20 -O2 -x c++ -c - -o /dev/null <<'CPP' >/dev/null 2>&1 &
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <regex>
#include <string>
#include <vector>
int main(int n, char** v) {
  std::map<std::string, std::vector<double>> m;
  std::mt19937 g(12);
  for (int i = 0; i < n; ++i) m[v[i]].push_back(std::normal_distribution<>{}(g));
  for (auto& [k, x] : m) {
    std::sort(x.begin(), x.end());
    std::cout << k << x[0] << std::regex_match(k, std::regex("a.*b"));
  }
}
CPP
  done
  wait
}

# How many turns go round once.
turns_of_round() { set -- $rotating; echo $((($# + first_of_turn - 1) / first_of_turn)); }
# Which round a turn belongs to.
round_of() { echo $(($1 / $(turns_of_round))); }

# turn_of LANDING COMMITS: the number of a turn, from the number in .ci/landing and the commits since it was raised.
turn_of() { echo $(($1 + $2)); }

# The turn of this checkout.
current_turn() {
  local landing raised commits=0
  landing=$(grep -m 1 -E '^[0-9]+$' .ci/landing) || { echo "there is no number in .ci/landing" >&2; return 1; }
  raised=$(git log -1 --format=%H -- .ci/landing 2>/dev/null) && [ -n "$raised" ] &&
    commits=$(git rev-list --count "$raised..HEAD" 2>/dev/null || echo 0)
  turn_of "$landing" "$commits"
}

# steps_of_turn TURN: the rotating steps, those whose turn it is first. Every second time round a pair changes its order.
steps_of_turn() {
  local all=($rotating) turns begin
  turns=$(turns_of_round)
  begin=$(($1 % turns * first_of_turn))
  all=("${all[@]:begin}" "${all[@]:0:begin}")
  if [ $(($(round_of "$1") % 2)) -eq 1 ]; then all=("${all[1]}" "${all[0]}" "${all[@]:2}"); fi
  printf '%s\n' "${all[@]}"
}

# too_long STEP PASSED: why it is not started after so many seconds; empty where it would end in time, and for those that
# every run begins with.
too_long() {
  local needs
  [ -n "$within" ] && [[ " $always " != *" $1 "* ]] || return 0
  needs=$(expected "$1")
  [ $(($2 + needs)) -le $((60 * within)) ] ||
    echo "it needs $(minutes $needs), and $(minutes $((60 * within > $2 ? 60 * within - $2 : 0))) of $within are left"
}

minutes() { echo "$((($1 + 59) / 60)) min"; }

# plan STEP...: a line for each, `STEP SECONDS` for what will run, `STEP - REASON` for what will not, after `passed` seconds.
plan() {
  local step reason needs at=$passed
  for step in "$@"; do
    reason=$(obstacle_of "$step")
    [ -n "$reason" ] || reason=$(too_long "$step" "$at")
    if [ -n "$reason" ]; then echo "$step - $reason"; continue; fi
    needs=$(expected "$step")
    at=$((at + needs))
    echo "$step $needs"
  done
}

# print_plan STEP...: what runs, for how long, and what does not and why.
print_plan() {
  local step needs reason k=0 at=$passed count
  count=$(plan "$@" | awk '$2 != "-"' | wc -l)
  echo "Plan for $cores cores, each with $((10000 / slower)) % of the speed of the machine that the table was measured on:"
  while read -r step needs reason; do
    if [ "$needs" = - ]; then printf '  %-9s %-13s not now: %s\n' "" "$step" "$reason"; continue; fi
    k=$((k + 1)) at=$((at + needs))
    printf '  %2d of %-3d %-13s %8s, done after %8s  %s\n' $k "$count" "$step" "$(minutes "$needs")" "$(minutes $at)" "${text_of[$step]}"
  done < <(plan "$@")
  [ -z "$long" ] || echo "Long tests of other steps than \`long\` are not in these times."
  echo "About $(minutes $at) in all${within:+, of $within}; other programs on this machine make it longer, ccache shorter."
}
