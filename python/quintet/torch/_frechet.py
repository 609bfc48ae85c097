"""The Fréchet mean of groups of points of the ball, with gradients by the implicit function theorem."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import _core
from ._ball_operations import OPERATIONS, Scalar, dot, from_series, gap, in_unit_ball
from ._svd import is_plain
from ._tensors import REAL, applied, plain, rows

# Of (z coth(z) - 1) / z^2 in z^2.
_COTH = (1 / 3, -1 / 45, 2 / 945, -1 / 4725, 2 / 93555, -1382 / 638512875, 4 / 18243225, -3617 / 162820783125)


def _mean_kernel(x: Tensor, w: Tensor, c: float) -> Tensor:
    groups, count, dim = x.shape
    real = REAL[x.dtype]
    flat, weights = plain(x).reshape(-1, dim).contiguous(), plain(w).to(real).contiguous()
    out = torch.empty((groups, dim), dtype=real)
    offsets = np.arange(groups + 1, dtype=np.int64) * count
    _core.poincare_frechet_mean(rows(flat), offsets, weights.view(-1).numpy(), rows(out), curvature=-c)
    return out


def _hessian(mean: Tensor, u: Tensor, w: Tensor, c: float) -> Tensor:
    """Of the sum of w d^2 / 2 at the mean, u = log_mean(x): sum w (k I - (k - 1) u u^T / |u|^2), k = z coth(z) of
    z = sqrt(c) d (Karcher 1977). [B, D, D]"""
    curved = c * (2 / gap(mean, c)).square().unsqueeze(1)  # z^2 / |u|^2
    square = curved * dot(u, u)
    ratio = from_series(square, _COTH, lambda z2, z: (z / torch.tanh(z) - 1) / z2)
    weight = w.unsqueeze(-1)
    along = (weight * ratio * curved * u).mT @ u
    unit = torch.eye(u.shape[-1], dtype=u.dtype)
    return (weight * (1 + ratio * square)).sum(1, keepdim=True) * unit - along


class _FrechetMean(torch.autograd.Function):
    @staticmethod
    def forward(x: Tensor, w: Tensor, c: float) -> Tensor:
        return _mean_kernel(x, w, c)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0], inputs[1], output)
        ctx.c = inputs[2]

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """sum w log_mean(x) = 0 makes the mean a function of x and w: H d mean = d (sum w log_mean(x)), mean fixed."""
        x, w, mean = ctx.saved_tensors
        c = ctx.c
        if torch.is_grad_enabled():
            mean = applied(_FrechetMean, x, w, c)
        wide = mean.double()
        ok = torch.isfinite(wide.detach()).all(-1)[:, None, None]

        def log(points: Tensor) -> Tensor:
            return OPERATIONS["log"][1](wide.unsqueeze(1).expand_as(points), points.double(), c)

        H = _hessian(wide, log(x), w.double(), c)
        H = torch.where(ok, H, torch.eye(H.shape[-1], dtype=H.dtype))
        s = torch.linalg.solve(H, grads[0].double().unsqueeze(-1))
        loss = torch.func.grad(lambda x, w: ((log(x) @ s).squeeze(-1) * w.double()).sum(), (0, 1))
        return (*loss(x, w), None)


def frechet_mean(x: Tensor, w: Tensor, c: Scalar) -> Tensor:
    """[B, D] of groups [B, n, D] and weights [B, n]."""
    if isinstance(c, Tensor):
        return in_unit_ball(lambda x: frechet_mean(x, w.double(), 1.0), c, x)
    if is_plain(x, w):
        return _mean_kernel(x, w, c)
    out: Tensor = applied(_FrechetMean, x, w, c)
    return out
