#!/usr/bin/env python3
"""The 10 nearest of all rows of bits: quintet.neighbours, FAISS IndexBinaryFlat when installed, scikit-learn.

    bench/peers/bits_peers.py [--rows 20000] [--few 3000] [--bits 1024] [--neighbours 10]

Rows are random, a quarter of their bits 1. FAISS knows Hamming distances alone; scikit-learn, by brute force on bools,
gets the first --few rows. Prints the seconds of one call, the smallest of two. One thread, unless OMP_NUM_THREADS says
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--few", type=int, default=3000)
    parser.add_argument("--bits", type=int, default=1024)
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
        found = {}
        for name, make, of in peers:
            try:
                search = make(of, arguments.neighbours, metric)
            except (ImportError, NotImplementedError):
                continue
            seconds = []
            for _ in range(2):
                start = time.perf_counter()
                distances = search()
                seconds.append(time.perf_counter() - start)
            np.testing.assert_allclose(distances, found.setdefault(len(of), distances), rtol=1e-6)
            print(f"{name}, {metric}  {1e3 * min(seconds):.3f} ms", flush=True)


if __name__ == "__main__":
    main()
