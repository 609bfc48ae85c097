#!/usr/bin/env python3
"""How exact HDBSCAN scales over ranks: a model of its time, and a measurement that the model has to agree with.

    bench/scaling_model.py                       the tables of docs/distributed.md
    bench/scaling_model.py --write               puts them there, and draws docs/images/distributed_scaling.svg
    bench/scaling_model.py --validate [--bin build/host-clang/bin] [--points 20000] [--dim 384]

The model adds up, for N points of D dimensions on P ranks,

    read   N D s / P bytes of the file, at --read GB/s a rank
    order  the nearest of min(2048, N / 96) pivots of own points; 8 N bytes gathered; a sort, alike on all ranks
    deal   (1 - 1/P) N D s / P bytes
    lists  N^2 D / 2P terms (hosts, half ring) or N^2 D / P (devices, full ring); a step's transfer hides behind it
    rounds a share of the lists, records of 12 bytes reduced, and work on all points that every rank does
    tree   O(N log N) on rank 0

from the terms a second of a rank, latency and bandwidth. What no machine here can show, many hosts and GPUs, is model;
--validate measures P = 1 and 2, takes terms a second from P = 1 and fails when P = 2 is off by more than 25 %. It counts
user seconds of the slowest rank, so that other load does not matter, nor the calls by which a rank that waits gives way.
"""
import argparse
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT = REPOSITORY / "docs/distributed.md"
PICTURE = REPOSITORY / "docs/images/distributed_scaling.svg"
BEGIN, END = "<!-- bench/scaling_model.py: begin -->", "<!-- bench/scaling_model.py: end -->"

RANKS = (1, 2, 4, 16, 64, 256, 1024)
SIZES = (10**6, 10**7)
# Terms of pairs, (x - y)^2 summed, a second. A node: 64 cores of 6.7e10 (with the filter, measured on one,
# docs/performance.md). A GPU: the roofline of an H100, half of its float multiply-adds.
MACHINES = {"node of 64 cores": dict(rate=64 * 6.7e10, ring="half"), "H100": dict(rate=1e13, ring="full")}
NETWORKS = {"25 GB/s": dict(latency=1.5e-6, beta=25e9), "100 GbE": dict(latency=10e-6, beta=12.5e9)}

REAL = 4           # bytes of a coordinate
SORT = 7.7e-9      # seconds a point and log2 N, measured on one core
TREE = 4.5e-8      # the same of the tree stage and of sorting its edges
REPLICATED = 1.8e-7  # seconds a point of all rounds, for what every rank does for all points
ROUND_SHARE = 0.04   # of the pairs of the lists that rounds compute again
ROUNDS = 5


def seconds(points, dim, ranks, rate, ring, latency, beta, neighbours=5, read=2e9):
    """Stages of a run, in seconds."""
    n, p = points, ranks
    padded = -(-dim // 16) * 16
    row, listed = padded * REAL, neighbours + 11
    gathered = math.ceil(math.log2(p)) if p > 1 else 0
    stage = {"read": n * dim * REAL / p / read}
    pivots = min(2048, n // 96)
    moved = 8 * n / beta * (1 - 1 / p)
    stage["order"] = n * pivots * padded / p / rate + moved + gathered * latency + SORT * n * math.log2(n)
    stage["deal"] = (1 - 1 / p) * n * row / p / beta + (p - 1) * latency
    if ring == "half":
        own = (n / p)**2 * padded / 2 / rate
        met = (n / p)**2 * padded / rate
        transfer = (n / p) * (row + REAL + 2 * listed * (REAL + 4)) / beta + latency
        whole, rest = (p - 1) // 2, (p - 1) % 2
        stage["lists"] = own + whole * max(met, transfer) + rest * max(met / 2, transfer)
    else:
        met = (n / p)**2 * padded / rate
        transfer = (n / p) * row / beta + latency
        stage["lists"] = met + (p - 1) * max(met, transfer)
    records = 3 * 1.014 * n * 12
    stage["rounds"] = (ROUND_SHARE * n * n * padded / 2 / p / rate + REPLICATED * n +
                       (2 * records * (1 - 1 / p) / beta + 3 * ROUNDS * gathered * latency if p > 1 else 0))
    stage["tree"] = TREE * n * math.log2(n)
    return stage


def total(points, dim, ranks, machine, network):
    return sum(seconds(points, dim, ranks, **machine, **network).values())


def figure(value):
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"


def tables():
    lines = ["Seconds, **model, not measured**: D = 768, float, k = 5, 25 GB/s and 1.5 us between ranks; one rank a node or "
             "GPU.", "", "| points, rank | " + " | ".join(f"P = {p}" for p in RANKS) + " |", "|---" * (len(RANKS) + 1) + "|"]
    for n in SIZES:
        for name, machine in MACHINES.items():
            row = [figure(total(n, 768, p, machine, NETWORKS["25 GB/s"])) for p in RANKS]
            lines.append(f"| 10^{round(math.log10(n))}, {name} | " + " | ".join(row) + " |")
    worst = max(total(n, 768, p, m, NETWORKS["100 GbE"]) / total(n, 768, p, m, NETWORKS["25 GB/s"])
                for n in SIZES for m in MACHINES.values() for p in RANKS)
    lines += ["", f"100 GbE (12.5 GB/s, 10 us): at most {(worst - 1) * 100:.0f} % more. Where the time goes, 10^7 points:", "",
              "| rank, P | read | order | deal | lists | rounds | tree |", "|---|---|---|---|---|---|---|"]
    for name, machine in MACHINES.items():
        for p in (16, 1024):
            stage = seconds(10**7, 768, p, **machine, **NETWORKS["25 GB/s"])
            lines.append(f"| {name}, {p} | " + " | ".join(figure(stage[s]) for s in
                                                           ("read", "order", "deal", "lists", "rounds", "tree")) + " |")
    return "\n".join(lines)


def draw():
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    matplotlib.rcParams.update({"font.size": 9, "svg.hashsalt": "quintet", "axes.grid": True, "grid.alpha": 0.3})
    fig, axes = pyplot.subplots(figsize=(6, 4), layout="constrained")
    styles = {10**6: "-", 10**7: "--"}
    for color, (name, machine) in zip(("#1f77b4", "#d62728"), MACHINES.items()):
        for n in SIZES:
            axes.loglog(RANKS, [total(n, 768, p, machine, NETWORKS["25 GB/s"]) for p in RANKS], styles[n], color=color,
                        marker="o", markersize=3, label=f"{name}, 10^{round(math.log10(n))} points")
    axes.set(xlabel="ranks", ylabel="seconds", title="exact HDBSCAN, 768 dimensions: model, not measured")
    axes.legend()
    fig.savefig(PICTURE, metadata={"Date": None})


def write():
    text = DOCUMENT.read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    DOCUMENT.write_text(before + BEGIN + "\n" + tables() + "\n" + END + after)
    draw()


def as_rank(folder, command):
    """Runs a rank and notes its processor seconds: those of the program, as MPI that waits gives way to others in the system."""
    child = subprocess.Popen(command, close_fds=False)  # MPICH's launcher speaks to its ranks by a descriptor they inherit
    _, status, usage = os.wait4(child.pid, 0)
    rank = next((os.environ[v] for v in ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID") if v in os.environ), "0")
    pathlib.Path(folder, f"{rank}.json").write_text(json.dumps(usage.ru_utime))
    sys.exit(os.waitstatus_to_exitcode(status))


def measure(options, points, ranks, folder):
    """Processor seconds of every rank."""
    times = pathlib.Path(tempfile.mkdtemp(dir=folder))
    launch = options.mpirun.split() + ["-n", str(ranks)]
    work = [sys.executable, __file__, "--as-rank", str(times), "--", os.path.join(options.bin, "quintet-hdbscan"),
            "--input", str(points), "--output", str(times / "out.h5"), "--min-samples", "5", "--quiet"]
    environment = dict(os.environ, OMP_NUM_THREADS="1", OMP_WAIT_POLICY="passive", OMPI_MCA_mpi_yield_when_idle="1",
                       OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_btl_vader_single_copy_mechanism="none")
    subprocess.run(launch + work, check=True, env=environment, stdout=subprocess.DEVNULL)
    return [json.loads(f.read_text()) for f in sorted(times.glob("*.json"))]


def validate(options):
    import numpy
    if shutil.which(options.mpirun.split()[0]) is None:
        sys.exit(f"--mpirun: {options.mpirun.split()[0]} is not installed")
    if shutil.which(os.path.join(options.bin, "quintet-hdbscan")) is None:
        sys.exit(f"--bin: {options.bin} has no program quintet-hdbscan; build the project with MPI, or name its folder")
    random = numpy.random.default_rng(1)
    centres = random.normal(size=(50, options.dim))
    with tempfile.TemporaryDirectory() as folder:

        def sample(count):
            x = centres[random.integers(50, size=count)] + 0.3 * random.normal(size=(count, options.dim))
            path = pathlib.Path(folder, f"{count}.npy")
            numpy.save(path, (x / numpy.linalg.norm(x, axis=1, keepdims=True)).astype(numpy.float32))
            return path

        tiny, large = sample(100), sample(options.points)
        start = {p: max(measure(options, tiny, p, folder)) for p in (1, 2)}  # what a program and MPI take to begin
        measured = {}
        for p in (1, 2):
            runs = sorted((measure(options, large, p, folder) for _ in range(options.repetitions)), key=max)
            measured[p] = (max(runs[len(runs) // 2]) - start[p], runs[len(runs) // 2])
        network = NETWORKS["25 GB/s"]

        def model(p, rate):
            return sum(seconds(options.points, options.dim, p, rate, "half", **network).values())

        low, high = 1e8, 1e13  # terms a second that give the time of one rank
        for _ in range(100):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if model(1, middle) > measured[1][0] else (low, middle)
        rate = math.sqrt(low * high)
        expected = model(2, rate)
        off = measured[2][0] / expected - 1
        mean = sum(measured[2][1]) / len(measured[2][1])
        print(f"{options.points} x {options.dim}, user seconds of the slowest rank, start of the program taken off")
        print(f"P = 1: measured {measured[1][0]:.2f}, which is {rate:.3g} terms/s")
        print(f"P = 2: measured {measured[2][0]:.2f}, model {expected:.2f} ({off * 100:+.0f} %), "
              f"slowest / mean {max(measured[2][1]) / mean:.2f}")
        if abs(off) > 0.25:
            sys.exit("the model is off by more than 25 %")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="tables and picture of docs/distributed.md")
    parser.add_argument("--validate", action="store_true", help="measure P = 1 and 2")
    parser.add_argument("--bin", default=str(REPOSITORY / "build/host-clang/bin"), help="folder of quintet-hdbscan")
    parser.add_argument("--mpirun", default="mpirun.openmpi --oversubscribe --bind-to none", help="launcher and its options")
    parser.add_argument("--points", type=int, default=20000)
    parser.add_argument("--dim", type=int, default=384)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--as-rank", metavar="FOLDER", help=argparse.SUPPRESS)
    parser.add_argument("command", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.as_rank:
        as_rank(options.as_rank, options.command)
    if options.validate:
        return validate(options)
    if options.write:
        return write()
    print(tables())


if __name__ == "__main__":
    main()
