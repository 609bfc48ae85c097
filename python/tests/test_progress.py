"""progress= of functions that compute rows or matrices in blocks: same bits, rising fractions, cancelled when asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import quintet
from quintet import hdbscan, linalg, neighbours, sparse

rng = np.random.default_rng(0)
X = np.round(rng.normal(size=(700, 3)), 1)  # with equal points
X[5] = np.nan


def model() -> Any:
    pytest.importorskip("sklearn")
    return hdbscan.HDBSCAN(min_cluster_size=10, min_samples=3, prediction_data=True).fit(np.where(np.isnan(X), 0, X))


def matrix(shape: tuple[int, int]) -> Any:
    sp = pytest.importorskip("scipy.sparse")
    return sp.random_array(shape, density=0.02, rng=np.random.default_rng(1), format="csr")


def neighbours_of_points(**how: Any) -> Any:
    return tuple(neighbours.nearest(X, 12, **how)[:4])


def neighbours_of_queries(**how: Any) -> Any:
    return tuple(neighbours.nearest(X, 5, queries=X[::2] + 0.5, **how)[:4])


def graph(**how: Any) -> Any:
    pytest.importorskip("scipy")
    found = neighbours.nearest_graph(X, 5, include_self=True, **how)
    return found.data, found.indices, found.indptr


def factors(**how: Any) -> Any:
    return tuple(linalg.svd(rng_matrices, **how))


rng_matrices = rng.normal(size=(10, 17, 7, 5))

CALLS: dict[str, tuple[str, Callable[..., Any]]] = {
    "nearest": ("neighbours", neighbours_of_points),
    "queries": ("neighbours", neighbours_of_queries),
    "graph": ("neighbours", graph),
    "svd": ("decompose", factors),
    "values": ("decompose", lambda **how: (linalg.svd(rng_matrices, compute_uv=False, **how),)),
    "predict": ("predict", lambda **how: hdbscan.approximate_predict(model(), X[10:] + 0.1, True, **how)),
    "membership": ("memberships", lambda **how: (hdbscan.membership_vector(model(), X[10:] + 0.1, **how),)),
    "all_points": ("memberships", lambda **how: (hdbscan.all_points_membership_vectors(model(), **how),)),
}


@pytest.mark.parametrize("name", CALLS)
def test_blocks_have_the_bits_of_one_call(name: str) -> None:
    stage, call = CALLS[name]
    seen: list[tuple[str, float]] = []
    found = call(progress=lambda *step: seen.append(step))
    for one, other in zip(call(), found, strict=True):
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))
    assert {step[0] for step in seen} == {stage} and seen[-1][1] == 1.0
    fractions = [step[1] for step in seen]
    assert fractions == sorted(fractions) and (len(seen) > 2 or name in ("membership", "all_points"))


@pytest.mark.parametrize("name", CALLS)
def test_false_cancels(name: str) -> None:
    with pytest.raises(quintet.Cancelled, match=CALLS[name][0]):
        CALLS[name][1](progress=lambda stage, fraction: False)


@pytest.mark.parametrize("by_columns", [False, True])
@pytest.mark.parametrize("how", [{}, {"semiring": "min_plus"}, {"transpose_b": True}])
def test_products(how: dict[str, Any], by_columns: bool) -> None:
    a, b = matrix((900, 300)), matrix((300, 900))
    if "transpose_b" in how:
        b = b.T.tocsr()
    if by_columns:
        a, b = a.tocsc(), b.tocsc()
    seen: list[float] = []
    one, other = sparse.multiply(a, b, **how), sparse.multiply(a, b, progress=lambda _, f: seen.append(f), **how)
    assert one.format == other.format and one.shape == other.shape
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(one, part), getattr(other, part))
    assert len(seen) > 2 and seen[-1] == 1.0


def test_masked_product_and_errors() -> None:
    a = matrix((900, 900))
    one, other = sparse.multiply(a, a, mask=a), sparse.multiply(a, a, mask=a, progress=lambda *_: None)
    np.testing.assert_array_equal(one.toarray(), other.toarray())
    with pytest.raises(quintet.InvalidArgument, match="return_report"):
        sparse.multiply(a, a, progress=lambda *_: None, return_report=True)
    with pytest.raises(quintet.InvalidArgument, match="mask"):
        sparse.multiply(a, a, mask=a[:5], progress=lambda *_: None)
    with pytest.raises(TypeError, match="progress"):
        neighbours.nearest(X, 3, progress="yes")
    with pytest.raises(quintet.InvalidArgument, match="k"):
        neighbours.nearest(X, len(X), progress=lambda *_: None)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", [17, 33, 50])
def test_the_last_block_may_be_small(dtype: str, count: int) -> None:
    """One or two matrices alone are not side by side in registers, which rounds differently."""
    for n in (4, 12, 33):
        a = rng.normal(size=(count, n, n)).astype(dtype)
        for one, other in zip(linalg.svd(a), linalg.svd(a, progress=lambda *_: None), strict=True):
            np.testing.assert_array_equal(one, other)
        one, other = (linalg.svd(a, compute_uv=False, progress=p) for p in (None, lambda *_: None))
        np.testing.assert_array_equal(one, other)


def test_empty_inputs() -> None:
    assert linalg.svd(np.empty((0, 3, 2)), progress=lambda *_: None)[1].shape == (0, 2)
    assert neighbours.nearest(X, 3, queries=np.empty((0, 3)), progress=lambda *_: None).indices.shape == (0, 3)
