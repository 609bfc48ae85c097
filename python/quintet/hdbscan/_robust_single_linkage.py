"""The cluster tree of Chaudhuri and Dasgupta, cut at one height; it needs scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

from .._arguments import as_integer, as_number, metric_arguments, types_for_check
from .._arrays import refuse_masks
from .._errors import InvalidArgument
from .._threads import own_threads
from ._functions import single_linkage, spanning_tree
from ._trees import SingleLinkageTree

__all__ = ["RobustSingleLinkage"]


class RobustSingleLinkage(ClusterMixin, BaseEstimator):
    """Robust single linkage in place of ``hdbscan.RobustSingleLinkage``: the same parameters, an exact tree.

    The dendrogram of ``max(c_i, c_j, d_ij / alpha)``, c the distance to the k-th nearest other point, cut at one height
    (Chaudhuri, Dasgupta 2010).

    Parameters
    ----------
    cut : float, default 0.4
        Height of the cut; >= 0.
    k : int, default 5
        Neighbours of the core distances; >= 1.
    alpha : float, default 1.4142135623730951
        Divides distances, but not core distances; > 0.
    gamma : int, default 5
        Smaller components are noise; >= 1.
    metric : str, default "euclidean"
        Those of :class:`HDBSCAN` but "precomputed".
    algorithm : str
        Without effect: the tree is exact.
    core_dist_n_jobs : int
        Without effect, see `n_jobs`.
    metric_params : dict, default None
        {"curvature": c} for metric="poincare" and "lorentz", {"p": p} for "minkowski", {"unit": "degrees",
        "sphere_radius": r} for "haversine".
    n_jobs : int, default None
        Threads; results do not depend on it.
    device : str, default "auto"
        "auto", "host" or the number of an offload device.

    Attributes
    ----------
    labels_ : ndarray of shape (n,), int64
        Components 0 ... K - 1 by their first points; -1 is noise.
    cluster_hierarchy_ : SingleLinkageTree
        The dendrogram, with get_clusters(cut, gamma).
    n_features_in_ : int
        Columns of X.

    Examples
    --------
    >>> from quintet.hdbscan import RobustSingleLinkage
    >>> RobustSingleLinkage(cut=2, k=1, gamma=2).fit_predict([[0.0], [1.0], [9.0], [10.0], [30.0]])
    array([ 0,  0,  1,  1, -1])
    """

    def __init__(
        self,
        cut: float = 0.4,
        k: int = 5,
        alpha: float = 1.4142135623730951,
        gamma: int = 5,
        metric: str = "euclidean",
        algorithm: str = "best",
        core_dist_n_jobs: int = 4,
        metric_params: dict[str, Any] | None = None,
        *,
        n_jobs: int | None = None,
        device: str = "auto",
    ) -> None:
        self.cut = cut
        self.k = k
        self.alpha = alpha
        self.gamma = gamma
        self.metric = metric
        self.algorithm = algorithm
        self.core_dist_n_jobs = core_dist_n_jobs
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.device = device

    def fit(self, X: Any, y: Any = None) -> RobustSingleLinkage:
        """Cuts the tree of the rows of ``X[n, d]``."""
        height = as_number(self.cut, "cut")
        k, smallest = as_integer(self.k, "k"), as_integer(self.gamma, "gamma")
        for name, value in (("k", k), ("gamma", smallest)):
            if value < 1:
                raise InvalidArgument(f"{name} must be >= 1 ({name}={value})")
        if not height >= 0:
            raise InvalidArgument(f"cut must be >= 0 (cut={self.cut})")
        if self.metric == "precomputed":
            raise InvalidArgument("metric must be one of points (metric='precomputed')")
        params = metric_arguments(self.metric_params)
        refuse_masks(X, "X")
        types = types_for_check(self.metric, np.float64, np.float32, np.float16)
        points = validate_data(self, X, dtype=types, ensure_all_finite=False, ensure_min_samples=1)
        with own_threads(self.n_jobs):
            tree = spanning_tree(points, k, metric=self.metric, alpha=self.alpha, device=self.device, **params)
        self.cluster_hierarchy_ = SingleLinkageTree(single_linkage(tree.edges, len(points)))
        self.labels_ = self.cluster_hierarchy_.get_clusters(height, smallest)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
