from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import quintet

torch = pytest.importorskip("torch")
qt = pytest.importorskip("quintet.torch")
from torch.autograd import gradcheck, gradgradcheck  # noqa: E402

from quintet import linalg  # noqa: E402
from quintet.torch import _kabsch  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

SHAPES = [(5, 3), (3, 5), (4, 4), (2, 4, 3), (2, 3, 4, 4)]


def matrix(*shape: int, dtype: Any = torch.float64, seed: int = 0) -> Any:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)).to(dtype)


def factors(A: Any) -> Any:
    """U, S, Vh without the freedom of signs."""
    U, S, Vh = qt.svd(A, False)
    s = U[..., :1, :].sign().detach()
    return U * s, S, Vh * s.mT


@pytest.mark.parametrize("shape", SHAPES)
def test_agrees_with_torch(shape: tuple[int, ...]) -> None:
    A = matrix(*shape)
    for full in (False, True):
        U, S, Vh = qt.svd(A, full)
        u, s, vh = torch.linalg.svd(A, full)
        assert U.shape == u.shape and Vh.shape == vh.shape and U.stride() == u.stride() and Vh.stride() == vh.stride()
        torch.testing.assert_close(S, s)
        k = S.shape[-1]
        torch.testing.assert_close((U[..., :k] * S[..., None, :]) @ Vh[..., :k, :], A)
    torch.testing.assert_close(qt.svdvals(A), s)
    torch.testing.assert_close(qt.pinv(A), torch.linalg.pinv(A))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_types(dtype: Any) -> None:
    A = matrix(3, 6, 4, dtype=dtype)
    U, S, Vh = qt.svd(A, False)
    assert U.dtype == Vh.dtype == dtype and S.dtype == torch.float32
    torch.testing.assert_close(S, torch.linalg.svdvals(A.float()), rtol=1e-5, atol=1e-5)
    got = linalg.svd(A, False)
    assert isinstance(got[0], torch.Tensor) and got[0].dtype == dtype
    torch.testing.assert_close(got[1], S, rtol=0, atol=0)


def test_lazy_negation_is_seen() -> None:
    A = torch.complex(torch.zeros(3, 3), matrix(3, 3, dtype=torch.float32)).conj().imag
    assert A.is_neg()
    U, S, Vh = qt.svd(A)
    torch.testing.assert_close((U * S) @ Vh, A.resolve_neg())
    U, S, Vh = linalg.svd(A)
    torch.testing.assert_close((U * S) @ Vh, A.resolve_neg())


@pytest.mark.parametrize("shape", SHAPES)
def test_gradients(shape: tuple[int, ...]) -> None:
    A = matrix(*shape).requires_grad_()
    assert gradcheck(factors, A, check_forward_ad=True)
    assert gradgradcheck(factors, A)
    assert gradcheck(qt.pinv, A, check_forward_ad=True)
    assert gradgradcheck(qt.pinv, A)


@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 5)])
def test_gradient_agrees_with_torch(shape: tuple[int, ...]) -> None:
    A = matrix(*shape).requires_grad_()

    def loss(svd: Any) -> Any:
        U, S, Vh = svd(A, full_matrices=False)
        return (U.abs().sum() + (S**3).sum() + (Vh**4).sum()).sin()

    (got,) = torch.autograd.grad(loss(qt.svd), A)
    (expected,) = torch.autograd.grad(loss(torch.linalg.svd), A)
    torch.testing.assert_close(got, expected)


def test_full_matrices_have_the_gradient_of_the_economy_form() -> None:
    A = matrix(5, 3).requires_grad_()
    (full,) = torch.autograd.grad(qt.svd(A).S.sum() + qt.svd(A).U[:, :3].square()[0].sum(), A)
    (economy,) = torch.autograd.grad(qt.svd(A, False).S.sum() + qt.svd(A, False).U.square()[0].sum(), A)
    torch.testing.assert_close(full, economy)


def test_gradient_is_finite_where_values_are_equal() -> None:
    A = torch.eye(3, dtype=torch.float64, requires_grad=True)
    U, _, Vh = qt.svd(A)
    (U @ Vh)[0, 1].backward()
    # d(U V^T) of the identity is the antisymmetric part.
    expected = torch.zeros(3, 3, dtype=torch.float64)
    expected[0, 1], expected[1, 0] = 0.5, -0.5
    torch.testing.assert_close(A.grad, expected)
    with pytest.raises(quintet.InvalidArgument, match="policy"):
        qt.svd(A, policy="guess")
    with pytest.raises(quintet.InvalidArgument, match="tolerance"):
        qt.svd(A, tolerance=-1.0)


def test_func_transforms() -> None:
    A = matrix(6, 4, 3)

    def loss(a: Any) -> Any:
        return (qt.svd(a, False).S ** 2).sum() + qt.svd(a, False).U.abs().sum()

    one = torch.func.grad(loss)(A[0])
    torch.testing.assert_close(torch.func.vmap(torch.func.grad(loss))(A)[0], one)
    torch.testing.assert_close(torch.func.jacrev(qt.svdvals)(A[0]), torch.func.jacfwd(qt.svdvals)(A[0]))
    hessian = torch.func.hessian(loss)(A[0]).reshape(12, 12)
    torch.testing.assert_close(hessian, hessian.mT)
    torch.testing.assert_close(torch.func.vmap(lambda a: qt.svd(a, False).S)(A), qt.svdvals(A))


def test_opcheck() -> None:
    A = matrix(4, 3)
    torch.library.opcheck(torch.ops.quintet.svd, (A, False, 1, 0.0))
    U, S, Vh = qt.svd(A, False)
    torch.library.opcheck(torch.ops.quintet.svd_backward, (U, S, Vh, U, S, Vh, 1, 0.0))


def test_compile() -> None:
    def loss(a: Any) -> Any:
        U, S, Vh = qt.svd(a, False)
        return U.abs().sum() + S.sum() + Vh.abs().sum()

    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager", dynamic=True)
    for shape in ((3, 5, 4), (6, 2, 4), (4, 4)):
        A = matrix(*shape).requires_grad_()
        (got,) = torch.autograd.grad(compiled(A), A)
        (expected,) = torch.autograd.grad(loss(A), A)
        torch.testing.assert_close(got, expected)


@pytest.mark.slow
def test_inductor() -> None:
    compiled = torch.compile(lambda a: qt.svd(a, False).S.sum(), fullgraph=True)
    A = matrix(4, 3).requires_grad_()
    (got,) = torch.autograd.grad(compiled(A), A)
    (expected,) = torch.autograd.grad(qt.svdvals(A).sum(), A)
    torch.testing.assert_close(got, expected)


def test_refusals() -> None:
    A = matrix(3, 3)
    for bad in (A.to(torch.int64), torch.complex(A, A), A.to_sparse(), A.numpy(), 1.0):
        with pytest.raises(TypeError, match="A must be"):
            qt.svd(bad)
    with pytest.raises(quintet.InvalidArgument, match="2 dimensions"):
        qt.svd(A[0])
    with pytest.raises(TypeError, match="requires a gradient"):
        linalg.svd(A.clone().requires_grad_())
    with pytest.raises(torch.linalg.LinAlgError, match="Batch element 1.*non-finite"):
        qt.svd(torch.stack([A, torch.full_like(A, torch.nan)]))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_gpu_tensors_are_refused_by_a_host_build() -> None:
    with pytest.raises(quintet.DeviceError):
        qt.svd(torch.eye(2, device="cuda"))


def test_a_device_that_is_not_the_processor_is_refused() -> None:
    with pytest.raises(quintet.DeviceError, match="processor's memory"):
        linalg.svd(torch.empty(2, 2, device="meta"))


@pytest.mark.parametrize("shape", [(9, 7), (6, 8), (2, 7, 7)])
def test_randomized_svd_has_the_gradient_of_the_leading_part(shape: tuple[int, ...]) -> None:
    # Not of low rank, with a gap behind the third value: the parts of dU and dV outside count.
    U, _, Vh = torch.linalg.svd(matrix(*shape), full_matrices=False)
    k = min(shape[-2:])
    A = ((U * torch.linspace(3, 2, k, dtype=torch.float64) ** torch.linspace(3, -4, k)) @ Vh).detach().requires_grad_()
    options = {"power_iterations": 12, "oversampling": 3}

    def loss(U: Any, S: Any, Vh: Any) -> Any:
        return (U.square() * torch.arange(U.shape[-2]).unsqueeze(-1)).sum() + (S**3).sum() + (Vh**4).sum()

    found = qt.randomized_svd(A, 3, **options)
    (got,) = torch.autograd.grad(loss(*found[:3]), A, retain_graph=True)
    u, s, vh = torch.linalg.svd(A, full_matrices=False)
    (expected,) = torch.autograd.grad(loss(u[..., :3], s[..., :3], vh[..., :3, :]), A, retain_graph=True)
    torch.testing.assert_close(found.S, s[..., :3], rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(got, expected, rtol=1e-7, atol=1e-8)
    (got,) = torch.autograd.grad(found.residual.sum(), A)
    rest = s[..., 3:].square().sum(-1).sqrt()
    (expected,) = torch.autograd.grad(rest.sum(), A)
    torch.testing.assert_close(got, expected, rtol=1e-7, atol=1e-8)


def test_randomized_svd_of_exact_rank_and_16_bits() -> None:
    A = (matrix(20, 2) @ matrix(2, 15, seed=1)).requires_grad_()
    found = qt.randomized_svd(A, 2)
    (got,) = torch.autograd.grad(((found.U * found.S) @ found.Vh).sum(), A)
    # All rows and columns of the change of a matrix of this rank but those outside of both subspaces.
    P, Q = found.U @ found.U.mT, found.Vh.mT @ found.Vh
    G = torch.ones_like(A)
    torch.testing.assert_close(got, (P @ G + G @ Q - P @ G @ Q).detach())
    half = A.detach().half().requires_grad_()
    qt.randomized_svd(half, 2).S.sum().backward()
    assert half.grad is not None and half.grad.dtype == torch.float16 and torch.isfinite(half.grad).all()
    with pytest.raises(quintet.InvalidArgument, match="2 dimensions"):
        qt.randomized_svd(A[0], 2)


def test_rtol_of_zero_is_zero() -> None:
    A = torch.diag(torch.tensor([1.0, 1e-17, 0.0], dtype=torch.float64))
    torch.testing.assert_close(qt.pinv(A, rtol=0).diagonal(), torch.tensor([1, 1e17, 0], dtype=torch.float64))
    assert torch.equal(qt.pinv(A).diagonal(), torch.tensor([1.0, 0, 0], dtype=torch.float64))


def test_tolerances_are_torchs() -> None:
    A = matrix(4, 6, 5)
    A[1, :, 3:] = A[1, :, :2]  # rank 3
    rtol, atol = torch.tensor([0.1, 0.5, 0.0, 0.3]), torch.tensor([1.0, 0.0, 2.0, 0.1], dtype=torch.float64)
    for limits in ({"atol": 0.5}, {"rtol": 0.3}, {"rtol": 0.1, "atol": 1.0}, {"rtol": rtol.double(), "atol": atol}):
        torch.testing.assert_close(qt.pinv(A, **limits), torch.linalg.pinv(A, **limits))
        b = matrix(4, 6, 2, seed=2)
        torch.testing.assert_close(qt.lstsq(A, b, **limits), torch.linalg.pinv(A, **limits) @ b)
    # The derivative is that of constant rank: what is dropped is zero.
    for limits in ({"atol": 1e-4}, {"rtol": torch.tensor([0.0, 1e-4, 1e-4, 0.0], dtype=torch.float64)}):
        assert gradcheck(lambda x, limits=limits: qt.pinv(x, **limits), A.requires_grad_(), check_forward_ad=True)
        assert gradcheck(lambda x, limits=limits: qt.lstsq(x, b, **limits), A)
    A = A.detach()
    with pytest.raises(quintet.InvalidArgument, match="broadcast"):
        qt.pinv(A, rtol=rtol[:3])
    with pytest.raises(quintet.InvalidArgument, match="least atol=-1"):
        qt.lstsq(A, matrix(4, 6, 1), atol=torch.tensor([1.0, -1.0, 2.0, 0.0]))


def test_pinv_of_symmetric_matrices() -> None:
    A = matrix(3, 5, 5)
    A = A + A.mT
    A[1] = A[1][:, :2] @ A[1][:, :2].mT  # rank 2
    lower = A.tril() + torch.full_like(A, float("nan")).triu(1)
    torch.testing.assert_close(qt.pinv(lower, hermitian=True), torch.linalg.pinv(A, rtol=5 * 2**-52), atol=1e-10, rtol=1e-10)
    x = A[[0, 2]].requires_grad_()
    assert gradcheck(lambda t: qt.pinv((t + t.mT) / 2, hermitian=True), x, check_forward_ad=True)
    assert gradgradcheck(lambda t: qt.pinv((t + t.mT) / 2, hermitian=True), x)
    (got,) = torch.autograd.grad(qt.pinv(x, hermitian=True)[..., 0, 1].sum(), x)
    torch.testing.assert_close(got, got.mT)
    torch.testing.assert_close(torch.func.vmap(lambda t: qt.pinv(t, hermitian=True))(A), qt.pinv(A, hermitian=True))
    with pytest.raises(quintet.InvalidArgument, match="square"):
        qt.pinv(matrix(2, 3), hermitian=True)


# --- patch ------------------------------------------------------------------------------------------------------------


def test_patched_functions_agree_with_torch() -> None:
    A = matrix(5, 6, 4)
    calls = {
        "svdvals": torch.linalg.svdvals,
        "pinv": torch.linalg.pinv,
        "matrix_rank": torch.linalg.matrix_rank,
        "cond": torch.linalg.cond,
        "norm 2": lambda a: torch.linalg.matrix_norm(a, 2),
        "nuc": lambda a: torch.linalg.matrix_norm(a, "nuc"),
        "svd": lambda a: torch.svd(a)[1],
        "Tensor.svd": lambda a: a.svd()[1],
    }
    expected = {name: f(A) for name, f in calls.items()}
    with qt.patched():
        for name, f in calls.items():
            torch.testing.assert_close(f(A), expected[name], msg=name)
        torch.testing.assert_close(torch.svd_lowrank(A[0], 4)[1], expected["svdvals"][0])
        U, S, Vh = torch.linalg.svd(A)
        torch.testing.assert_close((U[..., :4] * S[..., None, :]) @ Vh, A)


@pytest.mark.parametrize("shape", [(6, 3), (3, 6), (4, 4)])
def test_patched_lstsq(shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    from quintet.torch import _patch

    seen: list[int] = []
    ours = _patch.linalg.lstsq
    monkeypatch.setattr(_patch.linalg, "lstsq", lambda *a, **how: (seen.append(1), ours(*a, **how))[1])
    A = matrix(2, *shape)
    b = matrix(2, shape[0], 2)
    singular = A.clone()
    singular[:, :, -1] = singular[:, :, 0]
    for a, right in ((A, b), (singular, b), (A[0], b[0]), (A.float(), b.float())):
        expected = torch.linalg.lstsq(a, right)
        with qt.patched():
            found = torch.linalg.lstsq(a, right)
        torch.testing.assert_close(tuple(found), tuple(expected), rtol=1e-3, atol=1e-3 if a.dtype != A.dtype else 1e-9)
    assert len(seen) == 4
    with qt.patched():
        assert torch.linalg.lstsq(A, b, rcond=0.99).rank.tolist() == [1, 1]
        leaves = [A.clone().requires_grad_(), b.clone().requires_grad_()]
        assert torch.autograd.gradcheck(lambda a, b: torch.linalg.lstsq(a, b).solution, leaves)
        assert torch.linalg.lstsq(A.half(), b.half()).solution.dtype == torch.float16
        count = len(seen)
        assert torch.linalg.lstsq(A, b, driver="gelsd").singular_values.shape == (2, min(shape))
        assert len(seen) == count
        with pytest.raises(torch.linalg.LinAlgError, match="NaN"):
            torch.linalg.lstsq(A * float("nan"), b)


def test_patched_runs_ours_and_leaves_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    from quintet.torch import _patch

    seen: list[tuple[int, ...]] = []
    native: list[tuple[int, ...]] = []
    real = _patch._svd.decompose
    monkeypatch.setattr(_patch._svd, "decompose", lambda A, full: (seen.append(tuple(A.shape)), real(A, full))[1])
    with qt.patched({torch.float32: 10}):
        torch.linalg.svd(matrix(4, 4, dtype=torch.float32))
        assert seen == [(4, 4)]
        for other in (matrix(11, 4, dtype=torch.float32), torch.complex(matrix(3, 3), matrix(3, 3))):
            U, S, Vh = torch.linalg.svd(other, False)
            native.append(tuple(S.shape))
            torch.testing.assert_close((U * S) @ Vh, other)
        assert seen == [(4, 4)]
        torch.linalg.svd(matrix(70, 70, dtype=torch.float16))
        assert seen == [(4, 4), (70, 70)]
    torch.linalg.svd(matrix(4, 4, dtype=torch.float32))
    assert len(seen) == 2


def test_patched_takes_parameters() -> None:
    class Named(torch.Tensor):
        pass

    A = matrix(5, 3)
    with qt.patched():
        for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
            p = torch.nn.Parameter(A.to(dtype), requires_grad=False)
            assert torch.equal(torch.linalg.svdvals(p), torch.linalg.svdvals(A.to(dtype)))
            assert torch.equal(torch.linalg.svd(p, False).U, torch.linalg.svd(A.to(dtype), False).U)
            named = A.to(dtype).as_subclass(Named)
            assert type(torch.linalg.svdvals(named)) is Named
        p = torch.nn.Parameter(A)
        torch.linalg.svdvals(p).sum().backward()
        torch.testing.assert_close(p.grad, torch.linalg.svd(A, False).U @ torch.linalg.svd(A, False).Vh)


def test_patched_derivatives_and_transforms_stay_torchs() -> None:
    A = matrix(3, 4, 3).requires_grad_()
    with qt.patched():
        assert gradcheck(torch.linalg.svdvals, A) and gradgradcheck(torch.linalg.pinv, A)
        torch.testing.assert_close(torch.func.vmap(torch.linalg.svdvals)(A.detach()), qt.svdvals(A.detach()))
        compiled = torch.compile(lambda a: torch.linalg.svd(a, False)[1].sum(), fullgraph=True, backend="aot_eager")
        compiled(A).backward()
    (expected,) = torch.autograd.grad(torch.linalg.svdvals(A).sum(), A)
    torch.testing.assert_close(A.grad, expected)


def test_patch_gives_torchs_errors_and_types() -> None:
    bad = torch.full((2, 3, 3), torch.nan)
    bad[0] = torch.eye(3)
    with pytest.raises(torch.linalg.LinAlgError) as native:
        torch.linalg.svd(bad)
    with qt.patched():
        with pytest.raises(torch.linalg.LinAlgError) as ours:
            torch.linalg.svd(bad)
        assert torch.linalg.svdvals(torch.eye(3, dtype=torch.bfloat16)).dtype == torch.bfloat16
    assert str(ours.value) == str(native.value)


def test_patches_nest_and_are_undone() -> None:
    half = torch.eye(2, dtype=torch.float16)
    with qt.patched():
        with qt.patched({torch.float64: 0}):
            torch.linalg.svdvals(half)
        torch.linalg.svdvals(half)
    with pytest.raises(RuntimeError, match="not implemented"):
        torch.linalg.svdvals(half)
    qt.unpatch()
    with pytest.raises(TypeError, match="max_size"):
        qt.patch({torch.int32: 3})
    threads = [threading.Thread(target=lambda: [qt.patch(), qt.unpatch()]) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    with pytest.raises(RuntimeError, match="not implemented"):
        torch.linalg.svdvals(half)


# --- Kabsch -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mirror", [False, True])
def test_kabsch(mirror: bool) -> None:
    scipy = pytest.importorskip("scipy.spatial.transform")
    p, q = matrix(12, 3), matrix(12, 3, seed=1)
    if mirror:
        q = p * torch.tensor([1.0, 1.0, -1.0])
    R, t, rmsd = qt.kabsch(p, q)
    centred = (p - p.mean(0)).numpy(), (q - q.mean(0)).numpy()
    expected, rssd = scipy.Rotation.align_vectors(centred[1], centred[0])
    np.testing.assert_allclose(R, expected.as_matrix(), atol=1e-7)
    np.testing.assert_allclose(rmsd, rssd / np.sqrt(12), rtol=1e-7)
    torch.testing.assert_close(torch.linalg.det(R), torch.ones((), dtype=torch.float64))
    moved = p @ R.mT + t
    torch.testing.assert_close((moved - q).square().sum(-1).mean().sqrt(), rmsd)


@pytest.mark.parametrize("dimensions", [2, 3, 4])
def test_kabsch_gradients(dimensions: int) -> None:
    p, q = matrix(2, 8, dimensions).requires_grad_(), matrix(2, 8, dimensions, seed=1).requires_grad_()
    w = torch.rand(2, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(3)).requires_grad_()
    assert gradcheck(qt.kabsch, (p, q, w), check_forward_ad=True)
    assert gradgradcheck(lambda *t: tuple(qt.kabsch(*t)), (p, q, w))
    P, Q, W = p.detach(), q.detach(), w.detach()
    for weights in (None, W):  # the kernels, and what has derivatives
        for found, expected in zip(_kabsch._by_kernel(P, Q, weights), _kabsch._composed(P, Q, weights)):
            torch.testing.assert_close(found, expected)

    def loss(x: Any, y: Any) -> Any:
        R, t, rmsd = qt.kabsch(x, y)
        return R[..., 0, 0].sum() + t.square().sum() + rmsd.sum()

    one = torch.func.grad(loss)(P, Q)
    torch.testing.assert_close(torch.func.vmap(torch.func.grad(loss))(P, Q), one)
    loss(p, Q).backward()
    torch.testing.assert_close(p.grad, one)
    torch.testing.assert_close(torch.func.hessian(loss)(P[0], Q[0]), torch.autograd.functional.hessian(lambda x: loss(x, Q[0]), P[0]))
    compiled, x = torch.compile(loss, backend="aot_eager", fullgraph=True), P.clone().requires_grad_()
    compiled(x, Q).backward()
    torch.testing.assert_close(x.grad, one)


@pytest.mark.parametrize("dimensions", [2, 3])
def test_kabsch_with_a_scale(dimensions: int) -> None:
    p, q = matrix(2, 8, dimensions).requires_grad_(), matrix(2, 8, dimensions, seed=1).requires_grad_()
    w = torch.rand(2, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(3)).requires_grad_()

    def scaled(*sets: Any) -> Any:
        return tuple(qt.kabsch(*sets, scale=True))

    assert gradcheck(scaled, (p, q, w), check_forward_ad=True)
    assert gradgradcheck(scaled, (p, q, w))
    P, Q = p.detach(), q.detach()
    for weights in (None, w.detach()):
        expected = _kabsch._composed(P, Q, weights, True)
        for found, by_formula in zip(_kabsch._by_kernel(P, Q, weights, True), expected):
            torch.testing.assert_close(found, by_formula)
    _, _, _, c = qt.kabsch(P[0], 3 * P[0] - 1, scale=True)
    torch.testing.assert_close(c, torch.tensor(3.0, dtype=torch.float64))
    assert float(qt.kabsch(torch.ones(4, 3), matrix(4, 3).float(), scale=True).scale) == 1
    loss = lambda x, y: sum(part.sum() for part in scaled(x, y))  # noqa: E731
    compiled, x = torch.compile(loss, backend="aot_eager", fullgraph=True), P.clone().requires_grad_()
    compiled(x, Q).backward()
    torch.testing.assert_close(x.grad, torch.func.grad(loss)(P, Q))


def test_kabsch_masks_and_broadcasts() -> None:
    p, q = matrix(4, 1, 10, 3), matrix(5, 10, 3, seed=1)
    mask = torch.arange(10) < 7
    q[:, 7:] = float("nan")
    found = qt.kabsch(p, q, mask, scale=True)
    expected = qt.kabsch(p[2, 0, :7], q[3, :7], scale=True)
    for part, alone in zip(found, expected):
        assert part.shape[:2] == (4, 5)
        torch.testing.assert_close(part[2, 3], alone)
    x, y = p.clone().requires_grad_(), q.clone().requires_grad_()
    R, t, rmsd, c = qt.kabsch(x, y, mask.expand(4, 5, 10), scale=True)
    for part, of_kernel in zip((R, t, rmsd, c), found):
        torch.testing.assert_close(part, of_kernel)
    (R[..., 0, 1].sum() + t.sum() + rmsd.sum() + c.sum()).backward()
    gR = torch.zeros(4, 5, 3, 3, dtype=torch.float64)
    gR[..., 0, 1] = 1
    ones = torch.ones(4, 5, dtype=torch.float64)
    by_p, by_q = quintet.linalg.kabsch_gradient(
        p.numpy(), q.numpy(), mask.numpy(), g_rotation=gR.numpy(), g_translation=np.ones((4, 5, 3)), g_rmsd=ones.numpy(),
        g_scale=ones.numpy(), scale=True,
    )
    torch.testing.assert_close(x.grad, torch.from_numpy(by_p))
    torch.testing.assert_close(y.grad, torch.from_numpy(by_q))
    assert not y.grad[:, 7:].any()
    with pytest.raises(quintet.InvalidArgument, match="must broadcast"):
        qt.kabsch(p[:3, 0], q)
    with pytest.raises(quintet.InvalidArgument, match="weights must be of shape"):
        qt.kabsch(p, q, mask[:3])


def test_kabsch_gradients_of_a_cube() -> None:
    """Equal singular values: R and its derivatives of every order are smooth there."""
    cube = torch.cartesian_prod(*[torch.tensor([-1.0, 1.0], dtype=torch.float64)] * 3).requires_grad_()
    target = cube.detach().clone()
    assert gradcheck(lambda x: qt.kabsch(x, target).rotation, cube)
    assert gradgradcheck(lambda x: qt.kabsch(x, target).rotation, cube)


def test_kabsch_refusals() -> None:
    p, q = matrix(8, 3), matrix(8, 3, seed=1)
    bad = p.clone()
    bad[2, 1] = float("nan")
    for history in (False, True):
        with pytest.raises(torch.linalg.LinAlgError, match="non-finite"):
            qt.kabsch(bad.clone().requires_grad_(history), q)
        for weights in (torch.zeros(8), -torch.ones(8), torch.full((8,), float("nan"))):
            with pytest.raises(quintet.InvalidArgument, match="weights"):
                qt.kabsch(p.clone().requires_grad_(history), q, weights.double())
    with pytest.raises(quintet.InvalidArgument, match="one shape"):
        qt.kabsch(p, q[:5])
    with pytest.raises(TypeError, match="one type"):
        qt.kabsch(p, q.float())
    with pytest.raises(quintet.InvalidArgument, match="weights must be of shape"):
        qt.kabsch(p, q, torch.ones(7))
    assert qt.kabsch(p.half(), q.half()).rotation.dtype == torch.float16


def test_a_failure_that_has_gone() -> None:
    """Another thread has repaired the matrices before it is looked which of them failed."""
    from quintet.torch import _svd

    error = _svd._failure(torch.eye(3, dtype=torch.float64))
    assert isinstance(error, torch.linalg.LinAlgError) and "another thread" in str(error)
