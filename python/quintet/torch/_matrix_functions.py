"""Functions of symmetric matrices, ``V f(w) V^T``, with their own derivatives.

The change for a change E of A is ``V (f[w_i, w_j] o P) V^T`` with P = V^T E V, that of this one for a change G is
``V X V^T`` with Q = V^T G V and ``X_ij = sum_k f[w_i, w_k, w_j] (P_ik Q_kj + Q_ik P_kj)`` (Daleckii and Krein 1965). The
divided differences of the four functions here have forms without a cancellation, so equal eigenvalues are no special
case.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.library import custom_op, register_autograd, register_fake, register_vmap

from ._eigen import _checked, _eigh_op
from ._eigen import _outputs as _eigen_outputs
from ._spectral import map_values, mapped
from ._svd import POLICIES, _front
from ._tensors import REAL

__all__ = ["expm_sym", "invsqrt_spd", "logm_spd", "sqrtm_spd"]


def _symmetric(E: Tensor, V: Tensor) -> Tensor:
    """The symmetric part of ``V^T E V``."""
    inner = V.mT @ E.to(V.dtype) @ V
    return (inner + inner.mT) / 2


class _OfEigenvalues:
    """f, f[a, b] and f[a, b, c], elementwise, of float64 tensors."""

    def decomposed(self, A: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        w, V = _eigh_op(A, False, POLICIES["exact"], 0.0)
        return V, w, V.mT.clone()

    def change(self, U: Tensor, S: Tensor, Vh: Tensor, E: Tensor) -> Tensor:
        V = U.to(S.dtype)
        w = self.kept(S.double())
        differences = self.difference(w.unsqueeze(-1), w.unsqueeze(-2)).to(S.dtype)
        return (V @ (differences * _symmetric(E, V)) @ V.mT).to(E.dtype)

    def curvature(self, U: Tensor, S: Tensor, Vh: Tensor, E: Tensor, G: Tensor) -> Tensor:
        V = U.to(S.dtype)
        P, Q = _symmetric(E, V), _symmetric(G, V)
        w = self.kept(S.double())
        row, column = w.unsqueeze(-1), w.unsqueeze(-2)
        inner = torch.zeros_like(P)
        for k in range(w.shape[-1]):  # n x n numbers at a time
            differences = self.second_difference(row, w[..., k, None, None], column).to(S.dtype)
            product = P[..., :, k, None] * Q[..., None, k, :]
            inner = inner + differences * (product + product.mT)
        return (V @ inner @ V.mT).to(E.dtype)

    def values(self, S: Tensor) -> Tensor:
        return self.value(self.kept(S))

    def kept(self, w: Tensor) -> Tensor:
        return w

    def value(self, w: Tensor) -> Tensor:
        raise NotImplementedError

    def difference(self, a: Tensor, b: Tensor) -> Tensor:
        raise NotImplementedError

    def second_difference(self, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
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

    def second_difference(self, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
        a, b, c = a.sqrt(), b.sqrt(), c.sqrt()
        return -1 / ((a + b) * (b + c) * (a + c))


class _InverseRoot(_OfEigenvalues):
    def value(self, w: Tensor) -> Tensor:
        return 1 / w.sqrt()

    def difference(self, a: Tensor, b: Tensor) -> Tensor:
        a, b = a.sqrt(), b.sqrt()
        return -1 / (a * b * (a + b))

    def second_difference(self, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
        a, b, c = a.sqrt(), b.sqrt(), c.sqrt()
        return (a + b + c) / ((a * b * c) * ((a + b) * (b + c) * (a + c)))


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
        return torch.where(near, 2 * by_series / (a + b), (a / b).log() / gap)

    def second_difference(self, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
        """That of an inverse function: -exp[x, y, z] / (exp[x, y] exp[y, z] exp[x, z]) for x = log a and so on."""
        low, middle, high = _sorted(a, b, c)
        above = high * _falling((high / low).log(), (high / middle).log(), (middle / low).log())
        return -above * self.difference(a, b) * self.difference(b, c) * self.difference(a, c)


class _Exponential(_OfEigenvalues):
    def value(self, w: Tensor) -> Tensor:
        return w.exp()

    def difference(self, a: Tensor, b: Tensor) -> Tensor:
        return torch.maximum(a, b).exp() * _mean((a - b).abs())

    def second_difference(self, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
        low, middle, high = _sorted(a, b, c)
        return high.exp() * _falling(high - low, high - middle, middle - low)


def _sorted(a: Tensor, b: Tensor, c: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    low, high = torch.minimum(a, b), torch.maximum(a, b)
    return torch.minimum(low, c), torch.maximum(low, torch.minimum(high, c)), torch.maximum(high, c)


def _mean(x: Tensor) -> Tensor:
    """exp[-x, 0] for x >= 0."""
    return torch.where(x > 0, -torch.expm1(-x) / torch.where(x > 0, x, 1.0), 1.0)


def _falling(u: Tensor, v: Tensor, rest: Tensor) -> Tensor:
    """exp[-u, -v, 0] for u >= v >= 0 and rest = u - v; for u < 1 by Taylor's series, where differences would cancel."""
    near = u < 1
    far = (_mean(v) - (-v).exp() * _mean(rest)) / torch.where(near, 1.0, u)
    x, y = torch.where(near, u, 0.0), torch.where(near, v, 0.0)
    series, power, homogeneous = torch.full_like(x, 0.5), torch.ones_like(y), torch.ones_like(x)
    for k in range(1, 18):
        power = power * y
        homogeneous = homogeneous * x + power  # of degree k in x and y
        series = series + homogeneous * ((-1) ** k / math.factorial(k + 2))
    return torch.where(near, series, far)


# --- The operator, which torch.compile sees ----------------------------------------------------------------------------


def _kind_of(name: str, dtype: torch.dtype) -> _OfEigenvalues:
    if name == "sqrtm":
        return _Root(torch.finfo(REAL[dtype]).eps)
    return {"invsqrt": _InverseRoot, "logm": _Logarithm, "expm": _Exponential}[name]()


@custom_op("quintet::function_of_symmetric", mutates_args=())
def _function_op(A: Tensor, name: str) -> tuple[Tensor, Tensor, Tensor]:
    result, V, w, _ = mapped(A, _kind_of(name, A.dtype))
    return result, w, V


@register_fake("quintet::function_of_symmetric")
def _(A: Tensor, name: str) -> tuple[Tensor, Tensor, Tensor]:
    return (torch.empty_like(A, memory_format=torch.contiguous_format), *_eigen_outputs(A))


@register_vmap("quintet::function_of_symmetric")
def _(info: Any, in_dims: Any, A: Tensor, name: str) -> Any:
    return _function_op(_front(A, in_dims[0], info.batch_size), name), (0, 0, 0)


def _save(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(*output[1:])
    ctx.name = inputs[1]


def _backward_of_op(ctx: Any, g: Tensor, gw: Tensor | None, gV: Tensor | None) -> Any:
    w, V = ctx.saved_tensors
    return _kind_of(ctx.name, V.dtype).change(V, w, V.mT, g), None


register_autograd("quintet::function_of_symmetric", _backward_of_op, setup_context=_save)


def _function_of(A: Tensor, name: str) -> Tensor:
    _checked(A, "L")
    if torch.compiler.is_compiling():
        compiled: Tensor = _function_op(A, name)[0]
        return compiled
    return map_values(A, _kind_of(name, A.dtype))


# --- What users call ---------------------------------------------------------------------------------------------------


def sqrtm_spd(A: Tensor) -> Tensor:
    """The positive semidefinite square root of every symmetric positive semidefinite matrix ``A[..., n, n]``. Only the
    lower triangle is read. Eigenvalues down to ``-n * eps`` times the largest count as zero; below, the result is NaN.

    The gradient is symmetric, and right also where eigenvalues are equal; it is infinite where two are zero. First and
    second derivatives in backward and forward mode, torch.func, batches and torch.compile (first ones); a third one
    raises NotImplementedError. Of the second ones a matrix takes n times as long as of the first.

    >>> import torch, quintet.torch as qt
    >>> A = torch.tensor([[5.0, 4.0], [4.0, 5.0]], dtype=torch.float64)
    >>> torch.allclose(qt.sqrtm_spd(A), torch.tensor([[2.0, 1.0], [1.0, 2.0]], dtype=torch.float64))
    True
    """
    return _function_of(A, "sqrtm")


def invsqrt_spd(A: Tensor) -> Tensor:
    """The inverse of the square root of symmetric positive definite matrices, as whitening and natural gradients use it.
    Conventions and derivatives as :func:`sqrtm_spd`; NaN where an eigenvalue is negative, infinite where one is zero.

    >>> import torch, quintet.torch as qt
    >>> qt.invsqrt_spd(torch.diag(torch.tensor([4.0, 0.25]))).diagonal().tolist()
    [0.5, 2.0]
    """
    return _function_of(A, "invsqrt")


def logm_spd(A: Tensor) -> Tensor:
    """The logarithm of symmetric positive definite matrices. Conventions and derivatives as :func:`invsqrt_spd`.

    >>> import torch, quintet.torch as qt
    >>> A = torch.tensor([[2.0, 1.0], [1.0, 2.0]], dtype=torch.float64)
    >>> torch.allclose(qt.expm_sym(qt.logm_spd(A)), A)
    True
    """
    return _function_of(A, "logm")


def expm_sym(A: Tensor) -> Tensor:
    """The exponential of symmetric matrices. Conventions and derivatives as :func:`sqrtm_spd`.

    >>> import torch, quintet.torch as qt
    >>> qt.expm_sym(torch.zeros(2, 2)).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return _function_of(A, "expm")
