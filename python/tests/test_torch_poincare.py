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


def test_every_name_of_geoopt() -> None:
    geoopt = pytest.importorskip("geoopt")
    wanted = {name for name in dir(geoopt.PoincareBall) if not name.startswith("_")} - set(dir(torch.nn.Module))
    # One tensor is one point here; numbers lie on the processor and have the type of the points.
    assert sorted(n for n in wanted if not hasattr(qt.PoincareBall(), n)) == ["device", "dtype", "pack_point", "unpack_tensor"]


def test_the_rest_of_geoopt() -> None:
    geoopt = pytest.importorskip("geoopt")
    theirs, ours = geoopt.PoincareBall(c=0.7).double(), qt.PoincareBall(0.7)
    x, y = points(ours, 4, 3), points(ours, 4, 3, seed=1)
    g = torch.Generator().manual_seed(5)
    v, w = (torch.randn(4, 3, dtype=torch.float64, generator=g) for _ in range(2))
    m, many = torch.randn(2, 3, dtype=torch.float64, generator=g), torch.randn(4, 2, 3, dtype=torch.float64, generator=g)
    t = torch.tensor([0.3, -0.4, 0.0, 1.2], dtype=torch.float64)
    h = ours.inv_sproj(x)
    for name, args in {
        "mobius_coadd": (x, y),
        "mobius_cosub": (x, y),
        "mobius_matvec": (m, x),
        "mobius_pointwise_mul": (w, x),
        "geodesic_unit": (t[:, None], x, v),
        "antipode": (x,),
        "dist2plane": (x, y, v),
        "transp0back": (x, v),
        "transp_follow_retr": (x, 0.1 * v, w),
        "transp_follow_expmap": (x, 0.1 * v, w),
        "retr_transp": (x, 0.1 * v, w),
        "expmap_transp": (x, 0.1 * v, w),
        "weighted_midpoint": (x,),
        "inv_sproj": (x,),
        "sproj": (h,),
        "component_inner": (x, v, w),
    }.items():
        torch.testing.assert_close(getattr(ours, name)(*args), getattr(theirs, name)(*args), msg=lambda s, n=name: f"{n}: {s}")
    torch.testing.assert_close(ours.mobius_matvec(many, x), theirs.mobius_matvec(many, x))
    torch.testing.assert_close(ours.sproj(h), x)
    torch.testing.assert_close(ours.geodesic_unit(t, x, v), theirs.geodesic_unit(t[:, None], x, v))
    for signed in (False, True):
        for scaled in (False, True):
            how = {"signed": signed, "scaled": scaled, "keepdim": scaled}
            torch.testing.assert_close(ours.dist2plane(x, y, v, **how), theirs.dist2plane(x, y, v, **how))
    xs = points(ours, 5, 4, 3, seed=7)
    weights = torch.randn(5, 4, dtype=torch.float64, generator=g)
    for how in ({}, {"reducedim": [1], "keepdim": True}, {"reducedim": [0], "lincomb": True}, {"lincomb": True}):
        torch.testing.assert_close(
            ours.weighted_midpoint(xs, weights.abs(), **how), theirs.weighted_midpoint(xs, weights.abs(), **how)
        )
        torch.testing.assert_close(
            ours.weighted_midpoint(xs, weights, posweight=True, **how),
            theirs.weighted_midpoint(xs, weights, posweight=True, **how),
        )
    far = 9 * v
    torch.testing.assert_close(ours.expmap0(far, project=True), theirs.expmap0(far))
    torch.testing.assert_close(ours.mobius_fn_apply(torch.relu, x), theirs.mobius_fn_apply(torch.relu, x))
    chain = (torch.relu, torch.tanh)
    torch.testing.assert_close(ours.mobius_fn_apply_chain(x, *chain), theirs.mobius_fn_apply_chain(x, *chain))
    assert ours.radius == pytest.approx(float(theirs.radius))
    with pytest.raises(quintet.InvalidArgument, match="x must lie in the ball"):
        ours.assert_check_point_on_manifold(10 * v)
    assert ours.check_point_on_manifold(10 * v, explain=True)[0] is False
    assert ours.check_vector_on_tangent(x, v) and ours.check_point(x) and not ours.check_point(x[0, 0])
    with pytest.raises(quintet.InvalidArgument, match=r"m must be of shape \(..., E, 3\)"):
        ours.mobius_matvec(m.mT, x)
    with pytest.raises(quintet.InvalidArgument, match="reducedim"):
        ours.weighted_midpoint(xs, reducedim=[-1])
    with pytest.raises(quintet.InvalidArgument, match="hyperboloid"):
        qt.PoincareBall(0.0).inv_sproj(x)


def test_gradients_of_layers(ball: Any) -> None:
    x, y = points(ball, 4, 3).requires_grad_(), points(ball, 4, 3, seed=1).requires_grad_()
    g = torch.Generator().manual_seed(5)
    m = torch.randn(2, 3, dtype=torch.float64, generator=g).requires_grad_()
    a = torch.randn(4, 3, dtype=torch.float64, generator=g).requires_grad_()
    for f, args in (
        (ball.mobius_matvec, (m, x)),
        (ball.mobius_coadd, (x, y)),
        (lambda *t: ball.dist2plane(*t, signed=True), (x, y, a)),
        (ball.weighted_midpoint, (x,)),
        (lambda u, v: ball.geodesic_unit(0.3, u, v), (x, a)),
    ):
        assert gradcheck(f, args) and gradgradcheck(f, args)


def test_draws() -> None:
    ball = qt.PoincareBall(0.7)
    torch.manual_seed(0)
    for draw in (
        ball.random(200, 3), ball.random_normal((200, 3)), ball.random_normal(200, 3, mean=0.1, std=0.2),
        ball.wrapped_normal(200, 3, mean=torch.full((3,), 0.2), std=0.1),
    ):
        assert draw.shape == (200, 3) and ball.check_point_on_manifold(draw)
    near = ball.wrapped_normal(4000, 3, mean=torch.full((3,), 0.2, dtype=torch.float64), std=0.1)
    # In the tangent space of the mean the draws are normal, of deviation std / lambda in every coordinate.
    base = torch.full((3,), 0.2, dtype=torch.float64)
    v = ball.logmap(base.expand(near.shape), near) * ball.lambda_x(base)
    torch.testing.assert_close(v.std(0), torch.full((3,), 0.1, dtype=torch.float64), rtol=0.05, atol=0)


@pytest.mark.parametrize("kind", ["RiemannianAdam", "RiemannianSGD"])
def test_geoopts_optimisers_take_the_ball(kind: str) -> None:
    geoopt = pytest.importorskip("geoopt")
    ball = qt.PoincareBall()
    goal = torch.tensor([[0.5, -0.3], [0.1, 0.8]], dtype=torch.float64)
    x = geoopt.ManifoldParameter(torch.zeros(2, 2, dtype=torch.float64), manifold=ball)
    more = {"momentum": 0.5} if kind == "RiemannianSGD" else {"stabilize": 10}
    optimiser = getattr(geoopt.optim, kind)([x], lr=0.05, **more)
    for _ in range(200):
        optimiser.zero_grad()
        ball.dist2(x, goal).sum().backward()
        optimiser.step()
    assert ball.dist(x.detach(), goal).max() < 0.05


@pytest.mark.parametrize("name", ["expmap0", "logmap0"])
def test_a_number_is_no_point(name: str) -> None:
    with pytest.raises(quintet.InvalidArgument, match="at least 1 dimension"):
        getattr(qt.PoincareBall(), name)(torch.tensor(0.5))


def test_a_lazy_sign_counts() -> None:
    x = torch.tensor([[0.1, 0.2], [0.3, -0.4]], dtype=torch.float64)
    lazy = torch.complex(torch.zeros_like(x), -x).conj().imag
    assert lazy.is_neg() and torch.equal(lazy, x)
    ball = qt.PoincareBall()
    torch.testing.assert_close(ball.dist(lazy, x.flip(0)), ball.dist(x, x.flip(0)), rtol=0, atol=0)
    torch.testing.assert_close(ball.expmap0(lazy), ball.expmap0(x), rtol=0, atol=0)
