from __future__ import annotations

import copy
import pickle
import threading
from typing import Any

import numpy as np
import pytest

import quintet
from quintet import hdbscan

pytest.importorskip("sklearn")

from scipy.sparse import csgraph
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score

from conftest import layouts

HDBSCAN = hdbscan.HDBSCAN


@pytest.fixture(scope="module")
def blobs() -> np.ndarray:
    return make_blobs(600, 6, centers=7, cluster_std=1.3, random_state=3)[0]


def same(a: Any, b: Any) -> None:
    for name in ("labels_", "probabilities_", "outlier_scores_", "core_distances_"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def test_every_check_of_scikit_learn_passes() -> None:
    from sklearn.utils.estimator_checks import check_estimator

    # Labels follow the order of the points, which the check shuffles; without any weight there is nothing to cluster.
    weighted = {
        "check_sample_weight_equivalence_on_dense_data": "clusters are equal, their numbers are not",
        "check_all_zero_sample_weights_error": "rows of weight 0 are noise",
    }
    binary = {**weighted, "check_sample_weights_list": "ties", "check_sample_weights_not_overwritten": "ties"}
    for model, unlike in (
        (HDBSCAN(), weighted),
        (HDBSCAN(min_samples=3, ties="binary", store_centers="both"), binary),
    ):
        results = check_estimator(model, expected_failed_checks=unlike, on_fail=None, on_skip=None)
        bad = [(r["check_name"], r["exception"]) for r in results if r["status"] not in ("passed", "skipped", "xfail")]
        assert bad == []
        assert {r["check_name"] for r in results if r["status"] == "xfail"} == set(unlike)
        # They need packages that may be absent: array_api_strict and pandas.
        optional = {"check_array_api_input", "check_sample_weights_pandas_series"}
        assert {r["check_name"] for r in results if r["status"] == "skipped"} <= optional


def test_weights_are_equivalent_to_repetition_up_to_numbers() -> None:
    """What check_sample_weight_equivalence of scikit-learn does, with clusters compared instead of their numbers."""
    random = np.random.RandomState(42)
    X = random.uniform(0, 1, (150, 4))
    weights = random.randint(0, 5, 150)
    order = random.permutation(np.repeat(np.arange(150), weights))
    a, b = HDBSCAN().fit(X, sample_weight=weights), HDBSCAN().fit(X[order])
    assert adjusted_rand_score(a.predict(X), b.predict(X)) == 1
    np.testing.assert_array_equal(a.predict(X) < 0, b.predict(X) < 0)
    np.testing.assert_array_equal(a.probabilities_[order], b.probabilities_)


@pytest.mark.parametrize("parameters", [
    {"min_cluster_size": 8},
    {"min_cluster_size": 8, "min_samples": 3},
    {"min_cluster_size": 10, "cluster_selection_method": "leaf"},
    {"min_cluster_size": 6, "cluster_selection_epsilon": 1.5},
    {"min_cluster_size": 6, "allow_single_cluster": True},
    {"min_cluster_size": 6, "max_cluster_size": 90},
    {"min_cluster_size": 6, "alpha": 1.3},
])
def test_equals_contrib_without_ties(blobs: np.ndarray, parameters: dict[str, Any]) -> None:
    contrib = pytest.importorskip("hdbscan")
    theirs = contrib.HDBSCAN(algorithm="prims_kdtree" if parameters.get("alpha") is None else "generic",
                             approx_min_span_tree=False, **parameters).fit(blobs)
    ours = HDBSCAN(**parameters).fit(blobs)
    assert adjusted_rand_score(theirs.labels_, ours.labels_) > 0.98
    heights = np.sort(theirs.single_linkage_tree_.to_numpy()[:, 2])
    np.testing.assert_allclose(np.sort(ours.single_linkage_tree_.to_numpy()[:, 2]), heights, rtol=1e-9)


def test_digits_are_near_contrib_and_scikit_learn() -> None:
    from sklearn.cluster import HDBSCAN as theirs

    X = load_digits().data
    ours = HDBSCAN(min_cluster_size=10, count_self=True).fit(X)
    assert adjusted_rand_score(theirs(min_cluster_size=10, copy=True).fit(X).labels_, ours.labels_) > 0.9


def test_trees_have_contribs_layouts(blobs: np.ndarray) -> None:
    pandas, networkx = pytest.importorskip("pandas"), pytest.importorskip("networkx")
    contrib = pytest.importorskip("hdbscan")
    ours = HDBSCAN(min_cluster_size=8).fit(blobs)
    theirs = contrib.HDBSCAN(min_cluster_size=8, gen_min_span_tree=True, approx_min_span_tree=False).fit(blobs)
    for name in ("condensed_tree_", "single_linkage_tree_", "minimum_spanning_tree_"):
        a, b = getattr(ours, name), getattr(theirs, name)
        assert list(a.to_pandas().columns) == list(b.to_pandas().columns)
        assert isinstance(a.to_pandas(), pandas.DataFrame)
        assert type(a.to_networkx()) is type(b.to_networkx())
        assert a.to_networkx().number_of_edges() == len(a.to_numpy()) * (2 if "linkage" in name else 1)
    assert ours.condensed_tree_.to_numpy().dtype.names == theirs.condensed_tree_.to_numpy().dtype.names
    np.testing.assert_allclose(
        ours.minimum_spanning_tree_.to_numpy()[:, 2].sum(), theirs.minimum_spanning_tree_.to_numpy()[:, 2].sum()
    )
    assert isinstance(ours.minimum_spanning_tree_.to_networkx(), networkx.Graph)
    for cut in (0.8, 1.5, 3.0):
        assert adjusted_rand_score(ours.dbscan_clustering(cut), theirs.dbscan_clustering(cut)) == 1
    theirs_of_tree = hdbscan.relative_validity(theirs.minimum_spanning_tree_.to_numpy(), theirs.labels_)
    np.testing.assert_allclose(theirs_of_tree, theirs.relative_validity_, atol=1e-9)
    assert -1 <= ours.relative_validity_ <= 1
    data = ours.condensed_tree_.get_plot_data()
    assert set(data) == set(theirs.condensed_tree_.get_plot_data())
    assert set(data["cluster_bounds"]) == set(np.unique(ours.condensed_tree_.to_numpy()["parent"]))


def test_plots_of_several_children_and_infinite_lambda() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    # Three groups at equal distances split at once; duplicates have an infinite density.
    corners = np.array([[0.0, 0.0], [10.0, 0.0], [5.0, 75.0**0.5]])
    X = np.repeat(corners, 8, axis=0)
    X[::2] += np.random.default_rng(0).normal(0, 0.01, X[::2].shape)
    model = HDBSCAN(min_cluster_size=3).fit(X)
    tree = model.condensed_tree_.to_numpy()
    assert np.isinf(tree["lambda_val"]).any()
    for log_size in (False, True):
        data = model.condensed_tree_.get_plot_data(log_size=log_size)
        assert np.isfinite(data["bar_tops"]).all() and np.isfinite(np.array(data["line_xs"])).all()
        assert (np.array(data["bar_widths"]) >= 0).all() and (np.array(data["bar_tops"]) > 0).all()
    plt.figure()
    model.condensed_tree_.plot(select_clusters=True, label_clusters=True)
    plt.figure()
    model.condensed_tree_.plot(cmap="none", colorbar=False, log_size=True)
    for mode, p in ((None, 0), ("lastp", 5), ("level", 3)):
        plt.figure()
        model.single_linkage_tree_.plot(truncate_mode=mode, p=p)
    plt.figure()
    model.minimum_spanning_tree_.plot()
    plt.figure()
    HDBSCAN().fit(load_iris().data).minimum_spanning_tree_.plot()
    plt.close("all")


def test_deep_trees_need_no_recursion() -> None:
    X = np.cumsum(1.001 ** np.arange(3000))[:, None]
    model = HDBSCAN(min_cluster_size=2, min_samples=1).fit(X)
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    model.single_linkage_tree_.plot(truncate_mode="lastp", p=10)
    model.condensed_tree_.get_plot_data()
    plt.close("all")


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_types_and_layouts_give_one_result(blobs: np.ndarray, dtype: type) -> None:
    X = blobs.astype(dtype)
    expected = hdbscan.cluster(X, 8)
    for name, layout in layouts(X).items():
        values = layout[::-1][::-1] if name != "reversed" else layout
        found = hdbscan.cluster(values, 8)
        assert np.array_equal(found.labels, expected.labels), name
        assert np.array_equal(found.core_distances, expected.core_distances), name
    assert np.array_equal(HDBSCAN(min_cluster_size=8).fit(X).labels_, expected.labels)


def test_integers_bools_and_bfloat16(blobs: np.ndarray) -> None:
    whole = (blobs * 10).astype(np.int32)
    np.testing.assert_array_equal(hdbscan.cluster(whole, 8).labels, hdbscan.cluster(whole.astype(float), 8).labels)
    np.testing.assert_array_equal(HDBSCAN(8).fit(whole).labels_, hdbscan.cluster(whole.astype(float), 8).labels)
    assert hdbscan.cluster(blobs > 0, 5).labels.shape == (600,)
    ml_dtypes = pytest.importorskip("ml_dtypes")
    rounded = blobs.astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(
        hdbscan.cluster(rounded, 8).labels, hdbscan.cluster(rounded.astype(np.float32), 8).labels
    )


def test_the_same_bits_for_any_number_of_threads(blobs: np.ndarray) -> None:
    models = [HDBSCAN(min_cluster_size=8, n_jobs=n).fit(blobs) for n in (1, 2, 3)]
    vectors = [hdbscan.membership_vector(m, blobs[:50]) for m in models]
    for model, vector in zip(models[1:], vectors[1:]):
        same(models[0], model)
        np.testing.assert_array_equal(vectors[0], vector)


def test_the_order_of_the_points_does_not_matter() -> None:
    X = load_iris().data
    order = np.random.default_rng(1).permutation(len(X))
    a, b = HDBSCAN().fit(X), HDBSCAN().fit(X[order])
    assert adjusted_rand_score(a.labels_[order], b.labels_) == 1
    np.testing.assert_array_equal(a.probabilities_[order], b.probabilities_)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_unit_of_length_does_not_matter(dtype: Any) -> None:
    grid = np.stack(np.meshgrid(np.arange(20.0), np.arange(20.0)), -1).reshape(-1, 2)
    for unit in (1, 0.1, 0.01, 1 / 3):
        for min_samples in (1, 3, 5):
            X = (grid * unit).astype(dtype)
            assert HDBSCAN(min_samples=min_samples).fit(X).labels_.max() == -1
            D = np.abs(X[:, None] - X[None]).max(-1)
            assert HDBSCAN(min_samples=min_samples, metric="precomputed").fit(D).labels_.max() == -1
    millimetres = np.round(load_iris().data * 10)
    for size in (5, 10, 15):
        for method in ("eom", "leaf"):
            options: dict[str, Any] = {"cluster_selection_method": method, "min_samples": 5}
            exact = hdbscan.cluster(millimetres.astype(dtype), size, **options, tie_tolerance=0)
            usual = hdbscan.cluster((millimetres * 0.1).astype(dtype), size, **options)
            np.testing.assert_array_equal(usual.labels, exact.labels)
            assert exact.tie_tolerance == 0 and usual.tie_tolerance == 70 * np.finfo(dtype).eps
            tree = hdbscan.spanning_tree((millimetres * 0.1).astype(dtype), 5)
            second = hdbscan.cluster_tree(
                tree.edges, 150, size, cluster_selection_method=method, tie_tolerance=tree.tie_tolerance
            )
            np.testing.assert_array_equal(second.condensed, usual.condensed)
    assert HDBSCAN().fit(millimetres).tie_tolerance_ == 70 * np.finfo(np.float64).eps
    assert HDBSCAN(tie_tolerance=0.25).fit(millimetres).tie_tolerance_ == 0.25


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "minkowski"])
@pytest.mark.parametrize("epsilon", [0, 1, 2])
def test_the_unit_does_not_matter_for_epsilon(metric: str, epsilon: float) -> None:
    X = np.random.default_rng(3).integers(0, 40, (500, 2)) + 20.0
    options: dict[str, Any] = {"cluster_selection_method": "leaf", "metric": metric, "p": 3}
    expected = hdbscan.cluster(X, 4, 2, cluster_selection_epsilon=epsilon, **options)
    assert expected.labels.max() > 2
    for unit in (0.1, 0.01, 1 / 3, 7.3):
        found = hdbscan.cluster(X * unit, 4, 2, cluster_selection_epsilon=epsilon * unit, **options)
        np.testing.assert_array_equal(found.labels, expected.labels)
        np.testing.assert_allclose(found.probabilities, expected.probabilities, rtol=1e-9)


def test_memory_has_no_effect_and_says_so(blobs: np.ndarray) -> None:
    with pytest.warns(UserWarning, match="memory has no effect"):
        model = HDBSCAN(memory="cache").fit(blobs)
    np.testing.assert_array_equal(model.labels_, HDBSCAN().fit(blobs).labels_)


def test_robust_single_linkage(blobs: np.ndarray) -> None:
    model = hdbscan.RobustSingleLinkage(cut=2.0, k=4, gamma=6, alpha=1.3).fit(blobs)
    D = np.sqrt(((blobs[:, None] - blobs[None]) ** 2).sum(-1))
    core = np.sort(D, axis=1)[:, 4]
    m = np.maximum(np.maximum(core[:, None], core[None]), D / 1.3)
    near = csgraph.connected_components(m < 2.0)[1]
    size = np.bincount(near)[near]
    assert ((model.labels_ < 0) == (size < 6)).all() and model.labels_.max() > 2
    assert adjusted_rand_score(model.labels_[size >= 6], near[size >= 6]) == 1
    assert model.cluster_hierarchy_.to_numpy().shape == (599, 4)
    rows = blobs.copy()
    rows[7] = np.nan
    assert hdbscan.RobustSingleLinkage(cut=1.2).fit_predict(rows)[7] == -1
    for options, word in (({"k": 0}, "k must"), ({"gamma": 0}, "gamma"), ({"cut": -1}, "cut"), ({"metric": "precomputed"}, "metric")):
        with pytest.raises(quintet.InvalidArgument, match=word):
            hdbscan.RobustSingleLinkage(**options).fit(blobs)


def test_rows_with_nan_are_noise(blobs: np.ndarray) -> None:
    X = blobs.copy()
    X[[3, 50]] = np.nan
    X[7, 2] = np.inf
    model = HDBSCAN(min_cluster_size=8).fit(X)
    assert model.invalid_rows_.tolist() == [3, 7, 50]
    assert (model.labels_[[3, 7, 50]] == -1).all() and (model.probabilities_[[3, 7, 50]] == 0).all()
    kept = np.setdiff1d(np.arange(len(X)), [3, 7, 50])
    np.testing.assert_array_equal(model.labels_[kept], HDBSCAN(min_cluster_size=8).fit(X[kept]).labels_)
    labels, probabilities = hdbscan.approximate_predict(model, np.full((1, 6), np.nan))
    assert labels.tolist() == [-1] and probabilities.tolist() == [0]


def test_precomputed_matrices_and_graphs(blobs: np.ndarray) -> None:
    import scipy.sparse as sp
    from scipy.spatial.distance import pdist, squareform

    matrix = squareform(pdist(blobs))
    before = matrix.copy()
    ours = HDBSCAN(min_cluster_size=8, metric="precomputed").fit(matrix)
    assert adjusted_rand_score(ours.labels_, HDBSCAN(min_cluster_size=8).fit(blobs).labels_) == 1
    graph = sp.csr_matrix(matrix)
    sparse = HDBSCAN(min_cluster_size=8, metric="precomputed").fit(graph)
    np.testing.assert_array_equal(sparse.labels_, ours.labels_)
    np.testing.assert_array_equal(matrix, before)
    np.testing.assert_array_equal(graph.toarray(), before)
    two = matrix.copy()
    two[:300, 300:] = two[300:, :300] = np.inf
    assert HDBSCAN(min_cluster_size=8, metric="precomputed").fit(two).components_ == 2
    loops = sp.csr_array(matrix) + sp.eye_array(600, format="csr")
    with pytest.raises(quintet.InvalidArgument, match="not of similarities"):
        HDBSCAN(8, metric="precomputed").fit(loops)
    for rounded in (0, 2e-16, -2e-16):
        loops.setdiag(rounded)
        np.testing.assert_array_equal(HDBSCAN(8, metric="precomputed").fit(loops).labels_, ours.labels_)
    rounded = matrix * (1 + 4e-16 * np.random.default_rng(0).integers(0, 2, matrix.shape))
    smaller = HDBSCAN(8, metric="precomputed").fit(np.minimum(rounded, rounded.T))
    for X in (rounded, sp.csr_array(rounded)):
        np.testing.assert_array_equal(HDBSCAN(8, metric="precomputed").fit(X).core_distances_, smaller.core_distances_)
    with pytest.raises(quintet.InvalidArgument, match="not similarities"):
        HDBSCAN(8, metric="precomputed").fit(np.exp(-matrix))
    with pytest.raises(quintet.InvalidArgument, match="squareform"):
        HDBSCAN(8, metric="precomputed").fit(pdist(blobs))
    with pytest.raises(AttributeError):
        ours.predict(blobs)
    with pytest.raises(ValueError, match="distances"):
        hdbscan.approximate_predict(ours, blobs)
    bad = matrix.copy()
    bad[3, 4] = 99.0
    with pytest.raises(quintet.InvalidArgument):
        HDBSCAN(metric="precomputed").fit(bad)
    with pytest.raises(ValueError, match="square"):
        HDBSCAN(metric="precomputed").fit(matrix[:, :50])


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "minkowski"])
def test_other_metrics_are_those_of_the_matrix_of_distances(metric: str, blobs: np.ndarray) -> None:
    spatial = pytest.importorskip("scipy.spatial.distance")
    p = {"p": 3.0} if metric == "minkowski" else {}
    D = spatial.squareform(spatial.pdist(blobs, {"manhattan": "cityblock"}.get(metric, metric), **p))
    model = HDBSCAN(min_cluster_size=10, metric=metric, **p).fit(blobs)
    expected = HDBSCAN(min_cluster_size=10, metric="precomputed").fit(D)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_allclose(model.core_distances_, expected.core_distances_, rtol=1e-12)
    core = hdbscan.core_distances(blobs, 10, metric=metric, **p)
    np.testing.assert_allclose(core, expected.core_distances_, rtol=1e-12)
    if p:
        again = HDBSCAN(min_cluster_size=10, metric=metric, metric_params=p).fit(blobs)
        np.testing.assert_array_equal(again.labels_, model.labels_)
        for bad in (0.5, np.nan):
            with pytest.raises(quintet.InvalidArgument, match=r"\bp\b"):
                hdbscan.cluster(blobs, metric=metric, p=bad)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "poincare", "lorentz"])
def test_metrics(metric: str) -> None:
    X = make_blobs(200, 4, centers=4, cluster_std=0.05, center_box=(-0.4, 0.4), random_state=0)[0]
    assert (np.linalg.norm(X, axis=1) < 1).all()
    model = HDBSCAN(min_cluster_size=10, metric=metric).fit(X)
    assert model.labels_.max() >= 1
    assert np.isfinite(model.core_distances_).all()
    if metric in ("poincare", "lorentz"):
        again = HDBSCAN(min_cluster_size=10, metric=metric, metric_params={"curvature": -1.0}).fit(X)
        same(model, again)


def test_haversine_is_the_matrix_of_great_circles() -> None:
    pairwise = pytest.importorskip("sklearn.metrics.pairwise")
    rng = np.random.default_rng(8)
    places = np.radians([[48.2, 16.4], [-0.1, 179.95], [60.0, -30.0]])
    X = places[np.arange(300) % 3] + rng.normal(scale=0.003, size=(300, 2))
    X[:, 1] = (X[:, 1] + np.pi) % (2 * np.pi) - np.pi
    expected = HDBSCAN(min_cluster_size=10, metric="precomputed").fit(pairwise.haversine_distances(X))
    model = HDBSCAN(min_cluster_size=10, metric="haversine", store_centers="both", prediction_data=True).fit(X)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_allclose(model.core_distances_, expected.core_distances_, rtol=1e-9)
    across = model.labels_[1]
    assert abs(abs(model.centroids_[across, 1]) - np.radians(179.95)) < 0.002
    assert (model.labels_[np.flatnonzero((X == model.medoids_[across]).all(axis=1))] == across).all()
    inside = model.labels_ >= 0
    labels, _ = hdbscan.approximate_predict(model, X[inside] + 1e-9)
    assert (labels == model.labels_[inside]).mean() > 0.99
    assert hdbscan.membership_vector(model, X[:5]).shape == (5, model.labels_.max() + 1)
    assert hdbscan.validity_index(X, model.labels_, metric="haversine") > 0.3
    of_degrees = {"unit": "degrees", "sphere_radius": 6371008.8}
    metres = HDBSCAN(min_cluster_size=10, metric="haversine", metric_params=of_degrees, store_centers="centroid")
    metres.fit(np.degrees(X))
    np.testing.assert_array_equal(metres.labels_, model.labels_)
    np.testing.assert_allclose(metres.core_distances_, 6371008.8 * model.core_distances_, rtol=1e-6)
    np.testing.assert_allclose(metres.centroids_, np.degrees(model.centroids_), rtol=1e-9)
    found = hdbscan.sweep(np.degrees(X), (5, 10), (10, 20), metric="haversine", unit="degrees", sphere_radius=6371008.8)
    at = next(i for i, one in enumerate(found.settings) if one["min_samples"] == 10 and one["min_cluster_size"] == 10)
    again = found.model(at)
    np.testing.assert_array_equal(again.labels_, metres.labels_)
    np.testing.assert_array_equal(again.fit(np.degrees(X)).labels_, metres.labels_)
    with pytest.warns(UserWarning, match="unit='degrees'"):
        HDBSCAN(metric="haversine").fit(np.degrees(X))
    with pytest.raises(ValueError, match="metric_params may hold"):
        HDBSCAN(metric="haversine", metric_params={"radius": 2.0}).fit(X)


def test_clusters_of_a_product_are_those_of_its_matrix() -> None:
    from quintet import product

    X = make_blobs(300, 6, centers=5, center_box=(-3, 3), random_state=1)[0]
    space = [("poincare", 2, -0.01), ("lorentz", 2), ("sphere", 2, 2.0)]
    X[:, :2] /= 2
    name = product.metric(space)
    expected = HDBSCAN(min_cluster_size=8, metric="precomputed").fit(product.distances(X, X, space))
    model = HDBSCAN(min_cluster_size=8, metric=name).fit(X)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_allclose(model.core_distances_, expected.core_distances_, rtol=1e-13)
    np.testing.assert_array_equal(model.predict(X[:20]), model.labels_[:20])
    np.testing.assert_array_equal(hdbscan.sweep(X, [8], [8], metric=name).labels(0), model.labels_)
    assert hdbscan.core_distances(X.astype(np.float32), 3, metric=name).dtype == np.float64


def test_points_of_the_hyperboloid_become_float64() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    X = make_blobs(300, 4, centers=5, center_box=(-300, 300), random_state=1)[0].astype(ml_dtypes.bfloat16)
    wide = X.astype(np.float64)
    distances = quintet.lorentz.distances(wide, wide)
    expected = HDBSCAN(min_cluster_size=8, metric="precomputed").fit(distances)
    for points in (X, wide):
        model = HDBSCAN(min_cluster_size=8, metric="lorentz").fit(points)
        np.testing.assert_array_equal(model.labels_, expected.labels_)
        np.testing.assert_allclose(model.core_distances_, expected.core_distances_, rtol=1e-13)
        np.testing.assert_array_equal(model.predict(points[:20]), model.labels_[:20])
    assert hdbscan.core_distances(X, 3, metric="lorentz").dtype == np.float64
    with pytest.raises(quintet.InvalidArgument, match=r"points\[1\] must be of norm <= "):
        hdbscan.cluster(np.array([[1.0], [1e30], [2.0]]), metric="lorentz")


def test_predictions_are_near_contribs(blobs: np.ndarray) -> None:
    contrib = pytest.importorskip("hdbscan")
    rng = np.random.default_rng(5)
    more = blobs[rng.integers(0, 600, 200)] + rng.normal(0, 0.3, (200, 6))
    ours = HDBSCAN(min_cluster_size=8, prediction_data=True).fit(blobs)
    theirs = contrib.HDBSCAN(min_cluster_size=8, prediction_data=True).fit(blobs)
    labels, probabilities, neighbours = hdbscan.approximate_predict(ours, more, return_connecting_points=True)
    assert adjusted_rand_score(contrib.approximate_predict(theirs, more)[0], labels) > 0.9
    assert ((probabilities >= 0) & (probabilities <= 1)).all() and ((neighbours >= 0) & (neighbours < 600)).all()
    np.testing.assert_array_equal(ours.predict(more), labels)
    scores = hdbscan.approximate_predict_scores(ours, more)
    assert scores.shape == (200,) and ((scores >= 0) & (scores <= 1)).all()
    soft = hdbscan.all_points_membership_vectors(ours)
    reference = contrib.all_points_membership_vectors(theirs)
    assert soft.shape == reference.shape
    clear = reference.max(axis=1) > 0.5
    match = {a: b for a, b in zip(ours.labels_, theirs.labels_) if a >= 0 and b >= 0}
    agree = [match.get(a) == b for a, b in zip(soft.argmax(axis=1)[clear], reference.argmax(axis=1)[clear])]
    assert np.mean(agree) > 0.97
    vectors = hdbscan.membership_vector(ours, more)
    assert vectors.shape == (200, soft.shape[1]) and (vectors.sum(axis=1) <= 1 + 1e-12).all()
    blocks: list[np.ndarray] = []
    assert hdbscan.membership_vector_blocks(ours, lambda first, rows: blocks.append(rows), more, budget_bytes=0)
    np.testing.assert_array_equal(np.vstack(blocks), vectors)
    assert not hdbscan.membership_vector_blocks(ours, lambda first, rows: False)


def test_as_bertopic_uses_it(blobs: np.ndarray) -> None:
    model = HDBSCAN(min_cluster_size=8, metric="euclidean", cluster_selection_method="eom", prediction_data=True)
    model.fit(blobs, y=None)
    documents = model.labels_
    probabilities = hdbscan.all_points_membership_vectors(model)
    assert probabilities.shape[1] == len(set(documents) - {-1})
    predictions, strengths = hdbscan.approximate_predict(model, blobs[:3])
    assert predictions.shape == strengths.shape == (3,)
    assert model.probabilities_.shape == documents.shape
    tree = model.condensed_tree_
    assert len(tree.selected_clusters) == probabilities.shape[1]
    table, rows = tree.clusters(), tree.to_numpy()
    parts = rows[rows["child_size"] > 1]
    np.testing.assert_array_equal(np.sort(table["cluster"][1:]), np.sort(parts["child"]))
    for row in table[1:]:
        of_it = parts[parts["child"] == row["cluster"]][0]
        assert (row["parent"], row["birth"], row["size"]) == (of_it["parent"], of_it["lambda_val"], of_it["child_size"])
    for label, cluster in enumerate(tree.selected_clusters):
        assert table["label"][table["cluster"] == cluster] == label
        below, seen = {cluster}, set()
        while below:
            node = below.pop()
            seen.add(node)
            below.update(rows["child"][rows["parent"] == node].tolist())
        members = sorted(node for node in seen if node < len(model.labels_))
        np.testing.assert_array_equal(members, np.flatnonzero(model.labels_ == label))
    assert model.prediction_data_.raw_data.shape == blobs.shape
    assert len(model.exemplars_) == probabilities.shape[1]
    with pytest.raises(AttributeError):
        _ = HDBSCAN().fit(blobs).prediction_data_
    later = HDBSCAN().fit(blobs)
    later.generate_prediction_data()
    assert later.prediction_data_.core_distances.shape == (600,)


BERTOPIC = """
import sys, numpy as np
import quintet.hdbscan
sys.modules["hdbscan"] = quintet.hdbscan  # which classes have membership vectors, BERTopic asks this module
from bertopic import BERTopic
from bertopic.dimensionality import BaseDimensionalityReduction

rng = np.random.default_rng(0)
words = [["cat", "dog", "horse", "cow"], ["car", "train", "plane", "ship"], ["bread", "cheese", "soup", "rice"]]
topic = rng.integers(3, size=300)
texts = [" ".join(rng.choice(words[t], 6)) for t in topic]
embeddings = rng.normal(size=(3, 8))[topic] + 0.15 * rng.normal(size=(300, 8))
clusterer = quintet.HDBSCAN(min_cluster_size=15, prediction_data=True)
model = BERTopic(embedding_model=None, umap_model=BaseDimensionalityReduction(), hdbscan_model=clusterer,
                 calculate_probabilities=True)
found, memberships = model.fit_transform(texts, embeddings)
assert len(set(found) - {-1}) == 3 and np.asarray(memberships).shape == (300, 3)
again, memberships = model.transform(texts[:9], embeddings[:9])
assert list(again) == list(found[:9]) and np.asarray(memberships).shape == (9, 3)
named = {t: set(name.split("_")[1:]) for t, name in zip(*model.get_topic_info()[["Topic", "Name"]].values.T) if t >= 0}
assert sorted(map(sorted, named.values())) == sorted(map(sorted, words))
assert len(model.hierarchical_topics(texts)) == 2
"""


@pytest.mark.slow
def test_bertopic_itself(python: Any) -> None:
    for name in ("bertopic", "sklearn"):
        pytest.importorskip(name)
    done = python(BERTOPIC, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]


def test_noise_gets_the_label_of_the_cluster_it_reaches_first(blobs: np.ndarray) -> None:
    model = HDBSCAN(min_cluster_size=8, gen_min_span_tree=True).fit(blobs)
    labels = hdbscan.assign_noise(model.minimum_spanning_tree_, model.labels_)
    noise = model.labels_ < 0
    assert noise.any() and (labels >= 0).all() and (labels[~noise] == model.labels_[~noise]).all()
    assert (hdbscan.assign_noise(model.minimum_spanning_tree_, np.full(600, -1)) == -1).all()


def test_wrong_trees_are_errors(blobs: np.ndarray) -> None:
    tree, n = hdbscan.cluster(blobs, 10).condensed, len(blobs)
    selected = hdbscan.select_clusters(tree)
    numbers = (-(2**63), -1, 0, n - 1, n, n + 1, len(tree), 2**40, 2**63 - 1)
    wrong = [(name, value) for name in ("parent", "child", "child_size") for value in numbers]
    wrong += [("lambda_val", np.nan), ("lambda_val", -1.0)]
    for row in np.random.default_rng(0).integers(len(tree), size=20):
        for name, value in wrong:
            other = tree.copy()
            other[name][row] = value
            if (other == tree).all():
                continue
            with pytest.raises(quintet.InvalidArgument):
                hdbscan.summarise(other)
            for points in (None, n):
                with pytest.raises(quintet.InvalidArgument):
                    hdbscan.select_clusters(other, points)
            with pytest.raises(quintet.InvalidArgument):
                hdbscan.label_points(other, selected, n)
    with pytest.raises(quintet.InvalidArgument, match="rows.size"):
        hdbscan.summarise(tree[:-1], n)


def test_damaged_models_do_no_harm(blobs: np.ndarray) -> None:
    model = HDBSCAN(min_cluster_size=10, prediction_data=True).fit(blobs)
    rng = np.random.default_rng(1)
    refused = 0
    for _ in range(300):
        other = pickle.loads(pickle.dumps(model))
        arrays = [other._condensed, *(other._state[k] for k in ("selected", "exemplar_offsets", "exemplar_points"))]
        bits = arrays[rng.integers(len(arrays))].view(np.uint64)
        bits[rng.integers(len(bits))] ^= np.uint64(1) << np.uint64(rng.integers(64))
        try:
            assert other.predict(blobs[:20]).max() < len(model.cluster_persistence_)
            assert np.isfinite(hdbscan.all_points_membership_vectors(other)).all()
        except quintet.InvalidArgument:
            refused += 1
    assert refused > 150


def test_pickle_clone_and_copy(blobs: np.ndarray) -> None:
    model = HDBSCAN(min_cluster_size=8, prediction_data=True).fit(blobs)
    expected = model.predict(blobs)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        same(model, other)
        np.testing.assert_array_equal(other.predict(blobs), expected)
        np.testing.assert_array_equal(other.condensed_tree_.to_numpy(), model.condensed_tree_.to_numpy())
    fresh = clone(model)
    assert fresh.get_params() == model.get_params() and not hasattr(fresh, "labels_")
    model.fit(blobs[:300])
    assert model.predict(blobs[:300]).shape == (300,)


def test_joblib_and_grid_search(blobs: np.ndarray) -> None:
    joblib = pytest.importorskip("joblib")
    run = joblib.delayed(lambda k: HDBSCAN(min_cluster_size=k, n_jobs=1).fit(blobs).labels_)
    found = joblib.Parallel(n_jobs=2, backend="threading")(run(k) for k in (5, 8, 12))
    for k, labels in zip((5, 8, 12), found):
        np.testing.assert_array_equal(labels, HDBSCAN(min_cluster_size=k).fit(blobs).labels_)


def test_eight_python_threads(blobs: np.ndarray) -> None:
    model = HDBSCAN(min_cluster_size=8).fit(blobs)
    expected = hdbscan.membership_vector(model, blobs)
    failures: list[Any] = []

    def work() -> None:
        try:
            for _ in range(3):
                same(HDBSCAN(min_cluster_size=8).fit(blobs), model)
                np.testing.assert_array_equal(hdbscan.membership_vector(model, blobs), expected)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_centres(blobs: np.ndarray) -> None:
    model = HDBSCAN(min_cluster_size=8, store_centers="both").fit(blobs)
    for k in range(len(model.cluster_persistence_)):
        mask = model.labels_ == k
        mean = np.average(blobs[mask], weights=model.probabilities_[mask], axis=0)
        np.testing.assert_allclose(model.centroids_[k], mean)
        np.testing.assert_allclose(model.weighted_cluster_centroid(k), mean)
        distance = np.linalg.norm(blobs[mask][:, None] - blobs[mask][None], axis=2) * model.probabilities_[mask]
        np.testing.assert_array_equal(model.medoids_[k], blobs[mask][distance.sum(axis=1).argmin()])
        np.testing.assert_array_equal(model.weighted_cluster_medoid(k), model.medoids_[k])
    for k in (-1, 99):
        with pytest.raises(ValueError):
            model.weighted_cluster_centroid(k)


def test_functions_against_plain_numpy(blobs: np.ndarray) -> None:
    X = blobs[:120]
    distance = np.linalg.norm(X[:, None] - X[None], axis=2)
    core = np.sort(distance, axis=1)[:, 5]
    np.testing.assert_allclose(hdbscan.core_distances(X, 5), core)
    np.testing.assert_allclose(hdbscan.core_distances(distance, 5, metric="precomputed"), core)
    reach = np.maximum(np.maximum(core[:, None], core[None]), distance)
    np.fill_diagonal(reach, 0)
    np.testing.assert_allclose(hdbscan.mutual_reachability(X, min_samples=5), reach)
    out = np.empty((120, 125))[:, :120]
    assert hdbscan.mutual_reachability(X, core=core, out=out) is out
    np.testing.assert_allclose(out, reach)
    pairs = np.array([[0, 1], [7, 7], [5, 100]])
    np.testing.assert_allclose(hdbscan.mutual_reachability(X, pairs=pairs, min_samples=5), reach[pairs[:, 0], pairs[:, 1]])
    rows: list[np.ndarray] = []
    assert hdbscan.mutual_reachability_blocks(X, lambda first, block: rows.append(block), min_samples=5, budget_bytes=0)
    np.testing.assert_array_equal(np.vstack(rows), hdbscan.mutual_reachability(X, min_samples=5))
    both = hdbscan.core_and_reachability([X, X[:50]], 5)
    np.testing.assert_array_equal(both[0][1], hdbscan.mutual_reachability(X, min_samples=5))
    assert both[1][1].shape == (50, 50)
    from scipy.sparse.csgraph import minimum_spanning_tree

    tree = hdbscan.spanning_tree(X, 5)
    np.testing.assert_allclose(tree.edges[:, 2].sum(), minimum_spanning_tree(reach).sum())
    result = hdbscan.cluster(X, 5)
    staged = hdbscan.cluster_tree(tree.edges, 120, 5)
    np.testing.assert_array_equal(staged.labels, result.labels)
    np.testing.assert_array_equal(hdbscan.cluster_tree(result.linkage, min_cluster_size=5).labels, result.labels)
    np.testing.assert_array_equal(hdbscan.single_linkage(tree.edges, 120), result.linkage)
    np.testing.assert_array_equal(hdbscan.condense(result.linkage, 5), result.condensed)
    np.testing.assert_array_equal(hdbscan.select_clusters(result.condensed), result.selected)
    np.testing.assert_array_equal(hdbscan.summarise(result.condensed).outlier_scores, result.outlier_scores)
    labelled = hdbscan.label_points(result.condensed, result.selected)
    np.testing.assert_array_equal(labelled.labels, result.labels)
    np.testing.assert_array_equal(labelled.probabilities, result.probabilities)
    np.testing.assert_array_equal(labelled.persistence, result.persistence)
    assert [e.tolist() for e in labelled.exemplars] == [e.tolist() for e in result.exemplars]
    assert len(result.selected) == len(labelled.exemplars) > 1
    none = hdbscan.label_points(result.condensed, np.empty(0, int))
    assert (none.labels == -1).all() and none.exemplars == []
    for bad, kind in (([0], ValueError), ([0.5], TypeError), (result.selected[::-1], ValueError)):
        with pytest.raises(kind, match="selected"):
            hdbscan.label_points(result.condensed, bad)
    assert hdbscan.relative_validity(tree.edges, result.labels) <= 1


def test_validity_index_equals_contribs(blobs: np.ndarray) -> None:
    validity = pytest.importorskip("hdbscan.validity")
    labels = HDBSCAN(min_cluster_size=8).fit(blobs).labels_
    expected, by_cluster = validity.validity_index(blobs, labels, per_cluster_scores=True)
    index, ours = hdbscan.validity_index(blobs, labels, per_cluster_scores=True)
    np.testing.assert_allclose(index, expected, atol=1e-9)
    np.testing.assert_allclose(ours, by_cluster, atol=1e-9)
    assert hdbscan.validity_index(blobs, labels, details=True).separation.shape == ours.shape


def dbcv_of_its_authors(X: np.ndarray, labels: np.ndarray) -> float:
    """With squared distances and Prim's tree from the first point of each cluster."""
    D = ((X[:, None] - X[None]) ** 2).sum(-1)
    core, inner, sparse = np.zeros(len(X)), [], []
    for k in range(labels.max() + 1):
        q = np.flatnonzero(labels == k)
        S = D[np.ix_(q, q)]
        with np.errstate(divide="ignore"):
            core[q] = (np.where(S > 0, S ** -float(X.shape[1]), 0).sum(1) / (len(q) - 1)) ** (-1 / X.shape[1])
        M = np.maximum(np.maximum(core[q][:, None], core[q][None]), S)
        best, source, done, edges = M[0].copy(), np.zeros(len(q), int), np.arange(len(q)) == 0, []
        for _ in range(len(q) - 1):
            j = int(np.argmin(np.where(done, np.inf, best)))
            edges.append((source[j], j, best[j]))
            done[j] = True
            closer = (M[j] < best) & ~done
            best[closer], source[closer] = M[j][closer], j
        degree = np.bincount(np.array([e[:2] for e in edges]).ravel(), minlength=len(q))
        sparse.append(max(w for a, b, w in edges if degree[a] > 1 and degree[b] > 1))
        inner.append(q[degree > 1])
    index = 0.0
    for k, p in enumerate(inner):
        others = np.concatenate([q for j, q in enumerate(inner) if j != k])
        M = np.maximum(np.maximum(core[p][:, None], core[others][None]), D[np.ix_(p, others)])
        index += (labels == k).mean() * (M.min() - sparse[k]) / max(M.min(), sparse[k])
    return index


def test_validity_index_by_convention(blobs: np.ndarray) -> None:
    rng = np.random.default_rng(40)
    X = np.concatenate([rng.normal(0, 0.1, (60, 2)), rng.normal((1, 0), 0.25, (60, 2)), rng.uniform(-0.5, 1.5, (20, 2))])
    labels = np.repeat([0, 1, -1], [60, 60, 20])
    authors = hdbscan.validity_index(X, labels, convention="moulavi_2014")
    assert abs(authors - dbcv_of_its_authors(X, labels)) < 1e-12
    assert authors == hdbscan.validity_index(X, labels, metric="sqeuclidean")
    order = rng.permutation(len(X))
    by_position = hdbscan.validity_index(X, labels, convention="positional")
    assert by_position == hdbscan.validity_index(X[order], labels[order], convention="positional")
    with pytest.raises(quintet.InvalidArgument, match="convention must be indexed"):
        hdbscan.validity_index(X, labels, convention="contrib")


@pytest.mark.parametrize("parameters, error", [
    ({"metric": "canberra"}, ValueError),
    ({"metric": "minkowski", "p": 0.5}, ValueError),
    ({"min_cluster_size": 1}, ValueError),
    ({"min_cluster_size": 2.5}, TypeError),
    ({"min_samples": 0}, ValueError),
    ({"alpha": 0.0}, ValueError),
    ({"cluster_selection_method": "dbscan"}, ValueError),
    ({"ties": "no"}, ValueError),
    ({"tie_tolerance": 1.0}, ValueError),
    ({"metric_params": {"w": 1}}, ValueError),
    ({"metric": "poincare", "curvature": 1.0}, ValueError),
    ({"store_centers": "mean"}, ValueError),
    ({"device": "nowhere"}, ValueError),
    ({"device": "7"}, quintet.DeviceError),
    ({"p": 3}, NotImplementedError),
    ({"cluster_selection_persistence": 0.1}, NotImplementedError),
    ({"branch_detection_data": True}, NotImplementedError),
    ({"match_reference_implementation": True}, NotImplementedError),
    ({"progress": 3}, TypeError),
    ({"n_jobs": 0}, ValueError),
])
def test_bad_parameters(blobs: np.ndarray, parameters: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        HDBSCAN(**parameters).fit(blobs)


def test_a_typo_of_a_metric_is_seen(blobs: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"\(metric='euclidian'\); did you mean 'euclidean'\?"):
        HDBSCAN(metric="euclidian").fit(blobs)
    with pytest.raises(ValueError, match=r"metric must not be squared \(metric='sqeuclidean'\): 'euclidean' has the same"):
        HDBSCAN(metric="sqeuclidean").fit(blobs)


@pytest.mark.parametrize("other, name", [("infinity", "chebyshev"), ("p", "minkowski"), ("l1", "manhattan")])
def test_other_names_of_metrics(blobs: np.ndarray, other: str, name: str) -> None:
    p = {"p": 3} if name == "minkowski" else {}
    found = HDBSCAN(metric=other, **p).fit(blobs)
    assert (found.core_distances_ == HDBSCAN(metric=name, **p).fit(blobs).core_distances_).all()
    lists = quintet.NearestNeighbors(n_neighbors=4, metric=other, **p).fit(blobs).kneighbors(blobs)
    expected = quintet.NearestNeighbors(n_neighbors=4, metric=name, **p).fit(blobs).kneighbors(blobs)
    assert all((a == b).all() for a, b in zip(lists, expected))


def test_bad_arrays(blobs: np.ndarray) -> None:
    import scipy.sparse as sp

    for bad in (blobs.astype(complex), np.array([["a", "b"]]), np.array([[None, 1]], dtype=object)):
        with pytest.raises(TypeError):
            hdbscan.cluster(bad)
    for shape in ((5,), (2, 3, 4)):
        with pytest.raises(ValueError):
            hdbscan.cluster(np.zeros(shape))
    with pytest.raises(TypeError):
        hdbscan.cluster(sp.csr_array(blobs))
    with pytest.raises(TypeError):
        hdbscan.cluster(np.ma.masked_array(blobs))
    with pytest.raises(TypeError):
        hdbscan.validity_index(blobs, np.zeros(600))
    with pytest.raises(ValueError):
        hdbscan.validity_index(blobs, np.zeros(5, int))
    with pytest.raises(ValueError):
        hdbscan.cluster_tree([[0, 1, -1.0]], 2)
    with pytest.raises(ValueError):
        hdbscan.cut([[0, 1, 1.0, 3]], 1.0)
    model = HDBSCAN().fit(blobs)
    with pytest.raises(ValueError):
        model.predict(blobs[:, :3])
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        HDBSCAN().predict(blobs)


def test_sizes_at_the_edges() -> None:
    for n in (0, 1, 2, 3):
        result = hdbscan.cluster(np.zeros((n, 2)), 2)
        assert result.labels.shape == (n,) and result.linkage.shape == (max(n - 1, 0), 4)
    assert hdbscan.cluster(np.zeros((10, 2)), 3).labels.shape == (10,)
    single = HDBSCAN().fit(np.zeros((1, 2)))
    assert single.labels_.tolist() == [-1] and single.exemplars_ == []


def test_progress(blobs: np.ndarray) -> None:
    stages: list[str] = []
    hdbscan.cluster(blobs, progress=lambda stage, fraction: stages.append(stage))
    assert stages
    with pytest.raises(quintet.Cancelled):
        hdbscan.cluster(blobs, progress=lambda stage, fraction: False)

    class Own(Exception):
        pass

    def fail(stage: str, fraction: float) -> None:
        raise Own(stage)

    with pytest.raises(Own):
        HDBSCAN(progress=fail).fit(blobs)


@pytest.mark.torch
def test_tensors(blobs: np.ndarray) -> None:
    torch = pytest.importorskip("torch")
    X = torch.from_numpy(blobs)
    expected = HDBSCAN(min_cluster_size=8).fit(blobs)
    same(HDBSCAN(min_cluster_size=8).fit(X), expected)
    assert isinstance(hdbscan.core_distances(X), torch.Tensor)
    with pytest.raises(TypeError, match="gradient"):
        hdbscan.cluster(X.clone().requires_grad_())
    low = X.to(torch.bfloat16)
    model = HDBSCAN(min_cluster_size=8).fit(low)
    np.testing.assert_array_equal(model.labels_, hdbscan.cluster(low.float().numpy(), 8).labels)
    assert model.predict(low[:5]).shape == (5,)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_few_rows_have_the_bits_of_many(metric: str, dtype: Any) -> None:
    from concurrent.futures import ThreadPoolExecutor

    r = np.random.default_rng(4)
    X = (r.normal(size=(6, 3)) * 4)[r.integers(6, size=500)] + r.normal(size=(500, 3)) * 0.3
    X, new = X[:400].astype(dtype), X[400:].astype(dtype)
    model = hdbscan.HDBSCAN(min_cluster_size=15, min_samples=4, metric=metric).fit(X)
    labels, probabilities, neighbours = hdbscan.approximate_predict(model, new, return_connecting_points=True)
    scores, soft = hdbscan.approximate_predict_scores(model, new), hdbscan.membership_vector(model, new)
    assert labels.max() > 0 and soft.shape == (100, labels.max() + 1)
    for rows in (slice(0, 1), slice(7, 40), slice(36, 99)):
        few = hdbscan.approximate_predict(model, new[rows], return_connecting_points=True)
        for a, b in zip(few, (labels, probabilities, neighbours)):
            np.testing.assert_array_equal(a, b[rows])
        np.testing.assert_array_equal(hdbscan.approximate_predict_scores(model, new[rows]), scores[rows])
        np.testing.assert_array_equal(hdbscan.membership_vector(model, new[rows]), soft[rows])
    with ThreadPoolExecutor(4) as pool:
        each = list(pool.map(lambda i: model.predict(new[i : i + 1])[0], range(100)))
    np.testing.assert_array_equal(each, labels)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(new[:3]), labels[:3])
    np.testing.assert_array_equal(model.predict(new[:3].tolist()), labels[:3])


def test_few_rows_are_those_of_the_last_fit(blobs: np.ndarray) -> None:
    model = hdbscan.HDBSCAN(min_cluster_size=15).fit(blobs)
    model.predict(blobs[:1])
    model.refit(min_cluster_size=len(blobs) // 2)
    assert model.labels_.max() < 0 and model.predict(blobs[:1]).tolist() == [-1]
    model.fit(blobs[:, :2])
    with pytest.raises(ValueError, match="features"):
        model.predict(blobs[:1])


def test_metrics_of_linear_maps_say_which() -> None:
    from scipy.spatial.distance import pdist, squareform

    X = np.random.default_rng(3).normal(size=(60, 3)) * [1, 20, 0.1]
    maps = {
        "seuclidean": X / X.std(axis=0, ddof=1),
        "mahalanobis": X @ np.linalg.cholesky(np.linalg.inv(np.cov(X.T))),
    }
    for name, mapped in maps.items():
        with pytest.raises(ValueError, match="pass X"):
            HDBSCAN(metric=name).fit(X)
        expected = np.sort(squareform(pdist(X, name)), axis=1)[:, 5]
        np.testing.assert_allclose(hdbscan.core_distances(mapped, 5), expected, rtol=1e-9)
