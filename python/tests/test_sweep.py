"""Many clusterings from one pass, refit, and the automatic size."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest

import quintet
from quintet import hdbscan

pytest.importorskip("sklearn")

from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError

HDBSCAN = hdbscan.HDBSCAN


@pytest.fixture(scope="module")
def blobs() -> np.ndarray:
    X = make_blobs(500, 3, centers=6, cluster_std=1.2, random_state=5)[0].astype(np.float32)
    X[[3, 77]] = np.nan
    return X


def same_model(a: Any, b: Any) -> None:
    for name in ("labels_", "probabilities_", "outlier_scores_", "core_distances_", "cluster_persistence_"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    np.testing.assert_array_equal(a.single_linkage_tree_.to_numpy(), b.single_linkage_tree_.to_numpy())
    np.testing.assert_array_equal(a.condensed_tree_.to_numpy(), b.condensed_tree_.to_numpy())
    np.testing.assert_array_equal(a.minimum_spanning_tree_.to_numpy(), b.minimum_spanning_tree_.to_numpy())
    assert (a.neighbours_, a.min_cluster_size_) == (b.neighbours_, b.min_cluster_size_)


@pytest.mark.parametrize("labels", ["best", "all"])
@pytest.mark.parametrize("parameters", [
    {},
    {"cluster_selection_method": "leaf", "ties": "binary"},
    {"metric": "minkowski", "p": 3.0, "allow_single_cluster": True},
    {"alpha": 1.2, "count_self": True},
])
def test_settings_are_fresh_fits(blobs: np.ndarray, parameters: dict[str, Any], labels: str) -> None:
    found = hdbscan.sweep(blobs, (2, 9, 30), (5, 12), (0.0, 0.8), labels=labels, **parameters)
    assert len(found.settings) == 12
    for place, row in enumerate(found.settings):
        fresh = hdbscan.cluster(blobs, **found.params(place), **parameters)
        np.testing.assert_array_equal(found.labels(place), fresh.labels)
        assert row["clusters"] == fresh.labels.max() + 1
        assert row["noise"] == (fresh.labels < 0).sum()
        assert row["relative_validity"] == hdbscan.relative_validity(fresh.spanning_tree, fresh.labels)
        result = found.result(place)
        for name in ("labels", "probabilities", "outlier_scores", "persistence", "linkage", "core_distances", "clamped"):
            np.testing.assert_array_equal(getattr(result, name), getattr(fresh, name))


def test_models_are_fresh_estimators(blobs: np.ndarray) -> None:
    found = hdbscan.sweep(blobs, (3, 8), (5, 15), cluster_selection_method="leaf")
    for place in range(4):
        model = found.model(place)
        fresh = HDBSCAN(**found.params(place), cluster_selection_method="leaf").fit(blobs)
        same_model(model, fresh)
        assert model.get_params() == fresh.get_params()
        new = blobs[100:120] + 0.1
        np.testing.assert_array_equal(model.predict(new), fresh.predict(new))
    best = found.model()
    np.testing.assert_array_equal(best.labels_, found.labels())
    assert best.min_cluster_size == found.best_params_["min_cluster_size"]


def test_table_index_and_best(blobs: np.ndarray) -> None:
    found = hdbscan.sweep(blobs, (9, 2, 9), (12, 5), score="relative_validity")
    assert [tuple(r) for r in found.settings[["min_samples", "min_cluster_size"]].tolist()] == [(2, 5), (2, 12), (9, 5), (9, 12)]
    assert found.index(9, 5) == 2
    np.testing.assert_array_equal(found.labels(min_samples=9, min_cluster_size=5), found.labels(2))
    assert found.best_ == int(np.argmax(np.where(found.settings["clusters"] > 1, found.settings["relative_validity"], -9)))
    pandas = pytest.importorskip("pandas")
    assert isinstance(found.to_pandas(), pandas.DataFrame)
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.labels(3), found.labels(3))


def test_all_sizes_by_default(blobs: np.ndarray) -> None:
    found = hdbscan.sweep(blobs, range(3, 6))
    trace = found.persistence_trace(4)
    of_it = found.settings[found.settings["min_samples"] == 4]
    assert of_it["min_cluster_size"][0] == 2 and len(of_it) > 5
    for row in of_it:
        place = np.searchsorted(trace["min_cluster_size"], row["min_cluster_size"], side="right") - 1
        assert row["persistence"] == (trace["persistence"][place] if place >= 0 else 0)
    for layer in found.layers_:
        k = found.best_params_["min_samples"]
        fresh = hdbscan.cluster(blobs, layer.min_cluster_size, k, cluster_selection_method="leaf")
        np.testing.assert_array_equal(layer.labels, fresh.labels)


def test_dbcv(blobs: np.ndarray) -> None:
    found = hdbscan.sweep(blobs, (3, 5), (5, 20), score="dbcv", dbcv_all=True)
    for place, row in enumerate(found.settings):
        assert row["dbcv"] == hdbscan.validity_index(blobs, found.labels(place).astype(np.int64))


@pytest.mark.parametrize("changes", [
    {"min_cluster_size": 20},
    {"min_cluster_size": 15, "cluster_selection_method": "leaf"},
    {"cluster_selection_epsilon": 0.9},
    {"max_cluster_size": 90, "allow_single_cluster": True},
    {"ties": "binary", "tie_tolerance": 0.001},
    {"min_cluster_size": "auto"},
])
def test_refit_is_a_fit(blobs: np.ndarray, changes: dict[str, Any]) -> None:
    model = HDBSCAN(min_cluster_size=7, prediction_data=True, store_centers="both").fit(blobs)
    model.predict(blobs[5:9])  # a model of the fit before is not used afterwards
    assert model.refit(**changes) is model
    fresh = HDBSCAN(**{"min_cluster_size": 7, **changes}, min_samples=7, prediction_data=True, store_centers="both").fit(blobs)
    same_model(model, fresh)
    assert model.get_params() == fresh.get_params()
    new = blobs[100:140] - 0.2
    np.testing.assert_array_equal(model.predict(new), fresh.predict(new))
    np.testing.assert_array_equal(hdbscan.membership_vector(model, new), hdbscan.membership_vector(fresh, new))
    np.testing.assert_array_equal(model.medoids_, fresh.medoids_)
    same_model(model.refit(), fresh)


def test_flat_has_the_number_of_clusters(blobs: np.ndarray) -> None:
    model = HDBSCAN(min_cluster_size=7).fit(blobs)
    few = int(model.labels_.max()) + 1
    labels = model.labels_.copy()
    new = blobs[100:140] - 0.2
    hdbscan.approximate_predict(model, new)  # keeps what later predictions need, which must not be those of a copy
    for wanted in (2, few, few + 1):
        found = hdbscan.flat(model, wanted)
        assert found is not model and int(found.labels_.max()) + 1 == wanted
        fresh = HDBSCAN(**found.get_params()).fit(blobs)
        same_model(found, fresh)
        np.testing.assert_array_equal(hdbscan.approximate_predict(found, new)[0], fresh.predict(new))
    np.testing.assert_array_equal(model.labels_, labels)
    assert model.refit(n_clusters=2) is model and model.cluster_selection_epsilon > 0
    with pytest.warns(UserWarning, match="n_clusters=1000 is out of reach of these points: the nearest is"):
        model.refit(n_clusters=1000)
    assert model.cluster_selection_method == "leaf"
    with pytest.raises(quintet.InvalidArgument, match="n_clusters must be within 1"):
        model.refit(n_clusters=0)
    with pytest.raises(quintet.InvalidArgument, match="only one of them"):
        model.refit(n_clusters=2, cluster_selection_epsilon=0.5)


def test_refit_of_distances_and_graphs(blobs: np.ndarray) -> None:
    from sklearn.neighbors import kneighbors_graph

    points = blobs[5:70].astype(np.float64)
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    for X in (distances, kneighbors_graph(points, 12, mode="distance").maximum(kneighbors_graph(points, 12, mode="distance").T)):
        model = HDBSCAN(min_cluster_size=4, metric="precomputed").fit(X).refit(min_cluster_size=9)
        same_model(model, HDBSCAN(min_cluster_size=9, min_samples=4, metric="precomputed").fit(X))


def test_refit_refuses_what_changes_the_tree(blobs: np.ndarray) -> None:
    with pytest.raises(NotFittedError):
        HDBSCAN().refit(min_cluster_size=9)
    model = HDBSCAN().fit(blobs)
    for name, value in (("min_samples", 3), ("metric", "cosine"), ("alpha", 2.0)):
        with pytest.raises(quintet.InvalidArgument, match=f"refit cannot change {name}.*sweep"):
            model.refit(**{name: value})
    with pytest.raises(quintet.InvalidArgument, match="min_cluster_size must be >= 2"):
        model.refit(min_cluster_size=1)
    assert model.min_cluster_size == 5 and model.min_samples is None


@pytest.mark.parametrize("method", ["leaf", "eom"])
def test_automatic_size(blobs: np.ndarray, method: str) -> None:
    model = HDBSCAN("auto", min_samples=4, cluster_selection_method=method).fit(blobs)
    trace = model.persistence_trace_
    assert model.min_cluster_size_ == trace["min_cluster_size"][np.argmax(trace["persistence"])]
    fresh = HDBSCAN(model.min_cluster_size_, 4, cluster_selection_method=method).fit(blobs)
    same_model(model, fresh)
    np.testing.assert_array_equal(model.predict(blobs[:9]), fresh.predict(blobs[:9]))
    result = hdbscan.cluster(blobs, "auto", 4, cluster_selection_method=method)
    np.testing.assert_array_equal(result.labels, model.labels_)
    assert (result.min_cluster_size, result.min_samples) == (model.min_cluster_size_, 4)


def linkage_trace(Z: np.ndarray, smallest: int) -> list[tuple[int, int]]:
    """Sizes with which leaves live, as PLSCAN counts them: every split of a binary linkage, from the smaller side."""
    n = len(Z) + 1
    size = np.concatenate([np.ones(n), Z[:, 3]]).astype(int)
    best = np.zeros(2 * n - 1, int)
    lives = []
    for t in range(n - 1):
        a, b = int(Z[t, 0]), int(Z[t, 1])
        s = min(size[a], size[b])
        lives += [(max(best[c], smallest), s) for c in (a, b) if s > max(best[c], smallest)]
        best[n + t] = max(best[a], best[b], s)
    return lives


def test_trace_is_that_of_plscan(blobs: np.ndarray) -> None:
    X = blobs[~np.isnan(blobs).any(axis=1)]
    for k in (2, 5, 12):
        model = HDBSCAN(min_samples=k, ties="binary").fit(X)
        lives = linkage_trace(model.single_linkage_tree_.to_numpy(), k)
        trace = model.persistence_trace_
        for size in range(k + 1, len(X)):
            place = np.searchsorted(trace["min_cluster_size"], size, side="right") - 1
            expected = sum(end - begin for begin, end in lives if begin <= size - 1 < end)
            assert (trace["persistence"][place] if place >= 0 else 0) == expected


def test_automatic_size_without_a_split() -> None:
    X = np.arange(30.0)[:, None]
    with pytest.warns(UserWarning, match="min_cluster_size='auto'.*min_samples=5.*5 is used"):
        model = HDBSCAN("auto").fit(X)
    assert model.min_cluster_size_ == 5 and (model.labels_ == -1).all() and len(model.persistence_trace_) == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        HDBSCAN(5).fit(X)


def test_plots(blobs: np.ndarray) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    for found in (hdbscan.sweep(blobs, (3, 6, 12), (5, 10, 30), (0.0, 0.5)), hdbscan.sweep(blobs, (3, 6))):
        axes = found.plot()
        values = np.asarray(axes[0].collections[0].get_array()).reshape(len(np.unique(found.settings["min_samples"])), -1)
        first = found.settings[found.settings["min_samples"] == 3]
        first = first[first["cluster_selection_epsilon"] == 0]
        assert values[0, 0] == first["clusters"][0]
        assert len(found.plot_layers()[1].patches) > 0
    with pytest.raises(quintet.InvalidArgument, match="measure must be one of"):
        found.plot("noise")


@pytest.mark.parametrize(("arguments", "words"), [
    ({"min_samples": ()}, "min_samples.size must be >= 1"),
    ({"min_samples": 0}, r"min_samples\[0\] must be >= 1"),
    ({"min_cluster_size": 1}, r"min_cluster_size\[0\] must be >= 2"),
    ({"cluster_selection_epsilon": -1}, r"epsilon\[0\] must be >= 0"),
    ({"min_samples": range(1, 102), "min_cluster_size": range(2, 10002)}, "at most 1000000 settings"),
    ({"score": "best"}, "score must be 'persistence' or 'relative_validity' or 'dbcv'"),
    ({"labels": "none"}, "labels must be 'best' or 'all'"),
    ({"metric": "precomputed"}, "sweep needs points"),
])
def test_bad_arguments(blobs: np.ndarray, arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(quintet.InvalidArgument, match=words):
        hdbscan.sweep(blobs, **arguments)


def test_bad_settings(blobs: np.ndarray) -> None:
    found = hdbscan.sweep(blobs, 3, 5)
    for call in (lambda: found.labels(1), lambda: found.model(-1), lambda: found.labels(min_samples=4, min_cluster_size=5),
                 lambda: found.labels(min_samples=3), lambda: found.persistence_trace(9)):
        with pytest.raises(quintet.InvalidArgument):
            call()
    for value in ("5", 5.5):
        with pytest.raises(TypeError):
            hdbscan.sweep(blobs, value)
    with pytest.raises(quintet.InvalidArgument, match="min_cluster_size must be an integer >= 2 or 'auto'"):
        HDBSCAN("all").fit(blobs)
