"""Calls in a loop, also those that fail, keep no memory."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import quintet
from quintet import hdbscan, neighbours, snp


def resident_bytes() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


X = np.random.default_rng(0).normal(size=(400, 8))
NETWORK = snp.Network("((A:0.1,B:0.1):0.2,C:0.3);", theta=0.05)
DATA = snp.simulate(NETWORK, [2, 2, 2], 100)


def cancelled() -> None:
    with pytest.raises(quintet.Cancelled):
        hdbscan.cluster(X, progress=lambda stage, fraction: False)


def refused() -> None:
    with pytest.raises(ValueError):
        neighbours.nearest(X, 0)
    with pytest.raises(ValueError):
        hdbscan.cluster(X, 1)


def sparse_products() -> None:
    sp = pytest.importorskip("scipy.sparse")
    a = sp.random_array((300, 300), density=0.05, rng=np.random.default_rng(0)).tocsr()
    quintet.spgemm(a, a)
    quintet.sparse.Plan(a, a).execute(a, a)


def likelihood() -> None:
    model = snp.Likelihood(NETWORK, DATA)
    model.evaluate()
    model.gradient()
    model.set_length(0, 0.5)
    model.evaluate()


CASES: dict[str, Callable[[], Any]] = {
    "cluster": lambda: hdbscan.cluster(X),
    "cancelled": cancelled,
    "refused": refused,
    "nearest": lambda: neighbours.nearest(X, 5),
    "sparse": sparse_products,
    "likelihood": likelihood,
    "networks": lambda: snp.Network(NETWORK.newick).topology,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(CASES))
def test_memory_stays(name: str) -> None:
    call = CASES[name]
    for _ in range(30):
        call()
    gc.collect()
    before = resident_bytes()
    for _ in range(150):
        call()
    gc.collect()
    assert resident_bytes() - before < 8 << 20
