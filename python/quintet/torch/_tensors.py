"""Tensors on their way into the bindings: as addresses, because a protocol would cost microseconds."""

from __future__ import annotations

from typing import Any, Callable

import torch
from torch import Tensor

from .. import _core
from .._errors import DeviceError

CODES = {torch.float32: "f", torch.float64: "d", torch.float16: "e", torch.bfloat16: "E"}
#: The type of sums and singular values.
REAL = {torch.float32: torch.float32, torch.float64: torch.float64, torch.float16: torch.float32}
REAL[torch.bfloat16] = torch.float32

Batch = tuple[int, str, tuple[int, ...], tuple[int, ...], int]


def check(t: Any, name: str) -> None:
    """TypeError or DeviceError for what the bindings cannot take."""
    if not isinstance(t, torch.Tensor):
        raise TypeError(f"{name} must be a tensor ({name}: {type(t).__name__})")
    if t.dtype not in CODES:
        raise TypeError(f"{name} must be of type float16, bfloat16, float32 or float64 (dtype={t.dtype})")
    if t.layout is not torch.strided:
        raise TypeError(f"{name} must be a dense tensor (layout={t.layout})")
    if t.device.type not in ("cpu", "meta"):
        raise DeviceError(
            f"{name} must lie in the processor's memory: this build has offload targets: "
            f"{_core.build_info()['offload_targets']} (device={t.device})"
        )


def plain(t: torch.Tensor) -> torch.Tensor:
    """The memory itself: without history, and without the lazy sign that an address does not tell."""
    t = t.detach()
    return t.resolve_neg() if t.is_neg() else t


def batch(t: torch.Tensor) -> Batch:
    """[..., m, n] as B matrices. The tensor has to outlive the call."""
    shape, strides = t.shape, t.stride()
    dim = len(shape)
    if dim == 3:
        return (t.data_ptr(), CODES[t.dtype], tuple(shape), strides, -1)
    if dim == 2:
        return (t.data_ptr(), CODES[t.dtype], (1, shape[0], shape[1]), (0, strides[0], strides[1]), -1)
    raise ValueError("more than one leading dimension")


def flat(t: torch.Tensor) -> torch.Tensor:
    """[..., m, n] as [B, m, n] or [m, n]; a copy only where the leading dimensions cannot be one."""
    return t if t.dim() <= 3 else t.flatten(0, -3)


def rows(t: torch.Tensor) -> Batch:
    """[N, D] with contiguous rows."""
    shape, strides = t.shape, t.stride()
    return (t.data_ptr(), CODES[t.dtype], tuple(shape), strides, -1)


def push_forward(f: Callable[..., Tensor], at: tuple[Tensor, ...], changes: tuple[Tensor, ...]) -> Tensor:
    """The derivative of f in a direction, by two pull-backs: forward mode does not nest."""
    value, pull = torch.func.vjp(f, *at)
    _, push = torch.func.vjp(pull, torch.zeros_like(value))
    result: Tensor = push(changes)[0]
    return result
