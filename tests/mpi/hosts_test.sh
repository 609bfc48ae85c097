#!/bin/bash
# Two hosts that are network namespaces with names of their own: the files of one process, byte for byte, over TCP, and
# about as many bytes on the wire as the programs count.
#
#   hosts_test.sh FOLDER_OF_PROGRAMS MPIRUN...     Open MPI's; needs the right to make namespaces, else ends with 77
set -u
bin=$1
shift
mpirun=("$@")
work=$(mktemp -d) || exit 1
holders=()
clean() {
  for pid in "${holders[@]}"; do kill "$pid" 2>/dev/null; done
  rm -rf "$work"
}
trap clean EXIT
fail() { echo "FAILED: $*" >&2; cat "$work"/errors.txt >&2; exit 1; }
cd "$work" || exit 1

unshare --net --uts true 2>/dev/null || { echo "no right to make namespaces"; exit 77; }
for host in 1 2; do
  unshare --net --uts sleep 600 &
  holders+=($!)
  disown
done
inside() { nsenter --target "${holders[$1 - 1]}" --net --uts "${@:2}"; }
# The namespaces are there when they are no longer ours.
for host in 1 2; do
  for attempt in $(seq 100); do
    [ "$(readlink /proc/"${holders[host - 1]}"/ns/net)" != "$(readlink /proc/self/ns/net)" ] && break
    sleep 0.05
  done
done
ip link add "qt1_$$" type veth peer name "qt2_$$" || fail "no virtual network"
for host in 1 2; do
  ip link set "qt${host}_$$" netns "${holders[host - 1]}" || fail "moving a device"
  inside $host hostname "node$host"
  inside $host ip link set lo up
  inside $host ip link set "qt${host}_$$" name veth up || fail "starting a device"
  inside $host ip address add 10.77.0.$host/24 dev veth
done
# What Open MPI takes for ssh.
cat >agent <<END
#!/bin/sh
[ "\$1" = 10.77.0.2 ] && pid=${holders[1]} || pid=${holders[0]}
shift
exec nsenter --target \$pid --net --uts sh -c "\$*"
END
chmod +x agent
on_hosts() {
  inside 1 timeout 100 "${mpirun[@]}" --mca plm_rsh_agent "$work/agent" --mca btl tcp,self --mca btl_tcp_if_include veth \
    --mca oob_tcp_if_include veth --host 10.77.0.1:4,10.77.0.2:4 --map-by node "$@"
}
awk 'BEGIN { srand(1); for (i = 0; i < 3000; ++i) {
  line = ""; for (d = 0; d < 16; ++d) line = line (d ? "," : "") (rand() - 0.5) / 3; print line } }' >points.csv
awk 'BEGIN { srand(2); for (i = 0; i < 2500; ++i) {
  c = int(5 * rand()); line = ""
  for (d = 0; d < 100; ++d) line = line (d ? "," : "") (c * (d % 7) % 5 + rand()); print line } }' >wide.csv
mkdir one many || exit 1
# Received and sent by the first host.
on_wire() { inside 1 cat /proc/net/dev | awk -F'[: ]+' '/veth/ { sub(/^ +/, ""); print $2 + $10 }'; }
same() {
  local file=$1 ranks=$2
  shift 2
  (cd one && "$bin/$1" "${@:2}" --quiet) 2>errors.txt || fail "$1, one process"
  (cd many && on_hosts -n "$ranks" "$bin/$1" "${@:2}" --quiet --json mpi.json) 2>errors.txt || fail "$1, two hosts"
  cmp "one/$file" "many/$file" 2>errors.txt || fail "$1: $file differs"
  grep -q '"hosts": 2' many/mpi.json || { cat many/mpi.json >errors.txt; fail "$1 does not see two hosts"; }
}
same n.csv 3 quintet-poincare --points ../points.csv --knn 5 --output n.csv
# By tiles, whose lists have a filter where the processors do; by a tree of blocks.
for ranks in 2 3; do same c.h5 $ranks quintet-hdbscan --input ../wide.csv --min-cluster-size 9 --output c.h5; done
same p.h5 2 quintet-hdbscan --input ../points.csv --min-cluster-size 9 --output p.h5
before=$(on_wire)
same d.npy 2 quintet-poincare --points ../points.csv --output d.npy --precision double
after=$(on_wire)
counted=$(grep -o '"bytes": [0-9]*' many/mpi.json | tail -1 | grep -o '[0-9]*')
echo "two hosts: $counted bytes counted, $((after - before)) on the wire"
# The start of the ranks is on the wire too: some tens of kilobytes each.
[ $((after - before)) -ge "$counted" ] && [ $((after - before)) -le $((counted * 11 / 10 + 300000)) ] ||
  fail "bytes on the wire: $((after - before)), counted: $counted"
echo "the same files on two hosts"
