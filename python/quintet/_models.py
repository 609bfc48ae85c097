"""Arguments and results that the models of hyperbolic and spherical geometry have in common: rows of points of one type,
broadcast, with a status each; matrices of distances; groups and their means; moments of Adam."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np

from ._arrays import I64, Like, accumulator, same_type, take, take_rows
from ._errors import InvalidArgument


class MeanResult(NamedTuple):
    """Means of groups, and what was found of them."""

    mean: Any
    #: bool, of every group: whether the mean was found
    converged: np.ndarray
    #: of every group; zeros for gyromidpoint
    iterations: np.ndarray
    #: of every point: 0 inside, 1 outside, 2 not finite
    status: np.ndarray


def _rows_of(array: np.ndarray, name: str) -> np.ndarray:
    """[..., D] as [N, D] of contiguous rows."""
    if array.ndim == 0:
        raise InvalidArgument(f"{name} must have at least 1 dimension (shape=())")
    if array.ndim != 2:
        array = array.reshape((math.prod(array.shape[:-1]), array.shape[-1]))
    row, column = array.strides
    size = array.itemsize
    if (array.shape[1] > 1 and column != size) or (array.shape[0] > 1 and (row < size * array.shape[1] or row % size)):
        array = np.ascontiguousarray(array)
    return array


def _together(names: tuple[str, ...], arrays: tuple[Any, ...]) -> tuple[list[np.ndarray], tuple[int, ...], Like]:
    """Arrays [..., D] of one type and D, broadcast: as rows, with their shape [..., D]."""
    taken = [take(x, name) for x, name in zip(arrays, names)]
    first = taken[0][0]
    for (array, _), name in zip(taken[1:], names[1:]):
        same_type(first, array, names[0], name)
        if array.ndim == 0 or first.ndim == 0 or array.shape[-1] != first.shape[-1]:
            raise InvalidArgument(
                f"{names[0]} and {name} must have the same last dimension "
                f"({names[0]}: {first.shape}, {name}: {array.shape})"
            )
    shape = first.shape
    if any(array.shape != shape for array, _ in taken):
        try:
            shape = np.broadcast_shapes(*(array.shape for array, _ in taken))
        except ValueError:
            shapes = ", ".join(f"{name}: {array.shape}" for (array, _), name in zip(taken, names))
            raise InvalidArgument(f"shapes must be broadcastable ({shapes})") from None
        taken = [(np.broadcast_to(array, shape), like) for array, like in taken]
    return [_rows_of(array, name) for (array, _), name in zip(taken, names)], shape, taken[0][1]


def _operation(
    function: Any,
    names: tuple[str, ...],
    arrays: tuple[Any, ...],
    curvature: float,
    strict: bool,
    return_status: bool,
    device: str,
    *,
    columns: int | None = 0,
    number: tuple[str, Any] | None = None,
) -> Any:
    """function(arrays..., out, curvature, ...) of rows. `columns`: what the result has more than the arguments; None: it is
    one number per point. `number`: name and value of an argument that is one number, or one for every point; the function
    takes it behind the arrays."""
    rows, shape, like = _together(names, arrays)
    dtype = accumulator(rows[0])
    given = rows if number is None else [*rows, _scalars(number[1], number[0], shape[:-1], dtype)]
    width = () if columns is None else (rows[0].shape[1] + columns,)
    out = np.empty((len(rows[0]), *width), dtype)
    status = function(*given, out, float(curvature), strict, return_status, device)
    result = like(out.reshape(shape[:-1] + width))
    return (result, np.asarray(status).reshape(shape[:-1])) if return_status else result


def _scalars(value: Any, name: str, lead: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """One value, or one for every point."""
    if isinstance(value, (int, float)):
        return np.array([value], dtype)
    array, _ = take(value, name, integers=True)
    array = array.astype(dtype, copy=False)
    if array.ndim == 0:
        return array.reshape(1)
    try:
        return np.ascontiguousarray(np.broadcast_to(array, lead)).reshape(-1)
    except ValueError:
        raise InvalidArgument(f"{name} must be one number or of shape {lead} (shape={array.shape})") from None


def _matrix(x: Any, y: Any, out: np.ndarray | None, return_status: bool, call: Callable[..., Any]) -> Any:
    """call(x, y, out): a result for every row of x and every row of y."""
    first, like = take_rows(x, "x")
    second, _ = take_rows(y, "y")
    same_type(first, second, "x", "y")
    result = _output(out, (len(first), len(second)), accumulator(first))
    status = call(first, second, result)
    value = out if out is not None else like(result)
    return (value, status) if return_status else value


def _pairs(x: Any, y: Any, return_status: bool, call: Callable[..., Any]) -> Any:
    """call(x, y, out): a number for every pair of rows, broadcast; a status for x and one for y."""
    (first, second), shape, like = _together(("x", "y"), (x, y))
    out = np.empty(len(first), accumulator(first))
    status = call(first, second, out)
    result = like(out.reshape(shape[:-1]))
    return (result, tuple(s.reshape(shape[:-1]) for s in cast(Any, status))) if return_status else result


def _output(out: np.ndarray | None, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    if out is None:
        return np.empty(shape, dtype)
    if not isinstance(out, np.ndarray) or out.dtype != dtype or not out.flags.aligned:
        raise TypeError(f"out must be a NumPy array of type {dtype.name} (out={getattr(out, 'dtype', type(out))})")
    if out.shape != shape or not out.flags.writeable:
        raise InvalidArgument(f"out must be a writable array of shape {shape} (shape={out.shape})")
    if shape[1] > 1 and out.strides[1] != out.itemsize:
        raise InvalidArgument(f"the rows of out must be contiguous (strides={out.strides})")
    return out


class AdamState(NamedTuple):
    """What a step of Riemannian Adam leaves: new points ``[N, D]``, and their moments ``[N, D]`` and ``[N]``."""

    points: Any
    first: Any
    second: Any


def _adam(x: Any, gradient: Any, first: Any, second: Any, time: int, call: Callable[..., Any]) -> tuple[AdamState, Any]:
    """call(x, gradient, first, second, out); the first `time` numbers of a row have no moment. Moments are copied."""
    rows, like = take_rows(x, "x")
    slope, _ = take_rows(gradient, "gradient")
    same_type(rows, slope, "x", "gradient")
    dtype, out = accumulator(rows), np.empty(rows.shape, accumulator(rows))
    shapes = {"first": (len(rows), rows.shape[1] - time), "second": (len(rows),)}
    moments = []
    for name, value in (("first", first), ("second", second)):
        array = np.zeros(shapes[name], dtype) if value is None else np.array(take(value, name)[0], dtype, order="C")
        if array.shape != shapes[name]:
            raise InvalidArgument(f"{name} must be of shape {shapes[name]} (shape={array.shape})")
        moments.append(array)
    status = call(rows, slope, *moments, out)
    return AdamState(like(out), like(moments[0]), like(moments[1])), status


def _sampling(points: Any, links: Any, return_status: bool, call: Callable[..., Any]) -> Any:
    """call(points, links, losses, gradient) -> status."""
    rows, like = take_rows(points, "points")
    array = np.asarray(links)
    if array.dtype.kind not in "iu":
        raise TypeError(f"links must be integers (dtype={array.dtype})")
    if array.ndim != 2:
        raise InvalidArgument(f"links must have 2 dimensions (shape={array.shape})")
    numbers = np.ascontiguousarray(array, I64)
    losses, gradient = np.empty(len(numbers), accumulator(rows)), np.empty(rows.shape, accumulator(rows))
    status = call(rows, numbers, losses, gradient)
    result = like(losses), like(gradient)
    return (*result, status) if return_status else result


def _groups(offsets: Any, count: int) -> np.ndarray:
    if offsets is None:
        return np.array([0, count], I64)
    array = np.asarray(offsets)
    if array.dtype.kind not in "iu":
        raise TypeError(f"offsets must be integers (dtype={array.dtype})")
    if array.ndim != 1:
        raise InvalidArgument(f"offsets must have 1 dimension (shape={array.shape})")
    return np.ascontiguousarray(array, I64)


def _weights(weights: Any, rows: np.ndarray) -> np.ndarray | None:
    if weights is None:
        return None
    array, _ = take(weights, "weights", integers=True)
    if array.shape != (len(rows),):
        raise InvalidArgument(f"weights must be of shape {(len(rows),)} (shape={array.shape})")
    return np.ascontiguousarray(array, accumulator(rows))


def _mean(points: Any, offsets: Any, weights: Any, return_status: bool, call: Callable[..., Any]) -> Any:
    """call(points, offsets, weights, out) -> status of the points, whether a mean was found, and iterations, which some
    means do not have."""
    rows, like = take_rows(points, "points")
    groups = _groups(offsets, len(rows))
    out = np.empty((max(len(groups) - 1, 0), rows.shape[1]), accumulator(rows))
    status, converged, *iterations = call(rows, groups, _weights(weights, rows), out)
    value = like(out if offsets is not None else out[0])
    if not return_status:
        return value
    counts = iterations[0] if iterations and len(iterations[0]) == len(out) else np.zeros(len(out), np.int32)
    return MeanResult(value, converged.astype(bool), counts, status)
