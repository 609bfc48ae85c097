"""SciPy's KDTree and scikit-learn's BallTree on an index: their signatures and layouts, exact answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arguments import as_integer, as_number, metric_name
from .._arrays import F32, F64
from .._errors import InvalidArgument
from .._threads import own_threads
from ._functions import rows_of
from ._index import Index

__all__ = ["BallTree", "KDTree"]

_SIMPLE = {1.0: "manhattan", 2.0: "euclidean", float("inf"): "chebyshev"}


def _points(values: Any, name: str) -> np.ndarray:
    array = np.asarray(values)
    array = np.ascontiguousarray(array, array.dtype if array.dtype in (F32, F64) else F64)
    if not np.isfinite(array).all():
        raise InvalidArgument(f"{name} must be finite, check for nan or inf values")
    return array


class _Searches:
    """What both trees share: queries of any shape, a radius for each."""

    data: np.ndarray

    def _index(self, p: float) -> Index:
        raise NotImplementedError

    def _queries(self, x: Any, name: str) -> tuple[np.ndarray, tuple[int, ...]]:
        rows = _points(x, name)
        if rows.ndim == 0 or rows.shape[-1] != self.data.shape[1]:
            raise InvalidArgument(f"{name} must have {self.data.shape[1]} columns (shape={rows.shape})")
        shape = rows.shape[:-1]
        return np.ascontiguousarray(rows.reshape(-1, rows.shape[-1]), self.data.dtype), shape

    def _within(
        self, rows: np.ndarray, shape: tuple[int, ...], r: Any, p: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Numbers, distances and row pointers of what is within r, of one number or one a query."""
        radii = np.broadcast_to(np.asarray(r, np.float64), shape).ravel()
        if not (radii >= 0).all() or not np.isfinite(radii).all():
            raise InvalidArgument(f"r must be >= 0 and finite (r={r!r})")
        found = self._index(p).within_radius(rows, float(radii.max(initial=0)))
        if len(radii) == 0 or radii.min() == radii.max():
            return found.indices, found.distances, found.indptr
        row = np.repeat(np.arange(len(radii)), np.diff(found.indptr))
        within = found.distances <= radii[row]
        pointers = np.concatenate(([0], np.cumsum(np.bincount(row[within], minlength=len(radii)))))
        return found.indices[within], found.distances[within], pointers


class KDTree(_Searches):
    """``scipy.spatial.KDTree`` on :class:`quintet.neighbours.Index`: the same methods, layouts and defaults.

    Points of float32 stay so, and their distances are float32 too; others become float64. Equal distances are ordered by
    index. The tree is the same for every p, and made when it is first asked for.

    Parameters
    ----------
    data : array_like, [n, m]
        Finite points. They are copied.
    leafsize : int
        Without effect.
    compact_nodes : bool
        Without effect.
    copy_data : bool
        Without effect.
    balanced_tree : bool
        Without effect.
    boxsize : None
        Periodic space is not implemented.

    Examples
    --------
    >>> from quintet import KDTree
    >>> tree = KDTree([[0.0], [1.0], [3.0]])
    >>> distance, index = tree.query([2.5])
    >>> float(distance), int(index)
    (0.5, 2)
    >>> tree.query_ball_point([0.5], 0.5)
    [0, 1]
    """

    def __init__(
        self,
        data: Any,
        leafsize: int = 10,
        compact_nodes: bool = True,
        copy_data: bool = False,
        balanced_tree: bool = True,
        boxsize: Any = None,
    ) -> None:
        if boxsize is not None:
            raise NotImplementedError("boxsize: periodic space is not implemented; use scipy.spatial.KDTree")
        if as_integer(leafsize, "leafsize") < 1:
            raise InvalidArgument(f"leafsize must be >= 1 (leafsize={leafsize})")
        self.data = _points(data, "data")
        if self.data.ndim != 2:
            raise InvalidArgument(f"data must have 2 dimensions (shape={self.data.shape})")
        self.leafsize = leafsize
        self.n, self.m = self.data.shape
        self.boxsize = None
        if self.n:
            self.maxes, self.mins = self.data.max(axis=0), self.data.min(axis=0)
        else:
            self.maxes = self.mins = np.zeros(self.m)
        self._indexes: dict[float, Index] = {}
        if self.n:
            self._index(2.0)

    def _index(self, p: float) -> Index:
        p = as_number(p, "p")
        if not p >= 1:
            raise InvalidArgument(f"p must be >= 1 (p={p})")
        kept = self._indexes.get(p)
        if kept is None:
            kept = self._indexes[p] = Index(self.data, metric=_SIMPLE.get(p, "minkowski"), p=p)
        return kept

    def query(
        self, x: Any, k: Any = 1, eps: float = 0, p: float = 2.0, distance_upper_bound: float = np.inf, workers: int = 1
    ) -> tuple[Any, Any]:
        """``(distances, indices)`` of the k nearest points of every row of ``x[..., m]``; infinity and n where there are
        fewer below `distance_upper_bound`. k = 1 has no last axis; a list of k has these neighbours. eps has no effect."""
        rows, shape = self._queries(x, "x")
        if not as_number(eps, "eps") >= 0:
            raise InvalidArgument(f"eps must be >= 0 (eps={eps})")
        which = np.asarray([as_integer(j, "k") for j in (range(1, k + 1) if np.ndim(k) == 0 else k)])
        if len(which) == 0 or which.min() < 1:
            raise InvalidArgument(f"k must be an integer >= 1, or a list of them (k={k!r})")
        most = int(which.max())
        distances = np.full((len(rows), most), np.inf, self.data.dtype)
        indices = np.full((len(rows), most), self.n, np.int64)
        length = min(most, self.n)
        if length and len(rows):
            with own_threads(workers):
                found = self._index(p).nearest(rows, length)
            near = found.distances < as_number(distance_upper_bound, "distance_upper_bound")
            distances[:, :length] = np.where(near, found.distances, np.inf)
            indices[:, :length] = np.where(near, found.indices, self.n)
        if np.ndim(k) == 0 and k == 1:
            return distances[:, 0].reshape(shape)[()], indices[:, 0].reshape(shape)[()]
        shape = (*shape, len(which))
        return distances[:, which - 1].reshape(shape), indices[:, which - 1].reshape(shape)

    def query_ball_point(
        self,
        x: Any,
        r: Any,
        p: float = 2.0,
        eps: float = 0,
        workers: int = 1,
        return_sorted: bool | None = None,
        return_length: bool = False,
    ) -> Any:
        """The points within r of every row of ``x[..., m]``, ascending: a list for one row, an array of lists for more;
        with return_length their number. eps and return_sorted have no effect."""
        rows, shape = self._queries(x, "x")
        with own_threads(workers):
            indices, _, pointers = self._within(rows, shape, r, p)
        if return_length:
            return np.diff(pointers).reshape(shape)[()]
        lists = np.empty(len(rows), dtype=object)
        for i in range(len(rows)):
            lists[i] = indices[pointers[i] : pointers[i + 1]].tolist()
        return lists.reshape(shape)[()]

    def query_ball_tree(self, other: KDTree, r: float, p: float = 2.0, eps: float = 0) -> list[list[int]]:
        """For every point of this tree the points of `other` within r."""
        lists: list[list[int]] = list(other.query_ball_point(self.data, r, p))
        return lists

    def query_pairs(self, r: float, p: float = 2.0, eps: float = 0, output_type: str = "set") -> Any:
        """All pairs (i, j), i < j, within r of each other: a set of tuples, or an array with output_type="ndarray"."""
        if output_type not in ("set", "ndarray"):
            raise InvalidArgument(f"output_type must be 'set' or 'ndarray' (output_type={output_type!r})")
        found = self._index(p).others_within_radius(as_number(r, "r"))
        row = np.repeat(np.arange(self.n), np.diff(found.indptr))
        pairs = np.stack((row, found.indices), axis=1)[row < found.indices]
        return pairs if output_type == "ndarray" else set(map(tuple, pairs.tolist()))

    def sparse_distance_matrix(
        self, other: KDTree, max_distance: float, p: float = 2.0, output_type: str = "dok_matrix"
    ) -> Any:
        """Distances of points of this tree to those of `other` within max_distance, as a "dok_matrix", "coo_matrix",
        "dict" or "ndarray" of records (i, j, v)."""
        if output_type not in ("dok_matrix", "coo_matrix", "dict", "ndarray"):
            raise InvalidArgument(
                "output_type must be 'dok_matrix', 'coo_matrix', 'dict' or 'ndarray' " f"(output_type={output_type!r})"
            )
        rows, shape = other._queries(self.data, "data")
        columns, values, pointers = other._within(rows, shape, as_number(max_distance, "max_distance"), p)
        row = np.repeat(np.arange(self.n), np.diff(pointers))
        if output_type == "dict":
            return dict(zip(zip(row.tolist(), columns.tolist()), values.tolist()))
        if output_type == "ndarray":
            records = np.empty(len(row), [("i", np.intp), ("j", np.intp), ("v", np.float64)])
            records["i"], records["j"], records["v"] = row, columns, values
            return records
        from scipy.sparse import coo_matrix

        matrix = coo_matrix((values.astype(np.float64), (row, columns)), shape=(self.n, other.n))
        return matrix if output_type == "coo_matrix" else matrix.todok()


class BallTree(_Searches):
    """``sklearn.neighbors.BallTree`` on :class:`quintet.neighbours.Index`: the same methods, layouts and defaults.

    Points of float32 stay so, and their distances are float32 too; others become float64.

    Parameters
    ----------
    X : array_like, [n, d]
        Finite points. They are copied.
    leaf_size : int, default 40
        Without effect.
    metric : str, default "minkowski"
        "minkowski" of `p`, "euclidean", "l2", "manhattan", "cityblock", "l1", "chebyshev", "cosine", "poincare" and
        "lorentz" (of curvature -1), "haversine" (rows of latitude and longitude, in radians), "hamming" or "jaccard" (rows
        of 0 and 1).
    p : float, default 2
        Exponent of "minkowski"; >= 1.

    Examples
    --------
    >>> from quintet import BallTree
    >>> tree = BallTree([[0.0], [1.0], [3.0]])
    >>> tree.query([[2.5]], k=2)
    (array([[0.5, 1.5]]), array([[2, 1]]))
    >>> tree.query_radius([[0.5]], r=0.5)[0]
    array([0, 1])
    """

    def __init__(self, X: Any, leaf_size: int = 40, metric: str = "minkowski", p: float = 2) -> None:
        if as_integer(leaf_size, "leaf_size") < 1:
            raise InvalidArgument(f"leaf_size must be >= 1 (leaf_size={leaf_size})")
        self.data = _points(X, "X")
        if self.data.ndim != 2 or len(self.data) == 0:
            raise InvalidArgument(f"X must have 2 dimensions and a row (shape={self.data.shape})")
        name = metric_name(metric)
        if name == "minkowski":
            name = _SIMPLE.get(float(p), name)
        self._kept = Index(self.data, metric=name, p=p)

    def _index(self, p: float) -> Index:
        return self._kept

    def query(
        self,
        X: Any,
        k: int = 1,
        return_distance: bool = True,
        dualtree: bool = False,
        breadth_first: bool = False,
        sort_results: bool = True,
    ) -> Any:
        """``(distances, indices)`` [..., k] of the k nearest points of every row of ``X[..., d]``, ascending."""
        rows, shape = self._queries(X, "X")
        k = as_integer(k, "k")
        if not 1 <= k <= len(self.data):
            raise InvalidArgument(f"k must be in [1, {len(self.data)}], the number of training points (k={k})")
        found = self._kept.nearest(rows, k)
        indices = found.indices.reshape(*shape, k)
        return (found.distances.reshape(*shape, k), indices) if return_distance else indices

    def query_radius(
        self, X: Any, r: Any, return_distance: bool = False, count_only: bool = False, sort_results: bool = False
    ) -> Any:
        """Arrays of the points within r of every row of ``X[..., d]``, by index, or by distance with sort_results;
        ``(indices, distances)`` with return_distance, their number with count_only."""
        if count_only and return_distance:
            raise InvalidArgument("count_only and return_distance cannot both be true")
        if sort_results and not return_distance:
            raise InvalidArgument("return_distance must be True if sort_results is True")
        rows, shape = self._queries(X, "X")
        indices, distances, pointers = self._within(rows, shape, r, 2)
        if count_only:
            return np.diff(pointers).reshape(shape)
        if sort_results:
            row = np.repeat(np.arange(len(rows)), np.diff(pointers))
            order = np.lexsort((indices, distances, row))
            indices, distances = indices[order], distances[order]
        if not return_distance:
            return rows_of(indices, pointers).reshape(shape)
        return rows_of(indices, pointers).reshape(shape), rows_of(distances, pointers).reshape(shape)

    def two_point_correlation(self, X: Any, r: Any, dualtree: bool = False) -> np.ndarray:
        """For every radius of ``r`` the number of pairs of a row of ``X[m, d]`` and a point of the tree within it."""
        rows, _ = self._queries(X, "X")
        radii = np.asarray(r, np.float64).ravel()
        return np.asarray([len(self._kept.within_radius(rows, float(radius)).indices) for radius in radii], np.int64)
