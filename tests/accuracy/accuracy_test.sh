#!/usr/bin/env bash
# accuracy_test.sh [EMULATOR...] QUINTET_ACCURACY: the fast cases pass on every device and give the same bytes with any
# number of threads. What a wrong term does: spoiled_test.sh.
set -eu
accuracy=("$@")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"${accuracy[@]}" --fast --quiet --hdf5 "$work/all.h5"
for threads in 1 3; do
  OMP_NUM_THREADS=$threads "${accuracy[@]}" --fast --quiet --devices host --json "$work/$threads.json" >"$work/log"
done
cmp "$work/1.json" "$work/3.json" || { echo "1 and 3 threads differ"; exit 1; }

# What has no baseline fails, and is counted as new when it becomes one.
few=(--fast --quiet --devices host --filter spgemm/multiply/ --baseline "$work/new.json")
! "${accuracy[@]}" "${few[@]}" >"$work/log" || { echo "no baseline, and no failure"; exit 1; }
grep -q "^FAILED .*has no baseline" "$work/log"
"${accuracy[@]}" "${few[@]}" --update-baseline >"$work/log" || { cat "$work/log"; exit 1; }
grep -q " [1-9][0-9]* new in the baseline, 0 beyond what it was$" "$work/log" && ! grep -q FAILED "$work/log" ||
  { cat "$work/log"; exit 1; }
"${accuracy[@]}" "${few[@]}" >"$work/log" || { cat "$work/log"; exit 1; }
status=0
"${accuracy[@]}" --filter no-such-case >"$work/log" 2>&1 || status=$?
[ "$status" -eq 2 ] || { echo "an unknown case: exit status $status, not 2"; exit 1; }
for devices in gpu host,gpu; do
  status=0
  "${accuracy[@]}" --devices $devices >"$work/log" 2>&1 || status=$?
  [ "$status" -eq 2 ] && grep -qF "host, emulated, offload (--devices=$devices)" "$work/log" ||
    { echo "--devices $devices: exit status $status, not 2"; cat "$work/log"; exit 1; }
done
