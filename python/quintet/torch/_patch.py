"""``torch.linalg.svd``, ``eigh`` and ``lstsq`` and everything that rests on them, by this library: the processor's kernels
of ``aten::_linalg_svd``, ``aten::_linalg_eigh`` and ``aten::linalg_lstsq`` are exchanged at the dispatcher, so torch's own
derivatives, vmap and compilation stay as they are.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from .. import linalg
from .._errors import InvalidArgument
from . import _eigen, _svd
from ._tensors import CODES, plain

__all__ = ["patch", "patched", "unpatch"]

#: Largest number of rows and of columns that the patched kernel takes; others go to torch's own.
MAX_SIZE = {torch.float32: 128, torch.float64: 64}

_lock = threading.RLock()
_depth: list[dict[torch.dtype, int]] = []
_library: Any = None
_native: dict[str, Any] = {}
_sizes: dict[torch.dtype, int] = {}
_keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
_ANY_SIZE = 1 << 24  # of types that torch's kernel does not have


def _memory_of(A: Tensor) -> Tensor:
    """A Parameter as the tensor that it is: memory like any."""
    if type(A) is not Tensor and type(A).__torch_dispatch__ is Tensor.__torch_dispatch__:
        with torch._C.DisableTorchFunctionSubclass():
            return A.as_subclass(Tensor)
    return A


def _kernel(
    A: Tensor, full_matrices: bool = False, compute_uv: bool = True, *, driver: str | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    limit = _sizes.get(A.dtype, 0)
    m, n = A.shape[-2:]
    A = _memory_of(A)
    if m > limit or n > limit or driver is not None or type(A) is not Tensor:
        result: tuple[Tensor, Tensor, Tensor] = _native["_linalg_svd"].call_boxed(
            _keys, A, full_matrices, compute_uv, driver=driver
        )
        return result
    if compute_uv:
        U, S, Vh = _svd.decompose(A, full_matrices)
    else:
        U, S, Vh = A.new_empty(0), _svd.values(A), A.new_empty(0)
    return U, S.to(A.dtype), Vh


def _eigen_kernel(A: Tensor, UPLO: str = "L", compute_v: bool = True) -> tuple[Tensor, Tensor]:
    A = _memory_of(A)
    if A.shape[-1] > _sizes.get(A.dtype, 0) or type(A) is not Tensor:
        result: tuple[Tensor, Tensor] = _native["_linalg_eigh"].call_boxed(_keys, A, UPLO, compute_v)
        return result
    w, V = _eigen.eigen(A, UPLO in "Uu", compute_v)
    return w.to(A.dtype), A.new_empty(0) if V is None else V


def _solution(A: Tensor, b: Tensor, rcond: float | None) -> tuple[Tensor, Tensor] | None:
    """x and the ranks; None for what torch's kernel has to answer."""
    limit = _sizes.get(A.dtype, 0)
    is_ours = type(A) is Tensor and type(b) is Tensor and A.dim() >= 2 and max(A.shape[-2:]) <= limit
    if not is_ours or A.dtype != b.dtype or A.shape[:-1] not in (b.shape, b.shape[:-1]):
        return None
    if rcond is not None and not rcond >= 0:
        return None
    try:
        found = linalg.lstsq(plain(A), plain(b), rtol=rcond, return_info=True)
    except linalg.LinAlgError as error:
        raise torch.linalg.LinAlgError(f"linalg.lstsq: {error}") from None
    return found.x, found.rank


def _lstsq_kernel(
    A: Tensor, b: Tensor, rcond: float | None = None, *, driver: str | None = None
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """As torch's default driver, gelsy, has it: without residuals and singular values."""
    A, b = _memory_of(A), _memory_of(b)
    found = _solution(A, b, rcond) if driver is None else None
    if found is None:
        result: tuple[Tensor, Tensor, Tensor, Tensor] = _native["linalg_lstsq"].call_boxed(
            _keys, A, b, rcond, driver=driver
        )
        return result
    return found[0], A.new_empty(0), found[1], A.new_empty(0)


_KERNELS = {"_linalg_svd": _kernel, "_linalg_eigh": _eigen_kernel, "linalg_lstsq": _lstsq_kernel}


def _checked(max_size: Mapping[torch.dtype, int] | None) -> dict[torch.dtype, int]:
    sizes = {torch.float16: _ANY_SIZE, torch.bfloat16: _ANY_SIZE, **MAX_SIZE}
    for dtype, size in (max_size or {}).items():
        if dtype not in CODES:
            raise TypeError(f"max_size must name float16, bfloat16, float32 or float64 (max_size has {dtype})")
        if size < 0:
            raise InvalidArgument(f"max_size must be >= 0 (max_size[{dtype}]={size})")
        sizes[dtype] = size
    return sizes


def patch(max_size: Mapping[torch.dtype, int] | None = None) -> None:
    """Lets this library decompose matrices of at most ``max_size[dtype]`` rows and columns for ``torch.linalg.svd``,
    ``svdvals``, ``pinv``, ``matrix_rank``, ``cond``, ``matrix_norm`` (2 and nuc), ``torch.svd``, ``Tensor.svd``,
    ``svd_lowrank``, and ``torch.linalg.eigh``, ``eigvalsh`` and ``lstsq``, on the processor. None: 128 for float32, 64 for
    float64. half and bfloat16, which torch's kernel does not have, are taken in any size. Complex matrices, larger ones,
    and calls with a ``driver`` stay torch's. Derivatives stay torch's, too: they are NaN where singular values or
    eigenvalues are equal. :func:`svd`, :func:`spectral`, :func:`polar` and :func:`eigh` are for those.

    Calls nest: each takes one :func:`unpatch`. Any thread may call it; it holds for all threads.

    >>> import torch, quintet.torch as qt
    >>> qt.patch()
    >>> torch.linalg.svdvals(torch.eye(2).half())
    tensor([1., 1.], dtype=torch.float16)
    >>> qt.unpatch()
    """
    global _library, _native, _sizes
    sizes = _checked(max_size)
    with _lock:
        _depth.append(_sizes)
        _sizes = sizes
        if _library is None:
            _native = {name: torch.library.get_kernel(f"aten::{name}", "CPU") for name in _KERNELS}
            _library = torch.library.Library("aten", "IMPL")
            for name, kernel in _KERNELS.items():
                _library.impl(name, kernel, "CPU", allow_override=True)


def unpatch() -> None:
    """Undoes one :func:`patch`; after the last, torch's kernel is back. Without one, nothing happens."""
    global _library, _sizes
    with _lock:
        if not _depth:
            return
        _sizes = _depth.pop()
        if not _depth and _library is not None:
            _library._destroy()
            _library = None


@contextlib.contextmanager
def patched(max_size: Mapping[torch.dtype, int] | None = None) -> Iterator[None]:
    """``with patched():`` :func:`patch` inside, for all threads.

    >>> import torch, quintet.torch as qt
    >>> with qt.patched():
    ...     torch.linalg.pinv(torch.eye(2)).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    patch(max_size)
    try:
        yield
    finally:
        unpatch()
