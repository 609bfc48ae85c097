"""Exact density clustering (HDBSCAN*), and everything that it is made of.

:class:`HDBSCAN` stands in for ``hdbscan.HDBSCAN`` and ``sklearn.cluster.HDBSCAN``; ``import quintet.hdbscan as hdbscan``
is all that a program has to change. It needs scikit-learn; the functions of this module need NumPy only.

With core distances ``c_i`` (to the k-th nearest other point, k = min_samples) the mutual reachability of two points is
``m_ij = max(c_i, c_j, d_ij / alpha)`` (Campello, Moulavi, Sander 2013). Its minimum spanning tree is found exactly by
Boruvka's algorithm over tiles of distances; dendrogram, condensed tree and labels follow from it. Results have the same
bits for any number of threads and do not depend on the order of the points.

Points are arrays ``X[n, d]`` of float16, bfloat16, float32 or float64, NumPy's or any library's on the processor;
integers and bools become float64. Rows with NaN or infinity belong to no cluster. ``metric`` is "euclidean" ("l2"),
"cosine", "manhattan" ("cityblock", "l1"), "chebyshev" ("infinity"), "minkowski" ("p"; with ``p`` >= 1), "haversine" (rows of
latitude and longitude in ``unit`` "radians" or "degrees", on a sphere of ``sphere_radius``), "poincare" (the ball of
``curvature`` < 0) or "lorentz" (the hyperboloid: space parts, which become float64), and "precomputed" where a function
says so. "hamming" and "jaccard" ("tanimoto") take rows of bits: bool arrays, arrays of 0 and 1, or uint8 rows of
``numpy.packbits``, where all bits of the last byte count. "integer_euclidean" and "integer_cosine" take rows of int8 or uint8 and are exact
to the last tie. Distances of bits and of integers are float64.

Errors: ``TypeError`` for arrays of another type, ``InvalidArgument`` (a ``ValueError``) for shapes and options out of
range, ``DeviceError`` for memory of a GPU or an absent device, ``Cancelled`` when the progress callback returns False.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ._functions import (
    ClusterResult,
    PointLabels,
    SpanningTreeResult,
    TreeSummary,
    ValidityResult,
    assign_noise,
    cluster,
    cluster_tree,
    condense,
    core_and_reachability,
    core_distances,
    label_points,
    medoids,
    mutual_reachability,
    mutual_reachability_blocks,
    relative_validity,
    select_clusters,
    single_linkage,
    spanning_tree,
    summarise,
    validity_index,
    weighted_centroids,
)
from ._prediction import (
    all_points_membership_vectors,
    approximate_predict,
    approximate_predict_scores,
    membership_vector,
    membership_vector_blocks,
)
from ._sweep import SweepResult, flat, sweep
from ._trees import CondensedTree, MinimumSpanningTree, SingleLinkageTree, cut

if TYPE_CHECKING:
    from ._estimator import HDBSCAN as HDBSCAN
    from ._estimator import PredictionData as PredictionData
    from ._robust_single_linkage import RobustSingleLinkage as RobustSingleLinkage

__all__ = [
    "ClusterResult",
    "CondensedTree",
    "HDBSCAN",
    "MinimumSpanningTree",
    "PointLabels",
    "PredictionData",
    "RobustSingleLinkage",
    "SingleLinkageTree",
    "SpanningTreeResult",
    "SweepResult",
    "TreeSummary",
    "ValidityResult",
    "all_points_membership_vectors",
    "approximate_predict",
    "approximate_predict_scores",
    "assign_noise",
    "cluster",
    "cluster_tree",
    "condense",
    "core_and_reachability",
    "core_distances",
    "cut",
    "flat",
    "label_points",
    "medoids",
    "membership_vector",
    "membership_vector_blocks",
    "mutual_reachability",
    "mutual_reachability_blocks",
    "relative_validity",
    "select_clusters",
    "single_linkage",
    "spanning_tree",
    "summarise",
    "sweep",
    "validity_index",
    "weighted_centroids",
]


def __getattr__(name: str) -> Any:
    if name in ("HDBSCAN", "PredictionData", "RobustSingleLinkage"):
        try:
            from . import _estimator, _robust_single_linkage
        except ImportError as error:
            if "sklearn" not in str(error):
                raise
            raise ImportError(f"quintet.{name} needs scikit-learn: pip install 'quintet[sklearn]'") from error
        return getattr(_robust_single_linkage if name == "RobustSingleLinkage" else _estimator, name)
    if name in ("plots", "prediction", "validity"):  # where contrib's module has the functions
        return sys.modules[__name__]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
