from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import quintet

torch = pytest.importorskip("torch")
qt = pytest.importorskip("quintet.torch")
from torch.autograd import gradcheck, gradgradcheck  # noqa: E402

from quintet.torch import _ball_operations  # noqa: E402

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
    assert gradcheck(f, args, check_forward_ad=name != "cdist")
    assert gradgradcheck(f, args)


@pytest.mark.parametrize("name", sorted(set(_ball_operations.OPERATIONS) - {"from_hyperboloid"}))
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
        "dist": "dist",
        "dist2": "dist",
        "to_hyperboloid": "dist0",
    }[name]
    if name == "to_hyperboloid" and ball.c == 0:
        return
    args = [t.detach() for t in arguments(ball)[public]]
    kernel, formula = _ball_operations.OPERATIONS[name]
    torch.testing.assert_close(kernel(ball.c, *args), formula(*args, ball.c))
    if name == "to_hyperboloid":
        kernel, formula = _ball_operations.OPERATIONS["from_hyperboloid"]
        h = ball.inv_sproj(args[0]).roll(1, -1)
        torch.testing.assert_close(kernel(ball.c, h), args[0])
        torch.testing.assert_close(formula(h, ball.c), args[0])


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
    assert sorted(n for n in wanted if not hasattr(qt.PoincareBall(), n)) == []


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
    with pytest.raises(quintet.InvalidArgument, match="x must be a point of Poincare ball"):
        ours.assert_check_point_on_manifold(10 * v)
    assert ours.check_point_on_manifold(10 * v, explain=True)[0] is False
    assert ours.check_vector_on_tangent(x, v) and ours.check_point(x) and not ours.check_point(x[0, 0])
    with pytest.raises(quintet.InvalidArgument, match=r"m must be of shape \(..., E, 3\)"):
        ours.mobius_matvec(m.mT, x)
    with pytest.raises(quintet.InvalidArgument, match="reducedim"):
        ours.weighted_midpoint(xs, reducedim=[-1])
    with pytest.raises(quintet.InvalidArgument, match="hyperboloid"):
        qt.PoincareBall(0.0).inv_sproj(x)


def test_all_hyperplanes_at_once(ball: Any) -> None:
    x, p = points(ball, 6, 3), points(ball, 5, 3, seed=1)
    a = torch.randn(5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(5))
    for how in ({}, {"signed": True}, {"signed": True, "scaled": True}):
        one_by_one = ball.dist2plane(x[:, None], p[None], a[None], **how)
        torch.testing.assert_close(ball.dist2planes(x, p, a, **how), one_by_one, rtol=1e-11, atol=1e-12)
    args = tuple(t[:2].clone().requires_grad_() for t in (x, p, a))
    assert gradcheck(lambda *t: ball.dist2planes(*t, signed=True), args)
    assert gradgradcheck(lambda *t: ball.dist2planes(*t, signed=True), args)
    with pytest.raises(quintet.InvalidArgument, match=r"x and p must be of shapes"):
        ball.dist2planes(x[0], p, a)


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


RIM = [0.6, 0.48, 0.64]  # a direction


@pytest.mark.parametrize(("dtype", "away"), [(torch.float32, 1e-3), (torch.float32, 1e-6), (torch.float64, 1e-8)])
def test_near_the_rim(dtype: Any, away: float) -> None:
    """Values and gradients by 2 / (1 - |x|^2) in fractions."""
    ball = qt.PoincareBall()
    x = (torch.tensor(RIM, dtype=torch.float64) * (1 - away)).to(dtype).requires_grad_()
    u = torch.tensor([1.0, 2.0, 3.0], dtype=dtype)
    exact = x.detach().double().numpy()
    lam = float(2 / (1 - sum(Fraction(a) ** 2 for a in exact)))
    eps = 16 * torch.finfo(dtype).eps

    def close(found: Any, expected: Any) -> None:
        np.testing.assert_allclose(found.detach().numpy(), np.asarray(expected, dtype=float), rtol=eps)

    close(ball.lambda_x(x), lam)
    close(ball.inner(x, u), 14 * lam**2)
    close(ball.norm(x, u), np.sqrt(14) * lam)
    close(ball.egrad2rgrad(x, u), u.numpy() / lam**2)
    close(ball.transp0(x, u), 2 * u.numpy() / lam)
    close(ball.transp0back(x, u), u.numpy() * lam / 2)
    close(ball.inv_sproj(x), np.append(lam * exact, lam - 1))
    (g,) = torch.autograd.grad(ball.lambda_x(x), x)
    close(g, lam**2 * exact)
    # Of the distance from the origin: lambda x / |x|.
    (g,) = torch.autograd.grad(ball.dist(x, torch.zeros_like(x)), x)
    close(g, lam * exact / np.sqrt((exact * exact).sum()))
    (g,) = torch.autograd.grad(ball.dist(x, torch.zeros_like(x)), x, create_graph=True)
    close(g, lam * exact / np.sqrt((exact * exact).sum()))


def test_gradients_of_maps_near_the_rim() -> None:
    """Exact values from 60 digits."""
    ball = qt.PoincareBall()
    x = torch.tensor([0.2, -0.3, 0.1], dtype=torch.float64)
    rim = [float.fromhex(h) for h in ("0x1.3333333331e17p-1", "0x1.eb851eb84fcf1p-2", "0x1.47ae147adfdf7p-1")]
    y = torch.tensor(rim, dtype=torch.float64, requires_grad=True)
    (g,) = torch.autograd.grad(ball.logmap(x, y).sum(), y)
    exact = [float.fromhex(h) for h in ("0x1.4f526ea36b572p+38", "0x1.0c41f21c247a7p+38", "0x1.65ad42d061b5ep+38")]
    torch.testing.assert_close(g, torch.tensor(exact, dtype=torch.float64), rtol=1e-13, atol=0)
    p = torch.tensor([float.fromhex(h) for h in ("0x1.33326ap-1", "0x1.eb83dcp-2", "0x1.47ad3ep-1")], requires_grad=True)
    q = torch.tensor([float.fromhex(h) for h in ("-0x1.eb83dcp-2", "0x1.47ad3ep-1", "0x1.33326ap-1")])
    (g,) = torch.autograd.grad(ball.logmap(p, q).sum(), p)
    exact = [float.fromhex(h) for h in ("0x1.6e9e5dcbdc067p+4", "0x1.254b6c0ae4a3cp+4", "0x1.870f84f1e1449p+4")]
    torch.testing.assert_close(g, torch.tensor(exact), rtol=1e-6, atol=0)


@pytest.mark.parametrize("away", [1e-4, 1e-6])
def test_gradients_of_float_points_near_the_rim_are_finite(away: float) -> None:
    ball = qt.PoincareBall()
    g = torch.Generator().manual_seed(0)
    x, y = torch.nn.functional.normalize(torch.randn(2, 500, 3, generator=g), dim=-1) * (1 - away)
    for name in ("logmap", "mobius_add", "dist", "dist2", "expmap"):
        a, b = x.clone().requires_grad_(), y.clone().requires_grad_()
        parts = torch.autograd.grad(getattr(ball, name)(a, b).sum(), (a, b))
        assert all(torch.isfinite(p).all() for p in parts), name
    a, b = x.clone().requires_grad_(), y.clone().requires_grad_()
    parts = torch.autograd.grad(ball.geodesic(0.3, a, b).sum(), (a, b))
    assert all(torch.isfinite(p).all() for p in parts)


def test_second_derivatives_of_the_squared_distance_of_equal_points() -> None:
    """Twice the metric, 2 lambda^2."""
    ball, x = qt.PoincareBall(), torch.tensor([0.3, 0.4], dtype=torch.float64)
    expected = 2 * (2 / 0.75) ** 2 * torch.eye(2, dtype=torch.float64)
    torch.testing.assert_close(torch.autograd.functional.hessian(lambda z: ball.dist2(z, x), x), expected)
    torch.testing.assert_close(torch.func.hessian(lambda z: ball.dist2(z, x))(x), expected)


@pytest.mark.parametrize(("dtype", "apart"), [(torch.float64, 1e-12), (torch.float64, 1e-5), (torch.float32, 2e-8)])
def test_gradient_of_the_matrix_of_close_points(dtype: Any, apart: float) -> None:
    ball = qt.PoincareBall()
    p = torch.tensor([[0.5, 0.001], [0.1, -0.2], [0.3, 0.3]], dtype=dtype)
    q = p + torch.tensor([[0, apart], [0, 0], [apart, apart]], dtype=dtype)
    g = torch.arange(1.0, 10, dtype=dtype).reshape(3, 3)
    matrix = torch.autograd.grad((g * ball.cdist(p.requires_grad_(), q.requires_grad_())).sum(), (p, q))
    pairs = torch.autograd.grad((g * ball.dist(p.unsqueeze(1), q.unsqueeze(0))).sum(), (p, q))
    for found, expected in zip(matrix, pairs):
        torch.testing.assert_close(found, expected, rtol=16 * torch.finfo(dtype).eps, atol=0)


def test_projection_of_points_of_any_size() -> None:
    ball = qt.PoincareBall()
    for dtype, size in ((torch.float16, 300), (torch.bfloat16, 1e30), (torch.float32, 1e30), (torch.float64, 1e300)):
        x = ball.projx(torch.tensor([3.0, 4.0], dtype=dtype) * size)
        assert x.dtype == dtype
        torch.testing.assert_close(x.double(), torch.tensor([0.6, 0.8], dtype=torch.float64), rtol=2e-2, atol=0)
        assert ball.check_point_on_manifold(x)
    for bad in (torch.inf, torch.nan):
        assert torch.isnan(ball.projx(torch.tensor([bad, 1.0]))).any()
    x = torch.zeros(2, requires_grad=True)
    ball.projx(x).sum().backward()
    assert (x.grad == 1).all()


def test_points_outside_have_nan() -> None:
    ball, x, v = qt.PoincareBall(), torch.tensor([2.0, 0.0]), torch.tensor([0.1, 0.2])
    for result in (
        ball.lambda_x(x), ball.inner(x, v), ball.norm(x, v), ball.egrad2rgrad(x, v), ball.transp0(x, v),
        ball.transp0back(x, v), ball.gyration(x, v, v), ball.mobius_coadd(x, v), ball.dist2plane(x, v, v),
        ball.inv_sproj(x), ball.weighted_midpoint(torch.stack((x, v))), ball.dist2(x, v), ball.logmap(x, v),
    ):
        assert torch.isnan(result).all()
    outside = x.clone().requires_grad_()
    assert torch.isnan(torch.autograd.grad(ball.dist(outside, v), outside)[0]).all()
    assert torch.isnan(torch.autograd.grad(ball.cdist(outside[None], v[None]).sum(), outside)[0]).all()


def test_midpoint_near_the_rim() -> None:
    ball, s = qt.PoincareBall(), 1 - 1e-12
    xs = torch.tensor([[s, 0.0], [0.0, s]], dtype=torch.float64)
    torch.testing.assert_close(ball.weighted_midpoint(xs), torch.full((2,), 1 - 0.5**0.5, dtype=torch.float64))
    close = torch.tensor([[s, 0.0], [s, 1e-13]], dtype=torch.float64)
    expected = torch.from_numpy(quintet.poincare.gyromidpoint(close.numpy()))
    torch.testing.assert_close(ball.weighted_midpoint(close), expected)


def test_gap_of_a_broadcast_point() -> None:
    """The kernel reads a copy of such rows, which must live until then."""
    x = torch.tensor([[0.1, 0.2]], dtype=torch.float64).expand(400, 2)
    torch.testing.assert_close(_ball_operations.gap(x, 1.0), torch.full((400, 1), 0.95, dtype=torch.float64))


def test_frechet_mean(ball: Any) -> None:
    xs = points(ball, 3, 4, 2).requires_grad_()
    w = torch.rand(3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(3)).add(0.1).requires_grad_()
    mean = ball.frechet_mean(xs, w, reducedim=[1])
    pull = (w.unsqueeze(-1) * ball.logmap(mean.unsqueeze(1), xs)).sum(1)
    torch.testing.assert_close(pull, torch.zeros_like(pull), atol=1e-14, rtol=0)
    assert gradcheck(lambda x, w: ball.frechet_mean(x, w, reducedim=[1]), (xs, w), atol=1e-6)
    assert gradgradcheck(lambda x, w: ball.frechet_mean(x, w, reducedim=[1]), (xs, w), atol=1e-6)
    assert ball.frechet_mean(xs, w, reducedim=[0], keepdim=True).shape == (1, 4, 2)
    torch.testing.assert_close(
        ball.frechet_mean(xs, w, reducedim=[0])[1], ball.frechet_mean(xs[:, 1], w[:, 1]), atol=0, rtol=0
    )


def test_frechet_mean_of_two_points_is_on_their_geodesic() -> None:
    """Its derivative, is that of the point at .3 between artanh coordinates on a diameter."""
    ball = qt.PoincareBall()
    x = torch.tensor([[0.9], [-0.99]], dtype=torch.float64, requires_grad=True)
    mean = ball.frechet_mean(x, torch.tensor([0.7, 0.3], dtype=torch.float64))
    expected = torch.tanh(0.7 * torch.atanh(x[0]) + 0.3 * torch.atanh(x[1]))
    torch.testing.assert_close(mean, expected, rtol=1e-14, atol=0)
    (ours,) = torch.autograd.grad(mean, x)
    (theirs,) = torch.autograd.grad(expected, x)
    torch.testing.assert_close(ours, theirs, rtol=1e-13, atol=0)


def test_frechet_mean_of_a_point_outside_is_nan() -> None:
    ball = qt.PoincareBall()
    xs = torch.tensor([[[0.1, 0.2], [2.0, 0.0]], [[0.1, 0.2], [0.3, 0.0]]], requires_grad=True)
    mean = ball.frechet_mean(xs, reducedim=[1])
    assert mean[0].isnan().all() and mean[1].isfinite().all()
    mean[1].sum().backward()
    assert xs.grad[1].isfinite().all()
