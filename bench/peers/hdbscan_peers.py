#!/usr/bin/env python3
"""Peers of the hdbscan benchmarks that are Python packages.

Reads unit vectors written by `hdbscan_bench --write-points FILE.npy` and prints the median time of

  numpy     mutual reachability by sgemm: sqrt(max(xx + yy - 2 x @ y.T, 0)), then the core distances
  contrib   scikit-learn-contrib/hdbscan, its default and its exact brute force, if it is installed

Usage: hdbscan_peers.py FILE.npy [repetitions]
"""
import statistics
import sys
import time

import numpy as np


def median_ms(call, repetitions):
    call()
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        call()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def numpy_distances(points):
    square = np.einsum("ij,ij->i", points, points)
    return np.sqrt(np.maximum(square[:, None] + square[None, :] - 2 * (points @ points.T), 0))


def main():
    points = np.load(sys.argv[1])
    repetitions = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    print(f"numpy {np.__version__}, {points.shape[0]} x {points.shape[1]} {points.dtype}")
    print(f"numpy distances        {median_ms(lambda: numpy_distances(points), repetitions):10.1f} ms")
    try:
        import hdbscan
    except ImportError:
        print("hdbscan is not installed: its times are left out")
        return
    # Its brute force takes doubles only.
    for name, options in {"default": {}, "brute force": {"algorithm": "generic"}}.items():
        data = points.astype(float) if options else points
        model = lambda: hdbscan.HDBSCAN(min_cluster_size=10, core_dist_n_jobs=2, **options).fit(data)
        print(f"hdbscan {name:18s} {median_ms(model, 1):10.1f} ms")


main()
