"""The rest of geoopt's names of the ball, composed of those that have kernels: what hyperbolic layers and geoopt's
optimisers call."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from .._errors import InvalidArgument
from ._ball_operations import Scalar, apply, dot, frame, gap, in_double, midpoint_in_frame, norm
from ._frechet import frechet_mean
from ._manifold import Manifold, factor_of, root_of
from ._tensors import check

__all__ = ["GyrovectorNames"]


def matrices_of(x: Tensor, z: Tensor, name: str) -> int:
    """The rows of z; x and z have to be matrices with rows of one length."""
    check(x, "x")
    check(z, name)
    if x.dim() != 2 or z.dim() != 2 or x.shape[1] != z.shape[1]:
        raise InvalidArgument(f"x and {name} must be of shapes (N, n) and (M, n) (x: {tuple(x.shape)}, {name}: {tuple(z.shape)})")
    return int(z.shape[0])


class GyrovectorNames(Manifold):
    """Base of PoincareBall."""

    if TYPE_CHECKING:  # of PoincareBall

        c: Scalar

        def expmap(self, x: Tensor, u: Tensor, *, project: bool = False) -> Tensor: ...
        def expmap0(self, u: Tensor, *, project: bool = False) -> Tensor: ...
        def logmap0(self, y: Tensor) -> Tensor: ...
        def mobius_add(self, x: Tensor, y: Tensor, *, project: bool = False) -> Tensor: ...
        def mobius_scalar_mul(self, r: Tensor | float, x: Tensor, *, project: bool = False) -> Tensor: ...
        def lambda_x(self, x: Tensor, *, keepdim: bool = False) -> Tensor: ...
        def inner(self, x: Tensor, u: Tensor, v: Tensor | None = None, *, keepdim: bool = False) -> Tensor: ...
        def transp(self, x: Tensor, y: Tensor, v: Tensor) -> Tensor: ...
        def retr(self, x: Tensor, u: Tensor) -> Tensor: ...
        def projx(self, x: Tensor, *, eps: float | None = None) -> Tensor: ...

    def _projected(self, x: Tensor, project: bool) -> Tensor:
        return self.projx(x) if project else x

    @property
    def radius(self) -> Scalar:
        """``1 / sqrt(c)``, infinity for c = 0."""
        return 1 / root_of(self.c) if self.c > 0 else math.inf  # type: ignore[no-any-return]

    # Additions and products.

    def mobius_coadd(self, x: Tensor, y: Tensor, *, project: bool = False) -> Tensor:
        """Coaddition ``x (+) gyr[x, -y] y = ((1 - c|y|^2) x + (1 - c|x|^2) y) / (1 - c^2 |x|^2 |y|^2)``, which commutes."""
        check(x, "x")
        check(y, "y")

        def formula(x: Tensor, y: Tensor) -> Tensor:
            x_gap, y_gap = gap(x, self.c), gap(y, self.c)
            return (y_gap * x + x_gap * y) / (x_gap + y_gap - x_gap * y_gap)

        return self._projected(in_double(formula, x, y), project)

    def mobius_cosub(self, x: Tensor, y: Tensor, *, project: bool = False) -> Tensor:
        """Coaddition of ``-y``."""
        return self.mobius_coadd(x, -y, project=project)

    def mobius_fn_apply(
        self, fn: Callable[..., Tensor], x: Tensor, *args: Any, project: bool = False, **kwargs: Any
    ) -> Tensor:
        """``exp_0(fn(log_0(x)))``."""
        return self.expmap0(fn(self.logmap0(x), *args, **kwargs), project=project)

    def mobius_fn_apply_chain(self, x: Tensor, *fns: Callable[[Tensor], Tensor], project: bool = False) -> Tensor:
        """``exp_0(... fns[1](fns[0](log_0(x))))``."""
        if not fns:
            return self._projected(x, project)
        v = self.logmap0(x)
        for fn in fns:
            v = fn(v)
        return self.expmap0(v, project=project)

    def mobius_matvec(self, m: Tensor, x: Tensor, *, project: bool = False) -> Tensor:
        """``exp_0(m log_0(x))`` of a matrix ``m[..., E, D]`` (Ganea et al. 2018): the linear layer of the ball."""
        check(m, "m")
        check(x, "x")
        if m.dim() < 2 or m.shape[-1] != x.shape[-1]:
            raise InvalidArgument(
                f"m must be of shape (..., E, {x.shape[-1]}), as x is (m: {tuple(m.shape)}, x: {tuple(x.shape)})"
            )
        v = self.logmap0(x).to(m.dtype)
        return self.expmap0(v @ m.mT if m.dim() == 2 else (m @ v.unsqueeze(-1)).squeeze(-1), project=project)

    def mobius_pointwise_mul(self, w: Tensor, x: Tensor, *, project: bool = False) -> Tensor:
        """``exp_0(w * log_0(x))``, a diagonal matrix."""
        check(w, "w")
        return self.expmap0(w * self.logmap0(x), project=project)

    def antipode(self, x: Tensor) -> Tensor:
        """``-x``."""
        return -x

    # Geodesics, hyperplanes, transport.

    def geodesic_unit(self, t: Tensor | float, x: Tensor, u: Tensor, *, project: bool = False) -> Tensor:
        """The point at distance t from x in the direction u; t is a number, ``[...]`` or ``[..., 1]``."""
        check(x, "x")
        check(u, "u")
        # |u / lambda_x| has the length 1 / lambda_x, so t of it is at distance t.
        unit = u / norm(u)
        return self.expmap(x, factor_of(t, u) * unit / self.lambda_x(x, keepdim=True), project=project)

    def dist2plane(
        self, x: Tensor, p: Tensor, a: Tensor, *, keepdim: bool = False, signed: bool = False, scaled: bool = False
    ) -> Tensor:
        """Distance of x from the hyperplane through p orthogonal to a (Ganea et al. 2018):
        ``asinh(2 sqrt(c) <w, a> / ((1 - c |w|^2) |a|)) / sqrt(c)``, ``w = (-p) (+) x``. signed: with the side that a
        points to; scaled: times ``|a|``."""

        def formula(x: Tensor, p: Tensor, a: Tensor) -> Tensor:
            x_gap, p_gap = gap(x, self.c), gap(p, self.c)
            # lambda_w w = 2 direction / (a_p a_x)
            along, length = dot(frame(p, p_gap, x, x_gap, self.c)[0], a), norm(a)
            value = 2 * (along if signed else along.abs()) / (x_gap * p_gap * length)
            if self.c > 0:
                value = torch.asinh(root_of(self.c) * value) / root_of(self.c)
            return value * length if scaled else value

        value = in_double(formula, x, p, a)
        return value if keepdim else value.squeeze(-1)

    def dist2planes(
        self, x: Tensor, p: Tensor, a: Tensor, *, signed: bool = False, scaled: bool = False
    ) -> Tensor:
        """All distances ``[N, M]`` of ``x[N, n]`` from the hyperplanes through ``p[M, n]`` orthogonal to ``a[M, n]``: what
        :meth:`dist2plane` has one by one, from one product of x with p and a in double. It rounds by some ``2^-53 n`` over
        ``(1 - c|x|^2) (1 - c|p|^2)``."""
        matrices_of(x, p, "p")
        matrices_of(p, a, "a")

        def formula(x: Tensor, p: Tensor, a: Tensor) -> Tensor:
            x_gap, p_gap, length = gap(x, self.c), gap(p, self.c), norm(a)
            of_p, of_a = (x @ torch.cat((p, a)).mT).split(len(p), 1)
            apart = dot(x, x) - 2 * of_p + dot(p, p).mT
            along = p_gap.mT * (of_a - dot(p, a).mT) - self.c * apart * dot(p, a).mT
            value = 2 * (along if signed else along.abs()) / (x_gap * (p_gap * length).mT)
            if self.c > 0:
                value = torch.asinh(root_of(self.c) * value) / root_of(self.c)
            return value * length.mT if scaled else value

        return in_double(formula, x, p, a)

    def transp0back(self, x: Tensor, u: Tensor) -> Tensor:
        """The tangent vector u at x, moved to the origin: ``u lambda_x / 2``."""
        return in_double(lambda x, u: u / gap(x, self.c), x, u)

    def transp_follow_retr(self, x: Tensor, u: Tensor, v: Tensor) -> Tensor:
        """v, moved from x to ``retr(x, u)``."""
        return self.retr_transp(x, u, v)[1]

    def transp_follow_expmap(self, x: Tensor, u: Tensor, v: Tensor, *, project: bool = False) -> Tensor:
        """v, moved from x to ``expmap(x, u)``."""
        return self.expmap_transp(x, u, v, project=project)[1]

    def retr_transp(self, x: Tensor, u: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """``y = retr(x, u)``, and v moved to it."""
        y = self.retr(x, u)
        return y, self.transp(x, y, v)

    def expmap_transp(self, x: Tensor, u: Tensor, v: Tensor, *, project: bool = False) -> tuple[Tensor, Tensor]:
        """``y = expmap(x, u)``, and v moved to it."""
        y = self.expmap(x, u, project=project)
        return y, self.transp(x, y, v)

    # Means, models, draws, checks.

    def weighted_midpoint(
        self,
        xs: Tensor,
        weights: Tensor | None = None,
        *,
        reducedim: Sequence[int] | None = None,
        keepdim: bool = False,
        lincomb: bool = False,
        posweight: bool = False,
        project: bool = False,
    ) -> Tensor:
        """The gyromidpoint ``1/2 (x) sum w lambda x / sum w (lambda - 1)`` over the dimensions `reducedim` of
        ``xs[..., D]``, None: all but the last; ``weights[...]`` or None: 1 each. lincomb: times the sum of the weights;
        posweight: a negative weight is a positive one of the antipode."""
        along, w = _reduced(xs, weights, reducedim)
        w = w.unsqueeze(-1)
        if posweight:
            xs, w = torch.where(w < 0, -xs, xs), w.abs()
        mean = in_double(lambda xs, w: self._midpoint(xs, w, along), xs, w)
        if lincomb:
            mean = self.mobius_scalar_mul(w.sum(along, keepdim=True).squeeze(-1), mean)
        if not keepdim:
            for d in sorted(along, reverse=True):
                mean = mean.squeeze(d)
        return self._projected(mean, project)

    def frechet_mean(
        self,
        xs: Tensor,
        weights: Tensor | None = None,
        *,
        reducedim: Sequence[int] | None = None,
        keepdim: bool = False,
    ) -> Tensor:
        """The Fréchet mean, the point with the smallest sum of weighted squared distances, over the dimensions `reducedim`
        of ``xs[..., D]``, None: all but the last; ``weights[...]`` >= 0 or None: 1 each. Gradients by the implicit function
        theorem, of every order, by points and weights. A group with a point outside, or without weight, has NaN.

        >>> import torch, quintet.torch as qt
        >>> qt.PoincareBall().frechet_mean(torch.tensor([[0.5, 0.0], [-0.5, 0.0]])).abs().max() < 1e-7
        tensor(True)
        """
        along, w = _reduced(xs, weights, reducedim)
        kept = [d for d in range(xs.dim() - 1) if d not in along]
        order, lead = [*kept, *along], [xs.shape[d] for d in kept]
        count = math.prod(xs.shape[d] for d in along)
        groups = xs.permute(*order, -1).reshape(math.prod(lead), count, xs.shape[-1])
        mean = frechet_mean(groups, w.permute(*order).reshape(-1, count), self.c)
        shape = [1 if d in along else xs.shape[d] for d in range(xs.dim() - 1)] if keepdim else lead
        return mean.reshape(*shape, xs.shape[-1])

    def _midpoint(self, xs: Tensor, w: Tensor, along: Sequence[int]) -> Tensor:
        """In the frame of the result nothing cancels, and the result does not depend on the frame, which is a constant."""
        mean, fixed, weights = torch.zeros_like(xs.detach()).sum(along, keepdim=True), xs.detach(), w.detach()
        for _ in range(2):
            mean = midpoint_in_frame(mean, fixed, weights, along, self.c, least_gap=2.0**-52).detach()
        return midpoint_in_frame(mean, xs, w, along, self.c)

    def _require_curved(self) -> None:
        if self.c == 0:
            raise InvalidArgument("c must be > 0: flat space has no hyperboloid (c=0)")

    def inv_sproj(self, x: Tensor) -> Tensor:
        """To the hyperboloid, ``[..., D + 1]``, its last coordinate positive: ``(lambda x, (lambda - 1) / sqrt(c))``."""
        self._require_curved()
        check(x, "x")
        return apply("to_hyperboloid", self.c, x).roll(-1, -1)

    def sproj(self, x: Tensor) -> Tensor:
        """From the hyperboloid ``[..., D + 1]`` to the ball."""
        self._require_curved()
        check(x, "x")
        return apply("from_hyperboloid", self.c, x.roll(1, -1))

    def random_normal(
        self,
        *size: int,
        mean: Tensor | float = 0.0,
        std: Tensor | float = 1.0,
        dtype: torch.dtype | None = None,
        device: Any = None,
    ) -> Tensor:
        """``exp_0`` of normal vectors ``[..., D]`` with this mean and the deviation ``std / sqrt(D)``."""
        shape = _shape(size)
        return self.expmap0(torch.randn(shape, dtype=dtype, device=device) * std / math.sqrt(shape[-1]) + mean)

    random = random_normal

    def wrapped_normal(
        self,
        *size: int,
        mean: Tensor,
        std: Tensor | float = 1.0,
        dtype: torch.dtype | None = None,
        device: Any = None,
    ) -> Tensor:
        """``exp_mean`` of normal vectors of deviation ``std / lambda_mean`` (Mathieu et al. 2019)."""
        v = torch.randn(_shape(size), dtype=dtype or mean.dtype, device=device) * std
        base = mean.expand(v.shape)
        return self.expmap(base, v / self.lambda_x(base, keepdim=True))


def _reduced(xs: Tensor, weights: Tensor | None, reducedim: Sequence[int] | None) -> tuple[list[int], Tensor]:
    """The dimensions that a mean is taken over, and the weight of every point."""
    check(xs, "xs")
    lead = xs.shape[:-1]
    along = [d % xs.dim() for d in (range(len(lead)) if reducedim is None else reducedim)]
    if xs.dim() - 1 in along:
        raise InvalidArgument(f"reducedim must not name the last dimension (reducedim={reducedim})")
    return along, torch.ones(lead, dtype=xs.dtype) if weights is None else weights.expand(lead)


def _shape(size: Sequence[Any]) -> tuple[int, ...]:
    """Numbers, or one shape."""
    return tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else tuple(size)
