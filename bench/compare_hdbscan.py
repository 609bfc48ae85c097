#!/usr/bin/env python3
"""The hdbscan family and its peers, in turn, as one table of medians and ratios (Markdown).

Usage: compare_hdbscan.py BENCH_BINARY [--rounds N] [--python PYTHON]

Every round runs our cases, OpenBLAS and FAISS in one process in random order, then NumPy in another; the machine's drift
then touches all alike. PYTHON is an interpreter with numpy (and, if its times are wanted, hdbscan); the Python peers are
left out when it has none.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

CASES = "dense/5000/384/|core/5000/384|cluster/5000/384|peer"


def run_ours(binary, threads):
    environment = dict(os.environ, QUINTET_BENCH_THREADS=str(threads))
    out = subprocess.run(
        [binary, f"--benchmark_filter={CASES}", "--benchmark_format=json", "--benchmark_enable_random_interleaving=true"],
        check=True, capture_output=True, text=True, env=environment).stdout
    result = {}
    for case in json.loads(out)["benchmarks"]:
        if "error_message" in case:
            sys.exit(f"{case['name']}: {case['error_message']}")
        name = case["name"].split("/")[0]
        result[name] = (case["real_time"], case.get("fma_share"), case.get("GFLOP/s"))
    return result


def run_python(python, points, threads):
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads))
    script = os.path.join(os.path.dirname(__file__), "peers", "hdbscan_peers.py")
    done = subprocess.run([python, script, points, "3"], capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        print(f"{python}: {script} failed:\n{done.stderr}", file=sys.stderr)
        return {}
    return {name.strip(): (float(ms), None, None) for name, ms in re.findall(r"^(\S.*?)\s{2,}([\d.]+) ms$", done.stdout, re.M)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--python", default="python3")
    arguments = parser.parse_args()
    times = {}
    with tempfile.TemporaryDirectory() as folder:
        points = os.path.join(folder, "points.npy")
        subprocess.run([arguments.binary, "--write-points", points], check=True)
        for _ in range(arguments.rounds):
            measured = run_ours(arguments.binary, arguments.threads)
            measured.update(run_python(arguments.python, points, arguments.threads))
            for name, values in measured.items():
                times.setdefault(name, []).append(values)
    dense = statistics.median(t for t, _, _ in times["dense"])
    print("| case | median ms | min-max ms | times dense | GFLOP/s | share of FMA rate |")
    print("|---|---|---|---|---|---|")
    for name, values in times.items():
        ms = [t for t, _, _ in values]
        middle = statistics.median(ms)
        rate = f"{statistics.median(g for _, _, g in values):.0f}" if values[0][2] else ""
        share = f"{statistics.median(s for _, s, _ in values):.0%}" if values[0][1] else ""
        print(f"| {name} | {middle:.1f} | {min(ms):.1f}-{max(ms):.1f} | {middle / dense:.2f} | {rate} | {share} |")


main()
