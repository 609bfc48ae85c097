"""Rotation of one set of points onto another (Kabsch 1976), with gradients."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from .._errors import InvalidArgument
from . import _svd
from ._tensors import check

__all__ = ["Kabsch", "kabsch"]


class Kabsch(NamedTuple):
    """``target`` is nearly ``points @ rotation.mT + translation.unsqueeze(-2)``."""

    rotation: Tensor
    translation: Tensor
    rmsd: Tensor


def kabsch(points: Tensor, target: Tensor, weights: Tensor | None = None) -> Kabsch:
    """The rigid motion of least weighted squares: rotation R ``[..., D, D]`` with determinant 1, translation t
    ``[..., D]`` and the root of the mean square that is left, ``[...]``, for ``points[..., N, D]`` and
    ``target[..., N, D]``, weights ``[..., N]`` >= 0 with a positive sum (None: all 1). D = 3 mostly.

    ``R = V diag(1, ..., 1, det(V U^T)) U^T`` of ``U S V^T = sum w (p - mean p)(q - mean q)^T``. Gradients go through
    :func:`svd`: those of R and t are finite also where singular values are equal, as long as R is unique.

    >>> import torch, quintet.torch as qt
    >>> p = torch.tensor([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]])
    >>> turn = torch.tensor([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    >>> R, t, rmsd = qt.kabsch(p, p @ turn.mT + 5)
    >>> torch.allclose(R, turn, atol=1e-5), torch.allclose(t, torch.full((3,), 5.0), atol=1e-4)
    (True, True)
    """
    check(points, "points")
    check(target, "target")
    if points.dim() < 2 or points.shape[-2] < 1 or points.shape != target.shape:
        raise InvalidArgument(
            f"points and target must have one shape [..., N, D], N >= 1 "
            f"(points: {tuple(points.shape)}, target: {tuple(target.shape)})"
        )
    if points.dtype != target.dtype:
        raise TypeError(f"points and target must be of one type (points: {points.dtype}, target: {target.dtype})")
    if weights is None:
        share = points.new_full((*points.shape[:-1], 1), 1 / points.shape[-2])
    else:
        if weights.shape != points.shape[:-1]:
            raise InvalidArgument(
                f"weights must be of shape {tuple(points.shape[:-1])} (shape={tuple(weights.shape)})"
            )
        share = (weights / weights.sum(-1, keepdim=True)).unsqueeze(-1)
    mean_p, mean_q = (share * points).sum(-2, keepdim=True), (share * target).sum(-2, keepdim=True)
    p, q = points - mean_p, target - mean_q
    R = _Rotation.of((share * p).mT @ q)
    t = (mean_q - mean_p @ R.mT).squeeze(-2)
    rest = (share * (p @ R.mT - q).square()).sum((-2, -1))
    positive = rest > 0
    rmsd = torch.where(positive, torch.where(positive, rest, 1.0).sqrt(), 0.0).to(rest.dtype)
    return Kabsch(R, t, rmsd)


class _Rotation:
    """R(H): its derivative needs only sums of two singular values, of which the last has the determinant's sign."""

    @staticmethod
    def of(H: Tensor) -> Tensor:
        with torch.no_grad():
            U, S, Vh = _svd.svd(H.detach().contiguous(), False)
            sign = torch.linalg.det((U @ Vh).to(S.dtype)).sign()
            last = torch.ones_like(S)
            last[..., -1] = sign
            U, s, V = U.to(S.dtype), S * last, Vh.mT.to(S.dtype)
            R = (V * last.unsqueeze(-2)) @ U.mT
        if not H.requires_grad:
            return R.to(H.dtype)
        out: Tensor = _RotationFunction.apply(H, R.to(H.dtype), U, s, V, last)
        return out


class _RotationFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx: object, H: Tensor, R: Tensor, U: Tensor, s: Tensor, V: Tensor, last: Tensor) -> Tensor:
        ctx.save_for_backward(H, R, U, s, V, last)  # type: ignore[attr-defined]
        return R.clone()

    @staticmethod
    def backward(ctx: object, G: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        H, R, U, s, V, last = ctx.saved_tensors  # type: ignore[attr-defined]
        # R H is symmetric, so dR = V' W U^T with W_ij (s_i + s_j) = (U^T dH V' - its transpose)_ji.
        Vp = V * last.unsqueeze(-2)
        M = Vp.mT @ G.to(s.dtype) @ U
        sums = s.unsqueeze(-1) + s.unsqueeze(-2)
        cut = 10 * torch.finfo(s.dtype).eps * s[..., :1].unsqueeze(-1)
        small = sums.abs() <= cut
        W = torch.where(small, 0.0, (M - M.mT) / torch.where(small, 1.0, sums))
        return (U @ W.mT @ Vp.mT).to(H.dtype), None, None, None, None, None
