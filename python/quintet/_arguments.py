"""Checks of arguments that the modules share."""

from __future__ import annotations

import difflib
import operator
from typing import Any

import numpy as np

from ._arrays import STORAGE, Like, take_rows
from ._errors import InvalidArgument

_METRICS = {
    "euclidean": "euclidean",
    "l2": "euclidean",
    "cosine": "cosine",
    "manhattan": "manhattan",
    "cityblock": "manhattan",
    "l1": "manhattan",
    "chebyshev": "chebyshev",
    "minkowski": "minkowski",
    "poincare": "poincare",
}


def metric_name(name: Any, precomputed: bool = False) -> str:
    if isinstance(name, str) and name in _METRICS:
        return _METRICS[name]
    if name == "precomputed" and precomputed:
        return "precomputed"
    known = [*_METRICS, *(["precomputed"] if precomputed else [])]
    near = difflib.get_close_matches(name.lower(), known, 1) if isinstance(name, str) else []
    if near:
        raise InvalidArgument(f"metric must be one of {', '.join(known)} (metric={name!r}); did you mean {near[0]!r}?")
    raise InvalidArgument(
        f"metric must be one of {', '.join(known)} (metric={name!r}); of any other distance pass the matrix: "
        "HDBSCAN(metric='precomputed').fit(scipy.spatial.distance.squareform(scipy.spatial.distance.pdist(X, name)))"
    )


def as_integer(value: Any, name: str, low: int = -(2**63), high: int = 2**63 - 1) -> int:
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be an integer ({name}={value!r})")
    try:
        integer = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer ({name}={value!r})") from None
    if not low <= integer <= high:
        raise InvalidArgument(f"{name} must be within {low} ... {high} ({name}={integer})")
    return integer


def as_seed(value: Any, name: str) -> int:
    return as_integer(value, name, 0, 2**64 - 1)


def as_number(value: Any, name: str) -> float:
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name} must be a number ({name}={value!r})")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number ({name}={value!r})") from None


def metric_parameter(metric: str, curvature: Any, p: Any) -> float:
    """The number that the bindings take next to the name of a metric."""
    return as_number(p, "p") if metric == "minkowski" else as_number(curvature, "curvature")


def choice_index(value: Any, name: str, allowed: tuple[str, ...]) -> int:
    """The position of `value` in `allowed`, which is the number of the enumerator that it names."""
    if not isinstance(value, str) or value not in allowed:
        raise InvalidArgument(f"{name} must be {' or '.join(map(repr, allowed))} ({name}={value!r})")
    return allowed.index(value)


def as_points(X: Any, name: str = "X") -> tuple[np.ndarray, Like]:
    """Points as rows of a storage type, and the array that results are to be like."""
    return take_rows(X, name, STORAGE, integers=True)
