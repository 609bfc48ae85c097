"""Checks of arguments that the modules share."""

from __future__ import annotations

import difflib
import operator
import sys
import warnings
from collections.abc import Mapping
from typing import Any

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
    "hamming": "hamming",
    "jaccard": "jaccard",
    "tanimoto": "jaccard",
    "integer_euclidean": "integer_euclidean",
    "integer_cosine": "integer_cosine",
    "integer_inner_product": "integer_inner_product",
    "inner_product": "integer_inner_product",
}
#: Metrics of rows of bits.
_OF_BITS = ("hamming", "jaccard", "tanimoto")
#: What the names of metrics of products begin with, see product.metric().
_OF_FACTORS = "product of "
#: Metrics of rows of integers.
_OF_INTEGERS = ("integer_euclidean", "integer_cosine", "integer_inner_product", "inner_product")
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
    if isinstance(name, str) and name.startswith(_OF_FACTORS):
        return name
    if name == "product":
        raise InvalidArgument("metric must name its factors (metric='product'): quintet.product.metric(space)")
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


def is_of_bits(metric: Any) -> bool:
    """Whether points of the metric are rows of bits."""
    return isinstance(metric, str) and metric in _OF_BITS


def is_of_doubles(metric: Any) -> bool:
    """Whether points of the metric become float64."""
    return isinstance(metric, str) and (metric == "lorentz" or metric.startswith(_OF_FACTORS))


def is_of_words(metric: Any) -> bool:
    """Whether points of the metric are rows of bits or of integers, which the bindings take as words."""
    return is_of_bits(metric) or (isinstance(metric, str) and metric in _OF_INTEGERS)


def types_for_check(metric: Any, *types: Any) -> list[Any] | None:
    """The types that scikit-learn's check may leave points in; None: any, which a later look at words refuses."""
    if is_of_words(metric):
        return None
    return [np.float64] if is_of_doubles(metric) else list(types)


def metric_parameter(metric: str, curvature: Any, p: Any, sphere_radius: Any, points: Any) -> float:
    """The number that the bindings take next to the name of a metric; of rows of words it is their bits in `points`."""
    if is_of_words(metric):
        return float(_bits_of(_dense(points, "X"), "X", metric))
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


def _dense(X: Any, name: str) -> np.ndarray:
    """An array of two dimensions."""
    if "scipy.sparse" in sys.modules and sys.modules["scipy.sparse"].issparse(X):
        raise InvalidArgument(f"{name} must be dense with this metric: {name}.toarray()")
    array = np.asarray(X)
    if array.ndim != 2:
        raise InvalidArgument(f"{name} must have 2 dimensions (shape={array.shape})")
    return array


def _bits_of(array: np.ndarray, name: str, metric: str) -> int:
    """Bits of a row: columns, or eight times those of bytes; 16 for each integer."""
    if not is_of_bits(metric):
        if not 1 <= array.shape[1] <= 2**16:
            raise InvalidArgument(f"{name} must have 1 to {2**16} integers in a row (shape={array.shape})")
        return 16 * int(array.shape[1])
    bits = int(array.shape[1]) * (8 if array.dtype == np.uint8 else 1)
    if not 1 <= bits <= 2**24:
        raise InvalidArgument(f"{name} must have 1 to {2**24} bits in a row (shape={array.shape}, dtype={array.dtype})")
    return bits


def _bytes_of(array: np.ndarray, name: str) -> np.ndarray:
    """Rows of bytes that hold the bits."""
    if array.dtype == np.uint8:
        if len(array) > 1 and array.shape[1] > 1 and array.max() == 1:
            warnings.warn(
                f"{name} holds bytes of 0 and 1, which count as packed bits (numpy.packbits); if each is a bit, pass "
                f"{name}.astype(bool)",
                UserWarning,
                stacklevel=4,
            )
        return array
    if array.dtype != np.bool_:
        if array.dtype.kind not in "iuf":
            raise TypeError(f"{name} must be bool, or uint8 of numpy.packbits, for this metric (dtype={array.dtype})")
        wrong = (array != 0) & (array != 1)
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            raise InvalidArgument(
                f"{name} must hold 0 and 1 alone for this metric ({name}[{row}, {column}]={array[row, column]})"
            )
    return np.packbits(array != 0, axis=1, bitorder="little")


def _integers_of(array: np.ndarray, name: str) -> np.ndarray:
    """Rows of bytes that hold 16-bit integers, four to a word."""
    if array.dtype not in (np.int8, np.uint8):
        if array.dtype.kind not in "iuf":
            raise TypeError(f"{name} must be int8 or uint8 for this metric (dtype={array.dtype})")
        wrong = ~((array >= -255) & (array <= 255))
        if array.dtype.kind == "f":
            wrong |= array != np.rint(array)
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            raise InvalidArgument(
                f"{name} must hold integers from -255 to 255 for this metric "
                f"({name}[{row}, {column}]={array[row, column]})"
            )
    return np.ascontiguousarray(array, dtype="<i2").view(np.uint8)


def words_of(X: Any, metric: str, name: str = "X") -> np.ndarray:
    """Rows of bits or integers as the bindings take them: words of 64 bits that NumPy calls float64. They are no numbers."""
    array = _dense(X, name)
    _bits_of(array, name, metric)
    content = _bytes_of(array, name) if is_of_bits(metric) else _integers_of(array, name)
    words = np.zeros((len(content), -(-content.shape[1] // 8) * 8), np.uint8)
    words[:, : content.shape[1]] = content
    return words.view(np.float64)


def as_points(X: Any, name: str = "X", metric: Any = "euclidean") -> tuple[np.ndarray, Like]:
    """Points as rows of a storage type, and the array that results are to be like. Those of "lorentz" and
    products become float64, and rows of bits and of integers words."""
    if is_of_words(metric):
        words = words_of(X, metric, name)
        return words, take_rows(words[:0], name)[1]
    array, like = take_rows(X, name, STORAGE, integers=True)
    return (widened(array) if is_of_doubles(metric) else array), like
