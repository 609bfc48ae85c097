# Progress of scripts/test, what failed, and the summary; sourced by it, not run.
rows=() reasons="" parts_skipped=0 failures=0 sum_passed=0 sum_failed=0 sum_skipped=0

# Processor-seconds of everything that has ended, in processor_seconds.
count_processor_time() {
  local file=build/times-$$.txt
  times >"$file"
  processor_seconds=$(tr ',' '.' <"$file" | awk 'NR == 2 { for (i = 1; i <= 2; ++i) { split($i, t, "[ms]"); sum += 60 * t[1] + t[2] }; print int(sum) }')
  rm -f "$file"
}

# Passes lines on, but of a build only every tenth.
show_progress() {
  local line tenth=-1 begun=$SECONDS
  while IFS= read -r line; do
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\  ]]; then
      # One file takes no tenth of a build.
      [ "${BASH_REMATCH[2]}" -lt 20 ] || [ $((10 * BASH_REMATCH[1] / BASH_REMATCH[2])) -eq $tenth ] || {
        tenth=$((10 * BASH_REMATCH[1] / BASH_REMATCH[2]))
        echo "    built $((10 * tenth)) % (${BASH_REMATCH[1]} of ${BASH_REMATCH[2]}) after $(minutes $((SECONDS - begun)))"
      }
    elif [[ $line != '-- '* ]]; then printf '%s\n' "$line"; fi
  done 2>/dev/null
}

# results_of LOG: how many tests have passed, failed and been skipped, by ctest's line for each and pytest's last.
results_of() {
  awk '
    /Test +#[0-9]+: / {
      if (/ Passed /) ++passed
      else if (/\*\*\*Skipped/ || /\*\*\*Not Run \(Disabled\)/) ++skipped
      else if (/\*\*\*/) ++failed
    }
    /^(=+ )?[0-9]+ [a-z].* in [0-9.]+s/ {
      for (i = 2; i <= NF; ++i) {
        if ($i ~ /^passed/) passed += $(i - 1)
        if ($i ~ /^(failed|errors?)/) failed += $(i - 1)
        if ($i ~ /^skipped/) skipped += $(i - 1)
      }
    }
    END { print passed + 0, failed + 0, skipped + 0 }' "$1"
}

# report STEP RESULT SECONDS PROCESSOR EXPECTED PASSED FAILED SKIPPED TEXT
report() {
  rows+=("$(printf '%-13s %-8s %8s %9s %8s  %s' "$1" "$2" "$3" "$4" "$5" "$9")")
  sum_passed=$((sum_passed + $6)) sum_failed=$((sum_failed + $7)) sum_skipped=$((sum_skipped + $8))
  [ "$2" != FAILED ] || failures=1
}
report_skipped() {
  echo "=== $1: SKIPPED, $2"
  report "$1" skipped - - "$(expected "$1")" 0 0 1 "$2"
}

# run_step STEP K COUNT
run_step() {
  local step=$1 log=build/$1.log started=$SECONDS status result=passed text processor counts needs first
  needs=$(expected "$step")
  case $step in python | torch | peers) log=build/$step-tests.log ;; esac  # build/python.log is that of scripts/test_python
  echo "=== step $2 of $3: $step, about $(minutes "$needs"); $(minutes $SECONDS) of about $(minutes $((SECONDS + remaining))) have passed (all of it: $log)"
  count_processor_time
  processor=$processor_seconds
  commands_of "$step" 2>&1 | tee "$log" | show_progress
  status=${PIPESTATUS[0]}
  count_processor_time
  counts=($(results_of "$log"))
  text="$((counts[0] + counts[1])) tests"
  [ "${counts[2]}" -eq 0 ] || text="$text, ${counts[2]} skipped or with skipped parts"
  if [ "$status" -eq 77 ] || { [ "$status" -eq 0 ] && grep -q '^=== [a-z]*: SKIPPED' "$log"; }; then
    result=skipped text=$(sed -n 's/^=== [^ ]*: SKIPPED, //p' "$log" | tail -n 1)
    counts=(0 0 1)
  elif [ "$status" -ne 0 ]; then
    result=FAILED
    first=$(awk -f scripts/first_failures.awk "$log")
    if [ -n "$within" ] && { [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; } && [ "${counts[1]}" -eq 0 ]; then
      if [ "$step" = long ] && [ "${counts[0]}" -gt 0 ]; then result=passed text="$text, others ended after $((SECONDS - started)) s"
      elif [[ " $always " == *" $step "* ]]; then first="$step: did not end within the time of the run"
      else
        result=skipped text="ended by the time of the run, not by itself (${counts[0]} tests had passed)"
        counts[2]=$((counts[2] + 1))
      fi
    fi
    if [ $result = FAILED ]; then
      [ "${counts[1]}" -gt 0 ] || counts[1]=1
      reasons+=$'\n'"=== $step: FAILED (all of it: $log)"$'\n'"$(head -n 30 <<<"${first:-$(tail -n 3 "$log")}" | cut -c1-400 | sed 's/^/  /')"
      text="${counts[1]} failed of $((counts[0] + counts[1])): $(head -n 1 <<<"$first" | cut -c1-200)"
    fi
  fi
  [ $result != passed ] || [ "$((counts[0] + counts[1] + counts[2]))" -gt 0 ] || { counts[0]=1; text=""; }
  took=$((SECONDS - started))
  report "$step" $result $took $((processor_seconds - processor)) "$needs" "${counts[@]}" "$text"
  echo "=== $step: $result after $took s, $((processor_seconds - processor)) processor-seconds; expected were $needs s"
  parts_skipped=$((parts_skipped + $(sed -n 's/^\[  SKIPPED \] \([0-9]*\) tests\{0,1\}, listed below:.*/\1/p' \
    "build/$step/Testing/Temporary/LastTest.log" 2>/dev/null | paste -sd+ - | sed 's/^$/0/')))
  # A machine that is slower than was thought, or busy, will be so for the next step as well.
  [ "$needs" -lt 60 ] || [ $((took * 100)) -le $((needs * 110)) ] || [ $result = skipped ] || slower=$((slower * took / needs))
}

# run_all STEP...: each that nothing keeps from running and that would end in time.
run_all() {
  local step obstacle k=0 count rest=("$@")
  count=$(plan "$@" | awk '$2 != "-"' | wc -l)
  for step in "$@"; do
    obstacle=$(obstacle_of "$step")
    [ -n "$obstacle" ] || obstacle=$(too_long "$step" "$SECONDS")
    passed=$SECONDS
    remaining=$(plan "${rest[@]}" | awk '$2 != "-" { sum += $2 } END { print sum + 0 }')
    rest=("${rest[@]:1}")
    if [ -n "$obstacle" ]; then report_skipped "$step" "$obstacle"; continue; fi
    k=$((k + 1))
    run_step "$step" $k $((count > k ? count : k))
  done
}

# The summary; its status is 0 when all that ran has passed.
print_report() {
  local row step others=""
  [ -z "$reasons" ] || printf '%s\n' "$reasons"
  printf '\n%-13s %-8s %8s %9s %8s  %s\n' step result seconds processor expected tests
  for row in "${rows[@]}"; do printf '%s\n' "$row"; done
  for step in $(all_steps); do [[ " $chosen " == *" $step "* ]] || others="$others $step"; done
  [ -z "$others" ] || echo "Not asked for, or without a turn:$others"
  echo "$SECONDS s in all on $cores cores ($slower % of the time of the machine of reference), $parts_skipped parts of tests skipped in what ran (named in build/*/Testing/Temporary/LastTest.log)"
  echo "$sum_passed passed, $sum_failed failed, $sum_skipped skipped"
  return $failures
}
