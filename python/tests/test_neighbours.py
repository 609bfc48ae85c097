from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import quintet
from quintet import neighbours

pytest.importorskip("sklearn")

from conftest import layouts
from sklearn.neighbors import KNeighborsTransformer, NearestNeighbors


@pytest.fixture(scope="module")
def points() -> np.ndarray:
    return np.random.default_rng(4).normal(size=(500, 5))


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", "chebyshev", "minkowski"])
@pytest.mark.parametrize("dimensions", [2, 40])
def test_nearest_equals_scikit_learn(metric: str, dimensions: int) -> None:
    X = np.random.default_rng(0).normal(size=(1500 if dimensions == 2 else 300, dimensions))
    p = {"p": 3} if metric == "minkowski" else {}
    reference = NearestNeighbors(n_neighbors=6, metric=metric, algorithm="brute", **p).fit(X)
    distances, indices = reference.kneighbors()
    found = neighbours.nearest(X, 6, metric=metric, **p)
    np.testing.assert_allclose(found.distances, distances, atol=1e-12)
    np.testing.assert_array_equal(found.indices, indices)
    queries = X[:50] + 0.01
    distances, indices = reference.kneighbors(queries)
    found = neighbours.nearest(X, 6, queries=queries, metric=metric, **p)
    np.testing.assert_allclose(found.distances, distances, atol=1e-12)
    np.testing.assert_array_equal(found.indices, indices)


def test_poincare_distances_are_those_of_the_ball(points: np.ndarray) -> None:
    from quintet import poincare

    X = 0.9 * points / (1 + np.linalg.norm(points, axis=1, keepdims=True))
    found = neighbours.nearest(X, 3, metric="poincare")
    matrix = poincare.distances(X, X)
    np.fill_diagonal(matrix, np.inf)
    np.testing.assert_array_equal(found.distances, np.sort(matrix, axis=1)[:, :3])


def test_radius_equals_scikit_learn(points: np.ndarray) -> None:
    graph = NearestNeighbors().fit(points).radius_neighbors_graph(radius=1.2, mode="distance")
    found = neighbours.within_radius(points, 1.2)
    assert found.to_scipy().shape == (500, 500)
    np.testing.assert_allclose(found.to_scipy().toarray(), graph.toarray(), atol=1e-12)
    some = neighbours.within_radius(points, 1.2, queries=points[:10])
    assert np.diff(some.indptr).tolist() == (np.diff(found.indptr)[:10] + 1).tolist()


def test_transformer_is_scikit_learns(points: np.ndarray) -> None:
    for mode in ("distance", "connectivity"):
        ours = quintet.KNeighborsTransformer(mode=mode, n_neighbors=7)
        theirs = KNeighborsTransformer(mode=mode, n_neighbors=7)
        a, b = ours.fit_transform(points), theirs.fit_transform(points)
        assert type(a) is type(b) and a.nnz == b.nnz
        np.testing.assert_array_equal(a.indices, b.indices)
        np.testing.assert_allclose(a.data, b.data, atol=1e-12)
        c, d = ours.transform(points[:20] + 0.1), theirs.transform(points[:20] + 0.1)
        np.testing.assert_allclose(c.toarray(), d.toarray(), atol=1e-12)
        assert ours.get_feature_names_out().tolist()[:1] == ["kneighborstransformer0"]
    for p in (1, 3.5, np.inf):
        a = quintet.KNeighborsTransformer(p=p).fit_transform(points)
        b = KNeighborsTransformer(p=p).fit_transform(points)
        np.testing.assert_array_equal(a.indices, b.indices)
        np.testing.assert_allclose(a.data, b.data, atol=1e-12)
    kn = quintet.KNeighborsTransformer().fit(points)
    distances, indices = kn.kneighbors()
    assert (indices != np.arange(500)[:, None]).all() and distances.shape == (500, 5)
    assert kn.kneighbors(points[:3], 2, return_distance=False)[:, 0].tolist() == [0, 1, 2]


def test_every_check_of_scikit_learn_passes() -> None:
    from sklearn.utils.estimator_checks import check_estimator

    results = check_estimator(quintet.KNeighborsTransformer(), on_fail=None, on_skip=None)
    assert [(r["check_name"], r["exception"]) for r in results if r["status"] not in ("passed", "skipped")] == []


def test_in_a_pipeline(points: np.ndarray) -> None:
    from sklearn.cluster import DBSCAN
    from sklearn.manifold import Isomap
    from sklearn.pipeline import make_pipeline

    made = make_pipeline(quintet.KNeighborsTransformer(n_neighbors=30), DBSCAN(metric="precomputed", eps=1.0))
    np.testing.assert_array_equal(
        made.fit_predict(points),
        make_pipeline(KNeighborsTransformer(n_neighbors=30), DBSCAN(metric="precomputed", eps=1.0)).fit_predict(points),
    )
    embedded = make_pipeline(
        quintet.KNeighborsTransformer(n_neighbors=12), Isomap(n_neighbors=12, metric="precomputed")
    ).fit_transform(points)
    assert embedded.shape == (500, 2)


def test_umap_takes_the_neighbours(points: np.ndarray) -> None:
    indices, distances = neighbours.precomputed_knn(points, 15)
    assert (indices[:, 0] == np.arange(500)).all() and (distances[:, 0] == 0).all()
    reference = NearestNeighbors(n_neighbors=15).fit(points).kneighbors(points)
    np.testing.assert_array_equal(indices, reference[1])
    np.testing.assert_allclose(distances, reference[0], atol=1e-12)
    with pytest.raises(ValueError, match="finite"):
        neighbours.precomputed_knn(np.array([[0.0], [np.nan], [1.0], [2.0]]), 2)


@pytest.mark.slow
def test_umap_itself(points: np.ndarray) -> None:
    umap = pytest.importorskip("umap")
    knn = (*neighbours.precomputed_knn(points, 15), None)
    found = umap.UMAP(n_neighbors=15, precomputed_knn=knn, random_state=0).fit_transform(points)
    assert found.shape == (500, 2) and np.isfinite(found).all()


@pytest.mark.parametrize("n", [20, 3000])
def test_indices_are_numpys_int64(n: int) -> None:
    """Small results are copied, large ones owned: both are printed as int64, and writable."""
    found = neighbours.nearest(np.random.default_rng(0).normal(size=(n, 2)), 3)
    for array in (found.indices, found.invalid_points):
        assert array.dtype.char == np.dtype(np.int64).char
    found.indices[0, 0] = 7
    assert found.indices.flags.c_contiguous and found.distances.flags.writeable


def test_layouts_types_threads_and_edges(points: np.ndarray) -> None:
    for dtype in (np.float16, np.float32, np.float64):
        X = points.astype(dtype)
        expected = neighbours.nearest(X, 4)
        for name, layout in layouts(X).items():
            np.testing.assert_array_equal(neighbours.nearest(layout, 4).indices, expected.indices, err_msg=name)
        for n in (1, 2, 3):
            with quintet.num_threads(n):
                np.testing.assert_array_equal(neighbours.nearest(X, 4).distances, expected.distances)
    X = points.copy()
    X[3] = np.nan
    found = neighbours.nearest(X, 4)
    assert found.invalid_points.tolist() == [3] and (found.indices[3] == -1).all() and np.isnan(found.distances[3]).all()
    assert not (found.indices == 3).any()
    graph = neighbours.nearest_graph(X, 4)
    assert graph.shape == (500, 500) and graph.nnz == 499 * 4 and graph.indices.dtype == graph.indptr.dtype == np.int32
    assert neighbours.nearest_graph(points, 4, include_self=True, mode="connectivity").nnz == 2500
    assert neighbours.nearest(np.zeros((1, 2)), 1).indices.tolist() == [[-1]]
    duplicates = neighbours.nearest(np.zeros((4, 2)), 2)
    assert duplicates.indices.tolist() == [[1, 2], [0, 2], [0, 1], [0, 1]]


@pytest.mark.parametrize("call, error", [
    (lambda X: neighbours.nearest(X, 0), ValueError),
    (lambda X: neighbours.nearest(X, 3, metric="minkowski", p=0.5), ValueError),
    (lambda X: neighbours.nearest(X, 500), ValueError),
    (lambda X: neighbours.nearest(X, 1.5), TypeError),
    (lambda X: neighbours.nearest(X, 3, metric="hamming"), ValueError),
    (lambda X: neighbours.nearest(X, 3, queries=X[:, :2]), ValueError),
    (lambda X: neighbours.nearest(X, 3, queries=X.astype(np.float32)), TypeError),
    (lambda X: neighbours.within_radius(X, -1.0), ValueError),
    (lambda X: neighbours.within_radius(X, np.inf), ValueError),
    (lambda X: neighbours.nearest_graph(X, 3, mode="x"), ValueError),
    (lambda X: neighbours.nearest_graph(X, 3, queries=X, include_self=True), ValueError),
    (lambda X: neighbours.precomputed_knn(X, 1), ValueError),
    (lambda X: quintet.KNeighborsTransformer(p=0.5).fit(X), ValueError),
    (lambda X: quintet.KNeighborsTransformer(mode="x").fit(X), ValueError),
    (lambda X: quintet.KNeighborsTransformer(n_neighbors=600).fit(X).transform(X), ValueError),
    (lambda X: quintet.KNeighborsTransformer(metric="hamming").fit(X).transform(X), ValueError),
])
def test_bad_arguments(points: np.ndarray, call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call(points)
