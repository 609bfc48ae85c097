#!/usr/bin/env python3
"""Time per square matrix over its order, with vectors and without, beside numpy and torch, and a picture of both.

    bench/svd_sizes.py [--orders 1,2,3,...] [--seconds 0.05] [--rounds 3]
                       [--results FILE.json] [--picture docs/images/svd_sizes.svg]

Processor time of one thread in microseconds, median of the rounds, which take the libraries by turns. Matrices are
normal, in batches that take about --seconds. quintet must be importable; torch is left out where it is not installed.
--results keeps the figures, and draws from them if the file exists.
"""
import argparse
import json
import os
import statistics
import sys
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402

ORDERS = [*range(1, 17), 20, 24, 28, 31, 32, 33, 40, 48, 56, 63, 64, 65, 80, 96, 97, 112, 119, 120, 121, 128, 144, 160,
          192, 193, 224, 255, 256, 257, 280, 300]


def libraries():
    """Name -> call of a batch, with vectors or without."""
    from quintet import linalg

    calls = {"quintet": lambda a, vectors: linalg.svd(a, full_matrices=False, compute_uv=vectors),
             "numpy": lambda a, vectors: np.linalg.svd(a, full_matrices=False, compute_uv=vectors)}
    try:
        import torch
    except ImportError as error:
        print(f"torch not installed ({error.name})", file=sys.stderr)
        return calls
    torch.set_num_threads(1)

    def with_torch(a, vectors):
        matrices = torch.from_numpy(a)
        return torch.linalg.svd(matrices, full_matrices=False) if vectors else torch.linalg.svdvals(matrices)

    return calls | {"torch": with_torch}


def microseconds(call, a, vectors):
    start = time.process_time()
    call(a, vectors)
    return (time.process_time() - start) * 1e6 / len(a)


def measure(orders, seconds, rounds):
    random, rows = np.random.default_rng(0), []
    calls = libraries()
    for dtype in (np.float32, np.float64):
        for n in orders:
            # Two nanoseconds for each of n^3: numpy's pace at 64.
            batch = int(min(max(seconds / (2e-9 * n**3 + 2e-6), 1), 100000))
            a = random.standard_normal((batch, n, n)).astype(dtype)
            for vectors in (True, False):
                times = {name: [] for name in calls}
                for _ in range(rounds):
                    for name, call in calls.items():
                        times[name].append(microseconds(call, a, vectors))
                rows.append({"type": np.dtype(dtype).name, "n": n, "vectors": vectors,
                             **{name: statistics.median(of_name) for name, of_name in times.items()}})
            print(rows[-2], rows[-1], file=sys.stderr)
    return rows


def draw(rows, path):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "quintet", "svg.fonttype": "none", "font.size": 9, "axes.grid": True,
                                "grid.alpha": 0.3})
    from matplotlib import pyplot

    names = [name for name in ("quintet", "numpy", "torch") if name in rows[0]]
    figure, axes = pyplot.subplots(2, 2, figsize=(8, 6), sharex=True, sharey=True, layout="constrained")
    for line, real in zip(axes, ("float32", "float64")):
        for axis, vectors in zip(line, (True, False)):
            shown = [row for row in rows if row["type"] == real and row["vectors"] == vectors]
            for name in names:
                axis.loglog([row["n"] for row in shown], [row[name] for row in shown], ".-", label=name, markersize=3,
                            linewidth=1)
            axis.set_title(f"{'U, S, V' if vectors else 'S alone'}, {real}")
    axes[0][0].legend()
    for axis in axes[1]:
        axis.set_xlabel("n")
    for line in axes:
        line[0].set_ylabel("microseconds a matrix")
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--orders", type=lambda text: [int(n) for n in text.split(",")], default=ORDERS)
    parser.add_argument("--seconds", type=float, default=0.05)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--results")
    parser.add_argument("--picture")
    arguments = parser.parse_args()
    if arguments.results and os.path.exists(arguments.results):
        with open(arguments.results) as file:
            rows = json.load(file)
    else:
        rows = measure(arguments.orders, arguments.seconds, arguments.rounds)
    if arguments.results:
        with open(arguments.results, "w") as file:
            json.dump(rows, file, indent=0)
    if arguments.picture:
        draw(rows, arguments.picture)


if __name__ == "__main__":
    main()
