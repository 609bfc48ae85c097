from __future__ import annotations

from typing import Any

import pytest

import quintet

torch = pytest.importorskip("torch")
qt = pytest.importorskip("quintet.torch")
pytest.importorskip("scipy")

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]


def sparse(m: int, n: int, seed: int) -> Any:
    g = torch.Generator().manual_seed(seed)
    dense = torch.randn(m, n, dtype=torch.float64, generator=g)
    return (dense * (torch.rand(m, n, generator=g) < 0.3)).to_sparse_csr()


def test_product_and_gradients() -> None:
    A, B = sparse(9, 7, 0).requires_grad_(), sparse(7, 8, 1).requires_grad_()
    C = qt.spgemm(A, B)
    assert C.layout is torch.sparse_csr
    a, b = A.detach().to_dense().requires_grad_(), B.detach().to_dense().requires_grad_()
    torch.testing.assert_close(C.detach().to_dense(), (a @ b).detach())
    weights = torch.randn(9, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    (C.to_dense() * weights).sum().backward()
    ((a @ b) * weights).sum().backward()
    for got, dense, of in ((A.grad, a.grad, A), (B.grad, b.grad, B)):
        assert got.layout is torch.sparse_csr
        pattern = of.detach().to_dense() != 0
        torch.testing.assert_close(got.to_dense(), torch.where(pattern, dense, torch.zeros_like(dense)))


def shuffled(t: Any, seed: int) -> Any:
    """The same matrix, with the columns of every row in another order."""
    random = torch.Generator().manual_seed(seed)
    order = torch.cat([begin + torch.randperm(int(end - begin), generator=random)
                       for begin, end in zip(t.crow_indices()[:-1], t.crow_indices()[1:])])
    return torch.sparse_csr_tensor(t.crow_indices(), t.col_indices()[order], t.values()[order], t.shape)


def gradients_of(a: Any, b: Any, loss: Any) -> tuple[Any, Any]:
    a, b = a.clone().requires_grad_(), b.clone().requires_grad_()
    loss(qt.spgemm(a, b)).backward()
    return a.grad, b.grad


def assert_gradients(a: Any, b: Any, loss: Any, dense_loss: Any) -> None:
    """Of every stored entry, in the order of the operand."""
    x, y = a.to_dense().requires_grad_(), b.to_dense().requires_grad_()
    dense_loss(x @ y).backward()
    for got, dense, of in zip(gradients_of(a, b, loss), (x.grad, y.grad), (a, b)):
        torch.testing.assert_close(got.crow_indices(), of.crow_indices().long())
        torch.testing.assert_close(got.col_indices(), of.col_indices().long())
        rows = torch.repeat_interleave(torch.arange(of.shape[0]), of.crow_indices().diff())
        torch.testing.assert_close(got.values(), dense[rows, of.col_indices()])


def test_gradients_of_columns_in_any_order() -> None:
    weights = torch.randn(9, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(2))

    def loss(c: Any) -> Any:
        return (c.to_dense() * weights).sum()

    A, B = shuffled(sparse(9, 7, 0), 3), shuffled(sparse(7, 8, 1), 4)
    assert_gradients(A, B, loss, loss)
    product = sparse(9, 9, 5) @ sparse(9, 7, 0)  # as torch returns it
    assert_gradients(product, B, loss, loss)
    repeated = torch.sparse_csr_tensor(
        torch.tensor([0, 3, 3, 4]), torch.tensor([1, 0, 1, 2]), torch.tensor([1.0, 2, 3, 4], dtype=torch.float64), (3, 3)
    )
    assert_gradients(repeated, repeated, lambda c: (c.to_dense() * weights[:3, :3]).sum(),
                     lambda c: (c * weights[:3, :3]).sum())


def test_incoming_gradients_have_entries_that_the_product_lacks() -> None:
    A, B, E = sparse(9, 7, 0), sparse(7, 8, 1), sparse(9, 8, 2)
    weights = torch.randn(9, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    assert_gradients(A, B, lambda c: ((c + E).to_dense() * weights).sum(), lambda c: ((c + E.to_dense()) * weights).sum())
    wider = shuffled(qt.spgemm(A, B) + E, 6)
    x, y = A.clone().requires_grad_(), B.clone().requires_grad_()
    qt.spgemm(x, y).backward(wider)
    a, b = A.to_dense().requires_grad_(), B.to_dense().requires_grad_()
    (a @ b).backward(wider.to_dense())
    for got, dense, of in ((x.grad, a.grad, A), (y.grad, b.grad, B)):
        torch.testing.assert_close(got.to_dense(), torch.where(of.to_dense() != 0, dense, 0))


def test_refusals() -> None:
    A = sparse(3, 3, 0)
    with pytest.raises(TypeError, match="to_sparse_csr"):
        qt.spgemm(A.to_dense(), A)
    with pytest.raises(ValueError, match="columns"):
        qt.spgemm(A, sparse(4, 3, 0))


@pytest.mark.parametrize("columns", [1, 5, 20])
def test_sparse_times_dense_and_its_gradients(columns: int) -> None:
    A = shuffled(sparse(9, 7, 0), 3).requires_grad_()
    X = torch.randn(7, columns, dtype=torch.float64, requires_grad=True)
    weights = torch.randn(9, columns, dtype=torch.float64)
    Y = qt.spmm(A, X)
    a, x = A.detach().to_dense().requires_grad_(), X.detach().clone().requires_grad_()
    torch.testing.assert_close(Y, a @ x)
    (Y * weights).sum().backward()
    ((a @ x) * weights).sum().backward()
    torch.testing.assert_close(X.grad, x.grad)
    assert A.grad.layout is torch.sparse_csr and torch.equal(A.grad.col_indices(), A.col_indices())
    torch.testing.assert_close(A.grad.to_dense(), torch.where(a != 0, a.grad, 0.0))


def of_values(values: Any, like: Any) -> Any:
    return torch.sparse_csr_tensor(like.crow_indices(), like.col_indices(), values, like.shape)


def test_gradients_again_and_their_limits() -> None:
    A = sparse(5, 4, 1)
    values = A.values().clone().requires_grad_()
    X = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    W = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)
    spmm = lambda v, x: qt.spmm(of_values(v, A), x)  # noqa: E731
    assert torch.autograd.gradcheck(spmm, (values, X))
    assert torch.autograd.gradgradcheck(lambda x: qt.spmm(A, x) ** 2, (X,))
    sampled = lambda w, x: qt.sampled(A, w, x).values()  # noqa: E731
    assert torch.autograd.gradcheck(sampled, (W, X))
    dense = lambda w, x: qt.sampled(A, w, x).to_dense() * 2  # noqa: E731
    assert torch.autograd.gradcheck(dense, (W, X))
    # Torch loses what depends on a sparse tensor: refused, not 0.
    for output in (spmm(values, X) ** 2, sampled(W, X) ** 2):
        (g,) = torch.autograd.grad(output.sum(), X, create_graph=True)
        with pytest.raises(RuntimeError, match="once_differentiable|does not require grad"):
            g.sum().backward()


def test_sampled_products() -> None:
    M = shuffled(sparse(9, 7, 4), 5)
    X, Y = torch.randn(9, 11, dtype=torch.float64), torch.randn(7, 11, dtype=torch.float64)
    C = qt.sampled(M, X, Y)
    assert torch.equal(C.col_indices(), M.col_indices())
    torch.testing.assert_close(C.to_dense(), torch.where(M.to_dense() != 0, X @ Y.T, 0.0))


def test_sparse_times_dense_refuses_bad_arguments() -> None:
    A, X = sparse(9, 7, 0), torch.randn(7, 2, dtype=torch.float64)
    for call, error, message in (
        (lambda: qt.spmm(A.to_dense(), X), TypeError, "A must be a sparse_csr or sparse_coo tensor"),
        (lambda: qt.spmm(A, A), TypeError, "X must be a dense tensor"),
        (lambda: qt.spmm(A, X.float()), TypeError, "X must be of the type of the sparse tensor"),
        (lambda: qt.spmm(A, X[:3]), ValueError, "A must have as many columns as X has rows"),
        (lambda: qt.spmm(A, X[:, 0]), ValueError, "X must have 2 dimensions"),
        (lambda: qt.sampled(A, X, X), ValueError, "M, X and Y must fit"),
    ):
        with pytest.raises(error, match=message):
            call()


@pytest.mark.parametrize("is_coalesced", [False, True])
def test_coordinates_are_converted(is_coalesced: bool) -> None:
    places = torch.tensor([[2, 0, 0, 1, 2], [1, 3, 0, 1, 1]])  # one entry twice
    A = torch.sparse_coo_tensor(places, torch.arange(1.0, 6.0, dtype=torch.float64), (3, 4))
    A = (A.coalesce() if is_coalesced else A).requires_grad_()
    B = sparse(4, 5, 3).requires_grad_()
    X = torch.randn(4, 2, dtype=torch.float64, requires_grad=True)
    a, b, x = A.detach().to_dense().requires_grad_(), B.detach().to_dense().requires_grad_(), X.detach().clone().requires_grad_()
    ((qt.spgemm(A, B).to_dense() ** 2).sum() + (qt.spmm(A, X) ** 2).sum()).backward()
    (((a @ b) ** 2).sum() + ((a @ x) ** 2).sum()).backward()
    torch.testing.assert_close(X.grad, x.grad)
    torch.testing.assert_close(A.grad.to_dense(), torch.where(a.detach() != 0, a.grad, 0.0))
    torch.testing.assert_close(B.grad.to_dense(), torch.where(b.detach() != 0, b.grad, 0.0))
    M = qt.sampled(A.detach(), torch.ones(3, 2, dtype=torch.float64), torch.ones(4, 2, dtype=torch.float64))
    torch.testing.assert_close(M.to_dense(), 2.0 * (a.detach() != 0).double())


def _holes(*shape: int, seed: int, dtype: Any = torch.float64) -> Any:
    generator = torch.Generator().manual_seed(seed)
    dense = torch.randn(*shape, generator=generator, dtype=torch.float64)
    return (dense * (torch.rand(*shape, generator=generator) < 0.4)).to(dtype)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_types_are_sums_of_float32(dtype: Any) -> None:
    a, b = _holes(6, 8, seed=1, dtype=dtype), _holes(8, 5, seed=2, dtype=dtype)
    A, B = a.to_sparse_csr().requires_grad_(), b.to_sparse_coo().requires_grad_()
    C = qt.spgemm(A, B)
    assert C.dtype == dtype and C.layout is torch.sparse_csr
    exact = a.double() @ b.double()
    eps = torch.finfo(dtype).eps
    assert ((C.to_dense().double() - exact).abs() <= eps * (a.double().abs() @ b.double().abs())).all()
    C.to_dense().sum().backward()
    ones = torch.ones(6, 5, dtype=torch.float64)
    for grad, reference, of in ((A.grad, ones @ b.double().T, a), (B.grad, a.double().T @ ones, b)):
        assert grad is not None and grad.dtype == dtype
        torch.testing.assert_close(grad.to_dense().double(), reference * (of != 0), rtol=4 * eps, atol=4 * eps)


def test_batches_are_products_of_their_matrices() -> None:
    a, b = _holes(3, 6, 8, seed=3), _holes(3, 8, 5, seed=4)
    A, B = a.to_sparse_coo().requires_grad_(), b.to_sparse_coo().requires_grad_()
    C = qt.spgemm(A, B)
    assert C.layout is torch.sparse_coo and C.shape == (3, 6, 5)
    for item in range(3):
        single = qt.spgemm(a[item].to_sparse_csr(), b[item].to_sparse_csr())
        assert torch.equal(C.detach()[item].to_dense(), single.to_dense())
    weights = torch.randn(3, 6, 5, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    (C.to_dense() * weights).sum().backward()
    torch.testing.assert_close(A.grad.to_dense(), (weights @ b.mT) * (a != 0))  # type: ignore[union-attr]
    torch.testing.assert_close(B.grad.to_dense(), (a.mT @ weights) * (b != 0))  # type: ignore[union-attr]
    half = a[:, :, :6].to(torch.float16).to_sparse_coo()
    assert qt.spgemm(half, half).dtype == torch.float16
    for sizes in ((0, 6, 8, 5), (2, 0, 8, 5), (2, 6, 0, 5), (2, 6, 8, 0)):
        batch, m, k, n = sizes
        assert qt.spgemm(torch.zeros(batch, m, k).to_sparse_coo(), torch.zeros(batch, k, n).to_sparse_coo()).shape == (
            batch,
            m,
            n,
        )


def test_batches_that_do_not_fit() -> None:
    A, B = _holes(3, 6, 8, seed=3).to_sparse_coo(), _holes(3, 8, 5, seed=4).to_sparse_coo()
    with pytest.raises(quintet.InvalidArgument, match="matrices or batches of one size"):
        qt.spgemm(A, _holes(2, 8, 5, seed=4).to_sparse_coo())
    with pytest.raises(quintet.InvalidArgument, match="matrices or batches of one size"):
        qt.spgemm(A, _holes(8, 5, seed=4).to_sparse_coo())
    with pytest.raises(quintet.InvalidArgument, match="as many columns as B has rows"):
        qt.spgemm(B, A)
    with pytest.raises(quintet.InvalidArgument, match="2 dimensions, or 3 for a batch"):
        qt.spgemm(torch.ones(1, 1, 1, 1).to_sparse_coo(), B)
    with pytest.raises(TypeError, match="a batch must be a sparse_coo tensor"):
        qt.spgemm(torch.ones(2, 2, 2).to_sparse_csr(), B)
    with pytest.raises(TypeError, match="float32, float64, float16 or bfloat16"):
        qt.spgemm(A.to(torch.int64), B)
