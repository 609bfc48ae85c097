"""The loss of negative sampling with its gradient, in one pass over the links."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .. import _core
from .._errors import InvalidArgument
from ._ball_operations import Scalar
from ._lorentz import TIME_IGNORED, Lorentz
from ._poincare import PoincareBall, _curvature, dist
from ._svd import is_plain
from ._tensors import CODES, REAL, applied, check, plain, points, rows

__all__ = ["negative_sampling_loss"]


class _Ball:
    """What the loss needs of the ball of curvature -c."""

    def __init__(self, c: Scalar) -> None:
        self.c = _curvature(c)

    def dist(self, x: Tensor, y: Tensor) -> Tensor:
        return dist(x, y, c=self.c)

    def measure(self, x: Any, links: Any, losses: Any, gradient: Any) -> None:
        _core.poincare_negative_sampling(x, links, losses, gradient, -self.c)


class _Sheet:
    """What the loss needs of the Lorentz model."""

    def __init__(self, sheet: Lorentz) -> None:
        self.c, self.dist = sheet.c, sheet.dist

    def measure(self, x: Any, links: Any, losses: Any, gradient: Any) -> None:
        _core.lorentz_negative_sampling(x, links, losses, gradient, TIME_IGNORED, None, -self.c)


def _space_of(manifold: Any, c: Scalar | None) -> Any:
    if manifold is None:
        return _Ball(1.0 if c is None else c)
    if c is not None:
        raise InvalidArgument(f"c must be None with a manifold, which has its own curvature (c={c})")
    if isinstance(manifold, Lorentz):
        return _Sheet(manifold)
    if isinstance(manifold, PoincareBall):
        return _Ball(manifold.c)
    raise TypeError(f"manifold must be a PoincareBall or a Lorentz of quintet.torch (manifold: {type(manifold).__name__})")


def _composed(x: Tensor, links: Tensor, space: Any) -> Tensor:
    """The same of distances and torch's functions, with derivatives of every order."""
    u, v = x[links[:, :1]], x[links[:, 1:]]
    target = torch.zeros(len(links), dtype=torch.long)
    return torch.nn.functional.cross_entropy(-space.dist(u.expand_as(v), v), target)


def _measured(x: Tensor, links: Tensor, space: Any) -> tuple[Tensor, Tensor]:
    first, _owner = points(x)
    numbers = plain(links).contiguous()
    losses, gradient = torch.empty(len(links), dtype=REAL[x.dtype]), torch.empty(x.shape, dtype=REAL[x.dtype])
    of_links = (numbers.data_ptr(), "q", tuple(numbers.shape), numbers.stride(), -1)
    to = (losses.data_ptr(), CODES[losses.dtype], (len(losses),), (1,), -1)
    space.measure(first, of_links, to, rows(gradient))
    return losses.mean(), gradient


class _Loss(torch.autograd.Function):
    @staticmethod
    def forward(x: Tensor, links: Tensor, space: Any) -> tuple[Tensor, Tensor]:
        return _measured(x, links, space)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0], inputs[1], output[1])
        ctx.mark_non_differentiable(output[1])
        ctx.space = inputs[2]

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        x, links, gradient = ctx.saved_tensors
        if torch.is_grad_enabled():
            with torch.enable_grad():
                loss = _composed(x, links, ctx.space)
                (gradient,) = torch.autograd.grad(loss, x, create_graph=True)
        return (grads[0] * gradient).to(x.dtype), None, None


def negative_sampling_loss(
    x: Tensor, links: Tensor, *, c: Scalar | None = None, manifold: PoincareBall | Lorentz | None = None
) -> Tensor:
    """The mean of ``d(u, v_1) + log sum_j exp(-d(u, v_j))`` over rows u, v_1, ..., v_K of ``links[B, 1 + K]``, numbers of
    the points ``x[N, D]`` (Nickel and Kiela 2017): v_1 is linked with u, the others are drawn. Points are those of
    `manifold`, or of the ball of curvature -c, by default -1. Loss and gradient come from one pass, which gathers nothing;
    second derivatives, and those by the curvature, from torch's functions of distances.

    >>> import torch, quintet.torch as qt
    >>> x = torch.tensor([[0.0], [0.5], [-0.5]], requires_grad=True)
    >>> qt.negative_sampling_loss(x, torch.tensor([[0, 1, 2]])).backward()
    >>> x.grad.ravel().tolist()
    [-2.0, 1.3333333730697632, 1.3333333730697632]
    >>> sheet = qt.Lorentz()
    >>> x = sheet.projx(torch.tensor([[0.0, 0.0], [0.0, 0.75], [0.0, -0.75]])).requires_grad_()
    >>> qt.negative_sampling_loss(x, torch.tensor([[0, 1, 2]]), manifold=sheet).backward()
    >>> x.grad.tolist()
    [[0.0, -1.0], [0.0, 0.4000000059604645], [0.0, 0.4000000059604645]]
    """
    check(x, "x")
    if x.dim() != 2:
        raise InvalidArgument(f"x must have 2 dimensions (shape={tuple(x.shape)})")
    if not isinstance(links, Tensor) or links.dtype != torch.int64:
        raise TypeError(f"links must be a tensor of type int64 (links: {getattr(links, 'dtype', type(links).__name__)})")
    if links.dim() != 2 or links.shape[1] < 2 or len(links) < 1:
        raise InvalidArgument(f"links must have rows of a point, one linked with it and others (shape={tuple(links.shape)})")
    space = _space_of(manifold, c)
    if isinstance(space.c, Tensor):
        return _composed(x, links, space)
    if is_plain(x):
        return _measured(x, links, space)[0]
    loss: Tensor = applied(_Loss, x, links, space)[0]
    return loss
