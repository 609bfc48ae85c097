# What scripts/test says at its end, with the checks that no preset builds; sourced by it, not run.
summary=() reasons="" skipped=0 failures=0 python=""

# Names the sources that clang-format would change.
report_format() {
  local unformatted
  unformatted=$(git ls-files '*.hpp' '*.cpp' '*.h' '*.c' | xargs clang-format-19 --dry-run -Werror 2>&1 | sed -n 's/:.*error:.*//p')
  [ -z "$unformatted" ] || {
    failures=1
    reasons+=$'\n'"=== format: FAILED, run clang-format-19 -i on "$(sort -u <<<"$unformatted" | tr '\n' ' ')
    summary+=("format FAILED 0 run clang-format-19 -i on $(sort -u <<<"$unformatted" | tr '\n' ' ')")
  }
}

# report_skipped PRESET WHY
report_skipped() {
  echo "=== $1: SKIPPED, $2"
  summary+=("$1 skipped - $2")
}

# report_preset PRESET RESULT SECONDS LOG: counts what CTest skipped and names what failed, with the first errors of the log.
report_preset() {
  [ "$2" = passed ] || {
    failures=1
    reasons+=$'\n'"=== $1: FAILED"$'\n'$(grep -aE -A9 ' error: |Error |^FAILED|: Failure$|Error:' "$4" | cut -c1-400 | head -n 60)
  }
  skipped=$((skipped + $(sed -n 's/^\[  SKIPPED \] \([0-9]*\) tests\{0,1\}, listed below:.*/\1/p' \
    "build/$1"*/Testing/Temporary/LastTest.log 2>/dev/null | paste -sd+ - | sed 's/^$/0/')))
  summary+=("$1 $2 $3 $(sed -n 's/.*tests passed, \(.*\)/\1/p' "$4" | tail -n 1)$(
    sed -n '/FAILED:$/,$s/^\t *[0-9]* - \([^ ]*\) .*/ \1/p' "$4" | tr -d '\n')")
}

# report_python PRESET: the Python package against the library that PRESET has built, the first that has one.
report_python() {
  local result=passed started=$SECONDS log=build/python-tests.log
  [ -z "$python" ] && [ -e "build/$1/src/libquintet.a" ] || return 0
  python=$1
  scripts/test_python --built "build/$1" 2>&1 | tee "$log" || { result=FAILED; failures=1; }
  ! grep -q '^=== python: SKIPPED' "$log" || result=skipped
  summary+=("python $result $((SECONDS - started)) $(
    sed -n 's/^=== python: \(SKIPPED.*\)/\1/p; s/^\(.* passed.*\) in .*/\1/p' "$log" | tail -n 1)")
}

# print_report SECONDS: the summary; its status is 0 when all that ran has passed.
print_report() {
  local line
  printf '%s\n\n%-12s %-8s %8s  %s\n' "$reasons" preset result seconds tests
  for line in "${summary[@]}"; do
    printf '%-12s %-8s %8s  %s\n' ${line%% *} $(cut -d' ' -f2,3 <<<"$line") "$(cut -d' ' -f4- <<<"$line")"
  done
  echo "$1 s in all, $skipped tests skipped in what ran (named in build/*/Testing/Temporary/LastTest.log)"
  return $failures
}
