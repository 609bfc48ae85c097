"""The Lorentz model with gradients: distances by the library's kernels, derivatives and maps by formulas in double.

>>> import torch, quintet.torch as qt
>>> sheet = qt.Lorentz()
>>> v = torch.randn(4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
>>> x = sheet.expmap0(torch.nn.functional.pad(v, (1, 0)))
>>> y = x.flip(0).requires_grad_()
>>> sheet.dist(x, y).sum().backward()
>>> y.grad.shape
torch.Size([4, 4])
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from .. import _core
from .._errors import InvalidArgument
from ._ball_operations import Scalar, apply, dot, from_series, in_double, in_unit_ball, norm
from ._gyrovectors import _shape, matrices_of
from ._manifold import Manifold, factor_of, geodesic_by_maps, has_gradient, root_of, scalars_of, with_dims
from ._poincare import PoincareBall, _broadcast, _points, _two, differences, fast_differences
from ._svd import is_plain
from ._tensors import CODES, REAL, applied, check, points, rows

__all__ = ["Lorentz"]

# Of z / sinh(z), sinh(z) / z and cosh(z) in z^2.
_OVER_SINH = (1, -1 / 6, 7 / 360, -31 / 15120, 127 / 604800, -73 / 3421440, 1414477 / 653837184000)
_SINH = tuple(1 / math.factorial(2 * k + 1) for k in range(8))
_COSH = tuple(1 / math.factorial(2 * k) for k in range(8))
TIME_IGNORED = 2


def _over_sinh(square: Tensor) -> Tensor:
    return from_series(square, _OVER_SINH, lambda _, z: z / torch.sinh(z))


def _sinh_ratio(square: Tensor) -> Tensor:
    return from_series(square, _SINH, lambda _, z: torch.sinh(z) / z)


def _cosh(square: Tensor) -> Tensor:
    return from_series(square, _COSH, lambda _, z: torch.cosh(z))


def _time(p: Tensor, c: Scalar) -> Tensor:
    return (1 / c + dot(p, p)).sqrt()


def _tangent(p: Tensor, u: Tensor, c: Scalar) -> Tensor:
    """(t, u) of the space part of a tangent vector at p."""
    return torch.cat((dot(p, u) / _time(p, c), u), -1)


def _point(p: Tensor, c: Scalar) -> Tensor:
    return torch.cat((_time(p, c), p), -1)


def _inner(p: Tensor, u: Tensor, v: Tensor, c: Scalar) -> Tensor:
    """Of tangent vectors at p by their space parts: u.v - (p.u)(p.v) / t^2 where nothing cancels, with the parts along p
    and across it."""
    square = dot(p, p)
    unit = p / torch.where(square > 0, square, 1.0).sqrt()
    a, b = dot(unit, u), dot(unit, v)
    return dot(u - a * unit, v - b * unit) + a * b / (1 + c * square)


def _pair_distances(x: Tensor, y: Tensor, c: float) -> Tensor:
    first, _x_owner = points(x)
    second, _y_owner = points(y)  # until they are read
    out = torch.empty(x.shape[:-1], dtype=REAL[x.dtype])
    to = (out.data_ptr(), CODES[out.dtype], (first[2][0],), (1,), -1)
    _core.lorentz_pair_distances(first, second, to, TIME_IGNORED, None, -c)
    return out


def _all_distances(x: Tensor, y: Tensor, c: float) -> Tensor:
    first, _x_owner = points(x)
    second, _y_owner = points(y)
    out = torch.empty((x.shape[0], y.shape[0]), dtype=REAL[x.dtype])
    _core.lorentz_distances(first, second, rows(out), TIME_IGNORED, None, -c)
    return out


def _weight(d: Tensor, c: float, G: Tensor) -> Tensor:
    """G sqrt(c) / sinh(sqrt(c) d), 0 where d is 0."""
    apart = d != 0
    return torch.where(apart, G * math.sqrt(c) / torch.sinh(math.sqrt(c) * torch.where(apart, d, 1.0)), 0.0)


def _pull(d: Tensor, x: Tensor, y: Tensor, c: float, squared: bool, G: Tensor) -> tuple[Tensor, Tensor]:
    """G d d(x, y) / d (x, y), of d^2 where squared: sqrt(c) (x t_y / t_x - y) / sinh(sqrt(c) d) of the space part, with the
    difference of the times from that of the points; 0 where x = y. d is a distance, or its square."""
    p, q = x[..., 1:].double(), y[..., 1:].double()
    tp, tq = _time(p, c), _time(q, c)
    d, G = d.double().unsqueeze(-1), G.double().unsqueeze(-1)
    weight = 2 * G * _over_sinh(c * d) if squared else _weight(d, c, G)
    later = dot(q - p, q + p) / (tp + tq)
    of_p, of_q = weight * ((p - q) + p * (later / tp)), weight * ((q - p) - q * (later / tq))
    return tuple(torch.cat((torch.zeros_like(tp), g), -1).to(t.dtype) for g, t in ((of_p, x), (of_q, y)))  # type: ignore[return-value]


def _subtract(e: Tensor, f: Tensor) -> Tensor:
    """e - f of points (t, x) of the sheet: the difference of the times is (x - y).(x + y) / (t_x + t_y), without loss."""
    x, y = e[..., 1:], f[..., 1:]
    return torch.cat((dot(x - y, x + y) / (e[..., :1] + f[..., :1]), x - y), -1)


def _pull_all(d: Tensor, x: Tensor, y: Tensor, c: float, G: Tensor) -> tuple[Tensor, Tensor]:
    """_pull() of all pairs, summed up: W (e_x - e_y) of the points e = (t, x), W = G sqrt(c) / sinh(sqrt(c) d). The
    derivative by the space part x is what belongs to x, less x / t times what belongs to t."""
    p, q = x[:, 1:].double(), y[:, 1:].double()
    e, f = _point(p, c), _point(q, c)
    sums: Any = fast_differences(d, G, c, e, f, x.dtype)
    if sums is None:
        wide = d.double()
        chord = (2 / math.sqrt(c) * torch.sinh(math.sqrt(c) / 2 * wide)).square()  # |x - y|^2 - (t_x - t_y)^2
        sums = differences(_weight(wide, c, G.double()), chord, e, f, x.dtype, _subtract)
    of_p, of_q = (of[:, 1:] - at[:, 1:] / at[:, :1] * of[:, :1] for of, at in zip(sums, (e, f)))
    return tuple(torch.cat((torch.zeros_like(g[:, :1]), g), -1).to(x.dtype) for g in (of_p, of_q))  # type: ignore[return-value]


class _Dist(torch.autograd.Function):
    """d, or d^2, of points [..., n + 1] of one shape. Their times are not read and have derivative 0."""

    @staticmethod
    def forward(x: Tensor, y: Tensor, c: float, squared: bool) -> Tensor:
        d = _pair_distances(x, y, c)
        return d.square() if squared else d

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0], inputs[1], output)
        ctx.c, ctx.squared = inputs[2], inputs[3]

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        x, y, d = ctx.saved_tensors
        if torch.is_grad_enabled():
            d = applied(_Dist, x, y, ctx.c, ctx.squared)
        return (*_pull(d, x, y, ctx.c, ctx.squared, grads[0]), None, None)

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Tensor, y: Tensor, c: float, squared: bool) -> Any:
        front = [
            t.expand(info.batch_size, *t.shape) if d is None else t.movedim(d, 0) for t, d in zip((x, y), in_dims)
        ]
        return applied(_Dist, *front, c, squared), 0


class _Cdist(torch.autograd.Function):
    @staticmethod
    def forward(x: Tensor, y: Tensor, c: float) -> Tensor:
        return _all_distances(x, y, c)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0], inputs[1], output)
        ctx.c = inputs[2]

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        x, y, d = ctx.saved_tensors
        if torch.is_grad_enabled():
            d = applied(_Cdist, x, y, ctx.c)
        of_x, of_y = _pull_all(d, x, y, ctx.c, grads[0])
        return of_x, of_y, None


@with_dims(
    *("dist", "dist2", "dist0", "inner", "norm", "proju", "egrad2rgrad", "transp", "transp0", "transp0back", "expmap"),
    *("expmap0", "logmap", "logmap0", "geodesic", "expmap_transp", "retr", "retr_transp", "transp_follow_expmap"),
    *("transp_follow_retr", "projx", "to_poincare", "from_poincare", "dist2plane"),
)
class Lorentz(Manifold):
    """The sheet ``{(t, x) : |x|^2 - t^2 = -k, t > 0}`` of curvature ``-1 / k``, with the names of geoopt.Lorentz; its
    optimisers take it. Points and vectors are ``[..., n + 1]``, time first, or lie in the dimension `dim`; other shapes are
    broadcast. k > 0 is a number, with learnable the softplus of the parameter ``curvature.isp``, or a tensor that requires a
    gradient, and has it; the attribute `k` is the number, or a tensor in double.

    A point is its space part: times are not read, so that their rounding moves nothing, and results have the time of their
    space part. A tangent vector is determined by its space part too. Distances are those of :mod:`quintet.lorentz`, with
    gradients of every order, 0 where x = y; everything else is computed in double.

    >>> import torch, quintet.torch as qt
    >>> sheet = qt.Lorentz()
    >>> x = sheet.projx(torch.tensor([0.0, 3e6, 4e6]))
    >>> round(sheet.dist0(x).item(), 3)
    16.118
    """

    name = "Lorentz"

    def __init__(self, k: Scalar = 1.0, learnable: bool = False) -> None:
        super().__init__()
        if not (has_gradient(k) or 1e-30 <= float(k) <= 1e30):
            raise InvalidArgument(f"k must be in [1e-30, 1e30], the curvature is -1 / k (k={float(k)})")
        self._keep_curvature("k", k, learnable)

    def __repr__(self) -> str:
        return f"Lorentz(k={float(self.k)})"

    @property
    def c(self) -> Scalar:
        """``1 / k``, minus the curvature."""
        return 1 / self.k

    def _dist(self, x: Tensor, y: Tensor, squared: bool) -> Tensor:
        _two(x, y)
        return self._distances(*_broadcast(x, y), self.c, squared)

    def _distances(self, x: Tensor, y: Tensor, c: Scalar, squared: bool) -> Tensor:
        if isinstance(c, Tensor):
            return in_unit_ball(lambda x, y: self._distances(x, y, 1.0, squared), c, x, y, power=2 if squared else 1)
        if is_plain(x, y):
            return _Dist.forward(x, y, c, squared)
        out: Tensor = applied(_Dist, x, y, c, squared)
        return out

    def dist(self, x: Tensor, y: Tensor, *, keepdim: bool = False) -> Tensor:
        """Distance ``[...]``."""
        d = self._dist(x, y, False)
        return d.unsqueeze(-1) if keepdim else d

    def dist2(self, x: Tensor, y: Tensor, *, keepdim: bool = False) -> Tensor:
        """Squared distance; its derivatives are those of a smooth function also where x = y."""
        d = self._dist(x, y, True)
        return d.unsqueeze(-1) if keepdim else d

    def dist0(self, x: Tensor, *, keepdim: bool = False) -> Tensor:
        """Distance from the origin ``(sqrt(k), 0)``."""
        return self.dist(x, torch.zeros_like(x), keepdim=keepdim)

    def cdist(self, x: Tensor, y: Tensor) -> Tensor:
        """All distances ``[Q, N]`` of ``x[Q, n + 1]`` and ``y[N, n + 1]``. The gradient takes four products of matrices in
        double; pairs that are closer than 1e-7 of their distance from the mean (double: 1e-2) are subtracted one by one."""
        _two(x, y)
        if x.dim() != 2 or y.dim() != 2:
            raise InvalidArgument(f"x and y must have 2 dimensions (x: {tuple(x.shape)}, y: {tuple(y.shape)})")
        return self._matrix(x, y, self.c)

    def _matrix(self, x: Tensor, y: Tensor, c: Scalar) -> Tensor:
        if isinstance(c, Tensor):
            return in_unit_ball(lambda x, y: self._matrix(x, y, 1.0), c, x, y)
        if is_plain(x, y):
            return _all_distances(x, y, c)
        out: Tensor = applied(_Cdist, x, y, c)
        return out

    def dist2plane(
        self,
        x: Tensor,
        z: Tensor,
        a: Tensor | float = 0.0,
        *,
        keepdim: bool = False,
        signed: bool = False,
        scaled: bool = False,
    ) -> Tensor:
        """Distance of x from the hyperplane across the geodesic from the origin along z, a tangent vector there, at distance a
        of it (Bdeir et al. 2024): ``asinh(cosh(A) <u, x> / sqrt(k) - sinh(A) s) sqrt(k)``, ``A = a / sqrt(k)``,
        ``u = z / |z|``, ``s = sqrt(1 + |x|^2 / k)`` of space parts. signed: with the side that z points to; scaled: times
        ``|z|``, which with signed is the logit of a class. a is a number, ``[...]`` or ``[..., 1]``. Gradients are finite
        everywhere; for z = 0 all is 0. As :func:`quintet.lorentz.hyperplane_distances`, by formulas."""

        def formula(x: Tensor, z: Tensor) -> Tensor:
            p, root = x[..., 1:], root_of(self.c)
            length = norm(z[..., 1:])
            exists = length > 0
            u = z[..., 1:] / torch.where(exists, length, 1.0)
            along = dot(u, p)
            across = p - along * u
            beside = (1 / self.c + dot(across, across)).sqrt()
            # The hyperplane is at 0 of this, and nothing large cancels in it.
            way = torch.asinh(along / beside) - root * factor_of(a, along)
            near = torch.asinh(root * beside * torch.sinh(way.clamp(-20, 20)))
            value = torch.where(way.abs() < 20, near, way + way.sign() * torch.log(root * beside)) / root
            value = torch.where(exists, value if signed else value.abs(), 0.0)
            return value * length if scaled else value

        value = in_double(formula, x, z)
        return value if keepdim else value.squeeze(-1)

    def dist2planes(
        self, x: Tensor, z: Tensor, a: Tensor | float = 0.0, *, signed: bool = False, scaled: bool = False
    ) -> Tensor:
        """All distances ``[N, M]`` of ``x[N, n + 1]`` from the hyperplanes of ``z[M, n + 1]`` and a, a number or ``[M]``: what
        :meth:`dist2plane` has one by one, as one product of matrices ``(x / sqrt(k), -s) (cosh(A) u, sinh(A))^T`` in double. It
        rounds by some ``2^-53 n exp(A) s``, which shows near a hyperplane far from the origin; ``|A| < 300``."""
        count = matrices_of(x, z, "z")
        offset = scalars_of(a, count, x.device)

        def formula(x: Tensor, z: Tensor) -> Tensor:
            p, root = x[:, 1:], root_of(self.c)
            length = norm(z[:, 1:])
            exists = length > 0
            u, way = z[:, 1:] / torch.where(exists, length, 1.0), root * offset
            points = torch.cat((root * p, -(1 + self.c * dot(p, p)).sqrt()), 1)
            planes = torch.cat((torch.cosh(way) * u, torch.sinh(way)), 1)
            value = torch.asinh(points @ planes.mT) / root
            value = torch.where(exists.mT, value if signed else value.abs(), 0.0)
            return value * length.mT if scaled else value

        return in_double(formula, x, z)

    # Vectors.

    def inner(self, x: Tensor, u: Tensor, v: Tensor | None = None, *, keepdim: bool = False) -> Tensor:
        """Minkowski's product of tangent vectors at x."""
        value = in_double(
            lambda x, u, v: _inner(x[..., 1:], u[..., 1:], v[..., 1:], self.c), x, u, u if v is None else v
        )
        return value if keepdim else value.squeeze(-1)

    def norm(self, x: Tensor, u: Tensor, *, keepdim: bool = False) -> Tensor:
        """The length of a tangent vector at x, with derivative 0 at 0. (geoopt's takes u alone.)"""
        square = self.inner(x, u, keepdim=keepdim)
        return torch.where(square > 0, torch.where(square > 0, square, 1.0).sqrt(), 0.0)

    def proju(self, x: Tensor, u: Tensor) -> Tensor:
        """Any vector, projected onto the tangent space at x: ``u + <x, u> x / k``."""

        def formula(x: Tensor, u: Tensor) -> Tensor:
            p = x[..., 1:]
            product = dot(p, u[..., 1:]) - _time(p, self.c) * u[..., :1]
            return _tangent(p, u[..., 1:] + self.c * product * p, self.c)

        return in_double(formula, x, u)

    def egrad2rgrad(self, x: Tensor, u: Tensor) -> Tensor:
        """The Riemannian gradient of a Euclidean one: :meth:`proju` of it with the sign of its time turned."""
        return self.proju(x, torch.cat((-u[..., :1], u[..., 1:]), -1))

    def transp(self, x: Tensor, y: Tensor, v: Tensor) -> Tensor:
        """The tangent vector v at x, moved along the geodesic to y: ``v + <y, v> / (k - <x, y>) (x + y)``."""
        _two(x, y)
        _two(x, v, "x", "v")

        def formula(x: Tensor, y: Tensor, v: Tensor) -> Tensor:
            p, q, w = x[..., 1:], y[..., 1:], v[..., 1:]
            tp, tq = _time(p, self.c), _time(q, self.c)
            product = dot(q, w) - tq * dot(p, w) / tp
            return _tangent(q, w + product / (self.k + tp * tq - dot(p, q)) * (p + q), self.c)

        return in_double(formula, *torch.broadcast_tensors(x, y, v))

    def transp0(self, y: Tensor, v: Tensor) -> Tensor:
        """The tangent vector v at the origin, moved to y."""
        return self.transp(torch.zeros_like(y), y, v)

    def transp0back(self, x: Tensor, v: Tensor) -> Tensor:
        """The tangent vector v at x, moved to the origin."""
        return self.transp(x, torch.zeros_like(x), v)

    # Maps.

    def expmap(self, x: Tensor, u: Tensor) -> Tensor:
        """``exp_x(u) = cosh(z) x + sinh(z) u / z``, ``z = |u| / sqrt(k)``."""
        _two(x, u, "x", "u")

        def formula(x: Tensor, u: Tensor) -> Tensor:
            p, v = x[..., 1:], u[..., 1:]
            square = self.c * _inner(p, v, v, self.c)
            return _point(_cosh(square) * p + _sinh_ratio(square) * v, self.c)

        return in_double(formula, *_broadcast(x, u))

    def expmap0(self, u: Tensor) -> Tensor:
        """``exp`` of a tangent vector at the origin; its time is 0."""
        _points(u, "u")
        return self.expmap(torch.zeros_like(u), u)

    def logmap(self, x: Tensor, y: Tensor) -> Tensor:
        """``log_x(y) = z / sinh(z) (y - cosh(z) x)``, ``z = d / sqrt(k)``: the tangent vector at x with exp_x(log_x(y)) = y."""
        _two(x, y)

        def formula(x: Tensor, y: Tensor) -> Tensor:
            square = self.c * self._dist(x, y, True).unsqueeze(-1)
            p, q = x[..., 1:], y[..., 1:]
            more = square * _sinh_ratio(square / 4).square() / 2  # cosh(z) - 1
            return _tangent(p, _over_sinh(square) * ((q - p) - more * p), self.c)

        return in_double(formula, *_broadcast(x, y))

    def logmap0(self, y: Tensor) -> Tensor:
        """``log`` at the origin."""
        _points(y, "y")
        return self.logmap(torch.zeros_like(y), y)

    def geodesic(self, t: Tensor | float, x: Tensor, y: Tensor) -> Tensor:
        """The point at t of the geodesic from x (0) to y (1); t is a number, ``[...]`` or ``[..., 1]``."""
        return geodesic_by_maps(self, t, x, y)

    def expmap_transp(self, x: Tensor, u: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """``y = expmap(x, u)``, and v moved to it."""
        y = self.expmap(x, u)
        return y, self.transp(x, y, v)

    #: geoopt's retraction is the exponential map
    retr = expmap
    retr_transp = transp_follow_expmap = transp_follow_retr = expmap_transp

    def projx(self, x: Tensor) -> Tensor:
        """The point with the space part of x, in the type of x."""
        check(x, "x")
        return in_double(lambda x: _point(x[..., 1:], self.c), x).to(x.dtype)

    def to_poincare(self, x: Tensor) -> Tensor:
        """To the ball of curvature ``-1 / k``: ``x / (1 + t / sqrt(k))``, ``[..., n]``."""
        check(x, "x")
        return apply("from_hyperboloid", self.c, self.projx(x))

    def from_poincare(self, p: Tensor) -> Tensor:
        """From the ball of curvature ``-1 / k``, ``[..., n]``."""
        check(p, "p")
        return apply("to_hyperboloid", self.c, p)

    def centroid(self, xs: Tensor, weights: Tensor | None = None, *, reducedim: Any = None, keepdim: bool = False) -> Tensor:
        """The point in the direction of the sum of weighted points ``xs[..., n + 1]`` (Law et al. 2019), over the dimensions
        `reducedim`, None: all but the last. Taken in the ball, in double: exact to about ``2^-50 exp(radius)``."""
        ball = PoincareBall(self.c)
        mean = ball.weighted_midpoint(self.to_poincare(xs.double()), weights, reducedim=reducedim, keepdim=keepdim)
        return self.from_poincare(mean).to(REAL[xs.dtype])

    def frechet_mean(
        self, xs: Tensor, weights: Tensor | None = None, *, reducedim: Any = None, keepdim: bool = False
    ) -> Tensor:
        """The Fréchet mean, with the smallest sum of weighted squared distances; gradients by the implicit function
        theorem. Arguments and accuracy as of :meth:`centroid`."""
        ball = PoincareBall(self.c)
        wide = None if weights is None else weights.double()
        mean = ball.frechet_mean(self.to_poincare(xs.double()), wide, reducedim=reducedim, keepdim=keepdim)
        return self.from_poincare(mean).to(REAL[xs.dtype])

    # Draws and checks.

    def origin(
        self, *size: int, dtype: torch.dtype | None = None, device: Any = None, seed: int | None = None
    ) -> Tensor:
        """``(sqrt(k), 0)`` of shape ``[..., n + 1]``."""
        return self.projx(torch.zeros(_shape(size), dtype=dtype, device=device))

    def random_normal(
        self, *size: int, std: float = 1.0, dtype: torch.dtype | None = None, device: Any = None
    ) -> Tensor:
        """``exp`` at the origin of normal vectors of this deviation; the last of `size` is n + 1."""
        return self.expmap0(torch.randn(_shape(size), dtype=dtype, device=device) * std)

    random = random_normal

    def _check_point_on_manifold(self, x: Tensor, *, atol: float = 1e-5, rtol: float = 1e-5) -> tuple[bool, str | None]:
        wide = x.double()
        ok = torch.allclose(wide[..., :1], _time(wide[..., 1:], self.c).detach(), atol=atol, rtol=rtol)
        return ok, None if ok else "points with t other than sqrt(k + |x|^2)"

    def _check_vector_on_tangent(
        self, x: Tensor, u: Tensor, *, atol: float = 1e-5, rtol: float = 1e-5
    ) -> tuple[bool, str | None]:
        p, v = x.double()[..., 1:], u.double()
        ok = torch.allclose(_time(p, self.c).detach() * v[..., :1], dot(p, v[..., 1:]), atol=atol, rtol=rtol)
        return ok, None if ok else "vectors with <x, u> other than 0"
