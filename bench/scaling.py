#!/usr/bin/env python3
"""Time and memory of every family by size, and time by threads: runs scaling_bench and other programs for Python, each
case in a separate process, and draws docs/images/scaling_size.svg and scaling_threads.svg.

    bench/scaling.py [--bin build/host-clang/bin] [--families hdbscan,svd] [--results build/scaling.json] [--images docs/images]
                     [--sizes-only]

By size: processor time of one thread. By threads: wall time, on a machine that does nothing else (--sizes-only leaves
this out). Both are medians of five. --results keeps the figures; families that are not run again are drawn from it.
Needs matplotlib; peers that are not installed are left out and named.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot, ticker

matplotlib.rcParams.update({"font.size": 9, "svg.hashsalt": "quintet", "axes.grid": True, "grid.alpha": 0.3})

# family -> (sizes, what they are)
FAMILIES = {
    "hdbscan": ([1000, 2000, 4000, 8000, 16000], "points of 64 dimensions"),
    "poincare": ([250, 500, 1000, 2000, 4000], "points of 64 dimensions, all pairs"),
    "spgemm": ([8, 10, 12, 14, 15], "products"),
    "svd": ([16, 64, 256, 1024, 4096], "matrices of 32 x 32"),
    "snp": ([125, 250, 500, 1000, 2000], "patterns, two reticulations"),
}
THREADS = (1, 2, 4)
REPETITIONS = 5

POINTS = """
import numpy as np
rng = np.random.default_rng(0)
X = (rng.standard_normal((20, 64))[rng.integers(20, size=SIZE)] + 0.3 * rng.standard_normal((SIZE, 64))).astype(np.float32)
"""
BALL = "import numpy as np\nx = (0.05 * np.random.default_rng(0).standard_normal((SIZE, 64))).astype(np.float32)\n"
MATRICES = "import numpy as np\na = np.random.default_rng(0).standard_normal((SIZE, 32, 32)).astype(np.float32)\n"
# Graph500's R-MAT graph of 2^SIZE rows and eight entries a row, as scaling_bench has it.
GRAPH = """
import numpy as np, scipy.sparse
rng = np.random.default_rng(0)
n = 1 << SIZE
rows, columns = np.zeros((2, 8 * n), dtype=np.int64)
for _ in range(SIZE):
    quarter = np.searchsorted([0.57, 0.76, 0.95], rng.random(8 * n))
    rows, columns = 2 * rows + quarter // 2, 2 * columns + quarter % 2
A = scipy.sparse.csr_array((np.ones(8 * n), (rows, columns)), (n, n))
A.sum_duplicates()
own_size = int(np.diff(A.indptr)[A.indices].sum())
"""
# family -> {peer: (what is done first, what is timed, largest size)}
PEERS = {
    "hdbscan": {
        "hdbscan-rs": (POINTS + "from hdbscan_rs import HDBSCAN", "HDBSCAN(min_cluster_size=10).fit_predict(X)", 16000),
        "scikit-learn": (POINTS + "from sklearn.cluster import HDBSCAN",
                         "HDBSCAN(min_cluster_size=10, n_jobs=1, copy=True).fit(X)", 8000),
    },
    "poincare": {
        "geoopt": (BALL + "import torch, geoopt; torch.set_num_threads(1); t = torch.from_numpy(x)\n"
                   "ball = geoopt.PoincareBall()", "ball.dist(t[:, None], t[None])", 1000),
    },
    "spgemm": {
        "SciPy, sorted": (GRAPH, "(A @ A).sort_indices()", 15),
    },
    "svd": {
        "NumPy": (MATRICES, "np.linalg.svd(a, full_matrices=False)", 4096),
        "PyTorch": (MATRICES + "import torch; torch.set_num_threads(1); t = torch.from_numpy(a)",
                    "torch.linalg.svd(t, full_matrices=False)", 4096),
    },
}


def run(binary, family, size, threads):
    done = subprocess.run([binary, f"--benchmark_filter=^{family}/{size}/{threads}/", "--benchmark_format=json",
                           f"--benchmark_repetitions={REPETITIONS}"], capture_output=True, text=True, check=True)
    cases = [c for c in json.loads(done.stdout)["benchmarks"] if c["run_type"] == "iteration"]
    for case in cases:
        if "error_message" in case:
            sys.exit(f"{case['name']}: {case['error_message']}")
    kind = "cpu_time" if threads == 1 else "real_time"
    return {"size": cases[0].get("products", size), "threads": threads, "extra_MB": cases[0]["extra_MB"],
            "ms": statistics.median(c[kind] for c in cases), "wall_ms": statistics.median(c["real_time"] for c in cases)}


def run_peer(setup, timed, size):
    """Processor time of one thread, the first call not counted; an exception if the peer is not installed."""
    code = (setup.replace("SIZE", str(size)) + f"""
import time
{timed}
times = []
for _ in range({REPETITIONS}):
    start = time.process_time()
    {timed}
    times.append(time.process_time() - start)
print(globals().get("own_size", {size}), 1e3 * sorted(times)[len(times) // 2])
""")
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], env={**os.environ, **dict.fromkeys(names, "1")},
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError((done.stderr.strip().splitlines() or ["it failed"])[-1])
    own_size, ms = done.stdout.split()[-2:]
    return {"size": int(own_size), "ms": float(ms)}


def run_peers(family):
    rows = {}
    for peer, (setup, timed, largest) in PEERS.get(family, {}).items():
        try:
            rows[peer] = [run_peer(setup, timed, size) for size in FAMILIES[family][0] if size <= largest]
        except RuntimeError as error:
            print(f"{peer} is left out: {error}")
    return rows


def label_axis(axis, unit_names):
    """At least two plain numbers on a logarithmic axis: `unit_names` are (size, name of the unit), largest first."""

    def name(value, _):
        size, unit = next(((s, u) for s, u in unit_names if value >= 0.999 * s), unit_names[-1])
        return f"{value / size:g}{unit}"

    low, high = axis.get_view_interval()
    axis.set_major_locator(ticker.LogLocator(subs=(1,) if high > 100 * low else (1, 3) if high > 12 * low else (1, 2, 5)))
    axis.set_major_formatter(name)
    axis.set_minor_formatter(ticker.NullFormatter())


def draw_sizes(results, folder):
    figure, axes = pyplot.subplots(2, len(results), figsize=(2.6 * len(results), 5), layout="constrained", squeeze=False)
    counts = ((1e6, " M"), (1e3, " k"), (1, ""))
    for (family, runs), (time, memory) in zip(results.items(), axes.T):
        rows = sorted((r for r in runs["quintet"] if r["threads"] == 1), key=lambda r: r["size"])
        sizes = [r["size"] for r in rows]
        time.loglog(sizes, [r["ms"] for r in rows], marker="o", markersize=4, label="quintet", zorder=3)
        for number, (peer, peer_rows) in enumerate(runs["peers"].items()):
            time.loglog([r["size"] for r in peer_rows], [r["ms"] for r in peer_rows], marker="s^"[number % 2], markersize=3,
                        color=("0.45", "0.65")[number % 2], label=peer)
        memory.loglog(sizes, [max(r["extra_MB"], 0.1) for r in rows], marker="o", markersize=4)
        time.set_title(family)
        time.legend(fontsize=7.5, loc="lower right", frameon=False)
        memory.set_xlabel(FAMILIES[family][1])
        for axis, units in ((time.yaxis, ((1e3, " s"), (1, " ms"), (1e-3, " us"))),
                            (memory.yaxis, ((1e3, " GB"), (1, " MB"), (1e-3, " kB"))),
                            (time.xaxis, counts), (memory.xaxis, counts)):
            label_axis(axis, units)
    axes[0, 0].set_ylabel("processor time, one thread")
    axes[1, 0].set_ylabel("memory beyond the input")
    figure.savefig(os.path.join(folder, "scaling_size.svg"), metadata={"Date": None})


def draw_threads(results, folder):
    figure, axes = pyplot.subplots(figsize=(5, 3.4), layout="constrained")
    for family, runs in results.items():
        rows = runs["quintet"]
        largest = max(r["size"] for r in rows)
        time = {r["threads"]: r["wall_ms"] for r in rows if r["size"] == largest}
        axes.plot(THREADS, [time[1] / time[t] for t in THREADS], marker="o", markersize=4, label=family)
    axes.axvline(os.cpu_count(), color="#888", linewidth=0.8, linestyle="--")
    axes.set(xlabel=f"threads ({os.cpu_count()} cores)", ylabel="times faster than one thread", xticks=THREADS, ylim=(0, None))
    axes.legend(fontsize=8)
    figure.savefig(os.path.join(folder, "scaling_threads.svg"), metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/host-clang/bin")
    parser.add_argument("--families", default=",".join(FAMILIES), help='which to run; "" draws only')
    parser.add_argument("--results", default="build/scaling.json")
    parser.add_argument("--images", default="docs/images")
    parser.add_argument("--sizes-only", action="store_true", help="one thread: leaves scaling_threads.svg as it is")
    arguments = parser.parse_args()
    results = {}
    if os.path.exists(arguments.results):
        with open(arguments.results, encoding="utf-8") as file:
            results = json.load(file)
    for family in filter(None, arguments.families.split(",")):
        if family not in FAMILIES:
            parser.error(f"--families must be among {', '.join(FAMILIES)} (--families={arguments.families})")
        sizes = FAMILIES[family][0]
        cases = [(size, 1) for size in sizes]
        if not arguments.sizes_only:
            cases += [(sizes[-1], t) for t in THREADS[1:]]
        binary = os.path.join(arguments.bin, "scaling_bench")
        results[family] = {"quintet": [run(binary, family, *case) for case in cases], "peers": run_peers(family)}
    with open(arguments.results, "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
    draw_sizes(results, arguments.images)
    if not arguments.sizes_only:
        draw_threads(results, arguments.images)


if __name__ == "__main__":
    main()
