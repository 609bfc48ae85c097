#!/usr/bin/env bash
# report_test.sh QUINTET_ACCURACY PYTHON: the report of a run is one file with plots, and says that there is no GPU.
set -eu
accuracy=$1 python=$2
"$python" -c "import matplotlib" || { echo "no matplotlib: skipped"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$accuracy" --fast --quiet --devices host --json "$work/accuracy.json"
"$python" "$(dirname "$0")/report.py" "$work/accuracy.json" --output "$work/accuracy.html" --images "$work/images"
for family in hdbscan poincare spgemm svd snp; do
  grep -q "<h2>$family</h2>" "$work/accuracy.html" || { echo "no part about $family"; exit 1; }
done
grep -q "data:image/svg" "$work/accuracy.html" || { echo "no plots"; exit 1; }
grep -q "no figures of a GPU" "$work/accuracy.html" || { echo "does not say that there is no GPU"; exit 1; }
[ "$(find "$work/images" -name '*.png' | wc -l)" -ge 8 ] || { echo "too few plots"; exit 1; }
