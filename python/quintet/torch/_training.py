"""The loss of negative sampling with its gradient, in one pass over the links."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .. import _core
from .._errors import InvalidArgument
from ._ball_operations import Scalar
from ._poincare import _curvature, dist
from ._svd import is_plain
from ._tensors import CODES, REAL, applied, check, plain, points, rows

__all__ = ["negative_sampling_loss"]


def _composed(x: Tensor, links: Tensor, c: Scalar) -> Tensor:
    """The same of distances and torch's functions, with derivatives of every order."""
    u, v = x[links[:, :1]], x[links[:, 1:]]
    target = torch.zeros(len(links), dtype=torch.long)
    return torch.nn.functional.cross_entropy(-dist(u.expand_as(v), v, c=c), target)


def _measured(x: Tensor, links: Tensor, c: float) -> tuple[Tensor, Tensor]:
    first, kept = points(x)
    numbers = plain(links).contiguous()
    losses, gradient = torch.empty(len(links), dtype=REAL[x.dtype]), torch.empty(x.shape, dtype=REAL[x.dtype])
    of_links = (numbers.data_ptr(), "q", tuple(numbers.shape), numbers.stride(), -1)
    to = (losses.data_ptr(), CODES[losses.dtype], (len(losses),), (1,), -1)
    _core.poincare_negative_sampling(first, of_links, to, rows(gradient), -c)
    return losses.mean(), gradient


class _Loss(torch.autograd.Function):
    @staticmethod
    def forward(x: Tensor, links: Tensor, c: float) -> tuple[Tensor, Tensor]:
        return _measured(x, links, c)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0], inputs[1], output[1])
        ctx.mark_non_differentiable(output[1])
        ctx.c = inputs[2]

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        x, links, gradient = ctx.saved_tensors
        if torch.is_grad_enabled():
            with torch.enable_grad():
                loss = _composed(x, links, ctx.c)
                (gradient,) = torch.autograd.grad(loss, x, create_graph=True)
        return (grads[0] * gradient).to(x.dtype), None, None


def negative_sampling_loss(x: Tensor, links: Tensor, *, c: Scalar = 1.0) -> Tensor:
    """The mean of ``d(u, v_1) + log sum_j exp(-d(u, v_j))`` over rows u, v_1, ..., v_K of ``links[B, 1 + K]``, numbers of
    the points ``x[N, D]`` of the ball of curvature -c (Nickel and Kiela 2017): v_1 is linked with u, the others are drawn.
    Loss and gradient come from one pass, which gathers nothing; second derivatives, and those by c, from torch's functions
    of :func:`dist`.

    >>> import torch, quintet.torch as qt
    >>> x = torch.tensor([[0.0], [0.5], [-0.5]], requires_grad=True)
    >>> qt.negative_sampling_loss(x, torch.tensor([[0, 1, 2]])).backward()
    >>> x.grad.ravel().tolist()
    [-2.0, 1.3333333730697632, 1.3333333730697632]
    """
    check(x, "x")
    if x.dim() != 2:
        raise InvalidArgument(f"x must have 2 dimensions (shape={tuple(x.shape)})")
    if not isinstance(links, Tensor) or links.dtype != torch.int64:
        raise TypeError(f"links must be a tensor of type int64 (links: {getattr(links, 'dtype', type(links).__name__)})")
    if links.dim() != 2 or links.shape[1] < 2 or len(links) < 1:
        raise InvalidArgument(f"links must have rows of a point, one linked with it and others (shape={tuple(links.shape)})")
    curvature = _curvature(c)
    if isinstance(curvature, Tensor):
        return _composed(x, links, curvature)
    if is_plain(x):
        return _measured(x, links, curvature)[0]
    loss: Tensor = applied(_Loss, x, links, curvature)[0]
    return loss
