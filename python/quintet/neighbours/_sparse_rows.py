"""Nearest neighbours of sparse rows by cosine: the largest entries of a product, and rows that share no column."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arguments import as_integer
from .._errors import InvalidArgument

#: Rows of queries that are looked at again at a time, because few points share a column with them.
_ROWS_AT_A_TIME = 1000


def _unit_rows(matrix: Any, name: str) -> tuple[Any, np.ndarray]:
    """Rows of length 1 without repeated entries, and which rows have a length; the others are empty."""
    from .. import sparse

    rows = sparse._csr(matrix, name).copy()
    rows.sum_duplicates()
    data = rows.data.astype(np.float64) if rows.dtype.kind in "biu" else sparse._values(rows, name, "plus_times")
    counts = np.diff(rows.indptr)
    row = np.repeat(np.arange(rows.shape[0]), counts)
    with np.errstate(over="ignore", invalid="ignore"):
        largest = np.zeros(rows.shape[0])
        np.maximum.at(largest, row, np.abs(data))
        scaled = data / np.where(largest > 0, largest, 1)[row]
        length = np.sqrt(np.bincount(row, weights=scaled.astype(np.float64) ** 2, minlength=rows.shape[0]))
    has_length = np.isfinite(largest) & (largest > 0) & np.isfinite(length)
    kept = has_length[row]
    values = (scaled[kept] / length[row[kept]]).astype(data.dtype)
    indptr = np.concatenate(([0], np.cumsum(np.where(has_length, counts, 0))))
    return type(rows)((values, rows.indices[kept], indptr), shape=rows.shape), has_length


def _fill(
    similarities: np.ndarray, indices: np.ndarray, row: np.ndarray, columns: np.ndarray, valid: np.ndarray, own: int
) -> None:
    """The places of a list that no positive cosine has: points at cosine 0 by index, then negative ones by rank."""
    first = int(np.count_nonzero(indices >= 0))
    wanted = len(indices) - first
    taken = columns[row != 0]
    others = valid[: wanted + len(taken) + 1]
    others = others[~np.isin(others, taken) & (others != own)][:wanted]
    negative = (row < 0) & (columns != own)
    order = np.lexsort((columns[negative], -row[negative]))[: wanted - len(others)]
    filled = np.concatenate((others, columns[negative][order]))
    indices[first : first + len(filled)] = filled
    similarities[first : first + len(filled)] = np.concatenate((np.zeros(len(others)), row[negative][order]))


def nearest_by_cosine(points: Any, k: int, queries: Any, device: str) -> Any:
    """The lists of neighbours.nearest() of sparse rows."""
    from .. import sparse
    from ._functions import NearestResult

    P, valid_points = _unit_rows(points, "points")
    Q, valid_queries = (P, valid_points) if queries is None else _unit_rows(queries, "queries")
    if P.shape[1] != Q.shape[1]:
        raise InvalidArgument(f"points and queries must have as many columns (points: {P.shape}, queries: {Q.shape})")
    count = as_integer(k, "k", 1, P.shape[0] - (queries is None))
    top, report = sparse.multiply_top(
        Q, P, count + (queries is None), threshold=np.finfo(P.dtype).smallest_subnormal, by_value=True,
        transpose_b=True, return_report=True, device=device,
    )
    row = np.repeat(np.arange(Q.shape[0]), np.diff(top.indptr))
    kept = row != top.indices if queries is None else np.ones(top.nnz, bool)
    row, column, value = row[kept], top.indices[kept], top.data[kept]
    place = np.arange(len(row)) - np.concatenate(([0], np.cumsum(np.bincount(row, minlength=Q.shape[0]))))[row]
    indices = np.full((Q.shape[0], count), -1, np.int64)
    similarities = np.full(indices.shape, np.nan, P.dtype)
    inside = place < count
    indices[row[inside], place[inside]] = column[inside]
    similarities[row[inside], place[inside]] = value[inside]
    short = np.flatnonzero(valid_queries & (indices[:, -1] < 0))
    valid = np.flatnonzero(valid_points)
    for begin in range(0, len(short), _ROWS_AT_A_TIME):
        part = short[begin : begin + _ROWS_AT_A_TIME]
        product = sparse.multiply(Q[part], P, transpose_b=True, device=device)
        for at, i in enumerate(part):
            entries = slice(product.indptr[at], product.indptr[at + 1])
            _fill(similarities[i], indices[i], product.data[entries], product.indices[entries], valid,
                  int(i) if queries is None else -1)
    distances = np.maximum(P.dtype.type(1) - similarities, P.dtype.type(0))
    return NearestResult(
        distances, indices, np.flatnonzero(~valid_queries), np.flatnonzero(~valid_points), int(report["products"])
    )
