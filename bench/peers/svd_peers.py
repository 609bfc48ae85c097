#!/usr/bin/env python3
"""Peers of the batched singular value decomposition in Python: numpy (gesdd of its BLAS), and torch when installed.

    bench/peers/svd_peers.py [--sizes 8 16 32 64 128] [--repetitions 5]

Prints matrices a second with U, S and V, and the largest residual |A - U S V^T|_F / (|A|_F eps) of what was timed. Set
OPENBLAS_NUM_THREADS=1 and OMP_NUM_THREADS=1 to compare with one thread of svd_bench.
"""

import argparse
import statistics
import time

import numpy as np


def with_numpy(a):
    return np.linalg.svd(a, full_matrices=False)


def with_torch(a):
    import torch

    return [x.numpy() for x in torch.linalg.svd(torch.from_numpy(a), full_matrices=False)]


def residual(a, u, s, vt):
    wide = a.astype(np.float64)
    left = wide - (u.astype(np.float64) * s[:, None, :]) @ vt.astype(np.float64)
    sizes = np.linalg.norm(wide, axis=(1, 2)) * np.finfo(a.dtype).eps
    return np.max(np.linalg.norm(left, axis=(1, 2)) / sizes)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[8, 16, 32, 64, 128])
    parser.add_argument("--repetitions", type=int, default=5)
    arguments = parser.parse_args()
    random = np.random.default_rng(1)
    for real, dtype in (("float", np.float32), ("double", np.float64)):
        for n in arguments.sizes:
            a = random.standard_normal((max(4, 2**20 // n**3), n, n)).astype(dtype)
            for name, call in (("numpy", with_numpy), ("torch", with_torch)):
                try:
                    found = call(a)
                except ImportError as error:
                    print(f"{name} not installed ({error.name})")
                    continue
                seconds = []
                for _ in range(arguments.repetitions):
                    start = time.perf_counter()
                    call(a)
                    seconds.append(time.perf_counter() - start)
                rate = len(a) / statistics.median(seconds)
                case = f"{name} {real} n={n}"
                print(f"{case:20}  {rate:12.1f} matrices/s   residual {residual(a, *found):.1f}")


if __name__ == "__main__":
    main()
