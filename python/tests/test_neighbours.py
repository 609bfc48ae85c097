from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import quintet
from quintet import neighbours

pytest.importorskip("sklearn")

from sklearn.neighbors import KNeighborsTransformer, NearestNeighbors, RadiusNeighborsTransformer

from conftest import layouts


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


def globe(count: int, seed: int = 5) -> np.ndarray:
    """Latitudes and longitudes in radians: a few places, the date line and a pole among them."""
    rng = np.random.default_rng(seed)
    places = np.radians([[48.2, 16.4], [-0.2, 179.9], [89.9, 0.0], [-33.9, 151.2]])
    X = places[rng.integers(len(places), size=count)] + rng.normal(scale=0.002, size=(count, 2))
    X[:, 0] = np.clip(X[:, 0], -np.pi / 2, np.pi / 2)
    return X


def test_haversine_equals_scikit_learn() -> None:
    X = globe(900)
    reference = NearestNeighbors(n_neighbors=6, metric="haversine", algorithm="ball_tree").fit(X)
    distances, indices = reference.kneighbors()
    found = neighbours.nearest(X, 6, metric="haversine")
    np.testing.assert_allclose(found.distances, distances, rtol=1e-6, atol=1e-9)
    assert (np.asarray(found.indices) == indices).mean() > 0.99
    own = quintet.NearestNeighbors(n_neighbors=6, metric="haversine").fit(X)
    np.testing.assert_array_equal(own.kneighbors()[0], found.distances)
    of_degrees = {"unit": "degrees", "sphere_radius": 6371008.8}
    in_metres = quintet.NearestNeighbors(n_neighbors=6, metric="haversine", metric_params=of_degrees).fit(np.degrees(X))
    np.testing.assert_allclose(in_metres.kneighbors()[0], found.distances * 6371008.8, rtol=1e-7, atol=1e-6)
    index = neighbours.Index(X, metric="haversine", sphere_radius=2.0)
    np.testing.assert_allclose(index.nearest(X[:3], 4).distances[:, 1:], 2 * found.distances[:3, :3], rtol=1e-15)
    inside = neighbours.within_radius(X, 0.001, metric="haversine")
    assert (inside.distances <= 0.001).all() and len(inside.indices) > 900


def test_degrees_that_are_read_as_radians_are_told() -> None:
    X = np.degrees(globe(50))
    with pytest.warns(UserWarning, match="unit='degrees'"):
        found = neighbours.nearest(X, 3, metric="haversine")
    assert len(found.invalid_points) > 0
    with pytest.raises(ValueError, match="unit must be 'radians' or 'degrees'"):
        neighbours.nearest(X, 3, metric="haversine", unit="gradians")
    with pytest.raises(ValueError, match="points.cols must be 2 for haversine"):
        neighbours.nearest(np.zeros((5, 3)), 3, metric="haversine")
    with pytest.raises(ValueError, match="sphere_radius must be in"):
        neighbours.nearest(X, 3, metric="haversine", unit="degrees", sphere_radius=0.0)


def test_poincare_distances_are_those_of_the_ball(points: np.ndarray) -> None:
    from quintet import poincare

    X = 0.9 * points / (1 + np.linalg.norm(points, axis=1, keepdims=True))
    found = neighbours.nearest(X, 3, metric="poincare")
    matrix = poincare.distances(X, X)
    np.fill_diagonal(matrix, np.inf)
    np.testing.assert_array_equal(found.distances, np.sort(matrix, axis=1)[:, :3])


def test_lorentz_distances_are_those_of_the_model(points: np.ndarray) -> None:
    from quintet import lorentz

    X = (1000 * points).astype(np.float32)
    matrix = lorentz.distances(X.astype(np.float64), X.astype(np.float64))
    np.fill_diagonal(matrix, np.inf)
    for found in (
        neighbours.nearest(X, 3, metric="lorentz"),
        neighbours.Index(X, metric="lorentz").nearest_others(3),
        quintet.NearestNeighbors(n_neighbors=3, metric="lorentz").fit(X).kneighbors(),
    ):
        np.testing.assert_allclose(found[0], np.sort(matrix, axis=1)[:, :3], rtol=1e-13)


def test_products_have_the_distances_of_their_factors(points: np.ndarray) -> None:
    from quintet import product

    space = [("lorentz", 2, -0.5), ("sphere", 2, 1.0, 3.0), ("euclidean", 1)]
    name = product.metric(space)
    X = points.astype(np.float32)
    wide = X.astype(np.float64)
    matrix = product.distances(wide, wide, space)
    np.fill_diagonal(matrix, np.inf)
    order = np.argsort(matrix, axis=1)[:, :3]
    model = quintet.NearestNeighbors(n_neighbors=3, metric=name).fit(X)
    for distances, indices, *_ in (
        neighbours.nearest(X, 3, metric=name),
        neighbours.Index(X, metric=name).nearest_others(3),
        pickle.loads(pickle.dumps(neighbours.Index(X, metric=name))).nearest_others(3),
        model.kneighbors(),
    ):
        np.testing.assert_array_equal(indices, order)
        np.testing.assert_allclose(distances, np.take_along_axis(matrix, order, 1), rtol=1e-14)
    found = neighbours.within_radius(X, 1.0, metric=name)
    np.testing.assert_array_equal(np.diff(found.indptr), (matrix <= 1.0).sum(1))
    with pytest.raises(ValueError, match=r"quintet.product.metric\(space\)"):
        neighbours.nearest(X, 3, metric="product")
    with pytest.raises(ValueError, match="sum of the dimensions, 4"):
        neighbours.nearest(X, 3, metric=product.metric(space[:2]))
    with pytest.raises(ValueError, match="a factor must be"):
        neighbours.nearest(X, 3, metric="product of balls 5")


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


@pytest.mark.parametrize("mode", ["distance", "connectivity"])
def test_transformer_of_a_radius_is_scikit_learns(points: np.ndarray, mode: str) -> None:
    ours = quintet.RadiusNeighborsTransformer(mode=mode, radius=0.8)
    theirs = RadiusNeighborsTransformer(mode=mode, radius=0.8)
    a, b = ours.fit_transform(points), theirs.fit_transform(points)
    assert a.shape == b.shape and 500 < a.nnz == b.nnz
    np.testing.assert_array_equal(a.indptr, b.indptr)
    np.testing.assert_allclose(a.toarray(), b.toarray(), atol=1e-12)
    row = np.repeat(np.arange(500), np.diff(a.indptr))
    assert (np.diff(a.data)[np.diff(row) == 0] >= 0).all()
    c, d = ours.transform(points[:20] + 0.1), theirs.transform(points[:20] + 0.1)
    np.testing.assert_allclose(c.toarray(), d.toarray(), atol=1e-12)
    assert ours.get_feature_names_out().tolist()[:1] == ["radiusneighborstransformer0"]
    with pytest.raises(ValueError, match="mode must be"):
        quintet.RadiusNeighborsTransformer(mode="length").fit(points)
    with pytest.raises(ValueError, match="radius"):
        quintet.RadiusNeighborsTransformer(radius=-1.0).fit(points).transform(points)


@pytest.mark.parametrize("name", ["KNeighborsTransformer", "NearestNeighbors", "RadiusNeighborsTransformer"])
def test_every_check_of_scikit_learn_passes(name: str) -> None:
    from sklearn.utils.estimator_checks import check_estimator

    results = check_estimator(getattr(quintet, name)(), on_fail=None, on_skip=None)
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
    (lambda X: neighbours.nearest(X, 3, metric="canberra"), ValueError),
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
    (lambda X: quintet.KNeighborsTransformer(metric="canberra").fit(X).transform(X), ValueError),
])
def test_bad_arguments(points: np.ndarray, call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call(points)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", "minkowski", "poincare", "lorentz"])
def test_an_index_has_the_bits_of_one_call(metric: str) -> None:
    r = np.random.default_rng(3)
    how: dict[str, Any] = {"metric": metric, **({"p": 3.0} if metric == "minkowski" else {})}
    for dtype in (np.float16, np.float32, np.float64):
        X, Q = (r.uniform(-0.3, 0.3, (n, 4)).astype(dtype) for n in (3000, 200))
        index = neighbours.Index(X[:1000], **how)
        index.append(X[1000:])
        assert index.shape == (3000, 4) and len(index) == 3000 and index.nbytes > X.astype(np.float32).nbytes
        for count in (1, 20, 200):
            expected = neighbours.nearest(X, 7, queries=Q[:count], **how)
            for a, b in zip(index.nearest(Q[:count], 7)[:4], expected):
                np.testing.assert_array_equal(a, b)
            near = neighbours.within_radius(X, 0.1, queries=Q[:count], **how)
            for a, b in zip(index.within_radius(Q[:count], 0.1)[:6], near):
                np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(index.nearest_others(3).indices, neighbours.nearest(X, 3, **how).indices)
        np.testing.assert_array_equal(
            index.others_within_radius(0.1).indices, neighbours.within_radius(X, 0.1, **how).indices
        )


def test_an_index_lists_rows_that_are_no_points() -> None:
    index = neighbours.Index([[0.0], [np.nan], [2.0]])
    assert index.invalid_points.tolist() == [1]
    found = index.nearest([[1.5], [np.inf]], 3)
    assert found.indices.tolist() == [[2, 0, -1], [-1, -1, -1]] and found.invalid_queries.tolist() == [1]
    assert index.used(1) == "tree" and neighbours.Index([[0.0]], search="all_pairs").used(1) == "all_pairs"


def test_searches_go_on_while_points_are_appended(points: np.ndarray) -> None:
    from concurrent.futures import ThreadPoolExecutor

    index = neighbours.Index(points[:400])
    few, all_of_them = (neighbours.nearest(X, 3, queries=points).indices for X in (points[:400], points))
    with ThreadPoolExecutor(5) as pool:
        found = [pool.submit(index.nearest, points, 3) for _ in range(20)]
        pool.submit(index.append, points[400:]).result()
        for search in found:
            indices = search.result().indices
            assert (indices == few).all() or (indices == all_of_them).all()
    np.testing.assert_array_equal(index.nearest(points, 3).indices, all_of_them)


def test_nearest_neighbors_is_scikit_learns(points: np.ndarray) -> None:
    import pickle

    queries = points[:20] + 0.1
    for X in (points, points.astype(np.float32)):
        for p in (1, 2, 3):
            ours = quintet.NearestNeighbors(n_neighbors=7, radius=1.1, p=p).fit(X)
            theirs = NearestNeighbors(n_neighbors=7, radius=1.1, p=p).fit(X)
            near = 1e-5 if X.dtype == np.float32 else 1e-12
            for Q in (None, queries, queries[:1].astype(np.float32)):
                for a, b in zip(ours.kneighbors(Q), theirs.kneighbors(Q)):
                    assert a.shape == b.shape
                    np.testing.assert_allclose(a, b, atol=near)
                a, b = (m.radius_neighbors(Q, sort_results=True) for m in (ours, theirs))
                assert a[0].dtype == object and a[0].shape == b[0].shape
                for i in range(len(b[0])):
                    np.testing.assert_array_equal(a[1][i], b[1][i])
                    np.testing.assert_allclose(a[0][i], b[0][i], atol=near)
                for mode in ("connectivity", "distance"):
                    for name in ("kneighbors_graph", "radius_neighbors_graph"):
                        a, b = (getattr(m, name)(Q, mode=mode) for m in (ours, theirs))
                        assert type(a) is type(b) and a.shape == b.shape and a.nnz == b.nnz
                        np.testing.assert_allclose(a.toarray(), b.toarray(), atol=near)
            assert ours.effective_metric_ == theirs.effective_metric_ or p == 3
    copy = pickle.loads(pickle.dumps(ours))
    np.testing.assert_array_equal(copy.kneighbors(queries)[1], ours.kneighbors(queries)[1])
    with pytest.raises(ValueError, match="return_distance must be True"):
        ours.radius_neighbors(queries, return_distance=False, sort_results=True)


@pytest.mark.parametrize("mode", ["connectivity", "distance"])
@pytest.mark.parametrize("include_self", [True, False, "auto"])
def test_functions_of_graphs_are_scikit_learns(points: np.ndarray, mode: str, include_self: Any) -> None:
    from sklearn import neighbors

    for name, size in (("kneighbors_graph", 6), ("radius_neighbors_graph", 0.9)):
        for options in ({}, {"metric": "manhattan"}, {"p": 3}):
            a, b = (getattr(m, name)(points, size, mode=mode, include_self=include_self, **options) for m in (neighbours, neighbors))
            assert type(a) is type(b) and a.shape == b.shape and a.nnz == b.nnz > 0
            np.testing.assert_allclose(a.toarray(), b.toarray(), atol=1e-12)
        with pytest.raises(TypeError, match="X must be points; a fitted model has a method"):
            getattr(neighbours, name)(quintet.NearestNeighbors().fit(points), size)
        with pytest.raises(ValueError, match="include_self must be True, False or 'auto'"):
            getattr(neighbours, name)(points, size, mode=mode, include_self="no")


def test_bad_arguments_of_an_index(points: np.ndarray) -> None:
    index = neighbours.Index(points)
    for call, error in [
        (lambda: index.nearest(points, 0), "k must be in"),
        (lambda: index.nearest(points[:, :2], 1), "queries.cols must be points.cols=5"),
        (lambda: index.within_radius(points, np.nan), "radius must be >= 0"),
        (lambda: index.append(points[:, :2]), "points.cols must be the index's dim=5"),
        (lambda: neighbours.Index(points, search="kd"), "search must be 'automatic' or"),
        (lambda: neighbours.Index(points, metric="minkowski", p=0.5), "p must be infinity, or in"),
    ]:
        with pytest.raises(ValueError, match=error):
            call()
    with pytest.raises(TypeError, match="must be of one type"):
        index.nearest(points.astype(np.float32), 1)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_an_index_is_saved_loaded_and_pickled(tmp_path: Any, dtype: str) -> None:
    import pickle

    kind = pytest.importorskip("ml_dtypes").bfloat16 if dtype == "bfloat16" else dtype
    X = np.random.default_rng(5).normal(size=(300, 3)).astype(kind)
    index = neighbours.Index(X[:200], metric="cosine")
    index.append(X[200:])
    index.save(tmp_path / "points.index")
    expected = index.nearest(X[:70], 5)
    for copy in (neighbours.Index.load(tmp_path / "points.index"), pickle.loads(pickle.dumps(index))):
        assert copy.metric == "cosine" and copy.shape == (300, 3)
        for a, b in zip(copy.nearest(X[:70], 5)[:2], expected):
            np.testing.assert_array_equal(a, b)
        copy.append(X[:10])
        assert len(copy) == 310
        with pytest.raises(TypeError, match="must be of one type"):
            copy.nearest(X.astype(np.float32 if dtype == "float64" else np.float64), 5)


def test_damaged_files_of_an_index_are_refused(tmp_path: Any, points: np.ndarray) -> None:
    path = tmp_path / "points.index"
    neighbours.Index(points).save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    with pytest.raises(quintet.FileError, match="points.index: is damaged: it ends within its coordinates"):
        neighbours.Index.load(path)
    path.write_bytes(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])
    with pytest.raises(quintet.FileError, match="the checksum of its"):
        neighbours.Index.load(path)
    with pytest.raises(quintet.FileError, match="cannot be read"):
        neighbours.Index.load(tmp_path / "absent")
    with pytest.raises(quintet.FileError):
        neighbours.Index(points).save(tmp_path / "absent" / "points.index")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["points.index"]


def test_a_pickle_of_a_fit_holds_its_index(points: np.ndarray) -> None:
    import pickle

    model = quintet.RadiusNeighborsTransformer(radius=1.0).fit(points)
    content = pickle.dumps(model)
    assert points.nbytes < len(content) < points.nbytes + 4 * len(points) + 3000
    assert (pickle.loads(content).transform(points) != model.transform(points)).nnz == 0


def cosine_lists(X: Any, Y: Any, k: int, excludes_own: bool) -> tuple[np.ndarray, np.ndarray]:
    """Brute force in long double; equal cosines by index, rows without length have none and are in no list."""
    x, y = (m.toarray().astype(np.longdouble) for m in (X, Y))
    with np.errstate(invalid="ignore", divide="ignore"):
        x, y = (m / np.sqrt((m * m).sum(axis=1))[:, None] for m in (x, y))
    distances, indices = np.full((len(x), k), np.nan), np.full((len(x), k), -1)
    for i, row in enumerate(x):
        d = 1 - np.round(y @ row, 12)
        if excludes_own:
            d[i] = np.nan
        order = np.lexsort((np.arange(len(d)), d))[: min(k, np.count_nonzero(d == d))]
        distances[i, : len(order)], indices[i, : len(order)] = d[order], order
    return distances, indices


@pytest.mark.parametrize("density", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("signed", [False, True])
def test_cosine_of_sparse_rows(density: float, signed: bool) -> None:
    sp = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(5)
    X = sp.random_array((120, 60), density=density, rng=rng, format="csr")
    X.data = rng.integers(-3 if signed else 1, 4, X.nnz).astype(float)  # many rows are equal, some entries 0
    Y = sp.random_array((30, 60), density=density, rng=rng, format="coo")
    for points, queries, k in ((X, None, 7), (X, Y, 7), (X, None, 119), (X, X, 120), (X.tocsc(), Y.tocsr(), 3)):
        found = neighbours.nearest(points, k, queries=queries, metric="cosine")
        distances, indices = cosine_lists(points if queries is None else queries, points, k, queries is None)
        np.testing.assert_allclose(found.distances, distances, atol=1e-11)
        # Cosines that differ by rounding alone may be in either order: the same indices at every distance.
        for ours, theirs, d in zip(found.indices, indices, distances):
            for level in np.unique(np.round(d[d == d], 10))[:-1]:
                at = np.abs(d - level) < 1e-9
                assert sorted(ours[at]) == sorted(theirs[at])
        empty = np.flatnonzero(np.abs(points).sum(axis=1) == 0)
        np.testing.assert_array_equal(found.invalid_points, empty)
        assert (found.indices[found.invalid_queries] == -1).all() and not np.isin(found.indices, empty).any()
    graph = neighbours.nearest_graph(X, 3, metric="cosine")
    assert graph.shape == (120, 120)


def test_cosine_of_sparse_rows_refuses_bad_arguments() -> None:
    sp = pytest.importorskip("scipy.sparse")
    X = sp.eye_array(5, format="csr")
    for call, error, message in (
        (lambda: neighbours.nearest(X, 1), ValueError, "metric must be 'cosine' for sparse points"),
        (lambda: neighbours.nearest(X, 5, metric="cosine"), ValueError, "k must be within 1 ... 4"),
        (lambda: neighbours.nearest(X, 1, queries=X[:, :3], metric="cosine"), ValueError, "as many columns"),
        (lambda: neighbours.nearest(X, 1, queries=np.eye(5), metric="cosine"), TypeError, "queries must be a sparse"),
        (lambda: neighbours.nearest(X.astype(complex), 1, metric="cosine"), TypeError, "points must be"),
    ):
        with pytest.raises(error, match=message):
            call()
    huge = sp.csr_array(np.array([[1e300, 1e300], [1e-300, 0], [np.nan, 1], [0, 0]]))
    found = neighbours.nearest(huge, 1, metric="cosine")
    assert found.indices.ravel().tolist() == [1, 0, -1, -1]
    np.testing.assert_allclose(found.distances[:2].ravel(), 1 - np.sqrt(0.5))
