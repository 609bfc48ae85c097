#!/usr/bin/env python3
"""Times SciPy's products as they are and under quintet.sparse.patch(): medians, both in turn.

    bench/peers/patch_peers.py

Needs the package quintet. The matrices come from a generator with a fixed seed. SciPy works on one thread, and leaves
rows unsorted, which quintet sorts."""

import statistics
import time

import numpy as np
import scipy.sparse as sp

import quintet
from quintet import sparse

ROUNDS = 7


def cases():
    """(what, the product) for each row of bench/compare.py."""
    random = np.random.default_rng(0)

    def uniform(rows, cols, each):
        return sp.random_array((rows, cols), density=each / cols, rng=random, format="csr")

    bands = sp.diags_array([1.0, 2.0, 3.0], offsets=[-1, 0, 1], shape=(10**6, 10**6)).tocsr()
    graph, large, rows = uniform(10**5, 10**5, 10), uniform(10**6, 10**6, 5), uniform(5000, 20000, 200)
    dense, vector = random.normal(size=(10**5, 16)), random.normal(size=10**6)
    yield "A @ A, tridiagonal 10^6", lambda: bands @ bands
    yield "A @ A, 10^5, 10 a row", lambda: graph @ graph
    yield "X @ X.T, 5000 x 20000, 200 a row", lambda: rows @ rows.T
    yield "A @ dense, 10^5, 10 a row, 16 columns", lambda: graph @ dense
    yield "A @ vector, 10^6, 5 a row", lambda: large @ vector


def seconds(product):
    start = time.perf_counter()
    product()
    return time.perf_counter() - start


def main():
    for what, product in cases():
        times = {"SciPy": []}
        for turn in range(ROUNDS + 1):  # the first is not counted
            times["SciPy"].append(seconds(product))
            for threads in (1, 2):
                with quintet.num_threads(threads), sparse.patched():
                    times.setdefault(f"quintet {threads}", []).append(seconds(product))
            if turn == 0:
                times = {name: [] for name in times}
        for name, values in times.items():
            print(f"{name} {what}  {1e3 * statistics.median(values):10.3f} ms", flush=True)


if __name__ == "__main__":
    main()
