"""Rows of bits: Hamming and Jaccard distances."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal

from quintet import hdbscan, neighbours

pytest.importorskip("sklearn")

from scipy.spatial.distance import cdist


def _bit_rows(n: int = 240, bits: int = 77, seed: int = 0) -> np.ndarray:
    """Groups of rows of bits, with a row of none."""
    random = np.random.default_rng(seed)
    centres = random.random((4, bits)) < np.array([[0.2], [0.4], [0.6], [0.8]])
    rows = centres[random.integers(4, size=n)] ^ (random.random((n, bits)) < 0.06)
    rows[3] = False
    return rows


def _bit_distances(X: np.ndarray, metric: str) -> np.ndarray:
    """Plain counts."""
    different = (X[:, None] != X[None]).sum(axis=2)
    if metric == "hamming":
        return different / X.shape[1]
    either = (X[:, None] | X[None]).sum(axis=2)
    return np.divide(different, either, out=np.zeros(different.shape), where=either > 0)


@pytest.mark.parametrize("metric", ["hamming", "jaccard", "tanimoto"])
def test_clusters_of_bits(metric: str) -> None:
    X = _bit_rows()
    d = _bit_distances(X, metric)
    expected = hdbscan.cluster(d, 8, 4, metric="precomputed", tie_tolerance=0.0)
    found = hdbscan.cluster(X, 8, 4, metric=metric)
    assert_array_equal(found.labels, expected.labels)
    assert_array_equal(found.probabilities, expected.probabilities)
    assert_array_equal(found.core_distances, np.sort(d, axis=1)[:, 4])
    assert_array_equal(hdbscan.mutual_reachability(X, core=np.zeros(len(X)), metric=metric), d)
    model = hdbscan.HDBSCAN(min_cluster_size=8, min_samples=4, metric=metric, store_centers="medoid").fit(X)
    assert_array_equal(model.labels_, found.labels)
    assert model.medoids_.dtype == bool
    near = _bit_rows(seed=1)[:70]
    labels, _ = hdbscan.approximate_predict(model, near)
    assert_array_equal(model.predict(near[:3]), labels[:3])
    assert hdbscan.membership_vector(model, near).shape == (70, len(model.cluster_persistence_))
    again = model.refit(min_cluster_size=20)
    assert_array_equal(again.labels_, hdbscan.cluster(X, 20, 4, metric=metric).labels)
    swept = hdbscan.sweep(X, (2, 4), (8, 20), metric=metric)
    assert_array_equal(swept.labels(min_samples=4, min_cluster_size=8), found.labels)
    assert -1 < hdbscan.validity_index(X, found.labels, metric, d=5) < 1
    with pytest.raises(ValueError, match="d must be given with metric="):
        hdbscan.validity_index(X, found.labels, metric)
    with pytest.raises(ValueError, match="rows of bits have no mean"):
        hdbscan.weighted_centroids(X, found.labels, metric=metric)


def test_bits_in_every_form() -> None:
    X = _bit_rows(bits=80)
    labels = hdbscan.cluster(X, 8, metric="hamming").labels
    for rows in (np.packbits(X, axis=1), np.packbits(X, axis=1, bitorder="little"), X.astype(int), X.astype(np.float32), X.tolist()):
        assert_array_equal(hdbscan.cluster(rows, 8, metric="hamming").labels, labels)
    copy = pickle.loads(pickle.dumps(hdbscan.HDBSCAN(min_cluster_size=8, metric="jaccard").fit(X)))
    assert_array_equal(copy.predict(X[:5]), hdbscan.HDBSCAN(min_cluster_size=8, metric="jaccard").fit(X).predict(X[:5]))
    with pytest.raises(ValueError, match=r"X must hold 0 and 1 alone for this metric \(X\[1, 0\]=0.5\)"):
        hdbscan.cluster([[0.0, 1.0], [0.5, 1.0]], metric="jaccard")
    with pytest.raises(ValueError, match="X must be dense with this metric"):
        hdbscan.cluster(scipy.sparse.csr_array(X), metric="jaccard")
    with pytest.warns(UserWarning, match="bytes of 0 and 1, which count as packed bits"):
        hdbscan.core_distances(X.astype(np.uint8), metric="jaccard")

@pytest.mark.parametrize("metric", ["hamming", "jaccard"])
def test_neighbours_of_bits(metric: str) -> None:
    """Against SciPy's distances, and lists in the order (distance, index)."""
    random = np.random.default_rng(3)
    X, Q = random.random((300, 70)) < 0.3, random.random((90, 70)) < 0.3
    d = cdist(Q, X, metric)
    order = np.argsort(d, axis=1, kind="stable")[:, :6]
    distances, indices, *_ = neighbours.nearest(X, 6, queries=Q, metric=metric)
    assert_array_equal(indices, order)
    assert_array_equal(distances, np.take_along_axis(d, order, axis=1))
    index = neighbours.Index(X[:200], metric=metric)
    index.append(X[200:])
    for kept in (index, pickle.loads(pickle.dumps(index))):
        assert_array_equal(kept.nearest(Q, 6).indices, order)
        assert_array_equal(kept.nearest(Q[:2], 6).distances, distances[:2])
    model = neighbours.NearestNeighbors(n_neighbors=6, metric=metric).fit(X)
    assert_array_equal(model.kneighbors(Q)[1], order)
    within = neighbours.within_radius(X, 0.3, queries=Q, metric=metric)
    assert_array_equal(np.diff(within.indptr), (d <= 0.3).sum(axis=1))
    assert_array_equal(neighbours.BallTree(X, metric=metric).query(Q, 6)[1], order)
    packed = neighbours.nearest(np.packbits(X[:, :64], axis=1), 4, metric=metric)
    assert_array_equal(packed.indices, neighbours.nearest(X[:, :64], 4, metric=metric).indices)
