"""Checks of arguments that the modules share."""

from __future__ import annotations

import difflib
import operator
import warnings
from typing import Any, Mapping

import numpy as np

from ._arrays import STORAGE, Like, take_rows, widened
from ._errors import InvalidArgument

_METRICS = {
    "euclidean": "euclidean",
    "l2": "euclidean",
    "cosine": "cosine",
    "manhattan": "manhattan",
    "cityblock": "manhattan",
    "l1": "manhattan",
    "chebyshev": "chebyshev",
    "infinity": "chebyshev",
    "minkowski": "minkowski",
    "p": "minkowski",
    "poincare": "poincare",
    "haversine": "haversine",
    "lorentz": "lorentz",
}
#: What the bindings call the metric of points in degrees.
_OF_DEGREES = "haversine of degrees"
#: Metrics that are euclidean after a linear map of the columns.
_OF_LINEAR_MAPS = {
    "seuclidean": "X / X.std(axis=0, ddof=1)",
    "mahalanobis": "X @ numpy.linalg.cholesky(numpy.linalg.inv(numpy.cov(X.T)))",
}
#: Parameters of metrics, with their defaults.
_PARAMETERS = {"curvature": -1.0, "p": 2.0, "unit": "radians", "sphere_radius": 1.0}


def metric_name(name: Any, precomputed: bool = False, unit: Any = "radians") -> str:
    """The name that the bindings take; they take it again."""
    if unit not in ("radians", "degrees"):
        raise InvalidArgument(f"unit must be 'radians' or 'degrees' (unit={unit!r})")
    if name == _OF_DEGREES or (name == "haversine" and unit == "degrees"):
        return _OF_DEGREES
    if isinstance(name, str) and name in _METRICS:
        return _METRICS[name]
    if name == "precomputed" and precomputed:
        return "precomputed"
    if isinstance(name, str) and name.lower() in ("sqeuclidean", "squared_euclidean"):
        raise InvalidArgument(
            f"metric must not be squared (metric={name!r}): 'euclidean' has the same neighbours and clusters; square its "
            "distances, and take the root of an epsilon or a radius"
        )
    if isinstance(name, str) and name.lower() in _OF_LINEAR_MAPS:
        raise InvalidArgument(
            f"metric={name!r} is the euclidean distance of other columns: pass {_OF_LINEAR_MAPS[name.lower()]} with "
            "metric='euclidean', or the matrix of distances with HDBSCAN(metric='precomputed')"
        )
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


def metric_parameter(metric: str, curvature: Any, p: Any, sphere_radius: Any) -> float:
    """The number that the bindings take next to the name of a metric."""
    if metric in ("haversine", _OF_DEGREES):
        return as_number(sphere_radius, "sphere_radius")
    return as_number(p, "p") if _METRICS.get(metric) == "minkowski" else as_number(curvature, "curvature")


def metric_arguments(params: Mapping[str, Any] | None, **defaults: Any) -> dict[str, Any]:
    """What metric_params says of a metric, as arguments of functions; of the rest `defaults`."""
    given = dict(params or {})
    unknown = set(given) - set(_PARAMETERS)
    if unknown:
        raise InvalidArgument(f"metric_params may hold {', '.join(_PARAMETERS)} only (metric_params={params!r})")
    return {**_PARAMETERS, **defaults, **given}


def warn_of_degrees(points: np.ndarray, metric: str) -> None:
    """Latitudes in degrees that are read as radians are out of range, and few users look at invalid rows."""
    if metric != "haversine" or points.ndim != 2 or points.shape[1] != 2:
        return
    latitude = np.abs(points[:, 0].astype(np.float64))
    count = int(np.count_nonzero((latitude > np.float64(np.float32(np.pi / 2))) & (latitude <= 90)))
    if count:
        warnings.warn(
            f"{count} of the latitudes are beyond pi / 2 and their rows invalid: are they in degrees? Then say "
            "unit='degrees' (estimators: metric_params={'unit': 'degrees'})",
            UserWarning,
            stacklevel=3,
        )


def choice_index(value: Any, name: str, allowed: tuple[str, ...]) -> int:
    """The position of `value` in `allowed`, which is the number of the enumerator that it names."""
    if not isinstance(value, str) or value not in allowed:
        raise InvalidArgument(f"{name} must be {' or '.join(map(repr, allowed))} ({name}={value!r})")
    return allowed.index(value)


def as_points(X: Any, name: str = "X", metric: Any = "euclidean") -> tuple[np.ndarray, Like]:
    """Points as rows of a storage type, and the array that results are to be like. Those of "lorentz" become float64."""
    array, like = take_rows(X, name, STORAGE, integers=True)
    return (widened(array) if metric == "lorentz" else array), like
