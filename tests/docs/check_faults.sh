#!/usr/bin/env bash
# check_faults.sh PYTHON CXX: check_docs.py finds what it looks for, each fault planted in a tree of its own.
set -eu
python=$1 cxx=$2
check=$(cd "$(dirname "$0")" && pwd)/check_docs.py
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

# expect WHAT MESSAGE: README.md of standard input has to fail with MESSAGE, or with an empty one to pass.
expect() {
  local what=$1 message=$2 status=0
  rm -rf "$tree/source" "$tree/work"
  mkdir -p "$tree/source/docs" "$tree/source/examples" "$tree/build/bin"
  echo 'int main() { return 0; }' >"$tree/source/examples/main.cpp"
  cat >"$tree/source/README.md"
  "$python" "$check" "$what" --source "$tree/source" --build "$tree/build" --work "$tree/work" \
    --cxx "$cxx -std=c++20 -fsyntax-only" --cc "$cxx -x c -fsyntax-only" >"$tree/log" 2>&1 || status=$?
  if [ -z "$message" ]; then
    [ "$status" -eq 0 ] || { cat "$tree/log"; exit 1; }
  elif [ "$status" -ne 1 ] || ! grep -q -e "$message" "$tree/log"; then
    echo "not found: $message (status $status)"
    cat "$tree/log"
    exit 1
  fi
}

fence='```'
expect links '' <<<'# A title'$'\n\n''[here](#a-title), [there](examples/main.cpp), `examples/main.cpp`'
expect links 'the link nowhere.md leads nowhere' <<<'[there](nowhere.md)'
expect links 'no heading of that name' <<<'# A title'$'\n\n''[here](#another)'
expect links 'does not exist' <<<'`src/nothing.cpp`'
expect links 'no program has the option --nonsense' <<<'`quintet-x --nonsense`'
expect links 'there is no function nonsense()' <<<'`quintet::nonsense()`'
expect links 'a block by indentation' <<<$'Text\n\n    make'
expect links 'a block needs a language' <<<"$fence"$'\nmake\n'"$fence"
expect links 'skip needs a reason' <<<$'<!-- docs: skip -->\n'"${fence}sh"$'\nmake\n'"$fence"
expect links 'unknown note' <<<'<!-- docs: ignore -->'
expect code '' <<<"${fence}cpp"$'\nconst int x = 1;\n'"$fence"$'\n<!-- docs: prelude\nvoid f() {\n-->\n'"${fence}cpp"$'\nint y = 1;\n++y;\n'"$fence"
expect code 'unknown type name\|does not name a type' <<<"${fence}cpp"$'\nwrong x = 1;\n'"$fence"
expect code 'must be a file of examples' <<<"${fence}cpp"$'\nint main() {}\n'"$fence"
expect code '' <<<$'<!-- docs: same-as examples/main.cpp -->\n'"${fence}cpp"$'\nint main() { return 0; }\n'"$fence"
expect code 'these lines are not in' <<<$'<!-- docs: same-as examples/main.cpp -->\n'"${fence}cpp"$'\nint main() { return 1; }\n'"$fence"
expect commands '1 blocks run' <<<"${fence}sh"$'\nfalse\n'"$fence"
expect commands 'exit status 3' <<<"${fence}sh"$'\nexit 3\n'"$fence"
expect commands 'but it is' <<<"${fence}sh"$'\necho 1\n'"$fence"$'\n<!-- docs: output -->\n'"${fence}text"$'\n2\n'"$fence"
expect commands 'exit status 1' <<<"${fence}sh"$'\ntrue\n'"$fence"$'\n<!-- docs: run\nfalse\n-->'
expect commands '' <<<"${fence}sh"$'\necho 1\n'"$fence"$'\n<!-- docs: output -->\n'"${fence}text"$'\n1\n'"$fence"
echo "all planted faults were found"
