#!/usr/bin/env python3
"""Time and memory of every family by size, and time by threads: runs scaling_bench, each case in a process of its own,
and draws docs/images/scaling_size.svg and scaling_threads.svg.

    bench/scaling.py [--bin build/host-clang/bin] [--families hdbscan,svd] [--results build/scaling.json] [--images docs/images]

Times are medians of five. --results keeps the figures; families that are not run again are drawn from it. Needs matplotlib.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

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


def run(binary, family, size, threads):
    done = subprocess.run([binary, f"--benchmark_filter=^{family}/{size}/{threads}/", "--benchmark_format=json",
                           f"--benchmark_repetitions={REPETITIONS}"], capture_output=True, text=True, check=True)
    cases = [c for c in json.loads(done.stdout)["benchmarks"] if c["run_type"] == "iteration"]
    for case in cases:
        if "error_message" in case:
            sys.exit(f"{case['name']}: {case['error_message']}")
    return {"size": cases[0].get("products", size), "threads": threads, "extra_MB": cases[0]["extra_MB"],
            "ms": statistics.median(c["real_time"] for c in cases)}


def draw_sizes(results, folder):
    figure, axes = pyplot.subplots(2, len(results), figsize=(2.6 * len(results), 4.6), layout="constrained", squeeze=False)
    for (family, rows), (time, memory) in zip(results.items(), axes.T):
        rows = sorted((r for r in rows if r["threads"] == 1), key=lambda r: r["size"])
        sizes = [r["size"] for r in rows]
        time.loglog(sizes, [r["ms"] for r in rows], marker="o", markersize=4)
        memory.loglog(sizes, [max(r["extra_MB"], 0.1) for r in rows], marker="o", markersize=4, color="#d62728")
        time.set(title=family, ylabel="ms, one thread")
        memory.set(xlabel=FAMILIES[family][1], ylabel="MB beyond the input")
    figure.savefig(os.path.join(folder, "scaling_size.svg"), metadata={"Date": None})


def draw_threads(results, folder):
    figure, axes = pyplot.subplots(figsize=(5, 3.4), layout="constrained")
    for family, rows in results.items():
        largest = max(r["size"] for r in rows)
        time = {r["threads"]: r["ms"] for r in rows if r["size"] == largest}
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
    arguments = parser.parse_args()
    results = {}
    if os.path.exists(arguments.results):
        with open(arguments.results, encoding="utf-8") as file:
            results = json.load(file)
    for family in filter(None, arguments.families.split(",")):
        if family not in FAMILIES:
            parser.error(f"--families must be among {', '.join(FAMILIES)} (--families={arguments.families})")
        sizes = FAMILIES[family][0]
        cases = [(size, 1) for size in sizes] + [(sizes[-1], t) for t in THREADS[1:]]
        results[family] = [run(os.path.join(arguments.bin, "scaling_bench"), family, *case) for case in cases]
    with open(arguments.results, "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
    draw_sizes(results, arguments.images)
    draw_threads(results, arguments.images)


if __name__ == "__main__":
    main()
