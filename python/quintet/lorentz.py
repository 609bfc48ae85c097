"""The Lorentz model (hyperboloid) of hyperbolic space: distances that keep their digits at any radius, operations, maps to
other models.

``curvature = -c < 0`` means the sheet ``{(t, x) : |x|^2 - t^2 = -1 / c, t > 0}``. geoopt's ``k`` is ``1 / c``.

Points are ``[..., n]``, their space part x; every finite one is a point. With ``time=True`` they are ``[..., n + 1]``, time
first, as geoopt has them. The time is compared with ``sqrt(1 / c + |x|^2)``: if it differs by more than ``tolerance``
(relative; None: 16 roundings of the type), the point has NaN in every result, or with ``strict=True`` is an
``InvalidArgument``. ``time="ignore"`` does not read it. A float32 ball ends at radius 17, this model at 88.

Operations and maps take space parts. A tangent vector is given by its space part v too; its time is ``x.v / t``.

Types, libraries, devices, status and errors as in :mod:`quintet.poincare`; status 1 is a time that does not belong to its
point.
"""

from __future__ import annotations

from typing import Any, SupportsIndex

import numpy as np

from . import _core
from ._arrays import accumulator, take
from ._errors import InvalidArgument
from ._models import AdamState, _adam, _matrix, _mean, _operation, _pairs, _sampling, _scalars, _together

__all__ = [
    "AdamState",
    "adam_step",
    "centroid",
    "distances",
    "exp_map",
    "frechet_mean",
    "from_ball",
    "from_half_space",
    "from_klein",
    "geodesic",
    "hyperplane_distances",
    "hyperplane_gradients",
    "log_map",
    "negative_sampling",
    "origin_distances",
    "pair_distances",
    "parallel_transport",
    "to_ball",
    "to_half_space",
    "to_klein",
]


def _form(time: bool | str) -> int:
    if time is False or time is True:
        return int(time)
    if time == "ignore":
        return 2
    raise InvalidArgument(f"time must be False, True or 'ignore' (time={time!r})")


def _tolerance(tolerance: float | None) -> float | None:
    return None if tolerance is None else float(tolerance)


def distances(
    x: Any,
    y: Any,
    *,
    time: bool | str = False,
    tolerance: float | None = None,
    curvature: float = -1.0,
    strict: bool = False,
    return_status: bool = False,
    out: np.ndarray | None = None,
    device: str = "auto",
) -> Any:
    """All geodesic distances ``[Q, N]`` of the points ``x[Q, n]`` and ``y[N, n]``, by the law of haversines:

    ``sinh^2(sqrt(c) d / 2) = sinh^2(asinh(m) / 2) + c |sqrt(b/a) x - sqrt(a/b) y|^2 / 4``, ``a = |x|``, ``b = |y|``, m the
    sinh of the difference of the radii. Within 1 ulp of float32 and 4 ulp of float64 at any radius; equal points have
    distance exactly 0. ``out``: a writable NumPy array [Q, N] of the result's type.

    >>> import numpy as np, quintet.lorentz as lorentz
    >>> lorentz.distances(np.array([[0.0, 0.0]]), np.array([[np.sinh(40.0), 0.0], [0.0, 0.0]]))
    array([[40.,  0.]])
    """
    options = (_form(time), _tolerance(tolerance), float(curvature), strict, return_status, device)
    return _matrix(x, y, out, return_status, lambda first, second, to: _core.lorentz_distances(first, second, to, *options))


def pair_distances(
    x: Any,
    y: Any,
    *,
    time: bool | str = False,
    tolerance: float | None = None,
    curvature: float = -1.0,
    strict: bool = False,
    return_status: bool = False,
    device: str = "auto",
) -> Any:
    """``d(x_i, y_i)`` of points ``[..., n]``, broadcast, to the bit those of :func:`distances`. Shape ``[...]``.

    >>> import numpy as np, quintet.lorentz as lorentz
    >>> x = np.array([[0.1, 0.2], [3e5, 4e5]])
    >>> lorentz.pair_distances(x, x)
    array([0., 0.])
    """
    options = (_form(time), _tolerance(tolerance), float(curvature), strict, return_status, device)
    return _pairs(x, y, return_status, lambda first, second, to: _core.lorentz_pair_distances(first, second, to, *options))


def origin_distances(
    x: Any,
    *,
    time: bool | str = False,
    tolerance: float | None = None,
    curvature: float = -1.0,
    strict: bool = False,
    return_status: bool = False,
    device: str = "auto",
) -> Any:
    """``asinh(sqrt(c) |x|) / sqrt(c)``, the distance from the point x = 0, of points ``[..., n]``. Shape ``[...]``.

    >>> import numpy as np, quintet.lorentz as lorentz
    >>> lorentz.origin_distances(np.array([[np.cosh(2.0), np.sinh(2.0)]]), time=True)
    array([2.])
    """
    form = (_form(time), _tolerance(tolerance))
    return _operation(
        lambda rows, out, *rest: _core.lorentz_origin_distances(rows, out, *form, *rest),
        *(("x",), (x,), curvature, strict, return_status, device),
        columns=None,
    )


def exp_map(
    v: Any,
    base: Any = None,
    *,
    curvature: float = -1.0,
    strict: bool = False,
    return_status: bool = False,
    device: str = "auto",
) -> Any:
    """``exp_x(v) = cosh(z) x + sinh(z) v / z``, z = ``sqrt(c)`` times the length of v, of tangent vectors ``v[..., n]`` at
    ``x = base[..., n]``; base None is the origin.

    >>> import numpy as np, quintet.lorentz as lorentz
    >>> x = lorentz.exp_map(np.array([3.0, 4.0]))
    >>> float(lorentz.origin_distances(x))
    5.0
    """
    at = np.zeros_like(take(v, "v")[0]) if base is None else base
    return _operation(_core.lorentz_exp_map, ("base", "v"), (at, v), curvature, strict, return_status, device)


def adam_step(
    x: Any,
    gradient: Any,
    first: Any = None,
    second: Any = None,
    *,
    time: bool | str = False,
    step: SupportsIndex = 1,
    rate: float = 1e-3,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    weight_decay: float = 0.0,
    curvature: float = -1.0,
    strict: bool = False,
    return_status: bool = False,
    device: str = "auto",
) -> Any:
    """One step of Riemannian Adam of the points ``x[N, n]``, as :func:`quintet.poincare.adam_step`, without a margin. With
    ``time="ignore"`` rows of x, of the gradient and of the new points have the time first; the first moment has space parts.

    >>> import numpy as np, quintet.lorentz as lorentz
    >>> state = lorentz.adam_step(np.zeros((1, 2)), np.array([[3.0, 4.0]]), rate=0.1)
    >>> state.points.round(4), state.second.round(4)
    (array([[-0.0601, -0.0801]]), array([0.025]))
    """
    if time is True:
        raise InvalidArgument("time must be False or 'ignore': a step writes times and compares none (time=True)")
    settings = (float(rate), float(beta1), float(beta2), float(epsilon), float(weight_decay), step.__index__())
    state, report = _adam(
        x,
        gradient,
        first,
        second,
        int(time == "ignore"),
        lambda rows, slope, moment, square, out: _core.lorentz_adam_step(
            rows, slope, moment, square, out, _form(time), *settings, float(curvature), strict, return_status, device
        ),
    )
    return (state, report) if return_status else state


def negative_sampling(
    points: Any,
    links: Any,
    *,
    time: bool | str = False,
    tolerance: float | None = None,
    curvature: float = -1.0,
    strict: bool = False,
    return_status: bool = False,
    device: str = "auto",
) -> Any:
    """The loss of negative sampling as :func:`quintet.poincare.negative_sampling`, of the points ``points[N, n]`` of the sheet.
    ``gradient`` has their shape, is that by space parts, and 0 by times; it is finite for finite points.

    >>> import numpy as np, quintet.lorentz as lorentz
    >>> losses, gradient = lorentz.negative_sampling(np.array([[0.0], [0.75], [-0.75]]), [[0, 1, 2]])
    >>> losses.round(4), gradient.ravel().round(4)
    (array([0.6931]), array([-1. ,  0.4,  0.4]))
    """
    options = (_form(time), _tolerance(tolerance), float(curvature), strict, return_status, device)
    return _sampling(
        points,
        links,
        return_status,
        lambda x, numbers, losses, slope: _core.lorentz_negative_sampling(x, numbers, losses, slope, *options),
    )


def log_map(
    y: Any,
    base: Any = None,
    *,
    curvature: float = -1.0,
    strict: bool = False,
    return_status: bool = False,
    device: str = "auto",
) -> Any:
    """``log_x(y) = z / sinh(z) (y - cosh(z) x)``, ``z = sqrt(c) d(x, y)``: the tangent vector at ``x = base`` with
    ``exp_x(log_x(y)) = y``; base None is the origin.

    >>> import numpy as np, quintet.lorentz as lorentz
    >>> v = np.array([3.0, 4.0])
    >>> np.allclose(lorentz.log_map(lorentz.exp_map(v)), v)
    True
    """
    at = np.zeros_like(take(y, "y")[0]) if base is None else base
    return _operation(_core.lorentz_log_map, ("base", "y"), (at, y), curvature, strict, return_status, device)


def geodesic(
    x: Any,
    y: Any,
    t: Any,
    *,
    curvature: float = -1.0,
    strict: bool = False,
    return_status: bool = False,
    device: str = "auto",
) -> Any:
    """The point at t of the geodesic from x (t = 0) to y (t = 1); t one number, or one for every pair.

    >>> import numpy as np, quintet.lorentz as lorentz
    >>> x, y = np.array([0.1, 0.0]), np.array([0.0, 5.0])
    >>> m = lorentz.geodesic(x, y, 0.5)
    >>> bool(np.isclose(lorentz.pair_distances(x, m), lorentz.pair_distances(m, y)))
    True
    """
    return _operation(
        _core.lorentz_geodesic, ("x", "y"), (x, y), curvature, strict, return_status, device, number=("t", t)
    )


def hyperplane_distances(
    x: Any,
    normals: Any,
    offsets: Any = 0.0,
    *,
    curvature: float = -1.0,
    strict: bool = False,
    return_status: bool = False,
    device: str = "auto",
) -> Any:
    """The signed distance of ``x[..., n]`` from the hyperplane across the geodesic from the origin along
    ``normals[..., n]``, at distance `offsets` of it: ``asinh(cosh(A) sqrt(c) u.x - sinh(A) s) / sqrt(c)``,
    ``A = sqrt(c) offset``, u the unit vector of the normal, ``s = sqrt(1 + c |x|^2)``. It is positive on the side to which
    the normal points. ``|normal|`` times it is the logit of a class in Lorentz multinomial regression (Bdeir et al. 2024).
    x and normals are broadcast, and offsets are one number, or one for every pair: ``x[:, None], normals`` makes all
    pairs. A normal of 0 has distance 0. Shape ``[...]``. O(n) a pair.

    >>> import numpy as np, quintet.lorentz as lorentz
    >>> x = lorentz.exp_map(np.array([[2.0, 0.0], [-1.0, 0.0]]))
    >>> lorentz.hyperplane_distances(x, np.array([3.0, 0.0]), 0.5).round(12)
    array([ 1.5, -1.5])
    """
    return _operation(
        *(_core.lorentz_hyperplane_distances, ("x", "normals"), (x, normals), curvature, strict, return_status, device),
        columns=None,
        number=("offsets", offsets),
    )


def hyperplane_gradients(
    x: Any,
    normals: Any,
    offsets: Any = 0.0,
    *,
    curvature: float = -1.0,
    strict: bool = False,
    return_status: bool = False,
    device: str = "auto",
) -> Any:
    """``(grad_x, grad_normals, grad_offsets)``: derivatives of :func:`hyperplane_distances` by x and the normal,
    ``[..., n]`` both, and by the offset, ``[...]``. They are finite everywhere, and 0 for a normal of 0.

    >>> import numpy as np, quintet.lorentz as lorentz
    >>> lorentz.hyperplane_gradients(np.zeros(2), np.array([2.0, 0.0]))[0]
    array([1., 0.])
    """
    (points, planes), shape, like = _together(("x", "normals"), (x, normals))
    dtype = accumulator(points)
    at = _scalars(offsets, "offsets", shape[:-1], dtype)
    of_points, of_planes = np.empty((2, *points.shape), dtype)
    of_offsets = np.empty(len(points), dtype)
    status = _core.lorentz_hyperplane_gradients(
        points, planes, at, of_points, of_planes, of_offsets, float(curvature), strict, return_status, device
    )
    result = (like(of_points.reshape(shape)), like(of_planes.reshape(shape)), like(of_offsets.reshape(shape[:-1])))
    return (*result, np.asarray(status).reshape(shape[:-1])) if return_status else result


def parallel_transport(
    x: Any,
    y: Any,
    v: Any,
    *,
    curvature: float = -1.0,
    strict: bool = False,
    return_status: bool = False,
    device: str = "auto",
) -> Any:
    """The tangent vector v at x, moved along the geodesic to y: ``v + c <y, v> / (1 + cosh(z)) (x + y)``.

    >>> import numpy as np, quintet.lorentz as lorentz
    >>> x, y = np.array([0.1, 0.0]), np.array([0.0, 5.0])
    >>> moved = lorentz.parallel_transport(x, y, lorentz.log_map(y, x))
    >>> np.allclose(moved, -lorentz.log_map(x, y))
    True
    """
    return _operation(
        _core.lorentz_parallel_transport, ("x", "y", "v"), (x, y, v), curvature, strict, return_status, device
    )


def to_ball(
    x: Any,
    *,
    curvature: float = -1.0,
    strict: bool = False,
    return_status: bool = False,
    device: str = "auto",
) -> Any:
    """To the Poincaré ball ``c |p|^2 < 1``: ``p = x / (1 + sqrt(1 + c |x|^2))``.

    >>> import numpy as np, quintet.lorentz as lorentz
    >>> x = np.array([np.sinh(2.0), 0.0])
    >>> np.allclose(lorentz.to_ball(x), [np.tanh(1.0), 0.0])
    True
    """
    return _operation(_core.lorentz_to_ball, ("x",), (x,), curvature, strict, return_status, device)


def from_ball(
    x: Any,
    *,
    curvature: float = -1.0,
    strict: bool = False,
    return_status: bool = False,
    device: str = "auto",
) -> Any:
    """From the Poincaré ball: ``2 p / (1 - c |p|^2)``. Status 1 for a point that is not inside.

    >>> import numpy as np, quintet.lorentz as lorentz
    >>> x = np.array([np.tanh(1.0), 0.0])
    >>> np.allclose(lorentz.from_ball(x), [np.sinh(2.0), 0.0])
    True
    """
    return _operation(_core.lorentz_from_ball, ("x",), (x,), curvature, strict, return_status, device)


def to_klein(
    x: Any,
    *,
    curvature: float = -1.0,
    strict: bool = False,
    return_status: bool = False,
    device: str = "auto",
) -> Any:
    """To Klein's ball ``c |k|^2 < 1``: ``k = x / sqrt(1 + c |x|^2)``.

    >>> import numpy as np, quintet.lorentz as lorentz
    >>> x = np.array([np.sinh(2.0), 0.0])
    >>> np.allclose(lorentz.to_klein(x), [np.tanh(2.0), 0.0])
    True
    """
    return _operation(_core.lorentz_to_klein, ("x",), (x,), curvature, strict, return_status, device)


def from_klein(
    x: Any,
    *,
    curvature: float = -1.0,
    strict: bool = False,
    return_status: bool = False,
    device: str = "auto",
) -> Any:
    """From Klein's ball: ``k / sqrt(1 - c |k|^2)``. Status 1 for a point that is not inside.

    >>> import numpy as np, quintet.lorentz as lorentz
    >>> x = np.array([np.tanh(2.0), 0.0])
    >>> np.allclose(lorentz.from_klein(x), [np.sinh(2.0), 0.0])
    True
    """
    return _operation(_core.lorentz_from_klein, ("x",), (x,), curvature, strict, return_status, device)


def to_half_space(
    x: Any,
    *,
    curvature: float = -1.0,
    strict: bool = False,
    return_status: bool = False,
    device: str = "auto",
) -> Any:
    """To the half space, its height last: ``h = 1 / (s - X_n)``, ``y_k = X_k h``, ``X = sqrt(c) x``, ``s^2 = 1 + |X|^2``.

    >>> import numpy as np, quintet.lorentz as lorentz
    >>> x = np.array([0.0, np.sinh(2.0)])
    >>> np.allclose(lorentz.to_half_space(x), [0.0, np.exp(2.0)])
    True
    """
    return _operation(_core.lorentz_to_half_space, ("x",), (x,), curvature, strict, return_status, device)


def from_half_space(
    x: Any,
    *,
    curvature: float = -1.0,
    strict: bool = False,
    return_status: bool = False,
    device: str = "auto",
) -> Any:
    """From the half space: ``X_k = y_k / h``, ``X_n = (|y|^2 + h^2 - 1) / (2 h)``. Status 1 for a height that is not
    positive.

    >>> import numpy as np, quintet.lorentz as lorentz
    >>> x = np.array([0.0, np.exp(2.0)])
    >>> np.allclose(lorentz.from_half_space(x), [0.0, np.sinh(2.0)])
    True
    """
    return _operation(_core.lorentz_from_half_space, ("x",), (x,), curvature, strict, return_status, device)


def centroid(
    points: Any,
    offsets: Any = None,
    *,
    weights: Any = None,
    curvature: float = -1.0,
    strict: bool = False,
    return_status: bool = False,
    device: str = "auto",
) -> Any:
    """The centroid of groups of points (Law et al. 2019), in the direction of the sum of weighted ``(t, x)``: the smallest
    sum of ``w cosh(sqrt(c) d)``. Groups, weights and results as in :func:`quintet.poincare.gyromidpoint`. It is taken in the
    ball, in double: at radius r exact to about ``2^-50 exp(r)``. A group with a point farther than ``36 / sqrt(c)`` has NaN.

    >>> import numpy as np, quintet.lorentz as lorentz
    >>> lorentz.centroid(np.array([[0.5, 0.0], [-0.5, 0.0]])).round(9) + 0.0
    array([0., 0.])
    """
    options = (float(curvature), strict, device)
    return _mean(
        *(points, offsets, weights, return_status),
        lambda rows, groups, masses, to: _core.lorentz_centroid(rows, groups, masses, to, *options),
    )


def frechet_mean(
    points: Any,
    offsets: Any = None,
    *,
    weights: Any = None,
    curvature: float = -1.0,
    strict: bool = False,
    return_status: bool = False,
    device: str = "auto",
) -> Any:
    """The Fréchet mean of groups of points, with the smallest sum of weighted squared distances. Everything else as in
    :func:`centroid`.

    >>> import numpy as np, quintet.lorentz as lorentz
    >>> x = lorentz.exp_map(np.array([[1.0], [2.0], [6.0]]))
    >>> round(float(lorentz.origin_distances(lorentz.frechet_mean(x))), 12)
    3.0
    """
    options = (float(curvature), strict, device)
    return _mean(
        *(points, offsets, weights, return_status),
        lambda rows, groups, masses, to: _core.lorentz_frechet_mean(rows, groups, masses, to, *options),
    )
