"""SciPy's products, computed by this library: :func:`quintet.sparse.patch`.

Every product of a CSR or CSC matrix of SciPy (``@``, ``dot``, ``*`` of matrices, ``**``) ends in one of three methods of
their common base. The patch replaces these. What it does not take goes to SciPy's method unchanged.
"""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._arguments import as_integer
from ._arrays import F32, F64, REAL

__all__ = ["patch", "patch_report", "patched", "unpatch"]

_Method = Callable[[Any, Any], Any]

#: Products with fewer multiplications are SciPy's, which starts faster: measured with one thread and with two.
MIN_PRODUCTS = {"sparse": 3_000, "dense": 20_000, "vector": 200_000}


class _Settings(NamedTuple):
    min_products: dict[str, int]
    takes_all: bool  #: min_products is the caller's
    device: str


#: Columns from which on a CSC matrix is worth a pass of several columns, or a transpose, in front of a dense one.
_MIN_COLUMNS_OF_CSC = 4
#: Entries for each row of a CSC matrix from which on blocks of its columns are summed side by side.
_MIN_ENTRIES_OF_CSC = 16

_lock = threading.RLock()
_stack: list[_Settings] = []
#: The last of the stack: what a product reads, in one step.
_current: _Settings | None = None
_originals: dict[str, _Method] = {}
_installed: set[str] = set()
_taken: Counter[str] = Counter()
_left: Counter[str] = Counter()


def _is_serial(self: Any, settings: _Settings) -> bool:
    """Whether the matrix is CSC with so few entries that one thread adds them up, as SciPy does, which starts faster."""
    return self.format == "csc" and not settings.takes_all and self.nnz < _MIN_ENTRIES_OF_CSC * self.shape[0]


def _take(kind: str) -> None:
    with _lock:
        _taken[kind] += 1


def _leave(reason: str, method: str, self: Any, other: Any) -> Any:
    with _lock:
        _left[reason] += 1
    return _originals[method](self, other)


def _is_real(array: np.ndarray) -> bool:
    return array.dtype in REAL and array.flags.aligned


def _reason_to_leave(self: Any, products: float, kind: str, settings: _Settings) -> str | None:
    if self.format not in ("csr", "csc") or self.ndim != 2:
        return "format"
    if not _is_real(self.data):
        return "dtype"
    return "small" if products < settings.min_products[kind] else None


def _sparse(self: Any, other: Any) -> Any:
    """``self @ other`` of two sparse matrices, as SciPy's ``_matmul_sparse`` gives it, with sorted rows."""
    from . import sparse

    settings = _current
    if settings is None:
        return _originals["_matmul_sparse"](self, other)
    if other.ndim != 2:
        return _leave("format", "_matmul_sparse", self, other)
    products = self.nnz * other.nnz / max(1, other.shape[0])
    reason = _reason_to_leave(self, products, "sparse", settings)
    if reason is None and other.dtype not in REAL:
        reason = "dtype"
    if reason is not None:
        return _leave(reason, "_matmul_sparse", self, other)
    _take("sparse")
    kind, shape = self.__class__, (self.shape[0], other.shape[1])
    if other is not self and other.format not in ("csr", "csc"):
        other = kind(other)
    # The transpose of CSR is CSC of the same arrays: each is taken as it is stored. A product by columns is that of the
    # transposes.
    turned = other.format != self.format
    first, second = (self, other) if self.format == "csr" else (other, self)
    a = sparse._parts(first, "A", "plus_times")
    b = a if sparse._shares_arrays(first, second) else sparse._parts(second, "B", "plus_times")
    left, right = sparse._cores(a, b, sparse._common(a, b, turned=turned))
    if turned and b is a:
        _take("gram")
        result, _ = _core.spgemm_gram(left, self.format == "csr", False, "plus_times", False, settings.device)
    else:
        turned_first, turned_second = turned and self.format == "csc", turned and self.format == "csr"
        result, _ = _core.spgemm_multiply(
            left, right, "plus_times", None, False, turned_first, turned_second, False, settings.device
        )
    _, _, indptr, indices, data = result
    if not len(data):
        return kind(shape, dtype=data.dtype)
    # SciPy's type of the indices follows from the operands and from the entries before it drops sums that are 0.
    index = self._get_index_dtype((self.indptr, self.indices, other.indptr, other.indices), maxval=int(indptr[-1]))
    if np.count_nonzero(data) < len(data):
        indptr, indices, data = sparse._pruned(indptr, indices, data)
    product = kind((data, indices.astype(index, copy=False), indptr.astype(index, copy=False)), shape=shape)
    product.has_canonical_format = True
    return product


def _multiply_dense(self: Any, other: np.ndarray, result: np.ndarray, settings: _Settings) -> None:
    """Few columns times CSC as it is stored; more columns are worth the transpose."""
    from . import sparse

    transposed = self.format == "csc" and other.shape[1] <= sparse._SCATTERED_COLUMNS
    parts = sparse._parts(self, "A", "plus_times")
    core = parts.core(other.dtype, sparse._common(parts)[1], other.shape[1] > 1 and not transposed)
    if self.format == "csc" and not transposed:
        core = _core.spgemm_transpose(core, settings.device)
    _core.spgemm_multiply_dense(core, other, result, transposed, settings.device)


def _dense(self: Any, other: np.ndarray) -> Any:
    """``self @ other`` of a dense matrix, as SciPy's ``_matmul_multivector`` gives it."""
    settings = _current
    if settings is None:
        return _originals["_matmul_multivector"](self, other)
    reason = None if other.ndim == 2 else "format"
    if reason is None and other.shape[1] < _MIN_COLUMNS_OF_CSC and _is_serial(self, settings):
        reason = "format"
    reason = reason or _reason_to_leave(self, self.nnz * other.shape[-1], "dense", settings)
    if reason is None and not _is_real(other):
        reason = "dtype"
    if reason is not None:
        return _leave(reason, "_matmul_multivector", self, other)
    _take("dense")
    dtype = F64 if F64 in (self.dtype, other.dtype) else F32
    result = np.empty((self.shape[0], other.shape[1]), dtype)
    _multiply_dense(self, np.ascontiguousarray(other, dtype=dtype), result, settings)
    return result


def _vector(self: Any, other: np.ndarray) -> Any:
    """``self @ other`` of a vector, as SciPy's ``_matmul_vector`` gives it."""
    settings = _current
    if settings is None:
        return _originals["_matmul_vector"](self, other)
    reason = _reason_to_leave(self, self.nnz, "vector", settings)
    if reason is None and not _is_real(other):
        reason = "dtype"
    if reason is None and settings.device == "host" and not settings.takes_all and _core.threads() == 1:
        reason = "thread"  # the loops of both are one and the same, and SciPy's is called faster
    if reason is None and _is_serial(self, settings):
        reason = "format"
    if reason is not None:
        return _leave(reason, "_matmul_vector", self, other)
    _take("vector")
    dtype = F64 if F64 in (self.dtype, other.dtype) else F32
    result = np.empty(self.shape[0], dtype)
    column = np.ascontiguousarray(other, dtype=dtype).reshape(-1, 1)
    _multiply_dense(self, column, result.reshape(-1, 1), settings)
    return result


_REPLACEMENTS: dict[str, _Method] = {
    "_matmul_sparse": _sparse,
    "_matmul_multivector": _dense,
    "_matmul_vector": _vector,
}


def _base() -> Any:
    """The class of SciPy that has the methods."""
    try:
        import scipy.sparse._compressed as compressed
    except ImportError as error:
        raise ImportError("quintet.sparse needs SciPy: pip install 'quintet[scipy]'") from error
    base = getattr(compressed, "_cs_matrix", None)
    missing = [name for name in _REPLACEMENTS if not callable(getattr(base, name, None))]
    if missing:
        import scipy

        raise ImportError(f"patch() needs a SciPy that has {', '.join(missing)} (version {scipy.__version__})")
    return base


def patch(*, min_products: int | None = None, device: str = "host") -> None:
    """Lets this library compute SciPy's products: ``A @ B``, ``A.dot(B)``, ``A * B`` of matrices, and powers.

    It takes CSR and CSC, arrays and matrices, of float32 and float64: times sparse matrices, times dense ones (from
    either side), and times vectors. All else stays SciPy's: other types and formats, and small products.
    Results are what SciPy gives: class, types, shape and errors. Sums that are 0 are dropped. Rows are sorted,
    which SciPy's are not. Matrices with columns out of range are an InvalidArgument.

    Calls nest: each takes one :func:`unpatch`. Any thread may call it; it holds for all threads.

    Parameters
    ----------
    min_products : int, optional
        Products with fewer multiplications stay SciPy's. None: a measured number for each kind of product, and
        products with vectors stay SciPy's on one thread.
    device : str
        Where products are computed.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from quintet import sparse
    >>> A = sp.eye_array(10_000, format="csr")
    >>> sparse.patch()
    >>> (A @ A).nnz
    10000
    >>> sparse.unpatch()
    >>> sparse.patch_report()["sparse"]
    1
    """
    limits = dict(MIN_PRODUCTS)
    takes_all = min_products is not None
    if takes_all:
        limits = dict.fromkeys(MIN_PRODUCTS, as_integer(min_products, "min_products", 0))
    _core.check_device(device)
    base = _base()
    global _current
    with _lock:
        if not _stack:
            _taken.clear()
            _left.clear()
        for name, method in _REPLACEMENTS.items():
            if name not in _installed:
                _originals[name] = getattr(base, name)
                setattr(base, name, method)
                _installed.add(name)
        _current = _Settings(limits, takes_all, device)
        _stack.append(_current)


def unpatch() -> None:
    """Undoes one :func:`patch`; after the last, SciPy's methods are back. Without one, nothing happens."""
    global _current
    with _lock:
        if not _stack:
            return
        _stack.pop()
        _current = _stack[-1] if _stack else None
        if _stack:
            return
        base = _base()
        for name, method in _REPLACEMENTS.items():
            if getattr(base, name) is method:  # otherwise another patch lies over this one and may still call it
                setattr(base, name, _originals[name])
                _installed.discard(name)


@contextlib.contextmanager
def patched(*, min_products: int | None = None, device: str = "host") -> Iterator[None]:
    """``with patched():`` :func:`patch` inside, for all threads.

    Parameters
    ----------
    min_products : int, optional
        As in :func:`patch`.
    device : str
        As in :func:`patch`.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from quintet import sparse
    >>> with sparse.patched(min_products=0):
    ...     (sp.eye_array(3, format="csr") @ sp.eye_array(3, format="csr")).trace()
    np.float64(3.0)
    """
    patch(min_products=min_products, device=device)
    try:
        yield
    finally:
        unpatch()


def patch_report() -> dict[str, Any]:
    """How many products were taken since the first :func:`patch`: "sparse", "dense" and "vector" by the right operand.
    "gram" counts the sparse ones of a matrix and its own transpose, ``X.T @ X`` or ``X @ X.T``: of those arrays nothing
    is converted.

    "left" counts those that stayed SciPy's, by reason: "small", "dtype", "format", or "thread": a vector on one thread.
    It can be read after :func:`unpatch`, until the next :func:`patch`.

    >>> from quintet import sparse
    >>> with sparse.patched():
    ...     sparse.patch_report()
    {'sparse': 0, 'gram': 0, 'dense': 0, 'vector': 0, 'left': {}}
    """
    with _lock:
        return {**{kind: _taken[kind] for kind in ("sparse", "gram", "dense", "vector")}, "left": dict(_left)}
