"""What a user sees: this library beside its peers, from Python.

    [ONEDAL_HDBSCAN=onedal_hdbscan] python python/bench/user_view.py [--rounds 5] [--threads 2] [--json out.json] [--only NAME ...]
        [--picture out.svg [--processor-time] [--read in.json ...]]

Every program runs in a process of its own, since runtimes disturb each other, with OMP_WAIT_POLICY=passive, and all
with the same number of threads. Rounds are interleaved. It prints medians of wall and processor times of a call, after
a call that is not counted (none before calls of more than 5 s), and names the peers that are not installed.
ONEDAL_HDBSCAN names the program of bench/peers/onedal_hdbscan.cpp. --read takes times of earlier runs instead of
measuring. On a machine that does other things the ratios of processor times are those that mean something.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import textwrap
from dataclasses import dataclass, field

EMBEDDINGS = """
import numpy as np
rng = np.random.default_rng(0)
centres = rng.standard_normal((50, 384))
X = (centres[rng.integers(50, size=5000)] + 0.6 * rng.standard_normal((5000, 384))).astype(np.float32)
X /= np.linalg.norm(X, axis=1, keepdims=True)
"""
MATRICES = "import numpy as np; a = np.random.default_rng(0).standard_normal((10000, 16, 16)).astype(np.float32)\n"
ONE = "import numpy as np; a = np.random.default_rng(0).standard_normal((1, 8, 8)).astype(np.float32)\n"
GRAPH = """
import numpy as np, scipy.sparse
rng = np.random.default_rng(0)
n = 40000
A = scipy.sparse.csr_array((rng.random(12 * n), (rng.integers(n, size=12 * n), rng.integers(n, size=12 * n))), (n, n))
"""
BALL = """
import numpy as np
x = np.random.default_rng(0).standard_normal((1000, 64)); x *= 0.9 / np.linalg.norm(x, axis=1, keepdims=True)
"""
TORCH = "import torch; torch.set_num_threads(THREADS); t = torch.from_numpy(a)\n"


@dataclass
class Task:
    """`programs`: name -> (what is done first, what is timed). The first one is ours."""

    title: str
    programs: dict[str, tuple[str, str]]
    repeats: int = 1
    times: dict[str, list[float]] = field(default_factory=dict)
    processor: dict[str, list[float]] = field(default_factory=dict)


TASKS = {
    "hdbscan": Task(
        "HDBSCAN fit, 5000 x 384",
        {
            "quintet": (EMBEDDINGS + "from quintet import HDBSCAN", "HDBSCAN(min_cluster_size=15).fit(X)"),
            # bench/peers/onedal_hdbscan.cpp, which tells its own times.
            "oneDAL, brute force": (
                EMBEDDINGS + "import os, subprocess, tempfile\n"
                "program, file = os.environ['ONEDAL_HDBSCAN'], tempfile.mkdtemp() + '/points.npy'; np.save(file, X)",
                "own = subprocess.run([program, 'brute_force', file], capture_output=True, text=True, check=True)"
                ".stdout.split()[1:4:2]",
            ),
            "fast_hdbscan": (
                EMBEDDINGS + "from fast_hdbscan import HDBSCAN",
                "HDBSCAN(min_cluster_size=15).fit(X)",
            ),
            "scikit-learn": (
                EMBEDDINGS + "from sklearn.cluster import HDBSCAN",
                "HDBSCAN(min_cluster_size=15, n_jobs=THREADS, copy=True).fit(X)",
            ),
            "hdbscan": (
                EMBEDDINGS + "from hdbscan import HDBSCAN",
                "HDBSCAN(min_cluster_size=15, core_dist_n_jobs=THREADS).fit(X)",
            ),
            "hdbscan generic": (
                EMBEDDINGS + "from hdbscan import HDBSCAN; X = X.astype(float)",
                "HDBSCAN(min_cluster_size=15, algorithm='generic').fit(X)",
            ),
        },
    ),
    "svd": Task(
        "SVD of 10,000 x 16 x 16, float32",
        {
            "quintet": (MATRICES + "import quintet", "quintet.svd(a, False)"),
            "quintet.torch": (MATRICES + TORCH + "import quintet.torch as qt", "qt.svd(t, False)"),
            "torch": (MATRICES + TORCH, "torch.linalg.svd(t, full_matrices=False)"),
            "NumPy": (MATRICES, "np.linalg.svd(a, full_matrices=False)"),
        },
    ),
    "one": Task(
        "SVD of one 8 x 8, float32",
        {
            "quintet": (ONE + "import quintet", "quintet.svd(a)"),
            "quintet.torch": (ONE + TORCH + "import quintet.torch as qt", "qt.svd(t)"),
            "torch": (ONE + TORCH, "torch.linalg.svd(t)"),
            "NumPy": (ONE, "np.linalg.svd(a)"),
        },
        repeats=2000,
    ),
    "pinv": Task(
        "torch.linalg.pinv of 10,000 x 16 x 16, float32",
        {
            "patched": (
                MATRICES + TORCH + "import quintet.torch as qt; qt.patch()",
                "torch.linalg.pinv(t)",
            ),
            "torch": (MATRICES + TORCH, "torch.linalg.pinv(t)"),
        },
    ),
    "spgemm": Task(
        "A @ A, 40,000 x 40,000 with 12 entries a row",
        {
            "quintet": (GRAPH + "import quintet.sparse", "quintet.sparse.multiply(A, A)"),
            "SciPy": (GRAPH, "A @ A"),
        },
    ),
    "poincare": Task(
        "Poincaré distances 1000 x 1000, 64 dimensions",
        {
            "quintet": (BALL + "from quintet import poincare", "poincare.distances(x, x)"),
            "geoopt": (
                BALL + "import torch, geoopt; torch.set_num_threads(THREADS); t = torch.from_numpy(x)\n"
                "ball = geoopt.PoincareBall()",
                "ball.dist(t[:, None], t[None])",
            ),
        },
    ),
}


def run(program: tuple[str, str], repeats: int, threads: int) -> tuple[float, float] | str:
    """Wall and processor seconds of one call, or why there are none."""
    setup, timed = (part.replace("THREADS", str(threads)) for part in program)
    code = (
        setup
        + "\nimport time\n"
        + ("" if "quintet" not in setup else f"import quintet; quintet.set_num_threads({threads})\n")
        + "def now(): return time.perf_counter(), time.process_time()\n"
        + f"start = now()\n{timed}\nend, count = now(), 1\n"
        + f"if end[1] - start[1] < 5:\n    start, count = now(), {repeats}\n    for _ in range({repeats}):\n        {timed}\n"
        + "    end = now()\n"
        + "print(*(globals().get('own') or ((e - s) / count for s, e in zip(start, end))))\n"
    )
    variables = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    environment = {**os.environ, "OMP_WAIT_POLICY": "passive", **{v: str(threads) for v in variables}}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)], env=environment, capture_output=True, text=True
    )
    if done.returncode != 0:
        return (done.stderr.strip().splitlines() or ["it failed"])[-1]
    wall, processor = (float(word) for word in done.stdout.split()[-2:])
    return wall, processor


def human(seconds: float) -> str:
    """Three digits and a unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def picture(tasks: list[Task], path: str, processor: bool) -> None:
    """Bars of wall or processor times from zero, the fastest first, with ratios to ours; one panel per task."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    matplotlib.rcParams.update({"font.size": 8, "svg.hashsalt": "quintet"})
    pairs = [tasks[i : i + 2] for i in range(0, len(tasks), 2)]
    rows = [max(len(task.times) for task in pair) + 1.2 for pair in pairs]
    figure, axes = plt.subplots(len(pairs), 2, figsize=(9.5, 0.27 * sum(rows)), squeeze=False, layout="constrained",
                                gridspec_kw={"height_ratios": rows})
    for axis in axes.flat[len(tasks) :]:
        axis.remove()
    for number, (axis, task) in enumerate(zip(axes.flat, tasks)):
        shown = task.processor if processor else task.times
        medians = {name: statistics.median(times) for name, times in shown.items()}
        ours = next(iter(medians))
        names = sorted(medians, key=lambda name: medians[name])
        colours = ["C0" if name.startswith(("quintet", "patched")) else "0.7" for name in names]
        axis.barh(names, [medians[name] for name in names], color=colours, height=0.7)
        axis.set_title(task.title, loc="left", fontsize=9)
        for i, name in enumerate(names):
            ratio = medians[name] / medians[ours]
            axis.text(medians[name], i, f" {human(medians[name])}" + (f" ({ratio:.3g} x)" if name != ours else ""), va="center")
        axis.set_ylim(max(len(other.times) for other in pairs[number // 2]) - 0.4, -0.6)
        axis.set_xlim(0, 1.35 * max(medians.values()))
        axis.set_xticks([])
        axis.spines[["top", "right", "bottom"]].set_visible(False)
    figure.supxlabel(f"{'processor' if processor else 'wall'} time of a call; every panel has its scale, from zero", fontsize=8)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--only", nargs="+", choices=list(TASKS), default=list(TASKS))
    parser.add_argument("--json", help="file for all times")
    parser.add_argument("--read", nargs="+", default=[], help="files that --json wrote")
    parser.add_argument("--picture", help="file for a picture (svg)")
    parser.add_argument("--processor-time", action="store_true", help="what the picture shows")
    options = parser.parse_args()
    chosen = [TASKS[name] for name in options.only]
    known: dict[str, dict[str, dict[str, list[float]]]] = {}
    for name in options.read:
        with open(name, encoding="utf-8") as file:
            known |= json.load(file)
    if known:
        chosen = [task for task in chosen if task.title in known]
    for task in chosen:
        left_out = {}
        if known:
            task.times, task.processor = known[task.title]["wall"], known[task.title]["processor"]
        for _ in range(0 if known else options.rounds):
            for name, program in task.programs.items():
                if name in left_out:
                    continue
                seconds = run(program, task.repeats, options.threads)
                if isinstance(seconds, str):
                    left_out[name] = seconds
                else:
                    task.times.setdefault(name, []).append(seconds[0])
                    task.processor.setdefault(name, []).append(seconds[1])
        rounds = len(next(iter(task.times.values()), []))
        print(f"\n{task.title}, {options.threads} threads, median of {rounds}")
        ours = ours_processor = None
        for name, times in task.times.items():
            median, processor = statistics.median(times), statistics.median(task.processor[name])
            ours, ours_processor = ours or median, ours_processor or processor
            print(f"  {name:<20}{human(median):>10}{median / ours:>9.1f} x   [{human(min(times))}, {human(max(times))}]"
                  f"   processor{human(processor):>9}{processor / ours_processor:>9.1f} x")
        for name, reason in left_out.items():
            print(f"  {name:<18} left out: {reason}")
        sys.stdout.flush()
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({t.title: {"wall": t.times, "processor": t.processor} for t in chosen}, file, indent=1)
    if options.picture:
        picture([task for task in chosen if task.times], options.picture, options.processor_time)


if __name__ == "__main__":
    main()
