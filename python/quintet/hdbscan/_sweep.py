"""Clusterings with many parameters from one pass over the distances."""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import _core
from .._arguments import as_integer, as_number, as_points, metric_name, metric_parameter, warn_of_degrees
from .._errors import InvalidArgument
from .._options import read_options
from .._progress import Progress, progress_callable
from ._functions import (
    ClusterResult,
    SpanningTreeResult,
    _cluster_result,
    _none_if_empty,
    sample_weights,
    warn_if_unsplit,
)
from ._options import ClusterOptions, SweepOptions
from ._prediction import require_clusterer
from ._trees import _pandas

if TYPE_CHECKING:
    from ._estimator import HDBSCAN

SETTING_DTYPE = np.dtype(
    [
        ("min_samples", np.int64),
        ("min_cluster_size", np.int64),
        ("cluster_selection_epsilon", np.float64),
        ("tree", np.int64),
        ("clusters", np.int64),
        ("noise", np.int64),
        ("persistence", np.float64),
        ("relative_validity", np.float64),
        ("dbcv", np.float64),
        ("stability", np.float64),
    ]
)
TRACE_DTYPE = np.dtype([("min_cluster_size", np.int64), ("persistence", np.float64)])
LEAF_DTYPE = np.dtype([("node", np.int64), ("first", np.int64), ("last", np.int64)])
_SHARED = (
    "metric",
    "curvature",
    "alpha",
    "count_self",
    "cluster_selection_method",
    "cluster_selection_epsilon_max",
    "max_cluster_size",
    "allow_single_cluster",
    "ties",
    "tie_tolerance",
    "device",
)
_PARAMETERS = ("min_samples", "min_cluster_size", "cluster_selection_epsilon")


class Layer(NamedTuple):
    """The leaf clusters at a peak of the persistence."""

    min_cluster_size: int  #: the smallest of the peak
    persistence: float  #: of the leaves
    labels: np.ndarray  #: [n] int32; -1 for noise


def _stored_tree(tree: SpanningTreeResult) -> tuple[Any, Any, Any, Any, Any, Any]:
    return tree.edges, tree.core_distances, tree.invalid_rows, tree.excluded_rows, tree.weights, tree.neighbours


def refit_tree(tree: SpanningTreeResult, options: ClusterOptions, clamped: bool) -> ClusterResult:
    """The clustering of a spanning tree; it is that of the options."""
    found = _core.hdbscan_refit(*_stored_tree(tree), clamped, options)
    return warn_if_unsplit(_cluster_result(found), options)


def flat_tree(
    tree: SpanningTreeResult, options: ClusterOptions, clamped: bool, n_clusters: int
) -> tuple[ClusterResult, ClusterOptions]:
    """The clustering of a spanning tree in so many clusters, and the options that give it."""
    found, method, epsilon = _core.hdbscan_flat(*_stored_tree(tree), clamped, options, n_clusters)
    number = len(found["selected"])
    if number != n_clusters:
        warnings.warn(f"n_clusters={n_clusters} is out of reach of these points: the nearest is {number}", stacklevel=3)
    result = warn_if_unsplit(_cluster_result(found), options)
    return result, replace(options, cluster_selection_method=method, cluster_selection_epsilon=epsilon)


def flat(clusterer: HDBSCAN, n_clusters: int) -> HDBSCAN:
    """A copy of a fitted HDBSCAN with `n_clusters` clusters, which predicts; hdbscan's ``flat.HDBSCAN_flat``.

    The tree is that of the fit, and no distance is computed. cluster_selection_epsilon is chosen so that it has this
    number of clusters. Where "eom" has fewer, cluster_selection_method becomes "leaf". Not every number is possible:
    a split may add several clusters at once. Then a warning names the number that it has become, the largest possible
    one below, or else the smallest.

    >>> import numpy as np
    >>> from quintet import hdbscan
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 0.1, (50, 2)) for c in (0, 1, 5)])
    >>> model = hdbscan.HDBSCAN(min_cluster_size=10).fit(X)
    >>> two = hdbscan.flat(model, 2)
    >>> int(model.labels_.max()) + 1, int(two.labels_.max()) + 1
    (3, 2)
    >>> labels, probabilities = hdbscan.approximate_predict(two, [[0.5, 0.5]])
    """
    require_clusterer(clusterer)
    return copy.copy(clusterer).refit(n_clusters=n_clusters)


def persistence_steps(found: ClusterResult, min_samples: int, ties: int) -> np.ndarray:
    steps = _core.hdbscan_persistence_trace(
        found.linkage, min_samples, ties, found.tie_tolerance, _none_if_empty(found.weights), found.core_distances
    )
    return np.asarray(steps).view(TRACE_DTYPE).reshape(-1)


def persistent_leaves(found: ClusterResult, min_samples: int, ties: int) -> np.ndarray:
    leaves = _core.hdbscan_persistent_leaves(
        found.linkage, min_samples, ties, found.tie_tolerance, _none_if_empty(found.weights), found.core_distances
    )
    return np.asarray(leaves).view(LEAF_DTYPE).reshape(-1)


@dataclass
class SweepResult:
    """What :func:`sweep` found: a table of settings, and the trees from which any of them follows at once."""

    settings: np.ndarray  #: records by (min_samples, min_cluster_size, cluster_selection_epsilon), see to_pandas
    best_: int | None  #: the setting of the best score; None if no setting has two clusters
    layers_: list[Layer]  #: peaks of the persistence for min_samples of the best, the highest first
    trees: list[SpanningTreeResult]  #: by increasing k; ``settings["tree"]`` says which is whose
    options: SweepOptions  #: what all settings share
    _labels: np.ndarray | None  # [settings][n] with labels="all"
    _points: Any
    _parameters: dict[str, Any]  # of HDBSCAN, which all settings share

    @property
    def best_params_(self) -> dict[str, Any] | None:
        """Parameters of :class:`HDBSCAN` at the best setting."""
        return None if self.best_ is None else self.params(self.best_)

    def params(self, setting: int) -> dict[str, Any]:
        """Parameters of :class:`HDBSCAN` at a setting, which is a row of ``settings``."""
        row = self.settings[self._place(setting)]
        return {name: row[name].item() for name in _PARAMETERS}

    def index(
        self, min_samples: int, min_cluster_size: int, cluster_selection_epsilon: float | None = None
    ) -> int:
        """The setting of these parameters. None is the first cluster_selection_epsilon."""
        s = self.settings
        is_it = (s["min_samples"] == min_samples) & (s["min_cluster_size"] == min_cluster_size)
        if cluster_selection_epsilon is not None:
            is_it &= s["cluster_selection_epsilon"] == cluster_selection_epsilon
        if not is_it.any():
            raise InvalidArgument(
                f"the sweep has no setting of min_samples={min_samples}, min_cluster_size={min_cluster_size}, "
                f"cluster_selection_epsilon={cluster_selection_epsilon}"
            )
        return int(np.flatnonzero(is_it)[0])

    def labels(
        self,
        setting: int | None = None,
        *,
        min_samples: int | None = None,
        min_cluster_size: int | None = None,
        cluster_selection_epsilon: float | None = None,
    ) -> np.ndarray:
        """Labels ``[n]`` at a setting, given by its row or by its parameters; without any, at the best."""
        if min_samples is not None or min_cluster_size is not None:
            if setting is not None or min_samples is None or min_cluster_size is None:
                raise InvalidArgument("labels needs a setting, or both min_samples and min_cluster_size")
            setting = self.index(min_samples, min_cluster_size, cluster_selection_epsilon)
        setting = self._place(self._best() if setting is None else setting)
        if self._labels is not None:
            return np.asarray(self._labels[setting])
        return self.result(setting).labels.astype(np.int32)

    def result(self, setting: int | None = None) -> ClusterResult:
        """What :func:`cluster` returns at a setting (None: the best); no distance is computed."""
        setting = self._place(self._best() if setting is None else setting)
        options = self._options_at(setting)
        tree = self.trees[self.settings[setting]["tree"]]
        return refit_tree(tree, options, options.min_samples - options.count_self > tree.neighbours)

    def model(self, setting: int | None = None) -> HDBSCAN:
        """The fitted :class:`HDBSCAN` at a setting (None: the best), which predicts; no distance is computed."""
        from . import HDBSCAN

        setting = self._place(self._best() if setting is None else setting)
        model = HDBSCAN(**self._parameters, **self.params(setting))
        return model._adopt(self._points, self._options_at(setting), self.result(setting))

    def persistence_trace(self, min_samples: int) -> np.ndarray:
        """Steps min_cluster_size, persistence: what all leaf clusters persist, from each size to the next."""
        return persistence_steps(self._result_of(min_samples), min_samples, self.options.ties)

    def to_pandas(self) -> Any:
        """The settings as a table."""
        return _pandas().DataFrame(self.settings)

    def plot(self, measure: str | None = None, axes: Any = None) -> Any:
        """Three maps over min_samples and min_cluster_size: clusters, noise, and a measure. The best has a mark.

        Parameters
        ----------
        measure : {"persistence", "relative_validity", "dbcv"}, default the score of the sweep
            The third map.
        axes : three axes of matplotlib, default new ones
            Where it is drawn.

        Returns
        -------
        ndarray of three axes
            Those of the maps.
        """
        from ._plots import draw_sweep

        return draw_sweep(self, measure, axes)

    def plot_layers(self, axes: Any = None, max_leaves: int = 200) -> Any:
        """The persistence over min_cluster_size, and the leaf clusters as bars, for min_samples of the best.

        Parameters
        ----------
        axes : two axes of matplotlib, default new ones
            Where it is drawn.
        max_leaves : int, default 200
            Bars, the most persistent leaves first.

        Returns
        -------
        ndarray of two axes
            Those of the persistence and of the leaves.
        """
        from ._plots import draw_layers

        return draw_layers(self, axes, max_leaves)

    def _best(self) -> int:
        if self.best_ is None:
            raise InvalidArgument("no setting of the sweep has two clusters: name one")
        return self.best_

    def _place(self, setting: int) -> int:
        place = as_integer(setting, "setting")
        if not 0 <= place < len(self.settings):
            raise InvalidArgument(f"setting must be in [0, {len(self.settings)}) (setting={place})")
        return place

    def _options_at(self, setting: int) -> ClusterOptions:
        shared = {name: value for name, value in vars(self.options).items() if name in ClusterOptions.__dataclass_fields__}
        return ClusterOptions(**{**shared, **self.params(setting), "tie_tolerance": self._tolerance()})

    def _tolerance(self) -> float:
        return self.trees[0].tie_tolerance if self.options.tie_tolerance is None else self.options.tie_tolerance

    def _result_of(self, min_samples: int) -> ClusterResult:
        of_it = self.settings[self.settings["min_samples"] == min_samples]
        if not len(of_it):
            raise InvalidArgument(f"the sweep has no min_samples={min_samples}")
        options = replace(self._options_at(0), min_samples=min_samples)
        return refit_tree(self.trees[of_it["tree"][0]], options, False)


def _values(values: Any, name: str, kind: Any) -> np.ndarray:
    """A number or several, sorted by the library."""
    if isinstance(values, (str, bytes)):
        raise TypeError(f"{name} must be numbers ({name}={values!r})")
    listed = values if np.iterable(values) else [values]
    dtype = np.int64 if kind is as_integer else np.float64
    return np.array([kind(value, name) for value in listed], dtype=dtype)


def sweep(
    X: Any,
    min_samples: Any = range(2, 51),
    min_cluster_size: Any = None,
    cluster_selection_epsilon: Any = (0.0,),
    *,
    score: str = "persistence",
    labels: str = "best",
    dbcv_all: bool = False,
    max_layers: int = 10,
    metric: str = "euclidean",
    curvature: float = -1.0,
    p: float = 2.0,
    unit: str = "radians",
    sphere_radius: float = 1.0,
    alpha: float = 1.0,
    count_self: bool = False,
    cluster_selection_method: str = "eom",
    cluster_selection_epsilon_max: float = float("inf"),
    max_cluster_size: int = 0,
    allow_single_cluster: bool = False,
    ties: str = "canonical",
    tie_tolerance: float | None = None,
    sample_weight: Any = None,
    progress: bool | Progress | None = None,
    device: str = "auto",
) -> SweepResult:
    """HDBSCAN* of the rows of ``X[n, d]`` with all combinations of min_samples, min_cluster_size and
    cluster_selection_epsilon.

    Labels and figures of every setting are those of :func:`cluster`, bit for bit. Distances are computed once: the trees
    of all min_samples lie among the neighbours and the tree of the largest. A tree gives the clusters of every size.

    Parameters
    ----------
    X : array of shape (n, d)
        Points.
    min_samples : int or iterable of int, default range(2, 51)
        Values >= 1.
    min_cluster_size : int or iterable of int, default None
        Values >= 2; None: every size at which the clusters of a tree change.
    cluster_selection_epsilon : float or iterable of float, default (0,)
        Values >= 0.
    score : {"persistence", "relative_validity", "dbcv"}, default "persistence"
        What is largest in the best setting: the total persistence of leaf clusters over min_cluster_size (PLSCAN), the
        validity from the spanning tree, or DBCV of the 16 settings of the largest relative validity. Settings of fewer
        than two clusters never are the best.
    labels : {"best", "all"}, default "best"
        "all" keeps the labels of every setting; otherwise they are made when they are asked for.
    dbcv_all : bool, default False
        DBCV of every setting.
    max_layers : int, default 10
        At most so many layers.
    metric : str, default "euclidean"
        As in :class:`HDBSCAN`, but for "precomputed".
    curvature : float, default -1
        Of "poincare" and "lorentz".
    p : float, default 2
        Of "minkowski".
    unit : {"radians", "degrees"}, default "radians"
        Of "haversine".
    sphere_radius : float, default 1
        Of "haversine".
    alpha : float, default 1
        Divides distances, but not core distances.
    count_self : bool, default False
        min_samples counts the point itself.
    cluster_selection_method : {"eom", "leaf"}, default "eom"
        As in :class:`HDBSCAN`.
    cluster_selection_epsilon_max : float, default infinity
        As in :class:`HDBSCAN`.
    max_cluster_size : int, default 0
        As in :class:`HDBSCAN`.
    allow_single_cluster : bool, default False
        As in :class:`HDBSCAN`.
    ties : {"canonical", "binary"}, default "canonical"
        As in :class:`HDBSCAN`.
    tie_tolerance : float, default None
        As in :class:`HDBSCAN`.
    sample_weight : array of shape (n,), default None
        As in ``HDBSCAN.fit``.
    progress : bool or callable, default None
        As in :class:`HDBSCAN`.
    device : str, default "auto"
        As in :class:`HDBSCAN`.

    Returns
    -------
    SweepResult
        The table of settings, the best of them, and models.

    Examples
    --------
    >>> import numpy as np
    >>> from quintet import hdbscan
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 0.1, (50, 2)) for c in (0, 3)])
    >>> found = hdbscan.sweep(X, min_samples=(3, 5, 10), min_cluster_size=(5, 10, 20))
    >>> len(found.settings), int(found.settings["clusters"][found.best_])
    (9, 2)
    """
    arguments = locals()
    if metric == "precomputed":
        raise InvalidArgument("sweep needs points (metric='precomputed'): HDBSCAN.refit tries sizes on distances")
    kind = metric_name(metric, unit=unit)
    parameter = metric_parameter(kind, curvature, p, sphere_radius, X)
    options = read_options(SweepOptions, arguments, metric=kind, parameter=parameter)
    points = as_points(X, metric=kind)[0]
    warn_of_degrees(points, kind)
    found = _core.hdbscan_sweep(
        points,
        _values(min_samples, "min_samples", as_integer),
        _values(() if min_cluster_size is None else min_cluster_size, "min_cluster_size", as_integer),
        _values(cluster_selection_epsilon, "cluster_selection_epsilon", as_number),
        options,
        sample_weights(sample_weight, len(points)),
        progress_callable(progress),
        device,
    )
    settings = np.asarray(found["settings"]).view(SETTING_DTYPE).reshape(-1)
    return SweepResult(
        settings=settings,
        best_=found["best"] if found["best"] >= 0 else None,
        layers_=[Layer(*layer) for layer in found["layers"]],
        trees=[SpanningTreeResult(**tree) for tree in found["trees"]],
        options=options,
        _labels=np.asarray(found["labels"]).reshape(len(settings), found["points"]) if options.labels else None,
        _points=X,
        _parameters={
            **{name: arguments[name] for name in _SHARED},
            **({"p": p} if kind == "minkowski" else {}),
            **({"metric_params": {"unit": unit, "sphere_radius": sphere_radius}} if metric == "haversine" else {}),
        },
    )
