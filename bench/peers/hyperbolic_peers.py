#!/usr/bin/env python3
"""Times hyperbolic geometry of Python beside geoopt and FAISS: medians, all in turn.

    bench/peers/hyperbolic_peers.py [ROUNDS [search]]

Needs the packages quintet and torch; others that are missing are left out. Distances with their gradients are in float, a
round of training (../edge_training.py) in double. With "search", which takes ten minutes, also the 10 nearest of 10,000
queries among 10^6 points of 64 coordinates, in float (Lorentz: double), radii uniform from 0.2 to 3.7, once. FAISS compares
inner products of the sheet in float, where near points lose their digits. Each on one thread and on two."""

import pathlib
import statistics
import sys
import time

import numpy as np
import torch

import quintet
import quintet.torch as qt
from quintet import neighbours

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import edge_training

try:
    import geoopt
except ImportError:
    geoopt = None
try:
    import faiss
except ImportError:
    faiss = None


def ball_points(n, dim, seed):
    random = np.random.default_rng(seed)
    points = random.standard_normal((n, dim))
    norms = np.tanh(random.uniform(0.1, 1.85, (n, 1)))
    return (points / np.linalg.norm(points, axis=1, keepdims=True) * norms).astype(np.float32)


def space_part(ball):
    """Coordinates on the sheet without the time."""
    ball = ball.astype(np.float64)
    return 2 * ball / (1 - (ball * ball).sum(1, keepdims=True))


def on_sheet(space, sign):
    """All coordinates in float, the time with a sign."""
    return np.concatenate((sign * np.sqrt(1 + (space * space).sum(1, keepdims=True)), space), 1).astype(np.float32)


def with_gradient(distances, x, y):
    x, y = x.clone().requires_grad_(), y.clone().requires_grad_()

    def call():
        x.grad = y.grad = None
        distances(x, y).sum().backward()

    return call


def distance_calls():
    """what -> {who: call}."""
    x, y = (torch.from_numpy(ball_points(1000, 64, seed)) for seed in (4, 5))
    sheet, ball = qt.Lorentz(), qt.PoincareBall()
    calls = {"1000 x 1000 x 64 with gradients, ball": {"quintet": with_gradient(ball.cdist, x, y)},
             "1000 x 1000 x 64 with gradients, Lorentz":
                 {"quintet": with_gradient(sheet.cdist, sheet.from_poincare(x), sheet.from_poincare(y))}}
    if geoopt is not None:
        for manifold, (what, lift) in zip((geoopt.PoincareBall(), geoopt.Lorentz()),
                                          zip(calls, (lambda z: z, sheet.from_poincare))):
            calls[what]["geoopt"] = with_gradient(lambda a, b, m=manifold: m.dist(a[:, None], b[None]), lift(x), lift(y))
    return calls


def training_calls():
    pairs, random = edge_training.closure(None), np.random.default_rng(0)
    count = int(pairs.max()) + 1
    start = 1e-2 * torch.randn(count, 10, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    links = edge_training.drawn(pairs, 2046, 20, count, random)
    makers = {"ball": edge_training.of_ball, "Lorentz": edge_training.of_lorentz}
    calls = {}
    for model, make in makers.items():
        takers = {"quintet": make(start)[1]}
        if geoopt is not None:
            takers["geoopt, ball"] = edge_training.of_geoopt(start)[1]
        calls[f"a round of training, {model}"] = {who: lambda take=take: take(links) for who, take in takers.items()}
    return calls


def search_calls():
    points, queries = (ball_points(n, 64, seed) for n, seed in ((1_000_000, 6), (10_000, 7)))
    sheet, asked = space_part(points), space_part(queries)
    calls = {"10 nearest of 10,000 among 10^6 x 64, ball":
                 {"quintet": lambda: neighbours.nearest(points, 10, queries=queries, metric="poincare")},
             "10 nearest of 10,000 among 10^6 x 64, Lorentz":
                 {"quintet": lambda: neighbours.nearest(sheet, 10, queries=asked, metric="lorentz")}}
    if faiss is not None:
        index = faiss.IndexFlatIP(65)
        index.add(on_sheet(sheet, 1))
        searched = on_sheet(asked, -1)
        for of in calls.values():
            of["FAISS flat"] = lambda: index.search(searched, 10)
    return calls


def report(calls, threads, rounds):
    for what, of in calls.items():
        times = {who: [] for who in of}
        for _ in range(rounds):
            for who, call in of.items():
                start = time.perf_counter()
                call()
                times[who].append(1e3 * (time.perf_counter() - start))
        for who, found in times.items():
            print(f"{who} {threads} {what}   {statistics.median(found[1:] or found):.3f} ms", flush=True)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    calls = distance_calls() | training_calls()
    searches = search_calls() if "search" in sys.argv[2:] else {}
    for threads in (1, 2):
        torch.set_num_threads(threads)
        if faiss is not None:
            faiss.omp_set_num_threads(threads)
        with quintet.num_threads(threads):
            report(calls, threads, rounds)
            report(searches, threads, 1)


if __name__ == "__main__":
    main()
