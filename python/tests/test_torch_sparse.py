from __future__ import annotations

from typing import Any

import pytest

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
