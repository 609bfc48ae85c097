#!/usr/bin/env bash
# check_faults.sh PYTHON: check_rooms.py finds what it looks for, each fault planted in a tree of its own.
set -eu
python=$1
check=$(cd "$(dirname "$0")" && pwd)/check_rooms.py
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

# expect FILE HEADER MESSAGE: FILE with that include has to fail with MESSAGE, or with an empty one to pass.
expect() {
  local status=0
  rm -rf "${tree:?}"/*
  mkdir -p "$tree/$(dirname "$1")"
  echo "#include \"$2\"" >"$tree/$1"
  "$python" "$check" --source "$tree" >"$tree/log" 2>&1 || status=$?
  if [ -z "$3" ]; then
    [ "$status" -eq 0 ] && return
  else
    [ "$status" -eq 1 ] && grep -q -F -e "$3" "$tree/log" && return
  fi
  echo "$1 with $2: status $status, not \"$3\""
  cat "$tree/log"
  exit 1
}

expect src/hdbscan/a.cpp pairwise/panels.hpp ''
expect src/hdbscan/tree_stages/a.cpp quintet/core/error.hpp ''
expect src/hdbscan/a.cpp instantiate.hpp ''
expect src/pairwise/a.cpp quintet/hdbscan/edge.hpp 'pairwise must not include quintet/hdbscan/edge.hpp'
expect src/hdbscan/a.cpp poincare/ball.hpp 'hdbscan must not include poincare/ball.hpp'
expect src/c/a.cpp quintet/hdbscan/hdbscan.hpp ''
expect src/c/a.cpp hdbscan/finish.hpp 'c must not include hdbscan/finish.hpp'
expect include/quintet/svd/a.hpp quintet/io/csv.hpp 'svd must not include quintet/io/csv.hpp'
expect include/quintet/hdbscan/a.hpp pairwise/panels.hpp 'a public header must not include pairwise/panels.hpp'
expect src/attic/a.cpp core/polled.hpp 'attic is no room'
# Parts of divided rooms.
expect src/snp/likelihood/a.cpp snp/network/numbers.hpp ''
expect src/snp/network/a.cpp snp/likelihood/plan.hpp "snp's part network must not include snp/likelihood/plan.hpp of the part likelihood"
expect include/quintet/snp/markers/a.hpp quintet/snp/inference/priors.hpp "snp's part markers must not include"
expect src/snp/a.cpp snp/network/numbers.hpp 'a.cpp is in no part, or in two, of snp'
expect src/pairwise/tree_a.cpp pairwise/neighbours.hpp ''
expect src/distributed/a.cpp hdbscan/boruvka.hpp ''
expect src/distributed/a.cpp quintet/mpi/communicator.hpp 'distributed must not include quintet/mpi/communicator.hpp'
expect src/pairwise/dense_kernel.hpp pairwise/neighbours.hpp "pairwise's part tiles must not include"
expect src/hdbscan/tree_stages/a.cpp hdbscan/boruvka.hpp "hdbscan's part tree stage must not include"
expect src/svd/sweeps.hpp svd/kabsch.hpp 'svd/kabsch.hpp'
# The header of a family leads to all others.
rm -rf "${tree:?}"/*
mkdir -p "$tree/include/quintet/svd"
echo '#include "quintet/svd/options.hpp"' >"$tree/include/quintet/svd/svd.hpp"
touch "$tree/include/quintet/svd/options.hpp" "$tree/include/quintet/svd/kabsch.hpp"
! "$python" "$check" --source "$tree" >"$tree/log" 2>&1
grep -qx "include/quintet/svd/svd.hpp must include quintet/svd/kabsch.hpp" "$tree/log" || { cat "$tree/log"; exit 1; }
