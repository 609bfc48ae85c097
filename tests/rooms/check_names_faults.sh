#!/usr/bin/env bash
# check_names_faults.sh PYTHON: check_names.py finds each kind of declaration that it looks for and accepts the rest.
set -eu
python=$1
check=$(cd "$(dirname "$0")" && pwd)/check_names.py
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/src/svd" "$tree/tests/rooms"

# expect STATUS CODE [LEDGER]: a file with that code, and the ledger's line.
expect() {
  local status=0
  echo "$2" >"$tree/src/svd/a.cpp"
  echo "${3:-}" >"$tree/tests/rooms/names_ledger.txt"
  "$python" "$check" --source "$tree" >"$tree/log" 2>&1 || status=$?
  [ "$status" -eq "$1" ] && return
  echo "$2: status $status, not $1"
  cat "$tree/log"
  exit 1
}

expect 1 'const auto found = std::find(a, b, c);'
expect 1 'for (const branch& one : branches) use(one);'
expect 1 'void run(const parameters& now, bool propose);'
expect 1 'double* mine;'
expect 1 'const auto& [made, weight] = pair;'
expect 1 'std::vector<int> kept(n, 0);'
expect 1 'bool here(std::int64_t k) const;'
expect 1 'report& told_;'
expect 0 'const auto it = std::find(a, b, c);  // found = here'
expect 0 'const scalar one = same<scalar>(real(1));'
expect 0 'const char* what() const noexcept override;'
expect 0 'return found(a) ? x : y;'
expect 0 'text("int found = 1;");'
expect 0 'double* mine;' 'src/svd/a.cpp mine 1'
expect 1 'double *mine; double* mine;' 'src/svd/a.cpp mine 1'
