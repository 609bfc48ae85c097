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


def test_refusals() -> None:
    A = sparse(3, 3, 0)
    with pytest.raises(TypeError, match="to_sparse_csr"):
        qt.spgemm(A.to_dense(), A)
    with pytest.raises(ValueError, match="columns"):
        qt.spgemm(A, sparse(4, 3, 0))
