"""Rows of int8 and uint8: distances and inner products that are exact to the last tie."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from quintet import hdbscan, neighbours

pytest.importorskip("sklearn")


def _codes(n: int = 240, d: int = 37, seed: int = 0, dtype: type = np.int8) -> np.ndarray:
    """Groups of rows of bytes, with copies and multiples of each other."""
    random = np.random.default_rng(seed)
    limits = np.iinfo(dtype)
    centres = random.integers(limits.min + 40, limits.max - 40, (4, d))
    rows = np.clip(centres[random.integers(4, size=n)] + np.rint(9 * random.normal(size=(n, d))), limits.min, limits.max)
    rows[5], rows[7] = rows[6], 2 * (rows[8] // 4)
    rows[8] = rows[7] // 2
    return rows.astype(dtype)


def _order(X: np.ndarray, Q: np.ndarray, metric: str) -> np.ndarray:
    """Indices by exact keys of Python's integers."""
    order = []
    for q in Q.astype(object):
        dots = [int(np.dot(q, x)) for x in X.astype(object)]
        squares = [int(np.dot(x, x)) for x in X.astype(object)]
        if metric == "integer_cosine":
            from fractions import Fraction

            keys = [Fraction(-g * abs(g), s) for g, s in zip(dots, squares)]
        else:
            keys = [s - 2 * g if metric == "integer_euclidean" else -g for g, s in zip(dots, squares)]
        order.append(sorted(range(len(X)), key=lambda j: (keys[j], j)))
    return np.array(order)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("metric", ["integer_euclidean", "integer_cosine", "integer_inner_product", "inner_product"])
def test_neighbours_of_integers(metric: str, dtype: type) -> None:
    X, Q = _codes(dtype=dtype), _codes(70, seed=1)
    order = _order(X, Q, metric)
    distances, indices, *_ = neighbours.nearest(X, 9, queries=Q, metric=metric)
    assert_array_equal(indices, order[:, :9])
    dots = Q.astype(float) @ X.astype(float).T
    if "inner" in metric:
        expected = -dots
    elif "cosine" in metric:
        expected = 1 - dots / np.sqrt((Q.astype(float) ** 2).sum(1)[:, None] * (X.astype(float) ** 2).sum(1))
    else:
        expected = np.sqrt(((Q[:, None].astype(float) - X[None]) ** 2).sum(2))
    assert_allclose(distances, np.take_along_axis(expected, order[:, :9], axis=1), rtol=1e-12, atol=1e-15)
    own = _order(X, X, metric)
    without = np.array([[j for j in row if j != i][:5] for i, row in enumerate(own)])
    assert_array_equal(neighbours.nearest(X, 5, metric=metric).indices, without)
    index = neighbours.Index(X[:200], metric=metric)
    index.append(X[200:])
    for kept in (index, pickle.loads(pickle.dumps(index))):
        assert_array_equal(kept.nearest(Q, 9).indices, indices)
        assert_array_equal(kept.nearest(Q[:2].tolist(), 9).distances, distances[:2])
    model = neighbours.NearestNeighbors(n_neighbors=9, metric=metric).fit(X)
    assert_array_equal(model.kneighbors(Q)[1], indices)
    radius = float(distances[3, 4])
    within = neighbours.within_radius(X, radius, queries=Q, metric=metric)
    near = neighbours.nearest(X, len(X), queries=Q, metric=metric)
    assert_array_equal(np.diff(within.indptr), (near.distances <= radius).sum(axis=1))


@pytest.mark.parametrize("metric", ["integer_euclidean", "integer_cosine"])
def test_clusters_of_integers(metric: str) -> None:
    X = _codes(d=12)
    d = hdbscan.mutual_reachability(X, core=np.zeros(len(X)), metric=metric)
    expected = hdbscan.cluster(d, 8, 4, metric="precomputed", tie_tolerance=0.0)
    found = hdbscan.cluster(X, 8, 4, metric=metric)
    assert_array_equal(found.labels, expected.labels)
    assert_array_equal(found.probabilities, expected.probabilities)
    model = hdbscan.HDBSCAN(min_cluster_size=8, min_samples=4, metric=metric, store_centers="medoid").fit(X)
    assert_array_equal(model.labels_, found.labels)
    near = _codes(70, 12, seed=1)
    labels, _ = hdbscan.approximate_predict(model, near)
    assert_array_equal(model.predict(near[:3]), labels[:3])
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(near), labels)
    assert_array_equal(model.refit(min_cluster_size=20).labels_, hdbscan.cluster(X, 20, 4, metric=metric).labels)
    swept = hdbscan.sweep(X, (2, 4), (8, 20), metric=metric)
    assert_array_equal(swept.labels(min_samples=4, min_cluster_size=8), found.labels)
    assert -1 < hdbscan.validity_index(X, found.labels, metric) < 1
    centroids = hdbscan.weighted_centroids(X, found.labels, metric=metric)
    assert_allclose(centroids[0], X[found.labels == 0].mean(axis=0), rtol=1e-12)
    if metric == "integer_euclidean":
        assert_array_equal(found.labels, hdbscan.cluster(X.astype(float), 8, 4, tie_tolerance=0.0).labels)


def test_integers_that_are_refused() -> None:
    X = _codes()
    with pytest.raises(ValueError, match="integer_inner_product is for neighbours alone"):
        hdbscan.cluster(X, metric="inner_product")
    with pytest.raises(ValueError, match=r"must hold integers from -255 to 255 for this metric \(\w+\[0, 1\]=256\)"):
        neighbours.nearest(np.array([[1, 256], [0, 1]]), 1, metric="integer_cosine")
    with pytest.raises(ValueError, match=r"must hold integers from -255 to 255 for this metric \(\w+\[1, 0\]=0.5\)"):
        neighbours.nearest([[1.0, 2.0], [0.5, 1.0]], 1, metric="integer_euclidean")
    with pytest.raises(TypeError, match="must be int8 or uint8 for this metric"):
        neighbours.nearest(np.ones((3, 2), complex), 1, metric="integer_cosine")
    with pytest.raises(ValueError, match="65536 integers in a row"):
        neighbours.nearest(np.ones((2, 65537), np.int8), 1, metric="integer_cosine")
    assert_array_equal(neighbours.nearest(np.array([[0, 0], [1, 2], [2, 4]], np.int8), 1, metric="integer_cosine").indices[1:, 0], [2, 1])
