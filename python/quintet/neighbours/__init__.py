"""Exact nearest neighbours, without an index to tune: scikit-learn's transformer, UMAP's ``precomputed_knn``, arrays.

Points are ``[n, d]`` of float16, bfloat16, float32 or float64 (integers and bools become float64), NumPy's or any
library's on the processor. ``metric`` is "euclidean" ("l2"), "cosine", "manhattan" ("cityblock", "l1"), "chebyshev",
"minkowski" with ``p`` >= 1, or "poincare" with a ``curvature`` < 0. In few dimensions a tree of blocks answers in about n log n,
otherwise all pairs are computed; the result is the same. Equal distances are ordered by index. Rows with NaN or
infinity have no neighbours and are neighbours of no row.

Errors: ``TypeError`` for arrays of another type, ``InvalidArgument`` (a ``ValueError``) for shapes, k, radius and options
out of range, ``DeviceError`` for an absent device and memory of one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._functions import (
    NearestResult,
    RadiusResult,
    nearest,
    nearest_graph,
    precomputed_knn,
    within_radius,
)

if TYPE_CHECKING:
    from ._estimator import KNeighborsTransformer as KNeighborsTransformer

__all__ = [
    "KNeighborsTransformer",
    "NearestResult",
    "RadiusResult",
    "nearest",
    "nearest_graph",
    "precomputed_knn",
    "within_radius",
]


def __getattr__(name: str) -> Any:
    if name == "KNeighborsTransformer":
        try:
            from . import _estimator
        except ImportError as error:
            if "sklearn" not in str(error) and "scipy" not in str(error):
                raise
            raise ImportError(
                "quintet.KNeighborsTransformer needs scikit-learn: pip install 'quintet[sklearn]'"
            ) from error
        return _estimator.KNeighborsTransformer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
