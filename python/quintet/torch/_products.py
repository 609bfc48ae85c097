"""Sphere, Euclidean space, stereographic projections of any curvature, scaled manifolds and products.

>>> import torch, quintet.torch as qt
>>> space = qt.ProductManifold((qt.PoincareBall(), 2), (qt.Sphere(), 3), weights=[1.0, 4.0])
>>> x = space.pack_point(torch.tensor([0.1, 0.2]), torch.tensor([1.0, 0.0, 0.0]))
>>> y = space.pack_point(torch.tensor([0.1, 0.2]), torch.tensor([0.0, 1.0, 0.0]))
>>> round(space.dist(x, y).item(), 4)  # 2 pi / 2
3.1416
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from .._errors import InvalidArgument
from ._ball_operations import Scalar, artanh_ratio, asinh_ratio, dot, frame, from_series, gap, in_double, norm, tanh_ratio
from ._gyrovectors import _shape
from ._manifold import Manifold, Positive, geodesic_by_maps, has_gradient, with_dims
from ._poincare import _broadcast, _two, default_margin
from ._tensors import check

__all__ = ["Euclidean", "ProductManifold", "Scaled", "Sphere", "Stereographic"]

# Of z / (sin(z) cos(z)) in w^2, w = sin(z); of cos(z), sin(z) / z, tan(z) / z, arctan(z) / z and asin(z) / z in z^2.
_ANGLE_OVER_SINE = (1, 2 / 3, 8 / 15, 16 / 35, 128 / 315, 256 / 693, 1024 / 3003, 2048 / 6435)
_COS = tuple((-1) ** k / math.factorial(2 * k) for k in range(8))
_SIN = tuple((-1) ** k / math.factorial(2 * k + 1) for k in range(8))
_TAN = (1, 1 / 3, 2 / 15, 17 / 315, 62 / 2835, 1382 / 155925, 21844 / 6081075, 929569 / 638512875)
_ARCTAN = tuple((-1) ** k / (2 * k + 1) for k in range(8))
_ASIN = (1, 1 / 6, 3 / 40, 15 / 336, 105 / 3456, 945 / 42240, 10395 / 599040, 135135 / 9676800)

_WITH_DIM = (
    *("dist", "dist2", "inner", "norm", "proju", "egrad2rgrad", "transp", "expmap", "logmap", "geodesic", "retr", "projx"),
    *("retr_transp", "expmap_transp", "transp_follow_retr", "transp_follow_expmap"),
)


class _Operations(Manifold):
    """What follows from dist2, expmap, logmap, transp and projx."""

    dist: Callable[..., Tensor]
    logmap: Callable[..., Tensor]
    expmap: Callable[..., Tensor]
    transp: Callable[..., Tensor]
    projx: Callable[..., Tensor]
    inner: Callable[..., Tensor]

    def norm(self, x: Tensor, u: Tensor, *, keepdim: bool = False) -> Tensor:
        """The length of a tangent vector at x, with derivative 0 at 0."""
        square = self.inner(x, u, keepdim=keepdim)
        return torch.where(square > 0, torch.where(square > 0, square, 1.0).sqrt(), 0.0)

    def geodesic(self, t: Tensor | float, x: Tensor, y: Tensor) -> Tensor:
        """The point at t of the geodesic from x (0) to y (1); t is a number, ``[...]`` or ``[..., 1]``."""
        return geodesic_by_maps(self, t, x, y)

    def retr(self, x: Tensor, u: Tensor) -> Tensor:
        """``projx(x + u)``, a retraction: the first order of the exponential map."""
        return self.projx(x + u)

    def expmap_transp(self, x: Tensor, u: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """``y = expmap(x, u)``, and v moved to it."""
        y = self.expmap(x, u)
        return y, self.transp(x, y, v)

    def retr_transp(self, x: Tensor, u: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """``y = retr(x, u)``, and v moved to it."""
        y = self.retr(x, u)
        return y, self.transp(x, y, v)

    def transp_follow_retr(self, x: Tensor, u: Tensor, v: Tensor) -> Tensor:
        """v, moved from x to ``retr(x, u)``."""
        return self.retr_transp(x, u, v)[1]

    def transp_follow_expmap(self, x: Tensor, u: Tensor, v: Tensor) -> Tensor:
        """v, moved from x to ``expmap(x, u)``."""
        return self.expmap_transp(x, u, v)[1]


def _kept(value: Tensor, keepdim: bool) -> Tensor:
    return value if keepdim else value.squeeze(-1)


@with_dims(*_WITH_DIM)
class Euclidean(_Operations):
    """Flat space, a factor of products.

    >>> import torch, quintet.torch as qt
    >>> qt.Euclidean().dist(torch.tensor([0.0, 3.0]), torch.tensor([4.0, 0.0])).item()
    5.0
    """

    name = "Euclidean"

    def dist(self, x: Tensor, y: Tensor, *, keepdim: bool = False) -> Tensor:  # type: ignore[override]
        """``|x - y|``, with derivative 0 where x = y."""
        _two(x, y)
        return _kept(in_double(lambda x, y: norm(x - y), *_broadcast(x, y)), keepdim)

    def dist2(self, x: Tensor, y: Tensor, *, keepdim: bool = False) -> Tensor:
        """``|x - y|^2``."""
        _two(x, y)
        return _kept(in_double(lambda x, y: dot(x - y, x - y), *_broadcast(x, y)), keepdim)

    def inner(self, x: Tensor, u: Tensor, v: Tensor | None = None, *, keepdim: bool = False) -> Tensor:  # type: ignore[override]
        """``u . v``."""
        return _kept(in_double(dot, u, u if v is None else v), keepdim)

    def expmap(self, x: Tensor, u: Tensor) -> Tensor:  # type: ignore[override]
        """``x + u``."""
        return x + u

    def logmap(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        """``y - x``."""
        return y - x

    def transp(self, x: Tensor, y: Tensor, v: Tensor) -> Tensor:  # type: ignore[override]
        """v."""
        return v.expand(torch.broadcast_shapes(x.shape, y.shape, v.shape))

    def proju(self, x: Tensor, u: Tensor) -> Tensor:
        """Every vector is tangent: u."""
        return u.expand(torch.broadcast_shapes(x.shape, u.shape))

    egrad2rgrad = proju

    def projx(self, x: Tensor) -> Tensor:  # type: ignore[override]
        """x."""
        return x

    def _check_point_on_manifold(self, x: Tensor, *, atol: float = 1e-5, rtol: float = 1e-5) -> tuple[bool, str | None]:
        ok = bool(torch.isfinite(x).all())
        return ok, None if ok else "numbers that are not finite"

    def origin(
        self, *size: int, dtype: torch.dtype | None = None, device: Any = None, seed: int | None = None
    ) -> Tensor:
        """0."""
        return torch.zeros(_shape(size), dtype=dtype, device=device)

    def random(self, *size: int, dtype: torch.dtype | None = None, device: Any = None) -> Tensor:
        """Normal numbers."""
        return torch.randn(_shape(size), dtype=dtype, device=device)


@with_dims(*_WITH_DIM)
class Sphere(_Operations):
    """Unit vectors ``[..., n + 1]``, curvature 1. Distances are right at 0 and at pi: ``2 atan2(|x - y|, |x + y|)``.

    >>> import torch, quintet.torch as qt
    >>> round(qt.Sphere().dist(torch.tensor([1.0, 0.0]), torch.tensor([-1.0, 1e-4])).item(), 6)
    3.141493
    """

    name = "Sphere"

    def dist(self, x: Tensor, y: Tensor, *, keepdim: bool = False) -> Tensor:  # type: ignore[override]
        """The angle ``[...]``, with derivative 0 where x = y and where x = -y."""
        _two(x, y)
        return _kept(in_double(lambda x, y: 2 * torch.atan2(norm(x - y), norm(x + y)), *_broadcast(x, y)), keepdim)

    def dist2(self, x: Tensor, y: Tensor, *, keepdim: bool = False) -> Tensor:
        """Squared angle; its derivatives are those of a smooth function also where x = y."""
        _two(x, y)

        def formula(x: Tensor, y: Tensor) -> Tensor:
            w2 = dot(x - y, x - y) / 4
            ratio = from_series(w2, _ASIN, lambda _, w: torch.atan2(w, norm(x + y) / 2) / w)
            return 4 * w2 * ratio.square()

        return _kept(in_double(formula, *_broadcast(x, y)), keepdim)

    def inner(self, x: Tensor, u: Tensor, v: Tensor | None = None, *, keepdim: bool = False) -> Tensor:  # type: ignore[override]
        """``u . v``."""
        return _kept(in_double(dot, u, u if v is None else v), keepdim)

    def proju(self, x: Tensor, u: Tensor) -> Tensor:
        """``u - (x . u) x``."""
        return in_double(lambda x, u: u - dot(x, u) * x, x, u)

    egrad2rgrad = proju

    def projx(self, x: Tensor) -> Tensor:  # type: ignore[override]
        """``x / |x|``, in the type of x."""
        check(x, "x")
        return in_double(lambda x: x / norm(x), x).to(x.dtype)

    def expmap(self, x: Tensor, u: Tensor) -> Tensor:  # type: ignore[override]
        """``cos(|u|) x + sin(|u|) u / |u|``."""
        _two(x, u, "x", "u")

        def formula(x: Tensor, u: Tensor) -> Tensor:
            square = dot(u, u)
            cosine = from_series(square, _COS, lambda _, z: torch.cos(z))
            return cosine * x + from_series(square, _SIN, lambda _, z: torch.sin(z) / z) * u

        return in_double(formula, *_broadcast(x, u))

    def logmap(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        """The tangent vector at x with exp_x(log_x(y)) = y; 0 where x = y, and where y = -x any has the length pi."""
        _two(x, y)

        def formula(x: Tensor, y: Tensor) -> Tensor:
            e, s = y - x, norm(x + y) / 2
            w2 = dot(e, e) / 4
            ratio = from_series(w2, _ANGLE_OVER_SINE, lambda _, w: torch.atan2(w, s) / (w * s))
            return ratio * (e + 2 * w2 * x)

        return in_double(formula, *_broadcast(x, y))

    def transp(self, x: Tensor, y: Tensor, v: Tensor) -> Tensor:  # type: ignore[override]
        """``v - (y . v) / (1 + x . y) (x + y)``."""
        _two(x, y)

        def formula(x: Tensor, y: Tensor, v: Tensor) -> Tensor:
            return v - 2 * dot(y, v) / dot(x + y, x + y) * (x + y)

        return in_double(formula, *torch.broadcast_tensors(x, y, v))

    def _check_point_on_manifold(self, x: Tensor, *, atol: float = 1e-5, rtol: float = 1e-5) -> tuple[bool, str | None]:
        length = norm(x.double())
        ok = torch.allclose(length, torch.ones_like(length), atol=atol, rtol=rtol)
        return ok, None if ok else "vectors of a length other than 1"

    def _check_vector_on_tangent(
        self, x: Tensor, u: Tensor, *, atol: float = 1e-5, rtol: float = 1e-5
    ) -> tuple[bool, str | None]:
        along = dot(x.double(), u.double())
        ok = torch.allclose(along, torch.zeros_like(along), atol=atol, rtol=rtol)
        return ok, None if ok else "vectors with x . u other than 0"

    def origin(
        self, *size: int, dtype: torch.dtype | None = None, device: Any = None, seed: int | None = None
    ) -> Tensor:
        """``(1, 0, ...)``."""
        point = torch.zeros(_shape(size), dtype=dtype, device=device)
        point[..., 0] = 1
        return point

    def random(self, *size: int, dtype: torch.dtype | None = None, device: Any = None) -> Tensor:
        """Uniform on the sphere."""
        return self.projx(torch.randn(_shape(size), dtype=dtype, device=device))

    random_uniform = random


def _of_sign(s: Tensor, coefficients: tuple[float, ...], positive: Callable[[Tensor], Tensor], negative: Any) -> Tensor:
    """A function of s of either sign: its series near 0, positive(sqrt(s)), negative(-s)."""
    is_small = s.abs() < 0.01
    small = torch.where(is_small, s, 0.0)
    total = torch.full_like(small, coefficients[-1])
    for a in reversed(coefficients[:-1]):
        total = total * small + a
    above, below = (~is_small) & (s > 0), (~is_small) & (s < 0)
    return torch.where(
        is_small,
        total,
        torch.where(above, positive(torch.where(above, s, 1.0).sqrt()), negative(torch.where(below, -s, 1.0))),
    )


@with_dims(*_WITH_DIM, "dist0", "expmap0", "logmap0", "transp0", "transp0back", "mobius_add", "mobius_scalar_mul", "lambda_x")
class Stereographic(_Operations):
    """The stereographic model of curvature k of either sign (Bachmann et al. 2020): the ball for k < 0, flat space with
    the metric ``4 |u|^2`` for k = 0, the projected sphere for k > 0. Smooth in k, also at 0; geoopt's names.

    k is a number, a tensor with a gradient, or with learnable the parameter ``curvature``.

    >>> import torch, quintet.torch as qt
    >>> x, y = torch.tensor([0.0, 0.0]), torch.tensor([0.5, 0.0])
    >>> [round(qt.Stereographic(k).dist(x, y).item(), 4) for k in (-1.0, 0.0, 1.0)]
    [1.0986, 1.0, 0.9273]
    """

    name = "Stereographic"

    def __init__(self, k: Scalar = 0.0, learnable: bool = False) -> None:
        super().__init__()
        if not math.isfinite(float(k)):
            raise InvalidArgument(f"k must be finite (k={float(k)})")
        self._number: float | None = None
        self._outer: Tensor | None = None
        if learnable:
            self.curvature = torch.nn.Parameter(torch.tensor(float(k), dtype=torch.get_default_dtype()))
        elif has_gradient(k):
            self._outer = k  # type: ignore[assignment]
        else:
            self._number = float(k)

    def __repr__(self) -> str:
        return f"Stereographic(k={float(self.k)})"

    @property
    def k(self) -> Scalar:
        """The curvature: a number, or a tensor where it has a gradient."""
        if self._number is not None:
            return self._number
        value: Tensor = self.curvature if self._outer is None else self._outer
        return value.double().reshape(())

    def _gap(self, x: Tensor) -> Tensor:
        """``1 + k |x|^2``, in the ball to all digits."""
        k = self.k
        return gap(x, -k) if float(k) < 0 else 1 + k * dot(x, x)

    def _tan_ratio(self, s: Tensor) -> Tensor:
        return _of_sign(s, _TAN, lambda z: torch.tan(z) / z, tanh_ratio)

    def _sum(self, x: Tensor, x_gap: Tensor, y: Tensor, y_gap: Tensor) -> Tensor:
        """x (+) y."""
        square = -self.k * dot(x + y, x + y)
        return (x_gap * (x + y) + square * x) / (x_gap * y_gap + square)

    def _moved(self, x: Tensor, v: Tensor) -> Tensor:
        """exp_x of a tangent vector."""
        x_gap = self._gap(x)
        step = self._tan_ratio(self.k * dot(v, v) / x_gap.square()) / x_gap * v
        return self._sum(x, x_gap, step, 1 + self.k * dot(step, step))

    def _half(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The direction of (-x) (+) y, k sin_k^2(d / 2) and cos_k^2(d / 2) without their signs' trouble."""
        x_gap, y_gap = self._gap(x), self._gap(y)
        direction, t = frame(x, x_gap, y, y_gap, -self.k)
        cosine = ((1 + self.k * dot(x, y)).square() + self._sine_square(x, y)) / (x_gap * y_gap)
        return direction / (x_gap * y_gap), -t, cosine

    def _sine_square(self, x: Tensor, y: Tensor) -> Tensor:
        """``k^2 (|x|^2 |y|^2 - (x . y)^2)`` without cancellation: of the part of y across x."""
        square = dot(x, x)
        across = y - dot(x, y) / torch.where(square > 0, square, 1.0) * x
        k = self.k
        return k * k * square * dot(across, across)

    def _angle_ratio(self, s: Tensor, cosine: Tensor) -> Tensor:
        """asin(z) / z of z^2 = s of either sign; of the sphere also where z is near 1."""
        return _of_sign(s, _ASIN, lambda z: torch.atan2(z, cosine.clamp(min=0).sqrt()) / z, asinh_ratio)

    def dist2(self, x: Tensor, y: Tensor, *, keepdim: bool = False) -> Tensor:
        """Squared distance, smooth also where x = y."""
        _two(x, y)

        def formula(x: Tensor, y: Tensor) -> Tensor:
            _, s, cosine = self._half(x, y)
            square = dot(y - x, y - x) / (self._gap(x) * self._gap(y))
            return 4 * square * self._angle_ratio(s, cosine).square()

        return _kept(in_double(formula, *_broadcast(x, y)), keepdim)

    def dist(self, x: Tensor, y: Tensor, *, keepdim: bool = False) -> Tensor:  # type: ignore[override]
        """Distance ``[...]``, with derivative 0 where x = y."""
        _two(x, y)

        def formula(x: Tensor, y: Tensor) -> Tensor:
            _, s, cosine = self._half(x, y)
            return 2 * norm(y - x) / (self._gap(x) * self._gap(y)).sqrt() * self._angle_ratio(s, cosine)

        return _kept(in_double(formula, *_broadcast(x, y)), keepdim)

    def dist0(self, x: Tensor, *, keepdim: bool = False) -> Tensor:
        """Distance from the origin."""
        return self.dist(x, torch.zeros_like(x), keepdim=keepdim)

    def lambda_x(self, x: Tensor, *, keepdim: bool = False) -> Tensor:
        """``2 / (1 + k |x|^2)``."""
        return _kept(in_double(lambda x: 2 / self._gap(x), x), keepdim)

    def inner(self, x: Tensor, u: Tensor, v: Tensor | None = None, *, keepdim: bool = False) -> Tensor:  # type: ignore[override]
        """``lambda_x^2 u . v``."""
        return _kept(
            in_double(lambda x, u, v: 4 * dot(u, v) / self._gap(x).square(), x, u, u if v is None else v), keepdim
        )

    def egrad2rgrad(self, x: Tensor, u: Tensor) -> Tensor:
        """The Riemannian gradient ``u / lambda_x^2`` of a Euclidean one."""
        return in_double(lambda x, u: u * self._gap(x).square() / 4, x, u)

    def proju(self, x: Tensor, u: Tensor) -> Tensor:
        """Every vector is tangent: u."""
        return u.expand(torch.broadcast_shapes(x.shape, u.shape))

    def projx(self, x: Tensor, *, eps: float | None = None) -> Tensor:  # type: ignore[override]
        """As :meth:`PoincareBall.projx` for k < 0, otherwise x."""
        check(x, "x")
        k = float(self.k)
        if k >= 0:
            return x
        margin = eps if eps is not None else default_margin(x.dtype)
        limit = (1 - margin) / math.sqrt(-k)
        wide = x.double()
        n = norm(wide)
        return torch.where(n <= limit, x, (wide / torch.where(n == 0, 1.0, n) * limit).to(x.dtype))

    def mobius_add(self, x: Tensor, y: Tensor) -> Tensor:
        """``x (+) y``."""
        _two(x, y)
        return in_double(lambda x, y: self._sum(x, self._gap(x), y, self._gap(y)), *_broadcast(x, y))

    def mobius_scalar_mul(self, r: Tensor | float, x: Tensor) -> Tensor:
        """``r (x) x``; r is a number or ``[...]``."""
        factor = torch.as_tensor(r, dtype=torch.float64)
        if factor.dim() > 0 and not (factor.dim() == x.dim() and factor.shape[-1] == 1):
            factor = factor.unsqueeze(-1)
        return self.expmap0(factor.to(x.dtype) * self.logmap0(x))

    def expmap(self, x: Tensor, u: Tensor) -> Tensor:  # type: ignore[override]
        """``exp_x(u)``."""
        _two(x, u, "x", "u")
        return in_double(self._moved, *_broadcast(x, u))

    def expmap0(self, u: Tensor) -> Tensor:
        """``exp_0(u)``."""
        return in_double(lambda u: self._tan_ratio(self.k * dot(u, u)) * u, u)

    def logmap(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        """``log_x(y)``."""
        _two(x, y)

        def formula(x: Tensor, y: Tensor) -> Tensor:
            direction, s, cosine = self._half(x, y)
            return direction * self._gap(x) * self._angle_ratio(s, cosine) / cosine.sqrt()

        return in_double(formula, *_broadcast(x, y))

    def logmap0(self, y: Tensor) -> Tensor:
        """``log_0(y)``."""

        def formula(y: Tensor) -> Tensor:
            s, y_gap = self.k * dot(y, y), self._gap(y)
            return _of_sign(s, _ARCTAN, lambda z: torch.atan(z) / z, lambda t: artanh_ratio(t, y_gap)) * y

        return in_double(formula, y)

    def transp(self, x: Tensor, y: Tensor, v: Tensor) -> Tensor:  # type: ignore[override]
        """The tangent vector v at x, moved along the geodesic to y."""
        _two(x, y)

        def formula(x: Tensor, y: Tensor, v: Tensor) -> Tensor:
            c, x_gap, y_gap, e = -self.k, self._gap(x), self._gap(y), y - x
            p, q, square = dot(x, v), dot(e, v), c * dot(e, e)
            scale = 2 * c / (x_gap * y_gap + square)
            turned = v + scale * ((x_gap * q - square * p) * x - ((1 - x_gap) * q + (y_gap + square) * p) * e)
            return turned * (y_gap / x_gap)

        return in_double(formula, *torch.broadcast_tensors(x, y, v))

    def transp0(self, y: Tensor, v: Tensor) -> Tensor:
        """The tangent vector v at the origin, moved to y."""
        return in_double(lambda y, v: v * self._gap(y), y, v)

    def transp0back(self, x: Tensor, u: Tensor) -> Tensor:
        """The tangent vector u at x, moved to the origin."""
        return in_double(lambda x, u: u / self._gap(x), x, u)

    def _check_point_on_manifold(self, x: Tensor, *, atol: float = 1e-5, rtol: float = 1e-5) -> tuple[bool, str | None]:
        ok = bool((self._gap(x.double()) > 0).all()) and bool(torch.isfinite(x).all())
        return ok, None if ok else "points that are not finite or outside the ball"

    def origin(
        self, *size: int, dtype: torch.dtype | None = None, device: Any = None, seed: int | None = None
    ) -> Tensor:
        """The origin."""
        return torch.zeros(_shape(size), dtype=dtype, device=device)

    def random(self, *size: int, std: float = 1.0, dtype: torch.dtype | None = None, device: Any = None) -> Tensor:
        """``exp_0`` of normal vectors ``[..., D]`` of the deviation ``std / sqrt(D)``."""
        shape = _shape(size)
        return self.expmap0(torch.randn(shape, dtype=dtype, device=device) * std / math.sqrt(shape[-1]))

    random_normal = random


class Scaled(_Operations):
    """`base` with all distances times `scale` > 0, a number, a tensor with a gradient, or the softplus of a parameter.
    Points stay what they are; the metric is that of `base` times ``scale^2``.

    >>> import torch, quintet.torch as qt
    >>> round(qt.Scaled(qt.Sphere(), 2.0).dist(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])).item(), 4)
    3.1416
    """

    name = "Scaled"

    def __init__(self, base: Manifold, scale: Scalar = 1.0, learnable: bool = False) -> None:
        super().__init__()
        if not has_gradient(scale) and not (float(scale) > 0 and math.isfinite(float(scale))):
            raise InvalidArgument(f"scale must be > 0 and finite (scale={float(scale)})")
        self.base = base
        self.factor = Positive(scale, learnable, "scale")

    def __repr__(self) -> str:
        return f"Scaled({self.base!r}, scale={float(self.scale)})"

    @property
    def scale(self) -> Scalar:
        """What distances are multiplied by."""
        return self.factor.value("scale")

    def _times(self, value: Tensor, power: int) -> Tensor:
        return (value * self.scale**power).to(value.dtype)

    def dist(self, x: Tensor, y: Tensor, *, keepdim: bool = False, **more: Any) -> Tensor:  # type: ignore[override]
        """Distance ``[...]``."""
        return self._times(self.base.dist(x, y, keepdim=keepdim, **more), 1)

    def dist2(self, x: Tensor, y: Tensor, *, keepdim: bool = False, **more: Any) -> Tensor:
        """Squared distance."""
        return self._times(self.base.dist2(x, y, keepdim=keepdim, **more), 2)

    def inner(self, x: Tensor, u: Tensor, v: Tensor | None = None, *, keepdim: bool = False, **more: Any) -> Tensor:  # type: ignore[override]
        """``scale^2`` times the product of `base`."""
        return self._times(self.base.inner(x, u, v, keepdim=keepdim, **more), 2)

    def egrad2rgrad(self, x: Tensor, u: Tensor, **more: Any) -> Tensor:
        """That of `base` by ``scale^2``."""
        return self._times(self.base.egrad2rgrad(x, u, **more), -2)

    def __getattr__(self, item: str) -> Any:
        """What depends on points and tangent vectors alone is that of `base`."""
        try:
            return super().__getattr__(item)
        except AttributeError:
            if item in _OF_BASE:
                return getattr(super().__getattr__("base"), item)
            raise

    def _check_shape(self, shape: Sequence[int], name: str) -> tuple[bool, str | None]:
        return self.base._check_shape(shape, name)

    def _check_point_on_manifold(self, x: Tensor, *, atol: float = 1e-5, rtol: float = 1e-5) -> tuple[bool, str | None]:
        return self.base._check_point_on_manifold(x, atol=atol, rtol=rtol)

    def _check_vector_on_tangent(
        self, x: Tensor, u: Tensor, *, atol: float = 1e-5, rtol: float = 1e-5
    ) -> tuple[bool, str | None]:
        return self.base._check_vector_on_tangent(x, u, atol=atol, rtol=rtol)


_OF_BASE = ("expmap", "logmap", "transp", "proju", "projx", "origin", "random", "expmap0", "logmap0", "transp0", "transp0back")


class ProductManifold(_Operations):
    """The product of manifolds, each with the length of its points: ``d^2 = sum w_i d_i^2``. Points are ``[..., sum of the
    lengths]``. Weights are numbers, tensors with gradients, or with learnable softplus of parameters.

    >>> import torch, quintet.torch as qt
    >>> torus = qt.ProductManifold((qt.Sphere(), 2), (qt.Sphere(), 2))
    >>> x = torus.origin(5, 4)
    >>> torus.dist(x, x).shape
    torch.Size([5])
    """

    name = "ProductManifold"

    def __init__(
        self, *factors: tuple[Manifold, int], weights: Sequence[Scalar] | None = None, learnable: bool = False
    ) -> None:
        super().__init__()
        if not factors:
            raise InvalidArgument("factors must be one or more pairs of a manifold and a length (factors=())")
        lengths = [int(math.prod(n)) if isinstance(n, tuple) else int(n) for _, n in factors]
        for i, length in enumerate(lengths):
            if length < 1:
                raise InvalidArgument(f"factors[{i}] must have a length >= 1 (factors[{i}][1]={length})")
        given = [1.0] * len(factors) if weights is None else list(weights)
        if len(given) != len(factors):
            raise InvalidArgument(f"weights must be one for each of {len(factors)} factors (weights={len(given)})")
        for i, w in enumerate(given):
            if not has_gradient(w) and not (float(w) > 0 and math.isfinite(float(w))):
                raise InvalidArgument(f"weights[{i}] must be > 0 and finite (weights[{i}]={float(w)})")
        self.manifolds = torch.nn.ModuleList(m for m, _ in factors)
        self.lengths = lengths
        self._weights = torch.nn.ModuleList(Positive(w, learnable, f"weights[{i}]") for i, w in enumerate(given))

    def __repr__(self) -> str:
        return "ProductManifold(" + ", ".join(f"({m!r}, {n})" for m, n in zip(self.manifolds, self.lengths)) + ")"

    @property
    def n_elements(self) -> int:
        """The length of a point."""
        return sum(self.lengths)

    @property
    def n_manifolds(self) -> int:
        """How many factors there are."""
        return len(self.lengths)

    @property
    def weights(self) -> list[Scalar]:
        """What squared distances of the factors are multiplied by."""
        return [w.value(f"weights[{i}]") for i, w in enumerate(self._weights)]  # type: ignore[operator]

    def _check_shape(self, shape: Sequence[int], name: str) -> tuple[bool, str | None]:
        ok = len(shape) >= 1 and shape[-1] == self.n_elements
        return ok, None if ok else f"'{name}' must have {self.n_elements} numbers in its last dimension ({tuple(shape)})"

    def _parts(self, x: Tensor, name: str) -> tuple[Tensor, ...]:
        check(x, name)
        self._assert_check_shape(x.shape, name)
        parts: tuple[Tensor, ...] = x.split(self.lengths, -1)
        return parts

    def unpack_tensor(self, tensor: Tensor) -> tuple[Tensor, ...]:
        """The parts of the factors."""
        return self._parts(tensor, "tensor")

    def pack_point(self, *tensors: Tensor) -> Tensor:
        """One tensor of those of the factors."""
        if len(tensors) != self.n_manifolds:
            raise InvalidArgument(f"tensors must be one for each of {self.n_manifolds} factors (tensors={len(tensors)})")
        for i, (t, n) in enumerate(zip(tensors, self.lengths)):
            if t.shape[-1] != n:
                raise InvalidArgument(f"tensors[{i}] must have {n} numbers in its last dimension ({tuple(t.shape)})")
        lead = torch.broadcast_shapes(*(t.shape[:-1] for t in tensors))
        return torch.cat([t.expand(*lead, t.shape[-1]) for t in tensors], -1)

    def _each(self, name: str, *tensors: Tensor, names: str = "x") -> Tensor:
        parts = zip(*(self._parts(t, n) for t, n in zip(tensors, names)))
        return self.pack_point(*(getattr(m, name)(*some) for m, some in zip(self.manifolds, parts)))

    def _sum(self, name: str, *tensors: Tensor, keepdim: bool, names: str) -> Tensor:
        parts = zip(*(self._parts(t, n) for t, n in zip(tensors, names)))
        terms = [
            (getattr(m, name)(*some, keepdim=keepdim).double() * w) for m, some, w in zip(self.manifolds, parts, self.weights)
        ]
        dtype = torch.float64 if any(t.dtype == torch.float64 for t in tensors) else torch.float32
        return torch.stack(torch.broadcast_tensors(*terms)).sum(0).to(dtype)

    def dist2(self, x: Tensor, y: Tensor, *, keepdim: bool = False) -> Tensor:
        """``sum w_i d_i^2``."""
        return self._sum("dist2", x, y, keepdim=keepdim, names="xy")

    def dist(self, x: Tensor, y: Tensor, *, keepdim: bool = False) -> Tensor:  # type: ignore[override]
        """Its root, with derivative 0 where x = y."""
        square = self.dist2(x, y, keepdim=keepdim)
        return torch.where(square > 0, torch.where(square > 0, square, 1.0).sqrt(), 0.0)

    def inner(self, x: Tensor, u: Tensor, v: Tensor | None = None, *, keepdim: bool = False) -> Tensor:  # type: ignore[override]
        """``sum w_i <u_i, v_i>``."""
        return self._sum("inner", x, u, u if v is None else v, keepdim=keepdim, names="xuv")

    def component_inner(self, x: Tensor, u: Tensor, v: Tensor | None = None) -> Tensor:
        """The product of every factor, in all coordinates of it."""
        parts = zip(self._parts(x, "x"), self._parts(u, "u"), self._parts(u if v is None else v, "v"))
        values = [
            (m.inner(*some, keepdim=True) * w).to(x.dtype).expand(some[1].shape)  # type: ignore[operator]
            for m, some, w in zip(self.manifolds, parts, self.weights)
        ]
        return torch.cat(values, -1)

    def egrad2rgrad(self, x: Tensor, u: Tensor) -> Tensor:
        """The Riemannian gradient: that of every factor by its weight."""
        parts = zip(self._parts(x, "x"), self._parts(u, "u"))
        return self.pack_point(
            *((m.egrad2rgrad(*some) / w).to(x.dtype) for m, some, w in zip(self.manifolds, parts, self.weights))  # type: ignore[operator]
        )

    def expmap(self, x: Tensor, u: Tensor) -> Tensor:  # type: ignore[override]
        """``exp`` of every factor."""
        return self._each("expmap", x, u, names="xu")

    def logmap(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        """``log`` of every factor."""
        return self._each("logmap", x, y, names="xy")

    def transp(self, x: Tensor, y: Tensor, v: Tensor) -> Tensor:  # type: ignore[override]
        """Every part of v, moved in its factor."""
        return self._each("transp", x, y, v, names="xyv")

    def retr(self, x: Tensor, u: Tensor) -> Tensor:
        """The retraction of every factor."""
        return self._each("retr", x, u, names="xu")

    def proju(self, x: Tensor, u: Tensor) -> Tensor:
        """Projections onto the tangent spaces of the factors."""
        return self._each("proju", x, u, names="xu")

    def projx(self, x: Tensor) -> Tensor:  # type: ignore[override]
        """Projections onto the factors."""
        return self._each("projx", x)

    def _check_point_on_manifold(self, x: Tensor, *, atol: float = 1e-5, rtol: float = 1e-5) -> tuple[bool, str | None]:
        for i, (m, part) in enumerate(zip(self.manifolds, self._parts(x, "x"))):
            ok, reason = m._check_point_on_manifold(part, atol=atol, rtol=rtol)  # type: ignore[operator]
            if not ok:
                return False, f"factor {i} has {reason}"
        return True, None

    def _check_vector_on_tangent(
        self, x: Tensor, u: Tensor, *, atol: float = 1e-5, rtol: float = 1e-5
    ) -> tuple[bool, str | None]:
        for i, (m, p, v) in enumerate(zip(self.manifolds, self._parts(x, "x"), self._parts(u, "u"))):
            ok, reason = m._check_vector_on_tangent(p, v, atol=atol, rtol=rtol)  # type: ignore[operator]
            if not ok:
                return False, f"factor {i} has {reason}"
        return True, None

    def _drawn(self, name: str, size: Sequence[Any], **more: Any) -> Tensor:
        shape = _shape(size)
        self._assert_check_shape(shape, "size")
        return self.pack_point(
            *(getattr(m, name)((*shape[:-1], n), **more) for m, n in zip(self.manifolds, self.lengths))
        )

    def origin(
        self, *size: int, dtype: torch.dtype | None = None, device: Any = None, seed: int | None = None
    ) -> Tensor:
        """The origins of the factors."""
        return self._drawn("origin", size, dtype=dtype, device=device)

    def random(self, *size: int, dtype: torch.dtype | None = None, device: Any = None) -> Tensor:
        """Random points of the factors."""
        return self._drawn("random", size, dtype=dtype, device=device)
