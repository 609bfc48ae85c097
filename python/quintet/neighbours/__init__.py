"""Exact nearest neighbours: an index without anything to tune, scikit-learn's estimators, UMAP's ``precomputed_knn``, arrays.

Points are ``[n, d]`` of float16, bfloat16, float32 or float64 (integers and bools become float64), NumPy's or any
library's on the processor. ``metric`` is "euclidean" ("l2"), "cosine", "manhattan" ("cityblock", "l1"), "chebyshev",
"minkowski" with ``p`` >= 1, "haversine" (rows of latitude and longitude, in ``unit`` "radians" or "degrees"), "poincare" or
"lorentz" with a ``curvature`` < 0. Points of "lorentz" are the space parts of points of the hyperboloid and become
float64. "hamming" and "jaccard" ("tanimoto") take rows of bits: bool, or uint8 rows of ``numpy.packbits``.
"integer_euclidean", "integer_cosine" and "inner_product" (distance -x.y, the largest product first) take rows of int8
or uint8 and are exact to the last tie. In few dimensions a tree of blocks answers in about n log n, otherwise all pairs
are computed; the result is the same. Equal distances are ordered by index, Euclidean ones by their
squares first (two of them may have one root), those of the ball likewise. Rows with NaN or infinity have no neighbours
and are neighbours of no row.

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
from ._index import Index
from ._trees import BallTree, KDTree

if TYPE_CHECKING:
    from ._estimator import KNeighborsTransformer as KNeighborsTransformer
    from ._estimator import NearestNeighbors as NearestNeighbors
    from ._estimator import RadiusNeighborsTransformer as RadiusNeighborsTransformer
    from ._estimator import kneighbors_graph as kneighbors_graph
    from ._estimator import radius_neighbors_graph as radius_neighbors_graph

_OF_SCIKIT_LEARN = (
    "KNeighborsTransformer",
    "NearestNeighbors",
    "RadiusNeighborsTransformer",
    "kneighbors_graph",
    "radius_neighbors_graph",
)

__all__ = [
    "BallTree",
    "Index",
    "KDTree",
    "KNeighborsTransformer",
    "NearestNeighbors",
    "NearestResult",
    "RadiusNeighborsTransformer",
    "RadiusResult",
    "kneighbors_graph",
    "nearest",
    "nearest_graph",
    "precomputed_knn",
    "radius_neighbors_graph",
    "within_radius",
]


def __getattr__(name: str) -> Any:
    if name in _OF_SCIKIT_LEARN:
        try:
            from . import _estimator
        except ImportError as error:
            if "sklearn" not in str(error) and "scipy" not in str(error):
                raise
            raise ImportError(
                f"quintet.{name} needs scikit-learn: pip install 'quintet[sklearn]'"
            ) from error
        return getattr(_estimator, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
