"""Products of SciPy's sparse matrices, over three semirings, with masks, plans and budgets of memory.

``C(i, j) = sum over k of A(i, k) * B(k, j)`` in the order of the entries of A's row i: the same bits for any number of
threads and on every device. Semirings: "plus_times", "min_plus" (shortest paths: the sum of products is the least of
the sums) and "or_and" (reachability: results are 0 or 1).

Matrices are CSR, CSC, COO or BSR, arrays or matrices, of float32 or float64 (of two types the larger); bool goes with
"or_and" only. Repeated entries are added with the semiring's addition: "min_plus" takes the smaller one. It passes over
NaN: an entry that has no other products is inf. Results are CSR (of add, and of multiply without a mask, CSC for two CSC
operands), arrays where an operand is one, canonical, with int32 indices where they fit. An entry exists where a product exists: other than SciPy, which drops
cancelled sums, explicit zeros stay unless ``prune=True``; compare values, not nnz.

Errors: ``TypeError`` for what is no sparse matrix and for other types, ``InvalidArgument`` (a ``ValueError``) for sizes
that do not fit and arrays that are no matrix, ``OutOfMemory``, ``DeviceError``.
"""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

import numpy as np

from . import _core
from ._arrays import BOOL, F32, F64, I32, I64, REAL, take_rows, take_vector
from ._errors import InvalidArgument
from ._arguments import as_integer, as_number

__all__ = [
    "Estimate",
    "Plan",
    "add",
    "estimate",
    "multiply",
    "multiply_blocks",
    "multiply_dense",
    "summarise",
    "transpose",
]

_SEMIRINGS = ("plus_times", "min_plus", "or_and")
_INT32_MAX = np.iinfo(np.int32).max


class Estimate(NamedTuple):
    """What can be said of a product without computing it."""

    products: int  #: scalar multiplications
    upper_bound: int  #: nnz is at most this
    predicted_nnz: int  #: within 30 %
    upper_bytes: int  #: of the result at most
    predicted_bytes: int  #: of the result
    minimum_budget: int  #: the least that multiply_blocks takes


class _Matrix(NamedTuple):
    """CSR arrays; ``rows x cols`` of the matrix that they are, which is the transpose for CSC. indptr is a copy, and so
    are the indices that the library gets: it follows them without the GIL, while another thread may change the
    caller's."""

    rows: int
    cols: int
    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    is_array: bool
    is_bool: bool

    def core(self, dtype: np.dtype, index: np.dtype) -> tuple[Any, ...]:
        return (
            self.rows,
            self.cols,
            self.indptr,
            np.array(self.indices, dtype=index, order="C"),
            np.ascontiguousarray(self.data, dtype=dtype),
        )


_module: Any = None


def _scipy() -> Any:
    global _module
    if _module is None:
        try:
            import scipy.sparse
        except ImportError as error:
            raise ImportError("quintet.sparse needs SciPy: pip install 'quintet[scipy]'") from error
        _module = scipy.sparse
    return _module


def _check_semiring(semiring: str) -> str:
    if semiring not in _SEMIRINGS:
        raise InvalidArgument(f"semiring must be one of {', '.join(_SEMIRINGS)} (semiring={semiring!r})")
    return semiring


def _parts(matrix: Any, name: str, semiring: str, pattern: bool = False) -> _Matrix:
    """The arrays of a CSR or CSC matrix. `pattern`: the values do not count, any type will do."""
    if pattern:
        data = np.asarray(matrix.data)
        if data.dtype not in REAL:
            data = np.ones(len(data), np.float32)
    else:
        data = _values(matrix, name, semiring)
    indptr = np.array(matrix.indptr, dtype=I64, order="C")
    rows, cols = matrix.shape if matrix.format == "csr" else matrix.shape[::-1]
    return _Matrix(rows, cols, indptr, np.asarray(matrix.indices), data, _is_array(matrix), matrix.data.dtype == BOOL)


def _values(matrix: Any, name: str, semiring: str) -> np.ndarray:
    """The values as float32 or float64."""
    data = np.asarray(matrix.data)
    if data.dtype in REAL:
        return data
    is_bool = data.dtype == BOOL
    if is_bool and semiring == "or_and":
        return data.astype(np.float32)
    if data.dtype.newbyteorder("=") not in REAL:
        hint = f": use {name}.astype(float)"
        if is_bool:
            hint = "; bool is for semiring='or_and'"
        elif data.dtype.kind == "c":
            hint = f": multiply {name}.real and {name}.imag apart"
        raise TypeError(f"{name} must be of type float32 or float64{hint} (dtype={matrix.dtype})")
    return data


def _is_array(matrix: Any) -> bool:
    return isinstance(matrix, _scipy().sparray)


def _checked(matrix: Any, name: str) -> Any:
    if not _scipy().issparse(matrix):
        raise TypeError(f"{name} must be a sparse matrix of SciPy ({name} is {type(matrix).__qualname__})")
    if matrix.ndim != 2:
        raise InvalidArgument(f"{name} must have 2 dimensions (shape={matrix.shape})")
    return matrix


def _csr(matrix: Any, name: str, semiring: str = "plus_times") -> Any:
    """CSR, where repeated entries stay unless plus_times adds them, as SciPy does."""
    matrix = _checked(matrix, name)
    if matrix.format != "coo" or semiring == "plus_times":
        return matrix.tocsr()
    order = np.lexsort((matrix.col, matrix.row))
    indptr = np.concatenate(([0], np.cumsum(np.bincount(matrix.row, minlength=matrix.shape[0]))))
    kind = _scipy().csr_array if _is_array(matrix) else _scipy().csr_matrix
    return kind((matrix.data[order], matrix.col[order], indptr), shape=matrix.shape)


def _equal(x: np.ndarray, y: np.ndarray) -> bool:
    same = _core.same_numbers(x, y)
    if same >= 0:
        return same == 1
    return x.shape == y.shape and bool((x == y).all())


def _pair(A: Any, B: Any, semiring: str) -> tuple[_Matrix, _Matrix]:
    """The arrays of both, of one matrix once."""
    a = _parts(_csr(A, "A", semiring), "A", semiring)
    return a, a if B is A else _parts(_csr(B, "B", semiring), "B", semiring)


def _cores(a: _Matrix, b: _Matrix, types: tuple[np.dtype, np.dtype]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    left = a.core(*types)
    return left, left if b is a else b.core(*types)


def _common(*matrices: _Matrix) -> tuple[np.dtype, np.dtype]:
    dtype: np.dtype = F32
    index: np.dtype = I32
    for m in matrices:
        if m.data.dtype.itemsize == 8:
            dtype = F64
        if m.indices.dtype.itemsize == 8 or m.cols > _INT32_MAX:
            index = I64
    return dtype, index


def _pruned(
    indptr: np.ndarray, indices: np.ndarray, data: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    kept = data != 0
    counted = np.concatenate(([0], np.cumsum(kept)))
    return counted[indptr], indices[kept], data[kept]


#: Attributes of an empty matrix of every kind that was made.
_attributes: dict[Any, dict[str, Any]] = {}


def _assembled(kind: Any, shape: tuple[int, int], data: np.ndarray, indices: np.ndarray, indptr: np.ndarray) -> Any:
    """``kind((data, indices, indptr), shape)`` of canonical rows without SciPy's checks, which take longer than small
    products: what the library returns passes them."""
    attributes = _attributes.get(kind)
    if attributes is None:
        empty = kind((1, 1))
        empty.has_canonical_format = True
        attributes = _attributes[kind] = dict(vars(empty))
    if not attributes.keys() >= {"_shape", "data", "indices", "indptr"}:  # SciPy has changed
        result = kind((data, indices, indptr), shape=shape, copy=False)
        result.has_canonical_format = True
        return result
    result = kind.__new__(kind)
    vars(result).update(attributes, _shape=shape, data=data, indices=indices, indptr=indptr)
    return result


def _result(
    found: tuple[Any, ...], is_array: bool, is_bool: bool, prune: bool = False, columns: bool = False
) -> Any:
    rows, cols, indptr, indices, data = found
    if prune:
        indptr, indices, data = _pruned(indptr, indices, data)
    if is_bool:
        data = data != 0
    # Products of a matrix whose indptr is int64 make SciPy copy its indices to int64.
    if indices.dtype.itemsize == 4 and int(indptr[-1]) <= _INT32_MAX:
        indptr = indptr.astype(np.int32)
    sparse = _scipy()
    kinds = (sparse.csc_array, sparse.csc_matrix) if columns else (sparse.csr_array, sparse.csr_matrix)
    shape = (cols, rows) if columns else (rows, cols)
    return _assembled(kinds[0 if is_array else 1], shape, data, indices, indptr)


def multiply(
    A: Any,
    B: Any,
    *,
    semiring: str = "plus_times",
    mask: Any = None,
    complement: bool = False,
    transpose_b: bool = False,
    prune: bool = False,
    return_report: bool = False,
    device: str = "auto",
) -> Any:
    """``C = A B`` of ``A[m, k]`` and ``B[k, n]`` (``B[n, k]`` with transpose_b, for ``A B^T``).

    ``mask[m, n]``: only where it has an entry, whatever its value, or with complement only outside its entries. prune
    drops entries that are 0. return_report gives ``(C, report)``: products, prediction, memory, strategies, seconds (None
    with a mask).

    >>> import numpy as np, scipy.sparse as sp
    >>> from quintet import sparse
    >>> A = sp.csr_array(np.array([[0.0, 2.0], [3.0, 0.0]]))
    >>> sparse.multiply(A, A).toarray()
    array([[6., 0.],
           [0., 6.]])
    >>> sparse.multiply(A, A, semiring="min_plus").toarray()
    array([[5., 0.],
           [0., 5.]])
    """
    _check_semiring(semiring)
    A, B = _checked(A, "A"), _checked(B, "B")
    if complement and mask is None:
        raise InvalidArgument("complement needs a mask")
    columns = A.format == B.format == "csc" and mask is None and not transpose_b
    first, second = (B, A) if columns else (_csr(A, "A", semiring), _csr(B, "B", semiring))
    a = _parts(first, "B" if columns else "A", semiring)
    b = a if first is second else _parts(second, "A" if columns else "B", semiring)
    inner = b.cols if transpose_b else b.rows
    if a.cols != inner:
        raise InvalidArgument(
            f"A and B must fit: {A.shape} times {'the transpose of ' if transpose_b else ''}{B.shape}"
        )
    m = None
    if mask is not None:
        m = a if mask is A else _parts(_csr(mask, "mask"), "mask", semiring, pattern=True)
        wanted = (a.rows, b.rows if transpose_b else b.cols)
        if (m.rows, m.cols) != wanted:
            raise InvalidArgument(f"mask must have the shape of the product, {wanted} (shape={(m.rows, m.cols)})")
    dtype, index = _common(a) if b is a else _common(a, b)
    if m is not None and m is not a:
        index = _common(a, b, m)[1]
    left, right = _cores(a, b, (dtype, index))
    found, report = _core.spgemm_multiply(
        left,
        right,
        semiring,
        None if m is None else left if m is a else m.core(dtype, index),
        bool(complement),
        bool(transpose_b),
        bool(return_report),
        device,
    )
    result = _result(found, a.is_array or b.is_array, a.is_bool and b.is_bool, prune, columns)
    return (result, report) if return_report else result


class Plan:
    """The structure of ``A B``, computed once: products of matrices with the same structure and other values.

    ``execute(A, B)`` gives the bits of :func:`multiply`, in less time. Structures are compared with those that were
    planned; other ones are an InvalidArgument. A plan may be used by several threads at once.

    >>> import numpy as np, scipy.sparse as sp
    >>> from quintet import sparse
    >>> A = sp.csr_array(np.array([[0.0, 2.0], [3.0, 0.0]]))
    >>> plan = sparse.Plan(A, A)
    >>> plan.execute(A, 2 * A).toarray()
    array([[12.,  0.],
           [ 0., 12.]])
    """

    def __init__(self, A: Any, B: Any, semiring: str = "plus_times", *, device: str = "auto") -> None:
        self.semiring = _check_semiring(semiring)
        a, b = _pair(A, B, semiring)
        if a.cols != b.rows:
            raise InvalidArgument(f"A and B must fit: {A.shape} times {B.shape}")
        self._dtype, self._index = _common(a, b)
        left, right = _cores(a, b, (self._dtype, self._index))
        self._structures = tuple(m[:4] for m in (left, right))
        self._is_square = left is right
        # Of the type that SciPy gives them, which makes comparing cheap.
        self._pointers = tuple(m.indptr.astype(I32) if m.indptr[-1] <= _INT32_MAX else m.indptr for m in (a, b))
        self._plan = _core.spgemm_plan(left, right, semiring, device)
        self.shape = (a.rows, b.cols)

    @property
    def nnz(self) -> int:
        """Entries of the product."""
        return int(self._plan.nnz)

    def _operand(self, matrix: Any, name: str, which: int) -> tuple[Any, tuple[Any, ...]]:
        """The matrix and, behind the planned structure, its values."""
        matrix = _csr(matrix, name, self.semiring)
        rows, cols, indptr, indices = structure = self._structures[which]
        if matrix.shape != (rows, cols):
            m, n = matrix.shape
            raise InvalidArgument(f"{name} must be as planned: {rows} x {cols} ({name} is {m} x {n})")
        data = _values(matrix, name, self.semiring)
        used = int(indptr[-1])  # what lies behind the last entry does not count
        if not (_equal(matrix.indptr, self._pointers[which]) and _equal(matrix.indices[:used], indices[:used])):
            raise InvalidArgument(f"{name} must have the structure that was planned (indptr or indices differ)")
        if data.dtype.itemsize > self._dtype.itemsize:
            raise TypeError(f"{name} must be of the planned type {self._dtype} (dtype={data.dtype})")
        return matrix, (*structure, np.ascontiguousarray(data, dtype=self._dtype))

    def execute(self, A: Any, B: Any, out: Any = None) -> Any:
        """The product of `A` and `B`. `out`, an earlier result, gets the new values and is returned."""
        a, left = self._operand(A, "A", 0)
        b, right = (a, left) if B is A and self._is_square else self._operand(B, "B", 1)
        found = self._plan.execute(left, right)
        is_bool = a.dtype == b.dtype == BOOL
        if out is None:
            return _result(found, _is_array(a) or _is_array(b), is_bool)
        data = found[4] != 0 if is_bool else found[4]
        if (
            _checked(out, "out").format != "csr"
            or out.shape != self.shape
            or out.data.dtype != data.dtype
            or not _equal(out.indices, found[3])
            or not _equal(out.indptr, found[2])
        ):
            raise InvalidArgument("out must be a result of this plan")
        out.data[:] = data
        return out


def estimate(A: Any, B: Any, *, device: str = "auto") -> Estimate:
    """Sizes of ``A B`` from one pass over the matrices and 1 % of the products.

    >>> import scipy.sparse as sp
    >>> from quintet import sparse
    >>> sparse.estimate(sp.eye_array(5).tocsr(), sp.eye_array(5).tocsr()).products
    5
    """
    a, b = _pair(A, B, "or_and")
    if a.cols != b.rows:
        raise InvalidArgument(f"A and B must fit: {A.shape} times {B.shape}")
    return Estimate(*_core.spgemm_estimate(*_cores(a, b, _common(a, b)), device))


def multiply_blocks(
    A: Any,
    B: Any,
    take: Callable[[int, int, int, Any], Any],
    *,
    budget: int,
    semiring: str = "plus_times",
    device: str = "auto",
) -> None:
    """``A B`` in blocks of rows of at most `budget` bytes: ``take(first_row, first_col, last_col, block)`` for each.

    `block` is a CSR matrix of all n columns; first_col and last_col are 0 and n unless one row alone exceeds the budget
    and comes in ranges of columns. Returning False from `take` ends the work; its exceptions come out.

    >>> import scipy.sparse as sp
    >>> from quintet import sparse
    >>> A = sp.eye_array(1000).tocsr()
    >>> rows = []
    >>> sparse.multiply_blocks(A, A, lambda first, *rest: rows.append(first), budget=10000)
    >>> len(rows) > 1
    True
    """
    _check_semiring(semiring)
    if not callable(take):
        raise TypeError(f"take must be callable (take={take!r})")
    a, b = _pair(A, B, semiring)
    if a.cols != b.rows:
        raise InvalidArgument(f"A and B must fit: {A.shape} times {B.shape}")
    left, right = _cores(a, b, _common(a, b))

    def receive(first_row: int, first_col: int, last_col: int, block: tuple[Any, ...]) -> Any:
        matrix = _result(block, a.is_array or b.is_array, a.is_bool and b.is_bool)
        return take(first_row, first_col, last_col, matrix)

    _core.spgemm_blocks(left, right, as_integer(budget, "budget"), receive, semiring, device)


def multiply_dense(A: Any, X: Any, out: np.ndarray | None = None, *, device: str = "auto") -> Any:
    """``Y = A X`` of a sparse ``A[m, k]`` and a dense ``X[k, n]`` or ``X[k]``; into `out` where it is given.

    >>> import numpy as np, scipy.sparse as sp
    >>> from quintet import sparse
    >>> sparse.multiply_dense(sp.csr_array(np.array([[0.0, 2.0], [3.0, 0.0]])), np.ones(2))
    array([2., 3.])
    """
    a = _parts(_csr(A, "A"), "A", "plus_times")
    is_vector = (getattr(X, "ndim", None) or np.ndim(X)) == 1
    if is_vector:
        x, like = take_vector(X, "X", (F32, F64), integers=True)
        x = x.reshape(-1, 1)
    else:
        x, like = take_rows(X, "X", (F32, F64), integers=True)
    if x.shape[0] != a.cols:
        raise InvalidArgument(f"A and X must fit: {(a.rows, a.cols)} times {x.shape[:1] if is_vector else x.shape}")
    dtype, index = _common(a)
    dtype = F64 if F64 in (dtype, x.dtype) else F32
    x = x.astype(dtype, copy=False)
    shape = (a.rows,) if is_vector else (a.rows, x.shape[1])
    if out is not None:
        if not isinstance(out, np.ndarray) or out.dtype != dtype:
            raise TypeError(f"out must be a NumPy array of type {dtype} (dtype={getattr(out, 'dtype', type(out))})")
        if out.shape != shape or not out.flags.c_contiguous or not out.flags.writeable:
            raise InvalidArgument(f"out must be writable, contiguous, of the shape {shape} (shape={out.shape})")
        if np.shares_memory(out, x):
            raise InvalidArgument("out must not overlap X")
    y = np.empty(shape, dtype) if out is None else out
    _core.spgemm_multiply_dense(a.core(dtype, index), x, y.reshape(a.rows, x.shape[1]), device)
    return y if out is not None else like(y)


def add(A: Any, B: Any, alpha: float = 1.0, beta: float = 1.0, *, prune: bool = False, device: str = "auto") -> Any:
    """``alpha A + beta B``; an entry exists where A or B has one.

    >>> import scipy.sparse as sp
    >>> from quintet import sparse
    >>> sparse.add(sp.eye_array(2).tocsr(), sp.eye_array(2).tocsr(), 1.0, 2.0).toarray()
    array([[3., 0.],
           [0., 3.]])
    """
    A, B = _checked(A, "A"), _checked(B, "B")
    if A.shape != B.shape:
        raise InvalidArgument(f"A and B must have one shape (A: {A.shape}, B: {B.shape})")
    columns = A.format == B.format == "csc"  # the sum of the transposes, as which they are stored
    first, second = (A, B) if columns else (_csr(A, "A"), _csr(B, "B"))
    a = _parts(first, "A", "plus_times")
    b = a if first is second else _parts(second, "B", "plus_times")
    left, right = _cores(a, b, _common(a, b))
    found = _core.spgemm_add(as_number(alpha, "alpha"), left, as_number(beta, "beta"), right, device)
    return _result(found, a.is_array or b.is_array, False, prune, columns)


def transpose(A: Any, *, device: str = "auto") -> Any:
    """The transpose as CSR with ascending columns: what ``A.T.tocsr()`` gives.

    >>> import numpy as np, scipy.sparse as sp
    >>> from quintet import sparse
    >>> sparse.transpose(sp.csr_array(np.array([[0.0, 2.0]]))).toarray()
    array([[0.],
           [2.]])
    """
    a = _parts(_csr(A, "A"), "A", "or_and")
    dtype, index = _common(a)
    if a.rows > _INT32_MAX:
        index = I64
    found = _core.spgemm_transpose(a.core(dtype, index), device)
    result = _result(found, a.is_array, a.is_bool)
    result.has_canonical_format = bool(getattr(A, "has_canonical_format", False))
    return result


def summarise(A: Any) -> dict[str, Any]:
    """Numbers that distinguish two matrices: sum, sum_abs, frobenius, weighted, struct_ij, sorted.

    >>> import scipy.sparse as sp
    >>> from quintet import sparse
    >>> sparse.summarise(sp.eye_array(3).tocsr())["sum"]
    3.0
    """
    a = _parts(_csr(A, "A"), "A", "or_and")
    return dict(_core.spgemm_summary(a.core(*_common(a))))
