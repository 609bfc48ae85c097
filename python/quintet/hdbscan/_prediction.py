"""New points in a finished clustering: the functions of hdbscan's ``prediction`` module, of a fitted HDBSCAN."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from .._arguments import as_integer

if TYPE_CHECKING:
    from ._estimator import HDBSCAN


def approximate_predict(clusterer: HDBSCAN, X: Any, return_connecting_points: bool = False) -> Any:
    """Labels ``[m]`` and probabilities ``[m]`` of new points ``X[m, d]`` in a finished clustering; with
    return_connecting_points also the rows of the fit that they join.

    Every row by itself: it joins the point of least mutual reachability, searched for among all of them, and belongs to
    the cluster that exists at that density. ``approximate_predict(clusterer, X_train)`` is close to ``labels_`` but not
    equal: a point of the fit is its own neighbour here.

    >>> import numpy as np
    >>> from quintet import hdbscan
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 0.1, (50, 2)) for c in (0, 3)])
    >>> model = hdbscan.HDBSCAN(min_cluster_size=10, prediction_data=True).fit(X)
    >>> labels, probabilities = hdbscan.approximate_predict(model, [[3.0, 3.0]])
    >>> labels == model.labels_[-1]
    array([ True])
    """
    labels, probabilities, _, neighbours, _ = clusterer._predict(X)
    return (labels, probabilities, neighbours) if return_connecting_points else (labels, probabilities)


def approximate_predict_scores(clusterer: HDBSCAN, X: Any) -> np.ndarray:
    """GLOSH outlier scores ``[m]`` in [0, 1] of new points, by the place that :func:`approximate_predict` finds.

    >>> import numpy as np
    >>> from quintet import hdbscan
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 0.1, (50, 2)) for c in (0, 3)])
    >>> model = hdbscan.HDBSCAN(min_cluster_size=10).fit(X)
    >>> hdbscan.approximate_predict_scores(model, [[9.0, 9.0]]) > 0.9
    array([ True])
    """
    return np.asarray(clusterer._predict(X)[2])


def membership_vector(clusterer: HDBSCAN, X: Any) -> np.ndarray:
    """How much new points ``X[m, d]`` belong to each of the K clusters, ``[m, K]``; rows sum to at most 1.

    >>> import numpy as np
    >>> from quintet import hdbscan
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 0.1, (50, 2)) for c in (0, 3)])
    >>> model = hdbscan.HDBSCAN(min_cluster_size=10).fit(X)
    >>> hdbscan.membership_vector(model, X[:3]).shape
    (3, 2)
    """
    return clusterer._membership(X)


def all_points_membership_vectors(clusterer: HDBSCAN) -> np.ndarray:
    """The same for the points of the fit, ``[n, K]``.

    >>> import numpy as np
    >>> from quintet import hdbscan
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 0.1, (50, 2)) for c in (0, 3)])
    >>> model = hdbscan.HDBSCAN(min_cluster_size=10).fit(X)
    >>> hdbscan.all_points_membership_vectors(model).shape
    (100, 2)
    """
    return clusterer._membership(None)


def membership_vector_blocks(
    clusterer: HDBSCAN, take: Callable[[int, np.ndarray], Any], X: Any = None, *, budget_bytes: int = 32 << 20
) -> bool:
    """:func:`membership_vector`, or :func:`all_points_membership_vectors` without X, by blocks of rows:
    ``take(first_row, rows)`` for each, in order; False from it stops.

    >>> import numpy as np
    >>> from quintet import hdbscan
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 0.1, (50, 2)) for c in (0, 3)])
    >>> model = hdbscan.HDBSCAN(min_cluster_size=10).fit(X)
    >>> hdbscan.membership_vector_blocks(model, lambda first, rows: None)
    True
    """
    if not callable(take):
        raise TypeError(f"take must be callable (take={take!r})")
    return clusterer._membership_blocks(X, take, as_integer(budget_bytes, "budget_bytes"))
