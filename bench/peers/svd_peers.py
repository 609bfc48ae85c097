#!/usr/bin/env python3
"""Peers of the batched singular value decomposition and the symmetric eigenproblem in Python: numpy (gesdd and syevd of
its BLAS), and torch when installed.

    bench/peers/svd_peers.py [--sizes 8 16 32 64 128] [--symmetric 3 8 16 32 33 64 128 256]
                             [--shapes 300x1000x10 ...] [--repetitions 5]

Prints matrices a second with U, S and V, and the largest residual |A - U S V^T|_F / (|A|_F eps) of what was timed; then
those of eigh and eigvalsh. With --shapes, batch x rows x columns: those, and singular values of the same without
vectors, instead of squares. Set OPENBLAS_NUM_THREADS=1 and OMP_NUM_THREADS=1 to compare with one thread of svd_bench.
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


def rate_of(call, a, repetitions):
    """Matrices a second."""
    seconds = []
    for _ in range(repetitions):
        start = time.perf_counter()
        call(a)
        seconds.append(time.perf_counter() - start)
    return len(a) / statistics.median(seconds)


def shape_peers():
    """(name, what is measured, call) of what is installed."""
    peers = [("numpy", "", with_numpy), ("numpy", " values", lambda a: np.linalg.svd(a, compute_uv=False))]
    try:
        import torch
    except ImportError as error:
        print(f"torch not installed ({error.name})")
        return peers
    return peers + [("torch", "", with_torch), ("torch", " values", lambda a: torch.linalg.svdvals(torch.from_numpy(a)))]


def measure_shapes(random, shapes, repetitions):
    for real, dtype in (("float", np.float32), ("double", np.float64)):
        for shape in shapes:
            a = random.standard_normal([int(size) for size in shape.split("x")]).astype(dtype)
            for name, task, call in shape_peers():
                call(a)
                case = f"{name} {real} {shape}{task}"
                print(f"{case:30}  {rate_of(call, a, repetitions):12.1f} matrices/s", flush=True)


def symmetric_peers():
    """(name, function, call) of what is installed."""
    peers = [("numpy", name, getattr(np.linalg, name)) for name in ("eigh", "eigvalsh")]
    try:
        import torch
    except ImportError as error:
        print(f"torch not installed ({error.name})")
        return peers
    for name in ("eigh", "eigvalsh"):
        function = getattr(torch.linalg, name)
        peers.append(("torch", name, lambda a, function=function: function(torch.from_numpy(a))))
    return peers


def measure_symmetric(random, sizes, repetitions):
    for real, dtype in (("float", np.float32), ("double", np.float64)):
        for n in sizes:
            a = random.standard_normal((max(4, min(4096, 2**21 // n**3)), n, n)).astype(dtype)
            for name, function, call in symmetric_peers():
                call(a)
                case = f"{name} {function} {real} n={n}"
                print(f"{case:30}  {rate_of(call, a, repetitions):12.1f} matrices/s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[8, 16, 32, 64, 128])
    parser.add_argument("--shapes", nargs="+", help="BATCHxROWSxCOLS instead of squares")
    parser.add_argument("--symmetric", type=int, nargs="*", default=[3, 8, 16, 32, 33, 64, 128, 256])
    parser.add_argument("--repetitions", type=int, default=5)
    arguments = parser.parse_args()
    random = np.random.default_rng(1)
    if arguments.shapes:
        measure_shapes(random, arguments.shapes, arguments.repetitions)
        return
    for real, dtype in (("float", np.float32), ("double", np.float64)):
        for n in arguments.sizes:
            a = random.standard_normal((max(4, 2**20 // n**3), n, n)).astype(dtype)
            for name, call in (("numpy", with_numpy), ("torch", with_torch)):
                try:
                    found = call(a)
                except ImportError as error:
                    print(f"{name} not installed ({error.name})")
                    continue
                rate = rate_of(call, a, arguments.repetitions)
                case = f"{name} {real} n={n}"
                print(f"{case:20}  {rate:12.1f} matrices/s   residual {residual(a, *found):.1f}")
    measure_symmetric(random, arguments.symmetric, arguments.repetitions)


if __name__ == "__main__":
    main()
