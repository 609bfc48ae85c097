#!/usr/bin/env python3
"""The roofline of the host: runs roofline_bench, draws docs/images/roofline.svg, writes its table into bench/results.

    bench/roofline.py [--bin build/host-clang/bin] [--results build/roofline.json] [--rounds 3] [--draw-only]

Rates are medians over the rounds. Operations over bytes are those of the task (every input read once, every result
written once); the roof is min(rate of multiply-adds, operations over bytes * rate of the stream triad), measured in the
same run. Needs matplotlib.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import compare  # noqa: E402

matplotlib.rcParams.update({"font.size": 9, "svg.hashsalt": "quintet", "axes.grid": True, "grid.alpha": 0.3})
BEGIN, END = "<!-- bench/roofline.py: begin -->", "<!-- bench/roofline.py: end -->"
COUNTERS = ("GFLOP/s", "GB/s", "FLOP/byte", "roof", "double")


def run(binary):
    done = subprocess.run([binary, "--benchmark_format=json"], capture_output=True, text=True, check=True)
    return {compare.plain(c["name"]): {k: c[k] for k in COUNTERS} for c in json.loads(done.stdout)["benchmarks"]}


def median_of(rounds):
    return {name: {k: statistics.median(r[name][k] for r in rounds) for k in COUNTERS} for name in rounds[0]}


def kernel_of(name):
    """`svd_decompose<float>/threads:1/n:8` -> (`svd_decompose<float>, n = 8`, 1)"""
    kernel, *arguments = name.split("/")
    values = dict(a.split(":") for a in arguments)
    threads = int(values.pop("threads"))
    return ", ".join([kernel, *(f"{k} = {v}" for k, v in values.items())]), threads


def pair(by, value):
    """The value on one thread and on two."""
    return " and ".join(value(by[threads]) for threads in (1, 2))


def table_of(results):
    kernels = {}
    for name, found in results["kernels"].items():
        kernel, threads = kernel_of(name)
        kernels.setdefault(kernel, {})[threads] = found
    lines = ["| kernel | FLOP / byte | GFLOP/s, 1 and 2 threads | GB/s | share of the roof, 1 and 2 threads |",
             "|---|---|---|---|---|"]
    for kernel, by in kernels.items():
        lines.append(f"| `{kernel}` | {compare.digits(by[1]['FLOP/byte'])} | {pair(by, lambda f: compare.digits(f['GFLOP/s']))} | "
                     f"{pair(by, lambda f: compare.digits(f['GB/s']))} | {pair(by, lambda f: format(f['GFLOP/s'] / f['roof'], '.2f'))} |")
    ceilings = ", ".join(f"{name.replace('/threads:', ', threads ')}: {compare.digits(rate)}"
                         for name, rate in results["machine"].items())
    return (f"{results['processor']}; {results['date']}. Ceilings (GFLOP/s; stream: GB/s): {ceilings}.\n\n" +
            "\n".join(lines))


def draw(results, path):
    machine = results["machine"]
    figure, axes = pyplot.subplots(figsize=(7, 4.2), layout="constrained")
    x = [2.0**e for e in range(-6, 14)]
    for real, style in (("float", "-"), ("double", "--")):
        peak, stream = machine[f"multiply_adds<{real}>/threads:1"], machine["stream/threads:1"]
        axes.loglog(x, [min(peak, stream * i) for i in x], style, color="#444", linewidth=1, label=f"roof, {real}")
    for name, found in results["kernels"].items():
        kernel, threads = kernel_of(name)
        if threads == 1:
            axes.plot(found["FLOP/byte"], found["GFLOP/s"], "s" if found["double"] else "o", markersize=5,
                      label=kernel.replace("_", " "))
    axes.set(xlabel="operations per byte of input and result", ylabel="GFLOP/s, one thread")
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/host-clang/bin", help="folder of roofline_bench and machine_bench")
    parser.add_argument("--results", default="build/roofline.json", help="file that keeps the figures")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--draw-only", action="store_true", help="draw what --results holds")
    arguments = parser.parse_args()
    if arguments.draw_only:
        with open(arguments.results, encoding="utf-8") as file:
            results = json.load(file)
    else:
        results = compare.machine_facts(arguments)
        binary = os.path.join(arguments.bin, "roofline_bench")
        results["kernels"] = median_of([run(binary) for _ in range(arguments.rounds)])
        with open(arguments.results, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    draw(results, os.path.join(os.path.dirname(compare.DOCS), "images", "roofline.svg"))
    table = table_of(results)
    compare.write_docs(table, "roofline.md", BEGIN, END)
    print(table)


if __name__ == "__main__":
    main()
