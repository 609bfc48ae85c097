"""The kappa-stereographic model: spaces of constant curvature of any sign, with operations that are smooth at 0.

``curvature`` is k as ``geoopt.Stereographic`` has it. k < 0 is the ball ``-k |x|^2 < 1`` of :mod:`quintet.poincare`, k = 0 flat
space, and k > 0 the projection of a sphere of radius ``1 / sqrt(k)`` from its pole (Bachmann, Becigneul, Ganea 2020). Distances
are those of :mod:`quintet.product` with ``[("stereographic", n, k)]``; they go to ``2 |x - y|`` with k.

Points are ``[..., n]``. Types, libraries, devices, status and errors as in :mod:`quintet.poincare`; status 1 is a point outside the
ball, or a row with the pole as its result.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core, product
from ._arrays import take
from ._models import _operation

__all__ = ["add", "distances", "exp_map", "geodesic", "log_map", "pair_distances", "scalar_mul"]


def distances(x: Any, y: Any, *, curvature: float, return_status: bool = False, **options: Any) -> Any:
    """All distances ``[Q, N]`` of ``x[Q, n]`` and ``y[N, n]``; options of :func:`quintet.product.distances`.

    >>> import numpy as np, quintet.stereographic as stereographic
    >>> stereographic.distances(np.zeros((1, 2)), np.array([[1.0, 0.0]]), curvature=1.0)
    array([[1.57079633]])
    """
    space = [("stereographic", take(x, "x")[0].shape[-1], curvature)]
    return product.distances(x, y, space, return_status=return_status, **options)


def pair_distances(x: Any, y: Any, *, curvature: float, return_status: bool = False, **options: Any) -> Any:
    """Distances of ``x_i`` and ``y_i``, points ``[..., n]``, broadcast; ``[...]``.

    >>> import numpy as np, quintet.stereographic as stereographic
    >>> stereographic.pair_distances(np.zeros((1, 2)), np.array([[0.5, 0.0]]), curvature=-1.0).round(4)
    array([1.0986])
    """
    space = [("stereographic", take(x, "x")[0].shape[-1], curvature)]
    return product.pair_distances(x, y, space, return_status=return_status, **options)


def add(
    x: Any,
    y: Any,
    *,
    curvature: float,
    strict: bool = False,
    return_status: bool = False,
    device: str = "auto",
) -> Any:
    """``x (+) y``, points ``[..., n]``, broadcast.

    >>> import numpy as np, quintet.stereographic as stereographic
    >>> stereographic.add(np.array([0.5, 0.0]), np.array([0.5, 0.0]), curvature=1.0).round(4)
    array([1.3333, 0.    ])
    """
    return _operation(
        _core.stereographic_add, ("x", "y"), (x, y), curvature, strict, return_status, device
    )


def scalar_mul(
    r: Any,
    x: Any,
    *,
    curvature: float,
    strict: bool = False,
    return_status: bool = False,
    device: str = "auto",
) -> Any:
    """``r (x) x``: the point at r of the geodesic from 0 to x; one r, or one for every point.

    >>> import numpy as np, quintet.stereographic as stereographic
    >>> stereographic.scalar_mul(2, np.array([0.5, 0.0]), curvature=1.0).round(4)
    array([1.3333, 0.    ])
    """
    return _operation(
        _core.stereographic_scalar_mul,
        ("x",),
        (x,),
        curvature,
        strict,
        return_status,
        device,
        number=("r", r),
    )


def exp_map(
    v: Any,
    base: Any = None,
    *,
    curvature: float,
    strict: bool = False,
    return_status: bool = False,
    device: str = "auto",
) -> Any:
    """The end of the geodesic that starts at ``base[..., n]`` as ``v[..., n]``; base None is the origin.

    >>> import numpy as np, quintet.stereographic as stereographic
    >>> stereographic.exp_map(np.array([np.pi / 4, 0.0]), curvature=1.0).round(4)
    array([1., 0.])
    """
    at = np.zeros_like(take(v, "v")[0]) if base is None else base
    return _operation(
        _core.stereographic_exp_map, ("base", "v"), (at, v), curvature, strict, return_status, device
    )


def log_map(
    y: Any,
    base: Any = None,
    *,
    curvature: float,
    strict: bool = False,
    return_status: bool = False,
    device: str = "auto",
) -> Any:
    """The shortest v with ``exp_map(v, base) = y``; base None is the origin.

    >>> import numpy as np, quintet.stereographic as stereographic
    >>> stereographic.log_map(np.array([1.0, 0.0]), curvature=1.0).round(4)
    array([0.7854, 0.    ])
    """
    at = np.zeros_like(take(y, "y")[0]) if base is None else base
    return _operation(
        _core.stereographic_log_map, ("base", "y"), (at, y), curvature, strict, return_status, device
    )


def geodesic(
    x: Any,
    y: Any,
    t: Any,
    *,
    curvature: float,
    strict: bool = False,
    return_status: bool = False,
    device: str = "auto",
) -> Any:
    """The point at t of the shortest geodesic from x (t = 0) to y (t = 1); one t, or one for every point.

    >>> import numpy as np, quintet.stereographic as stereographic
    >>> stereographic.geodesic(np.array([1.0, 0.0]), np.array([-0.5, 0.0]), 0.5, curvature=0.0)
    array([0.25, 0.  ])
    """
    return _operation(
        _core.stereographic_geodesic,
        ("x", "y"),
        (x, y),
        curvature,
        strict,
        return_status,
        device,
        number=("t", t),
    )
