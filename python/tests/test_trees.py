"""KDTree is SciPy's and BallTree is scikit-learn's, on data without ties."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import quintet

spatial = pytest.importorskip("scipy.spatial")

R = np.random.default_rng(11)
X, Y = R.normal(size=(300, 3)), R.normal(size=(70, 3))


@pytest.fixture(scope="module")
def trees() -> tuple[Any, Any]:
    return quintet.KDTree(X), spatial.KDTree(X)


@pytest.mark.parametrize("p", [1, 2, 3.5, np.inf])
@pytest.mark.parametrize("k", [1, 4, [1], [2, 5], 400])
def test_query_is_scipys(trees: tuple[Any, Any], p: float, k: Any) -> None:
    for x in (Y, Y[0], Y[:60].reshape(3, 4, 5, 3), Y[:0], (0.1, 0.2, 0.3)):
        for bound in (np.inf, 0.7):
            ours, theirs = (t.query(x, k, p=p, distance_upper_bound=bound, eps=0) for t in trees)
            for a, b in zip(ours, theirs):
                assert np.shape(a) == np.shape(b)
                np.testing.assert_allclose(a, b, rtol=1e-12)


def test_eps_and_workers_leave_the_answer_exact(trees: tuple[Any, Any]) -> None:
    exact = trees[1].query(Y, 5)[1]
    np.testing.assert_array_equal(trees[0].query(Y, 5, eps=2.0, workers=2)[1], exact)


@pytest.mark.parametrize("p", [1, 2, np.inf])
def test_balls_are_scipys(trees: tuple[Any, Any], p: float) -> None:
    each = np.linspace(0, 1.5, len(Y))
    for x, r in ((Y, 0.6), (Y[0], 0.6), (Y, each), (Y[:60].reshape(3, 20, 3), 0.5), (Y[:0], 0.5)):
        ours, theirs = (t.query_ball_point(x, r, p=p, return_sorted=True) for t in trees)
        assert type(ours) is type(theirs) and np.shape(ours) == np.shape(theirs)
        if np.ndim(x) == 1:
            assert ours == theirs
        else:
            assert ours.dtype == object and all(a == b for a, b in zip(ours.ravel(), theirs.ravel()))
        np.testing.assert_array_equal(*(t.query_ball_point(x, r, p=p, return_length=True) for t in trees))


def test_pairs_and_matrices_are_scipys(trees: tuple[Any, Any]) -> None:
    ours, theirs = trees
    assert ours.query_pairs(0.4) == theirs.query_pairs(0.4) and len(ours.query_pairs(0.4)) > 10
    pairs = theirs.query_pairs(0.4, output_type="ndarray")
    assert set(map(tuple, ours.query_pairs(0.4, output_type="ndarray"))) == set(map(tuple, pairs))
    others = quintet.KDTree(Y), spatial.KDTree(Y)
    lists = [t.query_ball_tree(o, 0.5) for t, o in zip(trees, others)]
    assert [sorted(row) for row in lists[0]] == [sorted(row) for row in lists[1]]
    for kind in ("dok_matrix", "coo_matrix", "dict", "ndarray"):
        for pair in (others, trees):
            a, b = (t.sparse_distance_matrix(o, 0.5, output_type=kind) for t, o in zip(trees, pair))
            assert type(a) is type(b)
            if kind == "dict":
                assert a.keys() == b.keys() and np.allclose([a[key] for key in b], list(b.values()), rtol=1e-12)
            elif kind == "ndarray":
                a, b = np.sort(a, order=["i", "j"]), np.sort(b, order=["i", "j"])
                assert a.dtype == b.dtype and (a["i"] == b["i"]).all() and (a["j"] == b["j"]).all()
                np.testing.assert_allclose(a["v"], b["v"], rtol=1e-12)
            else:
                assert a.shape == b.shape
                np.testing.assert_allclose(a.toarray(), b.toarray(), rtol=1e-12)


def test_attributes_are_scipys(trees: tuple[Any, Any]) -> None:
    for name in ("n", "m", "leafsize", "boxsize"):
        assert getattr(trees[0], name) == getattr(trees[1], name)
    for name in ("data", "mins", "maxes"):
        np.testing.assert_array_equal(getattr(trees[0], name), getattr(trees[1], name))
    few = quintet.KDTree(X.astype(np.float32))
    assert few.query(Y)[0].dtype == np.float32
    nothing = quintet.KDTree(np.empty((0, 3)))
    assert nothing.query(Y[0]) == (np.inf, 0) and nothing.query_ball_point(Y[0], 1.0) == []


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda t: t.query(Y[:, :2]), "x must have 3 columns"),
        (lambda t: t.query(Y, 0), "k must be an integer >= 1"),
        (lambda t: t.query(Y, p=0.5), "p must be >= 1"),
        (lambda t: t.query(Y, eps=-1), "eps must be >= 0"),
        (lambda t: t.query(np.full(3, np.nan)), "x must be finite"),
        (lambda t: t.query_ball_point(Y, -1), "r must be >= 0"),
        (lambda t: t.query_pairs(1, output_type="list"), "output_type must be"),
        (lambda t: t.sparse_distance_matrix(t, 1, output_type="csr"), "output_type must be"),
        (lambda t: quintet.KDTree([[np.inf]]), "data must be finite"),
        (lambda t: quintet.KDTree([1.0]), "data must have 2 dimensions"),
        (lambda t: quintet.BallTree(X).query(Y, 301), r"k must be in \[1, 300\]"),
        (lambda t: quintet.BallTree(X).query_radius(Y, 1, sort_results=True), "return_distance must be True"),
        (lambda t: quintet.BallTree(X, metric="minkowski", p=0.5), "p must be"),
    ],
)
def test_bad_arguments(trees: tuple[Any, Any], call: Any, error: str) -> None:
    with pytest.raises(ValueError, match=error):
        call(trees[0])


def test_periodic_space_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="boxsize"):
        quintet.KDTree(X, boxsize=1.0)


@pytest.mark.parametrize("how", [{}, {"metric": "manhattan"}, {"metric": "chebyshev"}, {"p": 3}])
def test_ball_tree_is_scikit_learns(how: dict[str, Any]) -> None:
    sklearn = pytest.importorskip("sklearn.neighbors")
    ours, theirs = quintet.BallTree(X, **how), sklearn.BallTree(X, **how)
    for k in (1, 6):
        for a, b in zip(ours.query(Y, k), theirs.query(Y, k)):
            assert a.shape == b.shape and a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=1e-12)
        np.testing.assert_array_equal(*(t.query(Y, k, return_distance=False) for t in (ours, theirs)))
    for r in (0.6, np.linspace(0.1, 1, len(Y))):
        (ai, ad), (bi, bd) = (t.query_radius(Y, r, return_distance=True, sort_results=True) for t in (ours, theirs))
        for i in range(len(Y)):
            np.testing.assert_array_equal(ai[i], bi[i])
            np.testing.assert_allclose(ad[i], bd[i], rtol=1e-12)
        np.testing.assert_array_equal(*(t.query_radius(Y, r, count_only=True) for t in (ours, theirs)))
        a, b = (t.query_radius(Y, r) for t in (ours, theirs))
        assert a.dtype == b.dtype == object and all(sorted(x) == sorted(y) for x, y in zip(a, b))
    radii = np.linspace(0, 2, 7)
    np.testing.assert_array_equal(*(t.two_point_correlation(Y, radii) for t in (ours, theirs)))


def test_many_threads_ask_one_tree(trees: tuple[Any, Any]) -> None:
    from concurrent.futures import ThreadPoolExecutor

    tree = quintet.KDTree(X)
    expected = [trees[1].query(Y, k)[1] for k in range(2, 10)]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            for a, b in zip(pool.map(lambda k: tree.query(Y, k, p=2)[1], range(2, 10)), expected):
                np.testing.assert_array_equal(a, b)
