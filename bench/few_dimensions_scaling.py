#!/usr/bin/env python3
"""CPU seconds and memory of quintet-hdbscan from 10^5 to 10^7 points in few dimensions, and a picture of them.

    bench/few_dimensions_scaling.py [--bin build/host-clang/bin] [--dim 2] [--points 100000,1000000,10000000]
                                    [--results FILE.json] [--picture docs/images/few_dimensions.svg]

Points are those of few_dimensions_points.noise; they are written to a temporary folder one set at a time. The exponent is
the slope of a line through the logarithms. Reading and writing are included.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

import few_dimensions_points


def measure(program, path, folder, threads):
    command = [program, "--input", path, "--output", os.path.join(folder, "o.h5"), "--quiet", "--min-cluster-size", "50",
               "--min-samples", "10"]
    start = time.perf_counter()
    child = subprocess.Popen(command, env=dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_WAIT_POLICY="passive"))
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{program}: exit status {child.returncode}")
    return {"cpu": usage.ru_utime + usage.ru_stime, "wall": time.perf_counter() - start,
            "megabytes": usage.ru_maxrss / 1024}


def exponent(rows):
    x, y = np.log([r["points"] for r in rows]), np.log([r["cpu"] for r in rows])
    return float(np.polyfit(x, y, 1)[0])


def draw(rows, path):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "quintet"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5, 3.5))
    points, cpu = [r["points"] for r in rows], [r["cpu"] for r in rows]
    axes.loglog(points, cpu, "o-", label=f"quintet-hdbscan, exponent {exponent(rows):.2f}")
    axes.loglog(points, [cpu[0] * n / points[0] for n in points], "--", color="grey", label="proportional")
    axes.set_xlabel("points")
    axes.set_ylabel("CPU seconds")
    axes.set_title(f"Clusters and 10 % noise in {rows[0]['dim']} dimensions")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/host-clang/bin")
    parser.add_argument("--dim", type=int, default=2)
    parser.add_argument("--points", default="100000,300000,1000000,3000000,10000000")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--results", help="rows measured earlier are read from here and kept")
    parser.add_argument("--picture")
    arguments = parser.parse_args()
    rows = []
    if arguments.results and os.path.exists(arguments.results):
        with open(arguments.results, encoding="utf-8") as file:
            rows = json.load(file)
    for n in [int(n) for n in arguments.points.split(",") if n]:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "points.npy")
            np.save(path, few_dimensions_points.noise(n, arguments.dim))
            row = {"points": n, "dim": arguments.dim,
                   **measure(os.path.join(arguments.bin, "quintet-hdbscan"), path, folder, arguments.threads)}
        print(f"{n} x {arguments.dim}: {row['cpu']:.2f} s CPU, {row['wall']:.2f} s, {row['megabytes']:.0f} MB", flush=True)
        rows = sorted([r for r in rows if (r["points"], r["dim"]) != (n, arguments.dim)] + [row],
                      key=lambda r: (r["dim"], r["points"]))
        if arguments.results:
            with open(arguments.results, "w", encoding="utf-8") as file:
                json.dump(rows, file, indent=1)
    same = [r for r in rows if r["dim"] == arguments.dim]
    if len(same) > 1:
        print(f"exponent {exponent(same):.3f}")
        if arguments.picture:
            draw(same, arguments.picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
