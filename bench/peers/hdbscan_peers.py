#!/usr/bin/env python3
"""Peers of the hdbscan benchmarks that are Python packages.

Reads unit vectors written by `hdbscan_bench --write-points FILE.npy` and prints the median time of

  numpy         distances by sgemm: sqrt(max(xx + yy - 2 x @ y.T, 0))
  torch         the same by torch.cdist
  scikit-learn  the same by euclidean_distances; cluster.HDBSCAN (from 1.3 on)
  contrib       scikit-learn-contrib/hdbscan, its default and its exact brute force
  oneDAL        brute force, by the program onedal_hdbscan beside the interpreter (see onedal_hdbscan.cpp)

A package that is not installed is left out, with a line.

Usage: hdbscan_peers.py FILE.npy [repetitions]
"""
import os
import re
import statistics
import subprocess
import sys
import time

import numpy as np


def median_ms(call, points, repetitions):
    call(points[:500])  # first calls import and start threads
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        call(points)
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def numpy_distances(points):
    square = np.einsum("ij,ij->i", points, points)
    return np.sqrt(np.maximum(square[:, None] + square[None, :] - 2 * (points @ points.T), 0))


def run_numpy(report):
    report("numpy distances", numpy_distances)


def run_torch(report):
    import torch

    report("torch cdist", lambda points: torch.cdist(torch.from_numpy(points), torch.from_numpy(points)))


def run_sklearn(report):
    from sklearn.metrics import euclidean_distances

    report("sklearn distances", euclidean_distances)
    from sklearn.cluster import HDBSCAN

    report("sklearn HDBSCAN", lambda points: HDBSCAN(min_cluster_size=10, n_jobs=2, copy=True).fit(points), 1)


def run_contrib(report):
    from hdbscan import HDBSCAN

    report("hdbscan default", lambda points: HDBSCAN(min_cluster_size=10, core_dist_n_jobs=2).fit(points), 1)
    # Its brute force takes doubles only.
    report("hdbscan brute force",
           lambda points: HDBSCAN(min_cluster_size=10, core_dist_n_jobs=2, algorithm="generic").fit(points.astype(float)))


def run_onedal(repetitions):
    program = os.path.join(os.path.dirname(sys.executable), "onedal_hdbscan")
    if not os.path.exists(program):
        raise ImportError(f"{program} is not there")
    walls = []
    for _ in range(repetitions):
        told = subprocess.run([program, "brute_force", sys.argv[1]], capture_output=True, text=True, check=True).stdout
        walls.append(1e3 * float(re.search(r"wall ([\d.]+)", told)[1]))
    print(f"{'oneDAL brute force':22} {statistics.median(walls):10.1f} ms", flush=True)


def main():
    points = np.load(sys.argv[1])
    repetitions = int(sys.argv[2]) if len(sys.argv) > 2 else 7

    def report(name, call, most=repetitions):
        print(f"{name:22} {median_ms(call, points, min(most, repetitions)):10.1f} ms", flush=True)

    print(f"numpy {np.__version__}, {points.shape[0]} x {points.shape[1]} {points.dtype}")
    for run in (run_numpy, run_torch, run_sklearn, run_contrib):
        try:
            run(report)
        except ImportError as error:
            print(f"left out: {error}")
    try:
        run_onedal(repetitions)
    except ImportError as error:
        print(f"left out: {error}")


main()
