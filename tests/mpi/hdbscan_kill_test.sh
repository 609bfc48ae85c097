#!/bin/bash
# quintet-hdbscan under mpirun, a rank of which is killed at some step: all ranks end within ten seconds, no output is there,
# and --resume gives the bytes of a run of one process.
#
#   hdbscan_kill_test.sh QUINTET-HDBSCAN KILLS MPIRUN...
set -u
program=$1 kills=$2
shift 2
mpirun=("$@")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
fail() { echo "FAILED: $*" >&2; cat errors.txt >&2; ls -lR . >&2; exit 1; }
RANDOM=${SEED:-$$}
echo "seed: ${SEED:-$$}"

# By tiles of pairs, and by a tree of blocks.
for set in "tiles 1500 5" "tree 2600 2"; do
  read -r name points dim <<<"$set"
  awk -v n="$points" -v dim="$dim" 'BEGIN { srand(3); for (i = 0; i < n; ++i) {
    if (i % 9 == 4) { print line; continue }  # ties
    c = int(6 * rand()); line = ""
    for (d = 0; d < dim; ++d) line = line (d ? "," : "") (c * (d + 1) % 7 + rand()); print line } }' >"$name.csv"
  "$program" --input "$name.csv" --output "expected_$name.csv" --quiet 2>errors.txt || fail "one process"
done

# Processes of this test that still run; zombies wait for their parent.
alive() { ps -eo stat=,args= | awk -v work="$work" '$1 !~ /^Z/ && index($0, work "/t") && !/awk/' | wc -l; }

interrupted=0 i=0
while [ $i -lt "$kills" ]; do
  i=$((i + 1))
  ranks=$((2 + RANDOM % 3)) victim=$((RANDOM % ranks)) step=$((RANDOM % 6))
  name=tiles
  [ $((i % 2)) -eq 0 ] && name=tree
  rm -rf saved out.csv
  QUINTET_MPI_FAULT=kill:$victim:$step timeout 60 "${mpirun[@]}" -n $ranks "$program" --input "$work/$name.csv" \
    --output out.csv --quiet --checkpoint saved --checkpoint-minutes 0 >errors.txt 2>&1
  status=$?
  [ $status -ne 124 ] || fail "$name, rank $victim of $ranks killed at step $step: the others wait"
  if [ $status -ne 0 ]; then
    interrupted=$((interrupted + 1))
    for _ in $(seq 100); do [ "$(alive)" -eq 0 ] && break; sleep 0.1; done
    [ "$(alive)" -eq 0 ] || fail "processes after ten seconds"
    [ ! -e out.csv ] || fail "an output of a run that was killed"
    timeout 60 "${mpirun[@]}" -n $ranks "$program" --input "$work/$name.csv" --output out.csv --quiet \
      --checkpoint saved --checkpoint-minutes 0 --resume >errors.txt 2>&1 || fail "going on"
  fi
  cmp "expected_$name.csv" out.csv >errors.txt 2>&1 || fail "$name, rank $victim of $ranks killed at step $step: other bytes"
  [ -z "$(ls -A saved)" ] || fail "a checkpoint is left"
done
# One process, without a launcher.
for name in tiles tree; do
  for step in 0 1 2 3; do
    rm -rf saved out.csv
    command=("$program" --input "$work/$name.csv" --output out.csv --quiet --checkpoint saved --checkpoint-minutes 0)
    QUINTET_MPI_FAULT=kill:0:$step timeout 60 "${command[@]}" >errors.txt 2>&1
    status=$?
    if [ $status -ne 0 ]; then
      interrupted=$((interrupted + 1)) alone=1
      [ $status -eq 137 ] && [ ! -e out.csv ] || fail "$name, one process killed at step $step: status $status"
      timeout 60 "${command[@]}" --resume >errors.txt 2>&1 || fail "going on as one process"
    fi
    cmp "expected_$name.csv" out.csv >errors.txt 2>&1 || fail "$name, one process killed at step $step: other bytes"
    [ -z "$(ls -A saved)" ] || fail "a checkpoint of one process is left"
  done
done
[ -n "${alone-}" ] || fail "no run of one process was interrupted"
[ $interrupted -gt 0 ] || fail "no run was interrupted"
echo "$interrupted of $kills runs were interrupted"
