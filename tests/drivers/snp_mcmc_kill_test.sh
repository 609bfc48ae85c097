#!/bin/bash
# A run of quintet-snp-mcmc that is killed again and again, that finds the disk full, and that is disturbed by another
# one, has the files of an undisturbed run, byte for byte.
#
#   snp_mcmc_kill_test.sh PROGRAM KILLS
set -u
program=$1 kills=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*" >&2; cat "$work"/*.txt >&2; exit 1; }
cd "$work" && mkdir whole parts limited || exit 1
{ echo A,B,C; for i in $(seq 60); do echo "$((i % 3))/2,$((i * i % 3))/2,$((i * 7 / 3 % 2))/1"; done; } >counts.csv
steps=$((6000 + 2000 * kills))
common=(--data ../counts.csv --burn-in 2000 --sample-every 20 --chains 2 --temperatures 2 --output run
  --checkpoint-seconds 0 --quiet --threads 2)
options=("${common[@]}" --iterations $steps --seed 5)

begin=$(date +%s%N)
(cd whole && "$program" "${options[@]}") 2>errors.txt || fail "the undisturbed run"
milliseconds=$((($(date +%s%N) - begin) / 1000000))

killed=0 attempts=0 resume=()
while [ $killed -lt "$kills" ]; do
  [ $((attempts += 1)) -gt $((kills * 20)) ] && fail "the run ended before it was killed, $attempts times"
  (cd parts && exec "$program" "${options[@]}" "${resume[@]}") 2>errors.txt &
  pid=$!
  sleep "$(printf '0.%06d' $((RANDOM * 32768 % (1000 * (milliseconds / kills + 40)) % 900000 + 1000)))"
  if kill -9 $pid 2>/dev/null; then
    wait $pid 2>/dev/null
    [ $? -eq 137 ] && killed=$((killed + 1)) && resume=(--resume) && continue
  fi
  wait $pid 2>/dev/null
  rm -rf parts/run  # it was done already: once more from the beginning
  resume=()
done
touch parts/run/.samples.h5.b4m3b1s4.tmp  # a kill between two names of a file leaves this
(cd parts && "$program" "${options[@]}" --resume) 2>errors.txt || fail "going on after $killed kills"
diff -r whole/run parts/run >difference.txt || fail "the files differ after $killed kills"

# A file may not grow over 24 blocks of 1024 bytes: the disk is full.
(cd limited && trap '' XFSZ && ulimit -f 24 && exec "$program" "${options[@]}") >out.txt 2>errors.txt
[ $? -eq 2 ] || fail "a full disk must end the program with status 2"
grep -q "cannot be written" errors.txt || fail "a full disk must be said"
(cd limited && "$program" "${options[@]}" --resume) 2>errors.txt || fail "going on after a full disk"
diff -r whole/run limited/run >difference.txt || fail "the files differ after a full disk"

# Two runs into one folder.
(cd whole && "$program" "${options[@]}") >out.txt 2>errors.txt
[ $? -eq 2 ] && grep -q "holds a run already" errors.txt || fail "a folder with a run must be refused"
rm -rf parts/run
(cd parts && exec "$program" "${common[@]}" --iterations 100000000 --seed 5) 2>/dev/null &
pid=$!
for _ in $(seq 100); do [ -e parts/run/samples.h5 ] && break; sleep 0.05; done
(cd parts && "$program" "${options[@]}" --resume) >out.txt 2>errors.txt
status=$?
kill -9 $pid
wait $pid 2>/dev/null
[ $status -eq 2 ] && grep -q "another run" errors.txt || fail "a folder in use must be refused"
(cd whole && "$program" "${common[@]}" --iterations $steps --seed 6 --resume) >out.txt 2>errors.txt
[ $? -eq 2 ] && grep -q "other data or options" errors.txt || fail "other options must be refused"
diff -r limited/run whole/run >difference.txt || fail "refused runs changed files"
echo "killed $killed times in $attempts attempts"
