#!/usr/bin/env python3
"""Peers of the Poincare distance matrix in Python: numpy (sgemm and arcsinh), and torch, geoopt when installed.

    bench/peers/poincare_peers.py [--queries 1000] [--points 1000] [--dim 64] [--repetitions 15]

Prints the median time and the largest relative error against numpy in float64, difference form.
"""

import argparse
import statistics
import time

import numpy as np


def ball_points(random, n, dim):
    points = random.standard_normal((n, dim))
    norms = random.uniform(0.1, 0.95, (n, 1))
    return (points / np.linalg.norm(points, axis=1, keepdims=True) * norms).astype(np.float32)


def exact(x, y):
    x, y = x.astype(np.float64), y.astype(np.float64)
    below = np.outer(1 - (x * x).sum(1), 1 - (y * y).sum(1))
    square = np.stack([((row - y) ** 2).sum(1) for row in x])
    return 2 * np.arcsinh(np.sqrt(square / below))


def with_numpy(x, y):
    a, b = (x * x).sum(1), (y * y).sum(1)
    square = np.maximum(a[:, None] + b[None, :] - 2 * (x @ y.T), 0)
    return 2 * np.arcsinh(np.sqrt(square / np.outer(1 - a, 1 - b)))


def with_torch(x, y):
    import torch

    x, y = torch.from_numpy(x), torch.from_numpy(y)
    a, b = (x * x).sum(1), (y * y).sum(1)
    square = (a[:, None] + b[None, :] - 2 * (x @ y.T)).clamp_min(0)
    return (2 * torch.asinh((square / torch.outer(1 - a, 1 - b)).sqrt())).numpy()


def with_geoopt(x, y):
    import geoopt
    import torch

    ball = geoopt.PoincareBall()
    return ball.dist(torch.from_numpy(x)[:, None, :], torch.from_numpy(y)[None, :, :]).detach().numpy()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--dim", type=int, default=64)
    parser.add_argument("--repetitions", type=int, default=15)
    arguments = parser.parse_args()
    random = np.random.default_rng(4)
    x = ball_points(random, arguments.queries, arguments.dim)
    y = ball_points(random, arguments.points, arguments.dim)
    expected = exact(x, y)
    for name, call in (("numpy", with_numpy), ("torch", with_torch), ("geoopt", with_geoopt)):
        try:
            found = call(x, y)
        except ImportError as error:
            print(f"{name:8} not installed ({error.name})")
            continue
        seconds = []
        for _ in range(arguments.repetitions):
            start = time.perf_counter()
            call(x, y)
            seconds.append(time.perf_counter() - start)
        worst = np.max(np.abs(found - expected) / np.maximum(expected, 1e-30))
        print(f"{name:8} {1e3 * statistics.median(seconds):9.2f} ms   largest relative error {worst:.1e}")


if __name__ == "__main__":
    main()
