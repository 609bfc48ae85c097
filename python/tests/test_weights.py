"""Rows that count more than once, or in part: against repeated rows."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from quintet import InvalidArgument, hdbscan

HDBSCAN = hdbscan.HDBSCAN


@pytest.fixture(scope="module")
def case() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(5)
    X = np.concatenate([random.normal(c, 0.5, (60, 2)) for c in (0, 4)] + [random.integers(0, 9, (60, 2))])
    weights = random.integers(0, 6, len(X))
    return X, weights, np.repeat(np.arange(len(X)), weights)


def test_fit_equals_that_of_repeated_rows(case: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    X, weights, source = case
    new = np.random.default_rng(1).normal(2, 3, (90, 2))
    a = HDBSCAN(12, 6, store_centers="both").fit(X, sample_weight=weights)
    b = HDBSCAN(12, 6, store_centers="both").fit(X[source])
    for name in ("labels_", "probabilities_", "outlier_scores_", "core_distances_"):
        np.testing.assert_array_equal(getattr(a, name)[source], getattr(b, name))
    for name in ("cluster_persistence_", "medoids_", "persistence_trace_"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    np.testing.assert_allclose(a.centroids_, b.centroids_, rtol=1e-12)
    assert a.relative_validity_ == b.relative_validity_
    np.testing.assert_array_equal(a.excluded_rows_, np.flatnonzero(weights == 0))
    assert (a.labels_[weights == 0] == -1).all() and np.isnan(a.core_distances_[weights == 0]).all()
    for model in (a, pickle.loads(pickle.dumps(a))):
        np.testing.assert_array_equal(model.predict(new), b.predict(new))
        np.testing.assert_array_equal(model.predict(new[:3]), b.predict(new[:3]))
        np.testing.assert_array_equal(hdbscan.membership_vector(model, new), hdbscan.membership_vector(b, new))
        np.testing.assert_array_equal(model.dbscan_clustering(0.7, 5)[source], b.dbscan_clustering(0.7, 5))
    a.refit(min_cluster_size="auto", cluster_selection_method="leaf")
    b.refit(min_cluster_size="auto", cluster_selection_method="leaf")
    assert a.min_cluster_size_ == b.min_cluster_size_
    np.testing.assert_array_equal(a.labels_[source], b.labels_)


def test_functions_equal_those_of_repeated_rows(case: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    X, weights, source = case
    core = hdbscan.core_distances(X, 4, sample_weight=weights)
    np.testing.assert_array_equal(core[source], hdbscan.core_distances(X[source], 4))
    tree = hdbscan.spanning_tree(X, 4, sample_weight=weights)
    np.testing.assert_array_equal(tree.core_distances, core)
    assert len(tree.edges) == np.count_nonzero(weights) - 1
    labels = hdbscan.cluster(X, 9, 4, sample_weight=weights).labels
    np.testing.assert_array_equal(labels[source], hdbscan.cluster(X[source], 9, 4).labels)
    assert hdbscan.validity_index(X, labels, sample_weight=weights) == hdbscan.validity_index(X[source], labels[source])
    a = hdbscan.sweep(X, (2, 5), (5, 9), score="dbcv", sample_weight=weights)
    b = hdbscan.sweep(X[source], (2, 5), (5, 9), score="dbcv")
    np.testing.assert_array_equal(a.settings, b.settings)
    np.testing.assert_array_equal(a.labels()[source], b.labels())
    np.testing.assert_array_equal(a.model().labels_[source], b.model().labels_)
    np.testing.assert_array_equal(a.persistence_trace(5), b.persistence_trace(5))


def test_weights_of_parts_and_of_one() -> None:
    X = np.random.default_rng(2).normal(size=(80, 3))
    np.testing.assert_array_equal(
        HDBSCAN(6).fit(X, sample_weight=np.ones(80, np.int64)).probabilities_, HDBSCAN(6).fit(X).probabilities_
    )
    halves = hdbscan.core_distances(X, 4, sample_weight=np.full(80, 0.5))
    np.testing.assert_array_equal(halves, hdbscan.core_distances(X, 9))


def test_wrong_weights_are_named() -> None:
    X = np.random.default_rng(2).normal(size=(20, 2))
    weights = np.ones(20)
    with pytest.raises(InvalidArgument, match=r"one value for each of the 20 rows \(shape=\(3,\)\)"):
        HDBSCAN().fit(X, sample_weight=[1, 1, 1])
    for value in (-1.0, np.nan, np.inf):
        weights[4] = value
        with pytest.raises(InvalidArgument, match=rf"sample_weight\[4\]={value}"):
            HDBSCAN().fit(X, sample_weight=weights)
    weights[4] = 2
    with pytest.raises(InvalidArgument, match="ties must be canonical"):
        HDBSCAN(ties="binary").fit(X, sample_weight=weights)
    with pytest.raises(InvalidArgument, match="sample_weight needs points"):
        HDBSCAN(metric="precomputed").fit(np.ones((20, 20)), sample_weight=weights)
    with pytest.raises(InvalidArgument, match="core_distances must be given"):
        hdbscan.relative_validity([[0, 1, 1.0]], [0, 0], sample_weight=[1, 2])
    found = HDBSCAN().fit(X, sample_weight=np.zeros(20))
    assert (found.labels_ == -1).all() and len(found.excluded_rows_) == 20
