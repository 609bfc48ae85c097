#!/usr/bin/env python3
"""Kept indexes side by side: quintet.neighbours.Index, SciPy's cKDTree, scikit-learn, FAISS flat when installed.

    bench/peers/neighbours_peers.py [--dims 2,3,8,32,128,384] [--neighbours 10]

Points are 100,000 (50,000 in 384 dimensions): uniform in 2 and 3 dimensions, elsewhere 50 Gaussians of intrinsic
dimension 8 with noise. Prints the median time to build, of one query again and again, of 2000 different queries one at
a time (per query), and of 100 and 10,000 queries in a call. Peers that take more than a second for 1000 queries are
asked those, and the time is multiplied by 10. One thread, unless OMP_NUM_THREADS says otherwise. Answers are compared.
"""

import argparse
import os
import statistics
import time

import numpy as np

DIMS = (2, 3, 8, 32, 128, 384)
QUERIES = ("build", "1", "one of many", "100", "10000")
PEERS = ("SciPy cKDTree", "scikit-learn", "FAISS flat")


def problem(dim):
    """Points and 10,000 queries."""
    n = 100_000 if dim < 384 else 50_000
    random = np.random.default_rng(dim)
    if dim <= 3:
        return random.random((n, dim), dtype=np.float32), random.random((10_000, dim), dtype=np.float32)
    directions, centres = random.normal(size=(8, dim)), random.normal(size=(50, 8)) * 3

    def made(count):
        own = random.normal(size=(count, 8)) @ directions * 0.5 + 0.1 * random.normal(size=(count, dim))
        return (centres[random.integers(50, size=count)] @ directions + own).astype(np.float32)

    return made(n), made(10_000)


def with_quintet(points, k):
    from quintet import neighbours

    index = neighbours.Index(points)
    return lambda queries: index.nearest(queries, k)[:2]


def with_scipy(points, k):
    from scipy.spatial import cKDTree

    if points.shape[1] > 32:
        raise NotImplementedError
    tree = cKDTree(points)
    return lambda queries: tree.query(queries, k, workers=int(os.environ.get("OMP_NUM_THREADS", "1")))


def with_sklearn(points, k):
    from sklearn.neighbors import NearestNeighbors

    how = "kd_tree" if points.shape[1] <= 8 else "brute"
    model = NearestNeighbors(n_neighbors=k, algorithm=how).fit(points)
    return model.kneighbors


def with_faiss(points, k):
    import faiss

    index = faiss.IndexFlatL2(points.shape[1])
    index.add(points)

    def search(queries):
        squares, indices = index.search(queries, k)
        return np.sqrt(np.maximum(squares, 0)), indices

    return search


def median_ms(call, budget=1.0, most=200):
    times, begin = [], time.perf_counter()
    while not times or (len(times) < most and time.perf_counter() - begin < budget):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


def measure(name, search, queries, dim):
    def show(what, ms):
        print(f"{name}, {dim} D, {what}  {ms:.5f} ms", flush=True)

    show("1", median_ms(lambda: search(queries[:1])))
    start, count = time.perf_counter(), 0
    while count < 2000 and time.perf_counter() - start < 2:
        search(queries[count : count + 1])
        count += 1
    show("one of many", 1e3 * (time.perf_counter() - start) / count)
    show("100", median_ms(lambda: search(queries[:100])))
    start = time.perf_counter()
    search(queries[:1000])
    is_slow = time.perf_counter() - start > 1
    show("10000", 10 * median_ms(lambda: search(queries[:1000]), 0) if is_slow else median_ms(lambda: search(queries)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dims", default=",".join(map(str, DIMS)))
    parser.add_argument("--neighbours", type=int, default=10)
    arguments = parser.parse_args()
    makers = dict(zip(("quintet", *PEERS), (with_quintet, with_scipy, with_sklearn, with_faiss)))
    for dim in map(int, arguments.dims.split(",")):
        points, queries = problem(dim)
        expected = None
        for name, make in makers.items():
            try:
                start = time.perf_counter()
                search = make(points, arguments.neighbours)
                build = 1e3 * (time.perf_counter() - start)
            except (ImportError, NotImplementedError):
                continue
            print(f"{name}, {dim} D, build  {build:.3f} ms", flush=True)
            distances = np.sort(search(queries[:50])[0], axis=1)
            expected = distances if expected is None else expected
            np.testing.assert_allclose(distances, expected, rtol=1e-2, atol=1e-2 * expected.max())
            measure(name, search, queries, dim)


if __name__ == "__main__":
    main()
