"""The estimators, which need scikit-learn; quintet.neighbours loads them when they are asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted, validate_data

from .._arguments import as_integer, as_number, is_of_words, metric_arguments, types_for_check
from .._arrays import refuse_masks
from .._errors import InvalidArgument
from .._threads import own_threads
from ._functions import rows_of
from ._index import Index

__all__ = [
    "KNeighborsTransformer",
    "NearestNeighbors",
    "RadiusNeighborsTransformer",
    "kneighbors_graph",
    "radius_neighbors_graph",
]


class _KeepsIndex(BaseEstimator):
    """What estimators of neighbours share: parameters, an index of the fit, the k nearest."""

    def _metric(self) -> tuple[str, dict[str, Any]]:
        """The metric, and its own parameters."""
        count = getattr(self, "n_neighbors", 1)  # that of a radius has none
        if as_integer(count, "n_neighbors") < 1:
            raise InvalidArgument(f"n_neighbors must be >= 1 (n_neighbors={count})")
        is_power = self.metric in ("minkowski", "p")
        if is_power and not self.p >= 1:
            raise InvalidArgument(f"p must be >= 1 (p={self.p})")
        # The names of these p have kernels of their own.
        simple = {1: "manhattan", 2: "euclidean", float("inf"): "chebyshev"}
        metric: str = simple.get(self.p, "minkowski") if is_power else self.metric
        params = metric_arguments(self.metric_params, p=self.p)
        own = {"poincare": ("curvature",), "lorentz": ("curvature",), "minkowski": ("p",), "haversine": ("unit", "sphere_radius")}
        return metric, {name: params[name] for name in own.get(metric, ())}

    def _take(self, X: Any, reset: bool) -> np.ndarray:
        refuse_masks(X, "X")
        types = types_for_check(self.metric, np.float64, np.float32)
        return np.asarray(validate_data(self, X, reset=reset, dtype=types, order="C"))

    def _keep(self, X: Any) -> None:
        metric, parameters = self._metric()
        points = self._take(X, reset=True)
        self.n_samples_fit_ = points.shape[0]
        self.effective_metric_ = metric
        self.effective_metric_params_ = parameters
        self._fit_type = points.dtype
        with own_threads(self.n_jobs):
            self._index = Index(points, metric=metric, device=self.device, **self.effective_metric_params_)

    def _rows(self, X: Any) -> np.ndarray | None:
        """Queries of the fit's type; None are the points themselves."""
        if X is None:
            return None
        rows = self._take(X, reset=False)
        return rows if is_of_words(self.metric) else rows.astype(self._fit_type, copy=False)

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """``(distances, indices)`` [m, k] of the nearest points of the fit; without X of the other ones to each."""
        check_is_fitted(self, "n_samples_fit_")
        k = as_integer(self.n_neighbors if n_neighbors is None else n_neighbors, "n_neighbors")
        rows = self._rows(X)
        most = self.n_samples_fit_ - (X is None)
        if not 1 <= k <= most:
            raise InvalidArgument(
                f"Expected n_neighbors <= n_samples_fit, but n_neighbors = {k}, n_samples_fit = {self.n_samples_fit_}, "
                f"n_samples = {most if rows is None else len(rows)}"
            )
        with own_threads(self.n_jobs):
            found = self._index.nearest_others(k) if rows is None else self._index.nearest(rows, k)
        return (found.distances, found.indices) if return_distance else found.indices

    def kneighbors_graph(self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity") -> csr_matrix:
        """The same as a CSR matrix [m, n] of ones, or of distances with mode="distance"."""
        _check_mode(mode)
        distances, indices = self.kneighbors(X, n_neighbors)
        count, k = indices.shape
        values = distances.ravel() if mode == "distance" else np.ones(indices.size)
        pointers = np.arange(0, count * k + 1, k)
        return csr_matrix((values, indices.ravel(), pointers), shape=(count, self.n_samples_fit_))


def _check_mode(mode: Any) -> None:
    if mode not in ("distance", "connectivity"):
        raise InvalidArgument(f"mode must be 'distance' or 'connectivity' (mode={mode!r})")


class NearestNeighbors(_KeepsIndex):
    """Exact neighbours in place of ``sklearn.neighbors.NearestNeighbors``: the same parameters, methods and shapes.

    Equal distances are ordered by index, Euclidean ones by their squares first. The fit keeps a
    :class:`quintet.neighbours.Index`, so one query takes microseconds.

    Parameters
    ----------
    n_neighbors : int, default 5
        Neighbours of a point; >= 1.
    radius : float, default 1.0
        Of `radius_neighbors`; >= 0.
    algorithm : str
        Without effect: the search is exact.
    leaf_size : int
        Without effect.
    metric : str, default "minkowski"
        "minkowski" of `p`, "euclidean", "l2", "manhattan", "cityblock", "l1", "chebyshev", "cosine", "poincare" or
        "haversine" (rows of latitude and longitude, in radians), "lorentz", "hamming" or "jaccard" (rows of bits),
        "integer_euclidean", "integer_cosine" or "inner_product" (rows of int8 or uint8).
    p : float, default 2
        Exponent of "minkowski"; >= 1.
    metric_params : dict, default None
        {"curvature": -1.0} for "poincare" and "lorentz", {"unit": "degrees", "sphere_radius": 1.0} for "haversine".
    n_jobs : int, default None
        Threads; results do not depend on it.
    device : str, default "auto"
        "auto", "host" or the number of an offload device.

    Examples
    --------
    >>> import numpy as np
    >>> from quintet import NearestNeighbors
    >>> model = NearestNeighbors(n_neighbors=1).fit(np.array([[0.0], [1.0], [3.0]]))
    >>> distances, indices = model.kneighbors([[2.5]])
    >>> distances, indices
    (array([[0.5]]), array([[2]]))
    """

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        radius: float = 1.0,
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: str = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        device: str = "auto",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.device = device

    def fit(self, X: Any, y: Any = None) -> NearestNeighbors:
        """Orders the points ``X[n, d]``; float32 and float64 stay as they are."""
        self._keep(X)
        return self

    def _within(self, X: Any, radius: float | None) -> Any:
        check_is_fitted(self, "n_samples_fit_")
        rows = self._rows(X)
        radius = as_number(self.radius if radius is None else radius, "radius")
        with own_threads(self.n_jobs):
            if rows is None:
                return self._index.others_within_radius(radius)
            return self._index.within_radius(rows, radius)

    def radius_neighbors(
        self, X: Any = None, radius: float | None = None, return_distance: bool = True, sort_results: bool = False
    ) -> Any:
        """``(distances, indices)``, arrays of arrays [m], of all points of the fit within `radius`; without X of the
        other ones of each. By index, or with `sort_results` by distance."""
        if sort_results and not return_distance:
            raise InvalidArgument("return_distance must be True if sort_results is True.")
        found = self._within(X, radius)
        distances, indices = found.distances, found.indices
        if sort_results:
            row = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
            order = np.lexsort((indices, distances, row))
            distances, indices = distances[order], indices[order]
        return (
            (rows_of(distances, found.indptr), rows_of(indices, found.indptr))
            if return_distance
            else rows_of(indices, found.indptr)
        )

    def radius_neighbors_graph(
        self, X: Any = None, radius: float | None = None, mode: str = "connectivity", sort_results: bool = False
    ) -> csr_matrix:
        """The same as a CSR matrix [m, n] of ones, or of distances with mode="distance"."""
        _check_mode(mode)
        distances, indices = self.radius_neighbors(X, radius, sort_results=sort_results)
        pointers = np.concatenate(([0], np.cumsum([len(row) for row in indices]))).astype(np.int64)
        columns = np.concatenate(indices) if len(indices) else np.empty(0, np.int64)
        values = np.ones(len(columns)) if mode == "connectivity" or not len(indices) else np.concatenate(distances)
        return csr_matrix((values, columns, pointers), shape=(len(indices), self.n_samples_fit_))


class _MakesGraph(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """What the transformers share: the fit that names a column for every point, and tags."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def fit(self, X: Any, y: Any = None) -> Any:
        """Orders the points ``X[n, d]``; float32 and float64 stay as they are."""
        _check_mode(self.mode)
        self._keep(X)
        self._n_features_out = self.n_samples_fit_
        return self

    def fit_transform(self, X: Any, y: Any = None) -> csr_matrix:
        """``fit(X).transform(X)``: every point is its own first neighbour."""
        return self.fit(X).transform(X)


class KNeighborsTransformer(_MakesGraph, _KeepsIndex):
    """Exact neighbours in place of ``sklearn.neighbors.KNeighborsTransformer``: the same parameters, the same graph.

    ``transform(X)`` gives a CSR matrix ``[m, n]`` of distances to the n_neighbors + 1 nearest points of the fit (as
    scikit-learn does, because in ``fit_transform`` every point is its own first neighbour), or of ones for n_neighbors
    with mode="connectivity". To be put before whatever takes ``metric="precomputed"``: DBSCAN, HDBSCAN, TSNE, Isomap.

    Parameters
    ----------
    mode : {"distance", "connectivity"}, default "distance"
        What the entries of the graph are.
    n_neighbors : int, default 5
        Neighbours of a point; >= 1.
    algorithm : str
        Without effect: the search is exact.
    leaf_size : int
        Without effect.
    metric : str, default "minkowski"
        "minkowski" of `p`, "euclidean", "l2", "manhattan", "cityblock", "l1", "chebyshev", "cosine", "poincare" or
        "haversine" (rows of latitude and longitude, in radians), "lorentz", "hamming" or "jaccard" (rows of bits),
        "integer_euclidean", "integer_cosine" or "inner_product" (rows of int8 or uint8).
    p : float, default 2
        Exponent of "minkowski"; >= 1.
    metric_params : dict, default None
        {"curvature": -1.0} for "poincare" and "lorentz", {"unit": "degrees", "sphere_radius": 1.0} for "haversine".
    n_jobs : int, default None
        Threads; results do not depend on it.
    device : str, default "auto"
        "auto", "host" or the number of an offload device.

    Examples
    --------
    >>> import numpy as np
    >>> from quintet import KNeighborsTransformer
    >>> graph = KNeighborsTransformer(n_neighbors=1).fit_transform(np.array([[0.0], [1.0], [3.0]]))
    >>> graph.toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 2., 0.]])
    """

    def __init__(
        self,
        *,
        mode: str = "distance",
        n_neighbors: int = 5,
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: str = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        device: str = "auto",
    ) -> None:
        self.mode = mode
        self.n_neighbors = n_neighbors
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.device = device

    def transform(self, X: Any) -> csr_matrix:
        """The graph [m, n] from the rows of ``X[m, d]`` to the points of the fit."""
        check_is_fitted(self, "n_samples_fit_")
        k = as_integer(self.n_neighbors, "n_neighbors") + (self.mode == "distance")
        return self.kneighbors_graph(X, k, self.mode)


class RadiusNeighborsTransformer(_MakesGraph, NearestNeighbors):
    """Exact graphs of a radius in place of ``sklearn.neighbors.RadiusNeighborsTransformer``: the same parameters and graph.

    ``transform(X)`` gives a CSR matrix ``[m, n]`` of the distances to all points of the fit within `radius`, those of a
    row in ascending order, or of ones with mode="connectivity". In ``fit_transform`` every point is its own first
    neighbour. To be put before whatever takes ``metric="precomputed"``, such as DBSCAN.

    Parameters
    ----------
    mode : {"distance", "connectivity"}, default "distance"
        What the entries of the graph are.
    radius : float, default 1.0
        Largest distance of a neighbour; >= 0.
    algorithm : str
        Without effect: the search is exact.
    leaf_size : int
        Without effect.
    metric : str, default "minkowski"
        "minkowski" of `p`, "euclidean", "l2", "manhattan", "cityblock", "l1", "chebyshev", "cosine", "poincare" or
        "haversine" (rows of latitude and longitude, in radians), "lorentz", "hamming" or "jaccard" (rows of bits),
        "integer_euclidean", "integer_cosine" or "inner_product" (rows of int8 or uint8).
    p : float, default 2
        Exponent of "minkowski"; >= 1.
    metric_params : dict, default None
        {"curvature": -1.0} for "poincare" and "lorentz", {"unit": "degrees", "sphere_radius": 1.0} for "haversine".
    n_jobs : int, default None
        Threads; results do not depend on it.
    device : str, default "auto"
        "auto", "host" or the number of an offload device.

    Examples
    --------
    >>> import numpy as np
    >>> from quintet import RadiusNeighborsTransformer
    >>> graph = RadiusNeighborsTransformer(radius=1.5).fit_transform(np.array([[0.0], [1.0], [3.0]]))
    >>> graph.toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 0.]])
    >>> graph.nnz  # with the points themselves, at distance 0
    5
    """

    def __init__(
        self,
        *,
        mode: str = "distance",
        radius: float = 1.0,
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: str = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        device: str = "auto",
    ) -> None:
        self.mode = mode
        self.radius = radius
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.device = device

    def transform(self, X: Any) -> csr_matrix:
        """The graph [m, n] from the rows of ``X[m, d]`` to the points of the fit within the radius."""
        check_is_fitted(self, "n_samples_fit_")
        return self.radius_neighbors_graph(X, mode=self.mode, sort_results=True)


def _queries(X: Any, include_self: Any, mode: Any) -> Any:
    """The points X, so that every point finds itself, or None for the other ones."""
    if isinstance(X, BaseEstimator):
        raise TypeError(f"X must be points; a fitted model has a method for its graph (X={X!r})")
    if not isinstance(include_self, bool) and include_self != "auto":
        raise InvalidArgument(f"include_self must be True, False or 'auto' (include_self={include_self!r})")
    return X if include_self is True or (include_self == "auto" and mode == "connectivity") else None


def kneighbors_graph(
    X: Any,
    n_neighbors: int,
    *,
    mode: str = "connectivity",
    metric: str = "minkowski",
    p: float = 2,
    metric_params: dict[str, Any] | None = None,
    include_self: bool | str = False,
    n_jobs: int | None = None,
) -> csr_matrix:
    """The graph of the nearest neighbours of points ``X[n, d]`` in place of ``sklearn.neighbors.kneighbors_graph``.

    A CSR matrix [n, n] of ones, or of distances with mode="distance". ``include_self`` counts a point
    as its own first neighbour; "auto" does with mode="connectivity".

    >>> import numpy as np
    >>> from quintet.neighbours import kneighbors_graph
    >>> kneighbors_graph(np.array([[0.0], [1.0], [3.0]]), 1).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 1., 0.]])
    """
    queries = _queries(X, include_self, mode)
    model = NearestNeighbors(metric=metric, p=p, metric_params=metric_params, n_jobs=n_jobs).fit(X)
    return model.kneighbors_graph(queries, n_neighbors, mode)


def radius_neighbors_graph(
    X: Any,
    radius: float,
    *,
    mode: str = "connectivity",
    metric: str = "minkowski",
    p: float = 2,
    metric_params: dict[str, Any] | None = None,
    include_self: bool | str = False,
    n_jobs: int | None = None,
) -> csr_matrix:
    """The graph of the neighbours within `radius` in place of ``sklearn.neighbors.radius_neighbors_graph``; arguments as in
    :func:`kneighbors_graph`.

    >>> import numpy as np
    >>> from quintet.neighbours import radius_neighbors_graph
    >>> radius_neighbors_graph(np.array([[0.0], [1.0], [3.0]]), 1.5, mode="distance").toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 0.]])
    """
    queries = _queries(X, include_self, mode)
    model = NearestNeighbors(metric=metric, p=p, metric_params=metric_params, n_jobs=n_jobs).fit(X)
    return model.radius_neighbors_graph(queries, radius, mode)
