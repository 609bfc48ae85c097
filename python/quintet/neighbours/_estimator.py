"""The transformer, which needs scikit-learn; quintet.neighbours loads it when it is asked for."""

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

from .._arguments import as_integer
from .._errors import InvalidArgument
from .._threads import own_threads
from ._functions import nearest

__all__ = ["KNeighborsTransformer"]


class KNeighborsTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
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
        "minkowski" of `p`, "euclidean", "l2", "manhattan", "cityblock", "l1", "chebyshev", "cosine" or "poincare".
    p : float, default 2
        Exponent of "minkowski"; >= 1.
    metric_params : dict, default None
        {"curvature": -1.0} for "poincare".
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check(self) -> tuple[str, float]:
        if self.mode not in ("distance", "connectivity"):
            raise InvalidArgument(f"mode must be 'distance' or 'connectivity' (mode={self.mode!r})")
        if as_integer(self.n_neighbors, "n_neighbors") < 1:
            raise InvalidArgument(f"n_neighbors must be >= 1 (n_neighbors={self.n_neighbors})")
        if self.metric == "minkowski" and not self.p >= 1:
            raise InvalidArgument(f"p must be >= 1 (p={self.p})")
        # The names of these p have kernels of their own.
        simple = {1: "manhattan", 2: "euclidean", float("inf"): "chebyshev"}
        metric = simple.get(self.p, self.metric) if self.metric == "minkowski" else self.metric
        params = dict(self.metric_params or {})
        curvature = params.pop("curvature", -1.0)
        if params:
            raise InvalidArgument(f"metric_params may hold 'curvature' only (metric_params={self.metric_params!r})")
        return metric, curvature

    def _take(self, X: Any, reset: bool) -> np.ndarray:
        return np.asarray(validate_data(self, X, reset=reset, dtype=[np.float64, np.float32], order="C"))

    def fit(self, X: Any, y: Any = None) -> "KNeighborsTransformer":
        """Keeps the points ``X[n, d]``; float32 and float64 stay as they are."""
        self._check()
        self._fit_X = self._take(X, reset=True)
        self.n_samples_fit_ = self._fit_X.shape[0]
        self._n_features_out = self.n_samples_fit_
        self.effective_metric_ = self._check()[0]
        return self

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """``(distances, indices)`` [m, k] of the nearest points of the fit; without X of the other ones to each."""
        check_is_fitted(self, "n_samples_fit_")
        metric, curvature = self._check()
        k = as_integer(self.n_neighbors if n_neighbors is None else n_neighbors, "n_neighbors")
        rows = None if X is None else self._take(X, reset=False).astype(self._fit_X.dtype, copy=False)
        most = self.n_samples_fit_ - (X is None)
        if not 1 <= k <= most:
            raise InvalidArgument(
                f"Expected n_neighbors <= n_samples_fit, but n_neighbors = {k}, n_samples_fit = {self.n_samples_fit_}, "
                f"n_samples = {most if rows is None else len(rows)}"
            )
        with own_threads(self.n_jobs):
            found = nearest(
                self._fit_X, k, queries=rows, metric=metric, curvature=curvature, p=self.p, device=self.device
            )
        return (found.distances, found.indices) if return_distance else found.indices

    def kneighbors_graph(self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity") -> csr_matrix:
        """The same as a CSR matrix [m, n] of ones, or of distances with mode="distance"."""
        if mode not in ("distance", "connectivity"):
            raise InvalidArgument(f"mode must be 'distance' or 'connectivity' (mode={mode!r})")
        distances, indices = self.kneighbors(X, n_neighbors)
        count, k = indices.shape
        values = distances.ravel() if mode == "distance" else np.ones(indices.size)
        pointers = np.arange(0, count * k + 1, k)
        return csr_matrix((values, indices.ravel(), pointers), shape=(count, self.n_samples_fit_))

    def transform(self, X: Any) -> csr_matrix:
        """The graph [m, n] from the rows of ``X[m, d]`` to the points of the fit."""
        check_is_fitted(self, "n_samples_fit_")
        k = as_integer(self.n_neighbors, "n_neighbors") + (self.mode == "distance")
        return self.kneighbors_graph(X, k, self.mode)

    def fit_transform(self, X: Any, y: Any = None) -> csr_matrix:
        """``fit(X).transform(X)``: every point is its own first neighbour."""
        return self.fit(X).transform(X)
