"""Operations of the Poincaré ball: kernels forward, derivatives of the formulas backward. A formula is that of the kernel
(src/poincare/row_math.hpp): 1 - c |x|^2 comes from a kernel, whatever cancels is rewritten, and all of it is in double.

Formulas take and give ``[..., D]``; `gap`, sums and scalars are ``[..., 1]``. Functions of a norm are series of its square
near 0, so that derivatives of every order exist there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import torch
from torch import Tensor

from .. import _core
from ._svd import is_plain
from ._tensors import CODES, REAL, applied, check, plain, points, push_forward, rows

Formula = Callable[..., Tensor]
#: A curvature: a number, or a tensor in double with a gradient
Scalar: TypeAlias = float | Tensor

# Of tanh(z) / z, artanh(z) / z and asinh(z) / z in z^2.
_TANH = (1, -1 / 3, 2 / 15, -17 / 315, 62 / 2835, -1382 / 155925, 21844 / 6081075, -929569 / 638512875)
_ARTANH = tuple(1 / (2 * k + 1) for k in range(8))
_ASINH = (1, -1 / 6, 3 / 40, -15 / 336, 105 / 3456, -945 / 42240, 10395 / 599040, -135135 / 9676800)
_SECH_SQUARED = tuple((2 * k + 1) * a for k, a in enumerate(_TANH))


def from_series(square: Tensor, coefficients: tuple[float, ...], elsewhere: Formula) -> Tensor:
    """The series where square < 0.01, elsewhere(square, root) otherwise."""
    is_small = square < 0.01
    small, large = torch.where(is_small, square, 0.0), torch.where(is_small, 1.0, square)
    total = torch.full_like(small, coefficients[-1])
    for a in reversed(coefficients[:-1]):
        total = total * small + a
    return torch.where(is_small, total, elsewhere(large, large.sqrt()))


def tanh_ratio(square: Tensor) -> Tensor:
    return from_series(square, _TANH, lambda _, z: torch.tanh(z) / z)


def sech_squared(square: Tensor) -> Tensor:
    def elsewhere(_: Tensor, z: Tensor) -> Tensor:
        e = torch.exp(-2 * z)  # 1 / cosh^2 overflows
        return 4 * e / (1 + e).square()

    return from_series(square, _SECH_SQUARED, elsewhere)


def artanh_ratio(square: Tensor, gap: Tensor) -> Tensor:
    return from_series(square, _ARTANH, lambda _, z: torch.log1p(2 * z * (1 + z) / gap) / (2 * z))


def asinh_ratio(square: Tensor) -> Tensor:
    return from_series(square, _ASINH, lambda t, z: torch.log1p(2 * (t + z * (1 + t).sqrt())) / (2 * z))


def dot(x: Tensor, y: Tensor) -> Tensor:
    return (x * y).sum(-1, keepdim=True)


def norm(x: Tensor) -> Tensor:
    """|x|, also where its square is out of range, with derivative 0 at 0."""
    largest = x.detach().abs().amax(-1, keepdim=True)
    unit = torch.where(largest > 0, largest, 1.0)
    square = (x / unit).square().sum(-1, keepdim=True)
    return torch.where(largest > 0, torch.where(largest > 0, square, 1.0).sqrt() * unit, largest)


# --- Kernels -----------------------------------------------------------------------------------------------------------


def _vector(t: Tensor) -> Any:
    return (t.data_ptr(), CODES[t.dtype], (t.numel(),), (1,), -1)


def _rows_kernel(function: Any, more_columns: int = 0) -> Formula:
    """A kernel of the bindings on points [..., D]: f(x, y, ..., out)."""

    def call(c: float, *tensors: Tensor) -> Tensor:
        *lead, dim = tensors[-1].shape
        kept = [points(t)[1] for t in tensors]
        out = torch.empty((*lead, dim + more_columns), dtype=REAL[tensors[-1].dtype])
        function(*(rows(t) for t in kept), rows(out.view(-1, dim + more_columns)), -c)
        return out

    return call


def _scalar_kernel(function: Any) -> Formula:
    """f(value, x, out)."""

    def call(c: float, r: Tensor, x: Tensor) -> Tensor:
        dtype = REAL[x.dtype]
        kept, factor = points(x)[1], plain(r).to(dtype).contiguous()
        out = torch.empty(x.shape, dtype=dtype)
        function(_vector(factor), rows(kept), rows(out.view(-1, x.shape[-1])), -c)
        return out

    return call


def _geodesic_kernel(c: float, t: Tensor, x: Tensor, y: Tensor) -> Tensor:
    dtype = REAL[x.dtype]
    first, second, at = points(x)[1], points(y)[1], plain(t).to(dtype).contiguous()
    out = torch.empty(x.shape, dtype=dtype)
    _core.poincare_geodesic(rows(first), rows(second), _vector(at), rows(out.view(-1, x.shape[-1])), -c)
    return out


def _gap_kernel(c: float, x: Tensor) -> Tensor:
    kept = points(x)[1]  # a copy of some layouts, which has to be there until it is read
    factor = torch.empty(x.shape[:-1], dtype=REAL[x.dtype])
    _core.poincare_conformal_factor(rows(kept), _vector(factor), -c)
    return 2 / factor


def pair_distances(c: float, x: Tensor, y: Tensor) -> Tensor:
    first, _x_owner = points(x)
    second, _y_owner = points(y)  # until they are read
    lead, real = x.shape[:-1], REAL[x.dtype]
    out = x.new_empty(lead) if real is x.dtype else x.new_empty(lead, dtype=real)
    _core.poincare_pair_distances(first, second, (out.data_ptr(), CODES[real], (first[2][0],), (1,), -1), 0, -c)
    return out


def _distance_gradients(c: float, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    first, second = points(x)[1], points(y)[1]
    of_x, of_y = (torch.empty(x.shape, dtype=REAL[x.dtype]) for _ in range(2))
    to_x, to_y = (rows(t.view(-1, x.shape[-1])) for t in (of_x, of_y))
    _core.poincare_distance_gradients(rows(first), rows(second), to_x, to_y, -c)
    return of_x, of_y


# --- Formulas ----------------------------------------------------------------------------------------------------------


class _Gap(torch.autograd.Function):
    @staticmethod
    def forward(x: Tensor, c: float) -> Tensor:
        return _gap_kernel(c, x)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0])
        ctx.save_for_forward(inputs[0])
        ctx.c = inputs[1]

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return -2 * ctx.c * grads[0].unsqueeze(-1) * ctx.saved_tensors[0], None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return -2 * ctx.c * (tangents[0] * ctx.saved_tensors[0]).sum(-1)

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Tensor, c: float) -> Any:
        return applied(_Gap, x.movedim(in_dims[0], 0), c), 0


def gap(x: Tensor, c: Scalar) -> Tensor:
    """``1 - c |x|^2`` to all digits, NaN for points that are not inside."""
    if isinstance(c, Tensor):
        return gap(x.double() * c.sqrt(), 1.0)
    value: Tensor = _gap_kernel(c, x) if is_plain(x) else applied(_Gap, x, c)
    return value.unsqueeze(-1)


def _sum(x: Tensor, x_gap: Tensor, y: Tensor, y_gap: Tensor, c: Scalar) -> Tensor:
    square = c * dot(x + y, x + y)
    return (x_gap * (x + y) + square * x) / (x_gap * y_gap + square)


def frame(x: Tensor, x_gap: Tensor, y: Tensor, y_gap: Tensor, c: Scalar) -> tuple[Tensor, Tensor]:
    """The direction of (-x) (+) y and t = c |y - x|^2 / (a_x a_y)."""
    difference = y - x
    square = c * dot(difference, difference)
    return x_gap * difference - square * x, square / (x_gap * y_gap)


def _add(x: Tensor, y: Tensor, c: Scalar) -> Tensor:
    return _sum(x, gap(x, c), y, gap(y, c), c)


def _exp0(v: Tensor, c: float) -> Tensor:
    return tanh_ratio(c * dot(v, v)) * v


def _log0(y: Tensor, c: float) -> Tensor:
    return artanh_ratio(c * dot(y, y), gap(y, c)) * y


def _exp(x: Tensor, v: Tensor, c: float) -> Tensor:
    x_gap = gap(x, c)
    square = c * dot(v, v) / x_gap.square()
    return _sum(x, x_gap, tanh_ratio(square) / x_gap * v, sech_squared(square), c)


def _log(x: Tensor, y: Tensor, c: float) -> Tensor:
    y_gap = gap(y, c)
    direction, t = frame(x, gap(x, c), y, y_gap, c)
    return direction * (asinh_ratio(t) / (y_gap * (1 + t).sqrt()))


def _scale(r: Tensor, x: Tensor, c: float) -> Tensor:
    square = c * dot(x, x)
    factor = r.unsqueeze(-1) * artanh_ratio(square, gap(x, c))
    return tanh_ratio(factor.square() * square) * factor * x


def gyration(x: Tensor, y: Tensor, v: Tensor, c: Scalar) -> Tensor:
    """gyr[y, -x] v, as in parallel_transport_row."""
    x_gap, y_gap, e = gap(x, c), gap(y, c), y - x
    p, q, square = dot(x, v), dot(e, v), c * dot(e, e)
    scale = 2 * c / (x_gap * y_gap + square)
    return v + scale * ((x_gap * q - square * p) * x - ((1 - x_gap) * q + (y_gap + square) * p) * e)


def _transport(x: Tensor, y: Tensor, v: Tensor, c: float) -> Tensor:
    return gyration(x, y, v, c) * (gap(y, c) / gap(x, c))


def _geodesic(at: Tensor, x: Tensor, y: Tensor, c: float) -> Tensor:
    x_gap, y_gap, at = gap(x, c), gap(y, c), at.unsqueeze(-1)
    direction, t = frame(x, x_gap, y, y_gap, c)
    factor = at * asinh_ratio(t)
    length = factor.square() * t
    step = tanh_ratio(length) * factor / (x_gap * y_gap * (1 + t).sqrt()) * direction
    return _sum(x, x_gap, step, sech_squared(length), c)


def midpoint_in_frame(
    mean: Tensor, xs: Tensor, w: Tensor, along: Sequence[int], c: Scalar, least_gap: float = -math.inf
) -> Tensor:
    """The gyromidpoint over dimensions `along`, as in means_kernel.hpp. least_gap: of a midpoint on the rim of the frame."""
    mean_gap, x_gap = gap(mean, c), gap(xs, c)
    direction, t = frame(mean, mean_gap, xs, x_gap, c)
    z = (2 * w / (mean_gap * x_gap) * direction).sum(along, keepdim=True) / (w * (2 * t + 1)).sum(along, keepdim=True)
    root = (1 - c * dot(z, z)).clamp(min=least_gap).sqrt()
    return _sum(mean, mean_gap, z / (1 + root), 2 * root / (1 + root), c)


def _to_hyperboloid(x: Tensor, c: float) -> Tensor:
    x_gap = gap(x, c)
    return torch.cat(((2 - x_gap) / (x_gap * math.sqrt(c)), 2 * x / x_gap), -1)


def _from_hyperboloid(h: Tensor, c: float) -> Tensor:
    return h[..., 1:] / (1 + math.sqrt(c) * h[..., :1])


def _dist2(x: Tensor, y: Tensor, c: float) -> Tensor:
    """Smooth also where x = y."""
    area, difference = gap(x, c) * gap(y, c), y - x
    square = dot(difference, difference) / area
    return (4 * square * asinh_ratio(c * square).square()).squeeze(-1)


def _dist(x: Tensor, y: Tensor, c: float) -> Tensor:
    area, length = gap(x, c) * gap(y, c), norm(y - x)
    return (2 * length / area.sqrt() * asinh_ratio(c * length.square() / area)).squeeze(-1)


# --- Both --------------------------------------------------------------------------------------------------------------


class _Operation(torch.autograd.Function):
    """`kernel(c, *tensors)` forward; the derivatives are those of `formula(*tensors, c)` in double."""

    @staticmethod
    def forward(kernel: Formula, formula: Formula, c: float, *tensors: Tensor) -> Tensor:
        return kernel(c, *tensors)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.formula, ctx.c = inputs[1], inputs[2]
        ctx.save_for_backward(*inputs[3:])
        ctx.save_for_forward(*inputs[3:])

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        saved, G = ctx.saved_tensors, grads[0]
        if ctx.formula is _dist and is_plain(*saved, G):
            parts = _distance_gradients(ctx.c, *saved)
            return (None, None, None, *((G.unsqueeze(-1) * p).to(t.dtype) for p, t in zip(parts, saved)))
        # Not vjp(): its pull runs when the level of its tensors is gone, which gap()'s derivatives do not survive.
        loss = torch.func.grad(
            lambda *t: (ctx.formula(*(x.double() for x in t), ctx.c) * G.double()).sum(), tuple(range(len(saved)))
        )
        return (None, None, None, *loss(*saved))

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        saved = ctx.saved_tensors
        real = REAL[saved[-1].dtype]
        changes = tuple(torch.zeros_like(s) if t is None else t for s, t in zip(saved, tangents[3:]))
        return push_forward(lambda *t: ctx.formula(*(x.double() for x in t), ctx.c).to(real), saved, changes)

    @staticmethod
    def vmap(info: Any, in_dims: Any, kernel: Any, formula: Any, c: float, *tensors: Tensor) -> Any:
        front = [
            t.expand(info.batch_size, *t.shape) if d is None else t.movedim(d, 0)
            for t, d in zip(tensors, in_dims[3:])
        ]
        return applied(_Operation, kernel, formula, c, *front), 0


OPERATIONS: dict[str, tuple[Formula, Formula]] = {
    "add": (_rows_kernel(_core.poincare_mobius_add), _add),
    "dist": (pair_distances, _dist),
    "dist2": (lambda c, x, y: pair_distances(c, x, y).square(), _dist2),
    "exp": (_rows_kernel(_core.poincare_exp_map), _exp),
    "exp0": (_rows_kernel(_core.poincare_exp_map_origin), _exp0),
    "from_hyperboloid": (_rows_kernel(_core.poincare_from_hyperboloid, -1), _from_hyperboloid),
    "geodesic": (_geodesic_kernel, _geodesic),
    "log": (_rows_kernel(_core.poincare_log_map), _log),
    "log0": (_rows_kernel(_core.poincare_log_map_origin), _log0),
    "scale": (_scalar_kernel(_core.poincare_mobius_scalar_mul), _scale),
    "to_hyperboloid": (_rows_kernel(_core.poincare_to_hyperboloid, 1), _to_hyperboloid),
    "transport": (_rows_kernel(_core.poincare_parallel_transport), _transport),
}


#: What of an operation is no length: its first argument is a number, its result a square.
_FACTOR_FIRST, _SQUARES = ("geodesic", "scale"), ("dist2",)


def in_unit_ball(operation: Formula, c: Tensor, *lengths: Tensor, power: int = 1) -> Tensor:
    """An operation of the ball of curvature -1 on lengths times sqrt(c), in double; the result is a length of the ball of c
    (or one to `power`). So c has the gradient of the multiplications."""
    unit = c.sqrt()
    return (operation(*(x.double() * unit for x in lengths)) / unit**power).to(REAL[lengths[-1].dtype])


def apply(name: str, c: Scalar, *tensors: Tensor) -> Tensor:
    """An operation of tensors of one shape."""
    if isinstance(c, Tensor):
        factor = [t.double() for t in tensors[:1]] if name in _FACTOR_FIRST else []
        return in_unit_ball(
            lambda *t: apply(name, 1.0, *factor, *t), c, *tensors[len(factor) :], power=2 if name in _SQUARES else 1
        )
    kernel, formula = OPERATIONS[name]
    if is_plain(*tensors):
        return kernel(c, *tensors)
    out: Tensor = applied(_Operation, kernel, formula, c, *tensors)
    return out


def in_double(formula: Formula, *tensors: Tensor) -> Tensor:
    """``formula(*tensors)`` in double, rounded to the type of results."""
    dtype = tensors[0].dtype
    for t in tensors:
        check(t, "points and vectors")
        dtype = torch.promote_types(dtype, t.dtype)
    return formula(*(t.double() for t in tensors)).to(REAL[dtype])
