"""The Poincaré ball: distances, neighbours, operations and means of points.

Curvature is given as it is, negative: ``curvature = -c`` means the ball ``{x : c |x|^2 < 1}`` with the metric
``lambda_x^2 |dx|^2``, ``lambda_x = 2 / (1 - c |x|^2)``. geoopt's ``c`` is ``-curvature``. ``curvature = 0`` is the limit,
Euclidean space with distances ``2 |x - y|``.

Points are ``[..., D]`` of type float16, bfloat16, float32 or float64, NumPy's or any library's with DLPack. Results are
float64 for float64 and float32 for the others, in the caller's library. Arguments of one operation have one type; their
leading shapes are broadcast.

Nothing is projected silently: points that are not inside the ball give NaN, or with ``strict=True`` an
``InvalidArgument`` that names the first one. With ``return_status=True`` a function returns ``(result, status)``, where
status is uint8 for every point: 0 inside, 1 outside, 2 not finite; the first argument that is not inside decides.

Errors: ``TypeError`` for arrays of another type, ``InvalidArgument`` (a ``ValueError``) for shapes and a curvature out of
range, ``DeviceError`` for a device that is absent.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, SupportsIndex

import numpy as np

from . import _core
from ._arguments import as_integer
from ._arrays import I64, accumulator, same_type, take, take_rows
from ._errors import InvalidArgument
from ._models import AdamState, MeanResult, _adam, _matrix, _mean, _operation, _pairs, _sampling, _together

__all__ = [
    "AdamState",
    "Ball",
    "MeanResult",
    "adam_step",
    "conformal_factor",
    "distance_gradients",
    "distances",
    "exp_map",
    "frechet_mean",
    "from_hyperboloid",
    "geodesic",
    "gyromidpoint",
    "log_map",
    "mobius_add",
    "mobius_scalar_mul",
    "nearest",
    "negative_sampling",
    "origin_distances",
    "pair_distances",
    "parallel_transport",
    "project",
    "riemannian_gradient",
    "rsgd_step",
    "to_hyperboloid",
]

_FORMULA = {"geodesic": 0, "clamped_artanh": 1}
_BUDGET = 256 << 20


def _curvature(value: float) -> float:
    number = float(value)
    if number > 0:
        raise InvalidArgument(
            f"curvature must be <= 0: geoopt's c is -curvature, so use curvature={-number!r} (curvature={number!r})"
        )
    return number


def distances(
    x: Any,
    y: Any,
    *,
    formula: str = "geodesic",
    curvature: float = -1.0,
    strict: bool = False,
    return_status: bool = False,
    out: np.ndarray | None = None,
    device: str = "auto",
) -> Any:
    """All geodesic distances ``[Q, N]`` of the points ``x[Q, D]`` and ``y[N, D]``:

    ``d(x, y) = 2 / sqrt(c) asinh(sqrt(t))``, ``t = c |x - y|^2 / ((1 - c |x|^2) (1 - c |y|^2))``.

    Relative errors do not grow towards the boundary; equal points have distance exactly 0. ``formula="clamped_artanh"``
    gives ``2 / sqrt(c) artanh(min(sqrt(t), 1 - 1e-7))``, which is not a metric, to compare with results that were
    computed by it. ``out``: a writable NumPy array [Q, N] of the result's type. return_status: a pair of arrays,
    of x and of y.

    >>> import numpy as np, quintet.poincare as poincare
    >>> poincare.distances(np.array([[0.0, 0.0]]), np.array([[0.5, 0.0], [0.0, 0.0]]))
    array([[1.09861229, 0.        ]])
    """
    options = (_formula(formula), _curvature(curvature), strict, return_status, device)
    return _matrix(
        *(x, y, out, return_status),
        lambda first, second, to: _core.poincare_distances(first, second, to, *options),
    )


def _formula(formula: str) -> int:
    if formula not in _FORMULA:
        raise InvalidArgument(f"formula must be one of {', '.join(_FORMULA)} (formula={formula!r})")
    return _FORMULA[formula]


def pair_distances(
    x: Any,
    y: Any,
    *,
    formula: str = "geodesic",
    curvature: float = -1.0,
    strict: bool = False,
    return_status: bool = False,
    device: str = "auto",
) -> Any:
    """``d(x_i, y_i)`` of points ``[..., D]``, to the bit those of :func:`distances`. Shape ``[...]``. return_status: a
    pair of arrays, of x and of y.

    >>> import numpy as np, quintet.poincare as poincare
    >>> x = np.array([[0.1, 0.2], [0.3, 0.4]])
    >>> poincare.pair_distances(x, x)
    array([0., 0.])
    """
    options = (_formula(formula), _curvature(curvature), strict, return_status, device)
    return _pairs(
        *(x, y, return_status),
        lambda first, second, to: _core.poincare_pair_distances(first, second, to, *options),
    )


def origin_distances(
    x: Any, *, curvature: float = -1.0, strict: bool = False, return_status: bool = False, device: str = "auto"
) -> Any:
    """``d(0, x) = 2 / sqrt(c) artanh(sqrt(c) |x|)`` of points ``[..., D]``. Shape ``[...]``.

    >>> import numpy as np, quintet.poincare as poincare
    >>> poincare.origin_distances(np.array([[0.5, 0.0]]))
    array([1.09861229])
    """
    return _operation(
        _core.poincare_origin_distances, ("x",), (x,), _curvature(curvature), strict, return_status, device, columns=None
    )


def nearest(
    x: Any,
    points: Any,
    k: SupportsIndex,
    *,
    exclude_self: bool = False,
    curvature: float = -1.0,
    strict: bool = False,
    return_status: bool = False,
    budget_bytes: SupportsIndex = _BUDGET,
    device: str = "auto",
) -> Any:
    """``(index, distance)``, both ``[Q, k]``: the k nearest of ``points[N, D]`` for every row of ``x[Q, D]``, ordered by
    (distance, index). Exact; no matrix of distances is made. ``exclude_self``: x and points are the same rows, and a row
    is not its own neighbour. Where there are not so many, index is -1 and distance NaN. 1 <= k <= N.

    >>> import numpy as np, quintet.poincare as poincare
    >>> p = np.array([[0.0, 0.0], [0.1, 0.0], [0.7, 0.0]])
    >>> poincare.nearest(p, p, 1, exclude_self=True)[0].ravel().tolist()
    [1, 0, 1]
    """
    first, like = take_rows(x, "x")
    second, _ = take_rows(points, "points")
    same_type(first, second, "x", "points")
    count = as_integer(k, "k")
    if count < 1:
        raise InvalidArgument(f"k must be >= 1 (k={count})")
    index = np.empty((len(first), count), I64)
    distance = np.empty((len(first), count), accumulator(first))
    status = _core.poincare_nearest(
        first,
        second,
        index,
        distance,
        _curvature(curvature),
        strict,
        exclude_self,
        as_integer(budget_bytes, "budget_bytes"),
        return_status,
        device,
    )
    return (like(index), like(distance), status) if return_status else (like(index), like(distance))


def mobius_add(
    x: Any, y: Any, *, curvature: float = -1.0, strict: bool = False, return_status: bool = False, device: str = "auto"
) -> Any:
    """Möbius addition
    ``x (+) y = ((1 + 2c<x,y> + c|y|^2) x + (1 - c|x|^2) y) / (1 + 2c<x,y> + c^2 |x|^2 |y|^2)`` of points ``[..., D]``.

    >>> import numpy as np, quintet.poincare as poincare
    >>> x = np.array([0.3, 0.4])
    >>> np.allclose(poincare.mobius_add(-x, x), 0)
    True
    """
    return _operation(_core.poincare_mobius_add, ("x", "y"), (x, y), _curvature(curvature), strict, return_status, device)


def mobius_scalar_mul(
    r: Any, x: Any, *, curvature: float = -1.0, strict: bool = False, return_status: bool = False, device: str = "auto"
) -> Any:
    """``r (x) x = tanh(r artanh(sqrt(c) |x|)) x / (sqrt(c) |x|)``: r one number, or one for every point of ``x[..., D]``.

    >>> import numpy as np, quintet.poincare as poincare
    >>> x = np.array([0.3, 0.4])
    >>> np.allclose(poincare.mobius_scalar_mul(2.0, x), poincare.mobius_add(x, x))
    True
    """
    return _operation(
        lambda rows, factors, *rest: _core.poincare_mobius_scalar_mul(factors, rows, *rest),
        ("x",),
        (x,),
        _curvature(curvature),
        strict,
        return_status,
        device,
        number=("r", r),
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
    """``exp_x(v) = x (+) tanh(sqrt(c) lambda_x |v| / 2) v / (sqrt(c) |v|)`` of tangent vectors ``v[..., D]`` at
    ``x = base[..., D]``; base None is the origin.

    >>> import numpy as np, quintet.poincare as poincare
    >>> v = np.array([0.2, -0.1])
    >>> np.allclose(poincare.log_map(poincare.exp_map(v)), v)
    True
    """
    if base is None:
        return _operation(_core.poincare_exp_map_origin, ("v",), (v,), _curvature(curvature), strict, return_status, device)
    return _operation(
        _core.poincare_exp_map, ("base", "v"), (base, v), _curvature(curvature), strict, return_status, device
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
    """``log_x(y) = 2 / (sqrt(c) lambda_x) artanh(sqrt(c) |w|) w / |w|``, ``w = (-x) (+) y``: the tangent vector at
    ``x = base`` with ``exp_x(log_x(y)) = y``; base None is the origin.

    >>> import numpy as np, quintet.poincare as poincare
    >>> x, y = np.array([0.1, 0.0]), np.array([0.0, 0.5])
    >>> np.allclose(poincare.exp_map(poincare.log_map(y, x), x), y)
    True
    """
    if base is None:
        return _operation(_core.poincare_log_map_origin, ("y",), (y,), _curvature(curvature), strict, return_status, device)
    return _operation(
        _core.poincare_log_map, ("base", "y"), (base, y), _curvature(curvature), strict, return_status, device
    )


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
    """The point at t of the geodesic from x (t = 0) to y (t = 1): ``x (+) (t (x) ((-x) (+) y))``; t one number, or one
    for every pair.

    >>> import numpy as np, quintet.poincare as poincare
    >>> x, y = np.array([0.1, 0.0]), np.array([0.0, 0.5])
    >>> m = poincare.geodesic(x, y, 0.5)
    >>> bool(np.isclose(poincare.pair_distances(x, m), poincare.pair_distances(m, y)))
    True
    """
    return _operation(
        _core.poincare_geodesic, ("x", "y"), (x, y), _curvature(curvature), strict, return_status, device, number=("t", t)
    )


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
    """The tangent vector v at x, moved along the geodesic to y: ``(lambda_x / lambda_y) gyr[y, -x] v``.

    >>> import numpy as np, quintet.poincare as poincare
    >>> x, v = np.array([0.1, 0.2]), np.array([1.0, 0.0])
    >>> np.allclose(poincare.parallel_transport(x, x, v), v)
    True
    """
    return _operation(
        _core.poincare_parallel_transport, ("x", "y", "v"), (x, y, v), _curvature(curvature), strict, return_status, device
    )


def project(
    x: Any,
    epsilon: float,
    *,
    curvature: float = -1.0,
    strict: bool = False,
    return_status: bool = False,
    device: str = "auto",
) -> Any:
    """Points with ``sqrt(c) |x| > 1 - epsilon`` are scaled to ``sqrt(c) |x| = 1 - epsilon``; the others are copied.

    ``epsilon`` has no default: it caps every distance from the origin at about ``log(2 / epsilon) / sqrt(c)``. It must be
    in [4 u, 1), u = 2^-24 for float32 and 2^-53 for float64. The status is that before projection.

    >>> import numpy as np, quintet.poincare as poincare
    >>> poincare.project(np.array([[2.0, 0.0]]), 0.1)
    array([[0.9, 0. ]])
    """
    cap = float(epsilon)
    return _operation(
        lambda rows, *rest: _core.poincare_project(rows, cap, *rest)[0],
        ("x",),
        (x,),
        _curvature(curvature),
        strict,
        return_status,
        device,
    )


def conformal_factor(
    x: Any, *, curvature: float = -1.0, strict: bool = False, return_status: bool = False, device: str = "auto"
) -> Any:
    """``lambda_x = 2 / (1 - c |x|^2)`` of points ``[..., D]``. Shape ``[...]``.

    >>> import numpy as np, quintet.poincare as poincare
    >>> poincare.conformal_factor(np.zeros((1, 3)))
    array([2.])
    """
    return _operation(
        _core.poincare_conformal_factor, ("x",), (x,), _curvature(curvature), strict, return_status, device, columns=None
    )


def to_hyperboloid(
    x: Any, *, curvature: float = -1.0, strict: bool = False, return_status: bool = False, device: str = "auto"
) -> Any:
    """Points ``[..., D + 1]`` on the hyperboloid ``-h_0^2 + h_1^2 + ... = -1 / c``: ``h_0 = (1 + c|x|^2) / (1 - c|x|^2) /
    sqrt(c)``, ``h_k = 2 x / (1 - c|x|^2)``. curvature must not be 0.

    >>> import numpy as np, quintet.poincare as poincare
    >>> poincare.to_hyperboloid(np.zeros((1, 2)))
    array([[1., 0., 0.]])
    """
    return _operation(
        _core.poincare_to_hyperboloid, ("x",), (x,), _curvature(curvature), strict, return_status, device, columns=1
    )


def from_hyperboloid(
    h: Any, *, curvature: float = -1.0, strict: bool = False, return_status: bool = False, device: str = "auto"
) -> Any:
    """The inverse of :func:`to_hyperboloid`: ``x = h_k / (1 + sqrt(c) h_0)``, ``[..., D]`` of ``h[..., D + 1]``. A point
    with ``h_0 <= 0`` has status 1.

    >>> import numpy as np, quintet.poincare as poincare
    >>> x = np.array([[0.1, 0.2]])
    >>> np.allclose(poincare.from_hyperboloid(poincare.to_hyperboloid(x)), x)
    True
    """
    array, _ = take(h, "h")
    if array.ndim == 0 or array.shape[-1] < 2:
        raise InvalidArgument(f"h must be of shape [..., D + 1], D >= 1 (shape={array.shape})")
    return _operation(
        _core.poincare_from_hyperboloid, ("h",), (h,), _curvature(curvature), strict, return_status, device, columns=-1
    )


def distance_gradients(
    x: Any, y: Any, *, curvature: float = -1.0, strict: bool = False, return_status: bool = False, device: str = "auto"
) -> Any:
    """``(grad_x, grad_y)``: Euclidean gradients of ``d(x, y)`` after x and after y, ``[..., D]`` both:
    ``2 / (|x - y| sqrt(a_x a_y (1 + t))) ((x - y) + c |x - y|^2 x / a_x)``, ``a = 1 - c |.|^2``. 0 where x = y.

    >>> import numpy as np, quintet.poincare as poincare
    >>> poincare.distance_gradients(np.zeros((1, 2)), np.array([[0.5, 0.0]]))[0]
    array([[-2.,  0.]])
    """
    (first, second), shape, like = _together(("x", "y"), (x, y))
    gx, gy = np.empty((2,) + first.shape, accumulator(first))
    status = _core.poincare_distance_gradients(
        first, second, gx, gy, _curvature(curvature), strict, return_status, device
    )
    result = like(gx.reshape(shape)), like(gy.reshape(shape))
    return (*result, np.asarray(status).reshape(shape[:-1])) if return_status else result


def riemannian_gradient(
    x: Any,
    gradient: Any,
    *,
    curvature: float = -1.0,
    strict: bool = False,
    return_status: bool = False,
    device: str = "auto",
) -> Any:
    """``gradient / lambda_x^2``: the Riemannian gradient that belongs to a Euclidean one (Nickel and Kiela 2017).

    >>> import numpy as np, quintet.poincare as poincare
    >>> poincare.riemannian_gradient(np.zeros((1, 2)), np.ones((1, 2)))
    array([[0.25, 0.25]])
    """
    return _operation(
        _core.poincare_riemannian_gradient,
        ("x", "gradient"),
        (x, gradient),
        _curvature(curvature),
        strict,
        return_status,
        device,
    )


def rsgd_step(
    x: Any,
    gradient: Any,
    rate: float,
    epsilon: float,
    *,
    curvature: float = -1.0,
    strict: bool = False,
    return_status: bool = False,
    device: str = "auto",
) -> Any:
    """One step of Riemannian gradient descent (Bonnabel 2013): ``exp_x(-rate gradient / lambda_x^2)``, then pulled to
    ``sqrt(c) |x| <= 1 - epsilon`` as :func:`project` does. ``gradient`` is Euclidean.

    >>> import numpy as np, quintet.poincare as poincare
    >>> poincare.rsgd_step(np.zeros((1, 2)), np.array([[0.0, 4.0]]), 0.0, 1e-5)
    array([[0., 0.]])
    """
    step, cap = float(rate), float(epsilon)
    return _operation(
        lambda rows, slope, *rest: _core.poincare_rsgd_step(rows, slope, step, cap, *rest)[0],
        ("x", "gradient"),
        (x, gradient),
        _curvature(curvature),
        strict,
        return_status,
        device,
    )


def adam_step(
    x: Any,
    gradient: Any,
    margin: float,
    first: Any = None,
    second: Any = None,
    *,
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
    """One step of Riemannian Adam (Bécigneul and Ganea 2019) of the points ``x[N, D]`` in one pass, an :class:`AdamState`.

    With the Riemannian gradient r: ``first = beta1 first + (1 - beta1) r`` and ``second = beta2 second + (1 - beta2)
    |r|_x^2``; the points are ``exp_x(-rate first' / (sqrt(second') + epsilon))``, where ``'`` divides by ``1 - beta^step``,
    pulled to ``sqrt(c) |x| <= 1 - margin``; first is moved along the geodesic. ``gradient`` is Euclidean, of the loss and
    ``weight_decay / 2 |x|^2``; `step` counts from 1; moments None are 0.

    >>> import numpy as np, quintet.poincare as poincare
    >>> state = poincare.adam_step(np.zeros((1, 2)), np.array([[0.0, 4.0]]), 1e-5, rate=0.1)
    >>> state.points.round(4), state.second
    (array([[ 0.  , -0.05]]), array([0.004]))
    """
    settings = (float(rate), float(beta1), float(beta2), float(epsilon), float(weight_decay), step.__index__())
    state, report = _adam(
        x,
        gradient,
        first,
        second,
        0,
        lambda rows, slope, moment, square, out: _core.poincare_adam_step(
            rows, slope, float(margin), moment, square, out, *settings, _curvature(curvature), strict, return_status, device
        )[0],
    )
    return (state, report) if return_status else state


def negative_sampling(
    points: Any,
    links: Any,
    *,
    curvature: float = -1.0,
    strict: bool = False,
    return_status: bool = False,
    device: str = "auto",
) -> Any:
    """The loss of negative sampling (Nickel and Kiela 2017) of rows u, v_1, ..., v_K of ``links[B, 1 + K]``, numbers of
    ``points[N, D]``: v_1 is linked with u, the others are drawn. ``losses[B]`` are ``d(u, v_1) + log sum_j exp(-d(u, v_j))``;
    ``gradient[N, D]`` is that of their mean by the points, Euclidean. A row with a point that is not inside has NaN, and so
    have the gradients of its points.

    >>> import numpy as np, quintet.poincare as poincare
    >>> losses, gradient = poincare.negative_sampling(np.array([[0.0], [0.5], [-0.5]]), [[0, 1, 2]])
    >>> losses.round(4), gradient.ravel().round(4)
    (array([0.6931]), array([-2.    ,  1.3333,  1.3333]))
    """
    options = (_curvature(curvature), strict, return_status, device)
    return _sampling(
        points,
        links,
        return_status,
        lambda x, numbers, losses, slope: _core.poincare_negative_sampling(x, numbers, losses, slope, *options),
    )


def gyromidpoint(
    points: Any,
    offsets: Any = None,
    *,
    weights: Any = None,
    curvature: float = -1.0,
    strict: bool = False,
    return_status: bool = False,
    device: str = "auto",
) -> Any:
    """The Einstein midpoint of groups of points (Ungar 2008): ``1/2 (x) sum w lambda x / sum w (lambda - 1)``.

    Group b is rows ``offsets[b]`` to ``offsets[b + 1] - 1`` of ``points[N, D]``; the result is ``[B, D]``. offsets None:
    one group, and the result is ``[D]``. weights: finite, >= 0. A group without a point of positive weight, or with one
    that is not inside, has NaN. return_status: a :class:`MeanResult`.

    >>> import numpy as np, quintet.poincare as poincare
    >>> poincare.gyromidpoint(np.array([[0.5, 0.0], [-0.5, 0.0]])) + 0.0
    array([0., 0.])
    """
    curvature = _curvature(curvature)
    return _mean(
        *(points, offsets, weights, return_status),
        lambda rows, groups, masses, to: _core.poincare_gyromidpoint(rows, groups, masses, to, curvature, strict, device),
    )


def frechet_mean(
    points: Any,
    offsets: Any = None,
    *,
    weights: Any = None,
    tolerance: float = 1e-15,
    max_iterations: SupportsIndex = 500,
    curvature: float = -1.0,
    strict: bool = False,
    return_status: bool = False,
    device: str = "auto",
) -> Any:
    """The Fréchet (Karcher) mean of groups of points: the point with the smallest sum of weighted squared distances.
    Groups, weights and results as in :func:`gyromidpoint`. Done when the gradient's length in the metric, times
    ``sqrt(c)``, is at most ``(tolerance + r) (1 + L)``, r that of the rounding of the mean's coordinates, or after
    max_iterations (``converged`` is False then).

    >>> import numpy as np, quintet.poincare as poincare
    >>> m = poincare.frechet_mean(np.array([[0.5, 0.0], [-0.5, 0.0]]))
    >>> np.allclose(m, 0)
    True
    """
    limits = (float(tolerance), as_integer(max_iterations, "max_iterations"))
    options = (*limits, _curvature(curvature), strict, device)
    return _mean(
        *(points, offsets, weights, return_status),
        lambda rows, groups, masses, to: _core.poincare_frechet_mean(rows, groups, masses, to, *options),
    )


def _of_ball(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` as a method: the ball has its curvature, strict and device."""
    bound = ("curvature", "strict", "device")
    signature = inspect.signature(function)
    parameters = [p for p in signature.parameters.values() if p.name not in bound]

    @functools.wraps(function)
    def method(self: Ball, *arguments: Any, **options: Any) -> Any:
        return function(
            *arguments, curvature=self.curvature, strict=self.strict, device=self.device, **options
        )

    first = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    method.__signature__ = signature.replace(parameters=[first, *parameters])  # type: ignore[attr-defined]
    return method


@dataclass(frozen=True)
class Ball:
    """A ball of one curvature: the functions of this module as methods, without ``curvature``, ``strict`` and
    ``device``. :class:`quintet.torch.PoincareBall` is the same of tensors, with ``c = -curvature``.

    >>> import numpy as np
    >>> from quintet.poincare import Ball
    >>> ball = Ball(curvature=-1.0)
    >>> x = ball.exp_map(np.array([[0.5, 0.0], [0.0, 1.0]]))
    >>> ball.origin_distances(x)
    array([1., 2.])
    """

    curvature: float = -1.0
    #: InvalidArgument for a point that is not inside, instead of NaN
    strict: bool = False
    device: str = "auto"

    def __post_init__(self) -> None:
        _curvature(self.curvature)

    adam_step = _of_ball(adam_step)
    conformal_factor = _of_ball(conformal_factor)
    distance_gradients = _of_ball(distance_gradients)
    distances = _of_ball(distances)
    exp_map = _of_ball(exp_map)
    frechet_mean = _of_ball(frechet_mean)
    from_hyperboloid = _of_ball(from_hyperboloid)
    geodesic = _of_ball(geodesic)
    gyromidpoint = _of_ball(gyromidpoint)
    log_map = _of_ball(log_map)
    mobius_add = _of_ball(mobius_add)
    mobius_scalar_mul = _of_ball(mobius_scalar_mul)
    nearest = _of_ball(nearest)
    negative_sampling = _of_ball(negative_sampling)
    origin_distances = _of_ball(origin_distances)
    pair_distances = _of_ball(pair_distances)
    parallel_transport = _of_ball(parallel_transport)
    project = _of_ball(project)
    riemannian_gradient = _of_ball(riemannian_gradient)
    rsgd_step = _of_ball(rsgd_step)
    to_hyperboloid = _of_ball(to_hyperboloid)
