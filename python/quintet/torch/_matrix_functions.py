"""Functions of symmetric matrices, ``V f(w) V^T``, with their own derivatives.

The change for a change E of A is ``V (f[w_i, w_j] o V^T E V) V^T`` (Daleckii and Krein 1965). The divided differences
f[a, b] of the four functions here have forms without a cancellation, so equal eigenvalues are no special case.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ._eigen import _checked, _eigh_op
from ._spectral import map_values
from ._svd import POLICIES

__all__ = ["expm_sym", "invsqrt_spd", "logm_spd", "sqrtm_spd"]


class _OfEigenvalues:
    """f and f[a, b], elementwise, of float64 tensors."""

    def decomposed(self, A: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        w, V = _eigh_op(A, False, POLICIES["exact"], 0.0)
        return V, w, V.mT.clone()

    def change(self, U: Tensor, S: Tensor, Vh: Tensor, E: Tensor) -> Tensor:
        V = U.to(S.dtype)
        inner = V.mT @ E.to(S.dtype) @ V
        w = self.kept(S.double())
        differences = self.difference(w.unsqueeze(-1), w.unsqueeze(-2)).to(S.dtype)
        return (V @ (differences * (inner + inner.mT) / 2) @ V.mT).to(E.dtype)

    def values(self, S: Tensor) -> Tensor:
        return self.value(self.kept(S))

    def kept(self, w: Tensor) -> Tensor:
        return w

    def value(self, w: Tensor) -> Tensor:
        raise NotImplementedError

    def difference(self, a: Tensor, b: Tensor) -> Tensor:
        raise NotImplementedError


class _Root(_OfEigenvalues):
    def __init__(self, epsilon: float) -> None:
        self.epsilon = epsilon

    def kept(self, w: Tensor) -> Tensor:
        """What rounding made of zeros is zero."""
        n = w.shape[-1]
        noise = n * self.epsilon * w[..., -1:] if n else w
        return torch.where((w < 0) & (w >= -noise), 0.0, w)

    def value(self, w: Tensor) -> Tensor:
        return w.sqrt()

    def difference(self, a: Tensor, b: Tensor) -> Tensor:
        return 1 / (a.sqrt() + b.sqrt())


class _InverseRoot(_OfEigenvalues):
    def value(self, w: Tensor) -> Tensor:
        return 1 / w.sqrt()

    def difference(self, a: Tensor, b: Tensor) -> Tensor:
        a, b = a.sqrt(), b.sqrt()
        return -1 / (a * b * (a + b))


class _Logarithm(_OfEigenvalues):
    def value(self, w: Tensor) -> Tensor:
        return w.log()

    def difference(self, a: Tensor, b: Tensor) -> Tensor:
        """log(a / b) = 2 atanh((a - b) / (a + b)), the series near 0."""
        x = (a - b) / (a + b)
        small, near = x.abs() < 1e-3, x.abs() < 0.5
        safe = torch.where(small | ~near, 0.25, x)
        square = x * x
        by_series = torch.where(small, 1 + square / 3 + square * square / 5, torch.atanh(safe) / safe)
        gap = torch.where(near, 1.0, a - b)
        return torch.where(near, 2 * by_series / (a + b), (a.log() - b.log()) / gap)


class _Exponential(_OfEigenvalues):
    def value(self, w: Tensor) -> Tensor:
        return w.exp()

    def difference(self, a: Tensor, b: Tensor) -> Tensor:
        gap = (a - b).abs()
        mean = torch.where(gap > 0, -torch.expm1(-gap) / torch.where(gap > 0, gap, 1.0), 1.0)
        return torch.maximum(a, b).exp() * mean


def sqrtm_spd(A: Tensor) -> Tensor:
    """The positive semidefinite square root of every symmetric positive semidefinite matrix ``A[..., n, n]``. Only the
    lower triangle is read. Eigenvalues down to ``-n * eps`` times the largest count as zero; below, the result is NaN.

    The gradient is symmetric, and right also where eigenvalues are equal; it is infinite where two are zero. First
    derivatives in backward and forward mode, torch.func and batches; a second one raises NotImplementedError.

    >>> import torch, quintet.torch as qt
    >>> A = torch.tensor([[5.0, 4.0], [4.0, 5.0]], dtype=torch.float64)
    >>> torch.allclose(qt.sqrtm_spd(A), torch.tensor([[2.0, 1.0], [1.0, 2.0]], dtype=torch.float64))
    True
    """
    _checked(A, "L")
    wide = torch.float64 if A.dtype == torch.float64 else torch.float32
    return map_values(A, _Root(torch.finfo(wide).eps))


def invsqrt_spd(A: Tensor) -> Tensor:
    """The inverse of the square root of symmetric positive definite matrices, as whitening and natural gradients use it.
    Conventions and derivatives as :func:`sqrtm_spd`; NaN where an eigenvalue is negative, infinite where one is zero.

    >>> import torch, quintet.torch as qt
    >>> qt.invsqrt_spd(torch.diag(torch.tensor([4.0, 0.25]))).diagonal().tolist()
    [0.5, 2.0]
    """
    _checked(A, "L")
    return map_values(A, _InverseRoot())


def logm_spd(A: Tensor) -> Tensor:
    """The logarithm of symmetric positive definite matrices. Conventions and derivatives as :func:`invsqrt_spd`.

    >>> import torch, quintet.torch as qt
    >>> A = torch.tensor([[2.0, 1.0], [1.0, 2.0]], dtype=torch.float64)
    >>> torch.allclose(qt.expm_sym(qt.logm_spd(A)), A)
    True
    """
    _checked(A, "L")
    return map_values(A, _Logarithm())


def expm_sym(A: Tensor) -> Tensor:
    """The exponential of symmetric matrices. Conventions and derivatives as :func:`sqrtm_spd`.

    >>> import torch, quintet.torch as qt
    >>> qt.expm_sym(torch.zeros(2, 2)).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    _checked(A, "L")
    return map_values(A, _Exponential())
