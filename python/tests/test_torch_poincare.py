from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import quintet

torch = pytest.importorskip("torch")
qt = pytest.importorskip("quintet.torch")
from torch.autograd import gradcheck, gradgradcheck  # noqa: E402

from quintet.torch import _poincare  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(params=[0.0, 0.7, 1.0])
def ball(request: Any) -> Any:
    return qt.PoincareBall(request.param)


def points(ball: Any, *shape: int, seed: int = 0) -> Any:
    return ball.expmap0(torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)) * 0.7)


def arguments(ball: Any) -> dict[str, tuple[Any, ...]]:
    x, y = points(ball, 4, 3).requires_grad_(), points(ball, 4, 3, seed=1).requires_grad_()
    g = torch.Generator().manual_seed(2)
    v = torch.randn(4, 3, dtype=torch.float64, generator=g).requires_grad_()
    r = torch.randn(4, dtype=torch.float64, generator=g).requires_grad_()
    return {
        "dist": (x, y),
        "cdist": (x, y),
        "dist0": (x,),
        "mobius_add": (x, y),
        "expmap": (x, v),
        "expmap0": (v,),
        "logmap": (x, y),
        "logmap0": (x,),
        "mobius_scalar_mul": (r, x),
        "geodesic": (r, x, y),
        "transp": (x, y, v),
    }


@pytest.mark.parametrize("name", list(arguments(qt.PoincareBall())))
def test_gradients(name: str, ball: Any) -> None:
    f, args = getattr(ball, name), arguments(ball)[name]
    assert gradcheck(f, args, check_forward_ad="dist" not in name)
    assert gradgradcheck(f, args)


@pytest.mark.parametrize("name", list(_poincare._KERNELS))
def test_kernels_are_what_the_formulas_say(name: str, ball: Any) -> None:
    public = {
        "add": "mobius_add",
        "exp": "expmap",
        "exp0": "expmap0",
        "log": "logmap",
        "log0": "logmap0",
        "transport": "transp",
        "scale": "mobius_scalar_mul",
        "geodesic": "geodesic",
    }[name]
    args = [t.detach() for t in arguments(ball)[public]]
    formula = getattr(_poincare, "_" + name)
    torch.testing.assert_close(_poincare._KERNELS[name](ball.c, *args), formula(*args, ball.c))


def test_gradients_near_the_boundary_and_of_neighbours() -> None:
    x = torch.tensor([[1 - 1e-9, 0.0], [0.3, 0.4]], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([[1 - 2e-9, 0.0], [0.3 + 1e-12, 0.4]], dtype=torch.float64)
    qt.dist(x, y).sum().backward()
    gx, _ = quintet.poincare.distance_gradients(x.detach(), y)
    torch.testing.assert_close(x.grad, gx, rtol=1e-6, atol=0)
    same = torch.zeros(2, 2, requires_grad=True)
    qt.dist(same, torch.zeros(2, 2)).sum().backward()
    assert (same.grad == 0).all()


def test_vmap(ball: Any) -> None:
    x, y = points(ball, 5, 4, 3), points(ball, 5, 4, 3, seed=1)
    torch.testing.assert_close(torch.func.vmap(ball.dist)(x, y), ball.dist(x, y))
    torch.testing.assert_close(torch.func.vmap(ball.mobius_add)(x, y), ball.mobius_add(x, y))
    one = torch.func.grad(lambda a: ball.dist(a, y[0]).sum())(x[0])
    many = torch.func.vmap(torch.func.grad(lambda a: ball.dist(a, y[0]).sum()))(x)
    torch.testing.assert_close(many[0], one)


def test_types_and_broadcasting() -> None:
    x = torch.full((2, 1, 3), 0.1, dtype=torch.bfloat16, requires_grad=True)
    y = torch.full((4, 3), 0.2, dtype=torch.bfloat16)
    d = qt.dist(x, y)
    assert d.shape == (2, 4) and d.dtype == torch.float32
    d.sum().backward()
    assert x.grad.dtype == torch.bfloat16 and torch.isfinite(x.grad).all()
    expected = quintet.poincare.pair_distances(np.full((2, 4, 3), 0.1), np.full((2, 4, 3), 0.2))
    torch.testing.assert_close(d, torch.from_numpy(expected).float(), rtol=1e-2, atol=0)


def test_geoopt() -> None:
    geoopt = pytest.importorskip("geoopt")
    theirs, ours = geoopt.PoincareBall(c=0.7), qt.PoincareBall(0.7)
    theirs = theirs.double()
    args = {k: tuple(t.detach() for t in v) for k, v in arguments(ours).items()}
    for name in ("dist", "dist0", "mobius_add", "expmap", "expmap0", "logmap", "logmap0", "transp"):
        torch.testing.assert_close(getattr(ours, name)(*args[name]), getattr(theirs, name)(*args[name]))
    r, x, y = args["geodesic"]
    torch.testing.assert_close(ours.geodesic(r[:, None], x, y), theirs.geodesic(r[:, None], x, y))
    torch.testing.assert_close(ours.lambda_x(x), theirs.lambda_x(x))
    torch.testing.assert_close(ours.egrad2rgrad(x, y), theirs.egrad2rgrad(x, y))
    torch.testing.assert_close(ours.projx(3 * x), theirs.projx(3 * x))
    torch.testing.assert_close(ours.inner(x, y, keepdim=True), theirs.inner(x, y, keepdim=True))
    torch.testing.assert_close(ours.gyration(x, y, x), theirs.gyration(x, y, x))
    torch.testing.assert_close(ours.transp0(x, y), theirs.transp0(x, y))


def test_refusals() -> None:
    with pytest.raises(quintet.InvalidArgument, match="minus the curvature"):
        qt.PoincareBall(-1.0)
    x = torch.zeros(2, 3)
    with pytest.raises(TypeError, match="one type"):
        qt.dist(x, x.double())
    with pytest.raises(quintet.InvalidArgument, match="last dimension"):
        qt.dist(x, x[:, :2])
    with pytest.raises(TypeError, match="x must be a tensor"):
        qt.dist([0.0], x)
