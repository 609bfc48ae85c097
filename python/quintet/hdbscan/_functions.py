"""The functions of the package."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._arguments import as_integer, as_number, as_points, is_of_bits, metric_name, metric_parameter, warn_of_degrees
from .._arrays import F32, F64, REAL, accumulator, same_type, take_rows, take_vector
from .._errors import InvalidArgument
from .._options import read_options
from .._progress import Progress, progress_callable
from ._options import ClusterOptions, SpanningTreeOptions, TreeOptions
from ._trees import (
    CONDENSED_DTYPE,
    CondensedTree,
    MinimumSpanningTree,
    SingleLinkageTree,
    linkage_rows,
    numeric_rows,
)


def refuse_vector(X: Any, name: str = "X") -> None:
    if np.ndim(X) == 1:
        raise InvalidArgument(
            f"{name} must be a matrix [n, n]: scipy.spatial.distance.squareform makes one of what pdist returns"
        )


def _distances(X: Any, name: str = "X") -> np.ndarray:
    refuse_vector(X, name)
    array, _ = take_rows(X, name, (*REAL, np.dtype(np.float16)), integers=True)
    return array.astype(np.float32) if array.dtype == np.float16 else array


class _Graph(NamedTuple):
    points: int
    row_begin: np.ndarray
    columns: np.ndarray
    values: np.ndarray


def _is_sparse(X: Any) -> bool:
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def _graph(X: Any, name: str = "X") -> _Graph:
    """A sparse matrix as a graph. X stays as it is."""
    csr = X.tocsr()
    if csr.shape[0] != csr.shape[1]:
        raise InvalidArgument(f"{name} must be square, the distances of all points (shape={csr.shape})")
    values = np.asarray(csr.data)
    if values.dtype.kind in "iub" or values.dtype == np.float16:
        values = values.astype(np.float64)
    if values.dtype not in REAL:
        raise TypeError(f"{name} must be of type float32 or float64 (dtype={values.dtype})")
    # Copies: the library follows them without the GIL, while another thread may change the caller's.
    begin = np.asarray(csr.indptr).astype(np.int64)
    columns = np.asarray(csr.indices).astype(np.int64)
    return _Graph(csr.shape[0], begin, np.ascontiguousarray(columns), np.ascontiguousarray(values))


def _labels(labels: Any, name: str = "labels") -> np.ndarray:
    array = np.asarray(labels)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be integers (dtype={array.dtype})")
    if array.ndim != 1:
        raise InvalidArgument(f"{name} must have 1 dimension (shape={array.shape})")
    return np.ascontiguousarray(array, dtype=np.int64)


def sample_weights(sample_weight: Any, rows: int) -> np.ndarray | None:
    """How often each row counts; None: once."""
    if sample_weight is None:
        return None
    weights = take_vector(sample_weight, "sample_weight", (F64, F32), integers=True)[0].astype(F64)
    if len(weights) != rows:
        raise InvalidArgument(f"sample_weight must have one value for each of the {rows} rows (shape={weights.shape})")
    wrong = np.flatnonzero(~((weights >= 0) & np.isfinite(weights)))
    if len(wrong):
        raise InvalidArgument(
            f"sample_weight must be >= 0 and finite (sample_weight[{wrong[0]}]={weights[wrong[0]]})"
        )
    return weights


def _none_if_empty(values: np.ndarray) -> np.ndarray | None:
    return values if len(values) else None


# Records of the bindings, and the layouts of SciPy and hdbscan.


def _edges(edges: Any, name: str = "edges") -> np.ndarray:
    return numeric_rows(edges._mst if isinstance(edges, MinimumSpanningTree) else edges, name, 3, "(m, 3): u, v, weight")


def _condensed(patterns: np.ndarray) -> np.ndarray:
    return patterns.view(CONDENSED_DTYPE).reshape(-1)


def _condensed_patterns(tree: Any, name: str = "condensed") -> np.ndarray:
    if isinstance(tree, CondensedTree):
        tree = tree._raw_tree
    array = np.asarray(tree)
    if array.dtype.names != CONDENSED_DTYPE.names:
        raise TypeError(f"{name} must have the fields {', '.join(CONDENSED_DTYPE.names or ())} (dtype={array.dtype})")
    return np.ascontiguousarray(array.astype(CONDENSED_DTYPE, copy=False)).view(np.int64).reshape(-1, 4)


# Results.


class SpanningTreeResult(NamedTuple):
    """What :func:`spanning_tree` found."""

    edges: np.ndarray  #: [m - 1, 3] float64: u < v and the weight, by (weight, u, v)
    core_distances: np.ndarray  #: [n] float64; NaN for rows left out
    neighbours: int  #: the k that was used
    clamped: bool  #: min_samples was larger than the points allow
    tie_tolerance: float  #: what rounding may do to equal weights, for :func:`cluster_tree` and :func:`condense`
    invalid_rows: np.ndarray  #: rows with NaN or infinity
    counters: dict[str, Any]  #: rounds, tiles, tiles_scanned, pairs_evaluated, passes
    ran_on: tuple[str, ...]  #: devices of the stages
    seconds: tuple[float, ...]  #: of neighbours and of the rounds
    weights: np.ndarray = np.empty(0)  #: [n] float64, the sample_weight; empty: 1 each
    excluded_rows: np.ndarray = np.empty(0, np.int64)  #: rows of weight 0

    @property
    def tree(self) -> MinimumSpanningTree:
        """The edges with their table, graph and picture."""
        return MinimumSpanningTree(self.edges, None)


@dataclass
class ClusterResult:
    """What :func:`cluster` and :func:`cluster_tree` found. Arrays; K is the number of clusters."""

    labels: np.ndarray  #: [n] int64: 0 ... K - 1, -1 for noise
    probabilities: np.ndarray  #: [n]: membership in [0, 1]
    outlier_scores: np.ndarray  #: [n]: GLOSH in [0, 1]
    persistence: np.ndarray  #: [K]
    selected: np.ndarray  #: [K]: ids of the clusters in the condensed tree
    exemplar_offsets: np.ndarray  #: [K + 1]
    exemplar_points: np.ndarray  #: rows of the points that stay to the end, by label
    condensed: np.ndarray  #: rows parent, child, lambda_val, child_size
    condensed_clusters: int  #: clusters of the condensed tree
    linkage: np.ndarray  #: [n - 1, 4]
    components: int  #: connected components; more than 1: merges at infinity
    tie_tolerance: float  #: that was used
    core_distances: np.ndarray = field(default_factory=lambda: np.empty(0))  #: [n]
    spanning_tree: np.ndarray = field(default_factory=lambda: np.empty((0, 3)))  #: [m - 1, 3]
    neighbours: int = 0  #: the k that was used
    clamped: bool = False  #: min_samples was larger than the points allow
    invalid_rows: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))  #: rows left out
    excluded_rows: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))  #: rows of weight 0
    weights: np.ndarray = field(default_factory=lambda: np.empty(0))  #: [n], the sample_weight; empty: 1 each
    counters: dict[str, Any] = field(default_factory=dict)  #: work of the spanning tree
    ran_on: tuple[str, ...] = ()  #: devices of the stages
    seconds: tuple[float, ...] = ()  #: of neighbours, spanning tree, tree stage
    min_cluster_size: int = 0  #: the size that was used, also of "auto"; 0 from :func:`cluster_tree`
    min_samples: int = 0  #: likewise; k is no larger than the points allow

    @property
    def condensed_tree(self) -> CondensedTree:
        """The condensed tree with its table, graph and picture."""
        return CondensedTree(self.condensed, self.labels, self.selected)

    @property
    def single_linkage_tree(self) -> SingleLinkageTree:
        """The dendrogram."""
        return SingleLinkageTree(self.linkage)

    @property
    def minimum_spanning_tree(self) -> MinimumSpanningTree:
        """The minimum spanning tree."""
        return MinimumSpanningTree(self.spanning_tree, None)

    @property
    def exemplars(self) -> list[np.ndarray]:
        """Rows of the exemplars of every cluster."""
        return np.split(self.exemplar_points, self.exemplar_offsets[1:-1]) if len(self.selected) else []


def warn_if_unsplit(found: ClusterResult, options: ClusterOptions) -> ClusterResult:
    """A hierarchy without any split has no persistent size."""
    if options.min_cluster_size == _core.HDBSCAN_AUTOMATIC_SIZE and found.labels.size:
        steps: Any = _core.hdbscan_persistence_trace(
            found.linkage,
            found.min_samples,
            options.ties,
            found.tie_tolerance,
            _none_if_empty(found.weights),
            found.core_distances,
        )
        if not len(steps):
            warnings.warn(
                f"min_cluster_size='auto': no group of more than min_samples={found.min_samples} points splits off; "
                f"{found.min_cluster_size} is used",
                stacklevel=4,
            )
    return found


def _cluster_result(found: dict[str, Any]) -> ClusterResult:
    found["condensed"] = _condensed(found["condensed"])
    return ClusterResult(**found)


class ValidityResult(NamedTuple):
    """Validity of a clustering and of its clusters."""

    index: float  # type: ignore[assignment]  #: DBCV, in [-1, 1]
    cluster_validity: np.ndarray  #: [K]
    sparseness: np.ndarray  #: [K]
    separation: np.ndarray  #: [K]


class TreeSummary(NamedTuple):
    """Columns over the clusters of a condensed tree (0 is the root) and over its points; lambda = 1 / distance."""

    parent: np.ndarray  #: -1 for the root
    size: np.ndarray  #: points at birth
    first_child: np.ndarray  #: children follow one another
    children: np.ndarray  #: how many
    birth: np.ndarray  #: lambda
    death: np.ndarray  #: largest lambda of the own rows
    deepest: np.ndarray  #: the same with descendants
    stability: np.ndarray  #: sum of (lambda - birth) * size
    point_cluster: np.ndarray  #: the cluster that a point leaves
    point_lambda: np.ndarray  #: where
    outlier_scores: np.ndarray  #: GLOSH of every point


class PointLabels(NamedTuple):
    """The flat clustering of selected clusters."""

    labels: np.ndarray  #: of every point; -1 is noise
    probabilities: np.ndarray  #: of every point, in [0, 1]; 0 for noise
    persistence: np.ndarray  #: of every label
    exemplars: list[np.ndarray]  #: of every label: points


# Functions.


def cluster(
    X: Any,
    min_cluster_size: int | str = 5,
    min_samples: int | None = None,
    *,
    metric: str = "euclidean",
    curvature: float = -1.0,
    p: float = 2.0,
    unit: str = "radians",
    sphere_radius: float = 1.0,
    alpha: float = 1.0,
    count_self: bool = False,
    cluster_selection_method: str = "eom",
    cluster_selection_epsilon: float = 0.0,
    cluster_selection_epsilon_max: float = float("inf"),
    max_cluster_size: int = 0,
    allow_single_cluster: bool = False,
    ties: str = "canonical",
    tie_tolerance: float | None = None,
    sample_weight: Any = None,
    progress: bool | Progress | None = None,
    device: str = "auto",
) -> ClusterResult:
    """HDBSCAN* of the rows of ``X[n, d]``, as arrays: what :class:`HDBSCAN` calls.

    ``metric="precomputed"`` takes distances: ``X[n, n]`` dense, symmetric (up to rounding), infinity = not connected, or a SciPy sparse
    matrix, where only stored entries are edges. X is never written to. ``min_samples=None`` is min_cluster_size.
    ``min_cluster_size="auto"`` is the most persistent size (PLSCAN); min_samples is 5 then unless set.
    ``tie_tolerance=None`` is (d / 2 + 68) eps of the type of X, at most 1/1024: what rounding does to equal distances
    (distances from elsewhere count as d = 0); 0 of rows of bits. ``sample_weight[n]`` >= 0 says how often each row counts, as if it were
    repeated; rows of weight 0 are left out. Sizes are sums of weights then, but those in trees count rows.

    >>> import numpy as np
    >>> from quintet import hdbscan
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 0.1, (50, 2)) for c in (0, 3)])
    >>> result = hdbscan.cluster(X, min_cluster_size=10)
    >>> int(result.labels.max()) + 1, result.linkage.shape
    (2, (99, 4))
    """
    arguments = locals()
    kind = metric_name(metric, precomputed=True, unit=unit)
    parameter = metric_parameter(kind, curvature, p, sphere_radius, X)
    options = read_options(ClusterOptions, arguments, metric=kind, parameter=parameter)
    return _fit(X, kind, options, sample_weight, progress, device)


def _refuse_weights(sample_weight: Any) -> None:
    if sample_weight is not None:
        raise InvalidArgument("sample_weight needs points, and X holds distances (metric='precomputed')")


def _fit(
    X: Any,
    metric: str,
    options: ClusterOptions,
    sample_weight: Any,
    progress: bool | Progress | None,
    device: str,
) -> ClusterResult:
    if metric == "precomputed":
        _refuse_weights(sample_weight)
    if metric != "precomputed":
        points = as_points(X, metric=metric)[0]
        warn_of_degrees(points, metric)
        weights = sample_weights(sample_weight, len(points))
        found = _core.hdbscan_fit(points, options, weights, progress_callable(progress), device)
    elif _is_sparse(X):
        found = _core.hdbscan_fit_graph(*_graph(X), options)
    else:
        found = _core.hdbscan_fit_distances(_distances(X), options, device)
    return warn_if_unsplit(_cluster_result(found), options)


def core_distances(
    X: Any,
    min_samples: int = 5,
    *,
    metric: str = "euclidean",
    curvature: float = -1.0,
    p: float = 2.0,
    unit: str = "radians",
    sphere_radius: float = 1.0,
    count_self: bool = False,
    sample_weight: Any = None,
    device: str = "auto",
) -> Any:
    """Distance of every row of ``X[n, d]`` to its min_samples-th nearest other row, ``[n]``.

    k = min_samples (one less with count_self, as scikit-learn counts), at most the number of other points. NaN for rows
    with NaN or infinity. ``metric="precomputed"``: X holds distances ``[n, n]``. float32 for all types but float64;
    ``metric="lorentz"`` makes points float64.
    With ``sample_weight[n]`` it is the smallest radius within which weights sum to k + 1, that of the row with them.

    >>> from quintet import hdbscan
    >>> hdbscan.core_distances([[0.0], [1.0], [3.0]], 1)
    array([1., 1., 2.])
    """
    kind = metric_name(metric, precomputed=True, unit=unit)
    k = as_integer(min_samples, "min_samples")
    if kind == "precomputed":
        _refuse_weights(sample_weight)
        return _core.hdbscan_core_distances_of(_distances(X), k, bool(count_self), device)[0]
    points, like = as_points(X, metric=metric)
    parameter = metric_parameter(kind, curvature, p, sphere_radius, X)
    weights = sample_weights(sample_weight, len(points))
    found = _core.hdbscan_core_distances(points, k, bool(count_self), kind, parameter, weights, device)
    return like(found[0])


def _core_vector(core: Any, points: np.ndarray) -> np.ndarray | None:
    if core is None:
        return None
    vector, _ = take_vector(core, "core", REAL, integers=True)
    wanted = accumulator(points)
    if vector.dtype != wanted:
        raise TypeError(f"core must be of type {wanted} for these points (dtype={vector.dtype})")
    return vector


def mutual_reachability(
    X: Any,
    *,
    core: Any = None,
    pairs: Any = None,
    out: np.ndarray | None = None,
    min_samples: int = 5,
    alpha: float = 1.0,
    core_on_diagonal: bool = False,
    count_self: bool = False,
    metric: str = "euclidean",
    curvature: float = -1.0,
    p: float = 2.0,
    unit: str = "radians",
    sphere_radius: float = 1.0,
    device: str = "auto",
) -> Any:
    """Mutual reachability ``max(c_i, c_j, d_ij / alpha)`` of the rows of ``X[n, d]``: ``[n, n]``, or of ``pairs[p, 2]``
    of rows: ``[p]``.

    ``core[n]`` are the core distances; None computes them with min_samples and count_self. ``out[n, n]`` is written to
    and returned. The diagonal is 0, or the core distances with core_on_diagonal.

    >>> from quintet import hdbscan
    >>> hdbscan.mutual_reachability([[0.0], [1.0], [3.0]], min_samples=1)
    array([[0., 1., 3.],
           [1., 0., 2.],
           [3., 2., 0.]])
    """
    kind = metric_name(metric, unit=unit)
    points, like = as_points(X, metric=metric)
    parameter, scale = metric_parameter(kind, curvature, p, sphere_radius, X), as_number(alpha, "alpha")
    if pairs is not None:
        if out is not None:
            raise InvalidArgument("out is for the whole matrix, not for pairs")
        if core is None:
            core = _core.hdbscan_core_distances(
                points, as_integer(min_samples, "min_samples"), bool(count_self), kind, parameter, None, device
            )[0]
        rows = np.asarray(pairs)
        if rows.dtype.kind not in "iu" or rows.ndim != 2 or rows.shape[1] != 2:
            raise InvalidArgument(f"pairs must be integers [p, 2] (shape={rows.shape}, dtype={rows.dtype})")
        rows = np.ascontiguousarray(rows, dtype=np.int64)
        found = _core.hdbscan_mutual_reachability_pairs(
            points, _core_vector(core, points), rows, scale, bool(core_on_diagonal), kind, parameter, device
        )
        return like(np.asarray(found))
    matrix = _out(out, (len(points), len(points)), accumulator(points))
    if core is None:
        _core.hdbscan_core_and_reachability(
            [points],
            [matrix],
            as_integer(min_samples, "min_samples"),
            bool(count_self),
            scale,
            bool(core_on_diagonal),
            kind,
            parameter,
            device,
        )
    else:
        _core.hdbscan_mutual_reachability(
            points, _core_vector(core, points), matrix, scale, bool(core_on_diagonal), kind, parameter, device
        )
    return matrix if out is not None else like(matrix)


def _out(out: np.ndarray | None, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    if out is None:
        return np.empty(shape, dtype)
    if not isinstance(out, np.ndarray) or out.dtype != dtype:
        raise TypeError(f"out must be a NumPy array of type {dtype} (dtype={getattr(out, 'dtype', type(out))})")
    if out.shape != shape:
        raise InvalidArgument(f"out must have the shape {shape} (shape={out.shape})")
    if not out.flags.writeable:
        raise InvalidArgument("out must be writable")
    row, column = out.strides
    if (column != out.itemsize and shape[1] > 1) or (row < out.itemsize * shape[1] and shape[0] > 1):
        raise InvalidArgument(f"the elements of a row of out must be adjacent (strides={out.strides})")
    return out


def mutual_reachability_blocks(
    X: Any,
    take: Callable[[int, np.ndarray], Any],
    *,
    budget_bytes: int = 256 << 20,
    core: Any = None,
    min_samples: int = 5,
    alpha: float = 1.0,
    core_on_diagonal: bool = False,
    count_self: bool = False,
    metric: str = "euclidean",
    curvature: float = -1.0,
    p: float = 2.0,
    unit: str = "radians",
    sphere_radius: float = 1.0,
    device: str = "auto",
) -> bool:
    """The matrix of :func:`mutual_reachability` by blocks of rows: ``take(first_row, rows)`` for each, in order.

    Nothing n x n is held: a block has as many rows as budget_bytes allow, at least 96. Returning False from `take`
    stops, and then so does this function's result.

    >>> import numpy as np
    >>> from quintet import hdbscan
    >>> sums = []
    >>> hdbscan.mutual_reachability_blocks(np.eye(3), lambda first, rows: sums.append(rows.sum()), min_samples=1)
    True
    """
    kind = metric_name(metric, unit=unit)
    points, _ = as_points(X, metric=metric)
    parameter = metric_parameter(kind, curvature, p, sphere_radius, X)
    if core is None:
        core = _core.hdbscan_core_distances(
            points, as_integer(min_samples, "min_samples"), bool(count_self), kind, parameter, None, device
        )[0]
    if not callable(take):
        raise TypeError(f"take must be callable (take={take!r})")
    return bool(
        _core.hdbscan_mutual_reachability_blocks(
            points,
            _core_vector(core, points),
            take,
            as_integer(budget_bytes, "budget_bytes"),
            as_number(alpha, "alpha"),
            bool(core_on_diagonal),
            kind,
            parameter,
            device,
        )
    )


def core_and_reachability(
    X: Any,
    min_samples: int = 5,
    *,
    alpha: float = 1.0,
    core_on_diagonal: bool = False,
    count_self: bool = False,
    metric: str = "euclidean",
    curvature: float = -1.0,
    p: float = 2.0,
    unit: str = "radians",
    sphere_radius: float = 1.0,
    device: str = "auto",
) -> Any:
    """Core distances and the matrix of mutual reachability in one pass over the pairs: ``(core, matrix)``.

    For a list of point sets of one type, a list of such pairs; small sets run side by side, one per thread.

    >>> from quintet import hdbscan
    >>> core, matrix = hdbscan.core_and_reachability([[0.0], [1.0], [3.0]], 1)
    >>> core
    array([1., 1., 2.])
    """
    kind = metric_name(metric, unit=unit)
    is_list = isinstance(X, (list, tuple)) and len(X) > 0 and getattr(X[0], "ndim", np.ndim(X[0])) == 2
    given = [as_points(one, f"X[{i}]", metric) for i, one in enumerate(X)] if is_list else [as_points(X, metric=metric)]
    for i, (points, _) in enumerate(given):
        same_type(given[0][0], points, "X[0]", f"X[{i}]")
    matrices = [np.empty((len(points), len(points)), accumulator(points)) for points, _ in given]
    found = _core.hdbscan_core_and_reachability(
        [points for points, _ in given],
        matrices,
        as_integer(min_samples, "min_samples"),
        bool(count_self),
        as_number(alpha, "alpha"),
        bool(core_on_diagonal),
        kind,
        metric_parameter(kind, curvature, p, sphere_radius, X[0] if is_list else X),
        device,
    )
    results = [(like(one[0]), like(matrix)) for (_, like), one, matrix in zip(given, found, matrices)]
    return results if is_list else results[0]


def spanning_tree(
    X: Any,
    min_samples: int = 5,
    *,
    metric: str = "euclidean",
    curvature: float = -1.0,
    p: float = 2.0,
    unit: str = "radians",
    sphere_radius: float = 1.0,
    alpha: float = 1.0,
    count_self: bool = False,
    sample_weight: Any = None,
    progress: bool | Progress | None = None,
    device: str = "auto",
) -> SpanningTreeResult:
    """The minimum spanning tree of mutual reachability: unique, exact, without the matrix.

    ``metric="precomputed"`` takes distances as :func:`cluster` does; the result is a forest where infinity separates.
    ``sample_weight[n]`` is that of :func:`core_distances`; the tree is one of rows of weight > 0.

    >>> from quintet import hdbscan
    >>> hdbscan.spanning_tree([[0.0], [1.0], [3.0]], 1).edges
    array([[0., 1., 1.],
           [1., 2., 2.]])
    """
    arguments = locals()
    kind = metric_name(metric, precomputed=True, unit=unit)
    parameter = metric_parameter(kind, curvature, p, sphere_radius, X)
    options = read_options(SpanningTreeOptions, arguments, metric=kind, parameter=parameter)
    if kind == "precomputed":
        _refuse_weights(sample_weight)
    if kind != "precomputed":
        points = as_points(X, metric=metric)[0]
        weights = sample_weights(sample_weight, len(points))
        found = _core.hdbscan_spanning_tree(points, options, weights, progress_callable(progress), device)
    elif _is_sparse(X):
        found = _core.hdbscan_spanning_tree_of_graph(*_graph(X), options)
    else:
        found = _core.hdbscan_spanning_tree_of_distances(_distances(X), options, device)
    return SpanningTreeResult(**found)


def single_linkage(edges: Any, n: int) -> np.ndarray:
    """The dendrogram ``[n - 1, 4]`` of n points joined by ``edges[m, 3]`` (u, v, weight): SciPy's Z.

    Edges may come in any order and close cycles. What they leave apart is joined at infinity.

    >>> from quintet import hdbscan
    >>> hdbscan.single_linkage([[0, 1, 1.0], [1, 2, 2.0]], 3)
    array([[0., 1., 1., 2.],
           [3., 2., 2., 3.]])
    """
    return np.asarray(_core.hdbscan_single_linkage(_edges(edges), as_integer(n, "n")))


def cluster_tree(
    tree: Any,
    n: int | None = None,
    min_cluster_size: int = 5,
    *,
    cluster_selection_method: str = "eom",
    cluster_selection_epsilon: float = 0.0,
    cluster_selection_epsilon_max: float = float("inf"),
    max_cluster_size: int = 0,
    allow_single_cluster: bool = False,
    ties: str = "canonical",
    tie_tolerance: float | None = None,
) -> ClusterResult:
    """Clusters of ``n`` points from edges ``[m, 3]`` of their spanning tree, or from a dendrogram ``[n - 1, 4]``.

    O(n log n) on the host. The dendrogram may be another program's, SciPy's for instance; n is not needed then.
    ``tie_tolerance=None`` is 68 eps of float64; :class:`SpanningTreeResult` has that of points.

    >>> from quintet import hdbscan
    >>> hdbscan.cluster_tree([[0, 1, 1.0], [2, 3, 1.0], [1, 2, 9.0]], 4, 2).labels
    array([0, 0, 1, 1])
    """
    arguments = locals()
    options = read_options(TreeOptions, arguments)
    shape = np.shape(tree._linkage if isinstance(tree, SingleLinkageTree) else getattr(tree, "_mst", tree))
    if len(shape) == 2 and shape[1] == 4:
        rows = linkage_rows(tree, "tree")
        if n is not None and n != len(rows) + 1:
            raise InvalidArgument(f"n must be the number of rows of the dendrogram + 1, {len(rows) + 1} (n={n})")
        return _cluster_result(_core.hdbscan_cluster_linkage(rows, options))
    if n is None:
        raise TypeError("n, the number of points, must be given with edges")
    return _cluster_result(_core.hdbscan_cluster_tree(_edges(tree, "tree"), as_integer(n, "n"), options))


def assign_noise(edges: Any, labels: Any) -> np.ndarray:
    """Labels ``[n]`` with one for noise too: of the cluster that a point reaches first along the spanning tree.

    ``edges[m, 3]`` are those of the clustering (``spanning_tree``, ``minimum_spanning_tree_``). What no edge joins to a
    cluster stays -1. By soft membership instead: ``all_points_membership_vectors(model).argmax(1)``.

    >>> from quintet import hdbscan
    >>> hdbscan.assign_noise([[0, 1, 1.0], [1, 2, 5.0], [2, 3, 7.0]], [0, 0, -1, 1])
    array([0, 0, 0, 1])
    """
    return np.asarray(_core.hdbscan_assign_noise(_edges(edges), _labels(labels)))


def condense(
    linkage: Any, min_cluster_size: int = 5, *, ties: str = "canonical", tie_tolerance: float | None = None
) -> np.ndarray:
    """The condensed tree of a dendrogram ``[n - 1, 4]``: rows parent, child, lambda_val, child_size.

    ``tie_tolerance`` as for :func:`cluster_tree`.

    >>> from quintet import hdbscan
    >>> hdbscan.condense([[0, 1, 1.0, 2], [2, 3, 1.0, 2], [4, 5, 9.0, 4]], 2)["child_size"].tolist()
    [2, 2, 1, 1, 1, 1]
    """
    arguments = locals()
    options = read_options(TreeOptions, arguments)
    return _condensed(_core.hdbscan_condense(linkage_rows(linkage), options)[0])


def _tree_sizes(patterns: np.ndarray, n: int | None) -> tuple[int, int]:
    rows = _condensed(patterns)
    points = as_integer(n, "n") if n is not None else int(rows["parent"].min(initial=np.iinfo(np.int64).max))
    if not len(rows):
        points = 0 if n is None else points
        return points, min(points, 1)
    return points, min(int(max(rows["parent"].max(), rows["child"].max())) - points + 1, np.iinfo(np.int64).max)


def summarise(condensed: Any, n: int | None = None) -> TreeSummary:
    """Columns over the clusters and points of a condensed tree: births, deaths, stabilities, GLOSH scores.

    >>> from quintet import hdbscan
    >>> tree = hdbscan.condense([[0, 1, 1.0, 2], [2, 3, 1.0, 2], [4, 5, 9.0, 4]], 2)
    >>> hdbscan.summarise(tree).stability.round(3).tolist()
    [0.444, 1.778, 1.778]
    """
    patterns = _condensed_patterns(condensed)
    found = _core.hdbscan_summarise(patterns, *_tree_sizes(patterns, n))
    return TreeSummary(**found)


def select_clusters(
    condensed: Any,
    n: int | None = None,
    *,
    cluster_selection_method: str = "eom",
    cluster_selection_epsilon: float = 0.0,
    cluster_selection_epsilon_max: float = float("inf"),
    max_cluster_size: int = 0,
    allow_single_cluster: bool = False,
    ties: str = "canonical",
    tie_tolerance: float | None = None,
) -> np.ndarray:
    """Ids of the clusters of a condensed tree that a flat clustering takes; the k-th is label k. Heights within
    `tie_tolerance` of an epsilon are equal to it; None is 68 eps of float64.

    >>> from quintet import hdbscan
    >>> tree = hdbscan.condense([[0, 1, 1.0, 2], [2, 3, 1.0, 2], [4, 5, 9.0, 4]], 2)
    >>> hdbscan.select_clusters(tree)
    array([5, 6])
    """
    arguments = locals()
    patterns = _condensed_patterns(condensed)
    points, clusters = _tree_sizes(patterns, n)
    options = read_options(TreeOptions, arguments)
    return np.asarray(_core.hdbscan_select(patterns, points, clusters, options)) + points


def label_points(
    condensed: Any,
    selected: Any,
    n: int | None = None,
    *,
    cluster_selection_epsilon: float = 0.0,
    allow_single_cluster: bool = False,
    ties: str = "canonical",
    tie_tolerance: float | None = None,
) -> PointLabels:
    """Labels of points for `selected` clusters of a condensed tree, those of :func:`select_clusters` or others. No
    cluster may contain another; label k is the k-th. The options are those of the selection.

    >>> from quintet import hdbscan
    >>> tree = hdbscan.condense([[0, 1, 1.0, 2], [2, 3, 1.0, 2], [4, 5, 9.0, 4]], 2)
    >>> hdbscan.label_points(tree, [6]).labels
    array([-1, -1,  0,  0])
    """
    arguments = locals()
    patterns = _condensed_patterns(condensed)
    points, clusters = _tree_sizes(patterns, n)
    options = read_options(TreeOptions, arguments)
    chosen = _labels(selected, "selected") - points
    labels, probabilities, persistence, offsets, members = _core.hdbscan_label(
        patterns, points, clusters, chosen, options
    )
    return PointLabels(labels, probabilities, persistence, np.split(members, offsets[1:-1]) if len(chosen) else [])


def _weights(weights: Any) -> np.ndarray | None:
    return None if weights is None else take_vector(weights, "weights", (F64, F32), integers=True)[0].astype(F64)


def medoids(
    X: Any,
    labels: Any,
    weights: Any = None,
    *,
    metric: str = "euclidean",
    curvature: float = -1.0,
    p: float = 2.0,
    unit: str = "radians",
    sphere_radius: float = 1.0,
    device: str = "auto",
) -> np.ndarray:
    """Of every label the row that minimises the weighted sum of distances to the members of its cluster, ``[K]``.

    ``labels[n]`` in [-1, n); ``weights[n]`` >= 0, None: 1 each. -1 for a label that no valid row has.

    >>> from quintet import hdbscan
    >>> hdbscan.medoids([[0.0], [1.0], [5.0]], [0, 0, 0])
    array([1])
    """
    points, _ = as_points(X, metric=metric)
    kind, parameter = metric_name(metric, unit=unit), metric_parameter(metric, curvature, p, sphere_radius, X)
    return np.asarray(_core.hdbscan_medoids(points, _labels(labels), _weights(weights), kind, parameter, device))


def weighted_centroids(
    X: Any,
    labels: Any,
    weights: Any = None,
    *,
    metric: str = "euclidean",
    unit: str = "radians",
    sphere_radius: float = 1.0,
    device: str = "auto",
) -> np.ndarray:
    """The weighted mean of the members of every label, ``[K, d]`` float64; labels and weights as for :func:`medoids`.

    Rows of bits are refused. Rows are taken as they are, but for ``metric="haversine"``: there it is the point in the
    direction of the mean of unit vectors, and a label with the mean 0 is refused.

    >>> from quintet import hdbscan
    >>> hdbscan.weighted_centroids([[0.0], [1.0], [5.0]], [0, 0, 1])
    array([[0.5],
           [5. ]])
    """
    kind = metric_name(metric, unit=unit)
    points, _ = as_points(X, metric=kind)
    parameter = metric_parameter(kind, -1.0, 2.0, sphere_radius, X)
    return np.asarray(_core.hdbscan_centroids(points, _labels(labels), _weights(weights), kind, parameter, device))


def validity_index(
    X: Any,
    labels: Any,
    metric: str = "euclidean",
    d: int | None = None,
    per_cluster_scores: bool = False,
    *,
    curvature: float = -1.0,
    p: float = 2.0,
    unit: str = "radians",
    sphere_radius: float = 1.0,
    convention: str = "indexed",
    details: bool = False,
    sample_weight: Any = None,
    progress: bool | Progress | None = None,
    device: str = "auto",
) -> Any:
    """DBCV (Moulavi et al. 2014) of a clustering, in [-1, 1]: ``index``, or ``(index, [K])`` with per_cluster_scores,
    or a :class:`ValidityResult` with details.

    `d` is the dimension of the all-points core distances, that of X by default; it must be given for rows of bits. Never
    holds a matrix of a cluster.

    `convention` says which of several minimum spanning trees of a cluster counts. ``"indexed"`` takes equal edges by the
    numbers of their points: the index is that of scikit-learn-contrib/hdbscan, and other orders of the points give
    other values. ``"positional"`` takes them by distance and position, so that the order does not matter.
    ``"moulavi_2014"`` is the program of the paper's authors: squared distances and the tree that Prim's algorithm grows
    from the first point; ``metric="sqeuclidean"`` means it too.

    `sample_weight[n]` are whole numbers: rows are repeated as often, and time and memory are those of as many rows.

    >>> import numpy as np
    >>> from quintet import hdbscan
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 0.1, (50, 2)) for c in (0, 3)])
    >>> hdbscan.validity_index(X, np.repeat([0, 1], 50)) > 0.9
    True
    """
    points, _ = as_points(X, metric=metric)
    if metric == "sqeuclidean":
        metric, convention = "euclidean", "moulavi_2014"
    if d is None and is_of_bits(metric):
        raise InvalidArgument(f"d must be given with metric={metric!r}: rows of bits have no dimension")
    dimension = 0.0 if d is None else as_number(d, "d")
    if d is not None and not dimension > 0:
        raise InvalidArgument(f"d must be > 0 (d={d})")
    found = ValidityResult(
        *_core.hdbscan_validity_index(
            points,
            _labels(labels),
            metric_name(metric, unit=unit),
            metric_parameter(metric, curvature, p, sphere_radius, X),
            dimension,
            convention,
            sample_weights(sample_weight, len(points)),
            progress_callable(progress),
            device,
        )
    )
    if details:
        return found
    return (found.index, found.cluster_validity) if per_cluster_scores else found.index


def relative_validity(
    edges: Any, labels: Any, *, sample_weight: Any = None, core_distances: Any = None
) -> float:
    """DBCV estimated from the edges ``[m, 3]`` of the spanning tree alone; compares parameters on one data set.

    With ``sample_weight[n]`` the ``core_distances[n]`` of the tree are needed, which join copies of a row.

    >>> from quintet import hdbscan
    >>> hdbscan.relative_validity([[0, 1, 1.0], [2, 3, 1.0], [1, 2, 9.0]], [0, 0, 1, 1]) > 0.8
    True
    """
    label = _labels(labels)
    weights = sample_weights(sample_weight, len(label))
    if weights is not None and core_distances is None:
        raise InvalidArgument("core_distances must be given with sample_weight")
    core = None if core_distances is None else take_vector(core_distances, "core_distances", (F64, F32))[0].astype(F64)
    return float(_core.hdbscan_relative_validity(_edges(edges), label, weights, core))
