#!/bin/bash
# Clusterings of many points, with ties, on 1, 2, 3, 4 and 7 ranks: every dataset of the file is the one of a plain run, for
# all types of storage and metrics. Memory of a rank is what docs/distributed.md says.
#
#   acceptance_test.sh FOLDER_OF_PROGRAMS POINTS DIMENSION MPIRUN...
set -u
bin=$1 points=$2 dim=$3
shift 3
mpirun=("$@")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*" >&2; cat "$work"/errors.txt >&2; exit 1; }
cd "$work" && mkdir plain ranks || exit 1
python3 - "$points" "$dim" <<'END' || fail "making points"
# Unit vectors around 50 centres, a tenth anywhere; every 40th on a grid, every 97th a copy.
import array, math, random, sys
n, dim = int(sys.argv[1]), int(sys.argv[2])
random.seed(1)
normal = lambda scale: [random.gauss(0, scale) for _ in range(dim)]
centres, values, before = [normal(1) for _ in range(50)], array.array("f"), None
for i in range(n):
    x = normal(1) if i % 10 == 0 else [c + e for c, e in zip(centres[random.randrange(50)], normal(0.3))]
    length = math.sqrt(sum(v * v for v in x)) / 0.9  # within the ball
    x = [v / length for v in x]
    if i % 40 == 1:
        x = [round(v * 16) / 16 for v in x]
    if i % 97 == 5:
        x = before
    before = x
    values.extend(x)
header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({n}, {dim}), }}".encode()
header += b" " * (-(len(header) + 11) % 64) + b"\n"
with open("p.npy", "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + values.tobytes())
END
for kind in "float euclidean" "double euclidean" "half euclidean" "bfloat16 euclidean" "float cosine" "half cosine" \
  "float poincare" "double poincare"; do
  read -r precision metric <<<"$kind"
  options=(--input ../p.npy --output c.h5 --precision "$precision" --metric "$metric" --quiet)
  (cd plain && "$bin/quintet-hdbscan" "${options[@]}") 2>errors.txt || fail "$kind, a plain run"
  for ranks in 1 2 3 4 7; do
    (cd ranks && "${mpirun[@]}" -n $ranks "$bin/quintet-hdbscan" "${options[@]}") 2>errors.txt || fail "$kind, $ranks ranks"
    h5diff plain/c.h5 ranks/c.h5 >errors.txt 2>&1 || fail "$kind, $ranks ranks: h5diff"
  done
  echo "$kind: the same on 1, 2, 3, 4 and 7 ranks"
done

# Peak memory of the largest rank beyond that of a run with few points, on 2 ranks: at most 1.2 x what the document says,
# or what the tree stage takes on rank 0.
peak() {
  "${mpirun[@]}" -n 2 "$bin/quintet-hdbscan" --input "$1" --output m.h5 --quiet --json m.json 2>errors.txt || fail "$1"
  python3 -c 'import json; print(json.load(open("m.json"))["mpi"]["peak_bytes"]["max"])'
}
for i in $(seq 100); do echo "$i,$((i * i % 17))"; done >few.csv
python3 -c '
import random
random.seed(2)
for i in range(200000): print(f"{random.random():.5f},{random.random():.5f}")' >flat.csv
start=$(peak few.csv) pairs=$(peak p.npy) tree=$(peak flat.csv)
python3 - "$points" "$dim" "$start" "$pairs" "$tree" <<'END' || fail "memory"
import sys
points, dim, start, pairs, tree = map(int, sys.argv[1:])
ranks, k, s, mib = 2, 16, 4, 2**20

def check(name, n, used, formula):
    formula = max(formula, 320 * n)
    print(f"{name}: {(used - start) / 1e6:.0f} MB a rank beyond {start / 1e6:.0f}, formula {formula / 1e6:.0f}")
    return used - start <= 1.2 * formula

own, row = points / ranks, -(-dim // 16) * 16 * s
blocks = -(-points // 96)
table = max(32 * mib, own * row / 4)
bounds = sum(min(table, size) for size in (own * blocks * s, own * blocks * s / 2, blocks**2 * s / 4))
# With a filter: rounded points and coordinates once more, of own points and of visitors.
filtered = 1.5 * own * row + 1.5 * min(32 * mib, own * row)
good = check("tiles", points, pairs,
             3 * own * row + 2 * min(32 * mib, own * row) + filtered + 5 * k * (s + 4) * own + bounds +
             2 * s * min(2**24, blocks**2 / 4) + 56 * points)
n = 200000
good &= check("tree of blocks", n, tree, 3 * n * 2 * s + k * (s + 4) * n / ranks + 80 * n)
sys.exit(not good)
END
