"""The functions of the package."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._arguments import as_integer, as_number, as_points, metric_name, metric_parameter, warn_of_degrees
from .._arrays import Like, same_type
from .._errors import InvalidArgument
from .._progress import Progress, blocks, is_off
from ._sparse_rows import nearest_by_cosine


def _scipy_sparse() -> Any:
    try:
        import scipy.sparse
    except ImportError as error:
        raise ImportError("graphs need SciPy: pip install 'quintet[scipy]'") from error
    return scipy.sparse


def _is_sparse(matrix: Any) -> bool:
    return "scipy.sparse" in sys.modules and _scipy_sparse().issparse(matrix)


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


def _both(points: Any, queries: Any, kind: str) -> tuple[np.ndarray, np.ndarray | None, Like]:
    array, like = as_points(points, "points", kind)
    warn_of_degrees(array, kind)
    if queries is None:
        return array, None, like
    rows, like = as_points(queries, "queries", kind)
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
    unit: str = "radians",
    sphere_radius: float = 1.0,
    device: str = "auto",
    progress: bool | Progress | None = None,
) -> NearestResult:
    """The k nearest of ``points[n, d]`` to every row of ``queries[q, d]``; without queries the k nearest other rows of
    every row of the points.

    Then a point is excluded from its list by its index, so its duplicates are in the list, at distance 0. 1 <= k <= n
    (n - 1 without queries).

    With metric="cosine" points and queries may be sparse matrices of SciPy. The lists are as exact; a row without entries
    has no neighbours. ``pairs_evaluated`` counts multiplications then. Memory: q k, and not q n.

    `progress`: True for a bar (tqdm), or a callable(stage, fraction) that cancels by returning False. Queries are then
    searched for in blocks, with the same bits; for sparse matrices in one step.

    >>> from quintet import neighbours
    >>> distances, indices, *_ = neighbours.nearest([[0.0], [1.0], [3.0]], 1)
    >>> indices.ravel().tolist(), distances.ravel().tolist()
    ([1, 0, 1], [1.0, 1.0, 2.0])
    """
    kind, parameter = metric_name(metric, unit=unit), metric_parameter(metric, curvature, p, sphere_radius, points)
    if _is_sparse(points) or _is_sparse(queries):
        if kind != "cosine":
            raise InvalidArgument(f"metric must be 'cosine' for sparse points (metric={metric!r})")
        for _ in blocks(progress, "neighbours", 1):
            lists: NearestResult = nearest_by_cosine(points, k, queries, device)
        return lists
    array, rows, like = _both(points, queries, kind)
    if not is_off(progress):
        index = _core.NeighboursIndex(array, kind, parameter, 0, device)
        return _nearest_in_blocks(index, array, rows, as_integer(k, "k"), like, progress)
    distance, index, *rest = _core.neighbours_nearest(array, rows, as_integer(k, "k"), kind, parameter, device)
    return NearestResult(like(distance), like(index), rest[0], rest[1], rest[2])


def _nearest_in_blocks(
    index: Any, points: np.ndarray, queries: np.ndarray | None, k: int, like: Like, progress: bool | Progress | None
) -> NearestResult:
    """The bits of one call. Points among themselves are queries for k + 1 neighbours; each then loses itself."""
    if queries is None and not 1 <= k < len(points):
        index.nearest(None, k)  # names what is allowed
    rows = points if queries is None else queries
    parts = [
        (part.start, index.nearest(rows[part], k + (queries is None)))
        for part in blocks(progress, "neighbours", len(rows), 64)
    ]
    distances = np.concatenate([result[0] for _, result in parts])
    indices = np.concatenate([result[1] for _, result in parts])
    invalid = np.concatenate([result[2] + first for first, result in parts])
    if queries is None:  # without the point: by its index, or the last of more copies than fit
        is_kept = indices != np.arange(len(indices))[:, None]
        is_kept[is_kept.all(axis=1), -1] = False
        distances, indices = (a[is_kept].reshape(-1, k) for a in (distances, indices))
    return NearestResult(
        like(distances), like(indices), invalid, parts[0][1][3], sum(result[4] for _, result in parts)
    )


def within_radius(
    points: Any,
    radius: float,
    *,
    queries: Any = None,
    metric: str = "euclidean",
    curvature: float = -1.0,
    p: float = 2.0,
    unit: str = "radians",
    sphere_radius: float = 1.0,
    device: str = "auto",
) -> RadiusResult:
    """All of ``points[n, d]`` at a distance <= radius of every row of ``queries[q, d]``; without queries all other rows.

    >>> from quintet import neighbours
    >>> neighbours.within_radius([[0.0], [1.0], [3.0]], 1.5).indices
    array([1, 0])
    """
    kind, parameter = metric_name(metric, unit=unit), metric_parameter(metric, curvature, p, sphere_radius, points)
    array, rows, _ = _both(points, queries, kind)
    distance, index, pointers, q, n, *rest = _core.neighbours_within_radius(
        array, rows, as_number(radius, "radius"), kind, parameter, device
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
    unit: str = "radians",
    sphere_radius: float = 1.0,
    device: str = "auto",
    progress: bool | Progress | None = None,
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
    sphere = {"unit": unit, "sphere_radius": sphere_radius}
    distance: dict[str, Any] = {"metric": metric, "curvature": curvature, "p": p, **sphere}
    found = nearest(points, k, queries=queries, **distance, device=device, progress=progress)
    distances, indices = np.asarray(found.distances), np.asarray(found.indices)
    if include_self:
        own = np.arange(len(indices))[:, None]
        indices = np.hstack((own, indices))
        distances = np.hstack((np.zeros((len(indices), 1), distances.dtype), distances))
    kept = indices >= 0
    pointers = np.concatenate(([0], np.cumsum(kept.sum(axis=1))))
    values = distances[kept] if mode == "distance" else np.ones(int(kept.sum()), distances.dtype)
    return _graph(values, indices[kept], pointers, (len(indices), points.shape[0] if _is_sparse(points) else len(points)))


def precomputed_knn(
    X: Any,
    n_neighbors: int = 15,
    *,
    metric: str = "euclidean",
    curvature: float = -1.0,
    p: float = 2.0,
    unit: str = "radians",
    sphere_radius: float = 1.0,
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
    sphere = {"unit": unit, "sphere_radius": sphere_radius}
    distance: dict[str, Any] = {"metric": metric, "curvature": curvature, "p": p, **sphere}
    found = nearest(X, count - 1, **distance, device=device)
    if len(found.invalid_points):
        raise InvalidArgument(
            f"X must be finite, UMAP has no place for other rows (row {int(found.invalid_points[0])} is not)"
        )
    indices, distances = np.asarray(found.indices), np.asarray(found.distances)
    own = np.arange(len(indices), dtype=indices.dtype)[:, None]
    return np.hstack((own, indices)), np.hstack((np.zeros((len(indices), 1), distances.dtype), distances))


def rows_of(values: np.ndarray, pointers: np.ndarray) -> np.ndarray:
    """An array of arrays, one for every row."""
    rows = np.empty(len(pointers) - 1, dtype=object)
    for i in range(len(rows)):
        rows[i] = values[pointers[i] : pointers[i + 1]]
    return rows
