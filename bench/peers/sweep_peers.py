#!/usr/bin/env python3
"""Many parameters at once: quintet's sweep and automatic size beside fits one after another and fast-plscan.

    bench/peers/sweep_peers.py

20 values of min_samples in 2 ... 50 and 5 sizes, the labels of all 100 settings:

  sweep      quintet.hdbscan.sweep(labels="all")
  fits       quintet.hdbscan.cluster for each min_samples, refits for the sizes
  contrib    scikit-learn-contrib/hdbscan for each min_samples, its tree kept in a cache for the sizes; every fifth of
             them, and five times their time

and the size of the largest persistence at min_samples 5, with its labels:

  automatic  quintet.HDBSCAN("auto", cluster_selection_method="leaf")
  plscan     fast_plscan.PLSCAN

Prints median wall times of 3, of contrib one. One thread, unless OMP_NUM_THREADS says otherwise. A package that is not
installed is left out, with a line.
"""
import os
import statistics
import tempfile
import time
import warnings

import numpy as np

SAMPLES, SIZES = [int(k) for k in np.linspace(2, 50, 20)], (5, 10, 20, 50, 100)
CONTRIB_STEP = 5  # all of contrib's fits take ten minutes, and each costs about the same
SETS = ((30_000, 32), (100_000, 3))


def problem(count, dim):
    random = np.random.default_rng(dim)
    centres = random.normal(size=(40, dim)) * 4
    own = random.normal(size=(count, dim)) * random.uniform(0.2, 1, size=(40, 1))[random.integers(40, size=count)]
    return (centres[random.integers(40, size=count)] + own).astype(np.float32)


def sweep(points):
    from quintet import hdbscan

    return lambda: hdbscan.sweep(points, SAMPLES, SIZES, labels="all")


def fits(points):
    from quintet import HDBSCAN

    def run():
        for samples in SAMPLES:
            model = HDBSCAN(SIZES[0], samples).fit(points)
            for size in SIZES[1:]:
                model.refit(min_cluster_size=size)

    return run


def contrib(points):
    import hdbscan

    def run():
        with tempfile.TemporaryDirectory() as cache:
            for samples in SAMPLES[2::CONTRIB_STEP]:
                for size in SIZES:
                    hdbscan.HDBSCAN(size, samples, memory=cache, core_dist_n_jobs=threads()).fit(points)

    return run


def automatic(points):
    from quintet import HDBSCAN

    return lambda: HDBSCAN("auto", min_samples=5, cluster_selection_method="leaf").fit(points)


def plscan(points):
    import fast_plscan

    return lambda: fast_plscan.PLSCAN(min_samples=5, num_threads=threads()).fit(points)


def threads():
    return int(os.environ.setdefault("OMP_NUM_THREADS", "1"))


def main():
    threads()
    warnings.simplefilter("ignore")
    for count, dim in SETS:
        points = problem(count, dim)
        for peer in (sweep, fits, automatic, plscan, contrib):
            try:
                call = peer(points)
                peer(points[:500])()  # first calls import and start threads
            except ImportError as error:
                print(f"left out: {error}")
                continue
            times = []
            for _ in range(1 if peer is contrib else 3):
                start = time.perf_counter()
                call()
                times.append(time.perf_counter() - start)
            scale = CONTRIB_STEP if peer is contrib else 1
            print(f"{peer.__name__} {count} x {dim}  {1e3 * scale * statistics.median(times):.1f} ms", flush=True)


if __name__ == "__main__":
    main()
