"""Functions of the singular values, ``U f(S) V^T``, with their own derivatives: those of U, S and V do not suffice
where singular values are equal or zero, divided differences of f do.

With P = U^T E V, the change of ``U f(S) V^T`` for a change E of A is ``U X V^T`` and its parts outside the ranges of U and V,
X_ij = (f[s_i, s_j] (P_ij + P_ji) + f[s_i, -s_j] (P_ij - P_ji)) / 2 with f odd and f[s_j, 0] outside (Noferini 2017). The
map is its own adjoint: forward and backward mode are one formula.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from .. import linalg
from .._errors import InvalidArgument
from ._svd import POLICIES, Tolerance, _check_matrix, _front, _svd_op, is_plain, pinv, tolerance_of
from ._tensors import REAL, applied, check

__all__ = ["lstsq", "low_rank", "polar", "spectral"]

#: Values closer than this part of their sum: their quotient of differences would lose more digits than two points of df.
_CLOSE = 1e-4


class _Differences(NamedTuple):
    """f[s_i, s_j], f[s_i, -s_j] (0 on the diagonal, where nothing needs it), and f[s_j, 0]."""

    of_values: Tensor
    of_signs: Tensor
    of_zero: Tensor


class Kind(Protocol):
    """A function of the values of a decomposition ``U diag(S) Vh``."""

    def decomposed(self, A: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """U, S and Vh, none of them a view."""

    def values(self, S: Tensor) -> Tensor: ...

    def change(self, U: Tensor, S: Tensor, Vh: Tensor, E: Tensor) -> Tensor:
        """That of ``U f(S) Vh`` for a change E of the matrix; its own adjoint in E."""

    def curvature(self, U: Tensor, S: Tensor, Vh: Tensor, E: Tensor, G: Tensor) -> Tensor:
        """The change of change(E) for a change G of the matrix: symmetric in E, G and what its product is taken with."""


class _OfSingularValues:
    def decomposed(self, A: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        factors: tuple[Tensor, Tensor, Tensor] = _svd_op(A, False, POLICIES["exact"], 0.0)
        return factors

    def change(self, U: Tensor, S: Tensor, Vh: Tensor, E: Tensor) -> Tensor:
        return _apply_differences(U, S, Vh, E, self)

    def curvature(self, U: Tensor, S: Tensor, Vh: Tensor, E: Tensor, G: Tensor) -> Tensor:
        raise NotImplementedError(
            "functions of singular values have no second derivatives: use quintet.torch.svd for those"
        )

    def values(self, S: Tensor) -> Tensor:
        raise NotImplementedError

    def differences(self, S: Tensor, noise: Tensor) -> _Differences:
        raise NotImplementedError


def _pairs(S: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """s_i as rows, s_j as columns, and whether i = j."""
    return S.unsqueeze(-1), S.unsqueeze(-2), torch.eye(S.shape[-1], dtype=torch.bool)


class _Function(_OfSingularValues):
    """f with its derivative, elementwise."""

    def __init__(self, f: Callable[[Tensor], Tensor], df: Callable[[Tensor], Tensor]) -> None:
        self.f, self.df = f, df

    def _of(self, function: Callable[[Tensor], Tensor], name: str, S: Tensor) -> Tensor:
        result = function(S)
        if not isinstance(result, Tensor) or result.shape != S.shape:
            shape = tuple(result.shape) if isinstance(result, Tensor) else type(result).__name__
            raise InvalidArgument(f"{name} must return a tensor of the shape of its argument, {tuple(S.shape)} ({shape})")
        return result

    def values(self, S: Tensor) -> Tensor:
        return self._of(self.f, "f", S)

    def differences(self, S: Tensor, noise: Tensor) -> _Differences:
        row, column, same = _pairs(S)
        F = self.values(S)
        f_row, f_column, _ = _pairs(F)
        at_zero = self._of(self.f, "f", torch.zeros_like(S))
        slope = torch.where(at_zero == 0, self._of(self.df, "df", torch.zeros_like(S)), math.inf)
        gap, total = row - column, row + column
        close = gap.abs() <= _CLOSE * total
        # Gauss's two points (Abramowitz and Stegun 25.4.29).
        middle, half = total / 2, gap / math.sqrt(12)
        slopes = (self._of(self.df, "df", middle - half) + self._of(self.df, "df", middle + half)) / 2
        of_values = torch.where(close, slopes, (f_row - f_column) / torch.where(close, 1.0, gap))
        of_signs = torch.where(total > 0, (f_row + f_column) / torch.where(total > 0, total, 1.0), slope.unsqueeze(-1))
        of_zero = torch.where(S > 0, F / torch.where(S > 0, S, 1.0), slope)
        return _Differences(of_values, torch.where(same, 0.0, of_signs), of_zero)


class _Unit(_OfSingularValues):
    """f = 1: U V^T."""

    def values(self, S: Tensor) -> Tensor:
        return torch.ones_like(S)

    def differences(self, S: Tensor, noise: Tensor) -> _Differences:
        row, column, same = _pairs(S)
        return _Differences(torch.zeros_like(row - column), torch.where(same, 0.0, 2 / (row + column)), 1 / S)


class _Leading(_OfSingularValues):
    """f = s for the values that are kept, 0 for the others."""

    def __init__(self, rank: int | None, atol: float, rtol: float) -> None:
        self.rank, self.atol, self.rtol = rank, atol, rtol

    def _kept(self, S: Tensor) -> Tensor:
        least = torch.clamp(self.rtol * S[..., :1], min=self.atol)
        kept = (S > least) | (least == 0)
        return kept if self.rank is None else kept & (torch.arange(S.shape[-1]) < self.rank)

    def values(self, S: Tensor) -> Tensor:
        return torch.where(self._kept(S), S, 0.0)

    def differences(self, S: Tensor, noise: Tensor) -> _Differences:
        kept = self._kept(S)
        row, column, same = _pairs(S)
        in_row, in_column, _ = _pairs(kept)
        both, larger = in_row & in_column, torch.maximum(row, column)
        gap, total = (row - column).abs(), row + column
        # One that is kept and one that is not, equal up to rounding: no derivative.
        equal = gap <= noise
        split = in_row ^ in_column
        by_gap = torch.where(equal, math.nan, larger / torch.where(equal, 1.0, gap))
        by_sum = torch.where(total > 0, larger / torch.where(total > 0, total, 1.0), math.nan)
        inside = both.to(S.dtype)
        of_signs = torch.where(split, by_sum, inside)
        return _Differences(torch.where(split, by_gap, inside), torch.where(same, 0.0, of_signs), kept.to(S.dtype))


def _apply_differences(U: Tensor, S: Tensor, Vh: Tensor, E: Tensor, kind: _OfSingularValues) -> Tensor:
    m, n = E.shape[-2:]
    k = S.shape[-1]
    real = S.dtype
    U, V, change = U.to(real), Vh.mT.to(real), E.to(real)
    noise = 10 * max(m, n) * torch.finfo(real).eps * S[..., :1].unsqueeze(-1).double()
    of_values, of_signs, of_zero = (t.to(real) for t in kind.differences(S.double(), noise))
    on_v, on_u = change @ V, U.mT @ change
    P = U.mT @ on_v
    X = (of_values * (P + P.mT) + of_signs * (P - P.mT)) / 2
    left = U @ X
    if m > k:
        left = left + (on_v - U @ P) * of_zero.unsqueeze(-2)
    result = left @ V.mT
    if n > k:
        result = result + U @ (of_zero.unsqueeze(-1) * (on_u - P @ V.mT))
    return result.to(E.dtype)


class _Change(torch.autograd.Function):
    """The change of ``U f(S) V^T`` for a change E of A, linear in E."""

    @staticmethod
    def forward(A: Tensor, E: Tensor, U: Tensor, S: Tensor, Vh: Tensor, kind: Kind) -> Tensor:
        return kind.change(U, S, Vh, E)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs[:5])
        ctx.save_for_forward(*inputs[:5])
        ctx.kind = inputs[5]

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        A, E, U, S, Vh = ctx.saved_tensors
        by_A = applied(_Curvature, A, E, grads[0], U, S, Vh, ctx.kind) if ctx.needs_input_grad[0] else None
        by_E = applied(_Change, A, grads[0], U, S, Vh, ctx.kind) if ctx.needs_input_grad[1] else None
        return by_A, by_E, None, None, None, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        A, E, U, S, Vh = ctx.saved_tensors
        by_A = None if tangents[0] is None else applied(_Curvature, A, E, tangents[0], U, S, Vh, ctx.kind)
        by_E = None if tangents[1] is None else applied(_Change, A, tangents[1], U, S, Vh, ctx.kind)
        return by_E if by_A is None else by_A if by_E is None else by_A + by_E

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        tensors = [_front(t, d, info.batch_size) for t, d in zip(args[:5], in_dims[:5])]
        return applied(_Change, *tensors, args[5]), 0


class _Curvature(torch.autograd.Function):
    """The change of that change for a change G of A: linear in E and in G."""

    @staticmethod
    def forward(A: Tensor, E: Tensor, G: Tensor, U: Tensor, S: Tensor, Vh: Tensor, kind: Kind) -> Tensor:
        return kind.curvature(U, S, Vh, E, G)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs[:6])
        ctx.save_for_forward(*inputs[:6])
        ctx.kind = inputs[6]

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        if ctx.needs_input_grad[0]:
            raise _third_order()
        A, E, G, *factors = ctx.saved_tensors
        by_E, by_G = (
            applied(_Curvature, A, grads[0], other, *factors, ctx.kind) if needed else None
            for other, needed in zip((G, E), ctx.needs_input_grad[1:3])
        )
        return None, by_E, by_G, None, None, None, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        if tangents[0] is not None:
            raise _third_order()
        A, E, G, *factors = ctx.saved_tensors
        parts = [
            applied(_Curvature, A, change, other, *factors, ctx.kind)
            for change, other in ((tangents[1], G), (tangents[2], E))
            if change is not None
        ]
        return sum(parts[1:], parts[0])

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        tensors = [_front(t, d, info.batch_size) for t, d in zip(args[:6], in_dims[:6])]
        return applied(_Curvature, *tensors, args[6]), 0


def _third_order() -> Exception:
    return NotImplementedError("functions of eigenvalues have no third derivatives: use quintet.torch.eigh for those")


def mapped(A: Tensor, kind: Kind) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """``U f(S) Vh``, U, S and Vh of a tensor without history."""
    U, S, Vh = kind.decomposed(A)
    values = kind.values(S.double()).to(S.dtype)
    return ((U.to(S.dtype) * values.unsqueeze(-2)) @ Vh.to(S.dtype)).to(A.dtype), U, S, Vh


class _Spectral(torch.autograd.Function):
    @staticmethod
    def forward(A: Tensor, kind: Kind) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        return mapped(A.detach(), kind)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.mark_non_differentiable(*output[1:])
        ctx.save_for_backward(inputs[0], *output[1:])
        ctx.save_for_forward(inputs[0], *output[1:])
        ctx.kind = inputs[1]

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        A, U, S, Vh = ctx.saved_tensors
        return applied(_Change, A, grads[0], U, S, Vh, ctx.kind), None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        A, U, S, Vh = ctx.saved_tensors
        return applied(_Change, A, tangents[0], U, S, Vh, ctx.kind), None, None, None

    @staticmethod
    def vmap(info: Any, in_dims: Any, A: Tensor, kind: Kind) -> Any:
        return applied(_Spectral, _front(A, in_dims[0], info.batch_size), kind), (0, 0, 0, 0)


def map_values(A: Tensor, kind: Kind) -> Tensor:
    """``U f(S) Vh``, with its derivative."""
    result: Tensor = applied(_Spectral, A, kind)[0]
    return result


# --- What users call ---------------------------------------------------------------------------------------------------


def spectral(A: Tensor, f: Callable[[Tensor], Tensor], df: Callable[[Tensor], Tensor]) -> Tensor:
    """``U f(S) V^T`` ``[..., m, n]`` of every matrix ``A[..., m, n]`` = U diag(S) V^T, for a function f of the singular values
    and its derivative df. Both take a float64 tensor and return one of its shape, elementwise.

    The gradient is right wherever the result is smooth, also where singular values are equal, and where they are zero and
    f(0) = 0: there f counts as odd. Where f(0) is not 0 it is infinite or NaN at two values of zero, and at one if m != n.
    Near zero f must be accurate relative to itself: ``torch.expm1``, not ``exp(s) - 1``. First derivatives in backward and
    forward mode, torch.func and batches; a second one raises NotImplementedError.

    Soft thresholding, the proximal map of the nuclear norm:

    >>> import torch, quintet.torch as qt
    >>> A = torch.eye(3, dtype=torch.float64) * 2
    >>> qt.spectral(A, lambda s: (s - 0.5).clamp(min=0), lambda s: (s > 0.5).double())[0].tolist()
    [1.5, 0.0, 0.0]
    """
    _check_matrix(A)
    for name, function in (("f", f), ("df", df)):
        if not callable(function):
            raise TypeError(f"{name} must be a function ({name}={function!r})")
    return map_values(A, _Function(f, df))


def low_rank(A: Tensor, rank: int | None = None, *, rtol: float | None = None, atol: float | None = None) -> Tensor:
    """The nearest matrix of rank `rank` to every matrix ``A[..., m, n]``, or the part of the singular values above
    ``max(atol, rtol * S[0])``, as :func:`quintet.linalg.low_rank`.

    The gradient is that of the truncated matrix, right also where values that are kept are equal or zero. It is NaN where
    the last value that is kept and the first that is not are equal. First derivatives, as :func:`spectral`.

    >>> import torch, quintet.torch as qt
    >>> A = torch.ones(3, 3, dtype=torch.float64, requires_grad=True)
    >>> qt.low_rank(A, 1).sum().backward()
    >>> torch.allclose(A.grad, torch.ones(3, 3, dtype=torch.float64))
    True
    """
    _check_matrix(A)
    return map_values(A, _Leading(*linalg.truncation(rank, rtol, atol)))


class Polar(NamedTuple):
    """``A = W @ H``."""

    W: Tensor
    H: Tensor


def polar(A: Tensor) -> Polar:
    """``A = W @ H`` of every matrix: W ``[..., m, n]`` of orthonormal columns (rows, when m < n) and H ``[..., n, n]``
    symmetric and positive semidefinite.

    The gradient is right also where singular values are equal. It is infinite or NaN where W is not unique: at two
    singular values of zero, and at one if m != n. First derivatives, as :func:`spectral`.

    >>> import torch, quintet.torch as qt
    >>> W, H = qt.polar(torch.tensor([[0.0, -2.0], [2.0, 0.0]], dtype=torch.float64))
    >>> torch.allclose(H, 2 * torch.eye(2, dtype=torch.float64))
    True
    """
    _check_matrix(A)
    wide = A.to(REAL[A.dtype])
    W = map_values(wide, _Unit())
    H = W.mT @ wide
    return Polar(W.to(A.dtype), ((H + H.mT) / 2).to(A.dtype))


def _solve(A: Tensor, b: Tensor, tolerance: Tolerance) -> Tensor:
    x: Tensor = linalg.lstsq(A.detach(), b.detach(), rtol=tolerance.relative, atol=tolerance.absolute)
    return x


class _LeastSquares(torch.autograd.Function):
    """x = A^+ b; the derivative is Golub and Pereyra's (1973), for matrices of constant rank."""

    @staticmethod
    def forward(A: Tensor, b: Tensor, tolerance: Tolerance) -> Tensor:
        return _solve(A, b, tolerance)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs[:2])
        ctx.save_for_forward(*inputs[:2])
        ctx.tolerance = inputs[2]

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        A, b = ctx.saved_tensors
        G = grads[0]
        x, P = applied(_LeastSquares, A, b, ctx.tolerance), pinv(A, rtol=ctx.tolerance[0], atol=ctx.tolerance[1])
        by_b = P.mT @ G
        by_A = (b - A @ x) @ (P @ by_b).mT - by_b @ x.mT + (P.mT @ x) @ (G - A.mT @ by_b).mT
        return by_A, by_b, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        A, b = ctx.saved_tensors
        D = torch.zeros_like(A) if tangents[0] is None else tangents[0]
        x, P = applied(_LeastSquares, A, b, ctx.tolerance), pinv(A, rtol=ctx.tolerance[0], atol=ctx.tolerance[1])
        y = D.mT @ (P.mT @ x)
        change = P @ (P.mT @ (D.mT @ (b - A @ x))) - P @ (D @ x) + y - P @ (A @ y)
        return change if tangents[1] is None else change + P @ tangents[1]

    @staticmethod
    def vmap(info: Any, in_dims: Any, A: Tensor, b: Tensor, tolerance: Tolerance) -> Any:
        front = [_front(t, d, info.batch_size) for t, d in zip((A, b), in_dims)]
        return applied(_LeastSquares, *front, tolerance), 0


def lstsq(
    A: Tensor, b: Tensor, *, rtol: float | Tensor | None = None, atol: float | Tensor | None = None
) -> Tensor:
    """The x ``[..., n, r]`` of least norm among those that minimise ``|A x - b|``, for ``A[..., m, n]`` and ``b[..., m, r]``,
    or one right-hand side ``b[..., m]``. Singular values at or below ``max(atol, rtol * S[0])`` count as zero, with
    tolerances as :func:`pinv` has them.

    Gradients of every order after A and b, forward mode and torch.func. They are those of constant rank (Golub and
    Pereyra 1973), right also where singular values are equal.

    >>> import torch, quintet.torch as qt
    >>> A = torch.tensor([[1.0], [1.0]], requires_grad=True)
    >>> x = qt.lstsq(A, torch.tensor([1.0, 3.0]))
    >>> torch.allclose(x, torch.tensor([2.0]))
    True
    """
    _check_matrix(A)
    check(b, "b")
    if A.dtype != b.dtype:
        raise TypeError(f"A and b must be of one type (A: {A.dtype}, b: {b.dtype})")
    lead, m = A.shape[:-2], A.shape[-2]
    single = b.dim() == A.dim() - 1
    if b.shape[: len(lead) + 1] != A.shape[:-1] or b.dim() > A.dim():
        raise InvalidArgument(
            f"b must be of shape {(*lead, m)} or {(*lead, m, 'r')}, as A is (A: {tuple(A.shape)}, b: {tuple(b.shape)})"
        )
    limit = tolerance_of(A, rtol, atol)
    right = b.unsqueeze(-1) if single else b
    x: Tensor = _solve(A, right, limit) if is_plain(A, right) else applied(_LeastSquares, A, right, limit)
    return x.squeeze(-1) if single else x
