"""Values and semirings that the library has no kernels for, as products that it has kernels for.

Integers are multiplied as float64: at once where every sum is exact, and otherwise in parts of few bits each. Products
of parts are exact and are added modulo 2^64, so that overflow wraps as in NumPy. Several semirings are plus_times,
min_plus or or_and of other values: negated ones, or ones. Complex products are four real ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ._arrays import BOOL, F64, I64, REAL
from ._errors import InvalidArgument

__all__ = ["SEMIRINGS", "Reduction", "reduce_values"]

#: Semirings by those whose kernels compute them.
SEMIRINGS = {
    "plus_times": "plus_times",
    "min_plus": "min_plus",
    "or_and": "or_and",
    "max_plus": "min_plus",
    "max_times": "max_times",
    "min_max": "min_max",
    "any_pair": "or_and",
    "plus_pair": "plus_times",
    "plus_first": "plus_times",
    "plus_second": "plus_times",
}
#: Those whose values are as they stand, where they are real.
_PLAIN = ("plus_times", "min_plus", "or_and", "max_times", "min_max")
#: Whole numbers up to here are exact in float64, and so are their sums.
_EXACT = 2**53

#: Values that are multiplied by their parts.
COMPLEX = (np.dtype(np.complex64), np.dtype(np.complex128))

_Values = Callable[[np.ndarray], np.ndarray]


class Reduction(NamedTuple):
    """``restore([values of A_i B_i over semiring])`` are the values of the product."""

    pairs: list[tuple[Any, Any]]
    semiring: str
    restore: Callable[[list[np.ndarray]], np.ndarray]
    is_negated: bool  #: restore turns the order of the values


def _first(values: list[np.ndarray]) -> np.ndarray:
    return values[0]


def _with_values(matrix: Any, data: np.ndarray) -> Any:
    return type(matrix)((data, matrix.indices, matrix.indptr), shape=matrix.shape, copy=False)


def _apply(A: Any, B: Any, to_a: _Values, to_b: _Values) -> tuple[Any, Any]:
    a = _with_values(A, to_a(A.data))
    return a, a if B is A and to_b is to_a else _with_values(B, to_b(B.data))


def _merged(matrix: Any) -> Any:
    """With repeated entries added, before their values are replaced."""
    if matrix.has_canonical_format:
        return matrix
    matrix = matrix.copy()
    matrix.sum_duplicates()
    return matrix


def _merge_both(A: Any, B: Any) -> tuple[Any, Any]:
    a = _merged(A)
    return a, a if B is A else _merged(B)


def _magnitude(matrix: Any) -> int:
    """The largest absolute value of an integer matrix."""
    data = matrix.data
    return max(int(data.max()), -int(data.min())) if len(data) else 0


def _most_products(A: Any, B: Any) -> int:
    """Of an entry of the product; the operands have no repeated entries."""
    if A.format == "csc" and B.format == "csr":
        return int(np.bincount(A.indices[: A.indptr[-1]]).max(initial=1))
    return int(np.diff(A.indptr if A.format == "csr" else B.indptr).max(initial=1))


def _largest_value(A: Any, B: Any, semiring: str) -> int:
    """What no value of the product exceeds."""
    a, b = _magnitude(A), _magnitude(B)
    if semiring == "plus_times":
        return a * b * _most_products(A, B)
    return a * b if semiring == "max_times" else a + b


def _limbs(data: np.ndarray, width: int, bits: int) -> list[np.ndarray]:
    """The lowest `bits` of the values, in parts of `width`, the lowest first."""
    pattern = data.astype(I64, copy=False) if data.dtype != np.uint64 else data
    pattern = pattern.view(np.uint64)
    mask = np.uint64(2**width - 1)
    return [((pattern >> np.uint64(shift)) & mask).astype(F64) for shift in range(0, bits, width)]


def _refuse(name: str) -> None:
    raise InvalidArgument(f"values of A and B must be smaller: entries exceed {name} (overflow='error')")


def _split(A: Any, B: Any, dtype: np.dtype, wraps: bool) -> Reduction:
    """Products modulo 2^bits: parts with exact products and sums. Where they must not wrap, one in float64 says whether
    they do: its error is less than half of what a wrap changes."""
    bits, most = 8 * dtype.itemsize, _most_products(A, B)
    width = (53 - (most - 1).bit_length()) // 2
    if width < 8:
        raise InvalidArgument(f"integers that overflow must have at most 2^37 products for an entry (there are {most})")
    left = [_with_values(A, part) for part in _limbs(A.data, width, bits)]
    right = left if B is A else [_with_values(B, part) for part in _limbs(B.data, width, bits)]
    places = [(p, q) for p in range(len(left)) for q in range(len(right)) if (p + q) * width < bits]
    if not wraps and _magnitude(A) * _magnitude(B) * (most + 2) ** 2 >= 2 ** (53 + bits - 2):
        raise InvalidArgument(
            "values of A and B must be smaller for overflow='error': |A| |B| (p + 2)^2 of p products for an entry must be"
            f" < 2^{53 + bits - 2}"
        )
    rounded = [] if wraps else [_apply(A, B, _as_double, _as_double)]

    def restore(values: list[np.ndarray]) -> np.ndarray:
        total = np.zeros(len(values[0]), np.uint64)
        for (p, q), part in zip(places, values):
            total += part.astype(np.uint64) << np.uint64((p + q) * width)
        wrapped: np.ndarray = total.astype(dtype)
        if not wraps and np.any(np.abs(values[-1] - wrapped.astype(F64)) > 2.0 ** (bits - 1)):
            _refuse(dtype.name)
        return wrapped

    return Reduction([(left[p], right[q]) for p, q in places] + rounded, "plus_times", restore, False)


def _reduce_integers(A: Any, B: Any, semiring: str, dtype: np.dtype, wraps: bool) -> Reduction:
    if dtype == BOOL:
        raise TypeError(f"A and B must not both be bool with semiring={semiring!r}: use A.astype(int)")
    if semiring == "plus_times":
        A, B = _merge_both(A, B)
    if _largest_value(A, B, semiring) > _EXACT:
        if semiring == "plus_times":
            return _split(A, B, dtype, wraps)
        raise InvalidArgument(f"values of A and B must be smaller: those of the {semiring} product exceed 2^53")
    pair = _apply(A, B, _as_double, _as_double)
    return Reduction([pair], semiring, lambda values: _whole_numbers(values[0], dtype, wraps), False)


def _as_double(values: np.ndarray) -> np.ndarray:
    return values.astype(F64)


def _is_set(values: np.ndarray) -> np.ndarray:
    is_set: np.ndarray = values != 0
    return is_set


def _is_any(values: np.ndarray) -> np.ndarray:
    return np.ones(len(values), BOOL)


def _whole_numbers(values: np.ndarray, dtype: np.dtype, wraps: bool = True) -> np.ndarray:
    """Exact whole numbers of float64, wrapped into the type, or refused."""
    limits = np.iinfo(dtype)
    if not wraps and len(values) and (values.min() < limits.min or values.max() > limits.max):
        _refuse(dtype.name)
    return values.astype(I64).astype(dtype, copy=False)


def _reduce_complex(A: Any, B: Any) -> Reduction:
    """Products of the real and imaginary parts; a NaN or an infinity in one part stays in what is computed from it."""
    dtype = np.result_type(A.dtype, B.dtype)
    real = np.dtype(dtype.type(0).real.dtype)

    def parts(matrix: Any) -> tuple[Any, Any]:
        return (
            _with_values(matrix, matrix.data.real.astype(real)),
            _with_values(matrix, matrix.data.imag.astype(real)),
        )

    left = parts(A)
    right = left if B is A else parts(B)

    def restore(values: list[np.ndarray]) -> np.ndarray:
        product = np.empty(len(values[0]), dtype)
        product.real = values[0] - values[1]
        product.imag = values[2] + values[3]
        return product

    pairs = [(left[0], right[0]), (left[1], right[1]), (left[0], right[1]), (left[1], right[0])]
    return Reduction(pairs, "plus_times", restore, False)


def reduce_values(A: Any, B: Any, semiring: str, wraps: bool = True) -> Reduction | None:
    """The product of two matrices, each CSR or CSC, over any semiring of :data:`SEMIRINGS`; None: as it stands.

    Values are float32, float64, integers or bool, and with plus_times complex64 and complex128; of mixed types NumPy's
    common one. Others are None: they are refused with the name of the operand. `wraps`: integers that overflow do;
    otherwise they are an InvalidArgument.
    """
    if semiring == "plus_times" and np.result_type(A.dtype, B.dtype) in COMPLEX and all(
        m.dtype.kind in "biu" or m.dtype.newbyteorder("=") in (*REAL, *COMPLEX) for m in (A, B)
    ):
        return _reduce_complex(A, B)
    if A.dtype in REAL and B.dtype in REAL and semiring in _PLAIN:
        return None
    kinds = {m.dtype.kind for m in (A, B)}
    if not kinds <= set("biuf") or any(m.dtype.kind == "f" and m.dtype.newbyteorder("=") not in REAL for m in (A, B)):
        return None
    dtype = np.result_type(A.dtype, B.dtype)
    base = SEMIRINGS[semiring]
    if semiring in ("plus_pair", "plus_first", "plus_second"):
        return _reduce_pattern(A, B, semiring, wraps)
    if base == "or_and" or dtype == BOOL and semiring == "plus_times":
        if semiring == "or_and" and (kinds == {"f"} or kinds == {"b"}):
            return None
        to = _is_any if semiring == "any_pair" else _is_set
        return Reduction([_apply(A, B, to, to)], "or_and", lambda values: values[0].astype(dtype), False)
    if dtype.kind != "f":
        reduced = _reduce_integers(A, B, base, dtype, wraps)
        return reduced if semiring != "max_plus" else _negated(*reduced.pairs[0], dtype, wraps)
    if kinds != {"f"}:
        to = lambda values: values.astype(dtype)  # noqa: E731
        A, B = _apply(A, B, to, to)
    if semiring == "max_plus":
        return _negated(A, B, dtype)
    return None if kinds == {"f"} else Reduction([(A, B)], base, _first, False)


def _negated(A: Any, B: Any, dtype: np.dtype, wraps: bool = True) -> Reduction:
    """The largest of the sums of two values: minus the least of the sums of the negated ones."""
    pair = _apply(A, B, np.negative, np.negative)

    def restore(values: list[np.ndarray]) -> np.ndarray:
        sums = np.negative(values[0])
        return sums.astype(dtype) if dtype.kind == "f" else _whole_numbers(sums, dtype, wraps)

    return Reduction([pair], "min_plus", restore, True)


def _reduce_pattern(A: Any, B: Any, semiring: str, wraps: bool) -> Reduction:
    """Sums of products that read the values of one operand or of none; the others are 1."""
    sources = {"plus_first": [A], "plus_second": [B]}.get(semiring, [A, B])
    dtype = np.result_type(*(m.dtype for m in sources))
    if dtype == BOOL or semiring == "plus_pair" and dtype.kind != "f":
        dtype = I64
    ones = lambda values: np.ones(len(values), dtype)  # noqa: E731
    keep = lambda values: values.astype(dtype)  # noqa: E731
    a, b = _apply(*_merge_both(A, B), keep if semiring == "plus_first" else ones, keep if semiring == "plus_second" else ones)
    if dtype.kind == "f":
        return Reduction([(a, b)], "plus_times", _first, False)
    return _reduce_integers(a, b, "plus_times", dtype, wraps)
