#!/usr/bin/env bash
# plan_test.sh SOURCE: eight landings in a row run every step of scripts/test --rotate, and nothing is begun that would not
# end; the table has every preset with tests.
set -u
cd "$1" || exit 1
. scripts/test_plan.sh
faults=0
expect() { # expect WHAT COMMAND...
  local what=$1
  shift
  "$@" || { echo "FAILED: $what"; faults=$((faults + 1)); }
}
obstacle_of() { :; }
# What the machine of reference is, with the time of CI.
cores=2 slower=100 within=$rotation_minutes family="" long="" fuzz_seconds=60 passed=60

runs_of() { plan $always $(steps_of_turn "$1") | awk '$2 != "-" { print $1 }'; }
has_all() { # has_all LIST NAME...: all names are in the list
  local list=$1 name
  shift
  for name in "$@"; do grep -qx -- "$name" <<<"$list" || { echo "  $name is missing"; return 1; }; done
}

for step in $always $rotating; do
  expect "$step is in the table" is_step "$step"
  expect "$step has a time above 0" test "$(expected "$step")" -gt 1
done
expect "eight landings are a round" test "$(turns_of_round)" -le 8

declare -A runs
for turn in $(seq 0 30); do runs[$turn]=$(runs_of "$turn"); done
for begin in $(seq 0 22); do
  union=""
  for turn in $(seq "$begin" $((begin + 7))); do union+=${runs[$turn]}$'\n'; done
  expect "eight landings from turn $begin run everything" has_all "$union" $always $rotating
done
for turn in $(seq 0 15); do
  expect "turn $turn runs what it begins with" has_all "${runs[$turn]}" $always $(steps_of_turn "$turn" | head -n "$first_of_turn")
  expect "turn $turn ends in time" awk -v limit=$((60 * within)) -v at=$passed '$2 != "-" { at += $2 } END { exit at > limit }' \
    <(plan $always $(steps_of_turn "$turn"))
done
# A slow machine begins every step but those of every run later than it may end.
slower=400
late=$(plan $always $(steps_of_turn 3))
expect "what does not fit is named with its time" grep -q '^x86-64-v2 - it needs [0-9]* min, and 0 min of 85 are left$' <<<"$late"
expect "what every run begins with is begun" has_all "$(awk '$2 != "-" { print $1 }' <<<"$late")" $always
slower=100
# A pair changes its order every second time round, so that each comes first where both do not fit.
round=$(turns_of_round)
expect "pairs change their order" test "$(steps_of_turn 2 | head -n 2)" = "$(steps_of_turn $((2 + round)) | head -n 2 | tac)"

# The number of .ci/landing, and commits where nobody raises it.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
commit() { git -c user.name=t -c user.email=t@t commit -q --allow-empty -m "$1"; }
turn_after() { (cd "$folder/clone" && current_turn); }
mkdir -p "$folder/clone/.ci" && cd "$folder/clone" || exit 1
expect "no number is an error" bash -c ". $OLDPWD/scripts/test_plan.sh; ! current_turn 2>/dev/null"
printf '# raised\n7\n' >.ci/landing
expect "an unpacked release has the number" test "$(turn_after)" = 7
if git init -q . 2>/dev/null; then
  git add -A && commit first
  expect "a landing raised the number" test "$(turn_after)" = 7
  commit second && commit third
  expect "commits since then count" test "$(turn_after)" = 9
  sed -i s/7/8/ .ci/landing && git add -A && commit landing
  expect "the next landing is the next turn" test "$(turn_after)" = 8
  git clone -q --depth 1 "file://$folder/clone" "$folder/shallow"
  expect "so in a clone without history" test "$(cd "$folder/shallow" && current_turn)" = 8
fi
cd "$1" || exit 1

# Each preset with tests is a step, or one of those that are not: a GPU's emulator, and variants of steps.
known=" fast all ptx sm_90 aarch64_sve aarch64_part "
for preset in $(sed -n '/"testPresets"/,$s/.*{ "name": "\([^"]*\)".*/\1/p' CMakePresets.json); do
  [[ $known == *" $preset "* ]] || expect "the preset $preset is a step" is_step "$preset"
done
for family in hdbscan svd; do expect "one family takes less" test "$(expected host-gcc)" -lt "$(family="" expected host-gcc)"; done
[ $faults -eq 0 ] && echo "turns and plans are right"
exit $((faults > 0))
