"""The families over ranks of MPI: results do not depend on the number of ranks, and are those of one process.

Every rank calls the same function with its own rows, those of rank 0 first; a rank may have 0 rows (an array of
the type and the columns of the others). The communicator is mpi4py's, or a :class:`Communicator` made of it once::

    from mpi4py import MPI
    from quintet import mpi

    ranks = mpi.Communicator(MPI.COMM_WORLD)
    mine = ranks.own_rows(len(X))
    result = mpi.cluster(ranks, X[mine], min_cluster_size=10)

``mpirun -n 4 python program.py`` runs it. All functions are collective. Errors are those of one process, and are raised
alike on all ranks: what one rank alone is given wrong is an error of all. Needs mpi4py, and a package that was built where
an MPI is (Debian: libopenmpi-dev) by ``pip install . -C cmake.define.QUINTET_WITH_MPI=ON``; mpi4py has to use that MPI.

MPI is called by the thread that calls, and has to be started with MPI.THREAD_FUNNELED at least, as mpi4py does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, SupportsIndex, TypeVar

import numpy as np

try:
    from . import _mpi
except ImportError as _error:
    raise ImportError(
        "quintet.mpi needs a quintet that was built where an MPI is (Debian: libopenmpi-dev), from source: "
        f"pip install . -C cmake.define.QUINTET_WITH_MPI=ON ({_error})"
    ) from None

from . import linalg as _linalg
from . import lorentz as _lorentz
from . import poincare as _poincare
from . import sparse as _sparse
from ._arguments import as_integer, as_number, as_points, metric_name, metric_parameter
from ._arrays import F32, F64, I32, I64, accumulator, same_type, take, take_rows
from ._errors import InvalidArgument
from ._options import read_options
from ._progress import Progress, progress_callable
from ._svd_options import decompose_options, vectors_of
from .hdbscan import ClusterResult, SpanningTreeResult
from .hdbscan._functions import _cluster_result
from .hdbscan._options import ClusterOptions, SpanningTreeOptions
from .neighbours import NearestResult

__all__ = [
    "Communicator",
    "MPIClusterResult",
    "Traffic",
    "cluster",
    "lorentz_distances",
    "multiply",
    "nearest",
    "poincare_distances",
    "poincare_nearest",
    "snp_group",
    "spanning_tree",
    "svd",
]

_T = TypeVar("_T")
_LAYOUTS = {"automatic": 0, "rows": 1, "grid": 2}


class Traffic(NamedTuple):
    """What this rank sent and received in a phase."""

    phase: str  #: its name
    sent: int  #: bytes to other ranks
    received: int  #: bytes from other ranks
    messages: int  #: to other ranks
    reduced: int  #: elements of reductions
    collectives: int  #: collective calls
    seconds: float  #: waiting for transfers and for other ranks


def _handle_of(comm: Any) -> int:
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise ImportError("quintet.mpi needs mpi4py: pip install mpi4py, or Debian's python3-mpi4py") from error
    if not isinstance(comm, MPI.Comm):
        raise TypeError(f"comm must be a communicator of mpi4py (comm is {type(comm).__qualname__})")
    if comm == MPI.COMM_NULL:
        raise InvalidArgument("comm must not be MPI.COMM_NULL")
    theirs, ours = MPI.Get_library_version(), _mpi.library_version()
    if theirs.split()[:2] != ours.split()[:2]:
        raise ImportError(
            f"mpi4py uses {' '.join(theirs.split()[:3])!r} and quintet was built with {' '.join(ours.split()[:3])!r}: "
            "both have to use one MPI"
        )
    return int(comm.py2f())


class Communicator:
    """A duplicate of a communicator of mpi4py, for any number of calls. Making it is collective."""

    def __init__(self, comm: Any) -> None:
        self._core: Any = _mpi.communicator(_handle_of(comm))

    @property
    def rank(self) -> int:
        """The number of this process, 0 ... size - 1."""
        return int(self._core.rank)

    @property
    def size(self) -> int:
        """How many processes there are."""
        return int(self._core.size)

    @property
    def hosts(self) -> int:
        """How many hosts they run on."""
        return int(self._core.hosts)

    def own_rows(self, n: int) -> slice:
        """The rows of this rank where n rows are dealt evenly, longer parts first."""
        first, count = _mpi.even_rows(n, self.rank, self.size)
        return slice(first, first + count)

    def use_threads(self) -> tuple[int, str]:
        """Takes as many threads as this rank has processors (OMP_NUM_THREADS lowers it). Returns their number and a
        warning, empty where all is well: where the launcher bound ranks to too few. Collective."""
        threads, warning = self._core.use_threads()
        _mpi.set_threads(threads)
        return int(threads), str(warning)

    def traffic(self) -> list[Traffic]:
        """Bytes, messages and waiting by phase, of all calls so far."""
        return [Traffic(*phase) for phase in self._core.traffic()]


def _ranks(comm: Any) -> Any:
    return comm._core if isinstance(comm, Communicator) else Communicator(comm)._core


def _prepared(ranks: Any, prepare: Callable[[], _T]) -> _T:
    """What `prepare` returns; where it fails on any rank, all raise."""
    error: Exception | None = None
    value: Any = None
    try:
        value = prepare()
    except Exception as caught:
        error = caught
    try:
        ranks.agree(None if error is None else str(error))
    except InvalidArgument:
        if error is not None:
            raise error from None
        raise
    return value  # type: ignore[no-any-return]


class MPIClusterResult(NamedTuple):
    """A clustering of the rows of all ranks."""

    labels: np.ndarray  #: of the own rows
    probabilities: np.ndarray  #: of the own rows
    outlier_scores: np.ndarray  #: of the own rows
    whole: ClusterResult | None  #: on rank 0, of all rows


def cluster(
    comm: Any,
    X: Any,
    min_cluster_size: int = 5,
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
    checkpoint: str = "",
    checkpoint_minutes: float = 10.0,
    resume: bool = False,
    progress: bool | Progress | None = None,
    device: str = "auto",
) -> MPIClusterResult:
    """HDBSCAN* of the rows ``X[n, d]`` of all ranks: :func:`quintet.hdbscan.cluster` of all of them together.

    ``checkpoint`` is a folder that all ranks see: what was found is written there every so many minutes, and ``resume``
    goes on from it.
    """
    arguments = locals()
    ranks = _ranks(comm)

    def prepare() -> tuple[Any, ...]:
        kind = metric_name(metric, unit=unit)
        parameter = metric_parameter(kind, curvature, p, sphere_radius, X)
        options = read_options(ClusterOptions, arguments, metric=kind, parameter=parameter)
        return as_points(X, metric=metric)[0], options, _checkpoint(checkpoint, checkpoint_minutes, resume)

    points, options, saved = _prepared(ranks, prepare)
    labels, probabilities, scores, whole = _mpi.cluster(
        ranks, points, options, progress_callable(progress), saved, device
    )
    return MPIClusterResult(
        labels, probabilities, scores, None if whole is None else _cluster_result(whole)
    )


def _checkpoint(folder: str, minutes: float, resume: bool) -> tuple[str, float, bool]:
    return str(folder), as_number(minutes, "checkpoint_minutes"), bool(resume)


def spanning_tree(
    comm: Any,
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
    checkpoint: str = "",
    checkpoint_minutes: float = 10.0,
    resume: bool = False,
    progress: bool | Progress | None = None,
    device: str = "auto",
) -> SpanningTreeResult:
    """:func:`quintet.hdbscan.spanning_tree` of the rows of all ranks, on rank 0; others get no edges and no core
    distances."""
    arguments = locals()
    ranks = _ranks(comm)

    def prepare() -> tuple[Any, ...]:
        kind = metric_name(metric, unit=unit)
        parameter = metric_parameter(kind, curvature, p, sphere_radius, X)
        options = read_options(SpanningTreeOptions, arguments, metric=kind, parameter=parameter)
        return as_points(X, metric=metric)[0], options, _checkpoint(checkpoint, checkpoint_minutes, resume)

    points, options, saved = _prepared(ranks, prepare)
    return SpanningTreeResult(
        **_mpi.spanning_tree(ranks, points, options, progress_callable(progress), saved, device)
    )


def nearest(
    comm: Any,
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
) -> NearestResult:
    """The k nearest other rows, of all ranks', of every own row: :func:`quintet.neighbours.nearest`. With queries, which
    all ranks give or none, those of every own query. Indices count the rows of all ranks, invalid_queries the own ones."""
    ranks = _ranks(comm)

    def prepare() -> tuple[Any, ...]:
        array, like = as_points(points, "points", metric)
        kind = metric_name(metric, unit=unit)
        asked = None
        if queries is not None:
            asked, like = as_points(queries, "queries", metric)
            same_type(array, asked, "points", "queries")
        parameter = metric_parameter(kind, curvature, p, sphere_radius, points)
        return array, asked, like, as_integer(k, "k"), kind, parameter

    array, asked, like, count, kind, parameter = _prepared(ranks, prepare)
    total = int(ranks.sum(int(asked is not None)))
    if total not in (0, ranks.size):
        raise InvalidArgument(f"queries must be given on all ranks or on none (given on {total} of {ranks.size})")
    distance, index, *rest = _mpi.nearest(ranks, array, asked, count, kind, parameter, device)
    return NearestResult(like(distance), like(index), rest[0], rest[1], rest[2])


def _two(x: Any, points: Any) -> tuple[np.ndarray, np.ndarray, Any]:
    first, like = take_rows(x, "x")
    second, _ = take_rows(points, "points")
    same_type(first, second, "x", "points")
    return first, second, like


def poincare_nearest(
    comm: Any,
    x: Any,
    points: Any,
    k: SupportsIndex,
    *,
    exclude_self: bool = False,
    curvature: float = -1.0,
    strict: bool = False,
    device: str = "auto",
) -> tuple[Any, Any]:
    """``(index, distance)`` of every own row of x to the points of all ranks: :func:`quintet.poincare.nearest`."""
    ranks = _ranks(comm)

    def prepare() -> tuple[Any, ...]:
        return *_two(x, points), as_integer(k, "k"), _poincare._curvature(curvature)

    first, second, like, count, value = _prepared(ranks, prepare)
    index, distance = _mpi.poincare_nearest(ranks, first, second, count, value, strict, exclude_self, device)
    return like(index), like(distance)


def poincare_distances(
    comm: Any,
    x: Any,
    points: Any,
    *,
    formula: str = "geodesic",
    curvature: float = -1.0,
    strict: bool = False,
    device: str = "auto",
) -> Any:
    """Distances ``[own rows of x, points of all ranks]``: :func:`quintet.poincare.distances`."""
    ranks = _ranks(comm)

    def prepare() -> tuple[Any, ...]:
        return *_two(x, points), _poincare._formula(formula), _poincare._curvature(curvature)

    first, second, like, expression, value = _prepared(ranks, prepare)
    out = np.empty((len(first), int(ranks.sum(len(second)))), accumulator(first))
    _mpi.poincare_distances(ranks, first, second, out, expression, value, strict, device)
    return like(out)


def lorentz_distances(
    comm: Any,
    x: Any,
    points: Any,
    *,
    time: bool | str = False,
    tolerance: float | None = None,
    curvature: float = -1.0,
    strict: bool = False,
    device: str = "auto",
) -> Any:
    """Distances ``[own rows of x, points of all ranks]``: :func:`quintet.lorentz.distances`. Neighbours are those of
    :func:`nearest` with metric="lorentz"."""
    ranks = _ranks(comm)

    def prepare() -> tuple[Any, ...]:
        return *_two(x, points), _lorentz._form(time), _lorentz._tolerance(tolerance), as_number(curvature, "curvature")

    first, second, like, form, allowed, value = _prepared(ranks, prepare)
    out = np.empty((len(first), int(ranks.sum(len(second)))), accumulator(first))
    _mpi.lorentz_distances(ranks, first, second, out, form, allowed, value, strict, device)
    return like(out)


def svd(
    comm: Any,
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    *,
    top: SupportsIndex | None = None,
    preconditioning: str = "automatic",
    accurate: bool = False,
    canonical_signs: bool = False,
    proper_rotations: bool = False,
    max_sweeps: SupportsIndex = 30,
    on_failure: str = "raise",
    device: str = "auto",
) -> Any:
    """:func:`quintet.svd` of the own matrices ``a[b, m, n]`` of a batch that all ranks have: every rank gets its part,
    with the bits that it has in the decomposition of the whole batch."""
    ranks = _ranks(comm)

    def prepare() -> tuple[Any, ...]:
        array, like = take(a, "a")
        if array.ndim != 3:
            raise InvalidArgument(f"a must have 3 dimensions (shape={array.shape})")
        matrices, _ = _linalg._batch(array, "a")
        options = decompose_options(
            vectors_of(full_matrices, compute_uv, top),
            top, preconditioning, accurate, canonical_signs, proper_rotations, max_sweeps,
        )
        return matrices, like, options

    matrices, like, options = _prepared(ranks, prepare)
    u, s, v, status, used = _mpi.svd(ranks, matrices, options, device)
    lead = (len(matrices),)
    _prepared(ranks, lambda: _linalg._check(int((status != 0).sum()), status, lead, on_failure))
    if not compute_uv:
        return like(s)
    if matrices.dtype == np.uint16 or matrices.dtype == np.float16:
        u, v = u.view(matrices.dtype), v.view(matrices.dtype)
    result = _linalg.SVDResult((like(u), like(s), like(v.swapaxes(1, 2))))
    result.status, result.sweeps = status, used
    return result


def multiply(
    comm: Any,
    A: Any,
    B: Any,
    *,
    semiring: str = "plus_times",
    budget: int = 1 << 30,
    balance: bool = True,
    layout: str = "automatic",
    return_report: bool = False,
    device: str = "auto",
) -> Any:
    """Own rows of ``C = A B`` of SciPy's sparse matrices; every rank has some of their rows. Returns ``(C, first_row)``, and
    the report with return_report.

    With balance rows of C are dealt by work, otherwise a rank has those of its rows of A. budget: bytes of rows of B that
    are fetched at a time. layout: "automatic", "rows" or "grid". :func:`quintet.sparse.multiply` of the whole has the
    same bits.
    """
    ranks = _ranks(comm)

    def prepare() -> tuple[Any, ...]:
        ring = _sparse._check_semiring(semiring)
        if layout not in _LAYOUTS:
            raise InvalidArgument(f"layout must be one of {', '.join(_LAYOUTS)} (layout={layout!r})")
        a = _sparse._parts(_sparse._csr(A, "A"), "A", ring)
        b = _sparse._parts(_sparse._csr(B, "B"), "B", ring)
        return a, b, ring, _LAYOUTS[layout], as_integer(budget, "budget")

    a, b, ring, how, bytes_ = _prepared(ranks, prepare)
    dtype, index = _sparse._common(a, b)
    # One type for all ranks: the widest.
    dtype = F64 if ranks.maximum(int(dtype == F64)) else F32
    index = I64 if ranks.maximum(int(index == I64)) else I32
    found, first, report = _mpi.multiply(
        ranks, a.core(dtype, index), b.core(dtype, index), ring, bytes_, bool(balance), how, device
    )
    c = _sparse._result(found, a.is_array, a.is_bool and b.is_bool)
    return (c, first, report) if return_report else (c, first)


def snp_group(comm: Any) -> Any:
    """What ``quintet.snp.Likelihood(..., shared_by=...)`` and ``quintet.snp.Sampler(..., shared_by=...)`` take: the ranks
    share the patterns of a likelihood, or the chains. All ranks make the same object and call the same methods in the same
    order; log-likelihoods and samples are those of one process."""
    return _ranks(comm)
