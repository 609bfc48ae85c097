"""Leading singular values and vectors by a sketch, with gradients."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from .. import linalg
from .._errors import InvalidArgument
from ._svd import _divisors, is_plain
from ._tensors import REAL, check, plain

__all__ = ["randomized_svd"]

_MOST_ITERATIONS = 500


class RandomizedSVD(NamedTuple):
    """What :func:`randomized_svd` returns."""

    U: Tensor
    S: Tensor
    Vh: Tensor
    residual: Tensor


def _without(basis: Tensor, x: Tensor) -> Tensor:
    """The part of the columns of x that is orthogonal to those of an orthonormal basis."""
    return x - basis @ (basis.mT @ x)


def _outside(A: Tensor, U: Tensor, S: Tensor, V: Tensor, gU: Tensor, gV: Tensor) -> Tensor:
    """What derivatives after the parts of dU and dV outside the leading subspaces give.

    These parts p_j, q_j of the change of u_j and v_j obey s_j p - A' q = (I - U U^T) dA v_j and
    s_j q - A'^T p = (I - V V^T) dA^T u_j with A' = (I - U U^T) A (I - V V^T). The matrix is symmetric, and positive
    definite as s_j exceeds all singular values of A': conjugate gradients for its inverse at (gU, gV), all j at a time.
    """
    s = S.unsqueeze(-2)

    def times(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        return s * x - _without(U, A @ y), s * y - _without(V, A.mT @ x)

    def dot(a: tuple[Tensor, Tensor], b: tuple[Tensor, Tensor]) -> Tensor:
        return (a[0] * b[0]).sum(-2, keepdim=True) + (a[1] * b[1]).sum(-2, keepdim=True)

    residual = _without(U, gU), _without(V, gV)
    x, y = torch.zeros_like(gU), torch.zeros_like(gV)
    direction, square = residual, dot(residual, residual)
    goal = square * (4 * torch.finfo(S.dtype).eps) ** 2
    for _ in range(_MOST_ITERATIONS):
        active = square > goal
        if not bool(active.any()):
            break
        image = times(*direction)
        curvature = dot(direction, image)
        # Not positive: there is no gap behind the leading values, and no derivative.
        active = active & (curvature > 0)
        step = torch.where(active, square / torch.where(active, curvature, 1.0), 0.0)
        x, y = x + step * direction[0], y + step * direction[1]
        residual = residual[0] - step * image[0], residual[1] - step * image[1]
        before, square = square, torch.where(active, dot(residual, residual), 0.0)
        ratio = torch.where(active, square / torch.where(active, before, 1.0), 0.0)
        direction = residual[0] + ratio * direction[0], residual[1] + ratio * direction[1]
    return x @ V.mT + U @ y.mT


class _RandomizedSVD(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, A: Tensor, rank: int, options: dict[str, Any]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        found = linalg.randomized_svd(A.detach(), rank, **options)
        residual = torch.as_tensor(found.residual, dtype=torch.float64)
        ctx.save_for_backward(A, found.U, found.S, found.Vh, residual)
        ctx.set_materialize_grads(False)
        return found.U, found.S, found.Vh, residual

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, gU: Tensor | None, gS: Tensor | None, gVh: Tensor | None, gR: Tensor | None) -> Any:
        A, U, S, Vh, residual = ctx.saved_tensors
        real = REAL[A.dtype]
        wide, U, V = plain(A).to(real), U.to(real), Vh.mT.to(real)
        gradient = torch.zeros_like(wide)
        if gU is not None or gVh is not None or gS is not None:
            gU = torch.zeros_like(U) if gU is None else plain(gU).to(real)
            gV = torch.zeros_like(V) if gVh is None else plain(gVh).mT.to(real)
            gS = torch.zeros_like(S) if gS is None else gS
            by_difference, by_sum, _, scale = _divisors(S, max(A.shape[-2:]), 1, 0.0)
            P, Q = (U.mT @ gU) / scale.unsqueeze(-1), (V.mT @ gV) / scale.unsqueeze(-1)
            P, Q = P - P.mT, Q - Q.mT
            within = ((P + Q) * by_difference + (P - Q) * by_sum) / 2 + torch.diag_embed(gS)
            gradient = U @ within @ V.mT + _outside(wide, U, S, V, gU, gV)
        if gR is not None:
            rest = wide - (U * S.unsqueeze(-2)) @ V.mT
            scale = torch.where(residual > 0, gR / torch.where(residual > 0, residual, 1.0), 0.0)
            gradient = gradient + scale.to(real)[..., None, None] * rest
        return gradient.to(A.dtype), None, None


def randomized_svd(A: Tensor, rank: int, **options: Any) -> RandomizedSVD:
    """:func:`quintet.linalg.randomized_svd` of a tensor ``A[..., m, n]``: U, S, Vh and the residual, with the gradient of
    the leading singular values and vectors themselves.

    It takes products with A alone, as many as conjugate gradients need: few where ``S[-1]`` is well above the next
    singular value; where they are equal there is no derivative. First order.

    >>> import torch, quintet.torch as qt
    >>> A = torch.ones(20, 10, dtype=torch.float64, requires_grad=True)
    >>> qt.randomized_svd(A, 1).S.sum().backward()
    >>> round(A.grad[0, 0].item(), 4)
    0.0707
    """
    check(A, "A")
    if A.dim() < 2:
        raise InvalidArgument(f"A must have at least 2 dimensions (shape={tuple(A.shape)})")
    if is_plain(A):
        found = linalg.randomized_svd(A.detach(), rank, **options)
        return RandomizedSVD(found.U, found.S, found.Vh, torch.as_tensor(found.residual, dtype=torch.float64))
    return RandomizedSVD(*_RandomizedSVD.apply(A, rank, options))
