"""A @ A of every matrix of a folder (A @ A^T for those that are not square), here and by SciPy.

    python python/bench/matrices.py ../shared/data/matrices [--rounds 7] [--threads 2] [--processor-time]

Both run in one process, call by call in turn; SciPy has one thread. Medians of wall times, and ratios of them: to
``A @ A``, whose rows SciPy leaves unsorted, and to ``A @ A`` with ``sort_indices()``, the same matrix as ours is. On a
machine that does other things --processor-time with --threads 1 tells more: it is what the process used.
"""

from __future__ import annotations

import argparse
import math
import os
import pathlib
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse

import quintet
from quintet import sparse


def turns(calls: list[Callable[[], Any]], rounds: int, clock: Callable[[], float]) -> list[float]:
    """Median seconds of each: as many calls in a turn as take 2 ms."""
    repeats = []
    for call in calls:
        start = clock()
        call()
        repeats.append(max(1, min(200, int(0.002 / (clock() - start)))))
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, count, taken in zip(calls, repeats, times):
            start = clock()
            for _ in range(count):
                call()
            taken.append((clock() - start) / count)
    return [statistics.median(t) for t in times]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float64")
    parser.add_argument("--processor-time", action="store_true")
    options = parser.parse_args()
    clock = time.process_time if options.processor_time else time.perf_counter
    quintet.set_num_threads(options.threads)
    ratios: list[float] = []
    ratios_sorted: list[float] = []
    losses = []
    print(
        f"{'matrix':<20}{'rows':>8}{'nnz':>9}{'quintet ms':>12}{'SciPy ms':>10}{'ratio':>7}{'sorted ms':>11}{'ratio':>7}"
    )
    for path in sorted(options.folder.glob("*.mtx.gz")):
        A = scipy.sparse.csr_array(scipy.io.mmread(path)).astype(np.dtype(options.dtype))
        A.sum_duplicates()
        B = A if A.shape[0] == A.shape[1] else A.T.tocsr()

        def in_order() -> None:
            (A @ B).sort_indices()  # noqa: B023 - called in this turn

        ours, theirs, theirs_sorted = turns(
            [lambda: sparse.multiply(A, B), lambda: A @ B, in_order],  # noqa: B023 - called in this turn
            options.rounds,
            clock,
        )
        ratios.append(theirs / ours)
        ratios_sorted.append(theirs_sorted / ours)
        if ratios[-1] < 1:
            losses.append(path.name)
        print(
            f"{path.name[:-7]:<20}{A.shape[0]:8}{A.nnz:9}{1e3 * ours:12.3f}{1e3 * theirs:10.3f}{ratios[-1]:7.2f}"
            f"{1e3 * theirs_sorted:11.3f}{ratios_sorted[-1]:7.2f}",
            flush=True,
        )
    print(f"geometric mean {mean(ratios):.2f}, least {min(ratios):.2f}; slower: {', '.join(losses) or 'none'}")
    print(f"with sorted rows: geometric mean {mean(ratios_sorted):.2f}, least {min(ratios_sorted):.2f}")


def mean(ratios: list[float]) -> float:
    return math.exp(statistics.fmean(math.log(r) for r in ratios))


if __name__ == "__main__":
    main()
