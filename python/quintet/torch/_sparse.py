"""Products of sparse tensors with gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from .._errors import DeviceError, InvalidArgument

__all__ = ["sampled", "spgemm", "spmm"]


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


class _Pattern:
    """The entries of a sparse_csr tensor without their values."""

    def __init__(self, t: Tensor) -> None:
        t = t.detach()
        self.shape = tuple(t.shape)
        self.tensors = (t.crow_indices(), t.col_indices())
        self.indptr, self.indices = (part.numpy() for part in self.tensors)

    def matrix(self, values: Tensor, transposed: bool = False) -> Any:
        """With these values as a matrix of SciPy, or its transpose."""
        import scipy.sparse

        parts = (values.detach().contiguous().numpy(), self.indices, self.indptr)
        if transposed:
            return scipy.sparse.csc_array(parts, shape=self.shape[::-1])
        return scipy.sparse.csr_array(parts, shape=self.shape)

    def tensor(self, values: Tensor) -> Tensor:
        return torch.sparse_csr_tensor(*self.tensors, values, size=self.shape)


class _TimesDense(torch.autograd.Function):
    """The matrix of a pattern and values, or its transpose, times a dense one; differentiable any number of times."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, X: Tensor, pattern: _Pattern, transposed: bool) -> Any:
        from .. import sparse

        ctx.save_for_backward(values, X)
        ctx.pattern, ctx.transposed = pattern, transposed
        dense = X.detach().contiguous().numpy()
        return torch.from_numpy(sparse.multiply_dense(pattern.matrix(values, transposed), dense))

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (G,), (values, X), pattern = grads, ctx.saved_tensors, ctx.pattern
        gv = gx = None
        if ctx.needs_input_grad[0]:
            gv = _Sampled.apply(*((X, G) if ctx.transposed else (G, X)), pattern)
        if ctx.needs_input_grad[1]:
            gx = _TimesDense.apply(values, G, pattern, not ctx.transposed)
        return gv, gx, None, None


class _Sampled(torch.autograd.Function):
    """Products of rows of X and Y at the entries of a pattern; differentiable any number of times."""

    @staticmethod
    def forward(ctx: Any, X: Tensor, Y: Tensor, pattern: _Pattern) -> Any:
        from .. import sparse

        ctx.save_for_backward(X, Y)
        ctx.pattern = pattern
        x, y = (t.detach().contiguous().numpy() for t in (X, Y))
        structure = pattern.matrix(torch.ones(len(pattern.indices), dtype=X.dtype))
        return torch.from_numpy(sparse.sampled(structure, x, y).data)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (G,), (X, Y), pattern = grads, ctx.saved_tensors, ctx.pattern
        gx = _TimesDense.apply(G, Y, pattern, False) if ctx.needs_input_grad[0] else None
        gy = _TimesDense.apply(G, X, pattern, True) if ctx.needs_input_grad[1] else None
        return gx, gy, None


class _SparseTimesDense(torch.autograd.Function):
    """A X of a sparse_csr tensor with gradients: torch does not differentiate what it returns as a sparse tensor."""

    @staticmethod
    def forward(ctx: Any, A: Tensor, X: Tensor) -> Any:
        ctx.pattern = _Pattern(A)
        ctx.save_for_backward(A.detach().values(), X)
        return _TimesDense.apply(A.detach().values(), X, ctx.pattern, False)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *grads: Any) -> Any:
        (G,), (values, X), pattern = grads, ctx.saved_tensors, ctx.pattern
        ga = pattern.tensor(_Sampled.apply(G, X, pattern)) if ctx.needs_input_grad[0] else None
        gx = _TimesDense.apply(values, G, pattern, True) if ctx.needs_input_grad[1] else None
        return ga, gx


class _SampledTensor(torch.autograd.Function):
    """Products at the entries of a pattern, as a sparse_csr tensor."""

    @staticmethod
    def forward(ctx: Any, X: Tensor, Y: Tensor, pattern: _Pattern) -> Any:
        ctx.save_for_backward(X, Y)
        ctx.pattern = pattern
        return pattern.tensor(_Sampled.apply(X, Y, pattern))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *grads: Any) -> Any:
        (X, Y), pattern = ctx.saved_tensors, ctx.pattern
        structure = pattern.matrix(torch.zeros(len(pattern.indices), dtype=X.dtype))
        G = torch.from_numpy(_on_pattern(grads[0], structure).data)
        gx = _TimesDense.apply(G, Y, pattern, False) if ctx.needs_input_grad[0] else None
        gy = _TimesDense.apply(G, X, pattern, True) if ctx.needs_input_grad[1] else None
        return gx, gy, None


class _Converted(torch.autograd.Function):
    """A sparse_csr tensor with values of another type; so are the gradients."""

    @staticmethod
    def forward(ctx: Any, t: Tensor, dtype: torch.dtype) -> Any:
        ctx.dtype = t.dtype
        t = t.detach()
        return torch.sparse_csr_tensor(t.crow_indices(), t.col_indices(), t.values().to(dtype), size=t.shape)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads[0].to(ctx.dtype), None


#: Computed in float32.
_HALF = (torch.float16, torch.bfloat16)


def _check_sparse(t: Any, name: str, types: tuple[torch.dtype, ...] = (torch.float32, torch.float64)) -> None:
    if not isinstance(t, torch.Tensor) or t.layout not in (torch.sparse_csr, torch.sparse_coo):
        raise TypeError(f"{name} must be a sparse_csr or sparse_coo tensor: use {name}.to_sparse_csr()")
    if t.dtype not in types:
        allowed = ", ".join(str(dtype).removeprefix("torch.") for dtype in types[:-1])
        raise TypeError(f"{name} must be of type {allowed} or {str(types[-1]).removeprefix('torch.')} (dtype={t.dtype})")
    if t.device.type != "cpu":
        raise DeviceError(f"{name} must lie in the processor's memory (device={t.device})")


def _rows_of(t: Tensor) -> Tensor:
    return t if t.layout is torch.sparse_csr else t.coalesce().to_sparse_csr()


def _take_sparse(t: Any, name: str) -> Tensor:
    """A matrix as a sparse_csr tensor; sparse_coo tensors are converted, with gradients."""
    _check_sparse(t, name)
    if t.dim() != 2:
        raise InvalidArgument(f"{name} must have 2 dimensions (shape={tuple(t.shape)})")
    return _rows_of(t)


def _block_diagonal(t: Tensor) -> Tensor:
    """The matrices of a batch, a sparse_coo tensor of 3 dimensions, one behind the other on a diagonal."""
    batch, rows, cols = t.shape
    t = t.coalesce()
    item, row, col = t.indices()
    places = torch.stack((item * rows + row, item * cols + col))
    return torch.sparse_coo_tensor(places, t.values(), (batch * rows, batch * cols), is_coalesced=True).to_sparse_csr()


def _batch_of(t: Tensor, batch: int, rows: int, cols: int) -> Tensor:
    """The blocks of a block-diagonal matrix."""
    t = t.to_sparse_coo().coalesce()
    row, col = t.indices()
    places = torch.stack((row // max(rows, 1), row % max(rows, 1), col % max(cols, 1)))
    return torch.sparse_coo_tensor(places, t.values(), (batch, rows, cols), is_coalesced=True)


def _check_dense(t: Any, name: str, like: Tensor) -> None:
    if not isinstance(t, torch.Tensor) or t.layout is not torch.strided:
        raise TypeError(f"{name} must be a dense tensor")
    if t.dtype != like.dtype:
        raise TypeError(f"{name} must be of the type of the sparse tensor, {like.dtype} (dtype={t.dtype})")
    if t.device.type != "cpu":
        raise DeviceError(f"{name} must lie in the processor's memory (device={t.device})")
    if t.dim() != 2:
        raise InvalidArgument(f"{name} must have 2 dimensions (shape={tuple(t.shape)})")


def spmm(A: Tensor, X: Tensor) -> Tensor:
    """``A @ X`` of a sparse_csr or sparse_coo tensor ``A[m, k]`` and a dense one ``X[k, n]`` of its type, on the processor.

    Gradients of A have its entries: ``G X^T`` where A has some, a sparse_csr tensor. Where A needs none, the gradient
    of X can be differentiated again, any number of times.

    >>> import torch, quintet.torch as qt
    >>> A = torch.eye(3).to_sparse_csr()
    >>> qt.spmm(A, torch.ones(3, 2)).sum().item()
    6.0
    """
    A = _take_sparse(A, "A")
    _check_dense(X, "X", A)
    if A.shape[1] != X.shape[0]:
        raise InvalidArgument(f"A must have as many columns as X has rows (A: {tuple(A.shape)}, X: {tuple(X.shape)})")
    needs_both = A.requires_grad and torch.is_grad_enabled()
    out: Tensor = (
        _SparseTimesDense.apply(A, X) if needs_both else _TimesDense.apply(A.detach().values(), X, _Pattern(A), False)
    )
    return out


def sampled(M: Tensor, X: Tensor, Y: Tensor) -> Tensor:
    """``X Y^T`` where the sparse_csr or sparse_coo tensor ``M[m, k]`` has entries: a sparse_csr tensor with these values.

    X[m, n] and Y[k, n] are dense, of the type of M; the values of M are not read. Gradients of X and Y cannot be
    differentiated again.

    >>> import torch, quintet.torch as qt
    >>> M = torch.eye(3).to_sparse_csr()
    >>> qt.sampled(M, torch.ones(3, 2), torch.ones(3, 2)).values().tolist()
    [2.0, 2.0, 2.0]
    """
    M = _take_sparse(M, "M")
    for t, name in ((X, "X"), (Y, "Y")):
        _check_dense(t, name, M)
    if X.shape[0] != M.shape[0] or Y.shape[0] != M.shape[1] or X.shape[1] != Y.shape[1]:
        raise InvalidArgument(f"M, X and Y must fit: {tuple(M.shape)}, {tuple(X.shape)} and {tuple(Y.shape)}")
    out: Tensor = _SampledTensor.apply(X, Y, _Pattern(M))
    return out


def spgemm(A: Tensor, B: Tensor) -> Tensor:
    """``A @ B`` of two sparse_csr or sparse_coo tensors on the processor, as a sparse_csr tensor with sorted columns;
    those of A and B may be in any order, as in results of torch. Entries that cancel are kept. Gradients are sparse_csr
    tensors with the entries of A and B in their order: G B^T with A as the mask, and A^T G with B as the mask; they
    cannot be differentiated again.

    Types are float32, float64, float16 and bfloat16; sums of the last two are those of float32, rounded at the end. A
    batch is a sparse_coo tensor of 3 dimensions, and so is its product.

    >>> import torch, quintet.torch as qt
    >>> A = torch.eye(3).to_sparse_csr()
    >>> qt.spgemm(A, A).to_dense().trace().item()
    3.0
    """
    for t, name in ((A, "A"), (B, "B")):
        _check_sparse(t, name, (torch.float32, torch.float64, *_HALF))
        if t.dim() not in (2, 3):
            raise InvalidArgument(f"{name} must have 2 dimensions, or 3 for a batch (shape={tuple(t.shape)})")
        if t.dim() == 3 and t.layout is not torch.sparse_coo:
            raise TypeError(f"a batch must be a sparse_coo tensor: use {name}.to_sparse_coo()")
    if A.dtype != B.dtype:
        raise TypeError(f"A and B must be of one type (A: {A.dtype}, B: {B.dtype})")
    if A.dim() != B.dim() or A.shape[:-2] != B.shape[:-2]:
        raise InvalidArgument(f"A and B must be matrices or batches of one size (A: {tuple(A.shape)}, B: {tuple(B.shape)})")
    if A.shape[-1] != B.shape[-2]:
        raise InvalidArgument(
            f"A must have as many columns as B has rows (A: {tuple(A.shape)}, B: {tuple(B.shape)})"
        )
    if A.dim() == 3:
        batch, rows, cols = A.shape[0], A.shape[1], B.shape[2]
        return _batch_of(spgemm(_block_diagonal(A), _block_diagonal(B)), batch, rows, cols)
    A, B = _rows_of(A), _rows_of(B)
    if A.dtype in _HALF:
        single = _Product.apply(_Converted.apply(A, torch.float32), _Converted.apply(B, torch.float32))
        half: Tensor = _Converted.apply(single, A.dtype)
        return half
    out: Tensor = _Product.apply(A, B)
    return out
