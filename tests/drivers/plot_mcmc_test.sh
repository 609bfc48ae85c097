#!/bin/bash
# Draws the pictures of a short run: plot_mcmc_test.sh PROGRAM PYTHON. Skipped (77) without h5py or matplotlib.
set -eu
program=$1 python=$2 source=$(cd "$(dirname "$0")/../.." && pwd)
"$python" -c 'import h5py, matplotlib, numpy' 2>/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
{ echo A,B,C; for i in $(seq 60); do echo "$((i % 3))/2,$((i * i % 3))/2,$((i * 7 / 3 % 2))/1"; done; } >counts.csv
"$program" --data counts.csv --iterations 3000 --sample-every 20 --chains 2 --output run --quiet
"$program" --data counts.csv --iterations 1000 --sample-every 10 --marginal-likelihood 4 --output z --quiet
"$python" "$source/examples/plot_mcmc.py" run
for picture in traces reticulations network overlay; do
  [ "$(stat -c %s "run/$picture.png")" -gt 5000 ] || { echo "$picture.png is empty" >&2; exit 1; }
done
"$python" "$source/examples/plot_mcmc.py" z
for picture in powers ladder; do
  [ "$(stat -c %s "z/$picture.png")" -gt 5000 ] || { echo "$picture.png is empty" >&2; exit 1; }
done
# Every inner node of the network has the interval of its own height.
"$python" - "$source/examples" run/summary.json <<'END'
import json, sys
sys.path.insert(0, sys.argv[1])
import plot_mcmc
best = json.load(open(sys.argv[2]))["map"]
network = plot_mcmc.Network(best["network"])
intervals = plot_mcmc.height_intervals(network, best)
inner = [x for x in range(network.next) if network.children[x]]
assert sorted(intervals) == sorted(inner), (intervals, inner)
expected = sorted(tuple(node["height"]["hpd95"]) for node in best["nodes"] if "name" not in node)
assert sorted(tuple(pair) for pair in intervals.values()) == expected, (intervals, expected)
END
echo '((A:0.02,(B:0.01)#H1:0.01::0.6):0.03,(C:0.02,#H1:0.01::0.4):0.02);' >found.nwk
"$python" "$source/examples/plot_mcmc.py" found.nwk
[ "$(stat -c %s found.png)" -gt 5000 ] || { echo "found.png is empty" >&2; exit 1; }
"$python" "$source/examples/plot_mcmc.py" counts.csv 2>error.txt && exit 1
grep -q "one network in Newick" error.txt
"$python" "$source/examples/plot_mcmc.py" nowhere 2>error.txt && exit 1
grep -q "no folder of a finished run" error.txt
