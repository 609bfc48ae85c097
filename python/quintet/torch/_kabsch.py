"""Rotation of one set of points onto another (Kabsch 1976), with gradients."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from .. import _core
from .._errors import InvalidArgument
from . import _svd
from ._svd import is_plain
from ._tensors import CODES, applied, batch, check, empty, flat, plain

__all__ = ["Kabsch", "kabsch"]


_TYPES = (torch.float32, torch.float64)


class Kabsch(NamedTuple):
    """``target`` is nearly ``points @ rotation.mT + translation.unsqueeze(-2)``."""

    rotation: Tensor
    translation: Tensor
    rmsd: Tensor


class Similarity(NamedTuple):
    """``target`` is nearly ``scale[..., None, None] * points @ rotation.mT + translation.unsqueeze(-2)``."""

    rotation: Tensor
    translation: Tensor
    rmsd: Tensor
    scale: Tensor


def kabsch(
    points: Tensor, target: Tensor, weights: Tensor | None = None, *, scale: bool = False
) -> Kabsch | Similarity:
    """The rigid motion of least weighted squares: rotation R ``[..., D, D]`` with determinant 1, translation t
    ``[..., D]`` and the root of the mean square that is left, ``[...]``, for ``points[..., N, D]`` and
    ``target[..., N, D]``, weights ``[..., N]`` >= 0 with a positive sum (None: all 1). D = 3 mostly. Leading shapes
    broadcast. Bools as weights are a mask: the other points are ignored, NaN included, and have a gradient of zero.

    With `scale` the factor c ``[...]`` that minimises ``|c R p + t - q|`` is the fourth part of the result (Umeyama 1991);
    it is 1 for points that are all equal.

    ``R = V diag(1, ..., 1, det(V U^T)) U^T`` of ``U S V^T = sum w (p - mean p)(q - mean q)^T``. Gradients of every order
    after points, target and weights, forward mode, torch.func and torch.compile; those of R and t are finite also where
    singular values are equal, as long as R is unique.

    >>> import torch, quintet.torch as qt
    >>> p = torch.tensor([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]])
    >>> turn = torch.tensor([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    >>> R, t, rmsd = qt.kabsch(p, p @ turn.mT + 5)
    >>> torch.allclose(R, turn, atol=1e-5), torch.allclose(t, torch.full((3,), 5.0), atol=1e-4)
    (True, True)
    """
    check(points, "points")
    check(target, "target")
    dtype = points.dtype
    if dtype != target.dtype:
        raise TypeError(f"points and target must be of one type (points: {dtype}, target: {target.dtype})")
    if weights is not None and weights.dtype == torch.bool:
        points, target, weights = _masked(points, target, weights)
    elif weights is not None:
        check(weights, "weights")
    if points.shape != target.shape or len(points.shape) < 2 or (
        weights is not None and weights.shape != points.shape[:-1]
    ):
        points, target, weights = _broadcast(points, target, weights)
    if points.shape[-2] < 1:
        raise InvalidArgument(f"points and target must have one shape [..., N, D], N >= 1 (points: {tuple(points.shape)})")
    given = (points, target) if weights is None else (points, target, weights)
    if _has_kernel(given) and is_plain(*given):
        return _by_kernel(points, target, weights, scale)
    if weights is not None and not torch.compiler.is_compiling() and not torch._C._are_functorch_transforms_active():
        sound = (weights.detach() >= 0).all(-1) & (weights.detach().sum(-1) > 0)
        if not sound.all():
            raise InvalidArgument("weights must be >= 0, with a positive sum for every set, and not NaN")
    return Similarity(*_composed(points, target, weights, True)) if scale else Kabsch(*_composed(points, target, weights))


def _masked(points: Tensor, target: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """With zeros for the points that do not count, and weights."""
    if mask.dim() < 1 or mask.shape[-1:] != points.shape[-2:-1]:
        raise InvalidArgument(f"weights must be of shape {tuple(points.shape[:-1])} (shape={tuple(mask.shape)})")
    counts = mask.unsqueeze(-1)
    return torch.where(counts, points, 0.0), torch.where(counts, target, 0.0), mask.to(points.dtype)


def _broadcast(points: Tensor, target: Tensor, weights: Tensor | None) -> tuple[Tensor, Tensor, Tensor | None]:
    """With one leading shape."""
    if points.dim() < 2 or target.dim() < 2 or points.shape[-2:] != target.shape[-2:]:
        raise InvalidArgument(
            f"points and target must have one shape [..., N, D], N >= 1 "
            f"(points: {tuple(points.shape)}, target: {tuple(target.shape)})"
        )
    if weights is not None and (weights.dim() < 1 or weights.shape[-1] != points.shape[-2]):
        raise InvalidArgument(f"weights must be of shape {tuple(points.shape[:-1])} (shape={tuple(weights.shape)})")
    leads = [points.shape[:-2], target.shape[:-2], *([] if weights is None else [weights.shape[:-1]])]
    try:
        lead = torch.broadcast_shapes(*leads)
    except RuntimeError:
        raise InvalidArgument(
            f"leading shapes of points, target and weights must broadcast ({', '.join(str(tuple(t)) for t in leads)})"
        ) from None
    shape = (*lead, *points.shape[-2:])
    return points.expand(shape), target.expand(shape), None if weights is None else weights.expand(shape[:-1])


def _has_kernel(given: tuple[Tensor, ...]) -> bool:
    dtype = given[0].dtype
    return 2 <= given[0].shape[-1] <= 4 and dtype in _TYPES and given[-1].dtype == dtype


def _matrices(t: Tensor) -> Tensor:
    return flat(plain(t)) if t.requires_grad or t.is_neg() or t.dim() > 3 else t


def _by_kernel(
    points: Tensor, target: Tensor, weights: Tensor | None = None, scale: bool = False
) -> Kabsch | Similarity:
    """Of tensors without history."""
    p, q = _matrices(points), _matrices(target)
    shape = points.shape
    n, d = shape[-2:]
    if len(shape) == 2:
        dtype = points.dtype
        rotation, translation, rmsd = empty((d, d), (d, 1), dtype), empty((d,), (1,), dtype), empty((), (), dtype)
    else:
        lead = shape[:-2]
        rotation, translation, rmsd = points.new_empty((*lead, d, d)), points.new_empty((*lead, d)), points.new_empty(lead)
    factor = torch.empty_like(rmsd) if scale else None
    w = None if weights is None else plain(weights).reshape(-1, n).contiguous()
    finite = _core.svd_kabsch_tensors(
        batch(p),
        batch(q),
        None if w is None else (w.data_ptr(), CODES[points.dtype], tuple(w.shape), (w.shape[1], 1), -1),
        rotation.data_ptr(),
        translation.data_ptr(),
        rmsd.data_ptr(),
        0 if factor is None else factor.data_ptr(),
    )
    if not finite:
        raise torch.linalg.LinAlgError("kabsch: points, target or weights hold non-finite values")
    return Kabsch(rotation, translation, rmsd) if factor is None else Similarity(rotation, translation, rmsd, factor)


def _composed(points: Tensor, target: Tensor, weights: Tensor | None, scale: bool = False) -> tuple[Tensor, ...]:
    """Rotation, translation and rmsd, and the scale if it is wanted."""
    if weights is None:
        share = torch.full_like(points[..., :1], 1 / points.shape[-2])
    else:
        share = (weights / weights.sum(-1, keepdim=True)).unsqueeze(-1)
    mean_p, mean_q = (share * points).sum(-2, keepdim=True), (share * target).sum(-2, keepdim=True)
    p, q = points - mean_p, target - mean_q
    H = (share * p).mT @ q
    R = _turn(*_factors(H)).to(H.dtype) if torch.compiler.is_compiling() else applied(_Rotation, H)
    turned, turned_mean = p @ R.mT, mean_p @ R.mT
    if scale:
        spread = (share * p.square()).sum((-2, -1))
        noise = 32 * torch.finfo(spread.dtype).eps * mean_p.detach()
        is_spread = spread > noise.square().sum((-2, -1))
        factor = torch.where(is_spread, (R * H.mT).sum((-2, -1)) / torch.where(is_spread, spread, 1.0), 1.0).to(H.dtype)
        turned, turned_mean = factor[..., None, None] * turned, factor[..., None, None] * turned_mean
    t = (mean_q - turned_mean).squeeze(-2)
    rest = (share * (turned - q).square()).sum((-2, -1))
    positive = rest > 0
    rmsd = torch.where(positive, torch.where(positive, rest, 1.0).sqrt(), 0.0).to(rest.dtype)
    return (R, t, rmsd, factor) if scale else (R, t, rmsd)


def _factors(H: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """U, s, V' with H = U diag(s) V'^T and det(V' U^T) = 1: the last singular value has the sign of det H."""
    U, S, Vh = _svd.svd(H, False)
    U, Vh = U.to(S.dtype), Vh.to(S.dtype)
    sign = torch.linalg.det((U @ Vh).detach()).sign()
    last = torch.cat((torch.ones_like(S[..., 1:]), sign.unsqueeze(-1)), -1)
    return U, S * last, Vh.mT * last.unsqueeze(-2)


def _turn(U: Tensor, s: Tensor, V: Tensor) -> Tensor:
    return V @ U.mT


def _skew(U: Tensor, s: Tensor, V: Tensor, M: Tensor) -> Tensor:
    """W with W_ij (s_i + s_j) = M_ij - M_ji: only sums of two singular values, so that equal ones do no harm. A sum of 0
    has no rotation, and gives 0."""
    sums = s.unsqueeze(-1) + s.unsqueeze(-2)
    small = sums.abs() <= 10 * torch.finfo(s.dtype).eps * s[..., :1].unsqueeze(-1).detach()
    return torch.where(small, 0.0, (M - M.mT) / torch.where(small, 1.0, sums))


def _solve_skew(M: Tensor, K: Tensor) -> Tensor:
    """The skew X with M X + X M = K, M symmetric and K skew: a linear system of D (D - 1) / 2 numbers. Its derivatives
    have no differences of singular values."""
    d = M.shape[-1]
    row, column = torch.triu_indices(d, d, 1)
    k, m, i, j = row[:, None], column[:, None], row, column
    one = torch.eye(d, dtype=M.dtype)
    system = (
        M[..., k, i] * one[j, m] - M[..., k, j] * one[i, m] + one[k, i] * M[..., j, m] - one[k, j] * M[..., i, m]
    )
    x = torch.linalg.solve_ex(system, K[..., row, column].unsqueeze(-1))[0].squeeze(-1)
    basis = torch.zeros(len(row), d, d, dtype=M.dtype)
    basis[torch.arange(len(row)), row, column] = 1
    return torch.einsum("...a,aij->...ij", x, basis - basis.mT)


class _Rotation(torch.autograd.Function):
    """R(H). R H is symmetric, so dR = R U W U^T with W_ij (s_i + s_j) = (V^T dH^T U - its transpose)_ij."""

    generate_vmap_rule = True

    @staticmethod
    def forward(H: Tensor) -> Tensor:
        return _turn(*_factors(H)).to(H.dtype)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0])
        ctx.save_for_forward(inputs[0])

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (H,) = ctx.saved_tensors
        if torch.is_grad_enabled():  # a derivative of this one may be wanted
            R = applied(_Rotation, H)
            M, K = R @ H, grads[0] @ R.mT
            return -R.mT @ _solve_skew((M + M.mT) / 2, K - K.mT)
        U, s, V = _factors(H)
        W = _skew(U, s, V, V.mT @ grads[0].to(s.dtype) @ U)
        return (U @ W.mT @ V.mT).to(H.dtype)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        (H,) = ctx.saved_tensors
        U, s, V = _factors(H)
        W = _skew(U, s, V, V.mT @ tangents[0].to(s.dtype).mT @ U)
        return (V @ W @ U.mT).to(H.dtype)
