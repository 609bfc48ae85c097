"""Singular value decompositions of batches of small and medium matrices, and what they are for.

The method is one-sided Jacobi (Hestenes 1958; Drmac and Veselic 2008): every singular value is accurate relative to
itself for well-conditioned matrices of any column scaling, and many small matrices are decomposed side by side in SIMD
registers. All functions take arrays of any leading shape, ``a[..., m, n]``, of type float16, bfloat16, float32 or
float64, NumPy's or any library's with DLPack, and return arrays of the same library. 16-bit types are computed in
float32: their singular values are float32, their vectors 16 bit.

Errors: ``TypeError`` for arrays of another type, ``InvalidArgument`` (a ``ValueError``) for shapes and options out of
range, ``numpy.linalg.LinAlgError`` for matrices with NaN or infinity and for those that do not converge,
``DeviceError`` for a device that is absent and for arrays in its memory.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple, SupportsIndex

import numpy as np
from numpy.linalg import LinAlgError

from . import _core
from ._arguments import as_integer, as_number, as_seed, choice_index
from ._arrays import BOOL, F32, F64, I32, I64, NUMPY, REAL, Like, accumulator, same_type, take
from ._errors import InvalidArgument
from ._progress import Progress, blocks, is_off
from ._svd_options import ECONOMY, FULL, PROPER, VALUES, decompose_options, vectors_of

__all__ = [
    "EighResult",
    "LinAlgError",
    "LstsqResult",
    "PolarResult",
    "RandomizedSVDResult",
    "RigidMotion",
    "SVDResult",
    "SimilarityMotion",
    "certify",
    "cond",
    "eigh",
    "eigvalsh",
    "kabsch",
    "kabsch_gradient",
    "lstsq",
    "low_rank",
    "matrix_rank",
    "null_space",
    "orth",
    "pinv",
    "polar",
    "polar_gradient",
    "randomized_svd",
    "svd",
    "svd_gradient",
    "svdvals",
]

_POLICIES = ("exact", "drop", "broaden")
_EPSILON = {F32: float(np.finfo(F32).eps), F64: float(np.finfo(F64).eps)}
_STATUS = {1: "did not converge", 2: "holds NaN or infinity", 3: "is not positive definite"}


class SVDResult(tuple[Any, Any, Any]):
    """``U, S, Vh`` of ``a = U @ diag(S) @ Vh``; unpacks to the three like NumPy's result.

    ``status`` and ``sweeps`` have the shape of the batch: 0 ok, 1 not converged, 2 not finite; and sweeps of Jacobi's
    method until convergence. ``means[..., n]`` are those of the columns that ``centre=True`` took off, otherwise None.
    """

    status: np.ndarray
    sweeps: np.ndarray
    means: Any = None

    @property
    def U(self) -> Any:
        """``[..., m, k]``, or ``[..., m, m]`` with full_matrices."""
        return self[0]

    @property
    def S(self) -> Any:
        """``[..., k]``, falling."""
        return self[1]

    @property
    def Vh(self) -> Any:
        """``[..., k, n]``, or ``[..., n, n]`` with full_matrices."""
        return self[2]

    def __repr__(self) -> str:
        return f"SVDResult(U={self[0]!r}, S={self[1]!r}, Vh={self[2]!r})"


class EighResult(NamedTuple):
    """``a = eigenvectors @ diag(eigenvalues) @ eigenvectors.T``, as NumPy's result."""

    eigenvalues: Any
    eigenvectors: Any


class PolarResult(NamedTuple):
    """``a = W @ H``."""

    W: Any
    H: Any


class RigidMotion(NamedTuple):
    """``target`` is nearly ``points @ rotation.swapaxes(-1, -2) + translation[..., None, :]``."""

    rotation: Any
    translation: Any
    rmsd: Any


class SimilarityMotion(NamedTuple):
    """``target`` is nearly ``scale[..., None, None] * points @ rotation.swapaxes(-1, -2) + translation[..., None, :]``."""

    rotation: Any
    translation: Any
    rmsd: Any
    scale: Any


class LstsqResult(NamedTuple):
    """``x``, the norms ``|a @ x - b|`` of every column, the rank that was used, and the singular values of a."""

    x: Any
    residuals: Any
    rank: Any
    singular_values: Any


class RandomizedSVDResult(NamedTuple):
    """``a`` is nearly ``U @ diag(S) @ Vh``; ``residual`` is the Frobenius norm of the difference."""

    U: Any
    S: Any
    Vh: Any
    residual: Any


def _batch(array: np.ndarray, name: str) -> tuple[np.ndarray, tuple[int, ...]]:
    """As [B, m, n], and the leading shape. Strides stay as they are where the leading dimensions can be one."""
    if array.ndim == 3:
        return array, array.shape[:1]
    if array.ndim == 2:
        return array[None], ()
    if array.ndim < 2:
        raise InvalidArgument(f"{name} must have at least 2 dimensions (shape={array.shape})")
    lead = array.shape[:-2]
    return array.reshape((math.prod(lead),) + array.shape[-2:]), lead


def _check(failed: int, status: np.ndarray, lead: tuple[int, ...], on_failure: str = "raise") -> None:
    """LinAlgError that names the first matrix that failed."""
    if on_failure != "raise":
        if on_failure != "nan":
            raise InvalidArgument(f"on_failure must be 'raise' or 'nan' (on_failure={on_failure!r})")
        return
    if failed != 0:
        first = int(np.flatnonzero(status)[0])
        reason = _STATUS[int(status[first])]
        if lead:
            place = ", ".join(str(int(i)) for i in np.unravel_index(first, lead))
            raise LinAlgError(f"matrix [{place}] {reason} ({int(np.count_nonzero(status))} of {status.size} failed)")
        raise LinAlgError(f"the matrix {reason}")


class _Factors(NamedTuple):
    u: np.ndarray
    s: np.ndarray
    v: np.ndarray
    status: np.ndarray
    sweeps: np.ndarray
    failed: int
    means: np.ndarray | None = None


def _decompose(
    a: np.ndarray, options: Any, shape: tuple[int | None, int, int], device: str, centre: bool = False
) -> _Factors:
    """Of a batch [B, m, n]: U [B, m, p], S [B, k], V [B, n, q], status, sweeps for shape = (p, k, q); p None: S alone.
    The means [B, n] for options that centre."""
    batch, m, n = a.shape
    p, k, q = shape
    s = np.empty((batch, k), accumulator(a))
    means = np.empty((batch, n), accumulator(a)) if centre else None
    status, sweeps = np.empty((2, batch), I32)
    if p is not None:
        u, v = np.empty((batch, m, p), a.dtype), np.empty((batch, n, q), a.dtype)
        failed = _core.svd_decompose(a, u, s, v, status, sweeps, options, device, means)
        return _Factors(u, s, v, status, sweeps, failed, means)
    failed = _core.svd_decompose(a, None, s, None, status, sweeps, options, device, means)
    none = np.empty((batch, 0, 0), a.dtype)
    return _Factors(none, s, none, status, sweeps, failed, means)


def _decompose_symmetric(a: np.ndarray, k: int, vectors: bool, device: str) -> _Factors:
    """The k largest of symmetric matrices [B, n, n]; the lower triangle is read."""
    batch, n, columns = a.shape
    if n != columns:
        raise LinAlgError(f"a must have square matrices for hermitian=True (shape={a.shape[1:]})")
    s = np.empty((batch, k), accumulator(a))
    status, sweeps = np.empty((2, batch), I32)
    u, v = np.empty((2, batch, n, k), a.dtype) if vectors else (None, None)
    failed = _core.svd_decompose_symmetric(a, u, s, v, status, sweeps, device)
    none = np.empty((batch, 0, 0), a.dtype)
    return _Factors(none if u is None else u, s, none if v is None else v, status, sweeps, failed)


def _decompose_in_blocks(
    a: np.ndarray,
    options: Any,
    shape: tuple[int | None, int, int],
    device: str,
    progress: bool | Progress | None,
    centre: bool,
) -> _Factors:
    """With options that hold the size of the whole batch, blocks have its bits."""
    parts = [_decompose(a[part], options, shape, device, centre) for part in blocks(progress, "decompose", len(a), 16)]
    u, s, v, status, sweeps = (np.concatenate(arrays) for arrays in list(zip(*parts))[:5])
    means = np.concatenate([part.means for part in parts if part.means is not None]) if centre else None
    return _Factors(u, s, v, status, sweeps, sum(part.failed for part in parts), means)


def _values(a: np.ndarray, lead: tuple[int, ...], device: str, hermitian: bool = False) -> _Factors:
    k = min(a.shape[1:])
    f = _decompose_symmetric(a, k, False, device) if hermitian else _decompose(a, VALUES, (None, k, 0), device)
    _check(f.failed, f.status, lead)
    return f


def _economy(
    a: np.ndarray, lead: tuple[int, ...], device: str, options: Any = ECONOMY, hermitian: bool = False
) -> _Factors:
    k = min(a.shape[1:])
    f = _decompose_symmetric(a, k, True, device) if hermitian else _decompose(a, options, (k, k, k), device)
    _check(f.failed, f.status, lead)
    return f


def _per_batch(value: Any, name: str, lead: tuple[int, ...], dtype: np.dtype) -> Any:
    """A number, or an array that broadcasts to the batch as [B, 1]."""
    if isinstance(value, float):
        if not value >= 0:
            raise InvalidArgument(f"{name} must be >= 0 ({name}={value})")
        return value
    try:
        array = np.asarray(value, F64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number or an array of numbers ({name}={value!r})") from None
    if array.ndim == 0:
        return _per_batch(float(array), name, lead, dtype)
    if not (array >= 0).all():
        raise InvalidArgument(f"{name} must be >= 0 (least {name}={array.min()})")
    try:
        with np.errstate(over="ignore"):
            return np.broadcast_to(array, lead).reshape(-1, 1).astype(dtype)
    except ValueError:
        raise InvalidArgument(f"{name} must be a number or broadcast to the batch {lead} (shape={array.shape})") from None


class _Tolerance:
    """Which singular values count as zero: those at or below ``max(atol, rtol * S[0])``."""

    def __init__(self, rtol: Any, atol: Any, lead: tuple[int, ...], shape: tuple[int, ...], dtype: np.dtype) -> None:
        if rtol is None:
            self.relative = max(shape[-2:]) * _EPSILON[dtype] if atol is None else 0.0
        else:
            self.relative = _per_batch(rtol, "rtol", lead, dtype)
        self.absolute = None if atol is None else _per_batch(atol, "atol", lead, dtype)

    def limit(self, s: np.ndarray) -> np.ndarray:
        """The largest number that counts as zero, for every matrix."""
        relative: np.ndarray = s[:, :1] * self.relative
        if self.absolute is None:
            return relative
        with np.errstate(over="ignore"):
            both: np.ndarray = np.maximum(relative, np.asarray(self.absolute).astype(s.dtype))
        return both

    def for_kernel(self, s: np.ndarray) -> tuple[np.ndarray, float]:
        """Singular values and a relative tolerance with the same zeros."""
        if self.absolute is None and isinstance(self.relative, float):
            return s, self.relative
        return self.applied(s), 0.0

    def applied(self, s: np.ndarray) -> np.ndarray:
        """S with zeros for what counts as zero. NaN stays."""
        return np.where(s <= self.limit(s), s.dtype.type(0), s)

    def ranks(self, s: np.ndarray) -> np.ndarray:
        ranks: np.ndarray = np.add.reduce(s > self.limit(s), axis=1, dtype=I64)
        return ranks


def _shape(a: np.ndarray, vectors: str, top: SupportsIndex | None) -> tuple[int | None, int, int]:
    """Columns of U, values, columns of V, as _decompose() takes them."""
    _, m, n = a.shape
    k = min(m, n) if top is None else min(m, n, as_integer(top, "top"))
    return (None, k, 0) if vectors == "none" else (m, k, n) if vectors == "full" else (k, k, k)


def _restore(array: np.ndarray, lead: tuple[int, ...], like: Like) -> Any:
    return like(array.reshape(lead + array.shape[1:]) if len(lead) != 1 else array)


def svd(
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
    hermitian: bool = False,
    centre: bool = False,
    rtol: Any = None,
    atol: Any = None,
    on_failure: str = "raise",
    device: str = "auto",
    progress: bool | Progress | None = None,
) -> Any:
    """Singular value decomposition ``a = U @ diag(S) @ Vh`` of every matrix.

    Parameters
    ----------
    a : array of shape (..., m, n)
        Matrices, any strides.
    full_matrices : bool, default True
        U ``[..., m, m]`` and Vh ``[..., n, n]``, otherwise ``[..., m, k]`` and ``[..., k, n]``, k = min(m, n).
    compute_uv : bool, default True
        False returns the singular values alone: half the cost for up to 3 columns and from 48 (batches of
        float32: 24) on.
    top : int, default None
        Only the largest `top` singular values and their vectors; implies ``full_matrices=False``.
    preconditioning : {"automatic", "none", "qr", "pivoted_qr"}, default "automatic"
        What Jacobi's method is applied to.
    accurate : bool, default False
        Half the rounding errors, at 10 to 25 % of the speed.
    canonical_signs : bool, default False
        The element of largest size of each column of U is positive.
    proper_rotations : bool, default False
        U and V have determinant 1 and the last singular value the sign of det a (McAdams et al. 2011); for 2 x 2, 3 x 3
        and 4 x 4 matrices with all values and vectors.
    max_sweeps : int, default 30
        A matrix that needs more has not converged.
    hermitian : bool, default False
        The matrices are symmetric: S is |w| of :func:`eigh`, which is faster. Only the lower triangle is read, and small
        singular values are right to eps S[0] only. Not with other options of the method.
    centre : bool, default False
        Decomposes a without the means of its columns, as ``a - a.mean(-2, keepdims=True)``; tall matrices need no copy
        for it. The result has the means, ``.means[..., n]``. A gradient by what was decomposed, minus its own means, is
        that by `a`.
    rtol, atol : float or array, default None
        Only singular values above ``max(atol, rtol * S[0])`` and their vectors are kept; arrays broadcast to the batch.
        k is the largest rank in the batch; matrices of a smaller rank have zeros in S. Implies ``full_matrices=False``.
    on_failure : {"raise", "nan"}, default "raise"
        A LinAlgError that names the matrix, or NaN for failed matrices, see ``.status``.
    device : str, default "auto"
        "auto", "host", or the number of an offload device.
    progress : bool or callable, default None
        True for a bar (tqdm), or a callable(stage, fraction) that cancels by returning False. Matrices are then computed in
        blocks, with the same bits.

    Returns
    -------
    SVDResult
        Unpacks to U, S, Vh; S falls. S alone if not compute_uv.

    Examples
    --------
    >>> import numpy as np, quintet
    >>> a = np.array([[3.0, 0.0], [4.0, 5.0]])
    >>> U, S, Vh = quintet.svd(a)
    >>> np.allclose(U * S @ Vh, a)
    True
    """
    array, like = take(a, "a")
    matrices, lead = _batch(array, "a")
    truncates = rtol is not None or atol is not None
    vectors = vectors_of(full_matrices and not truncates, compute_uv, top)
    whole = 0 if is_off(progress) else len(matrices)
    options = decompose_options(
        vectors, top, preconditioning, accurate, canonical_signs, proper_rotations, max_sweeps, centre, whole
    )
    shape = _shape(matrices, vectors, top)
    if hermitian:
        if preconditioning != "automatic" or accurate or canonical_signs or proper_rotations or centre or progress:
            raise InvalidArgument(
                "hermitian=True is not for preconditioning, accurate, canonical_signs, proper_rotations, centre and "
                "progress"
            )
        f = _decompose_symmetric(matrices, shape[1], compute_uv, device)
    elif is_off(progress):
        f = _decompose(matrices, options, shape, device, bool(centre))
    else:
        f = _decompose_in_blocks(matrices, options, shape, device, progress, bool(centre))
    _check(f.failed, f.status, lead, on_failure)
    if truncates:
        f = _truncated(f, _Tolerance(rtol, atol, lead, array.shape, f.s.dtype))
    s = _restore(f.s, lead, like)
    if not compute_uv:
        return s
    result = SVDResult((_restore(f.u, lead, like), s, _restore(f.v.swapaxes(1, 2), lead, like)))
    result.status = f.status.reshape(lead)
    result.sweeps = f.sweeps.reshape(lead)
    if f.means is not None:
        result.means = _restore(f.means, lead, like)
    return result


def _truncated(f: _Factors, tolerance: _Tolerance) -> _Factors:
    finite = f.status != 2
    k = int(tolerance.ranks(f.s)[finite].max(initial=0))
    return f._replace(u=f.u[..., :k], s=tolerance.applied(f.s)[:, :k], v=f.v[..., :k])


def certify(a: Any, result: Any, *, UPLO: str = "L", device: str = "auto") -> Any:
    """Rigorous bounds of the errors of what :func:`svd` or :func:`eigh` returned for these matrices: of
    ``max_j |S_j - exact|``, or of ``max_j |w_j - exact|``. They hold whatever the decomposition did, and may come from
    another library.

    From ``R = a - U diag(S) Vh``, ``U.T @ U - I`` and ``V.T @ V - I`` in double, with what rounds on the way, by the
    inequalities of Weyl and Ostrowski. For float32 and 16-bit matrices the bound is close to what the vectors are worth;
    for float64 it is about 8e-13 S[0] at n = 128.

    Parameters
    ----------
    a : array of shape (..., m, n)
        The matrices that were decomposed.
    result : SVDResult or EighResult
        ``U, S, Vh`` with all singular values, or ``w, V``.
    UPLO : {"L", "U"}, default "L"
        The triangle that :func:`eigh` has read.
    device : str, default "auto"
        "auto", "host", or the number of an offload device.

    Returns
    -------
    float64 array of shape (...)
        The bounds, infinity for NaN and where no bound exists.

    Examples
    --------
    >>> import numpy as np, quintet.linalg
    >>> a = np.array([[3.0, 0.0], [4.0, 5.0]])
    >>> bool(quintet.linalg.certify(a, quintet.linalg.svd(a)) < 1e-13)
    True
    """
    array, like = take(a, "a")
    matrices, lead = _batch(array, "a")
    parts = tuple(result)
    if len(parts) == 2:
        w, V = take(parts[0], "eigenvalues", REAL)[0], _batch(take(parts[1], "eigenvectors")[0], "eigenvectors")[0]
        none = np.empty(0, I32)
        f = _Factors(V, np.ascontiguousarray(w).reshape((len(V), -1)), V, none, none, 0)
    else:
        f = _factors_of(result)[0]
    same_type(matrices, f.v, "a", "its vectors")
    bound = np.empty(len(matrices), F64)
    upper = _reads_upper(UPLO)
    _core.svd_certify(matrices, None if len(parts) == 2 else f.u, f.s, f.v, bound, upper, device)
    return _per_matrix(bound, lead, like)


def svdvals(a: Any, *, top: SupportsIndex | None = None, on_failure: str = "raise", device: str = "auto") -> Any:
    """Singular values ``[..., k]`` of every matrix of ``a[..., m, n]``, falling; k = min(m, n), or `top`.

    >>> import numpy as np, quintet.linalg
    >>> quintet.linalg.svdvals(np.diag([1.0, 3.0, 2.0]))
    array([3., 2., 1.])
    """
    return svd(a, False, False, top=top, on_failure=on_failure, device=device)


def _reads_upper(uplo: Any) -> bool:
    if uplo == "L":
        return False
    triangle = uplo.upper() if isinstance(uplo, str) else uplo
    if triangle not in ("L", "U"):
        raise InvalidArgument(f"UPLO must be 'L' or 'U' (UPLO={uplo!r})")
    return bool(triangle == "U")


def _eigen(
    a: Any, uplo: str, vectors: bool, b: Any, positive: bool, by_index: Any, by_value: Any, on_failure: str, device: str
) -> tuple[np.ndarray, np.ndarray | None, tuple[int, ...], Like]:
    """w and V as batches, the leading shape, and how results are returned."""
    if by_index is not None and by_value is not None:
        raise InvalidArgument("subset_by_index and subset_by_value are not for one call")
    array, like = take(a, "a")
    matrices, lead = _batch(array, "a")
    batch, rows, columns = matrices.shape
    if rows != columns:
        raise LinAlgError(f"a must have square matrices (shape={array.shape})")
    upper = _reads_upper(uplo)
    right = None
    if b is not None:
        right = take(b, "b")[0]
        same_type(array, right, "a", "b")
        if right.shape != array.shape:
            raise InvalidArgument(f"b must be of the shape of a (a: {array.shape}, b: {right.shape})")
        right = right.reshape(matrices.shape)
    first, count = (0, rows) if by_index is None else _indices(by_index, rows)
    limits = None if by_value is None else _limits(by_value, lead)
    w = np.empty((batch, count), accumulator(array))
    v = np.empty((batch, rows, count), array.dtype) if vectors else None
    status = np.empty(batch, I32)
    failed = _core.svd_eigen(matrices, w, v, status, upper, device, right, positive, first)
    _check(failed, status, lead, on_failure)
    if limits is not None:
        part = slice(*(int(i) for i in np.searchsorted(w[0], limits, side="right")))
        w, v = np.ascontiguousarray(w[:, part]), None if v is None else np.ascontiguousarray(v[..., part])
    return w, v, lead, like


def _pair(value: Any, name: str, convert: Any) -> tuple[Any, Any]:
    try:
        low, high = value
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be two numbers ({name}={value!r})") from None
    return convert(low, name), convert(high, name)


def _indices(by_index: Any, size: int) -> tuple[int, int]:
    """The first eigenvalue, and how many."""
    first, last = _pair(by_index, "subset_by_index", as_integer)
    if not 0 <= first <= last < size:
        raise InvalidArgument(
            f"subset_by_index must be 0 <= first <= last < {size} (subset_by_index={(first, last)})"
        )
    return first, last - first + 1


def _limits(by_value: Any, lead: tuple[int, ...]) -> tuple[float, float]:
    if lead:
        raise InvalidArgument(f"subset_by_value is for one matrix, not for the batch {lead}")
    low, high = _pair(by_value, "subset_by_value", as_number)
    if not low < high:
        raise InvalidArgument(f"subset_by_value must rise (subset_by_value={(low, high)})")
    return low, high


def eigh(
    a: Any,
    UPLO: str = "L",
    *,
    b: Any = None,
    positive: bool = False,
    subset_by_index: Any = None,
    subset_by_value: Any = None,
    on_failure: str = "raise",
    device: str = "auto",
) -> EighResult:
    """Eigenvalues and eigenvectors of every symmetric matrix, ``a = V @ diag(w) @ V.T``; called as NumPy's.

    Parameters
    ----------
    a : array of shape (..., n, n)
        Symmetric matrices, any strides.
    UPLO : {"L", "U"}, default "L"
        The triangle that is read, lower or upper. The other one is ignored, NaN included.
    b : array of shape (..., n, n), default None
        Positive definite matrices: the generalised problem ``a @ x = w * b @ x``, with ``V.T @ b @ V = I``.
    positive : bool, default False
        The matrices are positive semidefinite: small eigenvalues are right to the last digits, if a scaling D a D is
        well-conditioned, for the time of :func:`svd`.
    subset_by_index : (int, int), default None
        Only eigenvalues from the first to the second number, both included, and their vectors, as SciPy's. The others are
        computed too.
    subset_by_value : (float, float), default None
        Only eigenvalues above the first and up to the second number, of one matrix.
    on_failure : {"raise", "nan"}, default "raise"
        A LinAlgError that names the first matrix with NaN or infinity, or that is not definite as it should be, or NaN for
        such matrices.
    device : str, default "auto"
        "auto", "host", or the number of an offload device.

    Returns
    -------
    EighResult
        ``eigenvalues`` ``[..., k]``, rising, and ``eigenvectors`` ``[..., n, k]``, one a column; k = n without a subset.
        The element of largest size of each is positive.

    Examples
    --------
    >>> import numpy as np, quintet.linalg
    >>> w, V = quintet.linalg.eigh(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> np.allclose(w, [1.0, 3.0])
    True
    """
    w, v, lead, like = _eigen(a, UPLO, True, b, positive, subset_by_index, subset_by_value, on_failure, device)
    assert v is not None
    return EighResult(_restore(w, lead, like), _restore(v, lead, like))


def eigvalsh(
    a: Any,
    UPLO: str = "L",
    *,
    b: Any = None,
    positive: bool = False,
    subset_by_index: Any = None,
    subset_by_value: Any = None,
    on_failure: str = "raise",
    device: str = "auto",
) -> Any:
    """Eigenvalues ``[..., n]`` of every symmetric matrix of ``a[..., n, n]``, rising. Arguments as :func:`eigh`.

    >>> import numpy as np, quintet.linalg
    >>> quintet.linalg.eigvalsh(np.diag([3.0, 1.0, 2.0]))
    array([1., 2., 3.])
    """
    w, _, lead, like = _eigen(a, UPLO, False, b, positive, subset_by_index, subset_by_value, on_failure, device)
    return _restore(w, lead, like)


def _per_matrix(values: np.ndarray, lead: tuple[int, ...], like: Like) -> Any:
    if not lead and like is NUMPY:
        return values[0]
    return like(values.reshape(lead))


def _for_kernel(
    s: np.ndarray, rtol: Any, atol: Any, lead: tuple[int, ...], shape: tuple[int, ...]
) -> tuple[np.ndarray, float]:
    """Singular values and a relative tolerance."""
    if rtol is None and atol is None:
        return s, max(shape[-2:]) * _EPSILON[s.dtype]
    return _Tolerance(rtol, atol, lead, shape, s.dtype).for_kernel(s)


def _one_of(value: Any, older: Any, names: str) -> Any:
    """A tolerance, which NumPy's or SciPy's older name may have."""
    if value is not None and older is not None:
        raise InvalidArgument(f"{names} are one tolerance, and both are given")
    return value if older is None else older


def matrix_rank(
    a: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None, atol: Any = None, device: str = "auto"
) -> Any:
    """Number of singular values above ``max(atol, rtol * S[0])`` of every matrix.

    Parameters
    ----------
    a : array of shape (..., m, n)
        Matrices, any strides.
    tol : float or array, default None
        NumPy's name of `atol`.
    hermitian : bool, default False
        The matrices are symmetric: eigenvalues of the lower triangle, which are faster.
    rtol, atol : float or array, default None
        Tolerances; arrays broadcast to the batch. rtol None is ``max(m, n) * eps``, or 0 where `atol` is given.
    device : str, default "auto"
        "auto", "host", or the number of an offload device.

    Returns
    -------
    int64 array of shape (...)
        The ranks.

    Examples
    --------
    >>> import numpy as np, quintet.linalg
    >>> int(quintet.linalg.matrix_rank(np.ones((3, 3))))
    1
    """
    array, like = take(a, "a")
    matrices, lead = _batch(array, "a")
    tolerance = _Tolerance(rtol, _one_of(atol, tol, "atol and tol"), lead, array.shape, accumulator(array))
    return _per_matrix(tolerance.ranks(_values(matrices, lead, device, hermitian).s), lead, like)


def pinv(
    a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None, atol: Any = None, device: str = "auto"
) -> Any:
    """Pseudo-inverse ``[..., n, m]`` (Moore and Penrose): ``V diag(1/S) U^T`` over singular values above
    ``max(atol, rtol * S[0])``. Tolerances and `hermitian` as :func:`matrix_rank`; `rcond` is NumPy's name of `rtol`.

    >>> import numpy as np, quintet.linalg
    >>> a = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> np.allclose(quintet.linalg.pinv(a) @ a, np.eye(2))
    True
    """
    array, like = take(a, "a")
    matrices, lead = _batch(array, "a")
    f = _economy(matrices, lead, device, hermitian=hermitian)
    batch, m, n = matrices.shape
    out = np.empty((batch, n, m), matrices.dtype)
    s, relative = _for_kernel(f.s, _one_of(rtol, rcond, "rtol and rcond"), atol, lead, array.shape)
    _core.svd_pseudo_inverse(f.u, s, f.v, out, relative, device)
    return _restore(out, lead, like)


def _basis(a: Any, rtol: Any, atol: Any, device: str, null: bool) -> Any:
    """Columns of U or V on one side of the rank, side by side in arrays of one size, with zeros for those that lack."""
    array, like = take(a, "a")
    matrices, lead = _batch(array, "a")
    tolerance = _Tolerance(rtol, atol, lead, array.shape, accumulator(array))
    _, m, n = matrices.shape
    k = min(m, n)
    f = _decompose(matrices, FULL, (m, k, n), device) if null and m < n else _economy(matrices, lead, device)
    _check(f.failed, f.status, lead)
    ranks = tolerance.ranks(f.s)
    # The null space has the last columns: with the order turned, they come first.
    vectors, counts = (f.v[..., ::-1], n - ranks) if null else (f.u, ranks)
    size = int(counts.max(initial=0))
    is_member = np.arange(size) < counts[:, None]
    basis = np.where(is_member[:, None, :], vectors[..., :size], vectors.dtype.type(0))
    return _restore(np.ascontiguousarray(basis), lead, like)


def orth(a: Any, rcond: Any = None, *, rtol: Any = None, atol: Any = None, device: str = "auto") -> Any:
    """Orthonormal bases ``[..., m, r]`` of the range of every matrix, as columns. r is the rank, the largest one in a batch:
    matrices of a smaller rank have columns of zeros, so that ``Q @ Q.T`` is the projection onto the range in every case.

    Parameters
    ----------
    a : array of shape (..., m, n)
        Matrices, any strides.
    rcond : float or array, default None
        SciPy's name of `rtol`.
    rtol, atol : float or array, default None
        Singular values up to ``max(atol, rtol * S[0])`` count as zero, as in :func:`matrix_rank`.
    device : str, default "auto"
        "auto", "host", or the number of an offload device.

    Returns
    -------
    array of shape (..., m, r)
        The bases.

    Examples
    --------
    >>> import numpy as np, quintet.linalg
    >>> abs(quintet.linalg.orth(np.array([[3.0, 6.0], [4.0, 8.0]]))).round(12)
    array([[0.6],
           [0.8]])
    """
    return _basis(a, _one_of(rtol, rcond, "rtol and rcond"), atol, device, False)


def null_space(a: Any, rcond: Any = None, *, rtol: Any = None, atol: Any = None, device: str = "auto") -> Any:
    """Orthonormal bases ``[..., n, n - r]`` of the null space ``{x: a x = 0}`` of every matrix of rank r, as columns.
    Batches, parameters and columns of zeros as in :func:`orth`.

    >>> import numpy as np, quintet.linalg
    >>> abs(quintet.linalg.null_space(np.array([[4.0, 3.0]]))).round(12)
    array([[0.6],
           [0.8]])
    """
    return _basis(a, _one_of(rtol, rcond, "rtol and rcond"), atol, device, True)


def lstsq(
    a: Any,
    b: Any,
    rcond: Any = None,
    *,
    rtol: Any = None,
    atol: Any = None,
    return_info: bool = False,
    device: str = "auto",
) -> Any:
    """The x of least norm among those that minimise ``|a x - b|``.

    Parameters
    ----------
    a : array of shape (..., m, n)
        Matrices, any strides.
    b : array of shape (..., m, r) or (..., m)
        Right-hand sides, or one for each matrix.
    rcond : float or array, default None
        NumPy's name of `rtol`.
    rtol, atol : float or array, default None
        Singular values up to ``max(atol, rtol * S[0])`` count as zero, as in :func:`matrix_rank`.
    return_info : bool, default False
        Returns also what is left, the rank and the singular values.
    device : str, default "auto"
        "auto", "host", or the number of an offload device.

    Returns
    -------
    array of shape (..., n, r) or (..., n), or LstsqResult
        x. With return_info also ``residuals`` ``[..., r]`` or ``[...]``, the norms ``|a x - b|`` (NumPy has their squares),
        ``rank`` ``[...]`` and ``singular_values`` ``[..., min(m, n)]``.

    Examples
    --------
    >>> import numpy as np, quintet.linalg
    >>> quintet.linalg.lstsq(np.array([[1.0], [1.0]]), np.array([1.0, 3.0]))
    array([2.])
    """
    rtol = _one_of(rtol, rcond, "rtol and rcond")
    array, like = take(a, "a")
    right, _ = take(b, "b")
    same_type(array, right, "a", "b")
    matrices, lead = _batch(array, "a")
    batch, m, n = matrices.shape
    single = right.ndim == array.ndim - 1
    expected = lead + (m,) if single else lead + (m, right.shape[-1] if right.ndim else 0)
    if right.shape != expected:
        raise InvalidArgument(
            f"b must be of shape {lead + (m,)} or {lead + (m, 'r')}, as a is (a: {array.shape}, b: {right.shape})"
        )
    f = _economy(matrices, lead, device)
    columns = 1 if single else right.shape[-1]
    out = np.empty((batch, n, columns), matrices.dtype)
    sides = right.reshape((batch, m, columns))
    s, relative = _for_kernel(f.s, rtol, atol, lead, array.shape)
    _core.svd_least_squares(f.u, s, f.v, sides, out, relative, device)
    x = like(out.reshape(lead + ((n,) if single else (n, columns))))
    if not return_info:
        return x
    left = np.empty((batch, columns), f.s.dtype)
    _core.svd_residual_norm(matrices, out, sides, left, device)
    residuals = _per_matrix(left[:, 0], lead, like) if single else _restore(left, lead, like)
    ranks = _Tolerance(rtol, atol, lead, array.shape, f.s.dtype).ranks(f.s)
    return LstsqResult(x, residuals, _per_matrix(ranks, lead, like), _restore(f.s, lead, like))


def cond(a: Any, p: Any = None, *, device: str = "auto") -> Any:
    """Condition number ``S[0] / S[-1]`` of every matrix in the spectral norm; infinity for singular ones, 1 for empty
    ones. p is None or 2, as NumPy has it.

    >>> import numpy as np, quintet.linalg
    >>> float(quintet.linalg.cond(np.diag([4.0, 2.0])))
    2.0
    """
    if p is not None and p != 2:
        raise InvalidArgument(f"p must be None or 2, the spectral norm (p={p!r})")
    array, like = take(a, "a")
    matrices, lead = _batch(array, "a")
    f = _values(matrices, lead, device)
    if f.s.shape[1] == 0:
        return _per_matrix(np.ones(len(f.s), f.s.dtype), lead, like)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(f.s[:, -1] == 0, np.array(np.inf, f.s.dtype), f.s[:, 0] / f.s[:, -1])
    return _per_matrix(value, lead, like)


def polar(a: Any, *, proper_rotations: bool = False, device: str = "auto") -> PolarResult:
    """``a = W @ H``: W ``[..., m, n]`` of orthonormal columns (rows, when m < n), the nearest such matrix, and H
    ``[..., n, n]`` symmetric and positive semidefinite.

    With `proper_rotations` (2 x 2, 3 x 3 and 4 x 4) W is the nearest rotation, det W = 1; H then is symmetric, and has
    one negative eigenvalue where det a < 0.

    >>> import numpy as np, quintet.linalg
    >>> W, H = quintet.linalg.polar(np.array([[0.0, -2.0], [2.0, 0.0]]))
    >>> np.round(W, 12) + 0.0
    array([[ 0., -1.],
           [ 1.,  0.]])
    """
    array, like = take(a, "a")
    matrices, lead = _batch(array, "a")
    f = _economy(matrices, lead, device, PROPER if proper_rotations else ECONOMY)
    batch, m, n = matrices.shape
    w, h = np.empty((batch, m, n), matrices.dtype), np.empty((batch, n, n), matrices.dtype)
    _core.svd_polar(f.u, f.s, f.v, w, h, device)
    return PolarResult(_restore(w, lead, like), _restore(h, lead, like))


def truncation(rank: Any, rtol: Any, atol: Any) -> tuple[int | None, float, float]:
    """rank, atol and rtol of low_rank(), checked."""
    if rank is None and rtol is None and atol is None:
        raise InvalidArgument("rank, rtol or atol must be a number (all are None)")
    wanted = None if rank is None else as_integer(rank, "rank")
    if wanted is not None and wanted < 0:
        raise InvalidArgument(f"rank must be >= 0 (rank={wanted})")
    absolute, relative = (0.0 if t is None else as_number(t, name) for t, name in ((atol, "atol"), (rtol, "rtol")))
    for value, name in ((absolute, "atol"), (relative, "rtol")):
        if not value >= 0:
            raise InvalidArgument(f"{name} must be >= 0 ({name}={value})")
    return wanted, absolute, relative


def low_rank(
    a: Any,
    rank: SupportsIndex | None = None,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    device: str = "auto",
) -> Any:
    """The nearest matrix of rank `rank` to every matrix, in the spectral and the Frobenius norm (Eckart and Young 1936):
    ``U[:, :rank] diag(S[:rank]) Vh[:rank]``. rank >= 0; more than there are singular values means all. With `rtol` or
    `atol` only singular values above ``max(atol, rtol * S[0])`` are kept: the smallest rank within that distance in the
    spectral norm.

    >>> import numpy as np, quintet.linalg
    >>> quintet.linalg.low_rank(np.diag([3.0, 1.0]), 1)
    array([[3., 0.],
           [0., 0.]])
    """
    array, like = take(a, "a")
    matrices, lead = _batch(array, "a")
    wanted, absolute, relative = truncation(rank, rtol, atol)
    f = _economy(matrices, lead, device)
    out = np.empty(matrices.shape, matrices.dtype)
    s = f.s
    if rtol is not None or atol is not None:
        s = np.where(s > np.maximum(relative * s[:, :1], absolute), s, s.dtype.type(0))
    _core.svd_low_rank(f.u, s, f.v, s.shape[1] if wanted is None else wanted, out, device)
    return _restore(out, lead, like)


def svd_gradient(
    svd: Any,
    gU: Any = None,
    gS: Any = None,
    gV: Any = None,
    *,
    policy: str = "drop",
    tolerance: float = 0.0,
    device: str = "auto",
) -> Any:
    """Gradient ``[..., m, n]`` after ``a`` of a loss with the derivatives gU, gS, gV after U, S and **V** (not Vh).

    With P = U^T gU - (U^T gU)^T, Q = V^T gV - (V^T gV)^T and, for i != j,
    ``M_ij = ((P + Q)_ij / (s_j - s_i) + (P - Q)_ij / (s_j + s_i)) / 2``, ``M_ii = gS_i``,
    ``gA = U M V^T + (I - U U^T) gU S^-1 V^T + U S^-1 gV^T (I - V V^T)``.

    Where singular values are equal or zero these derivatives do not determine the gradient of ``U f(S) V^T``, unless f is
    constant: a RuntimeWarning says so, once. ``spectral``, ``low_rank``, ``polar`` and ``lstsq`` of :mod:`quintet.torch`
    have it. Derivatives of the columns that complete full vectors count as those of a loss of their space.

    Parameters
    ----------
    svd : SVDResult
        What :func:`svd` returned, with all singular values and vectors.
    gU, gS, gV : array, default None
        Of the shapes of U, S and V = Vh^T; None is zero.
    policy : {"drop", "exact", "broaden"}, default "drop"
        What 1/x becomes for x = s_j - s_i or s_j + s_i near zero: "exact" 1/x, "drop" 0 where
        ``|x| <= tolerance * S[0]``, "broaden" ``x / (x^2 + (tolerance * S[0])^2)``.
    tolerance : float, default 0
        >= 0; 0 is ``10 max(m, n) eps``.
    device : str, default "auto"
        "auto", "host", or the number of an offload device.

    Examples
    --------
    >>> import numpy as np, quintet.linalg
    >>> a = np.diag([2.0, 1.0])
    >>> quintet.linalg.svd_gradient(quintet.svd(a), gS=np.ones(2)) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """
    f, lead, like = _factors_of(svd)
    gu = _derivative(gU, "gU", lead + f.u.shape[1:], f.u.dtype)
    gs = _derivative(gS, "gS", lead + f.s.shape[1:], f.s.dtype, core=1)
    gv = _derivative(gV, "gV", lead + f.v.shape[1:], f.u.dtype)
    out = np.empty((len(f.u), f.u.shape[1], f.v.shape[1]), f.u.dtype)
    kind = choice_index(policy, "policy", _POLICIES)
    gs = None if gs is None else np.ascontiguousarray(gs)
    if _core.svd_gradient(f.u, f.s, f.v, gu, gs, gv, out, kind, float(tolerance), device):
        narrow = f.u.dtype not in REAL
        u, v = (widen(t) if narrow else t for t in (f.u, f.v))
        gu, gv = (widen(t) if narrow and t is not None else t for t in (gu, gv))
        warn_of_degenerate(u, f.s, v, gu, gs, gv, kind, float(tolerance))
    return _restore(out, lead, like)


_has_warned = False


def warn_of_degenerate(
    u: np.ndarray,
    s: np.ndarray,
    v: np.ndarray,
    gu: np.ndarray | None,
    gs: np.ndarray | None,
    gv: np.ndarray | None,
    policy: int,
    tolerance: float,
) -> None:
    """One RuntimeWarning in a process where a gradient through U or V may be wrong, because singular values are equal or
    zero; the arguments are those of _core.svd_gradient, of any leading shape."""
    global _has_warned
    if _has_warned or _POLICIES[policy] == "exact" or (gu is None and gv is None):
        return
    if _needs_dropped(u, s, v, gu, gs, gv, tolerance):
        _has_warned = True
        warnings.warn(
            "singular values are equal or zero, where the gradient through U and V is not that of U f(S) V^T: "
            "spectral, low_rank, polar and lstsq of quintet.torch have the right one (this is said once)",
            RuntimeWarning,
            stacklevel=3,
        )


def _needs_dropped(
    u: np.ndarray,
    s: np.ndarray,
    v: np.ndarray,
    gu: np.ndarray | None,
    gs: np.ndarray | None,
    gv: np.ndarray | None,
    tolerance: float,
) -> bool:
    """Whether a dropped quotient has a numerator, or one of 0 / 0 may be needed. A loss of U V^T has the right gradient,
    because it does not depend on S."""
    m, n, k = u.shape[-2], v.shape[-2], s.shape[-1]
    eps = _EPSILON[s.dtype]
    limit = (tolerance or 10 * max(m, n) * eps) * s[..., :1]
    off = ~np.eye(k, dtype=bool)
    near = (np.abs(s[..., :, None] - s[..., None, :]) <= limit[..., None]) & off
    zero = s <= limit
    lone = zero & (m != n)
    affected = near.any(-1) | lone

    def turn(basis: np.ndarray, g: np.ndarray | None) -> Any:
        if g is None:
            return 0.0
        product = basis[..., :k].swapaxes(-1, -2) @ g[..., :k]
        return product - product.swapaxes(-1, -2)

    def columns(g: np.ndarray | None) -> Any:
        return np.zeros(s.shape) if g is None else np.abs(g[..., :k]).max(-2, initial=0)

    size = np.maximum(columns(gu), columns(gv))
    if gs is not None and bool((((gs != 0) & affected).any(-1) & size.any(-1)).any()):
        return True
    least = np.sqrt(eps) * size.max(-1, initial=0)[..., None]
    p, q = turn(u, gu), turn(v, gv)
    both_zero = zero[..., :, None] & zero[..., None, :] & off
    has_numerator = (near & (np.abs(p + q) > least[..., None])) | (both_zero & (np.abs(p - q) > least[..., None]))
    return bool(has_numerator.any() or (lone & (size > least)).any())


def _factors_of(svd: Any) -> tuple[_Factors, tuple[int, ...], Like]:
    """Of what svd() returned: U, S, V as batches, the leading shape, and how results are returned."""
    try:
        U, S, Vh = svd
    except (TypeError, ValueError):
        raise TypeError("svd must be (U, S, Vh), what svd() returns") from None
    u, like = take(U, "U")
    s, _ = take(S, "S", REAL)
    vh, _ = take(Vh, "Vh")
    same_type(u, vh, "U", "Vh")
    if s.dtype != accumulator(u):
        raise TypeError(f"S must be of type {accumulator(u).name} (dtype={s.dtype})")
    u, lead = _batch(u, "U")
    vh, _ = _batch(vh, "Vh")
    s = np.ascontiguousarray(s).reshape((len(u), -1))
    none = np.empty(0, I32)
    return _Factors(u, s, vh.swapaxes(1, 2), none, none, 0), lead, like


def _derivative(g: Any, name: str, shape: tuple[int, ...], dtype: np.dtype, core: int = 2) -> np.ndarray | None:
    """With one leading dimension, before the last `core` ones."""
    if g is None:
        return None
    array, _ = take(g, name)
    if array.dtype != dtype:
        raise TypeError(f"{name} must be of type {dtype.name} (dtype={array.dtype})")
    if array.shape != shape:
        raise InvalidArgument(f"{name} must be of shape {shape} (shape={array.shape})")
    lead = shape[: len(shape) - core]
    return array.reshape((math.prod(lead),) + shape[len(lead) :])


def polar_gradient(
    svd: Any,
    gW: Any = None,
    gH: Any = None,
    *,
    policy: str = "drop",
    tolerance: float = 0.0,
    device: str = "auto",
) -> Any:
    """Gradient ``[..., m, n]`` after ``a`` of a loss with the derivatives gW ``[..., m, n]`` and gH ``[..., n, n]`` after
    the factors of :func:`polar`; None for zero. `svd` is what :func:`svd` returned with ``full_matrices=False``, and
    with `proper_rotations` the result is that of the nearest rotation.

    With M = U^T gW V, N = V^T (gH + gH^T) V and X_ij = (M_ij - M_ji + s_i N_ij) / (s_i + s_j),
    ``gA = U X V^T + (I - U U^T) gW V S^-1 V^T + U (S^-1 U^T gW + V^T (gH + gH^T)) (I - V V^T)``: equal singular values
    are no special case. `policy` and `tolerance` as in :func:`svd_gradient`.

    >>> import numpy as np, quintet.linalg
    >>> a = np.array([[2.0, 0.0], [0.0, 1.0]])
    >>> turn = np.array([[0.0, -3.0], [3.0, 0.0]])
    >>> quintet.linalg.polar_gradient(quintet.svd(a, full_matrices=False), gW=turn) + 0.0
    array([[ 0., -2.],
           [ 2.,  0.]])
    """
    f, lead, like = _factors_of(svd)
    batch, m, n = len(f.u), f.u.shape[1], f.v.shape[1]
    gw = _derivative(gW, "gW", lead + (m, n), f.u.dtype)
    gh = _derivative(gH, "gH", lead + (n, n), f.u.dtype)
    out = np.empty((batch, m, n), f.u.dtype)
    kind = choice_index(policy, "policy", _POLICIES)
    _core.svd_polar_gradient(f.u, f.s, f.v, gw, gh, out, kind, float(tolerance), device)
    return _restore(out, lead, like)


class _PointSets(NamedTuple):
    points: np.ndarray
    target: np.ndarray
    weights: np.ndarray | None


def _take_weights(weights: Any, p: np.ndarray) -> np.ndarray:
    """Of the type of p; a mask becomes 0 and 1."""
    w, _ = take(weights, "weights", (*REAL, BOOL))
    if w.dtype == BOOL:
        return w.astype(p.dtype)
    same_type(p, w, "points", "weights")
    return w


def _common_shape(p: np.ndarray, q: np.ndarray, w: np.ndarray | None) -> tuple[int, ...]:
    """[..., N, D] of both sets, with leading shapes broadcast."""
    if p.ndim < 2 or q.ndim < 2 or p.shape[-2:] != q.shape[-2:]:
        raise InvalidArgument(
            f"points and target must have one shape [..., N, D] (points: {p.shape}, target: {q.shape})"
        )
    if w is not None and (w.ndim < 1 or w.shape[-1] != p.shape[-2]):
        raise InvalidArgument(f"weights must be of shape {p.shape[:-1]} (shape={w.shape})")
    leads = [p.shape[:-2], q.shape[:-2], *([] if w is None else [w.shape[:-1]])]
    try:
        return np.broadcast_shapes(*leads) + p.shape[-2:]
    except ValueError:
        raise InvalidArgument(
            f"leading shapes of points, target and weights must broadcast ({', '.join(map(str, leads))})"
        ) from None


def _point_sets(points: Any, target: Any, weights: Any) -> tuple[_PointSets, tuple[int, ...], Like]:
    """As [B, N, D] and [B, N], the leading shape, and how results are returned."""
    p, like = take(points, "points", REAL)
    q, _ = take(target, "target", REAL)
    same_type(p, q, "points", "target")
    w = None if weights is None else _take_weights(weights, p)
    shape = _common_shape(p, q, w)
    matrices, lead = _batch(np.broadcast_to(p, shape), "points")
    q = np.broadcast_to(q, shape).reshape(matrices.shape)
    if w is not None:
        w = np.ascontiguousarray(np.broadcast_to(w, shape[:-1]).reshape(matrices.shape[:2]))
    return _PointSets(matrices, q, w), lead, like


def _check_finite(result: np.ndarray, lead: tuple[int, ...], what: str) -> None:
    """LinAlgError that names the first set with NaN or infinity, which make a result that is not finite."""
    finite = np.isfinite(result)
    if finite.all():
        return
    first = int(finite.reshape(len(result), -1).all(axis=1).argmin())
    place = ", ".join(str(int(i)) for i in np.unravel_index(first, lead)) if lead else ""
    raise LinAlgError(f"{what} hold NaN or infinity" + (f" (set [{place}])" if lead else ""))


def kabsch(
    points: Any,
    target: Any,
    weights: Any = None,
    *,
    reflections: bool = False,
    scale: bool = False,
    device: str = "auto",
) -> RigidMotion | SimilarityMotion:
    """The rigid motion of least weighted squares from one set of points to another: rotation R of determinant 1,
    translation t and the root of the weighted mean square that is left.

    ``R = V diag(1, ..., 1, det(V U^T)) U^T`` of ``U S V^T = sum w (p - mean p)(q - mean q)^T`` and
    ``t = mean q - R mean p`` (Kabsch 1976; Umeyama 1991). NaN and infinity are a LinAlgError that names the set.

    Parameters
    ----------
    points, target : array of shape (..., N, D)
        float32 or float64, D = 2, 3 or 4; leading shapes broadcast.
    weights : array of shape (..., N), default None
        Numbers >= 0 with a positive sum, or bools, a mask. Points of weight 0 are ignored, NaN included. None: all 1.
    reflections : bool, default False
        R is orthogonal of either determinant (Schoenemann 1966), and D any.
    scale : bool, default False
        Also the factor c that minimises ``|c R p + t - q|`` with R and t (Umeyama 1991); 1 for points that are all equal.
    device : str, default "auto"
        "auto", "host", or the number of an offload device.

    Returns
    -------
    RigidMotion or SimilarityMotion
        ``rotation`` ``[..., D, D]``, ``translation`` ``[..., D]``, ``rmsd`` ``[...]``; with `scale` also ``scale``
        ``[...]``.

    Examples
    --------
    >>> import numpy as np, quintet.linalg
    >>> p = np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]])
    >>> turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    >>> R, t, rmsd = quintet.linalg.kabsch(p, p @ turn.T + 5)
    >>> np.allclose(R, turn), np.allclose(t, 5), bool(rmsd < 1e-12)
    (True, True, True)
    """
    sets, lead, like = _point_sets(points, target, weights)
    batch, _, d = sets.points.shape
    dtype = sets.points.dtype
    rotation, translation, rmsd = np.empty((batch, d, d), dtype), np.empty((batch, d), dtype), np.empty(batch, dtype)
    factor = np.empty(batch, dtype) if scale else None
    _core.svd_kabsch(*sets, rotation, translation, rmsd, factor, reflections, device)
    _check_finite(rmsd, lead, "points, target or weights")
    motion = (_restore(rotation, lead, like), _restore(translation, lead, like), _per_matrix(rmsd, lead, like))
    return RigidMotion(*motion) if factor is None else SimilarityMotion(*motion, _per_matrix(factor, lead, like))


def kabsch_gradient(
    points: Any,
    target: Any,
    weights: Any = None,
    *,
    g_rotation: Any = None,
    g_translation: Any = None,
    g_rmsd: Any = None,
    g_scale: Any = None,
    reflections: bool = False,
    scale: bool = False,
    device: str = "auto",
) -> tuple[Any, Any]:
    """Gradients after points and target, of their shapes, of a loss with the derivatives g_rotation ``[..., D, D]``,
    g_translation ``[..., D]``, g_rmsd ``[...]`` and g_scale ``[...]`` after what :func:`kabsch` returns; None for zero.
    Weights are constants. Where rmsd is 0 its derivative counts as 0. Autograd is in ``quintet.torch.kabsch``.

    >>> import numpy as np, quintet.linalg
    >>> p = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    >>> after_p, after_q = quintet.linalg.kabsch_gradient(p, p + 1, g_translation=np.array([3.0, 0.0]))
    >>> np.round(after_q.sum(axis=0), 12) + 0.0
    array([3., 0.])
    """
    sets, lead, like = _point_sets(points, target, weights)
    d, dtype = sets.points.shape[2], sets.points.dtype
    gr = _derivative(g_rotation, "g_rotation", lead + (d, d), dtype)
    gt = _derivative(g_translation, "g_translation", lead + (d,), dtype, 1)
    gs = _derivative(g_rmsd, "g_rmsd", lead, dtype, 0)
    if g_scale is not None and not scale:
        raise InvalidArgument("g_scale needs scale=True")
    gc = _derivative(g_scale, "g_scale", lead, dtype, 0)
    g_points, g_target = _core.svd_kabsch_gradient(*sets, gr, gt, gs, gc, reflections, scale, device)
    _check_finite(g_points, lead, "points, target, weights or derivatives")
    return tuple(
        like(_sum_to(g.reshape(lead + g.shape[1:]), np.shape(t))) for g, t in ((g_points, points), (g_target, target))
    )


def _sum_to(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Sums over the dimensions that broadcasting made."""
    extra = array.ndim - len(shape)
    axes = tuple(i for i, size in enumerate(array.shape) if i < extra or (shape[i - extra] == 1 and size != 1))
    return array.sum(axis=axes).reshape(shape) if axes else array


def randomized_svd(
    a: Any,
    rank: SupportsIndex,
    *,
    oversampling: SupportsIndex = 10,
    power_iterations: SupportsIndex = 2,
    seed: SupportsIndex = 0,
    canonical_signs: bool = False,
    device: str = "auto",
) -> RandomizedSVDResult:
    """The leading `rank` singular values and vectors of every matrix by a random sketch (Halko, Martinsson and Tropp
    2011), for ranks far below min(m, n). 16-bit matrices are computed in float32.

    Returns U ``[..., m, r]``, S ``[..., r]``, Vh ``[..., r, n]`` with r = min(rank, m, n), and the residual
    ``|a - U diag(S) Vh|_F`` ``[...]``, float64.

    >>> import numpy as np, quintet.linalg
    >>> rng = np.random.default_rng(0)
    >>> a = rng.standard_normal((100, 4)) @ rng.standard_normal((4, 50))
    >>> r = quintet.linalg.randomized_svd(a, 4)
    >>> np.allclose(r.U * r.S @ r.Vh, a)
    True
    """
    array, like = take(a, "a")
    matrices, lead = _batch(array, "a")
    narrow = matrices.dtype not in (F32, F64)
    if narrow:
        matrices = widen(matrices)
    wanted, extra = as_integer(rank, "rank"), as_integer(oversampling, "oversampling")
    iterations, key = as_integer(power_iterations, "power_iterations"), as_seed(seed, "seed")
    if not 0 <= key < 2**64:
        raise InvalidArgument(f"seed must be in [0, 2^64) (seed={key})")
    u, s, v, residual, status, _ = _core.svd_randomised(
        matrices, wanted, extra, iterations, key, canonical_signs, device
    )
    _check(int(np.count_nonzero(status)), status, lead)
    vh = v.swapaxes(1, 2)
    if narrow:
        u, vh = round_to(u, array.dtype), round_to(vh, array.dtype)
    return RandomizedSVDResult(
        _restore(u, lead, like), _restore(s, lead, like), _restore(vh, lead, like), _per_matrix(residual, lead, like)
    )


def widen(array: np.ndarray) -> np.ndarray:
    """float32 with the values of float16 or of bfloat16 patterns."""
    if array.dtype == np.uint16:
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float32)


def round_to(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """float32 rounded to float16 or to bfloat16 patterns, to nearest, ties to even."""
    if dtype != np.uint16:
        return array.astype(dtype)
    bits = np.ascontiguousarray(array).view(np.uint32)
    rounded = ((bits + (np.uint32(0x7FFF) + ((bits >> 16) & 1))) >> 16).astype(np.uint16)
    nan = np.uint16(0x40) | (bits >> 16).astype(np.uint16)
    return np.where(np.isnan(array), nan, rounded)



