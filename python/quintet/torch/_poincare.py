"""The Poincaré ball with gradients: forward by the library's kernels, derivatives by kernels and by formulas in torch that
are as accurate near the boundary and have derivatives of every order.

>>> import torch, quintet.torch as qt
>>> ball = qt.PoincareBall(c=1.0)
>>> x = ball.expmap0(torch.randn(4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0)))
>>> y = x.flip(0).requires_grad_()
>>> ball.dist(x, y).sum().backward()
>>> y.grad.shape
torch.Size([4, 3])
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from .. import _core
from .._errors import InvalidArgument
from ._ball_operations import Scalar, apply, dot, gap, gyration, in_double, in_unit_ball, norm
from ._gyrovectors import GyrovectorNames, _shape
from ._manifold import has_gradient, root_of, scalar_tensor, with_dims
from ._svd import is_plain
from ._tensors import REAL, applied, check, points, rows

__all__ = ["PoincareBall", "cdist", "dist"]


def _all_distances(x: Tensor, y: Tensor, c: float) -> Tensor:
    first, _x_owner = points(x)
    second, _y_owner = points(y)
    out = torch.empty((x.shape[0], y.shape[0]), dtype=REAL[x.dtype])
    _core.poincare_distances(first, second, rows(out), 0, -c)
    return out


def _weights(d: Tensor, area: Tensor, c: float, G: Tensor) -> tuple[Tensor, Tensor]:
    """W = G 2 / (|x - y| sqrt(a_x a_y (1 + t))) and |x - y|^2, of distances and a_x a_y; W is 0 where x = y."""
    apart = d != 0
    if c == 0:
        return torch.where(apart, 4 * G / torch.where(apart, d, 1.0), 0.0), d * d / 4
    half = math.sqrt(c) * d / 2
    sinh, cosh = torch.sinh(half), torch.cosh(half)
    # |x - y| = sinh sqrt(area / c); sqrt(area (1 + t)) = sqrt(area) cosh
    safe = torch.where(apart, sinh * cosh * area, 1.0)
    return torch.where(apart, 2 * math.sqrt(c) * G / safe, 0.0), sinh * sinh * area / c


def _near_part(type: torch.dtype) -> float:
    """Points closer than this part of their distance from the mean are subtracted one by one."""
    return 1e-2 if type == torch.float64 else 1e-7


def fast_differences(
    d: Tensor, G: Tensor, c: float, x: Tensor, y: Tensor, type: torch.dtype, gaps: tuple[Tensor, Tensor] | None = None
) -> tuple[Tensor, Tensor, Tensor] | None:
    """:func:`differences` of the weights of distances of points of `type`, by one pass over d and G, and in the ball the
    shares V = 2 sqrt(c) G tanh(sqrt(c) d / 2). None where points are near or derivatives are wanted."""
    if torch.is_grad_enabled() or c == 0 or not is_plain(d, G, x, y):
        return None
    mean = x.mean(0) if len(x) else torch.zeros_like(x[:1].sum(0))
    p, q = x - mean, y - mean
    W = torch.empty(d.shape, dtype=torch.float64)
    V = torch.empty(d.shape if gaps else (0, 0), dtype=torch.float64)
    (of_d, _d_owner), (of_G, _G_owner) = points(d), points(G)
    numbers = [dot(p, p), dot(q, q), *(g.contiguous() for g in gaps or ())]
    vectors: list[Any] = [(t.data_ptr(), "d", (len(t),), (1,), -1) for t in numbers] + [None] * (4 - len(numbers))
    x_square, y_square, x_gap, y_gap = vectors
    to = (rows(W), rows(V) if gaps else None)
    if _core.poincare_gradient_weights(of_d, of_G, x_square, y_square, x_gap, y_gap, *to, -c, _near_part(type)):
        return None
    ones = torch.ones(len(p), 1, dtype=torch.float64), torch.ones(len(q), 1, dtype=torch.float64)
    of_x, of_y = W @ torch.cat((q, ones[1]), 1), W.mT @ torch.cat((p, ones[0]), 1)
    return p * of_x[:, -1:] - of_x[:, :-1], q * of_y[:, -1:] - of_y[:, :-1], V


def differences(
    W: Tensor,
    square: Tensor,
    x: Tensor,
    y: Tensor,
    type: torch.dtype,
    subtract: Callable[[Tensor, Tensor], Tensor] = torch.sub,
) -> tuple[Tensor, Tensor]:
    """sum_j W_ij (x_i - y_j) and sum_i W_ij (y_j - x_i), for points of `type` in double, where square_ij is at most
    |x_i - y_j|^2. Products of matrices lose the digits that points closer than `part` of their distance from the mean have
    in common: those are subtracted."""
    part = _near_part(type)
    mean = x.detach().mean(0) if len(x) else torch.zeros_like(x[:1].sum(0))
    p, q = x - mean, y - mean
    near = square < part * part * ((p * p).sum(1).unsqueeze(1) + (q * q).sum(1))
    far = W.masked_fill(near, 0.0)
    of_x, of_y = p * far.sum(1).unsqueeze(1) - far @ q, q * far.sum(0).unsqueeze(1) - far.mT @ p
    pairs = near.nonzero()
    for some in pairs.split(max(1, (1 << 22) // max(1, x.shape[1]))) if len(pairs) else ():
        i, j = some.unbind(1)
        term = W[i, j].unsqueeze(1) * subtract(x[i], y[j])
        of_x, of_y = of_x.index_add(0, i, term), of_y.index_add(0, j, -term)
    return of_x, of_y


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
        c, G = ctx.c, grads[0]
        if torch.is_grad_enabled():
            d = applied(_Cdist, x, y, c)
        p, q = x.double(), y.double()
        p_gap, q_gap = gap(p, c), gap(q, c)
        found = fast_differences(d, G, c, p, q, x.dtype, (p_gap, q_gap))
        if found is None:
            W, square = _weights(d.double(), p_gap * q_gap.mT, c, G.double())
            of_x, of_y = differences(W, square, p, q, x.dtype)
            scaled = c * W * square
        else:
            of_x, of_y, scaled = found
        return (
            (of_x + p * scaled.sum(1, keepdim=True) / p_gap).to(x.dtype),
            (of_y + q * scaled.sum(0).unsqueeze(1) / q_gap).to(y.dtype),
            None,
        )


def _curvature(c: Any) -> Scalar:
    if has_gradient(c):
        return scalar_tensor(c, "c")
    value = float(c)
    if not value >= 0:
        raise InvalidArgument(f"c must be >= 0, it is minus the curvature (c={value})")
    return value


def default_margin(dtype: torch.dtype) -> float:
    """What projx() leaves between points and the boundary, as geoopt."""
    return 1e-5 if dtype == torch.float64 else 4e-3


def _two(x: Any, y: Any, x_name: str = "x", y_name: str = "y") -> None:
    check(x, x_name)
    check(y, y_name)
    if x.dtype != y.dtype:
        raise TypeError(f"{x_name} and {y_name} must be of one type ({x_name}: {x.dtype}, {y_name}: {y.dtype})")
    if x.shape == y.shape and x.dim() > 0:
        return
    if x.dim() < 1 or y.dim() < 1 or x.shape[-1] != y.shape[-1]:
        raise InvalidArgument(
            f"{x_name} and {y_name} must have the same last dimension "
            f"({x_name}: {tuple(x.shape)}, {y_name}: {tuple(y.shape)})"
        )


def _points(x: Any, name: str) -> None:
    check(x, name)
    if x.dim() < 1:
        raise InvalidArgument(f"{name} must have at least 1 dimension (shape={tuple(x.shape)})")


def _broadcast(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    if x.shape == y.shape:
        return x, y
    try:
        first, second = torch.broadcast_tensors(x, y)
    except RuntimeError as error:
        raise InvalidArgument(f"shapes must be broadcastable: {error}") from None
    return first, second


def dist(x: Tensor, y: Tensor, *, c: Scalar = 1.0) -> Tensor:
    """Distances ``d(x_i, y_i)`` of points ``[..., D]``, broadcast, in the ball of curvature -c: shape ``[...]``. Gradients
    after both, of every order; 0 where x = y. Points that are not inside have NaN. c has a gradient if it is a tensor
    that requires one.

    >>> import torch, quintet.torch as qt
    >>> round(qt.dist(torch.tensor([0.0, 0.0]), torch.tensor([0.5, 0.0])).item(), 4)
    1.0986
    """
    _two(x, y)
    c = _curvature(c)
    x, y = _broadcast(x, y)
    return apply("dist", c, x, y)


def cdist(x: Tensor, y: Tensor, *, c: Scalar = 1.0) -> Tensor:
    """All distances ``[Q, N]`` of ``x[Q, D]`` and ``y[N, D]`` in the ball of curvature -c, with gradients of every order.
    The gradient takes matrix products of size Q x N x D, no array of that size.

    >>> import torch, quintet.torch as qt
    >>> qt.cdist(torch.zeros(2, 3), torch.zeros(4, 3)).shape
    torch.Size([2, 4])
    """
    _two(x, y)
    c = _curvature(c)
    if x.dim() != 2 or y.dim() != 2:
        raise InvalidArgument(f"x and y must have 2 dimensions (x: {tuple(x.shape)}, y: {tuple(y.shape)})")
    if isinstance(c, Tensor):
        return in_unit_ball(lambda x, y: cdist(x, y, c=1.0), c, x, y)
    if is_plain(x, y):
        return _all_distances(x, y, c)
    out: Tensor = applied(_Cdist, x, y, c)
    return out


@with_dims(
    *("dist", "dist2", "dist0", "mobius_add", "mobius_sub", "mobius_coadd", "mobius_cosub", "mobius_scalar_mul"),
    *("mobius_pointwise_mul", "antipode", "expmap", "expmap0", "logmap", "logmap0", "retr", "geodesic", "geodesic_unit"),
    *("transp", "transp0", "transp0back", "lambda_x", "inner", "norm", "gyration", "egrad2rgrad", "proju", "projx"),
    *("dist2plane", "retr_transp", "expmap_transp", "transp_follow_retr", "transp_follow_expmap", "sproj", "inv_sproj"),
)
class PoincareBall(GyrovectorNames):
    """The ball ``{x : c |x|^2 < 1}`` of curvature ``-c``, with the names of geoopt.PoincareBall; its optimisers take it.
    Points and vectors are ``[..., D]``, or have their coordinates in the dimension `dim`; other shapes are broadcast, and
    every function has gradients. 16-bit points give float32.

    c >= 0 is minus the curvature. With learnable it is the softplus of a parameter, ``curvature.isp``; a tensor that
    requires a gradient has it. Points are then multiplied by sqrt(c) in double. The attribute `c` is the number, or a
    tensor in double with the gradient.

    Nothing is projected behind your back: ``projx`` pulls points into the ball, and a point that is not inside has NaN;
    ``project=True``, geoopt's default, applies it to a result.

    >>> import torch, quintet.torch as qt
    >>> ball = qt.PoincareBall()
    >>> x, v = torch.tensor([0.1, 0.2]), torch.tensor([0.3, -0.1])
    >>> torch.allclose(ball.logmap(x, ball.expmap(x, v)), v, atol=1e-6)
    True
    """

    name = "Poincare ball"

    def __init__(self, c: Scalar = 1.0, learnable: bool = False) -> None:
        super().__init__()
        _curvature(c)
        self._keep_curvature("c", c, learnable)

    def __repr__(self) -> str:
        return f"PoincareBall(c={float(self.c)})"

    @property
    def k(self) -> Scalar:
        """The curvature, -c."""
        return -self.c

    def dist(self, x: Tensor, y: Tensor, *, keepdim: bool = False) -> Tensor:
        """Distance ``[...]``; see :func:`dist`."""
        _two(x, y)
        d = apply("dist", self.c, *_broadcast(x, y))
        return d.unsqueeze(-1) if keepdim else d

    def dist2(self, x: Tensor, y: Tensor, *, keepdim: bool = False) -> Tensor:
        """Squared distance; its derivatives are those of a smooth function also where x = y."""
        _two(x, y)
        d2 = apply("dist2", self.c, *_broadcast(x, y))
        return d2.unsqueeze(-1) if keepdim else d2

    def cdist(self, x: Tensor, y: Tensor) -> Tensor:
        """All distances; see :func:`cdist`."""
        return cdist(x, y, c=self.c)

    def dist0(self, x: Tensor, *, keepdim: bool = False) -> Tensor:
        """Distance from the origin."""
        return self.dist(x, torch.zeros_like(x), keepdim=keepdim)

    def mobius_add(self, x: Tensor, y: Tensor, *, project: bool = False) -> Tensor:
        """``x (+) y``."""
        _two(x, y)
        return self._projected(apply("add", self.c, *_broadcast(x, y)), project)

    def mobius_sub(self, x: Tensor, y: Tensor, *, project: bool = False) -> Tensor:
        """``x (+) (-y)``."""
        return self.mobius_add(x, -y, project=project)

    def mobius_scalar_mul(self, r: Tensor | float, x: Tensor, *, project: bool = False) -> Tensor:
        """``r (x) x``; r is a number or ``[...]``."""
        _points(x, "x")
        factor = torch.as_tensor(r, dtype=REAL[x.dtype])
        if factor.dim() == x.dim() and factor.dim() > 0 and factor.shape[-1] == 1:  # geoopt's form
            factor = factor.squeeze(-1)
        return self._projected(apply("scale", self.c, factor.expand(x.shape[:-1]), x), project)

    def expmap(self, x: Tensor, u: Tensor, *, project: bool = False) -> Tensor:
        """``exp_x(u)``."""
        _two(x, u, "x", "u")
        return self._projected(apply("exp", self.c, *_broadcast(x, u)), project)

    def expmap0(self, u: Tensor, *, project: bool = False) -> Tensor:
        """``exp_0(u)``."""
        _points(u, "u")
        return self._projected(apply("exp0", self.c, u), project)

    def logmap(self, x: Tensor, y: Tensor) -> Tensor:
        """``log_x(y)``."""
        _two(x, y)
        return apply("log", self.c, *_broadcast(x, y))

    def logmap0(self, y: Tensor) -> Tensor:
        """``log_0(y)``."""
        _points(y, "y")
        return apply("log0", self.c, y)

    def retr(self, x: Tensor, u: Tensor) -> Tensor:
        """``projx(x + u)``, a retraction: the first order of :meth:`expmap`."""
        return self.projx(x + u)

    def geodesic(self, t: Tensor | float, x: Tensor, y: Tensor) -> Tensor:
        """The point at t of the geodesic from x (0) to y (1); t is a number or ``[...]``."""
        _two(x, y)
        x, y = _broadcast(x, y)
        at = torch.as_tensor(t, dtype=REAL[x.dtype])
        if at.dim() == x.dim() and at.dim() > 0 and at.shape[-1] == 1:
            at = at.squeeze(-1)
        return apply("geodesic", self.c, at.expand(x.shape[:-1]), x, y)

    def transp(self, x: Tensor, y: Tensor, v: Tensor) -> Tensor:
        """The tangent vector v at x, moved along the geodesic to y."""
        _two(x, y)
        _two(x, v, "x", "v")
        return apply("transport", self.c, *torch.broadcast_tensors(x, y, v))

    def transp0(self, y: Tensor, v: Tensor) -> Tensor:
        """The tangent vector v at the origin, moved to y: ``v 2 / lambda_y``."""
        return in_double(lambda y, v: v * gap(y, self.c), y, v)

    def lambda_x(self, x: Tensor, *, keepdim: bool = False) -> Tensor:
        """``2 / (1 - c |x|^2)``."""
        lam = in_double(lambda x: 2 / gap(x, self.c), x)
        return lam if keepdim else lam.squeeze(-1)

    def inner(self, x: Tensor, u: Tensor, v: Tensor | None = None, *, keepdim: bool = False) -> Tensor:
        """``lambda_x^2 <u, v>``."""
        value = in_double(lambda x, u, v: 4 * dot(u, v) / gap(x, self.c).square(), x, u, u if v is None else v)
        return value if keepdim else value.squeeze(-1)

    def norm(self, x: Tensor, u: Tensor, *, keepdim: bool = False) -> Tensor:
        """``lambda_x |u|``."""
        value = in_double(lambda x, u: 2 * norm(u) / gap(x, self.c), x, u)
        return value if keepdim else value.squeeze(-1)

    def gyration(self, a: Tensor, b: Tensor, u: Tensor) -> Tensor:
        """``gyr[a, b] u``."""
        return in_double(lambda a, b, u: gyration(-b, a, u, self.c), a, b, u)

    def egrad2rgrad(self, x: Tensor, u: Tensor) -> Tensor:
        """The Riemannian gradient ``u / lambda_x^2`` of a Euclidean one."""
        return in_double(lambda x, u: u * gap(x, self.c).square() / 4, x, u)

    def proju(self, x: Tensor, u: Tensor) -> Tensor:
        """Every vector is tangent: u."""
        return u.expand(torch.broadcast_shapes(x.shape, u.shape))

    def projx(self, x: Tensor, *, eps: float | None = None) -> Tensor:
        """Points with ``sqrt(c) |x| > 1 - eps`` are pulled to ``1 - eps``; eps None: 4e-3 for float32, 1e-5 for float64,
        as geoopt. Points of any size have their direction; NaN and infinity are NaN. The type is that of x."""
        check(x, "x")
        if self.c == 0:
            return x
        margin = eps if eps is not None else default_margin(x.dtype)
        limit = (1 - margin) / root_of(self.c)
        wide = x.double()
        n = norm(wide)
        return torch.where(n <= limit, x, (wide / torch.where(n == 0, 1.0, n) * limit).to(x.dtype))

    def _check_point_on_manifold(self, x: Tensor, *, atol: float = 1e-5, rtol: float = 1e-5) -> tuple[bool, str | None]:
        ok = bool((gap(x, self.c) > 0).all())
        return ok, None if ok else f"points with |x| >= {float(self.radius)}"

    def origin(
        self, *size: int, dtype: torch.dtype | None = None, device: Any = None, seed: int | None = None
    ) -> Tensor:
        """The origin."""
        return torch.zeros(_shape(size), dtype=dtype, device=device)
