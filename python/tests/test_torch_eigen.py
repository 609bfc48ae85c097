"""quintet.torch.eigh and eigvalsh: against torch, finite differences, and where eigenvalues are equal."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

import quintet  # noqa: E402
import quintet.torch as qt  # noqa: E402


def sym(A: Any) -> Any:
    return (A + A.mT) / 2


def matrices(*shape: int, dtype: Any = torch.float64, seed: int = 0) -> Any:
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def projectors(A: Any) -> Any:
    """A function of V that does not depend on signs."""
    w, V = qt.eigh(sym(A))
    return V**2 * w.unsqueeze(-2) + V**4


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (5, 4, 4), (2, 3, 6, 6), (40, 40), (0, 3, 3), (2, 0, 0)])
def test_as_torch(dtype: Any, shape: tuple[int, ...]) -> None:
    A = sym(matrices(*shape, dtype=dtype))
    w, V = qt.eigh(A)
    expected = torch.linalg.eigh(A)
    assert w.shape == expected.eigenvalues.shape and V.shape == expected.eigenvectors.shape and w.dtype == dtype
    assert V.stride() == expected.eigenvectors.stride() or 0 in shape
    bound = 100 * torch.finfo(dtype).eps
    assert torch.allclose(w, expected.eigenvalues, rtol=0, atol=bound * (1 + A.abs().sum().item()))
    assert torch.allclose(V * w.unsqueeze(-2) @ V.mT, A, atol=1e4 * torch.finfo(dtype).eps)
    assert torch.equal(qt.eigvalsh(A), w)
    assert torch.equal(qt.eigh(torch.triu(A), "U").eigenvalues, w)
    assert torch.equal(qt.eigh(torch.tril(A)).eigenvectors, V)


def test_sixteen_bits() -> None:
    A = sym(matrices(7, 5, 5)).bfloat16()
    w, V = qt.eigh(A)
    assert w.dtype == torch.float32 and V.dtype == torch.bfloat16
    assert torch.allclose(w, torch.linalg.eigvalsh(A.float()), atol=1e-5)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_derivatives_of_both_orders_and_modes(n: int) -> None:
    A = matrices(2, n, n).requires_grad_()
    for f in (lambda A: qt.eigh(sym(A)).eigenvalues, lambda A: qt.eigvalsh(sym(A)), projectors):
        assert torch.autograd.gradcheck(f, A, check_forward_ad=True, check_batched_grad=True)
        assert torch.autograd.gradgradcheck(f, A)


def test_gradients_are_those_of_torch() -> None:
    A = sym(matrices(4, 5, 5))
    weights = matrices(4, 5, 5, seed=1)
    results = []
    for eigh in (qt.eigh, torch.linalg.eigh):
        leaf = A.clone().requires_grad_()
        w, V = eigh(leaf)
        ((V**2 * weights).sum() + (w**3).sum()).backward()
        results.append(sym(leaf.grad))
    assert torch.allclose(*results, atol=1e-10)


def test_the_gradient_is_symmetric() -> None:
    A = sym(matrices(3, 4, 4)).requires_grad_()
    projectors(A).sum().backward()
    assert torch.allclose(A.grad, A.grad.mT)


@pytest.mark.parametrize("n", [2, 4])
def test_equal_eigenvalues(n: int) -> None:
    """Of w alone nothing is divided; policies say what becomes of the rest."""
    A = torch.eye(n, dtype=torch.float64, requires_grad=True)
    (qt.eigvalsh(A) ** 2).sum().backward()
    assert torch.allclose(A.grad, 2 * torch.eye(n, dtype=torch.float64))
    for policy, finite in (("drop", True), ("broaden", True), ("exact", False)):
        A = torch.eye(n, dtype=torch.float64, requires_grad=True)
        _w, V = qt.eigh(A, policy=policy)
        (V * matrices(n, n)).sum().backward()
        assert bool(torch.isfinite(A.grad).all()) == finite, policy
    A = torch.diag(torch.tensor([1.0, 1.0 + 1e-9, 2.0], dtype=torch.float64)).requires_grad_()
    _w, V = qt.eigh(A, tolerance=1e-6)
    (V * matrices(3, 3)).sum().backward()
    assert A.grad.abs().max() < 10


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_scales_do_not_matter(scale: float) -> None:
    A, weights = sym(matrices(4, 4)), matrices(4, 4, seed=1)
    gradients = []
    for factor in (1.0, scale):
        leaf = (A * factor).requires_grad_()
        (qt.eigh(leaf).eigenvectors ** 2 * weights).sum().backward()
        gradients.append(leaf.grad * factor)
    assert torch.allclose(*gradients, rtol=1e-8)


def test_transforms() -> None:
    A = sym(matrices(6, 3, 3))
    assert torch.equal(torch.vmap(lambda a: qt.eigh(a).eigenvectors)(A), qt.eigh(A).eigenvectors)
    per_matrix = torch.vmap(torch.func.grad(lambda a: (qt.eigvalsh(a) ** 2).sum()))(A)
    assert torch.allclose(per_matrix, 2 * A)
    hessian = torch.func.hessian(lambda a: (qt.eigvalsh(sym(a)) ** 2).sum())(A[0])
    exact = torch.func.hessian(lambda a: (sym(a) ** 2).sum())(A[0])
    assert torch.allclose(hessian, exact, atol=1e-10)


@pytest.mark.slow
def test_compiled() -> None:
    A = sym(matrices(3, 4, 4)).requires_grad_()

    def loss(A: Any) -> Any:
        return projectors(A).sum()

    eager = torch.autograd.grad(loss(A), A)[0]
    compiled = torch.autograd.grad(torch.compile(loss, backend="aot_eager", fullgraph=True)(A), A)[0]
    assert torch.allclose(eager, compiled)


def test_errors() -> None:
    A = torch.eye(3).repeat(2, 1, 1)
    A[1, 2, 0] = torch.nan
    with pytest.raises(torch.linalg.LinAlgError, match=r"linalg.eigh: \(Batch element 1\).*non-finite"):
        qt.eigh(A)
    assert torch.isfinite(qt.eigvalsh(A, "U")).all()
    for call, kind, words in (
        (lambda: qt.eigh(torch.ones(3, 2)), quintet.InvalidArgument, "square"),
        (lambda: qt.eigh(torch.ones(3)), quintet.InvalidArgument, "at least 2 dimensions"),
        (lambda: qt.eigh(A, "X"), quintet.InvalidArgument, "UPLO must be 'L' or 'U'"),
        (lambda: qt.eigh(A, policy="guess"), quintet.InvalidArgument, "policy"),
        (lambda: qt.eigh(A, tolerance=-1.0), quintet.InvalidArgument, "tolerance"),
        (lambda: qt.eigh(A.long()), TypeError, "float"),
        (lambda: qt.eigvalsh([[1.0]]), TypeError, "tensor"),
    ):
        with pytest.raises(kind, match=words):
            call()


def test_patched() -> None:
    A = sym(matrices(5, 6, 6))
    before = torch.linalg.eigh(A)
    with qt.patched():
        w, V = torch.linalg.eigh(A)
        assert torch.equal(w, qt.eigvalsh(A)) and torch.equal(V, qt.eigh(A).eigenvectors)
        assert torch.equal(torch.linalg.eigvalsh(A), w)
        assert torch.equal(torch.linalg.eigh(torch.triu(A), UPLO="U").eigenvalues, w)
        large = sym(matrices(70, 70))
        mine = qt.eigvalsh(large)
        assert torch.allclose(torch.linalg.eigvalsh(large), mine)
        leaf = A.clone().requires_grad_()
        assert torch.autograd.gradcheck(lambda A: torch.linalg.eigvalsh(sym(A)), leaf)
        half = sym(torch.eye(3).half())
        assert torch.linalg.eigvalsh(half).tolist() == [1.0, 1.0, 1.0]
        assert torch.equal(torch.linalg.eigvalsh(A.to(torch.complex128)), torch.linalg.eigvalsh(A.to(torch.complex128)))
    assert torch.allclose(before.eigenvalues, w)
    assert torch.equal(torch.linalg.eigh(A).eigenvectors, before.eigenvectors)


def definite(*shape: int, seed: int = 7) -> Any:
    B = matrices(*shape, seed=seed)
    return B @ B.mT / shape[-1] + torch.eye(shape[-1], dtype=B.dtype)


def invariants(A: Any, B: Any) -> Any:
    """A function of w and V that does not depend on signs."""
    w, V = qt.eigh(sym(A), B=sym(B))
    return V**2 * w.unsqueeze(-2) + V**4


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (5, 4, 4), (2, 3, 6, 6), (40, 40), (0, 3, 3), (2, 0, 0)])
def test_generalised_problems(dtype: Any, shape: tuple[int, ...]) -> None:
    A, B = sym(matrices(*shape, dtype=dtype)), definite(*shape).to(dtype) if shape[-1] else matrices(*shape, dtype=dtype)
    w, V = qt.eigh(A, B=B)
    n, bound = shape[-1], 1e3 * torch.finfo(dtype).eps
    assert w.shape == shape[:-1] and V.shape == shape and w.dtype == V.dtype == dtype
    assert torch.allclose(A @ V, B @ V * w.unsqueeze(-2), atol=bound * max(n, 1))
    assert torch.allclose(V.mT @ B @ V, torch.eye(n, dtype=dtype).expand(shape), atol=bound)
    assert (w.diff(dim=-1) >= 0).all()
    assert torch.allclose(qt.eigvalsh(A, B=B), w, atol=bound)
    upper = qt.eigh(torch.triu(A), "U", B=torch.triu(B))
    assert torch.allclose(upper.eigenvalues, w, atol=bound)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_derivatives_of_generalised_problems(n: int) -> None:
    A, B = matrices(2, n, n).requires_grad_(), definite(2, n, n).requires_grad_()
    for f in (
        lambda A, B: qt.eigh(sym(A), B=sym(B)).eigenvalues,
        lambda A, B: qt.eigvalsh(sym(A), B=sym(B)),
        invariants,
    ):
        assert torch.autograd.gradcheck(f, (A, B), check_forward_ad=True, check_batched_grad=True)
        assert torch.autograd.gradgradcheck(f, (A, B))
    for f in (lambda A: invariants(A, B.detach()), lambda A: invariants(B.detach(), A @ A.mT + torch.eye(n))):
        assert torch.autograd.gradcheck(f, (A,), check_forward_ad=True)


def test_generalised_gradients_are_those_of_the_reduction() -> None:
    """By Cholesky's factor and torch's own derivatives."""
    A, B, weights = sym(matrices(4, 5, 5)), definite(4, 5, 5), matrices(4, 5, 5, seed=1)

    def by_torch(A: Any, B: Any) -> Any:
        L = torch.linalg.cholesky(B)
        C = torch.linalg.solve_triangular(L, torch.linalg.solve_triangular(L, A, upper=False).mT, upper=False)
        w, Y = torch.linalg.eigh(sym(C))
        return w, torch.linalg.solve_triangular(L.mT, Y, upper=True)

    results = []
    for solve in (lambda A, B: qt.eigh(A, B=B), by_torch):
        a, b = A.clone().requires_grad_(), B.clone().requires_grad_()
        w, V = solve(a, b)
        ((V**2 * weights).sum() + (w**3).sum()).backward()
        results.append((sym(a.grad), sym(b.grad)))
    for mine, other in zip(*results):
        assert torch.allclose(mine, other, atol=1e-9)


def test_generalised_gradients_at_equal_eigenvalues() -> None:
    """V @ V.mT is the inverse of B, whatever A is: the gradient after B has no gap in it."""
    B = definite(4, 4).requires_grad_()
    A, weights = (2 * B.detach()).requires_grad_(), sym(matrices(4, 4))
    w, V = qt.eigh(A, B=B)
    assert torch.allclose(w, torch.full((4,), 2.0, dtype=w.dtype))
    ((V @ V.mT) * weights).sum().backward()
    inverse = torch.linalg.inv(B.detach())
    assert torch.allclose(B.grad, -inverse @ weights @ inverse, atol=1e-10)
    assert torch.allclose(A.grad, torch.zeros_like(A), atol=1e-10)


def test_transforms_of_generalised_problems() -> None:
    A, B = sym(matrices(6, 3, 3)), definite(6, 3, 3)
    _w, V = qt.eigh(A, B=B)
    both = torch.vmap(lambda a, b: qt.eigh(a, B=b).eigenvectors)(A, B)
    assert torch.equal(both, V)
    shared = torch.vmap(lambda a: qt.eigh(a, B=B[0]).eigenvalues)(A)
    assert torch.equal(shared, qt.eigvalsh(A, B=B[0])) and torch.equal(shared, qt.eigh(A, B=B[:1]).eigenvalues)
    per_matrix = torch.vmap(torch.func.grad(lambda a, b: (invariants(a, b)).sum(), argnums=1))(A, B)
    leaf = B.clone().requires_grad_()
    invariants(A, leaf).sum().backward()
    assert torch.allclose(per_matrix, leaf.grad)


@pytest.mark.slow
def test_generalised_problems_compiled() -> None:
    A, B = matrices(3, 4, 4).requires_grad_(), definite(3, 4, 4).requires_grad_()

    def loss(A: Any, B: Any) -> Any:
        return invariants(A, B).sum()

    eager = torch.autograd.grad(loss(A, B), (A, B))
    compiled = torch.autograd.grad(torch.compile(loss, backend="aot_eager", fullgraph=True)(A, B), (A, B))
    for mine, other in zip(eager, compiled):
        assert torch.allclose(mine, other)


def test_errors_of_generalised_problems() -> None:
    A = torch.eye(3).repeat(2, 1, 1)
    B = A.clone()
    B[1, 2, 2] = -1
    with pytest.raises(torch.linalg.LinAlgError, match=r"\(Batch element 1\).*B is not positive-definite"):
        qt.eigh(A, B=B)
    for call, kind, words in (
        (lambda: qt.eigh(A, B=torch.eye(2)), quintet.InvalidArgument, "B must have matrices of the size of A's"),
        (lambda: qt.eigh(A, B=torch.ones(3)), quintet.InvalidArgument, "B must have at least 2 dimensions"),
        (lambda: qt.eigh(A, B=torch.eye(3).repeat(3, 1, 1)), quintet.InvalidArgument, "must broadcast"),
        (lambda: qt.eigh(A, B=A.double()), TypeError, "B must be of the type of A"),
        (lambda: qt.eigvalsh(A, B=[[1.0]]), TypeError, "B must be a tensor"),
    ):
        with pytest.raises(kind, match=words):
            call()


FUNCTIONS = {
    "sqrtm_spd": (lambda x: x.sqrt(), lambda x: 0.5 / x.sqrt()),
    "invsqrt_spd": (lambda x: 1 / x.sqrt(), lambda x: -0.5 / (x * x.sqrt())),
    "logm_spd": (lambda x: x.log(), lambda x: 1 / x),
    "expm_sym": (lambda x: x.exp(), lambda x: x.exp()),
}


def positive(*shape: int, seed: int = 0) -> Any:
    A = matrices(*shape, seed=seed)
    return A @ A.mT + 0.1 * torch.eye(shape[-1], dtype=A.dtype)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_matrices(name: str) -> None:
    function, (f, df) = getattr(qt, name), FUNCTIONS[name]
    A = positive(3, 4, 4)
    w, V = torch.linalg.eigh(A)
    assert torch.allclose(function(A), V * f(w).unsqueeze(-2) @ V.mT)
    assert torch.equal(torch.vmap(function)(A), function(A))
    single = function(A.float())
    assert single.dtype == torch.float32 and torch.allclose(single, function(A).float(), rtol=1e-2, atol=1e-3)
    leaf = A.clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda A: function(sym(A)), leaf, check_forward_ad=True)
    # Where all eigenvalues are equal the derivative is that of the number.
    for x in (0.3, 2.0):
        xI = (x * torch.eye(4, dtype=torch.float64)).requires_grad_()
        weights = sym(matrices(4, 4))
        (function(xI) * weights).sum().backward()
        assert torch.allclose(xI.grad, df(torch.tensor(x, dtype=torch.float64)) * weights, rtol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_derivatives_of_functions(name: str) -> None:
    function = getattr(qt, name)
    near = torch.diag(torch.tensor([0.5, 0.5, 0.5 + 1e-9, 2.0], dtype=torch.float64))
    for A in (positive(4, 4), 2 * torch.eye(4, dtype=torch.float64), near):
        leaf = A.clone().requires_grad_()
        assert torch.autograd.gradgradcheck(lambda A: function(sym(A)), leaf, check_fwd_over_rev=True)
    # A direction of the Hessian by every composition of modes.
    A, E, weights = positive(4, 4), sym(matrices(4, 4)), sym(matrices(4, 4, seed=1))

    def loss(A: Any) -> Any:
        return (function(sym(A)) * weights).sum()

    hessians = [outer(inner(loss))(A) for outer in (torch.func.jacrev, torch.func.jacfwd)
                for inner in (torch.func.jacrev, torch.func.jacfwd)]
    slope = torch.func.grad(loss)
    for hessian in hessians:
        change = torch.einsum("ijkl,kl->ij", hessian, E)
        assert torch.allclose(change, (slope(A + 1e-5 * E) - slope(A - 1e-5 * E)) / 2e-5, rtol=1e-5, atol=1e-6)
    batch = positive(3, 4, 4)
    assert torch.allclose(torch.vmap(torch.func.hessian(loss))(batch)[1], torch.func.hessian(loss)(batch[1]))
    leaf = A.clone().requires_grad_()
    gradient = torch.autograd.grad(loss(leaf), leaf, create_graph=True)[0]
    second = torch.autograd.grad(gradient.sum(), leaf, create_graph=True)[0]
    with pytest.raises(NotImplementedError, match="third derivatives"):
        torch.autograd.grad(second.sum(), leaf)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_compiled_functions_of_matrices(name: str, dtype: Any) -> None:
    torch.compiler.reset()
    function = getattr(qt, name)
    A = positive(3, 4, 4).to(dtype)
    weights = sym(matrices(3, 4, 4)).to(dtype)

    def gradient(call: Any) -> Any:
        leaf = A.clone().requires_grad_()
        result = call(leaf)
        (result * weights).sum().backward()
        return result.detach(), leaf.grad

    compiled = torch.compile(function, backend="aot_eager", fullgraph=True)
    for mine, other in zip(gradient(compiled), gradient(function), strict=True):
        assert torch.equal(mine, other)
    assert torch.equal(torch.compile(torch.vmap(function), backend="aot_eager", fullgraph=True)(A), function(A))


@pytest.mark.parametrize("kind", ["_Root", "_InverseRoot", "_Logarithm", "_Exponential"])
def test_second_divided_differences(kind: str) -> None:
    """Against their definition in 150 digits, with equal numbers a little apart."""
    from decimal import Decimal, localcontext

    from quintet.torch import _matrix_functions as functions

    function = {"_Root": Decimal.sqrt, "_InverseRoot": lambda x: 1 / x.sqrt(), "_Logarithm": Decimal.ln}
    f = function.get(kind, Decimal.exp)
    mine = functions._Root(0.0) if kind == "_Root" else getattr(functions, kind)()
    generator = torch.Generator().manual_seed(5)
    with localcontext() as context:
        context.prec = 150
        for gap in (0.0, 1e-13, 1e-8, 1e-4, 1e-2, 0.4, 1.5, 20.0, 1e6):
            if kind == "_Exponential" and gap > 100:
                continue
            for base in (1e-6, 0.7, 30.0):
                for shape in ((0, 1, 1), (0, 0, 1), (0, 1, 0), (0, 0.3, 1), (1, 0.9, 0)):
                    noise = 1 + 0.1 * torch.rand(3, generator=generator, dtype=torch.float64)
                    v = base * (1 + gap * torch.tensor(shape, dtype=torch.float64) * noise)
                    a, b, c = sorted(Decimal(x) for x in v.tolist())
                    a, c = a - abs(a) * Decimal("1e-40"), c + abs(c) * Decimal("1e-40")
                    expected = ((f(c) - f(b)) / (c - b) - (f(b) - f(a)) / (b - a)) / (c - a)
                    found = mine.second_difference(*v.unsqueeze(-1)).item()
                    assert found == pytest.approx(float(expected), rel=4e-15), (v.tolist(), base, gap)


@pytest.mark.parametrize("gap", [0.0, 1e-14, 1e-9, 1e-6, 1e-3, 0.1, 3.0, 1e4])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_divided_differences(name: str, gap: float) -> None:
    """Against the mean of f' over the interval, by Gauss and Legendre's rule in pieces."""
    import numpy as np

    a, b = 0.7, 0.7 + (gap if name != "expm_sym" else min(gap, 30.0))
    A = torch.diag(torch.tensor([a, b], dtype=torch.float64)).requires_grad_()
    getattr(qt, name)(A)[0, 1].backward()
    nodes, weights = np.polynomial.legendre.leggauss(40)
    edges = np.geomspace(a, b, 41) if gap > 0 else np.array([a, b])
    if b == a:
        expected = float(FUNCTIONS[name][1](torch.tensor(a, dtype=torch.float64)))
    else:
        total = 0.0
        for low, high in zip(edges[:-1], edges[1:]):
            points = torch.from_numpy((low + high) / 2 + (high - low) / 2 * nodes)
            total += (high - low) / 2 * float((FUNCTIONS[name][1](points) * torch.from_numpy(weights)).sum())
        expected = total / (edges[-1] - edges[0])
    assert 2 * A.grad[0, 1].item() == pytest.approx(expected, rel=1e-3 * (gap < 1e-12) + 1e-9 * (gap > 0) + 1e-13)


def test_roots_of_semidefinite_matrices() -> None:
    x = matrices(5, 2)
    A = x @ x.mT  # three eigenvalues are zero but for rounding
    root = qt.sqrtm_spd(A)
    assert torch.allclose(root @ root, A, atol=1e-13)
    assert torch.isnan(qt.sqrtm_spd(torch.diag(torch.tensor([-1.0, 1.0])))).any()
    assert torch.isinf(qt.invsqrt_spd(torch.diag(torch.tensor([0.0, 1.0])))).any()
    assert qt.expm_sym(torch.empty(0, 3, 3)).shape == (0, 3, 3)
    with pytest.raises(quintet.InvalidArgument, match="square"):
        qt.logm_spd(torch.ones(2, 3))
