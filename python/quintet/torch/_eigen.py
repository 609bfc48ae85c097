"""The symmetric eigenproblem with gradients, in the layers of :mod:`._svd`.

The gradient is ``V (diag(gw) + F o (P - P^T) / 2) V^T`` with P = V^T gV and F_ij = 1 / (w_j - w_i): symmetric, as the
matrices are. It is written in torch, so that its own derivatives are torch's. Of the generalised problem A V = B V W with
V^T B V = I it is the same after A, and ``-V (diag(gw w) + M o F o (P - P^T) / 2 + (P + P^T) / 4) V^T`` after B, where
M_ij = (w_i + w_j) / 2: what is divided by a gap is as small where eigenvalues are equal as after A.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.library import custom_op, register_autograd, register_fake, register_vmap

from .. import _core
from .._errors import InvalidArgument
from ._svd import (
    POLICIES,
    LinAlgError,
    _batch_of,
    _by_columns,
    _check_matrix,
    _front,
    _has_history,
    _options,
    _reciprocal,
    _status_text,
    is_plain,
)
from ._tensors import REAL, applied, plain

__all__ = ["eigh", "eigvalsh"]


class Eigh(NamedTuple):
    """What :func:`eigh` returns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


# --- The binding -------------------------------------------------------------------------------------------------------


def _outputs(A: Tensor) -> tuple[Tensor, Tensor]:
    """w, and V by columns, as torch's own kernel has it."""
    lead, n = list(A.shape[:-2]), A.shape[-1]
    w = A.new_empty(A.shape[:-1], dtype=REAL[A.dtype])
    return w, A.new_empty_strided(A.shape, _by_columns(lead, n, n))


def eigen(
    A: Tensor, upper: bool, vectors: bool = True, B: Tensor | None = None
) -> tuple[Tensor, Tensor | None]:
    """w and V of a tensor without regard to its history, B of the same shape. Raises LinAlgError with torch's text."""
    A = plain(A)
    matrices, count, _owner = _batch_of(A)
    right, _, _right_owner = (None, 0, None) if B is None else _batch_of(plain(B))
    w, V = _outputs(A)
    n = A.shape[-1]
    into = None
    if vectors:
        into = _batch_of(V)[0]
    status = np.empty(count, np.int32)
    values = (w.data_ptr(), "d" if w.dtype == torch.float64 else "f", (count, n), (n, 1), -1)
    if _core.svd_eigen(matrices, values, into, status, upper, "auto", right):
        raise LinAlgError(_status_text(torch.from_numpy(status), tuple(A.shape[:-2]), "linalg.eigh"))
    return w, V if vectors else None


# --- The formulas ------------------------------------------------------------------------------------------------------


def _by_gaps(w: Tensor, policy: int, tolerance: float) -> tuple[Tensor, Tensor]:
    """Of values divided by the largest of them, which is the second result, a constant: 1 / (w_j - w_i), 0 on the
    diagonal."""
    n = w.shape[-1]
    if tolerance == 0:
        tolerance = 10 * n * torch.finfo(w.dtype).eps
    largest = w.detach().abs().amax(-1, keepdim=True) if n else w.detach()
    scale = torch.where(largest > 0, largest, 1.0)
    w = w / scale
    off = ~torch.eye(n, dtype=torch.bool, device=w.device)
    gap = torch.where(off, w.unsqueeze(-2) - w.unsqueeze(-1), 1.0)
    unit = (largest / scale).unsqueeze(-1)
    return torch.where(off, _reciprocal(gap, unit, policy, tolerance), 0.0), scale.unsqueeze(-1)


def _formula(w: Tensor, V: Tensor, gw: Tensor | None, gV: Tensor | None, policy: int, tolerance: float) -> Tensor:
    """The gradient after A. Without a gV nothing is divided."""
    dtype, real = V.dtype, w.dtype
    V = V.to(real)
    middle = torch.zeros_like(V) if gw is None else torch.diag_embed(gw.to(real))
    if gV is not None:
        by_gap, scale = _by_gaps(w, policy, tolerance)
        P = V.mT @ (gV.to(real) / scale)
        middle = middle + (P - P.mT) * by_gap / 2
    return (V @ middle @ V.mT).to(dtype)


def _push(w: Tensor, V: Tensor, dA: Tensor, policy: int, tolerance: float) -> tuple[Tensor, Tensor]:
    """dw and dV of a change dA; its symmetric part counts."""
    dtype, real = V.dtype, w.dtype
    V = V.to(real)
    by_gap, scale = _by_gaps(w, policy, tolerance)
    change = V.mT @ (dA.to(real) / scale) @ V
    change = (change + change.mT) / 2
    return change.diagonal(dim1=-2, dim2=-1) * scale.squeeze(-1), (V @ (change * by_gap)).to(dtype)


def _generalised_formula(
    w: Tensor, V: Tensor, gw: Tensor | None, gV: Tensor | None, policy: int, tolerance: float
) -> tuple[Tensor, Tensor]:
    """The gradients after A and B."""
    dtype, real = V.dtype, w.dtype
    V = V.to(real)
    of_a = of_b = torch.zeros_like(V)
    if gw is not None:
        of_a, of_b = torch.diag_embed(gw.to(real)), torch.diag_embed(gw.to(real) * w)
    if gV is not None:
        by_gap, scale = _by_gaps(w, policy, tolerance)
        gV = gV.to(real)
        P, Q = V.mT @ (gV / scale), V.mT @ gV
        turned = (P - P.mT) * by_gap / 2
        of_a = of_a + turned
        of_b = of_b + turned * _means(w) + (Q + Q.mT) / 4
    return (V @ of_a @ V.mT).to(dtype), (-V @ of_b @ V.mT).to(dtype)


def _means(w: Tensor) -> Tensor:
    return w.unsqueeze(-1) / 2 + w.unsqueeze(-2) / 2


def _generalised_push(
    w: Tensor, V: Tensor, dA: Tensor | None, dB: Tensor | None, policy: int, tolerance: float
) -> tuple[Tensor, Tensor]:
    """dw and dV of changes of A and B, None for none."""
    dtype, real = V.dtype, w.dtype
    V = V.to(real)
    by_gap, scale = _by_gaps(w, policy, tolerance)

    def change(d: Tensor | None, by: Tensor | float) -> Tensor:
        if d is None:
            return torch.zeros_like(V)
        product = V.mT @ (d.to(real) / by) @ V
        return (product + product.mT) / 2

    of_a, of_b = change(dA, scale), change(dB, 1.0)
    dw = of_a.diagonal(dim1=-2, dim2=-1) * scale.squeeze(-1) - w * of_b.diagonal(dim1=-2, dim2=-1)
    return dw, (V @ ((of_a - _means(w / scale.squeeze(-1)) * of_b) * by_gap - of_b / 2)).to(dtype)


# --- The operator, which torch.compile sees ----------------------------------------------------------------------------


@custom_op("quintet::eigh", mutates_args=())
def _eigh_op(A: Tensor, upper: bool, policy: int, tolerance: float) -> tuple[Tensor, Tensor]:
    w, V = eigen(A, upper)
    assert V is not None
    return w, V


@register_fake("quintet::eigh")
def _(A: Tensor, upper: bool, policy: int, tolerance: float) -> tuple[Tensor, Tensor]:
    return _outputs(A)


@register_vmap("quintet::eigh")
def _(info: Any, in_dims: Any, A: Tensor, upper: bool, policy: int, tolerance: float) -> Any:
    return _eigh_op(_front(A, in_dims[0], info.batch_size), upper, policy, tolerance), (0, 0)


def _save(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(*output)
    ctx.policy, ctx.tolerance = inputs[2], inputs[3]


def _backward_of_op(ctx: Any, gw: Tensor | None, gV: Tensor | None) -> Any:
    w, V = ctx.saved_tensors
    return _formula(w, V, gw, gV, ctx.policy, ctx.tolerance), None, None, None


register_autograd("quintet::eigh", _backward_of_op, setup_context=_save)


class _EighFunction(torch.autograd.Function):
    @staticmethod
    def forward(A: Tensor, upper: bool, policy: int, tolerance: float) -> Any:
        return eigen(A, upper) if is_plain(A) else _eigh_op(A.detach(), upper, policy, tolerance)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        _save(ctx, inputs, output)
        ctx.save_for_forward(*output)
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        gw, gV = grads
        if gw is None and gV is None:
            return None, None, None, None
        return _backward_of_op(ctx, gw, gV)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        w, V = ctx.saved_tensors
        return _push(w, V, tangents[0], ctx.policy, ctx.tolerance)

    @staticmethod
    def vmap(info: Any, in_dims: Any, A: Tensor, upper: bool, policy: int, tolerance: float) -> Any:
        return applied(_EighFunction, _front(A, in_dims[0], info.batch_size), upper, policy, tolerance), (0, 0)


# --- The same of the generalised problem --------------------------------------------------------------------------------


@custom_op("quintet::eigh_generalised", mutates_args=())
def _generalised_op(A: Tensor, B: Tensor, upper: bool, policy: int, tolerance: float) -> tuple[Tensor, Tensor]:
    w, V = eigen(A, upper, True, B)
    assert V is not None
    return w, V


@register_fake("quintet::eigh_generalised")
def _(A: Tensor, B: Tensor, upper: bool, policy: int, tolerance: float) -> tuple[Tensor, Tensor]:
    return _outputs(A)


@register_vmap("quintet::eigh_generalised")
def _(info: Any, in_dims: Any, A: Tensor, B: Tensor, upper: bool, policy: int, tolerance: float) -> Any:
    A, B = (_front(t, dim, info.batch_size) for t, dim in zip((A, B), in_dims))
    return _generalised_op(A, B, upper, policy, tolerance), (0, 0)


def _save_generalised(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(*output)
    ctx.policy, ctx.tolerance = inputs[3], inputs[4]


def _backward_of_generalised(ctx: Any, gw: Tensor | None, gV: Tensor | None) -> Any:
    w, V = ctx.saved_tensors
    return (*_generalised_formula(w, V, gw, gV, ctx.policy, ctx.tolerance), None, None, None)


register_autograd("quintet::eigh_generalised", _backward_of_generalised, setup_context=_save_generalised)


class _GeneralisedFunction(torch.autograd.Function):
    @staticmethod
    def forward(A: Tensor, B: Tensor, upper: bool, policy: int, tolerance: float) -> Any:
        if is_plain(A, B):
            return eigen(A, upper, True, B)
        return _generalised_op(A.detach(), B.detach(), upper, policy, tolerance)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        _save_generalised(ctx, inputs, output)
        ctx.save_for_forward(*output)
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        gw, gV = grads
        if gw is None and gV is None:
            return (None,) * 5
        return _backward_of_generalised(ctx, gw, gV)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        w, V = ctx.saved_tensors
        return _generalised_push(w, V, tangents[0], tangents[1], ctx.policy, ctx.tolerance)

    @staticmethod
    def vmap(info: Any, in_dims: Any, A: Tensor, B: Tensor, upper: bool, policy: int, tolerance: float) -> Any:
        A, B = (_front(t, dim, info.batch_size) for t, dim in zip((A, B), in_dims))
        return applied(_GeneralisedFunction, A, B, upper, policy, tolerance), (0, 0)


# --- What users call ---------------------------------------------------------------------------------------------------


def _checked(A: Any, UPLO: str) -> bool:
    """Whether the upper triangle is read."""
    _check_matrix(A)
    if A.shape[-1] != A.shape[-2]:
        raise InvalidArgument(f"A must have square matrices (shape={tuple(A.shape)})")
    if UPLO not in ("L", "l", "U", "u"):
        raise InvalidArgument(f"UPLO must be 'L' or 'U' (UPLO={UPLO!r})")
    return UPLO in "Uu"


def _pair_of(A: Tensor, B: Tensor) -> tuple[Tensor, Tensor]:
    """Both with all leading dimensions."""
    _check_matrix(B, "B")
    if B.shape[-2:] != A.shape[-2:]:
        raise InvalidArgument(f"B must have matrices of the size of A's (A: {tuple(A.shape)}, B: {tuple(B.shape)})")
    if B.dtype != A.dtype:
        raise TypeError(f"B must be of the type of A (A: {A.dtype}, B: {B.dtype})")
    if A.shape == B.shape:
        return A, B
    try:
        lead = torch.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    except RuntimeError:
        raise InvalidArgument(
            f"leading dimensions of B must broadcast with those of A (A: {tuple(A.shape)}, B: {tuple(B.shape)})"
        ) from None
    return A.expand(*lead, *A.shape[-2:]), B.expand(*lead, *B.shape[-2:])


def _generalised(A: Tensor, B: Tensor, upper: bool, kind: int, limit: float, vectors: bool) -> Any:
    A, B = _pair_of(A, B)
    if is_plain(A, B):
        return eigen(A, upper, vectors, B)
    if torch.compiler.is_compiling() or not _has_history(A, B):
        return _generalised_op(A, B, upper, kind, limit)
    return applied(_GeneralisedFunction, A, B, upper, kind, limit)


def eigh(
    A: Tensor, UPLO: str = "L", *, B: Tensor | None = None, policy: str = "drop", tolerance: float = 0.0
) -> Eigh:
    """``A = V @ diag(w) @ V.mT`` of every symmetric matrix ``A[..., n, n]``, with gradients of every order, forward mode,
    vmap and torch.compile. Called as :func:`torch.linalg.eigh` is: w rises, and V has an eigenvector a column, with the
    element of largest size positive. Only the lower triangle is read, or the upper one with ``UPLO="U"``.

    With positive definite matrices ``B[..., n, n]`` the generalised problem ``A @ V = B @ V @ diag(w)`` with
    ``V.mT @ B @ V = I``, and gradients after both. Leading dimensions broadcast; the same triangle of both is read.

    The gradient is symmetric: that of a loss of ``(A + A.mT) / 2``. It is finite also where eigenvalues are equal, and
    right there for losses of w that treat equal ones alike; for ``V @ diag(f(w)) @ V.mT`` it is not. ``policy`` says what 1/x
    becomes for x = w_j - w_i near zero: "drop" 0 where ``|x| <= tolerance * max |w|``, "broaden"
    ``x / (x^2 + (tolerance * max |w|)^2)``, "exact" 1/x. tolerance 0 stands for ``10 n eps``.

    Raises TypeError for other types, InvalidArgument for shapes and options, torch.linalg.LinAlgError for matrices with
    NaN or infinity, and for B that is not positive definite.

    >>> import torch, quintet.torch as qt
    >>> A = torch.tensor([[2.0, 1.0], [1.0, 2.0]])
    >>> w, V = qt.eigh(A)
    >>> torch.allclose(V * w @ V.mT, A)
    True
    """
    upper = _checked(A, UPLO)
    kind, limit = _options(policy, tolerance)
    if B is not None:
        return Eigh(*_generalised(A, B, upper, kind, limit, True))
    if is_plain(A):
        return Eigh(*eigen(A, upper))  # type: ignore[arg-type]
    if torch.compiler.is_compiling() or not _has_history(A):
        return Eigh(*_eigh_op(A, upper, kind, limit))
    return Eigh(*applied(_EighFunction, A, upper, kind, limit))


def eigvalsh(A: Tensor, UPLO: str = "L", *, B: Tensor | None = None) -> Tensor:
    """Eigenvalues ``[..., n]`` of symmetric matrices, rising; with gradients, which are always finite. With B, of the
    generalised problem of :func:`eigh`.

    >>> import torch, quintet.torch as qt
    >>> qt.eigvalsh(torch.diag(torch.tensor([3.0, 1.0])))
    tensor([1., 3.])
    """
    upper = _checked(A, UPLO)
    if B is not None:
        values: Tensor = _generalised(A, B, upper, POLICIES["drop"], 0.0, False)[0]
        return values
    if is_plain(A):
        return eigen(A, upper, False)[0]
    if torch.compiler.is_compiling() or not _has_history(A):
        return _eigh_op(A, upper, POLICIES["drop"], 0.0)[0]
    w: Tensor = applied(_EighFunction, A, upper, POLICIES["drop"], 0.0)[0]
    return w
