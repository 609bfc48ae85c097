"""Products of SciPy's sparse matrices, over semirings, with masks, plans and budgets of memory.

``C(i, j) = sum over k of A(i, k) * B(k, j)`` in the order of the entries of A's row i: the same bits for any number of
threads and on every device. Semirings: "plus_times", "min_plus" (shortest paths: the sum of products is the least of
the sums) and "or_and" (reachability: results are 0 or 1). :func:`multiply` has more:

==============  =====================================================================================
"max_plus"      longest paths: the largest of the sums
"max_times"     the most probable way: the largest of the products
"min_max"       bottlenecks: the least of the larger values
"any_pair"      1 where a product exists
"plus_pair"     how many products there are: common neighbours
"plus_first"    the sum of A's values, "plus_second" that of B's
==============  =====================================================================================

Matrices are CSR, CSC, COO or BSR, arrays or matrices, of float32 or float64 (of two types the larger).
:func:`multiply` and :func:`multiply_top` take integers and bool, too. Types of results are SciPy's, integers wrap
around as there, and bool times bool is bool; counts ("plus_pair") of integers and bool are int64. Complex matrices
are for :func:`multiply` with plus_times: four products of their parts. Repeated entries are added with the semiring's
addition: "min_plus" takes the smaller one. It passes over NaN: an entry that has no other products is inf. Results are
CSR, arrays where an operand is one, canonical, with int32 indices where they fit. An entry exists where a product
exists: other than SciPy, which drops cancelled sums, explicit zeros stay unless ``prune=True``; compare values, not nnz.

COO matrices with more than 2^27 rows or columns are for :func:`multiply`. The result is then COO, too: memory goes by
entries. Other functions need pointers of all rows, and raise OutOfMemory where
the machine has no room for them.

Two CSC operands of :func:`add` and :func:`multiply` have a CSC result, and two BSR operands of :func:`multiply` with blocks that
fit a BSR result; with a mask it is CSR, and so is a pruned product of BSR.

Errors: ``TypeError`` for what is no sparse matrix and for other types, ``InvalidArgument`` (a ``ValueError``) for sizes
that do not fit and arrays that are no matrix, ``OutOfMemory``, ``DeviceError``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._arguments import as_integer, as_number
from ._arrays import BOOL, F32, F64, I32, I64, REAL, take_rows, take_vector
from ._errors import InvalidArgument
from ._hypersparse import compress, expand, is_hypersparse, require_memory_of_rows
from ._progress import Progress, blocks, is_off
from ._scipy_patch import patch, patch_report, patched, unpatch
from ._sparse_values import SEMIRINGS, Reduction, reduce_values

__all__ = [
    "Estimate",
    "Plan",
    "TriplePlan",
    "add",
    "estimate",
    "gram",
    "multiply",
    "multiply_add",
    "multiply_blocks",
    "multiply_dense",
    "multiply_top",
    "patch",
    "patch_report",
    "patched",
    "sampled",
    "summarise",
    "transpose",
    "unpatch",
]

_SEMIRINGS = ("plus_times", "min_plus", "or_and")
#: Those whose values the host computes, by loops without kernels.
_HOST_SEMIRINGS = ("max_times", "min_max")
_INT32_MAX = np.iinfo(np.int32).max
#: Columns of X up to which a CSC matrix is multiplied as it is, in one pass over it.
_SCATTERED_COLUMNS = 8


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
    caller's. Only products that compare every index as they use it take the caller's: those with a vector, and those of
    CSC with few columns."""

    rows: int
    cols: int
    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    is_array: bool
    is_bool: bool

    def core(self, dtype: np.dtype, index: np.dtype, copies: bool = True) -> tuple[Any, ...]:
        return (
            self.rows,
            self.cols,
            self.indptr,
            np.array(self.indices, dtype=index, order="C") if copies else np.require(self.indices, index, ["C", "A"]),
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


def _check_semiring(semiring: str, allowed: Iterable[str] = _SEMIRINGS) -> str:
    if semiring not in allowed:
        raise InvalidArgument(f"semiring must be one of {', '.join(allowed)} (semiring={semiring!r})")
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
            hint = f": complex is for multiply() with plus_times; take {name}.real and {name}.imag apart"
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
    if matrix.format == "coo":
        require_memory_of_rows(matrix, name)
    if matrix.format != "coo" or semiring == "plus_times":
        return matrix.tocsr()
    order = np.lexsort((matrix.col, matrix.row))
    indptr = np.concatenate(([0], np.cumsum(np.bincount(matrix.row, minlength=matrix.shape[0]))))
    kind = _scipy().csr_array if _is_array(matrix) else _scipy().csr_matrix
    return kind((matrix.data[order], matrix.col[order], indptr), shape=matrix.shape)


def _compressed(matrix: Any, name: str, semiring: str, is_transposed: bool = False) -> Any:
    """CSR or CSC, as it is stored where it is one of them; the transpose of it without a copy."""
    compressed = matrix if matrix.format in ("csr", "csc") else _csr(matrix, name, semiring)
    return compressed.T if is_transposed else compressed


def _shares_arrays(A: Any, B: Any) -> bool:
    """Whether two matrices are one in memory: SciPy's transpose of CSR is CSC of the same arrays."""
    if (A.shape if A.format == "csr" else A.shape[::-1]) != (B.shape if B.format == "csr" else B.shape[::-1]):
        return False
    return all(
        x is y
        or x.dtype == y.dtype
        and x.shape == y.shape
        and x.strides == y.strides
        and x.__array_interface__["data"][0] == y.__array_interface__["data"][0]
        for x, y in ((A.indptr, B.indptr), (A.indices, B.indices), (A.data, B.data))
    )


def _require_fit(A: Any, B: Any, transpose_a: bool, transpose_b: bool) -> tuple[int, int]:
    """The shape of the product."""
    rows, inner = A.shape[::-1] if transpose_a else A.shape
    other, cols = B.shape[::-1] if transpose_b else B.shape
    if inner != other:
        turned = "the transpose of "
        raise InvalidArgument(
            f"A and B must fit: {turned if transpose_a else ''}{A.shape} times {turned if transpose_b else ''}{B.shape}"
        )
    return rows, cols


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


def _common(*matrices: _Matrix, turned: bool = False) -> tuple[np.dtype, np.dtype]:
    """Types that hold the values and the columns of all; turned: of their transposes, too."""
    dtype: np.dtype = F32
    index: np.dtype = I32
    for m in matrices:
        if m.data.dtype.itemsize == 8:
            dtype = F64
        if m.indices.dtype.itemsize == 8 or m.cols > _INT32_MAX or turned and m.rows > _INT32_MAX:
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
    transpose_a: bool = False,
    transpose_b: bool = False,
    prune: bool = False,
    overflow: str = "wrap",
    return_report: bool = False,
    device: str = "auto",
    progress: bool | Progress | None = None,
) -> Any:
    """``C = A B`` of ``A[m, k]`` and ``B[k, n]``; with transpose_a ``A^T B`` of ``A[k, m]``, with transpose_b ``A B^T`` of
    ``B[n, k]``. SciPy's ``X.T`` of CSR is CSC of the same arrays, which is taken as it is: ``multiply(X.T, X)`` is
    :func:`gram`, without a copy of the transpose.

    ``mask[m, n]``: only where it has an entry, whatever its value, or with complement only outside its entries. prune
    drops entries that are 0. overflow: integers "wrap" around, or are an "error" (InvalidArgument) where an entry exceeds
    their type. return_report gives ``(C, report)``: products, prediction, memory, strategies, seconds (None
    with a mask).

    `progress`: True for a bar (tqdm), or a callable(stage, fraction) that cancels by returning False. Rows are then computed
    in blocks, with the same bits; there is no report.

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
    if return_report and not is_off(progress):
        raise InvalidArgument("return_report is of one product, and progress makes blocks of rows (return_report=True)")
    _check_semiring(semiring, SEMIRINGS)
    if overflow not in ("wrap", "error"):
        raise InvalidArgument(f"overflow must be 'wrap' or 'error' (overflow={overflow!r})")
    A, B = _checked(A, "A"), _checked(B, "B")
    if complement and mask is None:
        raise InvalidArgument("complement needs a mask")
    transpose_a, transpose_b = bool(transpose_a), bool(transpose_b)
    wanted = _require_fit(A, B, transpose_a, transpose_b)
    if mask is not None and _checked(mask, "mask").shape != wanted:
        raise InvalidArgument(f"mask must have the shape of the product, {wanted} (shape={mask.shape})")
    how: dict[str, Any] = {"semiring": semiring, "prune": prune, "overflow": overflow, "device": device}
    if is_hypersparse(A, B):
        if mask is not None:
            raise InvalidArgument("mask is not for COO matrices with more than 2^27 rows or columns")
        a, b, used_rows, used_columns = compress(A.T if transpose_a else A, B.T if transpose_b else B)
        found = multiply(a, b, return_report=return_report, progress=progress, **how)
        product, report = found if return_report else (found, None)
        product = expand(product, used_rows, used_columns, wanted)
        return (product, report) if return_report else product
    if not is_off(progress):
        how.update(complement=complement, transpose_a=transpose_a, transpose_b=transpose_b)
        return _multiply_in_blocks(A, B, mask, how, progress)
    size = None if prune or mask is not None else _common_blocks(A, B, transpose_a, transpose_b)
    columns = A.format == B.format == "csc" and mask is None and not (transpose_a or transpose_b)
    left = _compressed(A, "A", semiring, transpose_a)
    if mask is A and not transpose_a:
        mask = left
    B = left if B is A and transpose_a == transpose_b else _compressed(B, "B", semiring, transpose_b)
    A = left
    reduced = reduce_values(A, B, semiring, overflow == "wrap") or Reduction(
        [(A, B)], SEMIRINGS[semiring], lambda values: values[0], False
    )
    products = [
        _product(a, b, reduced.semiring, mask, bool(complement), columns, bool(return_report), device)
        for a, b in reduced.pairs
    ]
    result, report = products[0]
    result.data = reduced.restore([product.data for product, _ in products])
    if prune:
        result.eliminate_zeros()
    if size is not None:
        result = result.tobsr(size)
    return (result, report) if return_report else result


def _common_blocks(A: Any, B: Any, transpose_a: bool, transpose_b: bool) -> tuple[int, int] | None:
    """The size of blocks that a product of two BSR matrices has, None where theirs do not fit. All their elements are
    entries, zeros too, so all of the product's are."""
    if A.format != "bsr" or B.format != "bsr":
        return None
    rows, inner = A.blocksize[::-1] if transpose_a else A.blocksize
    other, cols = B.blocksize[::-1] if transpose_b else B.blocksize
    return (rows, cols) if inner == other else None


def _product(
    A: Any, B: Any, semiring: str, mask: Any, complement: bool, columns: bool, has_report: bool, device: str
) -> tuple[Any, Any]:
    """The product of two matrices by rows or by columns, of types and sizes that fit, and its report. columns: both are by
    columns, and so is the product, which is that of the transposes."""
    first, second = (B, A) if columns else (A, B)
    a = _parts(first, "B" if columns else "A", semiring)
    b = a if first is second or _shares_arrays(first, second) else _parts(second, "A" if columns else "B", semiring)
    turned_a, turned_b = (bool(matrix.format == "csc" and not columns) for matrix in (first, second))
    m = None
    if mask is not None:
        m = a if mask is A and not turned_a else _parts(_csr(mask, "mask"), "mask", semiring, pattern=True)
    dtype, index = _common(a, turned=turned_a or turned_b) if b is a else _common(a, b, turned=turned_a or turned_b)
    if m is not None and m is not a:
        index = _common(a, b, m, turned=turned_a or turned_b)[1]
    left, right = _cores(a, b, (dtype, index))
    if b is a and turned_a != turned_b and mask is None and semiring in _SEMIRINGS:
        arrays, report = _core.spgemm_gram(left, turned_b, False, semiring, has_report, device)
    else:
        arrays, report = _core.spgemm_multiply(
            left,
            right,
            semiring,
            None if m is None else left if m is a else m.core(dtype, index),
            complement,
            turned_a,
            turned_b,
            has_report,
            device,
        )
    is_array = any(_is_array(matrix) for matrix in (first, second))
    return _result(arrays, is_array, a.is_bool and b.is_bool, columns=columns), report


def multiply_add(
    A: Any,
    B: Any,
    C: Any,
    alpha: float = 1.0,
    beta: float = 1.0,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    prune: bool = False,
    return_report: bool = False,
    device: str = "auto",
) -> Any:
    """``alpha A B + beta C`` in one pass over the products; ``A B`` is never in memory.

    An entry exists where a product or an entry of `C` exists. Sums run over ``(alpha A(i, k)) B(k, j)`` in the order of
    A's row, and ``beta C(i, j)`` comes last: for alpha = 1 these are the bits of ``add(multiply(A, B), C, 1, beta)``.

    Parameters
    ----------
    A, B, C : sparse matrix or array
        ``A[m, k]``, ``B[k, n]`` and ``C[m, n]``, float32 or float64; of two types the larger.
    alpha, beta : float
        Factors.
    transpose_a, transpose_b : bool
        The transposes of ``A[k, m]`` and of ``B[n, k]``.
    prune : bool
        Drops entries that are 0.
    return_report : bool
        Also returns the report of :func:`multiply`, which counts the entries of `C` as products.
    device : str
        Where the sum is computed.

    Returns
    -------
    sparse matrix or array
        CSR; with return_report a pair of it and the report.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from quintet import sparse
    >>> A = sp.csr_array(np.array([[0.0, 2.0], [3.0, 0.0]]))
    >>> sparse.multiply_add(A, A, sp.eye_array(2).tocsr(), 1.0, -6.0, prune=True).nnz
    0
    """
    A, B, C = _checked(A, "A"), _checked(B, "B"), _checked(C, "C")
    wanted = _require_fit(A, B, bool(transpose_a), bool(transpose_b))
    if C.shape != wanted:
        raise InvalidArgument(f"C must have the shape of the product, {wanted} (shape={C.shape})")
    left, right = (
        _compressed(matrix, name, "plus_times", bool(is_transposed))
        for matrix, name, is_transposed in ((A, "A", transpose_a), (B, "B", transpose_b))
    )
    a = _parts(left, "A", "plus_times")
    b = a if _shares_arrays(left, right) else _parts(right, "B", "plus_times")
    c = _parts(_csr(C, "C"), "C", "plus_times")
    dtype, index = _common(a, b, c, turned=True)
    # Rows of B and C are counted together.
    if wanted[0] + left.shape[1] > _INT32_MAX:
        index = I64
    first, second = _cores(a, b, (dtype, index))
    arrays, report = _core.spgemm_multiply_add(
        as_number(alpha, "alpha"),
        first,
        second,
        as_number(beta, "beta"),
        c.core(dtype, index),
        left.format == "csc",
        right.format == "csc",
        bool(return_report),
        device,
    )
    result = _result(arrays, any(_is_array(matrix) for matrix in (A, B, C)), False, prune)
    return (result, report) if return_report else result


def gram(
    X: Any,
    *,
    rows: bool = False,
    upper: bool = False,
    semiring: str = "plus_times",
    return_report: bool = False,
    device: str = "auto",
) -> Any:
    """``X^T X``, or with rows ``X X^T``, with the bits of :func:`multiply`.

    Parameters
    ----------
    X : sparse matrix or array
        As in :func:`multiply`.
    rows : bool
        Of every pair of rows; otherwise of every pair of columns.
    upper : bool
        Only entries with a column >= the row: half of the multiplications and of the memory.
    semiring : str
        "plus_times", "min_plus" or "or_and".
    return_report : bool
        Also returns the report of :func:`multiply`.
    device : str
        Where the product is computed.

    Returns
    -------
    sparse matrix or array
        CSR; with return_report a pair of it and the report.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from quintet import sparse
    >>> X = sp.csr_array(np.array([[1.0, 2.0], [0.0, 3.0]]))
    >>> sparse.gram(X).toarray()
    array([[ 1.,  2.],
           [ 2., 13.]])
    >>> sparse.gram(X, upper=True).nnz
    3
    """
    _check_semiring(semiring)
    X = _checked(X, "X")
    turned = X.format == "csc"  # X^T is stored by rows
    x = _parts(X if turned else _csr(X, "X", semiring), "X", semiring)
    arrays, report = _core.spgemm_gram(
        x.core(*_common(x)), bool(rows) != turned, bool(upper), semiring, bool(return_report), device
    )
    result = _result(arrays, x.is_array, x.is_bool)
    return (result, report) if return_report else result


def multiply_top(
    A: Any,
    B: Any,
    k: int,
    *,
    threshold: float | None = None,
    by_value: bool = False,
    semiring: str = "plus_times",
    transpose_b: bool = False,
    return_report: bool = False,
    device: str = "auto",
) -> Any:
    """The first `k` entries of every row of ``A B`` (with transpose_b, of ``A B^T``); the product is never in memory.

    Larger values rank first, with "min_plus" smaller ones; of equal values the smaller column. NaN ranks behind all
    numbers. The bits are those of :func:`multiply`.

    Parameters
    ----------
    A, B : sparse matrix or array
        As in :func:`multiply`.
    k : int
        Entries of a row at most, >= 1.
    threshold : float, optional
        Values that rank behind it are left out, and so is NaN.
    by_value : bool
        Entries of a row by rank, the first one first. Otherwise columns ascend.
    semiring : str
        As in :func:`multiply`, but for "max_times" and "min_max". "max_plus" ranks larger values first.
    transpose_b : bool
        Multiplies by the transpose of B: rows of A with rows of B.
    return_report : bool
        Also returns the report of :func:`multiply`.
    device : str
        Where the product is computed.

    Returns
    -------
    sparse matrix or array
        CSR; with return_report a pair of it and the report.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from quintet import sparse
    >>> rows = sp.csr_array(np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]))
    >>> sparse.multiply_top(rows, rows, 2, transpose_b=True, by_value=True).indices.reshape(3, 2)
    array([[0, 1],
           [1, 2],
           [2, 1]], dtype=int32)
    """
    _check_semiring(semiring, [name for name in SEMIRINGS if name not in _HOST_SEMIRINGS])
    count = as_integer(k, "k", 1)
    limit = None if threshold is None else as_number(threshold, "threshold")
    rows = _csr(A, "A", semiring)
    A, B = rows, rows if B is A else _csr(B, "B", semiring)
    for name, matrix in (("A", A), ("B", B)):
        if matrix.dtype.kind == "c":
            raise TypeError(f"{name} must be real: complex values have no order (dtype={matrix.dtype})")
    if A.shape[1] != B.shape[1 if transpose_b else 0]:
        raise InvalidArgument(
            f"A and B must fit: {A.shape} times {'the transpose of ' if transpose_b else ''}{B.shape}"
        )
    reduced = reduce_values(A, B, semiring) or Reduction([(A, B)], semiring, lambda values: values[0], False)
    if len(reduced.pairs) > 1:
        raise InvalidArgument("values of A and B must be smaller: sums of the product exceed 2^53, and have no order")
    if limit is not None and reduced.is_negated:
        limit = -limit
    a, b = _pair(*reduced.pairs[0], reduced.semiring)
    left, right = _cores(a, b, _common(a) if b is a else _common(a, b))
    product, report = _core.spgemm_multiply_top(
        left, right, count, limit, bool(by_value), reduced.semiring, bool(transpose_b), bool(return_report), device
    )
    result = _result(product, a.is_array or b.is_array, a.is_bool and b.is_bool)
    exact = result.data
    result.data = reduced.restore([exact])
    if result.data.dtype.kind in "iu" and np.any(result.data != (-exact if reduced.is_negated else exact)):
        raise InvalidArgument(f"values of A and B must be of a wider type: entries exceed {result.data.dtype}")
    if by_value:
        result.has_canonical_format = result.has_sorted_indices = False
    return (result, report) if return_report else result


def _multiply_in_blocks(A: Any, B: Any, mask: Any, how: dict[str, Any], progress: bool | Progress | None) -> Any:
    """Of operands and a mask that fit."""
    transposes = how.pop("transpose_a"), how["transpose_b"]
    rows, right = (A.T if transposes[0] else A).tocsr(), B.tocsr()
    mask = None if mask is None else mask.tocsr()
    parts = [
        multiply(rows[part], right, mask=None if mask is None else mask[part], **how)
        for part in blocks(progress, "multiply", rows.shape[0], 64)
    ]
    product = _scipy().vstack([part.tocsr() for part in parts], format="csr")
    size = None if how["prune"] or mask is not None else _common_blocks(A, B, *transposes)
    if size is not None:
        return product.tobsr(size)
    is_by_columns = A.format == B.format == "csc" and mask is None and not any(transposes)
    return product.asformat("csc") if is_by_columns else product


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
        return self._execute(A, B, out, ("A", "B"))

    def _execute(self, A: Any, B: Any, out: Any, names: tuple[str, str]) -> Any:
        a, left = self._operand(A, names[0], 0)
        b, right = (a, left) if B is A and self._is_square else self._operand(B, names[1], 1)
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


class TriplePlan:
    """The structure of ``R A P``, computed once: Galerkin products of multigrid, and ``A D A^T``.

    Parameters
    ----------
    R, A, P : sparse matrix or array
        As in :func:`multiply`.
    semiring : str
        "plus_times", "min_plus" or "or_and".
    device : str
        Where products are computed.

    Notes
    -----
    ``execute(R, A, P)`` gives the bits of ``multiply(R, multiply(A, P))``, in less time. A plan may be used by several
    threads at once.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from quintet import sparse
    >>> A = sp.csr_array(np.array([[2.0, -1.0], [-1.0, 2.0]]))
    >>> P = sp.csr_array(np.array([[1.0], [1.0]]))
    >>> plan = sparse.TriplePlan(P.T, A, P)
    >>> plan.execute(P.T, 3 * A, P).toarray()
    array([[6.]])
    """

    def __init__(self, R: Any, A: Any, P: Any, semiring: str = "plus_times", *, device: str = "auto") -> None:
        _check_semiring(semiring)
        for name, matrix in (("R", R), ("A", A), ("P", P)):
            _checked(matrix, name)
        if R.shape[1] != A.shape[0] or A.shape[1] != P.shape[0]:
            raise InvalidArgument(f"R, A and P must fit: {R.shape} times {A.shape} times {P.shape}")
        self._inner = Plan(A, P, semiring, device=device)
        self._outer = Plan(R, self._inner.execute(A, P), semiring, device=device)
        self.semiring = semiring
        self.shape = self._outer.shape

    @property
    def nnz(self) -> int:
        """Entries of the product."""
        return self._outer.nnz

    def execute(self, R: Any, A: Any, P: Any, out: Any = None) -> Any:
        """The product.

        Parameters
        ----------
        R, A, P : sparse matrix or array
            Matrices of the structure that was planned; another one is an InvalidArgument.
        out : sparse matrix or array, optional
            An earlier result: it gets the new values.

        Returns
        -------
        sparse matrix or array
            CSR, or `out`.
        """
        inner = self._inner._execute(A, P, None, ("A", "P"))
        return self._outer._execute(R, inner, out, ("R", "A P"))


def estimate(A: Any, B: Any, *, device: str = "auto") -> Estimate:
    """Sizes of ``A B`` from one pass over the matrices and 1 % of the products.

    >>> import scipy.sparse as sp
    >>> from quintet import sparse
    >>> sparse.estimate(sp.eye_array(5).tocsr(), sp.eye_array(5).tocsr()).products
    5
    """
    rows = _csr(A, "A", "or_and")
    a = _parts(rows, "A", "or_and", pattern=True)
    b = a if B is A else _parts(_csr(B, "B", "or_and"), "B", "or_and", pattern=True)
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

    CSC and up to 8 columns of X need no other form of A: sums are then added in blocks of A's columns, in an order that
    depends on the sizes alone.

    >>> import numpy as np, scipy.sparse as sp
    >>> from quintet import sparse
    >>> sparse.multiply_dense(sp.csr_array(np.array([[0.0, 2.0], [3.0, 0.0]])), np.ones(2))
    array([2., 3.])
    """
    A = _checked(A, "A")
    is_vector = (getattr(X, "ndim", None) or np.ndim(X)) == 1
    if is_vector:
        x, like = take_vector(X, "X", (F32, F64), integers=True)
        x = x.reshape(-1, 1)
    else:
        x, like = take_rows(X, "X", (F32, F64), integers=True)
    if x.shape[0] != A.shape[1]:
        raise InvalidArgument(f"A and X must fit: {A.shape} times {x.shape[:1] if is_vector else x.shape}")
    stored_by_columns = A.format == "csc"
    transposed = stored_by_columns and x.shape[1] <= _SCATTERED_COLUMNS
    a = _parts(A if stored_by_columns else _csr(A, "A"), "A", "plus_times")
    dtype, index = _common(a)
    dtype = F64 if F64 in (dtype, x.dtype) else F32
    x = x.astype(dtype, copy=False)
    shape = (A.shape[0],) if is_vector else (A.shape[0], x.shape[1])
    if out is not None:
        if not isinstance(out, np.ndarray) or out.dtype != dtype:
            raise TypeError(f"out must be a NumPy array of type {dtype} (dtype={getattr(out, 'dtype', type(out))})")
        if out.shape != shape or not out.flags.c_contiguous or not out.flags.writeable:
            raise InvalidArgument(f"out must be writable, contiguous, of the shape {shape} (shape={out.shape})")
        if np.shares_memory(out, x):
            raise InvalidArgument("out must not overlap X")
    y = np.empty(shape, dtype) if out is None else out
    core = a.core(dtype, index, copies=x.shape[1] != 1 and not transposed)
    if stored_by_columns and not transposed:
        core = _core.spgemm_transpose(core, device)
    _core.spgemm_multiply_dense(core, x, y.reshape(A.shape[0], x.shape[1]), transposed, device)
    return y if out is not None else like(y)


def sampled(M: Any, X: Any, Y: Any, *, device: str = "auto") -> Any:
    """``X Y^T`` where `M` has entries: a matrix with the entries of `M`, in their order, and these values (SDDMM).

    Parameters
    ----------
    M : sparse matrix or array
        CSR, or converted to it; of any type, its values are not read.
    X, Y : array
        ``X[m, n]`` and ``Y[k, n]`` for ``M[m, k]``, float32 or float64; of two types the larger.
    device : str
        Where the products are computed.

    Returns
    -------
    sparse matrix or array
        CSR.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from quintet import sparse
    >>> sparse.sampled(sp.eye_array(2).tocsr(), np.ones((2, 3)), np.full((2, 3), 2.0)).toarray()
    array([[6., 0.],
           [0., 6.]])
    """
    rows = _csr(M, "M", "or_and")
    m = _parts(rows, "M", "or_and", pattern=True)
    x, y = (take_rows(a, name, (F32, F64), integers=True)[0] for a, name in ((X, "X"), (Y, "Y")))
    if x.shape[0] != m.rows or y.shape[0] != m.cols or x.shape[1] != y.shape[1]:
        raise InvalidArgument(f"M, X and Y must fit: {rows.shape}, {x.shape} and {y.shape}")
    dtype = F64 if F64 in (x.dtype, y.dtype) else F32
    values = np.empty((1, int(m.indptr[-1])), dtype)
    _core.spgemm_multiply_sampled(
        (m.rows, m.cols, m.indptr, np.array(m.indices, _common(m)[1]), np.empty(values.size, dtype)),
        x.astype(dtype, copy=False),
        y.astype(dtype, copy=False),
        values,
        device,
    )
    return type(rows)((values[0], rows.indices[: values.size].copy(), rows.indptr.copy()), shape=rows.shape)


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
