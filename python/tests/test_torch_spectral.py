"""Functions of the singular values: derivatives where singular values are equal or zero, against differences of matrices."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import quintet

torch = pytest.importorskip("torch")
qt = pytest.importorskip("quintet.torch")
from torch.autograd import gradcheck, gradgradcheck  # noqa: E402

from quintet import linalg  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:The:UserWarning")]


def normal(*shape: int, seed: int = 0) -> Any:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def with_values(m: int, n: int, values: list[float], seed: int = 0) -> Any:
    """A matrix m x n of these singular values."""
    k = len(values)
    U, V = (torch.linalg.qr(normal(size, k, seed=seed + size))[0] for size in (m, n))
    return (U * torch.tensor(values, dtype=torch.float64)) @ V.mT


#: Equal values, close ones, zeros, all in both shapes.
CASES = {
    "distinct": (5, 3, [3.0, 2.0, 1.0]),
    "equal": (4, 4, [2.0, 2.0, 1.0, 1.0]),
    "close": (4, 4, [2.0, 2.0 - 1e-7, 1.0, 1.0 - 1e-12]),
    "zeros": (4, 4, [2.0, 1.0, 0.0, 0.0]),
    "tall_zeros": (6, 4, [2.0, 2.0, 0.0, 0.0]),
    "wide_zeros": (3, 5, [1.0, 1.0, 0.0]),
    "nothing": (3, 4, [0.0, 0.0, 0.0]),
}
FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "cube": (lambda s: s**3, lambda s: 3 * s**2),
    "sine": (torch.sin, torch.cos),
    "arctan": (torch.atan, lambda s: 1 / (1 + s * s)),
}


def odd_function(A: Any, name: str) -> Any:
    """U f(S) V^T without a decomposition: series and rational functions of A A^T."""
    G = A @ A.mT
    one = torch.eye(len(G), dtype=A.dtype)
    if name == "cube":
        return G @ A
    if name == "sine":
        term, total = A, A
        for k in range(1, 40):
            term = -G @ term / ((2 * k) * (2 * k + 1))
            total = total + term
        return total
    # atan(s) is the integral of s / (1 + t^2 s^2) from 0 to 1, by Gauss's rule of 60 points.
    nodes, weights = np.polynomial.legendre.leggauss(60)
    return sum(w / 2 * torch.linalg.solve(one + ((t + 1) / 2) ** 2 * G, A) for t, w in zip(nodes, weights))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_spectral_is_the_function_of_the_matrix(case: str, name: str) -> None:
    A = with_values(*CASES[case]).requires_grad_()
    got, expected = qt.spectral(A, *FUNCTIONS[name]), odd_function(A, name)
    torch.testing.assert_close(got, expected, rtol=1e-12, atol=1e-12)
    G = normal(*A.shape, seed=9)
    (by_ours,), (by_theirs,) = torch.autograd.grad((G * got).sum(), A), torch.autograd.grad((G * expected).sum(), A)
    torch.testing.assert_close(by_ours, by_theirs, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("case", CASES)
def test_gradcheck(case: str) -> None:
    m, n, values = CASES[case]
    A = with_values(m, n, values).requires_grad_()
    assert gradcheck(lambda a: qt.spectral(a, *FUNCTIONS["cube"]), A, check_forward_ad=True)
    kept = sum(s > 1.5 for s in values)
    assert gradcheck(lambda a: qt.low_rank(a, kept), A, check_forward_ad=True)
    assert gradcheck(lambda a: qt.low_rank(a, atol=1.5), A, check_forward_ad=True)
    assert gradcheck(lambda a: qt.low_rank(a, len(values)), A, check_forward_ad=True)
    if min(values) > 0:
        assert gradcheck(qt.polar, A, check_forward_ad=True)
        assert gradcheck(qt.lstsq, (A, normal(m, 2, seed=1).requires_grad_()), check_forward_ad=True)
        assert gradgradcheck(qt.lstsq, (A, normal(m, 2, seed=1).requires_grad_()))


def test_polar_where_one_value_is_zero() -> None:
    A = with_values(3, 3, [2.0, 1.0, 0.0]).requires_grad_()
    W, _ = qt.polar(A)
    (gradient,) = torch.autograd.grad((normal(3, 3) * W).sum(), A)
    # The rank-deficient matrix has one W of each determinant, and each is smooth.
    step = normal(3, 3, seed=4)
    sign = torch.linalg.det(W.detach()).sign()

    def near(a: Any) -> Any:
        U, _, Vh = torch.linalg.svd(a)
        U[:, -1] *= torch.linalg.det(U @ Vh).sign() * sign
        return U @ Vh

    h = 1e-5
    change = (near(A.detach() + h * step) - near(A.detach() - h * step)) / (2 * h)
    torch.testing.assert_close((gradient * step).sum(), (normal(3, 3) * change).sum(), rtol=1e-7, atol=1e-7)


def test_batches_and_types() -> None:
    A = torch.stack([with_values(4, 3, [2.0, 2.0, 1.0], seed) for seed in range(6)]).reshape(2, 3, 4, 3)
    b = normal(2, 3, 4, seed=2)
    for function in (
        lambda a: qt.spectral(a, *FUNCTIONS["sine"]),
        lambda a: qt.low_rank(a, 2),
        lambda a: qt.polar(a).W,
        lambda a: qt.polar(a).H,
    ):
        both = torch.func.jacrev(lambda a, function=function: function(a).sum((0, 1)))(A)
        single = torch.func.jacrev(function)(A[1, 2])
        torch.testing.assert_close(both[:, :, 1, 2], single)
        torch.testing.assert_close(torch.func.jacfwd(function)(A[1, 2]), single)
        torch.testing.assert_close(torch.func.vmap(function)(A[0]), function(A)[0])
        torch.testing.assert_close(function(A.float()).double(), function(A), rtol=1e-5, atol=1e-5)
        assert function(A.half()).dtype == torch.float16
    torch.testing.assert_close(qt.lstsq(A, b)[1, 2], qt.lstsq(A[1, 2], b[1, 2]))
    torch.testing.assert_close(torch.func.vmap(qt.lstsq)(A[0], b[0]), qt.lstsq(A, b)[0])
    torch.testing.assert_close(qt.lstsq(A, b)[0, 1], torch.from_numpy(linalg.lstsq(A[0, 1].numpy(), b[0, 1].numpy())))


def test_what_has_no_derivative_is_not_a_number() -> None:
    A = with_values(4, 3, [1.0, 1.0, 0.5]).requires_grad_()
    qt.low_rank(A, 1).sum().backward()
    assert A.grad.isnan().all()
    B = with_values(4, 3, [1.0, 0.0, 0.0]).requires_grad_()
    qt.polar(B).W[0, 0].backward()
    assert not (B.grad.abs() < 1e10).all()
    C = torch.zeros(2, 2, dtype=torch.float64, requires_grad=True)
    qt.spectral(C, torch.cos, lambda s: -s.sin()).sum().backward()
    assert not C.grad.isfinite().all()


def test_second_derivatives_are_refused() -> None:
    A = normal(3, 3).requires_grad_()
    (g,) = torch.autograd.grad(qt.polar(A).W.sum(), A, create_graph=True)
    with pytest.raises(NotImplementedError, match="second"):
        g.sum().backward()
    with pytest.raises(NotImplementedError, match="second"):
        torch.func.hessian(lambda a: qt.low_rank(a, 1).sum())(A.detach())


def test_refusals() -> None:
    A = normal(3, 2)
    for call, error, words in (
        (lambda: qt.spectral(A, 1, torch.cos), TypeError, "f must be a function"),
        (lambda: qt.spectral(A, lambda s: s.sum(), torch.cos), quintet.InvalidArgument, "f must return"),
        (lambda: qt.spectral(A[0], torch.sin, torch.cos), quintet.InvalidArgument, "2 dimensions"),
        (lambda: qt.low_rank(A), quintet.InvalidArgument, "rank, rtol or atol"),
        (lambda: qt.low_rank(A, -1), quintet.InvalidArgument, "rank=-1"),
        (lambda: qt.low_rank(A, rtol=-1.0), quintet.InvalidArgument, "rtol=-1"),
        (lambda: qt.lstsq(A, A.float()), TypeError, "one type"),
        (lambda: qt.lstsq(A, normal(2, 3)), quintet.InvalidArgument, "b must be of shape"),
        (lambda: qt.lstsq(A, normal(3, 2), rtol=-1.0), quintet.InvalidArgument, "rtol"),
    ):
        with pytest.raises(error, match=words):
            call()


# --- What the derivatives of U, S and V themselves cannot tell ---------------------------------------------------------


@pytest.fixture
def unwarned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linalg, "_has_warned", False)


def gradient_of(loss: Callable[..., Any], A: Any) -> Any:
    x = A.clone().requires_grad_()
    loss(*qt.svd(x, False)).backward()
    return x.grad


@pytest.mark.usefixtures("unwarned")
def test_one_warning_where_equal_values_spoil_a_gradient() -> None:
    A, G = with_values(4, 4, [2.0, 2.0, 1.0, 0.5]), normal(4, 4, seed=3)
    with pytest.warns(RuntimeWarning, match="quintet.torch"):
        gradient_of(lambda U, S, Vh: (G * ((U * S**3) @ Vh)).sum(), A)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gradient_of(lambda U, S, Vh: (G * ((U * S**3) @ Vh)).sum(), A)


@pytest.mark.usefixtures("unwarned")
@pytest.mark.parametrize(
    "m, n, values, loss",
    [
        (4, 4, [2.0, 1.0, 0.5, 0.1], lambda U, S, Vh: (U * S**3 @ Vh)[0, 1]),
        (4, 4, [2.0, 2.0, 1.0, 0.5], lambda U, S, Vh: (U @ Vh)[0, 1]),
        (4, 4, [2.0, 2.0, 1.0, 0.5], lambda U, S, Vh: S.sum()),
        (4, 4, [2.0, 1.0, 0.5, 0.0], lambda U, S, Vh: (U * S**3 @ Vh)[0, 1]),
    ],
)
def test_no_warning_where_the_gradient_is_right(m: int, n: int, values: list[float], loss: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gradient_of(loss, with_values(m, n, values))


@pytest.mark.usefixtures("unwarned")
@pytest.mark.parametrize(
    "m, n, values, loss",
    [
        (5, 4, [2.0, 1.0, 0.5, 0.0], lambda U, S, Vh: (U * S**3 @ Vh)[0, 1]),
        (4, 4, [2.0, 1.0, 0.0, 0.0], lambda U, S, Vh: (U @ Vh)[0, 1]),
        (4, 4, [2.0, 2.0, 1.0, 0.5], lambda U, S, Vh: U[0, 0] ** 3),
    ],
)
def test_warning_of_zeros_and_of_the_choice_of_vectors(m: int, n: int, values: list[float], loss: Any) -> None:
    with pytest.warns(RuntimeWarning):
        gradient_of(loss, with_values(m, n, values))


@pytest.mark.usefixtures("unwarned")
def test_numpy_warns_too() -> None:
    svd = linalg.svd(np.eye(3), False)
    with pytest.warns(RuntimeWarning):
        linalg.svd_gradient(svd, gU=np.ones((3, 3)), gS=np.ones(3))


@pytest.mark.parametrize("shape", [(6, 3), (2, 5), (2, 4, 3)])
def test_completing_columns(shape: tuple[int, ...]) -> None:
    k = min(shape[-2:])
    A, x = normal(*shape).requires_grad_(), normal(max(shape[-2:]), seed=5)

    def outside(a: Any) -> Any:
        U, _, Vh = qt.svd(a, True)
        rest = U[..., k:] if shape[-2] > k else Vh[..., k:, :].mT
        return (rest.mT @ x).square().sum(-1)

    def expected(a: Any) -> Any:
        P = a @ torch.linalg.pinv(a) if shape[-2] > k else torch.linalg.pinv(a) @ a
        return x @ x - (P @ x) @ x

    torch.testing.assert_close(outside(A), expected(A))
    for mode in (torch.func.jacrev, torch.func.jacfwd):
        torch.testing.assert_close(mode(outside)(A.detach()), mode(expected)(A.detach()))
    assert gradgradcheck(outside, A)


@pytest.mark.parametrize("dtype, scales", [(torch.float32, [1e-30, 1e-18, 1e18]), (torch.float64, [1e-250, 1e-160, 1e160])])
def test_hessian_of_values_does_not_depend_on_the_scale(dtype: Any, scales: list[float]) -> None:
    A = normal(4, 3)
    hessian = torch.func.hessian(lambda a: qt.svdvals(a).square().sum().sqrt())
    values = torch.func.hessian(lambda a: qt.svdvals(a)[0])
    expected = values(A)
    for scale in scales:
        got = values(A.to(dtype) * scale).double() * scale
        torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(hessian(A), torch.func.hessian(lambda a: a.square().sum().sqrt())(A))
