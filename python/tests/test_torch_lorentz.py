from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import quintet

torch = pytest.importorskip("torch")
qt = pytest.importorskip("quintet.torch")
from torch.autograd import gradcheck, gradgradcheck  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(params=[1.0, 0.7, 4.0])
def sheet(request: Any) -> Any:
    return qt.Lorentz(request.param)


def vectors(*shape: int, seed: int = 0, size: float = 0.7) -> Any:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)) * size


def points(sheet: Any, *shape: int, seed: int = 0, size: float = 0.7) -> Any:
    return sheet.projx(vectors(*shape, seed=seed, size=size))


def arguments(sheet: Any) -> dict[str, tuple[Any, ...]]:
    x, y = points(sheet, 4, 3), points(sheet, 4, 3, seed=1)
    u, v = (sheet.proju(x, vectors(4, 3, seed=seed)) for seed in (2, 3))
    at_origin = vectors(4, 3, seed=5)
    at_origin[:, 0] = 0
    return {
        "dist": (x, y),
        "dist2": (x, y),
        "dist0": (x,),
        "cdist": (x, y),
        "inner": (x, u, v),
        "norm": (x, u),
        "proju": (x, v),
        "egrad2rgrad": (x, v),
        "transp": (x, y, u),
        "transp0": (y, at_origin),
        "transp0back": (x, u),
        "expmap": (x, u),
        "expmap0": (at_origin,),
        "logmap": (x, y),
        "logmap0": (y,),
        "retr": (x, u),
        "projx": (x,),
        "to_poincare": (x,),
    }


@pytest.mark.parametrize("name", list(arguments(qt.Lorentz())))
def test_gradients(name: str, sheet: Any) -> None:
    args = tuple(t.detach().requires_grad_() for t in arguments(sheet)[name])
    assert gradcheck(getattr(sheet, name), args)
    assert gradgradcheck(getattr(sheet, name), args)


def test_distances_from_hyperplanes(sheet: Any) -> None:
    x, z = points(sheet, 5, 1, 4), vectors(3, 4, seed=4)
    a = vectors(3, seed=6).requires_grad_()
    x, z = x.requires_grad_(), z.requires_grad_()
    at = a.expand(5, 3)
    d = sheet.dist2plane(x, z, at, signed=True)
    spaces = (x[..., 1:].expand(5, 3, 3), z[:, 1:].expand(5, 3, 3), at)
    p, normals, offsets = (t.detach().numpy() for t in spaces)
    wanted = quintet.lorentz.hyperplane_distances(p, normals, offsets, curvature=-sheet.c)
    np.testing.assert_allclose(d.detach(), wanted, rtol=1e-13, atol=1e-14)
    of_x, of_z, of_a = torch.autograd.grad(d.sum(), (x, z, a))
    by_x, by_z, by_a = quintet.lorentz.hyperplane_gradients(p, normals, offsets, curvature=-sheet.c)
    np.testing.assert_allclose(of_x[:, 0, 1:], by_x.sum(1), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(of_z[:, 1:], by_z.sum(0), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(of_a, by_a.sum(0), rtol=1e-12, atol=1e-13)
    torch.testing.assert_close(sheet.dist2plane(x, z, at), d.abs())
    torch.testing.assert_close(sheet.dist2plane(x, z, at, signed=True, scaled=True), d * z[:, 1:].norm(dim=-1))
    torch.testing.assert_close(sheet.dist2plane(x, z, 0.5, keepdim=True)[..., 0], sheet.dist2plane(x, z, 0.5))
    logit = lambda x, z, a: sheet.dist2plane(x, z, a, signed=True, scaled=True)  # noqa: E731
    assert gradcheck(logit, (x, z, a)) and gradgradcheck(logit, (x, z, a))


def test_all_hyperplanes_at_once(sheet: Any) -> None:
    x, z = points(sheet, 6, 4, size=2), vectors(5, 4, seed=3)
    z[2] = 0
    a = vectors(5, seed=4)
    for offset in (0.3, a):
        for how in ({}, {"signed": True}, {"signed": True, "scaled": True}):
            one_by_one = sheet.dist2plane(x[:, None], z[None], offset, **how)
            torch.testing.assert_close(sheet.dist2planes(x, z, offset, **how), one_by_one, rtol=1e-12, atol=1e-13)
    single = sheet.dist2planes(x.float(), z.float(), 0.3)
    assert single.dtype == torch.float32
    args = tuple(t.requires_grad_() for t in (x, z[:2].clone(), a[:2].clone()))
    logits = lambda x, z, a: sheet.dist2planes(x, z, a, signed=True, scaled=True)  # noqa: E731
    assert gradcheck(logits, args) and gradgradcheck(logits, args)
    with pytest.raises(quintet.InvalidArgument, match=r"a must be a number or have shape \(5,\)"):
        sheet.dist2planes(x, z, a[:3])
    with pytest.raises(quintet.InvalidArgument, match=r"x and z must be of shapes"):
        sheet.dist2planes(x[0], z)


def test_gradients_of_hyperplanes_are_finite() -> None:
    sheet = qt.Lorentz()
    far = sheet.projx(torch.tensor([[0.0, 1e8, 1e8, 0.0], [0.0, 0.0, 0.0, 0.0]], dtype=torch.float64))
    for a in (0.0, 30.0, -800.0):
        x = far.clone().requires_grad_()
        z = torch.tensor([[0.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0]], dtype=torch.float64, requires_grad=True)
        at = torch.tensor([a, a], dtype=torch.float64, requires_grad=True)
        d = sheet.dist2plane(x, z, at, signed=True, scaled=True)
        gradients = torch.autograd.grad(d.sum(), (x, z, at))
        assert d.isfinite().all() and d[1] == 0 and all(g.isfinite().all() for g in gradients)


def test_gradients_of_equal_points_are_finite(sheet: Any) -> None:
    x = points(sheet, 3, 4).requires_grad_()
    origin = torch.zeros(3, 4, dtype=torch.float64, requires_grad=True)
    for a, b in ((x, x.detach()), (origin, origin.detach()), (origin, x.detach()), (x, 2 * x.detach())):
        for f in (sheet.dist, sheet.dist2, sheet.cdist):
            (g,) = torch.autograd.grad(f(a, b).sum(), a, create_graph=True)
            assert g.isfinite().all()
            (h,) = torch.autograd.grad(g.square().sum(), a, allow_unused=True)
            assert h is None or h.isfinite().all()
    (g,) = torch.autograd.grad(sheet.dist(x, x.detach()).sum(), x)
    assert (g == 0).all()
    H = torch.autograd.functional.hessian(lambda p: sheet.dist2(p, origin[0].detach()), origin[0].detach())
    expected = 2 * torch.eye(4, dtype=torch.float64)
    expected[0, 0] = 0
    torch.testing.assert_close(H, expected)


def test_identities(sheet: Any) -> None:
    a = arguments(sheet)
    x, y, u = a["transp"]
    log = sheet.logmap(x, y)
    torch.testing.assert_close(sheet.norm(x, log), sheet.dist(x, y), rtol=1e-13, atol=0)
    torch.testing.assert_close(sheet.expmap(x, log), y, rtol=1e-13, atol=1e-13)
    torch.testing.assert_close(sheet.transp(x, y, log), -sheet.logmap(y, x), rtol=1e-13, atol=1e-13)
    torch.testing.assert_close(sheet.norm(y, sheet.transp(x, y, u)), sheet.norm(x, u), rtol=1e-13, atol=0)
    quarter = sheet.geodesic(0.25, x, y)
    torch.testing.assert_close(sheet.dist(x, quarter), sheet.dist(x, y) / 4, rtol=1e-13, atol=0)
    torch.testing.assert_close(sheet.from_poincare(sheet.to_poincare(x)), x, rtol=1e-13, atol=1e-13)
    ball = qt.PoincareBall(sheet.c)
    torch.testing.assert_close(ball.dist(sheet.to_poincare(x), sheet.to_poincare(y)), sheet.dist(x, y))
    assert sheet.check_point_on_manifold(x) and not sheet.check_point_on_manifold(2 * x)
    assert sheet.check_vector_on_tangent(x, u) and not sheet.check_vector_on_tangent(x, u + 1)


def test_distances_are_those_of_the_library(sheet: Any) -> None:
    for dtype in (torch.float32, torch.float64):
        x, y = (points(sheet, 5, 3, seed=s, size=1e6).to(dtype) for s in (0, 1))
        expected = quintet.lorentz.distances(x[:, 1:].numpy(), y[:, 1:].numpy(), curvature=-sheet.c)
        np.testing.assert_array_equal(sheet.cdist(x, y).numpy(), expected)
        np.testing.assert_array_equal(sheet.dist(x.unsqueeze(1), y).numpy(), expected)


def test_gradients_far_out() -> None:
    """At radius 15 and 24, where products of float have no digits: the length of d's gradient in the metric is 1. (Further out
    a tangent vector's coordinates of double do not hold its length.)"""
    sheet = qt.Lorentz()
    for size in (1e6, 1e10):
        x, y = (points(sheet, 20, 4, seed=s, size=size).float().requires_grad_() for s in (0, 1))
        sheet.dist(x, y).sum().backward()
        gradient = sheet.egrad2rgrad(x.detach().double(), x.grad.double())
        torch.testing.assert_close(
            sheet.norm(x.detach().double(), gradient), torch.ones(20, dtype=torch.float64), rtol=1e-5, atol=0
        )


def test_geoopt(sheet: Any) -> None:
    geoopt = pytest.importorskip("geoopt")
    theirs = geoopt.Lorentz(sheet.k).double()
    for name, args in arguments(sheet).items():
        if hasattr(theirs, name) and name not in ("norm", "cdist"):  # their k is a float
            torch.testing.assert_close(getattr(sheet, name)(*args), getattr(theirs, name)(*args), rtol=1e-6, atol=1e-6)
    x, u = arguments(sheet)["norm"]
    torch.testing.assert_close(sheet.norm(x, u), theirs.norm(u))


def test_training_with_geoopts_optimiser() -> None:
    geoopt = pytest.importorskip("geoopt")
    sheet = qt.Lorentz()
    target = points(sheet, 6, 4, seed=4)
    x = geoopt.ManifoldParameter(points(sheet, 6, 4), manifold=geoopt.Lorentz())
    x.manifold = sheet
    steps = geoopt.optim.RiemannianSGD([x], lr=0.2)
    for _ in range(60):
        steps.zero_grad()
        loss = sheet.dist2(x, target).sum()
        loss.backward()
        steps.step()
    assert loss < 1e-10 and sheet.check_point_on_manifold(x)


def test_refusals() -> None:
    for k in (0.0, -1.0, float("nan")):
        with pytest.raises(quintet.InvalidArgument, match="k must be in"):
            qt.Lorentz(k)
    with pytest.raises(quintet.InvalidArgument, match="k must be > 0 where it has a gradient"):
        qt.Lorentz(torch.tensor(-1.0, requires_grad=True))
    with pytest.raises(quintet.InvalidArgument, match="last dimension"):
        qt.Lorentz().dist(torch.zeros(2, 3), torch.zeros(2, 4))


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-11), (torch.float32, 1e-5)])
def test_gradients_of_all_distances_are_those_of_pairs(dtype, tolerance):
    """Of points of which half are close together and a few are the same."""
    random = torch.Generator().manual_seed(3)
    v = torch.randn(60, 5, dtype=torch.float64, generator=random)
    for spread in (1e-2, 1e-5, 1e-9, 0.0):
        v[30:] = v[0] + spread * torch.randn(30, 5, dtype=torch.float64, generator=random)
        sheet = qt.Lorentz(k=2.0)
        points = sheet.expmap0(torch.nn.functional.pad(1.5 * v, (1, 0))).to(dtype)
        x, y = points[:45].clone().requires_grad_(), points[20:].clone().requires_grad_()
        G = torch.randn(45, 40, dtype=dtype, generator=random)
        found = torch.autograd.grad((sheet.cdist(x, y) * G).sum(), (x, y))
        expected = torch.autograd.grad((sheet.dist(x[:, None], y) * G).sum(), (x, y))
        for ours, theirs in zip(found, expected):
            assert bool(((ours - theirs).norm(dim=1) <= tolerance * theirs.norm(dim=1)).all())


def test_gradients_of_no_distances():
    sheet = qt.Lorentz()
    x, y = torch.zeros(0, 4, dtype=torch.float64), torch.tensor([[1.0, 0, 0, 0]], dtype=torch.float64)
    x.requires_grad_(), y.requires_grad_()
    of_x, of_y = torch.autograd.grad(sheet.cdist(x, y).sum(), (x, y))
    assert of_x.shape == (0, 4) and bool((of_y == 0).all())
