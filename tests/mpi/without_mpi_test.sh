#!/bin/bash
# A program of a build without MPI that a launcher started several times: the first one prints a line, all end with 2.
#
#   without_mpi_test.sh QUINTET-SVD
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
fail() { echo "FAILED: $*" >&2; cat errors.txt >&2; exit 1; }
echo 1,2 >a.csv
for variables in "OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_RANK" "PMI_SIZE PMI_RANK" "SLURM_STEP_NUM_TASKS SLURM_PROCID"; do
  read -r size rank <<<"$variables"
  for number in 0 1; do
    env "$size=2" "$rank=$number" "$1" --input a.csv --output s.csv >out.txt 2>errors.txt
    status=$?
    [ $status -eq 2 ] || fail "$size, rank $number: status $status"
    [ "$(wc -l <errors.txt)" -eq $((1 - number)) ] || fail "$size, rank $number: not one line of rank 0"
    [ ! -e s.csv ] && [ ! -s out.txt ] || fail "$size, rank $number: something is left"
  done
  grep -q "quintet-svd was started as 2 processes, and this build is without MPI" errors.txt && fail "rank 1 speaks"
  env "$size=1" "$rank=0" "$1" --input a.csv --output s.csv --quiet 2>errors.txt || fail "$size=1 is one process"
  rm s.csv
done
