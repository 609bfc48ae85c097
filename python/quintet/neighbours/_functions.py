"""The functions of the package."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._arguments import as_integer, as_number, as_points, metric_name, metric_parameter
from .._arrays import Like, same_type
from .._errors import InvalidArgument


def _scipy_sparse() -> Any:
    try:
        import scipy.sparse
    except ImportError as error:
        raise ImportError("graphs need SciPy: pip install 'quintet[scipy]'") from error
    return scipy.sparse


def _graph(values: np.ndarray, indices: np.ndarray, pointers: np.ndarray, shape: tuple[int, int]) -> Any:
    """With int32 indices where they fit: scikit-learn takes no others."""
    fits = max(*shape, int(pointers[-1])) <= np.iinfo(np.int32).max
    index = np.int32 if fits else np.int64
    return _scipy_sparse().csr_array((values, indices.astype(index), pointers.astype(index)), shape=shape)


class NearestResult(NamedTuple):
    """The k nearest points of every query; unpacks as scikit-learn's ``kneighbors``, distances first."""

    distances: Any  #: [q, k], ascending; NaN where there is none
    indices: Any  #: [q, k] int64; -1 where there is none
    invalid_queries: np.ndarray  #: rows with NaN or infinity
    invalid_points: np.ndarray  #: the same of the points
    pairs_evaluated: int  #: distances that were computed


class RadiusResult(NamedTuple):
    """All points within a radius of every query, in compressed rows."""

    distances: np.ndarray  #: of every entry
    indices: np.ndarray  #: columns, ascending in every row
    indptr: np.ndarray  #: [q + 1]
    shape: tuple[int, int]  #: queries and points
    invalid_queries: np.ndarray  #: empty rows
    invalid_points: np.ndarray  #: empty columns
    pairs_evaluated: int  #: distances that were computed

    def to_scipy(self) -> Any:
        """The distances as a ``scipy.sparse.csr_array``; neighbours at distance 0 are stored entries."""
        return _graph(self.distances, self.indices, self.indptr, self.shape)


def _both(points: Any, queries: Any) -> tuple[np.ndarray, np.ndarray | None, Like]:
    array, like = as_points(points, "points")
    if queries is None:
        return array, None, like
    rows, like = as_points(queries, "queries")
    same_type(array, rows, "points", "queries")
    return array, rows, like


def nearest(
    points: Any,
    k: int,
    *,
    queries: Any = None,
    metric: str = "euclidean",
    curvature: float = -1.0,
    p: float = 2.0,
    device: str = "auto",
) -> NearestResult:
    """The k nearest of ``points[n, d]`` to every row of ``queries[q, d]``; without queries the k nearest other rows of
    every row of the points.

    Then a point is excluded from its list by its index, so its duplicates are in the list, at distance 0. 1 <= k <= n
    (n - 1 without queries).

    >>> from quintet import neighbours
    >>> distances, indices, *_ = neighbours.nearest([[0.0], [1.0], [3.0]], 1)
    >>> indices.ravel().tolist(), distances.ravel().tolist()
    ([1, 0, 1], [1.0, 1.0, 2.0])
    """
    array, rows, like = _both(points, queries)
    distance, index, *rest = _core.neighbours_nearest(
        array, rows, as_integer(k, "k"), metric_name(metric), metric_parameter(metric, curvature, p), device
    )
    return NearestResult(like(distance), like(index), rest[0], rest[1], rest[2])


def within_radius(
    points: Any,
    radius: float,
    *,
    queries: Any = None,
    metric: str = "euclidean",
    curvature: float = -1.0,
    p: float = 2.0,
    device: str = "auto",
) -> RadiusResult:
    """All of ``points[n, d]`` at a distance <= radius of every row of ``queries[q, d]``; without queries all other rows.

    >>> from quintet import neighbours
    >>> neighbours.within_radius([[0.0], [1.0], [3.0]], 1.5).indices
    array([1, 0])
    """
    array, rows, _ = _both(points, queries)
    distance, index, pointers, q, n, *rest = _core.neighbours_within_radius(
        array, rows, as_number(radius, "radius"), metric_name(metric), metric_parameter(metric, curvature, p), device
    )
    return RadiusResult(
        distance, index, pointers, (q, n), rest[0], rest[1], rest[2]
    )


def nearest_graph(
    points: Any,
    k: int,
    *,
    queries: Any = None,
    mode: str = "distance",
    include_self: bool = False,
    metric: str = "euclidean",
    curvature: float = -1.0,
    p: float = 2.0,
    device: str = "auto",
) -> Any:
    """The k nearest neighbours as a ``scipy.sparse.csr_array`` [q, n] of distances, or of ones with
    mode="connectivity". include_self puts every point first in its list (only without queries).

    >>> from quintet import neighbours
    >>> neighbours.nearest_graph([[0.0], [1.0], [3.0]], 1).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 2., 0.]])
    """
    if mode not in ("distance", "connectivity"):
        raise InvalidArgument(f"mode must be 'distance' or 'connectivity' (mode={mode!r})")
    if include_self and queries is not None:
        raise InvalidArgument("include_self is for points among themselves, not for queries")
    found = nearest(points, k, queries=queries, metric=metric, curvature=curvature, p=p, device=device)
    distances, indices = np.asarray(found.distances), np.asarray(found.indices)
    if include_self:
        own = np.arange(len(indices))[:, None]
        indices = np.hstack((own, indices))
        distances = np.hstack((np.zeros((len(indices), 1), distances.dtype), distances))
    kept = indices >= 0
    pointers = np.concatenate(([0], np.cumsum(kept.sum(axis=1))))
    values = distances[kept] if mode == "distance" else np.ones(int(kept.sum()), distances.dtype)
    return _graph(values, indices[kept], pointers, (len(indices), len(points)))


def precomputed_knn(
    X: Any,
    n_neighbors: int = 15,
    *,
    metric: str = "euclidean",
    curvature: float = -1.0,
    p: float = 2.0,
    device: str = "auto",
) -> tuple[np.ndarray, np.ndarray]:
    """``(indices, distances)`` [n, n_neighbors] for ``umap.UMAP(precomputed_knn=...)``: every point is its own first
    neighbour there.

    UMAP builds its graph from these and searches nothing itself.

    >>> from quintet import neighbours
    >>> indices, distances = neighbours.precomputed_knn([[0.0], [1.0], [3.0]], 2)
    >>> indices.tolist()
    [[0, 1], [1, 0], [2, 1]]
    """
    count = as_integer(n_neighbors, "n_neighbors")
    if count < 2:
        raise InvalidArgument(f"n_neighbors must be >= 2, the point itself included (n_neighbors={count})")
    found = nearest(X, count - 1, metric=metric, curvature=curvature, p=p, device=device)
    if len(found.invalid_points):
        raise InvalidArgument(
            f"X must be finite, UMAP has no place for other rows (row {int(found.invalid_points[0])} is not)"
        )
    indices, distances = np.asarray(found.indices), np.asarray(found.distances)
    own = np.arange(len(indices), dtype=indices.dtype)[:, None]
    return np.hstack((own, indices)), np.hstack((np.zeros((len(indices), 1), distances.dtype), distances))
