#!/usr/bin/env python3
"""Times sparse products of Python beside sparse_dot_topn, MKL (sparse_dot_mkl) and SciPy: medians, all in turn.

    bench/peers/sparse_peers.py [ROUNDS]

Needs the package quintet; packages that are missing are left out. Matrices come from generators with a fixed seed. Texts
have Poisson many words, word r with probability 1 / r, with the weights of TF-IDF and rows of length 1. Each product runs
on one thread and on two; SciPy has one. MKL leaves rows unsorted."""

import functools
import os
import pathlib
import statistics
import sys
import time

import numpy as np
import scipy.sparse as sp

import quintet
from quintet import sparse

try:
    import sparse_dot_topn
except ImportError:
    sparse_dot_topn = None
for library in sorted(pathlib.Path(sys.prefix, "lib").glob("libmkl_rt.so*")):  # what pip installs is on no path
    os.environ.setdefault("MKL_RT", str(library))
try:
    import sparse_dot_mkl
except ImportError:
    sparse_dot_mkl = None


def texts(count, words, length, random):
    lengths = random.poisson(length, count).clip(1)
    chances = 1 / np.arange(1, words + 1)
    used = random.choice(words, lengths.sum(), p=chances / chances.sum())
    X = sp.coo_matrix((np.ones(len(used)), (np.repeat(np.arange(count), lengths), used)), shape=(count, words)).tocsr()
    X.data *= np.log((1 + count) / (1 + np.bincount(X.indices, minlength=words)[X.indices])) + 1
    return sp.diags(1 / np.sqrt(X.multiply(X).sum(axis=1).A1)).tocsr() @ X


def cases():
    """(what, ours, {peer: its product of threads}, whether the peer has threads)"""
    random = np.random.default_rng(0)

    def uniform(rows, cols, each):
        return sp.random(rows, cols, density=each / cols, random_state=random, format="csr")

    X = texts(20_000, 50_000, 8, random)
    T = X.T.tocsr()
    for k in (10, 100):
        peers = {}
        if sparse_dot_topn:
            peers["sparse_dot_topn"] = lambda n, k=k: sparse_dot_topn.sp_matmul_topn(X, T, k, n_threads=n if n > 1 else None)
        yield f"{k} largest of each row of X @ X.T, 20,000 texts", lambda k=k: sparse.multiply_top(X, T, k), peers

    def mkl(A, B):
        def product(n):
            sparse_dot_mkl.mkl_set_num_threads(n)
            return sparse_dot_mkl.dot_product_mkl(A, B)

        return {"MKL": product} if sparse_dot_mkl else {}

    graph, large = uniform(10**5, 10**5, 10), uniform(10**6, 10**6, 5)
    dense, vector = random.normal(size=(10**5, 64)), random.normal(size=10**6)
    whole, turned = sp.csr_matrix(100 * graph).astype(np.int64), large.tocsc()
    dense_columns, short = uniform(10**5, 10**5, 50).tocsc(), random.normal(size=10**5)
    yield "A @ A, 10^5, 10 a row", lambda: sparse.multiply(graph, graph), mkl(graph, graph)
    yield ("A @ dense, 10^5, 10 a row, 64 columns", lambda: sparse.multiply_dense(graph, dense),
           {**mkl(graph, dense), "SciPy": lambda n: graph @ dense})
    yield "A @ A of int64, 10^5, 10 a row", lambda: sparse.multiply(whole, whole), {"SciPy": lambda n: whole @ whole}
    yield ("CSC @ vector, 10^6, 5 a row", lambda: sparse.multiply_dense(turned, vector),
           {"SciPy": lambda n: turned @ vector})
    yield ("CSC @ vector, 10^5, 50 a row", lambda: sparse.multiply_dense(dense_columns, short),
           {"SciPy": lambda n: dense_columns @ short})


def seconds(product):
    start = time.perf_counter()
    product()
    return time.perf_counter() - start


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    for what, ours, peers in cases():
        times = {}
        for turn in range(rounds + 1):  # the first is not counted
            for threads in (1, 2):
                with quintet.num_threads(threads):
                    times.setdefault(f"quintet {threads} {what}", []).append(seconds(ours))
                for name, product in peers.items():
                    times.setdefault(f"{name} {threads} {what}", []).append(seconds(functools.partial(product, threads)))
            if turn == 0:
                times = {name: [] for name in times}
        for name, values in times.items():
            print(f"{name}  {1e3 * statistics.median(values):10.3f} ms", flush=True)


if __name__ == "__main__":
    main()
