#!/usr/bin/env bash
# spoiled_test.sh QUINTET_ACCURACY_SPOILED: one product inside a kernel, of the many that a case computes, is twice what it
# should be. None, and the case passes. Not every product decides about a result: those of padding, or of pairs that are
# not among the nearest, do not. But of some that are spread over a run of each family, three at least must be noticed.
set -eu
accuracy=$1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export OMP_NUM_THREADS=1

# run TERM CASE: the exit status of the fast cases CASE with product TERM wrong; 0: none.
run() {
  local status=0
  QUINTET_SPOILED_TERM=$1 "$accuracy" --fast --quiet --devices host --filter "$2" >"$log" 2>&1 || status=$?
  echo $status
}
for case in hdbscan/reachability_rows/float/metric=euclidean poincare/mobius_add/double spgemm/multiply/double \
  svd/decompose/float/rows=2, snp/site_log_likelihood; do
  [ "$(run 0 "$case")" -eq 0 ] || { echo "$case fails with every term right"; cat "$log"; exit 1; }
  noticed=0
  for term in {1..60..3} 200 400 900 1600; do
    status=$(run $term "$case")
    if [ "$status" -eq 1 ]; then
      grep -q "^FAILED .*has an error of" "$log" || { cat "$log"; exit 1; }
      noticed=$((noticed + 1))
    elif [ "$status" -ne 0 ]; then
      echo "product $term of $case is wrong: exit status $status"
      cat "$log"
      exit 1
    fi
  done
  echo "$case: $noticed of 24 wrong products were noticed"
  [ $noticed -ge 3 ] || exit 1
done
