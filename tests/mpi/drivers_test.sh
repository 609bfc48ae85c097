#!/bin/bash
# The programs under mpirun: the files of one process, byte for byte, on any number of ranks; one message and one exit
# status for all ranks, and nothing left behind, where something is wrong.
#
#   drivers_test.sh FOLDER_OF_PROGRAMS RANKS MPIRUN...
set -u
bin=$1 ranks=$2
shift 2
mpirun=("$@")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*" >&2; cat "$work"/errors.txt >&2; exit 1; }
cd "$work" && mkdir one many || exit 1

awk 'BEGIN { srand(1); for (i = 0; i < 150; ++i) {
  if (i % 9 == 4) { print line; continue }                              # ties
  line = ""; for (d = 0; d < 4; ++d) line = line (d ? "," : "") (rand() - 0.5); print line } }' >points.csv
awk 'BEGIN { srand(2); print "%%MatrixMarket matrix coordinate real general"; print "60 60 240"
  for (e = 0; e < 240; ++e) print int(60 * rand()) + 1, int(60 * rand()) + 1, rand() - 0.5 }' >a.mtx
{ echo A,B,C; for i in $(seq 60); do echo "$((i % 3))/2,$((i * i % 3))/2,$((i * 7 / 3 % 2))/1"; done; } >counts.csv
awk 'BEGIN { srand(3); for (i = 0; i < 1300; ++i) {
  if (i % 9 == 4) { print line; continue }
  c = int(6 * rand()); line = ""
  for (d = 0; d < 4; ++d) line = line (d ? "," : "") ((i % 50 == 7) ? "nan" : c * (d + 1) % 7 + rand()); print line } }' \
  >clusters.csv
awk 'BEGIN { srand(4); for (i = 0; i < 200; ++i) print rand() - 0.5 "," rand() - 0.5 }' >ball.csv
"$bin/quintet-poincare" --points points.csv --output points.h5 --quiet || fail "making a matrix"  # 150 x 150

# same NAME FILES... -- PROGRAM OPTIONS...: run in both folders; the files are the same.
same() {
  local name=$1 files=()
  shift
  while [ "$1" != -- ]; do files+=("$1"); shift; done
  shift
  (cd one && "$bin/$1" "${@:2}" --quiet) 2>errors.txt || fail "$name, one process"
  (cd many && "${mpirun[@]}" -n "$ranks" "$bin/$1" "${@:2}" --quiet) 2>errors.txt || fail "$name, $ranks ranks"
  for file in "${files[@]}"; do cmp "one/$file" "many/$file" >>errors.txt || fail "$name: $file differs"; done
}

same svd u.h5 -- quintet-svd --input ../points.csv --precision double --output u.h5
same values s.csv -- quintet-svd --input ../points.h5 --output s.csv --mode values
same neighbours n.csv -- quintet-poincare --points ../points.csv --knn 4 --output n.csv
same neighbours n.h5 -- quintet-poincare --points ../points.csv --knn 4 --output n.h5 --precision double
same distances d.npy -- quintet-poincare --points ../points.csv --output d.npy
same distances d.csv -- quintet-poincare --points ../points.csv --curvature -0.5 --output d.csv
same pairs p.csv -- quintet-poincare --points ../points.csv --queries ../points.csv --pairwise --output p.csv
same lorentz lorentz.npy -- quintet-poincare --points ../points.csv --model lorentz --output lorentz.npy
same lorentz d.csv -- quintet-poincare --points ../points.csv --model lorentz --curvature -0.5 --output d.csv
same lorentz t.npy -- quintet-poincare --points ../points.csv --model lorentz --coordinates time-ignored --output t.npy
same lorentz p.csv -- quintet-poincare --points ../points.csv --queries ../points.csv --model lorentz --pairwise \
  --output p.csv
same lorentz n.h5 -- quintet-poincare --points ../clusters.csv --model lorentz --knn 4 --precision double --output n.h5
same lorentz q.h5 -- quintet-poincare --points ../clusters.csv --queries ../points.csv --model lorentz --knn 4 \
  --precision double --output q.h5
same neighbours q.csv -- quintet-neighbours --input ../clusters.csv --queries ../points.csv --k 7 --output q.csv
same product n.h5 -- quintet-neighbours --input ../points.csv --metric product \
  --factors "lorentz 2 -0.5, sphere 2 1 2" --k 5 --output n.h5
same product q.csv -- quintet-neighbours --input ../clusters.csv --queries ../points.csv --metric product \
  --factors "euclidean 1, lorentz 3" --k 5 --output q.csv
same product f.csv -- quintet-hdbscan --input ../points.csv --metric product --factors "poincare 2, euclidean 2" \
  --min-cluster-size 4 --output f.csv
same clusters c.h5 -- quintet-hdbscan --input ../clusters.csv --min-cluster-size 8 --output c.h5
same clusters c.csv -- quintet-hdbscan --input ../clusters.csv --metric cosine --precision double --cut 0.1 --output c.csv
same clusters f.csv -- quintet-hdbscan --input ../points.h5 --precision half --alpha 1.5 --output f.csv
same clusters b.csv -- quintet-hdbscan --input ../ball.csv --metric poincare --min-samples 3 --output b.csv
same neighbours k.csv -- quintet-neighbours --input ../clusters.csv --k 7 --output k.csv
same neighbours k.h5 -- quintet-neighbours --input ../points.h5 --k 7 --metric cosine --output k.h5
same product c.mtx -- quintet-spgemm --a ../a.mtx --output c.mtx
same product c.h5 -- quintet-spgemm --a ../a.mtx --output c.h5
same product m.mtx -- quintet-spgemm --a ../a.mtx --semiring min-plus --budget 2000 --output m.mtx
same likelihood l.csv -- quintet-snp-likelihood --data ../counts.csv --theta 0.1 --u 1 --v 1 --per-site l.csv \
  --network '((A:0.02,B:0.02):0.01,C:0.03)'
same chains run/chain_0.log run/chain_1.trees run/samples.h5 run/summary.json -- quintet-snp-mcmc --data ../counts.csv \
  --burn-in 1000 --iterations 2000 --sample-every 50 --chains 2 --temperatures 2 --seed 5 --threads 1 --output run
(cd one && "$bin/quintet-snp-mcmc" --data ../counts.csv --burn-in 1000 --iterations 4000 --sample-every 50 --chains 2 \
  --temperatures 2 --seed 5 --threads 1 --output run --resume --quiet) 2>errors.txt || fail "going on as one process"
(cd many && "${mpirun[@]}" -n "$ranks" "$bin/quintet-snp-mcmc" --data ../counts.csv --burn-in 1000 --iterations 4000 \
  --sample-every 50 --chains 2 --temperatures 2 --seed 5 --threads 1 --output run --resume --quiet) 2>errors.txt ||
  fail "going on as $ranks ranks"
diff -r one/run many/run >errors.txt || fail "a run that went on differs"
# Ranks beyond the walkers share these.
same shared_chains few/chain_0.log few/samples.h5 -- quintet-snp-mcmc --data ../counts.csv --burn-in 10 \
  --iterations 1000 --sample-every 50 --chains 1 --temperatures 2 --seed 5 --threads 1 --output few

# Distances in .h5 are written by all ranks, where one process puts them elsewhere in the file: values alone are the same.
(cd many && "${mpirun[@]}" -n "$ranks" "$bin/quintet-poincare" --points ../points.csv --output d.h5 --quiet) \
  2>errors.txt || fail "distances in HDF5"
(cd many && "$bin/quintet-svd" --input d.h5 --mode values --output d_s.csv --quiet &&
  "$bin/quintet-svd" --input d.npy --mode values --output n_s.csv --quiet && cmp d_s.csv n_s.csv) 2>errors.txt ||
  fail "distances in HDF5 differ"

# bad NAME STATUS WORDS -- PROGRAM OPTIONS...: one line of ours, this status, no file. Messages of mpirun are not ours.
# What is in $on_one is done on the last rank alone before its program begins, `more` are options of that rank, and
# `program` may be another one.
on_one=
bad() {
  local name=$1 status=$2 words=$3
  shift 4
  rm -rf bad && mkdir bad && cd bad || exit 1
  timeout 30 "${mpirun[@]}" -n "$ranks" bash -c "trap '' XFSZ
    more=() program=$bin/$1
    rank=\${OMPI_COMM_WORLD_RANK:-\${PMI_RANK:-0}}
    [ \$rank -eq $((ranks - 1)) ] && { ${on_one:-:}; }
    exec \$program ${*:2} \"\${more[@]}\"" >../out.txt 2>../errors.txt
  local got=$?
  cd ..
  [ $got -eq "$status" ] || fail "$name: status $got"
  [ "$(grep -c "^$1: " errors.txt)" -eq 1 ] || fail "$name: not one line"
  grep -q "^$1: .*$words" errors.txt || fail "$name: another message"
  [ -z "$(ls -A bad)" ] || fail "$name: left $(ls -A bad)"
  [ ! -s out.txt ] || fail "$name: words on standard output"
}

bad missing 2 "none.npy" -- quintet-hdbscan --input none.npy --output x.h5
sed '90s/.*/1,2,x,4/' points.csv >broken.csv
bad row 2 "broken.csv:90" -- quintet-hdbscan --input ../broken.csv --output x.csv
bad matrix 2 "no form for several processes" -- quintet-hdbscan --precomputed --input ../points.h5 --output x.csv
bad samples 2 "min-samples" -- quintet-hdbscan --input ../points.csv --min-samples 0 --output x.csv
bad radius 2 "no form for several processes" -- quintet-neighbours --input ../points.csv --radius 1 --output x.csv
bad k 2 "k must be in" -- quintet-neighbours --input ../points.csv --k 150 --output x.csv
bad missing 2 "cannot be read" -- quintet-svd --input none.npy --output x.h5
bad rank 2 "no form for several processes" -- quintet-svd --input ../points.csv --rank 2 --output x.h5
bad option 2 "unknown\|unrecogni" -- quintet-poincare --points ../points.csv --knm 3 --output x.csv
bad neighbours 2 "k must be in" -- quintet-poincare --points ../points.csv --knn 150 --output x.csv
awk 'NR == 111 { print "3,0,0,0"; next } { print }' points.csv >outside.csv
(cd one && "$bin/quintet-poincare" --points ../outside.csv --strict --output x.csv) 2>expected.txt
bad outside 2 "" -- quintet-poincare --points ../outside.csv --strict --output x.csv
grep "^quintet-poincare: " errors.txt | cmp - expected.txt || fail "a bad row: not the line of one process"
bad flat 2 "curvature must be negative" -- quintet-poincare --points ../points.csv --model lorentz --curvature 0 \
  --output x.csv
(cd one && "$bin/quintet-poincare" --points ../clusters.csv --model lorentz --strict --output x.csv) 2>expected.txt
bad "not finite" 2 "" -- quintet-poincare --points ../clusters.csv --model lorentz --strict --output x.csv
grep "^quintet-poincare: " errors.txt | cmp - expected.txt || fail "a bad row of lorentz: not the line of one process"
bad transposed 2 "no form for several" -- quintet-spgemm --a ../a.mtx --b-transposed --output x.mtx
bad search 2 "no form for several" -- quintet-snp-likelihood --data ../counts.csv --search --theta 0.1 --u 1 --v 1
bad alone 2 "was started as" -- quintet-friends --graph ../a.mtx
# Help is there for programs of one process too, once; devices are those of the first rank.
for command in "quintet-friends --help" "quintet-svd --help" "quintet-devices"; do
  (cd many && "${mpirun[@]}" -n "$ranks" "$bin/"$command) >out.txt 2>errors.txt || fail "$command under mpirun"
  [ "$(grep -c '^Usage: \|^. host' out.txt)" -eq 1 ] || { cat out.txt; fail "$command under mpirun: not one text"; }
done
# More ranks than points.
head -2 points.csv >two.csv
same "two points" t.csv -- quintet-hdbscan --input ../two.csv --min-cluster-size 2 --output t.csv
same "two points" t.csv -- quintet-poincare --points ../two.csv --knn 1 --output t.csv
same "two points" t.csv -- quintet-neighbours --input ../two.csv --k 1 --output t.csv
same "two matrices" t.csv -- quintet-svd --input ../two.csv --mode values --output t.csv
# What goes wrong on one rank alone.
mkdir -p deep/elsewhere || exit 1
"$bin/quintet-poincare" --points points.csv --output points.npy --quiet || fail "making a matrix"
on_one="cd ../deep/elsewhere"
bad "a file that one rank does not see" 2 "points.npy: cannot be read" -- \
  quintet-svd --input ../points.npy --mode values --output x.csv
on_one="more=(--knn 5)"
bad "other options on one rank" 2 "--knn must be the same on all ranks" -- \
  quintet-poincare --points ../points.csv --output x.csv
# The same program, but for the version that it tells.
version=$("$bin/quintet-svd" --version | sed 's/.*: quintet \([0-9.]*[0-9]\).*/\1/')
LC_ALL=C sed "s/\x00$version\x00/\x00${version//[0-9]/9}\x00/g" "$bin/quintet-svd" >other-svd && chmod +x other-svd
on_one="program=../other-svd"
bad "another build on one rank" 2 "the build of the program must be the same on all ranks" -- \
  quintet-svd --input ../points.csv --mode values --output x.csv
# No file of a rank may grow beyond 8 MiB, as on a full disk. (MPI's own files of shared memory have 4.)
awk 'BEGIN { srand(3); for (i = 0; i < 3000; ++i) print rand() - 0.5 "," rand() - 0.5 }' >many.csv
on_one="ulimit -f 8192"
bad "a full disk" 2 "x.npy: cannot be written" -- \
  quintet-poincare --points ../many.csv --output x.npy --precision double --quiet
# 9000 x 9000 distances: 216 MB on each of three ranks, where one may have 300 in all.
if [ "$ranks" -le 3 ]; then
  awk 'BEGIN { srand(4); for (i = 0; i < 9000; ++i) print rand() - 0.5 "," rand() - 0.5 }' >most.csv
  on_one="ulimit -v 300000"
  bad "no memory" 3 "memory" -- quintet-poincare --points ../most.csv --output x.npy --precision double
fi
on_one=
# Ranks that are bound to a few of many processors: a warning of rank 0, and the same file.
if [ "$ranks" -le 3 ]; then
  (cd many && QUINTET_MPI_PRESENT=64 "${mpirun[@]}" -n "$ranks" "$bin/quintet-svd" --input ../points.csv \
    --precision double --output w.h5) >out.txt 2>errors.txt || fail "few processors"
  [ "$(grep -c "the $ranks ranks of a host may use .* of its 64 processors.*--bind-to none" errors.txt)" -eq 1 ] ||
    fail "few processors: no warning"
  (cd one && "$bin/quintet-svd" --input ../points.csv --precision double --output w.h5 --quiet) && cmp one/w.h5 many/w.h5 ||
    fail "few processors: another file"
fi
# The launcher of the other MPI starts copies that do not know each other.
other=mpirun.openmpi
[[ ${mpirun[0]} == *openmpi* ]] && other=mpirun.mpich
if command -v $other >/dev/null; then
  mkdir strange && cd strange || exit 1
  timeout 30 $other -n 2 "$bin/quintet-svd" --input ../points.csv --output x.h5 >../out.txt 2>../errors.txt
  got=$?
  cd ..
  [ $got -eq 2 ] || fail "the launcher of another MPI: status $got"
  [ "$(grep -c '^quintet-svd: the launcher started 2 processes' errors.txt)" -eq 1 ] || fail "another MPI: not one line"
  [ -z "$(ls -A strange)" ] || fail "another MPI: left $(ls -A strange)"
fi
echo "the same files and messages on $ranks ranks"
