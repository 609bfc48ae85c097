"""Tensors on their way into the bindings: as addresses, because a protocol would cost microseconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from .. import _core
from .._errors import DeviceError

CODES = {torch.float32: "f", torch.float64: "d", torch.float16: "e", torch.bfloat16: "E"}
#: The type of sums and singular values.
REAL = {torch.float32: torch.float32, torch.float64: torch.float64, torch.float16: torch.float32}
REAL[torch.bfloat16] = torch.float32

Batch = tuple[int, str, tuple[int, ...], tuple[int, ...], int]


def _slow_empty(shape: tuple[int, ...], strides: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    return torch.empty_strided(shape, strides, dtype=dtype)


#: What compiled programs of torch allocate by: no dispatcher, a third of the time of any other way.
empty = getattr(getattr(torch._C._dynamo, "guards", None), "_empty_strided_cpu", _slow_empty)


def check(t: Any, name: str) -> None:
    """TypeError or DeviceError for what the bindings cannot take."""
    if type(t) is Tensor and t.is_cpu and t.dtype in CODES and t.layout is torch.strided:
        return
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
    """The memory itself: without history, and without the lazy sign, which an address does not show."""
    t = t.detach()
    return t.resolve_neg() if t.is_neg() else t


def batch(t: torch.Tensor) -> Batch:
    """[..., m, n] as B matrices. The tensor has to outlive the call."""
    shape, strides = t.shape, t.stride()
    dim = len(shape)
    if dim == 3:
        return (t.data_ptr(), CODES[t.dtype], shape, strides, -1)
    if dim == 2:
        return (t.data_ptr(), CODES[t.dtype], (1, shape[0], shape[1]), (0, strides[0], strides[1]), -1)
    raise ValueError("more than one leading dimension")


def flat(t: torch.Tensor) -> torch.Tensor:
    """[..., m, n] as [B, m, n] or [m, n]; a copy only where the leading dimensions cannot be one."""
    return t if t.dim() <= 3 else t.flatten(0, -3)


def rows(t: torch.Tensor) -> Batch:
    """[N, D] with contiguous rows."""
    return (t.data_ptr(), CODES[t.dtype], t.shape, t.stride(), -1)


def points(t: torch.Tensor) -> tuple[Batch, torch.Tensor]:
    """[..., D] as rows [N, D], and the tensor that must outlive the call: contiguous rows, without history or lazy
    sign, which an address does not show."""
    if t.requires_grad or t.is_neg():
        t = plain(t)
    shape, strides = t.shape, t.stride()
    if len(shape) != 2:
        t = t.reshape(-1, shape[-1])
        shape, strides = t.shape, t.stride()
    count, dim = shape
    if (dim > 1 and strides[1] != 1) or (count > 1 and strides[0] < dim):
        t = t.contiguous()
        strides = (dim, 1)
    return (t.data_ptr(), CODES[t.dtype], shape, strides, -1), t


def push_forward(f: Callable[..., Tensor], at: tuple[Tensor, ...], changes: tuple[Tensor, ...]) -> Tensor:
    """The derivative of f in a direction, by two pull-backs: forward mode does not nest."""
    value, pull = torch.func.vjp(f, *at)
    _, push = torch.func.vjp(pull, torch.zeros_like(value))
    result: Tensor = push(changes)[0]
    return result


_eager: dict[type, Any] = {}


def _eager_of(function: Any) -> Any:
    """`function` in the older form, where forward has the context. torch.func refuses it, but it costs a tenth, because
    torch otherwise looks up signatures for setup_context at every call."""

    def forward(ctx: Any, *args: Any) -> Any:
        output = function.forward(*args)
        function.setup_context(ctx, args, output)
        return output

    members = {"forward": staticmethod(forward), "backward": staticmethod(function.backward)}
    if function.jvp is not torch.autograd.Function.jvp:
        members["jvp"] = staticmethod(function.jvp)
    return type(function.__name__, (torch.autograd.Function,), members)


def applied(function: Any, *args: Any) -> Any:
    """``function.apply(*args)`` of a Function with setup_context."""
    if torch._C._are_functorch_transforms_active() or torch.compiler.is_compiling():
        return function.apply(*args)
    eager = _eager.get(function)
    if eager is None:
        eager = _eager.setdefault(function, _eager_of(function))
    return eager.apply(*args)
