"""The Poincaré ball with gradients: forward by the library's kernels, derivatives by formulas in torch that take their
distances from the kernels again, so that they are as accurate near the boundary and have derivatives of every order.

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
from typing import Any, Callable

import torch
from torch import Tensor

from .. import _core
from .._errors import InvalidArgument
from ._gyrovectors import GyrovectorNames, _shape
from ._svd import is_plain
from ._tensors import CODES, REAL, applied, check, plain, points, push_forward, rows

__all__ = ["PoincareBall", "cdist", "dist"]


def _ready(t: Tensor) -> Tensor:
    return points(t)[1]


def _vector(t: Tensor) -> Any:
    return (t.data_ptr(), CODES[t.dtype], (t.numel(),), (1,), -1)


def _pair_distances(x: Tensor, y: Tensor, c: float) -> Tensor:
    first, kept = points(x)
    second, also_kept = points(y)  # until they are read
    lead, real = x.shape[:-1], REAL[x.dtype]
    out = x.new_empty(lead) if real is x.dtype else x.new_empty(lead, dtype=real)
    _core.poincare_pair_distances(first, second, (out.data_ptr(), CODES[real], (first[2][0],), (1,), -1), 0, -c)
    return out


def _all_distances(x: Tensor, y: Tensor, c: float) -> Tensor:
    first, kept = points(x)
    second, also_kept = points(y)
    out = torch.empty((x.shape[0], y.shape[0]), dtype=REAL[x.dtype])
    _core.poincare_distances(first, second, rows(out), 0, -c)
    return out


def _weights(d: Tensor, ax: Tensor, ay: Tensor, c: float, G: Tensor) -> tuple[Tensor, Tensor]:
    """W = G 2 / (|x - y| sqrt(a_x a_y (1 + t))) and |x - y|^2, of distances; W is 0 where x = y."""
    if c == 0:
        square = d * d / 4
        apart = d > 0
        return torch.where(apart, 4 * G / torch.where(apart, d, 1.0), 0.0), square
    half = math.sqrt(c) * d / 2
    sinh, cosh = torch.sinh(half), torch.cosh(half)
    t = sinh * sinh
    area = ax * ay
    apart = d > 0
    # |x - y| = sinh sqrt(area / c); sqrt(area (1 + t)) = sqrt(area) cosh
    safe = torch.where(apart, sinh * cosh * area, 1.0)
    return torch.where(apart, 2 * math.sqrt(c) * G / safe, 0.0), t * area / c


class _Dist(torch.autograd.Function):
    @staticmethod
    def forward(x: Tensor, y: Tensor, c: float) -> Tensor:
        return _pair_distances(x, y, c)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0], inputs[1], output)
        ctx.c = inputs[2]

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        x, y, d = ctx.saved_tensors
        c, G = ctx.c, grads[0]
        if torch.is_grad_enabled():
            d = applied(_Dist, x, y, c)
        real = d.dtype
        p, q, difference = x.to(real), y.to(real), x.to(real) - y.to(real)
        ax, ay = 1 - c * (p * p).sum(-1), 1 - c * (q * q).sum(-1)
        W, square = _weights(d, ax, ay, c, G)
        W, s = W.unsqueeze(-1), c * square.unsqueeze(-1)
        gx = gy = None
        if ctx.needs_input_grad[0]:
            gx = (W * (difference + s * p / ax.unsqueeze(-1))).to(x.dtype)
        if ctx.needs_input_grad[1]:
            gy = (W * (s * q / ay.unsqueeze(-1) - difference)).to(y.dtype)
        return gx, gy, None

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Tensor, y: Tensor, c: float) -> Any:
        front = [t.expand(info.batch_size, *t.shape) if d is None else t.movedim(d, 0) for t, d in zip((x, y), in_dims)]
        return applied(_Dist, *front, c), 0


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
        # Sums of W (x - y) lose digits where points are close: in double there are enough.
        p, q, wide = x.double(), y.double(), d.double()
        ax, ay = 1 - c * (p * p).sum(-1), 1 - c * (q * q).sum(-1)
        W, square = _weights(wide, ax.unsqueeze(1), ay.unsqueeze(0), c, G.double())
        scaled = c * W * square
        gx = gy = None
        if ctx.needs_input_grad[0]:
            gx = p * (W.sum(1) + scaled.sum(1) / ax).unsqueeze(-1) - W @ q
            gx = gx.to(x.dtype)
        if ctx.needs_input_grad[1]:
            gy = q * (W.sum(0) + scaled.sum(0) / ay).unsqueeze(-1) - W.mT @ p
            gy = gy.to(y.dtype)
        return gx, gy, None


def _curvature(c: float) -> float:
    value = float(c)
    if not value >= 0:
        raise InvalidArgument(f"c must be >= 0, it is minus the curvature (c={value})")
    return value


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


def dist(x: Tensor, y: Tensor, *, c: float = 1.0) -> Tensor:
    """Distances ``d(x_i, y_i)`` of points ``[..., D]``, broadcast, in the ball of curvature -c: shape ``[...]``. Gradients
    after both, of every order; 0 where x = y. Points that are not inside have NaN.

    >>> import torch, quintet.torch as qt
    >>> round(qt.dist(torch.tensor([0.0, 0.0]), torch.tensor([0.5, 0.0])).item(), 4)
    1.0986
    """
    _two(x, y)
    c = _curvature(c)
    x, y = _broadcast(x, y)
    if is_plain(x, y):
        return _pair_distances(x, y, c)
    out: Tensor = applied(_Dist, x, y, c)
    return out


def cdist(x: Tensor, y: Tensor, *, c: float = 1.0) -> Tensor:
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
    if is_plain(x, y):
        return _all_distances(x, y, c)
    out: Tensor = applied(_Cdist, x, y, c)
    return out


# --- Operations: kernels forward, torch's own derivatives of the formulas backward ------------------------------------


def _tanh_part(n: Tensor) -> Tensor:
    """tanh(n) / n, 1 at 0."""
    small = n < 1e-4
    return torch.where(small, 1 - n * n / 3, torch.tanh(n) / torch.where(small, 1.0, n))


def _artanh_part(n: Tensor) -> Tensor:
    """artanh(n) / n, 1 at 0."""
    small = n < 1e-4
    safe = torch.where(small, 0.5, n)
    return torch.where(small, 1 + n * n / 3, torch.atanh(safe) / safe)


def _norm(x: Tensor) -> Tensor:
    """|x|, with derivative 0 at 0."""
    square = (x * x).sum(-1, keepdim=True)
    positive = square > 0
    return torch.where(positive, torch.where(positive, square, 1.0).sqrt(), 0.0)


def _add(x: Tensor, y: Tensor, c: float) -> Tensor:
    xy, xx, yy = ((a * b).sum(-1, keepdim=True) for a, b in ((x, y), (x, x), (y, y)))
    return ((1 + 2 * c * xy + c * yy) * x + (1 - c * xx) * y) / (1 + 2 * c * xy + c * c * xx * yy)


def _lam(x: Tensor, c: float) -> Tensor:
    return 2 / (1 - c * (x * x).sum(-1, keepdim=True))


def _exp0(v: Tensor, c: float) -> Tensor:
    return _tanh_part(math.sqrt(c) * _norm(v)) * v


def _log0(y: Tensor, c: float) -> Tensor:
    return _artanh_part(math.sqrt(c) * _norm(y)) * y


def _exp(x: Tensor, v: Tensor, c: float) -> Tensor:
    lam = _lam(x, c)
    return _add(x, _tanh_part(math.sqrt(c) * lam * _norm(v) / 2) * lam / 2 * v, c)


def _log(x: Tensor, y: Tensor, c: float) -> Tensor:
    w = _add(-x, y, c)
    return 2 / _lam(x, c) * _artanh_part(math.sqrt(c) * _norm(w)) * w


def _scale(r: Tensor, x: Tensor, c: float) -> Tensor:
    n = math.sqrt(c) * _norm(x)
    artanh = _artanh_part(n)
    return _tanh_part((r.unsqueeze(-1) * artanh * n).abs()) * r.unsqueeze(-1) * artanh * x


def _gyration(u: Tensor, v: Tensor, w: Tensor, c: float) -> Tensor:
    return _add(-_add(u, v, c), _add(u, _add(v, w, c), c), c)


def _transport(x: Tensor, y: Tensor, v: Tensor, c: float) -> Tensor:
    """gyr[y, -x] v lambda_x / lambda_y; gyr by its closed form, which is linear in v."""
    u, w = y, -x
    uu, ww, uw = ((a * b).sum(-1, keepdim=True) for a, b in ((u, u), (w, w), (u, w)))
    uv, wv = (u * v).sum(-1, keepdim=True), (w * v).sum(-1, keepdim=True)
    a = -c * c * uv * ww + c * wv + 2 * c * c * uw * wv
    b = -c * c * wv * uu - c * uv
    d = 1 + 2 * c * uw + c * c * uu * ww
    return (v + 2 * (a * u + b * w) / d) * _lam(x, c) / _lam(y, c)


def _geodesic(t: Tensor, x: Tensor, y: Tensor, c: float) -> Tensor:
    return _add(x, _scale(t, _add(-x, y, c), c), c)


class _Operation(torch.autograd.Function):
    """`kernel(out, c, *tensors)` forward; the derivatives are those of `formula(*tensors, c)`."""

    @staticmethod
    def forward(kernel: Callable[..., Any], formula: Callable[..., Tensor], c: float, *tensors: Tensor) -> Tensor:
        return kernel(c, *tensors)  # type: ignore[no-any-return]

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.formula, ctx.c = inputs[1], inputs[2]
        ctx.save_for_backward(*inputs[3:])
        ctx.save_for_forward(*inputs[3:])

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        saved = ctx.saved_tensors
        real = REAL[saved[-1].dtype]
        _, pull = torch.func.vjp(lambda *t: ctx.formula(*(x.to(real) for x in t), ctx.c), *saved)
        return (None, None, None, *pull(grads[0].to(real)))

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        saved = ctx.saved_tensors
        real = REAL[saved[-1].dtype]
        changes = tuple(torch.zeros_like(s) if t is None else t for s, t in zip(saved, tangents[3:]))
        return push_forward(lambda *t: ctx.formula(*(x.to(real) for x in t), ctx.c), saved, changes)

    @staticmethod
    def vmap(info: Any, in_dims: Any, kernel: Any, formula: Any, c: float, *tensors: Tensor) -> Any:
        front = [
            t.expand(info.batch_size, *t.shape) if d is None else t.movedim(d, 0)
            for t, d in zip(tensors, in_dims[3:])
        ]
        return applied(_Operation, kernel, formula, c, *front), 0


def _rows_kernel(function: Any, scalar_first: bool = False, columns: int | None = None) -> Callable[..., Tensor]:
    """A kernel of the bindings on points [..., D]: f(x, y, ..., out)."""

    def call(c: float, *tensors: Tensor) -> Tensor:
        shape, dtype = tensors[-1].shape, REAL[tensors[-1].dtype]
        kept = [_ready(t) for t in tensors]
        out = torch.empty(shape, dtype=dtype)
        flat = (out.data_ptr(), CODES[dtype], tuple(kept[-1].shape), (kept[-1].shape[1], 1), -1)
        function(*(rows(t) for t in kept), flat, -c)
        return out

    return call


def _scalar_kernel(function: Any) -> Callable[..., Tensor]:
    """f(value, x, out)."""

    def call(c: float, r: Tensor, x: Tensor) -> Tensor:
        dtype = REAL[x.dtype]
        kept, factor = _ready(x), plain(r).to(dtype).contiguous()
        out = torch.empty(x.shape, dtype=dtype)
        flat = (out.data_ptr(), CODES[dtype], tuple(kept.shape), (kept.shape[1], 1), -1)
        function(_vector(factor), rows(kept), flat, -c)
        return out

    return call


def _geodesic_kernel(c: float, t: Tensor, x: Tensor, y: Tensor) -> Tensor:
    dtype = REAL[x.dtype]
    first, second, at = _ready(x), _ready(y), plain(t).to(dtype).contiguous()
    out = torch.empty(x.shape, dtype=dtype)
    flat = (out.data_ptr(), CODES[dtype], tuple(first.shape), (first.shape[1], 1), -1)
    _core.poincare_geodesic(rows(first), rows(second), _vector(at), flat, -c)
    return out


_KERNELS = {
    "add": _rows_kernel(_core.poincare_mobius_add),
    "exp": _rows_kernel(_core.poincare_exp_map),
    "log": _rows_kernel(_core.poincare_log_map),
    "exp0": _rows_kernel(_core.poincare_exp_map_origin),
    "log0": _rows_kernel(_core.poincare_log_map_origin),
    "transport": _rows_kernel(_core.poincare_parallel_transport),
    "scale": _scalar_kernel(_core.poincare_mobius_scalar_mul),
    "geodesic": _geodesic_kernel,
}


def _apply(name: str, formula: Callable[..., Tensor], c: float, *tensors: Tensor) -> Tensor:
    if is_plain(*tensors):
        return _KERNELS[name](c, *tensors)
    out: Tensor = applied(_Operation, _KERNELS[name], formula, c, *tensors)
    return out


class PoincareBall(GyrovectorNames):
    """The ball ``{x : c |x|^2 < 1}`` of curvature ``-c``, with the names of geoopt.PoincareBall, whose optimisers take it.
    Points and vectors are ``[..., D]``, leading shapes are broadcast, and every function has gradients. 16-bit points
    give float32.

    Nothing is projected behind your back: ``projx`` pulls points into the ball, and a point that is not inside has NaN;
    ``project=True``, geoopt's default, applies it to a result.

    >>> import torch, quintet.torch as qt
    >>> ball = qt.PoincareBall()
    >>> x, v = torch.tensor([0.1, 0.2]), torch.tensor([0.3, -0.1])
    >>> torch.allclose(ball.logmap(x, ball.expmap(x, v)), v, atol=1e-6)
    True
    """

    name = "Poincare ball"
    ndim = 1
    reversible = False

    def __init__(self, c: float = 1.0) -> None:
        self.c = _curvature(c)

    def __repr__(self) -> str:
        return f"PoincareBall(c={self.c})"

    @property
    def k(self) -> float:
        """The curvature, -c."""
        return -self.c

    def dist(self, x: Tensor, y: Tensor, *, keepdim: bool = False) -> Tensor:
        """Distance ``[...]``; see :func:`dist`."""
        d = dist(x, y, c=self.c)
        return d.unsqueeze(-1) if keepdim else d

    def dist2(self, x: Tensor, y: Tensor, *, keepdim: bool = False) -> Tensor:
        """Squared distance."""
        return self.dist(x, y, keepdim=keepdim).square()

    def cdist(self, x: Tensor, y: Tensor) -> Tensor:
        """All distances; see :func:`cdist`."""
        return cdist(x, y, c=self.c)

    def dist0(self, x: Tensor, *, keepdim: bool = False) -> Tensor:
        """Distance from the origin."""
        return self.dist(x, torch.zeros_like(x), keepdim=keepdim)

    def mobius_add(self, x: Tensor, y: Tensor, *, project: bool = False) -> Tensor:
        """``x (+) y``."""
        _two(x, y)
        return self._projected(_apply("add", _add, self.c, *_broadcast(x, y)), project)

    def mobius_sub(self, x: Tensor, y: Tensor, *, project: bool = False) -> Tensor:
        """``x (+) (-y)``."""
        return self.mobius_add(x, -y, project=project)

    def mobius_scalar_mul(self, r: Tensor | float, x: Tensor, *, project: bool = False) -> Tensor:
        """``r (x) x``; r is a number or ``[...]``."""
        _points(x, "x")
        factor = torch.as_tensor(r, dtype=REAL[x.dtype])
        if factor.dim() == x.dim() and factor.dim() > 0 and factor.shape[-1] == 1:  # geoopt's form
            factor = factor.squeeze(-1)
        return self._projected(_apply("scale", _scale, self.c, factor.expand(x.shape[:-1]), x), project)

    def expmap(self, x: Tensor, u: Tensor, *, project: bool = False) -> Tensor:
        """``exp_x(u)``."""
        _two(x, u, "x", "u")
        return self._projected(_apply("exp", _exp, self.c, *_broadcast(x, u)), project)

    def expmap0(self, u: Tensor, *, project: bool = False) -> Tensor:
        """``exp_0(u)``."""
        _points(u, "u")
        return self._projected(_apply("exp0", _exp0, self.c, u), project)

    def logmap(self, x: Tensor, y: Tensor) -> Tensor:
        """``log_x(y)``."""
        _two(x, y)
        return _apply("log", _log, self.c, *_broadcast(x, y))

    def logmap0(self, y: Tensor) -> Tensor:
        """``log_0(y)``."""
        _points(y, "y")
        return _apply("log0", _log0, self.c, y)

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
        return _apply("geodesic", _geodesic, self.c, at.expand(x.shape[:-1]), x, y)

    def transp(self, x: Tensor, y: Tensor, v: Tensor) -> Tensor:
        """The tangent vector v at x, moved along the geodesic to y."""
        _two(x, y)
        _two(x, v, "x", "v")
        return _apply("transport", _transport, self.c, *torch.broadcast_tensors(x, y, v))

    def transp0(self, y: Tensor, v: Tensor) -> Tensor:
        """The tangent vector v at the origin, moved to y: ``v 2 / lambda_y``."""
        return v * (1 - self.c * (y * y).sum(-1, keepdim=True))

    def lambda_x(self, x: Tensor, *, keepdim: bool = False) -> Tensor:
        """``2 / (1 - c |x|^2)``."""
        lam = _lam(x, self.c)
        return lam if keepdim else lam.squeeze(-1)

    def inner(self, x: Tensor, u: Tensor, v: Tensor | None = None, *, keepdim: bool = False) -> Tensor:
        """``lambda_x^2 <u, v>``."""
        value = _lam(x, self.c).square() * (u * (u if v is None else v)).sum(-1, keepdim=True)
        return value if keepdim else value.squeeze(-1)

    def norm(self, x: Tensor, u: Tensor, *, keepdim: bool = False) -> Tensor:
        """``lambda_x |u|``."""
        value = _lam(x, self.c) * _norm(u)
        return value if keepdim else value.squeeze(-1)

    def gyration(self, a: Tensor, b: Tensor, u: Tensor) -> Tensor:
        """``gyr[a, b] u``."""
        return _gyration(a, b, u, self.c)

    def egrad2rgrad(self, x: Tensor, u: Tensor) -> Tensor:
        """The Riemannian gradient ``u / lambda_x^2`` of a Euclidean one."""
        return u / _lam(x, self.c).square()

    def proju(self, x: Tensor, u: Tensor) -> Tensor:
        """Every vector is tangent: u."""
        return u.expand(torch.broadcast_shapes(x.shape, u.shape))

    def projx(self, x: Tensor, *, eps: float | None = None) -> Tensor:
        """Points with ``sqrt(c) |x| > 1 - eps`` are pulled to ``1 - eps``; eps None: 4e-3 for float32, 1e-5 for float64,
        as geoopt."""
        if self.c == 0:
            return x
        margin = eps if eps is not None else (1e-5 if x.dtype == torch.float64 else 4e-3)
        limit = (1 - margin) / math.sqrt(self.c)
        n = _norm(x)
        return torch.where(n > limit, x / torch.where(n > 0, n, 1.0) * limit, x)

    def check_point_on_manifold(
        self, x: Tensor, *, explain: bool = False, atol: float = 1e-5, rtol: float = 1e-5
    ) -> Any:
        """Whether all points are inside. explain: with the reason, or None; atol and rtol, geoopt's, have no effect."""
        ok = bool(((x * x).sum(-1) * self.c < 1).all())
        return (ok, None if ok else f"points with |x| >= {self.radius}") if explain else ok

    def origin(self, *size: int, dtype: torch.dtype | None = None) -> Tensor:
        """The origin."""
        return torch.zeros(_shape(size), dtype=dtype)
