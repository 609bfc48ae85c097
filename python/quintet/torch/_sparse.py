"""Products of sparse tensors with gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from .._errors import DeviceError, InvalidArgument

__all__ = ["spgemm"]


def _scipy(t: Tensor) -> Any:
    import scipy.sparse

    t = t.detach()
    parts = (t.values().numpy(), t.col_indices().numpy(), t.crow_indices().numpy())
    return scipy.sparse.csr_array(parts, shape=tuple(t.shape))


def _tensor(m: Any) -> Tensor:
    return torch.sparse_csr_tensor(
        torch.from_numpy(m.indptr.astype(np.int64, copy=False)),
        torch.from_numpy(m.indices.astype(np.int64, copy=False)),
        torch.from_numpy(m.data),
        size=m.shape,
    )


def _rows(m: Any) -> np.ndarray:
    return np.repeat(np.arange(m.shape[0]), np.diff(m.indptr))


def _pattern_values(canonical: Any, pattern: Any) -> np.ndarray:
    """The value of `canonical`, with ascending columns, at every entry of `pattern`, in any order; 0 without an entry."""
    if np.array_equal(canonical.indptr, pattern.indptr) and np.array_equal(canonical.indices, pattern.indices):
        return np.ascontiguousarray(canonical.data)
    if canonical.nnz == 0:
        return np.zeros(len(pattern.indices), canonical.data.dtype)
    width = pattern.shape[1]  # rows * width is a number of 64 bits, as torch has no larger tensors
    keys, wanted = (_rows(m) * width + m.indices for m in (canonical, pattern))
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    out: np.ndarray = np.where(keys[places] == wanted, canonical.data[places], canonical.data.dtype.type(0))
    return out


def _on_pattern(gradient: Tensor, of: Any) -> Any:
    """The gradient after a sparse matrix, dense or sparse, on that matrix' pattern. No product leads to other entries."""
    result = of.copy()
    if gradient.layout is torch.strided:
        result.data = gradient.detach().numpy()[_rows(of), of.indices]
    else:
        entries = _scipy(gradient.to_sparse_csr()).copy()
        entries.sum_duplicates()
        result.data = _pattern_values(entries, of)
    return result


class _Product(torch.autograd.Function):
    """C = A B; gA = (G B^T) on the pattern of A, gB = (A^T G) on that of B: products with a mask."""

    @staticmethod
    def forward(ctx: Any, A: Tensor, B: Tensor) -> Any:
        from .. import sparse

        ctx.A, ctx.B = _scipy(A), _scipy(B)
        ctx.C = sparse.multiply(ctx.A, ctx.B)
        return _tensor(ctx.C)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *grads: Any) -> Any:
        from .. import sparse

        A, B = ctx.A, ctx.B
        G = _on_pattern(grads[0], ctx.C)
        ga = gb = None
        if ctx.needs_input_grad[0]:
            ga = A.copy()
            ga.data = _pattern_values(sparse.multiply(G, B, transpose_b=True, mask=A), A)
            ga = _tensor(ga)
        if ctx.needs_input_grad[1]:
            gb = B.copy()
            gb.data = _pattern_values(sparse.multiply(sparse.transpose(A), G, mask=B), B)
            gb = _tensor(gb)
        return ga, gb


def spgemm(A: Tensor, B: Tensor) -> Tensor:
    """``A @ B`` of two sparse_csr tensors of float32 or float64 on the processor, as a sparse_csr tensor with sorted
    columns; those of A and B may be in any order, as in results of torch. Entries that cancel are kept. Gradients are
    sparse_csr tensors with the entries of A and B in their order: G B^T with A as the mask, and A^T G with B as the
    mask; they cannot be differentiated again.

    >>> import torch, quintet.torch as qt
    >>> A = torch.eye(3).to_sparse_csr()
    >>> qt.spgemm(A, A).to_dense().trace().item()
    3.0
    """
    for t, name in ((A, "A"), (B, "B")):
        if not isinstance(t, torch.Tensor) or t.layout is not torch.sparse_csr:
            raise TypeError(f"{name} must be a sparse_csr tensor: use {name}.to_sparse_csr()")
        if t.dtype not in (torch.float32, torch.float64):
            raise TypeError(f"{name} must be of type float32 or float64 (dtype={t.dtype})")
        if t.device.type != "cpu":
            raise DeviceError(f"{name} must lie in the processor's memory (device={t.device})")
        if t.dim() != 2:
            raise InvalidArgument(f"{name} must have 2 dimensions (shape={tuple(t.shape)})")
    if A.dtype != B.dtype:
        raise TypeError(f"A and B must be of one type (A: {A.dtype}, B: {B.dtype})")
    if A.shape[1] != B.shape[0]:
        raise InvalidArgument(
            f"A must have as many columns as B has rows (A: {tuple(A.shape)}, B: {tuple(B.shape)})"
        )
    out: Tensor = _Product.apply(A, B)
    return out
