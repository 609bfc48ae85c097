"""An index that is kept."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from .. import _core
from .._arguments import (
    as_integer,
    as_number,
    as_points,
    choice_index,
    metric_name,
    metric_parameter,
    warn_of_degrees,
)
from .._arrays import STORAGE, same_type, type_name
from ._functions import NearestResult, RadiusResult

__all__ = ["Index"]

_SEARCHES = ("automatic", "tree", "all_pairs")
_TYPES = {type_name(np.empty(0, dtype)): dtype for dtype in STORAGE}


class Index:
    """Points that are ordered once; a search after that costs only itself, microseconds for one query.

    Every answer has the bits of the function of the same name in :mod:`quintet.neighbours`. Searches from many Python
    threads at once are safe; one that runs while points are appended answers for the points before. It can be pickled:
    a pickle holds what a file of :meth:`save` does.

    Parameters
    ----------
    points : array_like, [n, d]
        Of float16, bfloat16, float32 or float64. The index has a copy.
    metric : str, default "euclidean"
        "euclidean", "cosine", "manhattan", "chebyshev", "minkowski", "poincare", "lorentz", "haversine" (rows of latitude
        and longitude), "hamming" or "jaccard" (rows of bits: bool, or uint8 of ``numpy.packbits``),
        "integer_euclidean", "integer_cosine" or "inner_product" (rows of int8 or uint8).
    curvature : float, default -1.0
        Of "poincare" and "lorentz"; < 0.
    p : float, default 2.0
        Of "minkowski"; >= 1.
    unit : {"radians", "degrees"}, default "radians"
        Of "haversine".
    sphere_radius : float, default 1.0
        Of "haversine"; > 0.
    search : {"automatic", "tree", "all_pairs"}, default "automatic"
        How it answers. Results are the same.
    device : str, default "auto"
        "auto", "host" or the number of an offload device.

    Examples
    --------
    >>> from quintet import neighbours
    >>> index = neighbours.Index([[0.0], [1.0], [3.0]])
    >>> index.nearest([[2.5]], 2).indices
    array([[2, 1]])
    >>> index.append([[2.0]])
    >>> index.nearest([[2.5]], 2).indices
    array([[2, 3]])
    """

    def __init__(
        self,
        points: Any,
        *,
        metric: str = "euclidean",
        curvature: float = -1.0,
        p: float = 2.0,
        unit: str = "radians",
        sphere_radius: float = 1.0,
        search: str = "automatic",
        device: str = "auto",
    ) -> None:
        self.metric = metric_name(metric, unit=unit)
        array, _ = as_points(points, "points", self.metric)
        warn_of_degrees(array, self.metric)
        #: the type of the points
        self._like = array[:0]
        self._device = device
        self._index = _core.NeighboursIndex(
            array,
            self.metric,
            metric_parameter(metric, curvature, p, sphere_radius, points),
            choice_index(search, "search", _SEARCHES),
            device,
        )

    @classmethod
    def _of(cls, kept: _core.NeighboursIndex, device: str) -> Index:
        index = cls.__new__(cls)
        index._index, index._device = kept, device
        index.metric, name = kept.settings()
        index._like = np.empty((0, kept.dim()), _TYPES[name])
        return index

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, device: str = "auto") -> Index:
        """The index of a file of :meth:`save`, which nothing has to order again.

        ``FileError`` for a file that is incomplete, changed or of a later version.
        """
        return cls._of(_core.NeighboursIndex.read(os.fspath(path), device), device)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file with checksums, or leaves the one that was there."""
        self._index.write(os.fspath(path))

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_bytes, (self._index.to_bytes(), self._device)

    def nearest(self, queries: Any, k: int) -> NearestResult:
        """The k nearest points of every row of ``queries[q, d]``, which are of the points' type; 1 <= k <= n."""
        array, like = as_points(queries, "queries", self.metric)
        same_type(self._like, array, "points", "queries")
        distance, index, *rest = self._index.nearest(array, as_integer(k, "k"))
        return NearestResult(like(distance), like(index), *rest)

    def nearest_others(self, k: int) -> NearestResult:
        """The k nearest other points of every point; 1 <= k <= n - 1."""
        return NearestResult(*self._index.nearest(None, as_integer(k, "k")))

    def within_radius(self, queries: Any, radius: float) -> RadiusResult:
        """All points at a distance <= radius of every row of ``queries[q, d]``."""
        array, _ = as_points(queries, "queries", self.metric)
        same_type(self._like, array, "points", "queries")
        return self._within(array, radius)

    def others_within_radius(self, radius: float) -> RadiusResult:
        """All other points at a distance <= radius of every point."""
        return self._within(None, radius)

    def _within(self, array: np.ndarray | None, radius: float) -> RadiusResult:
        distance, index, pointers, q, n, *rest = self._index.within_radius(array, as_number(radius, "radius"))
        return RadiusResult(distance, index, pointers, (q, n), *rest)

    def append(self, points: Any) -> None:
        """Points n, n + 1, ... of the index. Takes as long as an index of these, now and then as one of all."""
        array, _ = as_points(points, "points", self.metric)
        same_type(self._like, array, "the index", "points")
        self._index.append(array)

    def used(self, queries: int) -> str:
        """How so many queries are answered: "tree" or "all_pairs"."""
        return _SEARCHES[self._index.used(as_integer(queries, "queries"))]

    @property
    def invalid_points(self) -> np.ndarray:
        """Rows with NaN or infinity; they are no row's neighbours."""
        rows: np.ndarray = np.asarray(self._index.invalid_points())
        return rows

    @property
    def shape(self) -> tuple[int, int]:
        """n and d."""
        return self._index.size(), self._index.dim()

    @property
    def nbytes(self) -> int:
        """Memory it holds."""
        return self._index.bytes()

    def __len__(self) -> int:
        return self._index.size()


def _from_bytes(content: bytes, device: str) -> Index:
    return Index._of(_core.NeighboursIndex.from_bytes(content, device), device)
