"""Training on edges: rounds of the loss of negative sampling, its gradient and a step of Riemannian Adam.

    python bench/edge_training.py [--edges data/hyperbolic/mammals_closure.csv] [--rows 2046] [--negatives 20] [--dim 10]
        [--rounds 60] [--threads 2] [--losses]

Every program has the same points, links and settings, float64, and all take turns; it prints the medians of every program's
wall and processor times, and the ratios to geoopt. On a machine that does other things the processor times are those that
mean something. Without --edges the taxonomy is a complete tree with three children a node. --losses prints what each
reaches in 300 rounds of drawn links.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import quintet.torch as qt

RATE = 0.02


def closure(path: str | None) -> np.ndarray:
    """Numbers (child, ancestor)."""
    if path is None:
        parent = [0] + [node for node in range(364) for _ in range(3)]
        pairs = []
        for node in range(1, len(parent)):
            above = node
            while above != 0:
                above = parent[above]
                pairs.append((node, above))
        return np.array(pairs)
    with open(path, newline="") as file:
        rows = list(csv.reader(file))[1:]
    number: dict[str, int] = {}
    return np.array([[number.setdefault(name, len(number)) for name in row[:2]] for row in rows])


def drawn(pairs: np.ndarray, rows: int, negatives: int, count: int, rng: np.random.Generator) -> torch.Tensor:
    linked = pairs[rng.integers(len(pairs), size=rows)]
    return torch.from_numpy(np.concatenate((linked, rng.integers(count, size=(rows, negatives))), 1))


def of_geoopt(start: torch.Tensor) -> tuple[Any, Callable[[torch.Tensor], torch.Tensor]]:
    import geoopt

    ball = geoopt.PoincareBall().double()
    x = geoopt.ManifoldParameter(start.clone(), manifold=ball)
    steps = geoopt.optim.RiemannianAdam([x], lr=RATE)

    def take(links: torch.Tensor) -> torch.Tensor:
        steps.zero_grad()
        distance = ball.dist(x[links[:, :1]], x[links[:, 1:]])
        loss = torch.nn.functional.cross_entropy(-distance, torch.zeros(len(links), dtype=torch.long))
        loss.backward()
        steps.step()
        return loss.detach()

    return x, take


def of_ball(start: torch.Tensor) -> tuple[Any, Callable[[torch.Tensor], torch.Tensor]]:
    x = torch.nn.Parameter(start.clone())
    x.manifold = qt.PoincareBall()
    steps = qt.RiemannianAdam([x], lr=RATE)

    def take(links: torch.Tensor) -> torch.Tensor:
        steps.zero_grad()
        loss = qt.negative_sampling_loss(x, links)
        loss.backward()
        steps.step()
        return loss.detach()

    return x, take


def of_lorentz(start: torch.Tensor) -> tuple[Any, Callable[[torch.Tensor], torch.Tensor]]:
    sheet = qt.Lorentz()
    x = torch.nn.Parameter(sheet.from_poincare(start))
    x.manifold = sheet
    steps = qt.RiemannianAdam([x], lr=RATE)

    def take(links: torch.Tensor) -> torch.Tensor:
        steps.zero_grad()
        loss = qt.negative_sampling_loss(x, links, manifold=sheet)
        loss.backward()
        steps.step()
        return loss.detach()

    return x, take


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges")
    parser.add_argument("--rows", type=int, default=2046)
    parser.add_argument("--negatives", type=int, default=20)
    parser.add_argument("--dim", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--losses", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    pairs, rng = closure(options.edges), np.random.default_rng(0)
    count = int(pairs.max()) + 1
    start = 1e-2 * torch.randn(count, options.dim, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    programs = {"geoopt": of_geoopt, "quintet, ball": of_ball, "quintet, Lorentz": of_lorentz}
    takers = {}
    for name, make in programs.items():
        try:
            takers[name] = make(start)[1]
        except ImportError:
            print(f"{name}: not installed")
    clocks = {"wall": time.perf_counter, "processor": time.process_time}
    times: dict[str, dict[str, list[float]]] = {clock: {name: [] for name in takers} for clock in clocks}
    for turn in range(options.rounds + 5):
        links = drawn(pairs, options.rows, options.negatives, count, rng)
        for name, take in takers.items():
            before = {clock: read() for clock, read in clocks.items()}
            take(links)
            for clock, read in clocks.items():
                if turn >= 5:
                    times[clock][name].append(read() - before[clock])
    for clock in clocks:
        medians = {name: statistics.median(values) for name, values in times[clock].items()}
        for name, median in medians.items():
            is_peer = name == "geoopt" or "geoopt" not in medians
            ratio = "" if is_peer else f", {medians['geoopt'] / median:.1f} times geoopt"
            print(f"{name}: {clock} time {1e3 * median:.2f} ms a round{ratio}")
    if options.losses:
        for name in takers:
            take, draws = programs[name](start)[1], np.random.default_rng(1)
            for _ in range(300):
                loss = take(drawn(pairs, options.rows, options.negatives, count, draws))
            print(f"{name}: loss {float(loss):.4f}")


if __name__ == "__main__":
    main()
