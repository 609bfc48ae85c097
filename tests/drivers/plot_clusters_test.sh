#!/usr/bin/env bash
# plot_clusters_test.sh HDBSCAN PYTHON: draws clusters of ordinary and of odd points; 77 when Python lacks the packages.
set -eu
hdbscan=$1 python=${2:-python3}
examples=$(cd "$(dirname "$0")/../../examples" && pwd)
if ! "$python" -c "import h5py, matplotlib" 2>/dev/null; then
  echo "skipped: $python has no h5py or no matplotlib"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# draw NAME OPTION...: clusters NAME.csv and draws it; the picture has to be a PNG file.
draw() {
  name=$1
  shift
  "$hdbscan" --input "$name.csv" --output "$name.h5" --quiet "$@"
  "$python" "$examples/plot_clusters.py" --points "$name.csv" --clusters "$name.h5" --output "$name.png" $classes
  [ "$(head -c 4 "$name.png" | tail -c 3)" = PNG ]
}

classes=""
zcat "$examples/data/digits.csv.gz" | cut -d, -f1-64 >digits.csv
zcat "$examples/data/digits.csv.gz" | cut -d, -f65 >classes.txt
classes="--classes classes.txt"
draw digits --min-cluster-size 40 --min-samples 2 >table.txt
[ "$(wc -l <table.txt)" -eq 12 ]
tail -n 1 table.txt | grep -Eqx 'adjusted Rand index, noise as one class: 0\.[3-9][0-9]+'

# A few digits by their neighbours: the map has two columns, and the embedding separates them better than the pixels.
head -n 400 digits.csv >few.csv
head -n 400 classes.txt >few_classes.txt
"$(dirname "$hdbscan")/quintet-neighbours" --input few.csv --k 10 --output neighbours.h5 --quiet
"$python" "$examples/neighbour_map.py" --neighbours neighbours.h5 --embedding embedding.npy --map map.csv >map.txt
grep -qx '400 points, 10 dimensions; map: .*' map.txt
awk -F, 'NF != 2 { exit 1 } END { exit NR != 400 }' map.csv
"$hdbscan" --input embedding.npy --output few.h5 --quiet --min-cluster-size 10 --min-samples 2
"$python" "$examples/plot_clusters.py" --points map.csv --clusters few.h5 --output few.png --classes few_classes.txt |
  tail -n 1 | grep -Eqx 'adjusted Rand index, noise as one class: 0\.[6-9][0-9]+'
if "$python" "$examples/neighbour_map.py" --neighbours neighbours.h5 --embedding e.npy --map m.csv --k 11 2>wrong.txt; then
  exit 1
fi
grep -q -- '--k must be 2 to 10, .* (--k 11)' wrong.txt
classes=""
printf '0\n1\n2\n' >noise.csv
draw noise
for i in 1 2 3 4 5 6; do echo "1,1"; done >duplicates.csv
for i in 1 2 3 4 5 6; do echo "2,2"; done >>duplicates.csv
echo "nan,1" >>duplicates.csv
draw duplicates --allow-single-cluster
echo "all pictures drawn"
