"""New points in a finished clustering: the functions of hdbscan's ``prediction`` module, of a fitted HDBSCAN."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._arguments import as_integer
from .._errors import Cancelled
from .._progress import Progress, blocks, is_off, progress_callable

if TYPE_CHECKING:
    from ._estimator import HDBSCAN


def require_clusterer(clusterer: Any) -> None:
    """Raises TypeError for what is no HDBSCAN."""
    if not hasattr(clusterer, "_membership_blocks"):
        raise TypeError(f"clusterer must be a fitted quintet.HDBSCAN (clusterer={clusterer!r})")


def approximate_predict(
    clusterer: HDBSCAN, X: Any, return_connecting_points: bool = False, progress: bool | Progress | None = None
) -> Any:
    """Labels ``[m]`` and probabilities ``[m]`` of new points ``X[m, d]`` in a finished clustering; with
    return_connecting_points also the rows of the fit that they join.

    Every row by itself: it joins the point of least mutual reachability, searched for among all of them, and belongs to
    the cluster that exists at that density. ``approximate_predict(clusterer, X_train)`` is close to ``labels_`` but not
    equal: a point of the fit is its own neighbour here. `progress`: True for a bar (tqdm), or a callable(stage, fraction)
    that cancels by returning False; rows are then predicted in blocks, with the same bits.

    >>> import numpy as np
    >>> from quintet import hdbscan
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 0.1, (50, 2)) for c in (0, 3)])
    >>> model = hdbscan.HDBSCAN(min_cluster_size=10, prediction_data=True).fit(X)
    >>> labels, probabilities = hdbscan.approximate_predict(model, [[3.0, 3.0]])
    >>> labels == model.labels_[-1]
    array([ True])
    """
    require_clusterer(clusterer)
    if is_off(progress):
        labels, probabilities, _, neighbours, _ = clusterer._predict(X)
    else:
        X = clusterer._checked_rows(X)
        parts = [clusterer._predict(X[part]) for part in blocks(progress, "predict", len(X), 256)]
        labels, probabilities, _, neighbours = (np.concatenate(arrays) for arrays in list(zip(*parts))[:4])
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
    require_clusterer(clusterer)
    return np.asarray(clusterer._predict(X)[2])


def membership_vector(clusterer: HDBSCAN, X: Any, progress: bool | Progress | None = None) -> np.ndarray:
    """How much new points ``X[m, d]`` belong to each of the K clusters, ``[m, K]``; rows sum to at most 1. `progress` as in
    :func:`approximate_predict`.

    >>> import numpy as np
    >>> from quintet import hdbscan
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 0.1, (50, 2)) for c in (0, 3)])
    >>> model = hdbscan.HDBSCAN(min_cluster_size=10).fit(X)
    >>> hdbscan.membership_vector(model, X[:3]).shape
    (3, 2)
    """
    require_clusterer(clusterer)
    return clusterer._membership(X) if is_off(progress) else _memberships(clusterer, X, progress)


def all_points_membership_vectors(clusterer: HDBSCAN, progress: bool | Progress | None = None) -> np.ndarray:
    """The same for the points of the fit, ``[n, K]``.

    >>> import numpy as np
    >>> from quintet import hdbscan
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 0.1, (50, 2)) for c in (0, 3)])
    >>> model = hdbscan.HDBSCAN(min_cluster_size=10).fit(X)
    >>> hdbscan.all_points_membership_vectors(model).shape
    (100, 2)
    """
    require_clusterer(clusterer)
    return clusterer._membership(None) if is_off(progress) else _memberships(clusterer, None, progress)


def _memberships(clusterer: HDBSCAN, X: Any, progress: bool | Progress | None) -> np.ndarray:
    """By the blocks of membership_vector_blocks; each is a step of the progress."""
    report = progress_callable(progress)
    points, rows = clusterer._pair(X)
    total = len(points if rows is None else rows)
    parts: list[np.ndarray] = []

    def take(first: int, rows: np.ndarray) -> Any:
        parts.append(np.array(rows))
        return report is None or report("memberships", (first + len(rows)) / total) is not False

    budget = max(1, total // 50) * max(len(clusterer.cluster_persistence_), 1) * 8
    if not clusterer._membership_blocks(X, take, max(budget, 1 << 16)):
        raise Cancelled("cancelled by the progress callback in stage 'memberships'")
    return np.concatenate(parts) if parts else clusterer._membership(X)


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
    require_clusterer(clusterer)
    if not callable(take):
        raise TypeError(f"take must be callable (take={take!r})")
    return clusterer._membership_blocks(X, take, as_integer(budget_bytes, "budget_bytes"))
