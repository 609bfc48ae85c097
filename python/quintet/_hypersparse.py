"""COO matrices with far more rows than entries: their products without pointers of all rows."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ._errors import OutOfMemory

__all__ = ["compress", "expand", "is_hypersparse", "require_memory_of_rows"]

#: More rows than these (1 GB of pointers) of a COO matrix are counted by their entries.
MOST_ROWS = 2**27
#: Of a row: SciPy's pointer, its copy, and that of a result.
_BYTES_OF_ROW = 24


def is_hypersparse(A: Any, B: Any) -> bool:
    """Whether an operand is COO and has, or is in the product, a matrix of too many rows."""
    return "coo" in (A.format, B.format) and max(*A.shape, *B.shape) > MOST_ROWS


def require_memory_of_rows(matrix: Any, name: str) -> None:
    """Refuses to make pointers of rows that the machine has no memory for."""
    rows = matrix.shape[0]
    if rows > MOST_ROWS and rows * _BYTES_OF_ROW > os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"):
        raise OutOfMemory(
            f"{name} has {rows} rows, whose pointers take {rows * _BYTES_OF_ROW} bytes; multiply() of COO needs none"
        )


def _coo(like: Any, values: np.ndarray, rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> Any:
    return type(like)((values, (rows, columns)), shape=shape)


def compress(A: Any, B: Any) -> tuple[Any, Any, np.ndarray, np.ndarray]:
    """COO matrices of the rows and columns of ``A B`` that can have entries, and which these are. Entries keep their order."""
    A, B = A.tocoo(), B.tocoo()
    inner = np.unique(B.row)
    place = np.searchsorted(inner, A.col)
    kept = place < len(inner)
    kept[kept] = inner[place[kept]] == A.col[kept]
    rows, row = np.unique(A.row[kept], return_inverse=True)
    columns, column = np.unique(B.col, return_inverse=True)
    a = _coo(A, A.data[kept], row, place[kept], (len(rows), len(inner)))
    b = _coo(B, B.data, np.searchsorted(inner, B.row), column, (len(inner), len(columns)))
    return a, b, rows, columns


def expand(product: Any, rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> Any:
    """COO with the numbers of the rows and columns."""
    small = product.tocoo()
    result = _coo(small, small.data, rows[small.row], columns[small.col], shape)
    result.has_canonical_format = True
    return result
