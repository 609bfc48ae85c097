"""Singular value decomposition with gradients, in layers.

1. Custom operators ``quintet::svd`` and ``quintet::svd_backward`` with fake kernels: what torch.compile sees.
2. autograd.Functions around both, for everything that torch.func does: operators with register_autograd refuse it.
3. ``torch.compiler.is_compiling()``: the operator, since Dynamo rejects Functions with a jvp.
4. Where nothing wants a gradient: the binding at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.library import custom_op, register_autograd, register_fake, register_vmap

from .. import _core, linalg
from .._errors import InvalidArgument
from .._svd_options import VALUES
from ._tensors import CODES, REAL, applied, batch, check, empty, flat, plain, push_forward

__all__ = ["pinv", "svd", "svdvals"]

POLICIES = {"exact": 0, "drop": 1, "broaden": 2}
LinAlgError = torch.linalg.LinAlgError


class SVD(NamedTuple):
    """What :func:`svd` returns."""

    U: Tensor
    S: Tensor
    Vh: Tensor


# --- 4: the binding ----------------------------------------------------------------------------------------------------


def _outputs(A: Tensor, full: bool) -> tuple[Tensor, Tensor, Tensor]:
    """U, S and Vh in the layout of torch's own kernel: U and Vh by columns. None is a view: derivatives refuse them.
    Of torch's ways to make a tensor new_empty_strided is the fastest."""
    *lead, m, n = A.shape
    k = min(m, n)
    p, q = (m, n) if full else (k, k)
    dtype = A.dtype
    if len(lead) == 1 and REAL[dtype] is dtype:  # the way of most calls, without a loop
        count = lead[0]
        return (
            A.new_empty_strided((count, m, p), (m * p, 1, m)),
            A.new_empty_strided((count, k), (k, 1)),
            A.new_empty_strided((count, q, n), (q * n, 1, q)),
        )
    return (
        A.new_empty_strided((*lead, m, p), _by_columns(lead, m, p)),
        A.new_empty((*lead, k), dtype=REAL[dtype]),
        A.new_empty_strided((*lead, q, n), _by_columns(lead, q, n)),
    )


def _by_columns(lead: list[int], rows: int, columns: int) -> tuple[int, ...]:
    strides = [1, rows]
    step = rows * columns
    for size in reversed(lead):
        strides.insert(0, step)
        step = step * size
    return tuple(strides)


def _status_text(status: Tensor, lead: tuple[int, ...], function: str = "linalg.svd") -> str:
    failed = status.nonzero()
    if not len(failed):
        return f"{function}: The algorithm failed for a matrix that has changed since: another thread writes to the input."
    first = int(failed[0])
    where = f"(Batch element {first}): " if lead else ""
    if int(status[first]) == 2:
        return (
            f"{function}: {where}The algorithm failed to converge because the input matrix contained non-finite values."
        )
    if int(status[first]) == 3:
        return f"{function}: {where}The factorization could not be completed because B is not positive-definite."
    return (
        f"{function}: {where}The algorithm failed to converge because the input matrix is ill-conditioned or has too "
        "many repeated singular values (error code: 1)."
    )


def _failure(A: Tensor) -> Exception:
    """The error for a tensor with matrices that failed: they are decomposed again to find them."""
    status = torch.from_numpy(linalg.svd(A, False, on_failure="nan").status)
    error: Exception = LinAlgError(_status_text(status.reshape(-1), tuple(A.shape[:-2])))
    return error


def _batch_of(A: Tensor) -> tuple[Any, int, Tensor]:
    """As the bindings take it, the number of matrices, and what has to live until they have read it."""
    shape, strides = A.shape, A.stride()
    if len(shape) == 2:
        return (A.data_ptr(), CODES[A.dtype], (1, *shape), (0, *strides), -1), 1, A
    if len(shape) != 3:
        A = A.flatten(0, -3)
        shape, strides = A.shape, A.stride()
    return (A.data_ptr(), CODES[A.dtype], shape, strides, -1), shape[0], A


def decompose(A: Tensor, full: bool) -> tuple[Tensor, Tensor, Tensor]:
    """U, S, Vh of a tensor without regard to its history. Raises LinAlgError with torch's text."""
    if A.is_neg():
        A = plain(A)
    shape, dtype = A.shape, A.dtype
    if len(shape) == 2 and REAL[dtype] is dtype and A.is_cpu:  # one matrix costs what its tensors cost: _outputs() and _batch_of()
        m, n = shape
        p = q = m if m < n else n
        S = empty((p,), (1,), dtype)
        if full:
            p, q = m, n
        U, Vh = empty((m, p), (1, m), dtype), empty((q, n), (1, q), dtype)
        down, right = A.stride()
        matrices = (A.data_ptr(), CODES[dtype], (1, m, n), (0, down, right), -1)
    else:
        U, S, Vh = _outputs(A, full)
        matrices, _, _owner = _batch_of(A)
    if _core.svd_decompose_tensor(matrices, U.data_ptr(), S.data_ptr(), Vh.data_ptr(), full):
        raise _failure(A.detach())
    return U, S, Vh


def values(A: Tensor) -> Tensor:
    """S alone."""
    if A.requires_grad or A.is_neg():
        A = plain(A)
    matrices, count, alive = _batch_of(A)
    k = min(A.shape[-2:])
    S = A.new_empty((*A.shape[:-2], k), dtype=REAL[A.dtype])
    failed = _core.svd_decompose(
        matrices,
        None,
        (S.data_ptr(), "d" if S.dtype == torch.float64 else "f", (count, k), (k, 1), -1),
        None,
        None,
        None,
        VALUES,
    )
    if failed:
        raise _failure(alive.reshape(A.shape))
    return S


def _gradient(
    U: Tensor, S: Tensor, Vh: Tensor, gU: Tensor | None, gS: Tensor | None, gVh: Tensor | None, policy: int, tol: float
) -> Tensor:
    U, S, Vh = plain(U), plain(S).contiguous(), plain(Vh)
    out = U.new_empty((*U.shape[:-2], U.shape[-2], Vh.shape[-1]))
    kept = []

    def part(t: Tensor | None, of: Tensor) -> Any:
        if t is None:
            return None
        t = flat(plain(t).to(of.dtype))
        kept.append(t)
        return t

    gu, gv = part(gU, U), part(gVh, Vh)
    gs = None
    k = S.shape[-1]
    u, vh, to = flat(U), flat(Vh), flat(out)
    count = 1 if to.dim() == 2 else to.shape[0]
    code = "d" if S.dtype == torch.float64 else "f"
    if gS is not None:
        gs = plain(gS).to(S.dtype).contiguous()
    degenerate = _core.svd_gradient(
        batch(u),
        (S.data_ptr(), code, (count, k), (k, 1), -1),
        batch(vh.mT),
        None if gu is None else batch(gu),
        None if gs is None else (gs.data_ptr(), code, (count, k), (k, 1), -1),
        None if gv is None else batch(gv.mT),
        batch(to),
        policy,
        tol,
    )
    if degenerate:
        real = S.dtype

        def array(t: Tensor | None) -> Any:
            return None if t is None else plain(t).to(real).numpy()

        gV = None if gVh is None else gVh.mT
        linalg.warn_of_degenerate(array(U), array(S), array(Vh.mT), array(gU), array(gS), array(gV), policy, tol)
    return out


# --- 1: operators ------------------------------------------------------------------------------------------------------


@custom_op("quintet::svd", mutates_args=())
def _svd_op(A: Tensor, full_matrices: bool, policy: int, tolerance: float) -> tuple[Tensor, Tensor, Tensor]:
    return decompose(A, full_matrices)


@custom_op("quintet::svd_backward", mutates_args=())
def _backward_op(
    U: Tensor, S: Tensor, Vh: Tensor, gU: Tensor, gS: Tensor, gVh: Tensor, policy: int, tolerance: float
) -> Tensor:
    return _gradient(U, S, Vh, gU, gS, gVh, policy, tolerance)


@register_fake("quintet::svd")
def _(A: Tensor, full_matrices: bool, policy: int, tolerance: float) -> tuple[Tensor, Tensor, Tensor]:
    return _outputs(A, full_matrices)


@register_fake("quintet::svd_backward")
def _(
    U: Tensor, S: Tensor, Vh: Tensor, gU: Tensor, gS: Tensor, gVh: Tensor, policy: int, tolerance: float
) -> Tensor:
    return U.new_empty((*U.shape[:-2], U.shape[-2], Vh.shape[-1]))


def _front(t: Tensor, dim: int | None, size: int) -> Tensor:
    return t.expand((size, *t.shape)) if dim is None else t.movedim(dim, 0)


@register_vmap("quintet::svd")
def _(info: Any, in_dims: Any, A: Tensor, full: bool, policy: int, tolerance: float) -> Any:
    return _svd_op(_front(A, in_dims[0], info.batch_size), full, policy, tolerance), (0, 0, 0)


@register_vmap("quintet::svd_backward")
def _(info: Any, in_dims: Any, *args: Any) -> Any:
    tensors = [_front(t, d, info.batch_size) for t, d in zip(args[:6], in_dims[:6])]
    return _backward_op(*tensors, *args[6:]), 0


def _save_op(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(*output)
    ctx.policy, ctx.tolerance = inputs[2], inputs[3]


def _backward_of_op(ctx: Any, gU: Tensor | None, gS: Tensor | None, gVh: Tensor | None) -> Any:
    U, S, Vh = ctx.saved_tensors
    gradient = _backward_op(U, S, Vh, *_dense(U, S, Vh, gU, gS, gVh), ctx.policy, ctx.tolerance)
    return gradient, None, None, None


register_autograd("quintet::svd", _backward_of_op, setup_context=_save_op)


def _dense(
    U: Tensor, S: Tensor, Vh: Tensor, gU: Tensor | None, gS: Tensor | None, gVh: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """Zeros for the derivatives that there are not."""
    return (
        torch.zeros_like(U) if gU is None else gU,
        torch.zeros_like(S) if gS is None else gS,
        torch.zeros_like(Vh) if gVh is None else gVh,
    )


# --- The formulas in torch, for derivatives of the derivative ----------------------------------------------------------


def _reciprocal(x: Tensor, largest: Tensor, policy: int, tolerance: float) -> Tensor:
    if policy == 0:
        return 1 / x
    cut = tolerance * largest
    if policy == 2:
        return x / (x * x + cut * cut)
    small = x.abs() <= cut
    return torch.where(small, torch.zeros_like(x), 1 / torch.where(small, torch.ones_like(x), x))


def _divisors(S: Tensor, size: int, policy: int, tolerance: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Of values divided by the largest, which is the fourth result, a constant: 1 / (s_j - s_i) and 1 / (s_j + s_i), 0 on
    the diagonal, and 1 / s_j. Derivatives of these square the values: of those themselves they leave the range."""
    if tolerance == 0:
        tolerance = 10 * size * torch.finfo(S.dtype).eps
    scale = S[..., :1].detach() if S.shape[-1] else S.detach()
    scale = torch.where(scale > 0, scale, 1.0)
    S = S / scale
    largest = S[..., :1].detach()
    row, column = S.unsqueeze(-2), S.unsqueeze(-1)
    off = ~torch.eye(S.shape[-1], dtype=torch.bool, device=S.device)
    one = torch.ones((), dtype=S.dtype, device=S.device)
    big = largest.unsqueeze(-1)

    def safe(x: Tensor) -> Tensor:
        return torch.where(off, _reciprocal(torch.where(off, x, one), big, policy, tolerance), 0 * one)

    return safe(row - column), safe(row + column), _reciprocal(S, largest, policy, tolerance), scale


def _completed(basis: Tensor, g: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The first k columns and what the derivatives after all are after those: the rest is any basis of what is left."""
    first, rest = basis[..., :k], basis[..., k:]
    return first, g[..., :k] - rest @ (g[..., k:].mT @ first)


def _formula(
    U: Tensor, S: Tensor, Vh: Tensor, gU: Tensor, gS: Tensor, gVh: Tensor, policy: int, tolerance: float
) -> Tensor:
    """The gradient that quintet/svd/gradient.hpp computes."""
    k = S.shape[-1]
    m, n = U.shape[-2], Vh.shape[-1]
    dtype, real = U.dtype, S.dtype
    U, gU = _completed(U.to(real), gU.to(real), k)
    V, gV = _completed(Vh.mT.to(real), gVh.mT.to(real), k)
    by_difference, by_sum, by_value, scale = _divisors(S, max(m, n), policy, tolerance)
    gU, gV = gU / scale.unsqueeze(-1), gV / scale.unsqueeze(-1)
    UgU, VgV = U.mT @ gU, V.mT @ gV
    P, Q = UgU - UgU.mT, VgV - VgV.mT
    M = ((P + Q) * by_difference + (P - Q) * by_sum) / 2 + torch.diag_embed(gS)
    gradient = U @ M @ V.mT
    if m > k:
        gradient = gradient + ((gU - U @ UgU) * by_value.unsqueeze(-2)) @ V.mT
    if n > k:
        gradient = gradient + U @ (by_value.unsqueeze(-1) * (gV - V @ VgV).mT)
    return gradient.to(dtype)


def _push(
    U: Tensor, S: Tensor, Vh: Tensor, dA: Tensor, policy: int, tolerance: float
) -> tuple[Tensor, Tensor, Tensor]:
    """dU, dS, dVh of a change dA of the matrix; the columns after k of full vectors turn as little as they can."""
    k = S.shape[-1]
    m, n = U.shape[-2], Vh.shape[-1]
    dtype, real = U.dtype, S.dtype
    Uk, V, dA = U[..., :k].to(real), Vh[..., :k, :].mT.to(real), dA.to(real)
    by_difference, by_sum, by_value, scale = _divisors(S, max(m, n), policy, tolerance)
    dA = dA / scale.unsqueeze(-1)
    dAV, dAtU = dA @ V, dA.mT @ Uk
    P = Uk.mT @ dAV
    plus, minus = (P + P.mT) * by_difference, (P - P.mT) * by_sum
    dU, dV = Uk @ ((plus + minus) / 2), V @ ((plus - minus) / 2)
    if m > k:
        dU = dU + (dAV - Uk @ P) * by_value.unsqueeze(-2)
    if n > k:
        dV = dV + (dAtU - V @ P.mT) * by_value.unsqueeze(-2)
    dU, dV = _with_rest(U.to(real), dU, k), _with_rest(Vh.mT.to(real), dV, k)
    return dU.to(dtype), P.diagonal(dim1=-2, dim2=-1) * scale, dV.mT.to(dtype)


def _with_rest(basis: Tensor, change: Tensor, k: int) -> Tensor:
    """The change of the first k columns of an orthogonal matrix and that of the others."""
    if basis.shape[-1] == k:
        return change
    return torch.cat((change, -basis[..., :k] @ (change.mT @ basis[..., k:])), -1)


# --- 2: autograd.Functions ---------------------------------------------------------------------------------------------


class _SVDFunction(torch.autograd.Function):
    @staticmethod
    def forward(A: Tensor, full: bool, policy: int, tolerance: float) -> Any:
        return decompose(A, full) if is_plain(A) else _svd_op(A.detach(), full, policy, tolerance)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*output)
        ctx.save_for_forward(*output)
        ctx.policy, ctx.tolerance = inputs[2], inputs[3]
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        gU, gS, gVh = grads
        if gU is None and gS is None and gVh is None:
            return None, None, None, None
        U, S, Vh = ctx.saved_tensors
        gradient = applied(_BackwardFunction, U, S, Vh, *_dense(U, S, Vh, gU, gS, gVh), ctx.policy, ctx.tolerance)
        return gradient, None, None, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        U, S, Vh = ctx.saved_tensors
        return _push(U, S, Vh, tangents[0], ctx.policy, ctx.tolerance)

    @staticmethod
    def vmap(info: Any, in_dims: Any, A: Tensor, full: bool, policy: int, tolerance: float) -> Any:
        return applied(_SVDFunction, _front(A, in_dims[0], info.batch_size), full, policy, tolerance), (0, 0, 0)


class _OrdinarySVD(torch.autograd.Function):
    """_SVDFunction for what is_ordinary() and the default policy, in the older form of a Function and with nothing kept
    for forward mode: half the time."""

    @staticmethod
    def forward(ctx: Any, A: Tensor, full: bool) -> Any:
        output = decompose(A, full)
        ctx.save_for_backward(*output)
        return output

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return applied(_BackwardFunction, *ctx.saved_tensors, *grads, POLICIES["drop"], 0.0), None


class _BackwardFunction(torch.autograd.Function):
    @staticmethod
    def forward(
        U: Tensor, S: Tensor, Vh: Tensor, gU: Tensor, gS: Tensor, gVh: Tensor, policy: int, tolerance: float
    ) -> Tensor:
        compute = _gradient if is_plain(U, S, Vh, gU, gS, gVh) else _backward_op
        return compute(U, S, Vh, gU, gS, gVh, policy, tolerance)  # type: ignore[no-any-return]

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs[:6])
        ctx.save_for_forward(*inputs[:6])
        ctx.policy, ctx.tolerance = inputs[6], inputs[7]

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        _, pull = torch.func.vjp(lambda *t: _formula(t[0], t[1], t[2], t[3], t[4], t[5], ctx.policy, ctx.tolerance), *ctx.saved_tensors)
        return (*pull(grads[0]), None, None)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        saved = ctx.saved_tensors
        changes = tuple(torch.zeros_like(s) if t is None else t for s, t in zip(saved, tangents[:6]))
        return push_forward(lambda *t: _formula(t[0], t[1], t[2], t[3], t[4], t[5], ctx.policy, ctx.tolerance), saved, changes)

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        tensors = [_front(t, d, info.batch_size) for t, d in zip(args[:6], in_dims[:6])]
        return applied(_BackwardFunction, *tensors, *args[6:]), 0


# --- What users call ---------------------------------------------------------------------------------------------------


_TENSORS = (Tensor, torch.nn.Parameter)
_is_compiling = torch.compiler.is_compiling
_has_transforms, _count_modes = torch._C._are_functorch_transforms_active, torch._C._len_torch_dispatch_stack


def is_ordinary(t: Tensor) -> bool:
    """Whether no transform, mode or subclass is at work, so that a binding can read the memory."""
    return not (
        _is_compiling()
        or _has_transforms()
        or _count_modes() > 0
        or forward_ad._current_level >= 0
        or type(t) not in _TENSORS
        or not t.is_cpu
    )


def is_plain(*tensors: Tensor) -> bool:
    """Whether the binding can be called at once: no gradient is wanted, no transform or mode is at work."""
    if not is_ordinary(tensors[0]):
        return False
    wants = torch.is_grad_enabled()
    return all(not (wants and t.requires_grad or type(t) not in _TENSORS or not t.is_cpu) for t in tensors)


def _options(policy: str, tolerance: float) -> tuple[int, float]:
    if policy not in POLICIES:
        raise InvalidArgument(f"policy must be one of {', '.join(POLICIES)} (policy={policy!r})")
    if not tolerance >= 0:
        raise InvalidArgument(f"tolerance must be >= 0 (tolerance={tolerance})")
    return POLICIES[policy], float(tolerance)


def _check_matrix(A: Any, name: str = "A") -> None:
    check(A, name)
    if A.dim() < 2:
        raise InvalidArgument(f"{name} must have at least 2 dimensions (shape={tuple(A.shape)})")


def svd(
    A: Tensor, full_matrices: bool = True, *, driver: str | None = None, policy: str = "drop", tolerance: float = 0.0
) -> SVD:
    """``A = U @ diag(S) @ Vh`` of every matrix ``A[..., m, n]``, with gradients of every order, forward mode, vmap and
    torch.compile. Called as :func:`torch.linalg.svd` is; `driver` has no effect.

    The gradient is finite also at matrices with equal or zero singular values, where torch's is NaN. It is right there for
    losses of S and of ``U @ Vh``; for ``U @ diag(f(S)) @ Vh`` it is not, since the derivatives of U, S and Vh do not hold
    what is missing: :func:`spectral`, :func:`low_rank`, :func:`polar`, :func:`lstsq` and :func:`pinv` are for those. The
    first gradient that may be wrong gives a RuntimeWarning. Derivatives of the columns that complete full vectors count
    as those of a loss of their space.

    ``policy`` says what 1/x becomes for x = s_j - s_i or s_j + s_i near zero: "drop" 0 where
    ``|x| <= tolerance * S[0]``, "broaden" ``x / (x^2 + (tolerance * S[0])^2)``, "exact" 1/x. tolerance 0 stands for
    ``10 max(m, n) eps``. 16-bit matrices have S in float32.

    Raises TypeError for other types, DeviceError for tensors of a device that this build does not have, InvalidArgument
    for shapes and options, torch.linalg.LinAlgError for matrices with NaN or infinity.

    >>> import torch, quintet.torch as qt
    >>> A = torch.randn(5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    >>> U, S, Vh = qt.svd(A, full_matrices=False)
    >>> torch.allclose(U * S @ Vh, A)
    True
    """
    _check_matrix(A)
    usual = policy == "drop" and tolerance == 0.0
    if not usual:
        _options(policy, tolerance)
    if is_ordinary(A):
        if not (A.requires_grad and torch.is_grad_enabled()):
            return SVD._make(decompose(A, full_matrices))
        if usual:
            return SVD._make(_OrdinarySVD.apply(A, full_matrices))
    kind, limit = _options(policy, tolerance)
    if torch.compiler.is_compiling() or not _has_history(A):
        return SVD(*_svd_op(A, full_matrices, kind, limit))
    return SVD(*applied(_SVDFunction, A, full_matrices, kind, limit))


def _has_history(*tensors: Tensor) -> bool:
    return (  # type: ignore[no-any-return]
        (torch.is_grad_enabled() and any(t.requires_grad for t in tensors))
        or torch._C._are_functorch_transforms_active()
        or forward_ad._current_level >= 0
    )


def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """Singular values ``[..., min(m, n)]``, falling; with gradients, which are always finite.

    >>> import torch, quintet.torch as qt
    >>> qt.svdvals(torch.diag(torch.tensor([1.0, 3.0])))
    tensor([3., 1.])
    """
    _check_matrix(A)
    return values(A) if is_plain(A) else svd(A, False).S


class Tolerance(NamedTuple):
    """Singular values at or below ``max(absolute, relative * S[0])`` count as zero: numbers, or tensors that broadcast to
    the batch; None as :func:`quintet.linalg.matrix_rank` has it."""

    relative: float | Tensor | None
    absolute: float | Tensor | None

    def kept(self, S: Tensor, shape: tuple[int, ...]) -> Tensor:
        relative, absolute = self
        if relative is None:
            relative = max(shape[-2:]) * torch.finfo(S.dtype).eps if absolute is None else 0.0
        limit = S[..., :1] * (relative.unsqueeze(-1).to(S.dtype) if isinstance(relative, Tensor) else relative)
        if absolute is not None:
            limit = torch.maximum(limit, torch.as_tensor(absolute).unsqueeze(-1).to(S.dtype))
        return S > limit


def _tolerance_part(value: Any, name: str, lead: tuple[int, ...]) -> float | Tensor | None:
    if value is None or isinstance(value, (int, float)):
        number = None if value is None else float(value)
        if number is not None and not number >= 0:
            raise InvalidArgument(f"{name} must be >= 0 ({name}={number})")
        return number
    part = torch.as_tensor(value).detach().double()
    if not bool((part >= 0).all()):
        raise InvalidArgument(f"{name} must be >= 0 (least {name}={float(part.min())})")
    try:
        part.expand(lead)
    except RuntimeError:
        raise InvalidArgument(
            f"{name} must be a number or broadcast to the batch {tuple(lead)} (shape={tuple(part.shape)})"
        ) from None
    return part


def tolerance_of(A: Tensor, rtol: Any, atol: Any) -> Tolerance:
    return Tolerance(_tolerance_part(rtol, "rtol", A.shape[:-2]), _tolerance_part(atol, "atol", A.shape[:-2]))


class _Symmetric(torch.autograd.Function):
    """The symmetric matrix of a lower triangle. Its derivative counts for both triangles, as eigh()'s does."""

    generate_vmap_rule = True

    @staticmethod
    def forward(A: Tensor) -> Tensor:
        return A.tril() + A.tril(-1).mT

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return (grads[0] + grads[0].mT) / 2

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return (tangents[0] + tangents[0].mT) / 2


def _symmetric_factors(A: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """U, |w| and Vh, of falling |w|."""
    from ._eigen import _eigh_op  # which needs this module

    w, V = _eigh_op(A, False, POLICIES["drop"], 0.0)
    size, order = torch.sort(w.abs(), stable=True, dim=-1, descending=True)
    V = V.gather(-1, order.unsqueeze(-2).expand_as(V))
    return V * w.gather(-1, order).sign().unsqueeze(-2).to(V.dtype), size, V.mT


def _pinv_of(A: Tensor, tolerance: Tolerance, hermitian: bool) -> Tensor:
    U, S, Vh = _symmetric_factors(A) if hermitian else _svd_op(A, False, 1, 0.0)
    kept = tolerance.kept(S, A.shape)
    inverse = torch.where(kept, 1 / torch.where(kept, S, torch.ones_like(S)), torch.zeros_like(S))
    return (Vh.mT * inverse.unsqueeze(-2).to(A.dtype)) @ U.mT


class _Pinv(torch.autograd.Function):
    """P = A^+; the derivative is Golub and Pereyra's (1973), for matrices of constant rank."""

    @staticmethod
    def forward(A: Tensor, tolerance: Tolerance, hermitian: bool) -> Tensor:
        return _pinv_of(A.detach(), tolerance, hermitian)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0])
        ctx.save_for_forward(inputs[0])
        ctx.rest = inputs[1:]

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (A,) = ctx.saved_tensors
        G = grads[0]
        P = applied(_Pinv, A, *ctx.rest)
        H = G.mT
        first = P.mT @ G @ P.mT
        second = (H - A @ (P @ H)) @ P @ P.mT
        third = P.mT @ P @ (H - (H @ P) @ A)
        return second + third - first, None, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        (A,) = ctx.saved_tensors
        D = tangents[0]
        P = applied(_Pinv, A, *ctx.rest)
        return -P @ D @ P + P @ P.mT @ (D.mT - D.mT @ A @ P) + (D.mT - P @ (A @ D.mT)) @ P.mT @ P

    @staticmethod
    def vmap(info: Any, in_dims: Any, A: Tensor, tolerance: Tolerance, hermitian: bool) -> Any:
        return applied(_Pinv, _front(A, in_dims[0], info.batch_size), tolerance, hermitian), 0


def pinv(
    A: Tensor, *, rtol: float | Tensor | None = None, atol: float | Tensor | None = None, hermitian: bool = False
) -> Tensor:
    """Pseudo-inverse ``[..., n, m]``: ``V diag(1/S) U^T`` over singular values above ``max(atol, rtol * S[0])``, called as
    :func:`torch.linalg.pinv` is. Tolerances are numbers or tensors that broadcast to the batch; rtol None is
    ``max(m, n) * eps``, or 0 where atol is given. With `hermitian` the matrices are symmetric: eigenvalues of the lower
    triangle, which are faster. The gradient is that of constant rank (Golub and Pereyra 1973), finite also where singular
    values are equal.

    >>> import torch, quintet.torch as qt
    >>> A = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> torch.allclose(qt.pinv(A) @ A, torch.eye(2), atol=1e-5)
    True
    """
    _check_matrix(A)
    tolerance = tolerance_of(A, rtol, atol)
    if hermitian:
        if A.shape[-1] != A.shape[-2]:
            raise InvalidArgument(f"A must have square matrices for hermitian=True (shape={tuple(A.shape)})")
        A = applied(_Symmetric, A)
    return _pinv_of(A, tolerance, hermitian) if torch.compiler.is_compiling() else applied(_Pinv, A, tolerance, hermitian)
