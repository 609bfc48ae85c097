"""Products of spaces of constant curvature: ``d^2 = sum of w_i d_i^2`` over the factors (Gu, Sala, Gunel, Ré 2019).

A space is a list of factors ``(geometry, numbers in a row[, curvature[, weight]])``:

============== ============ ==================================================================================
geometry       curvature    numbers, and the distance
============== ============ ==================================================================================
euclidean      0            n; ``|x - y|``
sphere         k > 0        n + 1, a direction: vectors of any length but 0; the angle over ``sqrt(k)``
stereographic  any k        n of the projection, as geoopt.Stereographic has them; 0 is ``2 |x - y|``
poincare       -c < 0       n of the ball, as :mod:`quintet.poincare`
lorentz        -c < 0       n of the space part, as :mod:`quintet.lorentz`
============== ============ ==================================================================================

The default curvature is 1 of a sphere, -1 of poincare and lorentz, otherwise 0; that weight is 1. Points are rows of the
numbers of all factors. Types, devices, status and errors as in :mod:`quintet.poincare`; status 1 is a row with a part that is
no point of its factor. :class:`quintet.torch.ProductManifold` has operations and gradients.

:func:`metric` makes a space the ``metric`` of whatever takes one: :mod:`quintet.neighbours`, :mod:`quintet.hdbscan`,
:mod:`quintet.mpi`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from . import _core
from ._errors import InvalidArgument
from ._models import _matrix, _pairs

__all__ = ["distances", "metric", "pair_distances"]

_GEOMETRY = {"euclidean": 0, "sphere": 1, "stereographic": 2, "poincare": 2, "lorentz": 3}
_CURVATURE = {"euclidean": 0.0, "sphere": 1.0, "stereographic": 0.0, "poincare": -1.0, "lorentz": -1.0}


def _factors(space: Iterable[Sequence[Any]]) -> list[tuple[int, int, float, float]]:
    factors = []
    for i, given in enumerate(space):
        if isinstance(given, str) or not 2 <= len(given) <= 4:
            raise InvalidArgument(f"space[{i}] must be (geometry, numbers[, curvature[, weight]]) (space[{i}]={given!r})")
        padded: list[Any] = [*given, None, None]
        kind, dim, curvature, weight = padded[:4]
        if kind not in _GEOMETRY:
            raise InvalidArgument(f"space[{i}] must begin with one of {', '.join(_GEOMETRY)} (space[{i}]={given!r})")
        value = _CURVATURE[kind] if curvature is None else float(curvature)
        if kind == "poincare" and not value < 0:
            raise InvalidArgument(f"the curvature of space[{i}] must be < 0 (space[{i}]={given!r})")
        factors.append((_GEOMETRY[kind], dim.__index__(), value, 1.0 if weight is None else float(weight)))
    return factors


_NAME = {0: "euclidean", 1: "sphere", 2: "stereographic", 3: "lorentz"}


def metric(space: Iterable[Sequence[Any]]) -> str:
    """The name of the distances of a space of at most 16 factors, with weights in [1e-30, 1e30], as a ``metric``. Points
    are rows of its numbers and become float64; rows with a part that is no point of its factor are invalid. Every pair is
    computed, and neighbours and clusters are exact.

    >>> import numpy as np
    >>> from quintet import neighbours, product
    >>> name = product.metric([("lorentz", 2), ("sphere", 2, 1.0, 0.5)])
    >>> name
    'product of lorentz 2 -1.0 1.0, sphere 2 1.0 0.5'
    >>> points = np.array([[0.0, 0.0, 1.0, 0.0], [3.0, 4.0, 1.0, 0.0], [0.0, 0.1, 0.0, 1.0]])
    >>> neighbours.nearest(points, 1, metric=name).indices.ravel()
    array([2, 0, 0])
    """
    factors = _factors(space)
    return "product of " + ", ".join(f"{_NAME[kind]} {dim} {curvature!r} {weight!r}" for kind, dim, curvature, weight in factors)


def distances(
    x: Any,
    y: Any,
    space: Iterable[Sequence[Any]],
    *,
    strict: bool = False,
    return_status: bool = False,
    out: np.ndarray | None = None,
    device: str = "auto",
) -> Any:
    """All distances ``[Q, N]`` of the points ``x[Q, D]`` and ``y[N, D]``. ``out``: a writable NumPy array [Q, N] of the
    result's type. return_status: a pair of arrays, of x and of y.

    >>> import numpy as np
    >>> from quintet import product
    >>> space = [("poincare", 2, -1.0), ("sphere", 2), ("euclidean", 1)]
    >>> product.distances(np.array([[0.5, 0.0, 1.0, 0.0, 3.0]]), np.array([[0.0, 0.0, 0.0, 1.0, 0.0]]), space).round(4)
    array([[3.5601]])
    """
    factors = _factors(space)
    return _matrix(
        *(x, y, out, return_status),
        lambda first, second, to: _core.product_distances(first, second, to, factors, strict, return_status, device),
    )


def pair_distances(
    x: Any,
    y: Any,
    space: Iterable[Sequence[Any]],
    *,
    strict: bool = False,
    return_status: bool = False,
    device: str = "auto",
) -> Any:
    """Distances of ``x_i`` and ``y_i``, points ``[..., D]``, broadcast, to the bit those of :func:`distances`; ``[...]``.

    >>> import numpy as np
    >>> from quintet import product
    >>> product.pair_distances(np.array([[0.0, 1.0]]), np.array([[1.0, 0.0]]), [("sphere", 2, 4.0)]).round(4)
    array([0.7854])
    """
    factors = _factors(space)
    return _pairs(
        *(x, y, return_status),
        lambda first, second, to: _core.product_pair_distances(first, second, to, factors, strict, return_status, device),
    )
