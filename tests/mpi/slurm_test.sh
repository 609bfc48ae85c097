#!/bin/bash
# The batch script of docs/distributed.md with an srun that starts mpirun: every rank gets the processors of its task, and the
# file is that of one process. A job that is sent USR1 asks for its place in the queue again.
#
#   slurm_test.sh SCRIPT FOLDER_OF_PROGRAMS MPIRUN...
set -u
script=$1 bin=$2
shift 2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" && mkdir stand_ins || exit 1
fail() { echo "FAILED: $*" >&2; cat log.txt >&2; exit 1; }

awk 'BEGIN { srand(1); for (i = 0; i < 900; ++i) print i % 3 * 9 + rand() "," i % 3 * 5 + rand() "," rand() }' >points.csv
"$bin/quintet-poincare" --points points.csv --curvature -1e-9 --output x.h5 --quiet >log.txt 2>&1 || fail "making points"
"$bin/quintet-hdbscan" --input "$work/x.h5" --min-cluster-size 50 --output expected.h5 --quiet >log.txt 2>&1 || fail "one process"

cat >stand_ins/srun <<'SRUN'
#!/bin/bash
options=()
while [[ $1 == --* ]]; do options+=("$1"); shift; done
[[ " ${options[*]} " == *" --cpus-per-task=2 "* ]] || { echo "srun without --cpus-per-task: ${options[*]}" >&2; exit 1; }
[ -z "${SLOW-}" ] || sleep "$SLOW"
exec "${MPIRUN[@]}" "$@" || exit 1
SRUN
sed -i "s|\"\${MPIRUN\[@\]}\"|$(printf '%q ' "$@") -n 3|" stand_ins/srun
printf '#!/bin/bash\necho "$*" >>%q\n' "$work/requeued" >stand_ins/scontrol
chmod +x stand_ins/*
sed "s|/scratch/|$work/|g" "$script" >job
export PATH=$work/stand_ins:$bin:$PATH SLURM_CPUS_PER_TASK=2 SLURM_JOB_ID=17
bash job >log.txt 2>&1 || fail "the job"
cmp expected.h5 clusters.h5 >>log.txt 2>&1 || fail "another file than one process"
[ ! -e requeued ] || fail "a job that ended went back into the queue"

SLOW=20 bash job >log.txt 2>&1 &
job=$!
sleep 1
kill -USR1 $job
for _ in $(seq 50); do [ -s requeued ] && break; sleep 0.1; done
pkill -P $job 2>/dev/null
grep -qx "requeue 17" requeued || fail "no requeue"
