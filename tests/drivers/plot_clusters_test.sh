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
[ "$(wc -l <table.txt)" -eq 11 ]
classes=""
printf '0\n1\n2\n' >noise.csv
draw noise
for i in 1 2 3 4 5 6; do echo "1,1"; done >duplicates.csv
for i in 1 2 3 4 5 6; do echo "2,2"; done >>duplicates.csv
echo "nan,1" >>duplicates.csv
draw duplicates --allow-single-cluster
echo "all pictures drawn"
