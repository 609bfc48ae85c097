#!/usr/bin/env python3
"""The 10 nearest of all rows of bits and of integers: quintet.neighbours, FAISS when installed, scikit-learn.

    bench/peers/bits_peers.py [--rows 20000] [--few 3000] [--bits 1024] [--integers 768] [--neighbours 10]

Rows are random, a quarter of their bits 1. FAISS knows Hamming distances alone; scikit-learn, by brute force on bools,
gets the first --few rows. Rows of int8 are 50 clusters; FAISS gets them as float32, where equal distances differ.
Prints the seconds of one call, the smallest of two. One thread, unless OMP_NUM_THREADS says
otherwise. Distances are compared.
"""

import argparse
import time

import numpy as np


def with_quintet(rows, k, metric):
    from quintet import neighbours

    return lambda: neighbours.nearest(rows, k, metric=metric).distances


def with_faiss(rows, k, metric):
    import faiss

    if metric != "hamming":
        raise NotImplementedError
    packed = np.packbits(rows, axis=1)
    index = faiss.IndexBinaryFlat(rows.shape[1])
    index.add(packed)
    return lambda: index.search(packed, k + 1)[0][:, 1:] / rows.shape[1]


def with_sklearn(rows, k, metric):
    from sklearn.neighbors import NearestNeighbors

    model = NearestNeighbors(n_neighbors=k, algorithm="brute", metric=metric).fit(rows)
    return lambda: model.kneighbors()[0]


def clustered_int8(count, dim):
    random = np.random.default_rng(2)
    centres = random.normal(size=(50, dim))
    points = centres[random.integers(50, size=count)] + 0.5 * random.normal(size=(count, dim))
    return np.clip(np.rint(40 * points), -128, 127).astype(np.int8)


def with_faiss_floats(rows, k, metric):
    import faiss

    floats = rows.astype(np.float32)
    if metric == "integer_euclidean":
        index = faiss.IndexFlatL2(rows.shape[1])
        index.add(floats)
        return lambda: np.sqrt(index.search(floats, k + 1)[0][:, 1:])
    index = faiss.IndexFlatIP(rows.shape[1])
    index.add(floats)
    # A row need not be the best of its own list.
    return lambda: -index.search(floats, k)[0]


def with_quintet_queries(rows, k, metric):
    """Rows as queries for all, themselves included."""
    from quintet import neighbours

    return lambda: neighbours.nearest(rows, k, queries=rows, metric=metric).distances


def compare(peers, k, metric):
    """Prints the seconds of every (name, function, rows), and compares distances of the same rows."""
    found = {}
    for name, make, of in peers:
        try:
            search = make(of, k, metric)
        except (ImportError, NotImplementedError):
            continue
        seconds = []
        for _ in range(2):
            start = time.perf_counter()
            distances = search()
            seconds.append(time.perf_counter() - start)
        np.testing.assert_allclose(distances, found.setdefault(len(of), distances), rtol=1e-5)
        print(f"{name}, {metric}  {1e3 * min(seconds):.3f} ms", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--few", type=int, default=3000)
    parser.add_argument("--bits", type=int, default=1024)
    parser.add_argument("--integers", type=int, default=768)
    parser.add_argument("--neighbours", type=int, default=10)
    arguments = parser.parse_args()
    random = np.random.default_rng(1)
    rows = random.random((arguments.rows, arguments.bits)) < 0.25
    few = rows[: arguments.few]
    peers = (
        ("quintet", with_quintet, rows),
        ("FAISS IndexBinaryFlat", with_faiss, rows),
        ("quintet, few", with_quintet, few),
        ("scikit-learn, few", with_sklearn, few),
    )
    for metric in ("hamming", "jaccard"):
        compare(peers, arguments.neighbours, metric)
    codes = clustered_int8(arguments.rows, arguments.integers)
    for metric, ours in (("integer_euclidean", with_quintet), ("integer_inner_product", with_quintet_queries)):
        compare((("quintet", ours, codes), ("FAISS IndexFlat", with_faiss_floats, codes)), arguments.neighbours, metric)


if __name__ == "__main__":
    main()
