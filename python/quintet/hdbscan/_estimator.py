"""The estimator, which needs scikit-learn; quintet.hdbscan loads it when it is asked for."""

from __future__ import annotations

import sys
import warnings
import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import _core
from .._arguments import (
    as_integer,
    is_of_doubles,
    is_of_words,
    metric_arguments,
    metric_name,
    metric_parameter,
    types_for_check,
    words_of,
)
from .._arrays import BF16, refuse_masks, take, widened
from .._errors import InvalidArgument
from .._options import read_options
from .._threads import own_threads
from ._functions import (
    ClusterResult,
    SpanningTreeResult,
    _fit,
    _none_if_empty,
    medoids,
    refuse_vector,
    relative_validity,
    weighted_centroids,
)
from ._options import ClusterOptions, TreeOptions
from ._sweep import TRACE_DTYPE, flat_tree, refit_tree
from ._trees import CondensedTree, MinimumSpanningTree, SingleLinkageTree, cut

__all__ = ["HDBSCAN", "PredictionData"]


# The C++ side of fitted estimators: made when something is predicted, gone with the estimator, never pickled.
_MODELS: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
# The same with an index of the points, for few rows at a time.
_PREDICTORS: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
# The points of the fit as words, where they are rows of bits or integers.
_WORD_ROWS: weakref.WeakKeyDictionary[Any, np.ndarray] = weakref.WeakKeyDictionary()
_FEW_ROWS = 64


class PredictionData:
    """What is kept for new points: the points of the fit, their core distances, and exemplars of the clusters."""

    def __init__(self, raw_data: np.ndarray, core_distances: np.ndarray, exemplars: list[np.ndarray]) -> None:
        self.raw_data = raw_data
        self.core_distances = core_distances
        self.exemplars = exemplars


def _has_points(model: HDBSCAN) -> bool:
    if model.metric == "precomputed":
        raise AttributeError("new points need the points of the fit, and it has distances (metric='precomputed')")
    return True


def _is_bfloat16(X: Any) -> bool:
    return str(getattr(X, "dtype", "")).endswith("bfloat16")


class HDBSCAN(ClusterMixin, BaseEstimator):
    """Exact HDBSCAN* in place of ``hdbscan.HDBSCAN`` and ``sklearn.cluster.HDBSCAN``.

    The first parameters are hdbscan's, in its order. Without ties its labels are equal; with ties (mutual reachability
    makes many) all merges of one height are done at once, so that the result does not depend on the order of the points;
    ``ties="binary"`` takes them one by one as others do.

    Parameters
    ----------
    min_cluster_size : int or "auto", default 5
        Smallest group that is a cluster; >= 2. "auto" is the most persistent size, see ``persistence_trace_``; with
        cluster_selection_method="leaf" the clusters are those of PLSCAN.
    min_samples : int, default min_cluster_size
        k of the core distance, that to the k-th neighbour; the point itself does not count. 5 if min_cluster_size is
        "auto".
    cluster_selection_epsilon : float, default 0
        Clusters born at a smaller distance give way to an ancestor; 0 turns this off.
    cluster_selection_persistence : float, default 0
        Not implemented: fit raises NotImplementedError for other values.
    max_cluster_size : int, default 0
        "eom" takes no larger cluster; 0 is no limit.
    metric : str, default "euclidean"
        "euclidean", "l2", "cosine", "manhattan", "cityblock", "l1", "chebyshev", "minkowski" (of `p`), "poincare",
        "haversine" (rows of latitude and longitude, in radians), "lorentz" (space parts of points of the hyperboloid,
        which become float64), "hamming" or "jaccard" (rows of bits: bool, or uint8 of ``numpy.packbits``),
        "integer_euclidean" or "integer_cosine" (rows of int8 or uint8) or
        "precomputed": a dense matrix of distances, which is not overwritten, or a SciPy sparse
        matrix with the edges of a graph as entries.
    alpha : float, default 1
        Divides distances, but not core distances; > 0.
    p : float, default 2
        Exponent of "minkowski". fit raises NotImplementedError where another metric has one.
    algorithm : str
        Without effect: the tree is exact.
    leaf_size : int
        Without effect.
    memory : object, default None
        Without effect: nothing is cached, and fit warns.
    approx_min_span_tree : bool
        Without effect: the tree is exact.
    gen_min_span_tree : bool
        Without effect: the tree is always there.
    core_dist_n_jobs : int
        Without effect, see `n_jobs`.
    cluster_selection_method : {"eom", "leaf"}, default "eom"
        Excess of mass, or the leaves of the condensed tree.
    allow_single_cluster : bool, default False
        The root may be a cluster.
    prediction_data : bool, default False
        Makes ``prediction_data_``; predictions work without it too.
    branch_detection_data : bool
        Not implemented: fit raises NotImplementedError for True.
    match_reference_implementation : bool
        Not implemented: fit raises NotImplementedError for True.
    cluster_selection_epsilon_max : float, default infinity
        "eom" takes no cluster born at a larger distance; > 0.
    metric_params : dict, default None
        {"curvature": c} for metric="poincare" and "lorentz", {"p": p} for "minkowski", {"unit": "degrees",
        "sphere_radius": r} for "haversine"; of a sphere of radius 1 and in radians by default.
    curvature : float, default -1
        Curvature of "poincare" and "lorentz"; < 0.
    ties : {"canonical", "binary"}, default "canonical"
        All merges of one height at once, or one by one.
    tie_tolerance : float, default None
        Heights in [h (1 - tolerance), h] count as equal; in [0, 1). None is (d / 2 + 68) eps of the type of X, what
        rounding does to equal distances, so that labels do not depend on the unit of length.
    count_self : bool, default False
        min_samples counts the point itself, as scikit-learn and the paper do.
    store_centers : {None, "centroid", "medoid", "both"}, default None
        Makes ``centroids_``, ``medoids_``.
    n_jobs : int, default None
        Threads of fit and predictions; results do not depend on it.
    copy : bool
        Without effect: X is never written to.
    device : str, default "auto"
        "auto", "host" or the number of an offload device.
    progress : bool or callable, default None
        True draws a bar; a callable(stage, fraction) cancels by returning False.

    Attributes
    ----------
    labels_ : ndarray of shape (n,), int64
        Clusters 0 ... K - 1; -1 is noise. Rows with NaN or infinity are noise.
    probabilities_ : ndarray of shape (n,)
        Membership in [0, 1].
    outlier_scores_ : ndarray of shape (n,)
        GLOSH in [0, 1].
    cluster_persistence_ : ndarray of shape (K,)
        Persistence of each cluster.
    condensed_tree_ : CondensedTree
        With selected_clusters (the node of each label), clusters (a table), to_numpy, to_pandas, to_networkx, plot.
    single_linkage_tree_ : SingleLinkageTree
        With to_numpy, to_pandas, to_networkx, plot.
    minimum_spanning_tree_ : MinimumSpanningTree
        With to_numpy, to_pandas, to_networkx, plot.
    exemplars_ : list of K ndarrays
        Points that stay to the end of each cluster.
    relative_validity_ : float
        DBCV estimated from the spanning tree.
    prediction_data_ : PredictionData
        With prediction_data=True.
    core_distances_ : ndarray of shape (n,)
        Core distance of each point.
    neighbours_ : int
        The k that was used.
    min_cluster_size_ : int
        The size that was used.
    persistence_trace_ : ndarray of records min_cluster_size, persistence
        What all leaf clusters persist, from each size to the next; sizes are above min_samples.
    components_ : int
        Connected components.
    tie_tolerance_ : float
        The tie_tolerance that was used.
    invalid_rows_ : ndarray
        Rows with NaN or infinity.
    excluded_rows_ : ndarray
        Rows of weight 0.
    centroids_ : ndarray of shape (K, d)
        With store_centers.
    medoids_ : ndarray of shape (K, d)
        With store_centers.
    n_features_in_ : int
        Columns of X.

    Notes
    -----
    ``predict(X)`` of the points of the fit is not ``labels_``: a point of the fit is its own nearest neighbour there.

    Examples
    --------
    >>> import numpy as np
    >>> from quintet import HDBSCAN
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 0.1, (50, 2)) for c in (0, 3)])
    >>> model = HDBSCAN(min_cluster_size=10).fit(X)
    >>> np.bincount(model.labels_ + 1)[1:] > 40
    array([ True,  True])
    """

    def __init__(
        self,
        min_cluster_size: int | str = 5,
        min_samples: int | None = None,
        cluster_selection_epsilon: float = 0.0,
        cluster_selection_persistence: float = 0.0,
        max_cluster_size: int = 0,
        metric: str = "euclidean",
        alpha: float = 1.0,
        p: float | None = None,
        algorithm: str = "best",
        leaf_size: int = 40,
        memory: Any = None,
        approx_min_span_tree: bool = True,
        gen_min_span_tree: bool = False,
        core_dist_n_jobs: int = 4,
        cluster_selection_method: str = "eom",
        allow_single_cluster: bool = False,
        prediction_data: bool = False,
        branch_detection_data: bool = False,
        match_reference_implementation: bool = False,
        cluster_selection_epsilon_max: float = float("inf"),
        *,
        metric_params: dict[str, Any] | None = None,
        curvature: float = -1.0,
        ties: str = "canonical",
        tie_tolerance: float | None = None,
        count_self: bool = False,
        store_centers: str | None = None,
        copy: bool = True,
        n_jobs: int | None = None,
        device: str = "auto",
        progress: Any = None,
    ) -> None:
        self.min_cluster_size = min_cluster_size
        self.min_samples = min_samples
        self.cluster_selection_epsilon = cluster_selection_epsilon
        self.cluster_selection_persistence = cluster_selection_persistence
        self.max_cluster_size = max_cluster_size
        self.metric = metric
        self.alpha = alpha
        self.p = p
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.memory = memory
        self.approx_min_span_tree = approx_min_span_tree
        self.gen_min_span_tree = gen_min_span_tree
        self.core_dist_n_jobs = core_dist_n_jobs
        self.cluster_selection_method = cluster_selection_method
        self.allow_single_cluster = allow_single_cluster
        self.prediction_data = prediction_data
        self.branch_detection_data = branch_detection_data
        self.match_reference_implementation = match_reference_implementation
        self.cluster_selection_epsilon_max = cluster_selection_epsilon_max
        self.metric_params = metric_params
        self.curvature = curvature
        self.ties = ties
        self.tie_tolerance = tie_tolerance
        self.count_self = count_self
        self.store_centers = store_centers
        self.copy = copy
        self.n_jobs = n_jobs
        self.device = device
        self.progress = progress

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        is_precomputed = self.metric == "precomputed"
        tags.input_tags.allow_nan = not is_precomputed
        tags.input_tags.positive_only = is_precomputed
        tags.input_tags.pairwise = is_precomputed
        tags.input_tags.sparse = is_precomputed
        return tags

    # Fit.

    def _refuse(self) -> None:
        for name, default in (
            ("cluster_selection_persistence", 0.0),
            ("branch_detection_data", False),
            ("match_reference_implementation", False),
            ("p", None),
        ):
            if getattr(self, name) != default and not (name == "p" and self.metric in ("minkowski", "p")):
                raise NotImplementedError(
                    f"{name} is not implemented, it must be {default!r} ({name}={getattr(self, name)!r})"
                )
        if self.store_centers not in (None, "centroid", "medoid", "both"):
            raise InvalidArgument(
                f"store_centers must be None, 'centroid', 'medoid' or 'both' (store_centers={self.store_centers!r})"
            )

    def _options(self, X: Any) -> ClusterOptions:
        params = metric_arguments(self.metric_params, curvature=self.curvature, p=2.0 if self.p is None else self.p)
        kind = metric_name(self.metric, precomputed=True, unit=params.pop("unit"))
        parameter = metric_parameter(kind, **params, points=X)
        return read_options(ClusterOptions, vars(self), metric=kind, parameter=parameter)

    def _take(self, X: Any, reset: bool) -> Any:
        """X as scikit-learn sees it, without a copy where the bindings can read it; bfloat16 stays bfloat16."""
        torch = sys.modules.get("torch")
        is_tensor = torch is not None and isinstance(X, torch.Tensor)
        if is_tensor or _is_bfloat16(X):
            array, _ = take(X, "X", integers=True)
            if array.dtype == BF16:
                if array.ndim != 2:
                    raise InvalidArgument(f"X must have 2 dimensions (shape={array.shape})")
                if reset:
                    self.n_features_in_ = array.shape[1]
                elif array.shape[1] != self.n_features_in_:
                    raise InvalidArgument(
                        f"X has {array.shape[1]} features, but HDBSCAN is expecting {self.n_features_in_} features"
                    )
                if not is_of_doubles(self.metric):
                    return X
                array = widened(array)
            X = array
        elif isinstance(X, np.ndarray) and X.dtype.kind in "USMmV":  # scikit-learn would read numbers in them
            raise TypeError(f"X must be of type float16, bfloat16, float32 or float64 (dtype={X.dtype})")
        refuse_masks(X, "X")
        return validate_data(
            self,
            X,
            reset=reset,
            accept_sparse=["csr"] if self.metric == "precomputed" else False,
            dtype=types_for_check(self.metric, np.float64, np.float32, np.float16),
            ensure_all_finite=False,
            ensure_min_samples=1,
        )

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> HDBSCAN:
        """Clusters the rows of ``X[n, d]``, or the points behind a matrix of distances (metric="precomputed").

        ``sample_weight[n]`` >= 0 says how often each row counts: whole weights give what repeated rows give. Sizes are
        sums of weights then, but those in trees count rows. Rows of weight 0 are noise and have no effect. Ties have to
        be canonical, and X may not be precomputed.

        float16, float32 and float64 stay as they are, bfloat16 too; integers and bools become float64. X is read where
        it lies, kept for predictions, and never written to.
        """
        self._refuse()
        if self.memory is not None:
            warnings.warn(
                f"memory has no effect: the tree is kept by the model, not in a cache (memory={self.memory!r})",
                UserWarning,
                stacklevel=2,
            )
        options = self._options(X)
        kind = options.metric if self.metric != "precomputed" else "precomputed"
        if kind == "precomputed":
            refuse_vector(X)
        X = self._take(X, reset=True)
        if kind == "precomputed" and X.shape[0] != X.shape[1]:
            raise InvalidArgument(f"X must be square, the distances of all points (shape={X.shape})")
        with own_threads(self.n_jobs):
            found = _fit(X, kind, options, sample_weight, self.progress, self.device)
            self._keep(X, kind, options, found)
            self._make_centers(kind)
        return self

    def refit(
        self,
        *,
        min_cluster_size: int | str | None = None,
        cluster_selection_epsilon: float | None = None,
        cluster_selection_epsilon_max: float | None = None,
        cluster_selection_method: str | None = None,
        max_cluster_size: int | None = None,
        allow_single_cluster: bool | None = None,
        ties: str | None = None,
        tie_tolerance: float | None = None,
        n_clusters: int | None = None,
        **others: Any,
    ) -> HDBSCAN:
        """Other clusters from the tree of the last fit: no distance is computed. None leaves a parameter as it is.

        `n_clusters` chooses cluster_selection_epsilon, and if need be cluster_selection_method "leaf", so that there are
        so many clusters; see :func:`quintet.hdbscan.flat`.

        The results are those of a fit with these parameters and the min_samples of the last fit, bit for bit; it stays if
        it was min_cluster_size. Parameters of the estimator become what is given here. min_samples, metric and alpha
        change the tree: :func:`quintet.hdbscan.sweep` tries many min_samples at once.
        """
        check_is_fitted(self, "labels_")
        if others:
            raise InvalidArgument(
                f"refit cannot change {', '.join(others)}: fit does, and quintet.hdbscan.sweep has many min_samples at once"
            )
        given = {
            "min_cluster_size": min_cluster_size,
            "cluster_selection_epsilon": cluster_selection_epsilon,
            "cluster_selection_epsilon_max": cluster_selection_epsilon_max,
            "cluster_selection_method": cluster_selection_method,
            "max_cluster_size": max_cluster_size,
            "allow_single_cluster": allow_single_cluster,
            "ties": ties,
            "tie_tolerance": tie_tolerance,
        }
        changed = {name: value for name, value in given.items() if value is not None}
        read = read_options(TreeOptions, changed)
        options = replace(self._state["options"], **{name: getattr(read, name) for name in changed})
        tree = SpanningTreeResult(
            edges=self._spanning_tree,
            core_distances=self.core_distances_,
            neighbours=self.neighbours_,
            clamped=False,
            tie_tolerance=self.tie_tolerance_,
            invalid_rows=self.invalid_rows_,
            weights=self._state["weights"],
            excluded_rows=self.excluded_rows_,
            counters={},
            ran_on=(),
            seconds=(),
        )
        if n_clusters is not None:
            n_clusters = as_integer(n_clusters, "n_clusters", 1)
            if cluster_selection_epsilon is not None:
                raise InvalidArgument("n_clusters chooses cluster_selection_epsilon: give only one of them")
        with own_threads(self.n_jobs):
            if n_clusters is None:
                found = refit_tree(tree, options, False)
            else:
                found, options = flat_tree(tree, options, False, n_clusters)
                changed["cluster_selection_epsilon"] = options.cluster_selection_epsilon
                changed["cluster_selection_method"] = ("eom", "leaf")[options.cluster_selection_method]
            self._keep(self._raw_data, self._fitted_metric, options, found)
            self._make_centers(self._fitted_metric)
        self.set_params(**changed, min_samples=options.min_samples)
        return self

    def _adopt(self, X: Any, options: ClusterOptions, found: ClusterResult) -> HDBSCAN:
        """Becomes the estimator of a fit that is there."""
        self._keep(self._take(X, reset=True), options.metric, options, found)
        return self

    def _keep(self, X: Any, kind: str, options: ClusterOptions, found: ClusterResult) -> None:
        self.labels_ = found.labels
        self.probabilities_ = found.probabilities
        self.outlier_scores_ = found.outlier_scores
        self.cluster_persistence_ = found.persistence
        self.core_distances_ = found.core_distances
        self.invalid_rows_ = found.invalid_rows
        self.excluded_rows_ = found.excluded_rows
        self.neighbours_ = found.neighbours
        self.min_cluster_size_ = found.min_cluster_size
        self.components_ = found.components
        self.tie_tolerance_ = found.tie_tolerance
        self._condensed = found.condensed
        self._linkage = found.linkage
        self._spanning_tree = found.spanning_tree
        self._raw_data = None if kind == "precomputed" else X
        self._state: dict[str, Any] = {
            "options": replace(
                options,
                min_cluster_size=found.min_cluster_size,
                min_samples=found.min_samples,
                tie_tolerance=found.tie_tolerance,
            ),
            "selected": found.selected,
            "exemplar_offsets": found.exemplar_offsets,
            "exemplar_points": found.exemplar_points,
            "condensed_clusters": found.condensed_clusters,
            "neighbours": found.neighbours,
            "weights": found.weights,
            "excluded_rows": found.excluded_rows,
        }
        self._fitted_metric = kind
        self._has_prediction_data = bool(self.prediction_data) and kind != "precomputed"
        for kept in (_MODELS, _PREDICTORS, _WORD_ROWS):
            kept.pop(self, None)

    def _make_centers(self, kind: str) -> None:
        for name in ("centroids_", "medoids_"):
            self.__dict__.pop(name, None)
        if self.store_centers is None:
            return
        if kind == "precomputed":
            raise InvalidArgument("store_centers needs points, not distances (metric='precomputed')")
        if self.store_centers in ("centroid", "both"):
            self.centroids_ = self._centroid_rows()
        if self.store_centers in ("medoid", "both"):
            self.medoids_ = self._rows(self._medoid_rows())

    def _medoid_rows(self) -> np.ndarray:
        return medoids(
            self._raw_data,
            self.labels_,
            self._member_weights(),
            **self._fitted_distance(),
            device=self.device,
        )

    def _centroid_rows(self) -> np.ndarray:
        distance = self._fitted_distance()
        return weighted_centroids(
            self._raw_data,
            self.labels_,
            self._member_weights(),
            metric=distance["metric"],
            sphere_radius=distance["sphere_radius"],
            device=self.device,
        )

    def _member_weights(self) -> np.ndarray:
        weights = self._state["weights"]
        return self.probabilities_ * weights if len(weights) else self.probabilities_

    def _fitted_distance(self) -> dict[str, Any]:
        parameter = self._state["options"].parameter
        return {"metric": self._fitted_metric, "curvature": parameter, "p": parameter, "sphere_radius": parameter}

    def _rows(self, rows: Any) -> np.ndarray:
        data = self._raw_data
        if not isinstance(data, np.ndarray):
            array, like = take(data, "X")
            return np.asarray(like(array[rows]))
        return np.asarray(data[rows])

    # New points.

    def _cpp_model(self) -> Any:
        model = _MODELS.get(self)
        if model is None:
            arrays = {
                "labels": self.labels_,
                "probabilities": self.probabilities_,
                "core_distances": self.core_distances_,
                "condensed": self._condensed.view(np.int64).reshape(-1, 4),
            }
            model = _MODELS[self] = _core.hdbscan_model({**self._state, **arrays})
        return model

    def _pair(self, X: Any) -> tuple[np.ndarray, np.ndarray | None]:
        """The points of the fit and new ones, of one type."""
        check_is_fitted(self, "labels_")
        if self._raw_data is None:
            raise InvalidArgument("new points need the points of the fit, and it had distances (metric='precomputed')")
        if is_of_words(self._fitted_metric):
            points = _WORD_ROWS.get(self)
            if points is None:
                points = _WORD_ROWS[self] = words_of(self._raw_data, self._fitted_metric)
            return points, None if X is None else words_of(self._take(X, reset=False), self._fitted_metric)
        points, _ = take(self._raw_data, "X", integers=True)
        points = _rows_adjacent(points)
        if X is None:
            return points, None
        if self._needs_no_check(X, points):
            return points, _rows_adjacent(X)
        rows, _ = take(self._take(X, reset=False), "X", integers=True)
        if rows.dtype != points.dtype:
            if BF16 in (rows.dtype, points.dtype):
                raise TypeError(f"X must be of the type of the fit (dtype={rows.dtype}, fit: {points.dtype})")
            rows = rows.astype(points.dtype)
        return points, _rows_adjacent(rows)

    def _checked_rows(self, X: Any) -> np.ndarray:
        """New points whole: a block of these rows can be predicted, too."""
        rows = self._take(X, reset=False) if is_of_words(self._fitted_metric) else self._pair(X)[1]
        return np.asarray(rows)

    def _needs_no_check(self, X: Any, points: np.ndarray) -> bool:
        """Whether X is all that scikit-learn's check would make of it, which takes longer than a prediction."""
        return (
            type(X) is np.ndarray
            and X.dtype == points.dtype
            and X.dtype != BF16
            and X.ndim == 2
            and X.shape[1] == self.n_features_in_
            and len(X) > 0
            and X.flags.aligned
            and not hasattr(self, "feature_names_in_")
        )

    def _predictor(self, points: np.ndarray) -> Any:
        kept = _PREDICTORS.get(self)
        if kept is None:
            kept = _PREDICTORS[self] = _core.hdbscan_predictor(self._cpp_model(), points, self.device)
        return kept

    def _predict(self, X: Any) -> Any:
        points, rows = self._pair(X)
        with own_threads(self.n_jobs):
            if rows is not None and len(rows) < _FEW_ROWS:
                return self._predictor(points).predict(rows)
            return _core.hdbscan_predict(self._cpp_model(), points, rows, self.device)

    def _membership(self, X: Any) -> np.ndarray:
        points, rows = self._pair(X)
        with own_threads(self.n_jobs):
            if rows is not None and len(rows) < _FEW_ROWS:
                return np.asarray(self._predictor(points).membership(rows, len(self.cluster_persistence_)))
            return np.asarray(_core.hdbscan_membership(self._cpp_model(), points, rows, self.device))

    def _membership_blocks(self, X: Any, take_rows: Callable[[int, np.ndarray], Any], budget: int) -> bool:
        points, rows = self._pair(X)
        with own_threads(self.n_jobs):
            return bool(
                _core.hdbscan_membership_blocks(self._cpp_model(), points, rows, take_rows, budget, self.device)
            )

    @available_if(_has_points)
    def predict(self, X: Any) -> np.ndarray:
        """Labels ``[m]`` of new points, as :func:`quintet.hdbscan.approximate_predict` finds them."""
        return np.asarray(self._predict(X)[0])

    def generate_prediction_data(self) -> None:
        """Makes ``prediction_data_``. Predictions do not need it; programs written for hdbscan call it."""
        check_is_fitted(self, "labels_")
        if self._raw_data is None:
            raise InvalidArgument("prediction data need points, not distances (metric='precomputed')")
        self._has_prediction_data = True

    def dbscan_clustering(self, cut_distance: float, min_cluster_size: int = 5) -> np.ndarray:
        """Labels of DBSCAN* with the radius `cut_distance`: the dendrogram cut there."""
        check_is_fitted(self, "labels_")
        weights = _none_if_empty(self._state["weights"])
        return cut(
            self._linkage,
            cut_distance,
            min_cluster_size,
            sample_weight=weights,
            core_distances=self.core_distances_,
        )

    def _check_cluster(self, cluster_id: Any) -> int:
        check_is_fitted(self, "labels_")
        k = as_integer(cluster_id, "cluster_id")
        if not 0 <= k < len(self.cluster_persistence_):
            raise InvalidArgument(
                f"cluster_id must be in [0, {len(self.cluster_persistence_)}), and -1 is noise (cluster_id={k})"
            )
        if self._raw_data is None:
            raise InvalidArgument("centres need points, not distances (metric='precomputed')")
        return k

    def weighted_cluster_centroid(self, cluster_id: int) -> np.ndarray:
        """The mean ``[d]`` of the points of a cluster, weighted by their probabilities."""
        k = self._check_cluster(cluster_id)
        return np.asarray(self._centroid_rows()[k])

    def weighted_cluster_medoid(self, cluster_id: int) -> np.ndarray:
        """The point ``[d]`` of a cluster with the least sum of distances to the others, weighted by probabilities."""
        k = self._check_cluster(cluster_id)
        return np.asarray(self._rows(self._medoid_rows()[k]))

    # Trees and what follows from them.

    @property
    def condensed_tree_(self) -> CondensedTree:
        """The condensed tree."""
        check_is_fitted(self, "labels_")
        return CondensedTree(self._condensed, self.labels_, self._state["selected"])

    @property
    def single_linkage_tree_(self) -> SingleLinkageTree:
        """The dendrogram."""
        check_is_fitted(self, "labels_")
        return SingleLinkageTree(self._linkage)

    @property
    def minimum_spanning_tree_(self) -> MinimumSpanningTree:
        """The minimum spanning tree of mutual reachability; always there, whatever gen_min_span_tree says."""
        check_is_fitted(self, "labels_")
        return MinimumSpanningTree(self._spanning_tree, None if self._raw_data is None else self._rows(slice(None)))

    @property
    def persistence_trace_(self) -> np.ndarray:
        """Records min_cluster_size, persistence: what all leaf clusters persist from each size to the next."""
        check_is_fitted(self, "labels_")
        options = self._state["options"]
        steps = _core.hdbscan_persistence_trace(
            self._linkage,
            options.min_samples,
            options.ties,
            self.tie_tolerance_,
            _none_if_empty(self._state["weights"]),
            self.core_distances_,
        )
        return np.asarray(steps).view(TRACE_DTYPE).reshape(-1)

    @property
    def exemplars_(self) -> list[np.ndarray]:
        """Of every cluster the points that stay to the end."""
        check_is_fitted(self, "labels_")
        if self._raw_data is None:
            raise InvalidArgument("exemplars are points, and the fit had distances (metric='precomputed')")
        rows = self._state["exemplar_points"]
        offsets = self._state["exemplar_offsets"]
        return [np.asarray(self._rows(rows[a:b])) for a, b in zip(offsets[:-1], offsets[1:])]

    @property
    def relative_validity_(self) -> float:
        """DBCV estimated from the spanning tree, to compare parameters on one data set."""
        check_is_fitted(self, "labels_")
        weights = _none_if_empty(self._state["weights"])
        return relative_validity(
            self._spanning_tree, self.labels_, sample_weight=weights, core_distances=self.core_distances_
        )

    @property
    def prediction_data_(self) -> PredictionData:
        """With prediction_data=True or after generate_prediction_data()."""
        if not getattr(self, "_has_prediction_data", False):
            raise AttributeError("no prediction data: fit with prediction_data=True or call generate_prediction_data()")
        return PredictionData(self._rows(slice(None)), self.core_distances_, self.exemplars_)


def _rows_adjacent(array: np.ndarray) -> np.ndarray:
    row, column = array.strides
    if (column != array.itemsize and array.shape[1] > 1) or row < array.itemsize * array.shape[1] or row % array.itemsize:
        return np.ascontiguousarray(array)
    return array


