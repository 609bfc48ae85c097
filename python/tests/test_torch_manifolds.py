"""Curvatures with gradients, other dimensions, spheres, stereographic projections, products; and geoopt with all of them."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import quintet  # noqa: E402
import quintet.torch as qt  # noqa: E402

pytestmark = pytest.mark.torch
D = torch.float64


def draw(*size: int, seed: int = 0, scale: float = 1.0) -> Any:
    return torch.randn(*size, dtype=D, generator=torch.Generator().manual_seed(seed)) * scale


def of_ball(c: Any, x: Any, y: Any) -> tuple[Any, ...]:
    ball = qt.PoincareBall(c)
    return (
        ball.dist(x, y),
        ball.dist2(x, y),
        ball.expmap(x, y),
        ball.logmap(x, y),
        ball.mobius_add(x, y),
        ball.transp(x, y, y),
        ball.geodesic(0.3, x, y),
        ball.mobius_scalar_mul(1.3, x),
        ball.dist2plane(x, y, y),
        ball.inv_sproj(x),
        ball.weighted_midpoint(x),
        ball.norm(x, y),
        ball.cdist(x, y),
        ball.frechet_mean(x),
        ball.radius * x,
    )


def of_sheet(k: Any, x: Any, y: Any) -> tuple[Any, ...]:
    sheet = qt.Lorentz(k)
    x, y = sheet.projx(x), sheet.projx(y)
    u = sheet.proju(x, y)
    return (
        sheet.dist(x, y),
        sheet.dist2(x, y),
        sheet.expmap(x, u),
        sheet.logmap(x, y),
        sheet.transp(x, y, u),
        sheet.geodesic(0.3, x, y),
        sheet.to_poincare(x),
        sheet.cdist(x, y),
        sheet.norm(x, u),
        sheet.dist0(x),
    )


@pytest.mark.parametrize("of, value", [(of_ball, 0.7), (of_sheet, 1.7)])
def test_curvature_has_a_gradient(of: Any, value: float) -> None:
    scale = 0.4 if of is of_ball else 1.5
    x, y = draw(4, 3, seed=1, scale=scale).requires_grad_(), draw(4, 3, seed=2, scale=scale).requires_grad_()
    c = torch.tensor(value, dtype=D, requires_grad=True)
    for ours, wanted in zip(of(c, x, y), of(value, x, y)):
        torch.testing.assert_close(ours, wanted, rtol=1e-12, atol=1e-13)
    assert torch.autograd.gradcheck(of, (c, x, y))
    assert torch.autograd.gradgradcheck(lambda *a: of(*a)[:6], (c, x, y))


def test_functions_of_the_ball_take_a_tensor() -> None:
    x, y = draw(4, 3, scale=0.3), draw(4, 3, seed=1, scale=0.3)
    c = torch.tensor(0.5, dtype=D, requires_grad=True)
    assert torch.autograd.gradcheck(lambda c: (qt.dist(x, y, c=c), qt.cdist(x, y, c=c)), (c,))


@pytest.mark.parametrize("make, name", [(qt.PoincareBall, "c"), (qt.Lorentz, "k"), (qt.Stereographic, "k")])
def test_a_learnable_curvature_is_a_parameter(make: Any, name: str) -> None:
    manifold = make(0.8, learnable=True)
    (parameter,) = manifold.parameters()
    assert float(getattr(manifold, name)) == pytest.approx(0.8)
    assert manifold.dtype == torch.get_default_dtype() and manifold.device == torch.device("cpu")
    assert manifold.to(D).dtype == D and make(0.8).dtype is None
    x = draw(5, 4, scale=0.1)
    x, y = manifold.projx(x), manifold.projx(x.flip(0))
    steps = torch.optim.SGD(manifold.parameters(), lr=0.01)
    before = manifold.dist(x, y).sum()
    before.backward()
    assert float(parameter.grad) != 0
    steps.step()
    assert manifold.dist(x, y).sum() < before
    again = pickle.loads(pickle.dumps(manifold))
    torch.testing.assert_close(again.dist(x, y), manifold.dist(x, y))
    assert set(manifold.state_dict()) == set(copy.deepcopy(manifold).state_dict())


def test_a_parameter_of_the_caller_is_one_of_the_ball() -> None:
    c = torch.nn.Parameter(torch.tensor(1.0))
    assert [p is c for p in qt.PoincareBall(c).parameters()] == [True]


def test_float_points_and_a_tensor_of_the_curvature() -> None:
    x = torch.tensor([[1 - 1e-6, 0.0]], dtype=torch.float32)
    c = torch.tensor(1.0, requires_grad=True)
    found = qt.PoincareBall(c).dist0(x)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, qt.PoincareBall(1.0).dist0(x), rtol=1e-6, atol=0.0)


@pytest.mark.parametrize("manifold", [qt.PoincareBall(0.5), qt.Lorentz(), qt.Sphere(), qt.Stereographic(0.4)])
def test_coordinates_in_another_dimension(manifold: Any) -> None:
    x, y = (manifold.projx(draw(2, 5, 3, seed=s, scale=0.4)) for s in (3, 4))
    u = manifold.proju(x, y)
    for dim in (0, 1, -2, -3):
        first, second, third = (t.movedim(-1, dim) for t in (x, y, u))
        assert torch.equal(manifold.dist(first, second, dim=dim), manifold.dist(x, y))
        assert torch.equal(manifold.dist(first, second, keepdim=True, dim=dim), manifold.dist(x, y).unsqueeze(dim))
        assert torch.equal(manifold.expmap(first, third, dim=dim), manifold.expmap(x, u).movedim(-1, dim))
        assert torch.equal(manifold.logmap(first, second, dim=dim), manifold.logmap(x, y).movedim(-1, dim))
        assert torch.equal(manifold.inner(first, third, dim=dim), manifold.inner(x, u))
    with pytest.raises(quintet.InvalidArgument, match=r"dim must be in \[-3, 2\]"):
        manifold.dist(x, y, dim=3)


def product(learnable: bool = False) -> Any:
    factors = (qt.PoincareBall(0.5), 3), (qt.Lorentz(), 4), (qt.Sphere(), 4), (qt.Euclidean(), 2)
    return qt.ProductManifold(*factors, weights=[1.0, 2.0, 0.5, 3.0], learnable=learnable)


def points(manifold: Any, seed: int) -> Any:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return manifold.random(6, manifold.n_elements if isinstance(manifold, qt.ProductManifold) else 4, dtype=D)


MANIFOLDS = [
    qt.PoincareBall(0.7),
    qt.Lorentz(1.3),
    qt.Sphere(),
    qt.Euclidean(),
    qt.Stereographic(-0.6),
    qt.Stereographic(0.0),
    qt.Stereographic(0.6),
    qt.Scaled(qt.Sphere(), 2.0),
    product(),
]


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
def test_maps_belong_together(manifold: Any) -> None:
    x, y = points(manifold, 1), points(manifold, 2)
    manifold.assert_check_point_on_manifold(x)
    u = manifold.logmap(x, y)
    manifold.assert_check_vector_on_tangent(x, u)
    torch.testing.assert_close(manifold.expmap(x, u), y, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(manifold.norm(x, u), manifold.dist(x, y), rtol=1e-9, atol=1e-10)
    torch.testing.assert_close(manifold.dist2(x, y), manifold.dist(x, y).square(), rtol=1e-12, atol=0.0)
    v = manifold.proju(x, y)
    moved = manifold.transp(x, y, v)
    torch.testing.assert_close(manifold.norm(y, moved), manifold.norm(x, v), rtol=1e-8, atol=1e-10)
    half = manifold.geodesic(0.5, x, y)
    torch.testing.assert_close(2 * manifold.dist(x, half), manifold.dist(x, y), rtol=1e-8, atol=1e-9)
    assert torch.count_nonzero(manifold.dist(x, x)) == 0


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
def test_gradients_exist_everywhere(manifold: Any) -> None:
    x, y = points(manifold, 3), points(manifold, 4)
    x.requires_grad_(), y.requires_grad_()
    assert torch.autograd.gradcheck(lambda x, y: (manifold.dist(x, y), manifold.dist2(x, y)), (x, y))
    # In coordinates of the tangent space: away from a manifold formulas mean nothing.
    origin = points(manifold, 5)
    u, v = (manifold.proju(origin, draw(*origin.shape, seed=s, scale=0.5)).requires_grad_() for s in (6, 7))
    assert torch.autograd.gradcheck(
        lambda u, v: manifold.dist(
            manifold.expmap(origin, manifold.proju(origin, u)), manifold.expmap(origin, manifold.proju(origin, v))
        ),
        (u, v),
    )
    same = x.detach().clone().requires_grad_()
    manifold.dist(same, same.detach()).sum().backward()
    assert torch.count_nonzero(same.grad) == 0


@pytest.mark.parametrize("k", [-0.5, 0.0, 0.6])
def test_stereographic_is_smooth_in_its_curvature(k: float) -> None:
    x, y = draw(4, 3, seed=1, scale=0.4).requires_grad_(), draw(4, 3, seed=2, scale=0.4).requires_grad_()
    curvature = torch.tensor(k, dtype=D, requires_grad=True)

    def all_of(k: Any, x: Any, y: Any) -> tuple[Any, ...]:
        s = qt.Stereographic(k)
        return s.dist(x, y), s.dist2(x, y), s.expmap(x, y), s.logmap(x, y), s.transp(x, y, y), s.logmap0(s.expmap0(x))

    assert torch.autograd.gradcheck(all_of, (curvature, x, y))
    assert torch.autograd.gradgradcheck(all_of, (curvature, x, y))
    near = [qt.Stereographic(k + e).dist(x, y) for e in (-1e-9, 0.0, 1e-9)]
    torch.testing.assert_close(near[0] + near[2], 2 * near[1], rtol=1e-14, atol=0.0)


def test_stereographic_is_the_ball_and_the_sphere() -> None:
    x, y = draw(5, 3, seed=1, scale=0.4), draw(5, 3, seed=2, scale=0.4)
    ball, same = qt.PoincareBall(0.7), qt.Stereographic(-0.7)
    for name in ("dist", "expmap", "logmap", "mobius_add"):
        torch.testing.assert_close(getattr(same, name)(x, y), getattr(ball, name)(x, y), rtol=1e-13, atol=1e-14)
    # The stereographic projection of the sphere, also for points that are nearly opposite.
    far = -x / x.square().sum(-1, keepdim=True) * (1 + 1e-9)
    for other in (y, far):
        lift = [torch.cat((2 * p, 1 - p.square().sum(-1, keepdim=True)), -1) for p in (x, other)]
        lift = [p / p.norm(dim=-1, keepdim=True) for p in lift]
        torch.testing.assert_close(qt.Stereographic(1.0).dist(x, other), qt.Sphere().dist(*lift), rtol=1e-12, atol=1e-12)


def test_product_has_gradients_by_weights_and_curvatures() -> None:
    space = product(learnable=True)
    x, y = points(space, 1), points(space, 2)
    parts = [m.dist2(p, q) for m, p, q in zip(space.manifolds, space.unpack_tensor(x), space.unpack_tensor(y))]
    torch.testing.assert_close(space.dist2(x, y), sum(w * d for w, d in zip([1.0, 2.0, 0.5, 3.0], parts)), rtol=1e-6, atol=0.0)
    space.dist(x, y).sum().backward()
    assert all(float(p.grad) > 0 for p in space.parameters())
    torch.testing.assert_close(space.pack_point(*space.unpack_tensor(x)), x, rtol=0.0, atol=0.0)


def test_refusals() -> None:
    space = product()
    with pytest.raises(quintet.InvalidArgument, match="must have 13 numbers in its last dimension"):
        space.dist(torch.zeros(2, 12), torch.zeros(2, 12))
    with pytest.raises(quintet.InvalidArgument, match="factors must be one or more"):
        qt.ProductManifold()
    with pytest.raises(quintet.InvalidArgument, match=r"factors\[0\] must have a length >= 1"):
        qt.ProductManifold((qt.Sphere(), 0))
    with pytest.raises(quintet.InvalidArgument, match=r"weights\[1\] must be > 0 and finite"):
        qt.ProductManifold((qt.Sphere(), 2), (qt.Sphere(), 2), weights=[1.0, -1.0])
    with pytest.raises(quintet.InvalidArgument, match="tensors must be one for each of 4 factors"):
        space.pack_point(torch.zeros(3))
    for scale in (0.0, -1.0, float("nan")):
        with pytest.raises(quintet.InvalidArgument, match="scale must be > 0 and finite"):
            qt.Scaled(qt.Sphere(), scale)
    with pytest.raises(quintet.InvalidArgument, match="k must be finite"):
        qt.Stereographic(float("inf"))
    for c in (torch.tensor(0.0, requires_grad=True), torch.tensor(-1.0, requires_grad=True)):
        with pytest.raises(quintet.InvalidArgument, match="c must be > 0 where it has a gradient"):
            qt.PoincareBall(c)
    with pytest.raises(quintet.InvalidArgument, match="c must be one number"):
        qt.PoincareBall(torch.ones(2, requires_grad=True))
    with pytest.raises(quintet.InvalidArgument, match="x must be a point of Sphere"):
        qt.Sphere().assert_check_point_on_manifold(torch.ones(3))


@pytest.mark.parametrize("c", [1.0, 0.4, 0.0])
def test_negative_sampling_loss(c: float) -> None:
    x = draw(30, 4, seed=1, scale=0.15).requires_grad_()
    links = torch.randint(0, 30, (12, 7), generator=torch.Generator().manual_seed(2))
    links[0, 1] = links[0, 0]

    def composed(x: Any, c: Any) -> Any:
        d = qt.dist(x[links[:, :1]].expand(12, 6, 4), x[links[:, 1:]], c=c)
        return torch.nn.functional.cross_entropy(-d, torch.zeros(12, dtype=torch.long))

    ours, wanted = qt.negative_sampling_loss(x, links, c=c), composed(x, c)
    torch.testing.assert_close(ours, wanted, rtol=1e-13, atol=1e-14)
    for found, expected in zip(torch.autograd.grad(3 * ours, x), torch.autograd.grad(3 * wanted, x)):
        torch.testing.assert_close(found, expected, rtol=1e-11, atol=1e-13)
    distinct = torch.tensor([[0, 1, 2], [3, 4, 5], [1, 0, 5]])
    assert torch.autograd.gradgradcheck(lambda x: qt.negative_sampling_loss(x, distinct, c=c), (x[:6].detach().requires_grad_(),))
    small = qt.negative_sampling_loss(x.detach().float(), links, c=c)
    assert small.dtype == torch.float32 and torch.allclose(small.double(), wanted)
    if c > 0:
        curvature = torch.tensor(c, dtype=D, requires_grad=True)
        assert torch.autograd.gradcheck(lambda c: qt.negative_sampling_loss(x.detach(), links[1:], c=c), (curvature,))


@pytest.mark.parametrize("k", [1.0, 2.5])
def test_negative_sampling_loss_on_the_sheet(k: float) -> None:
    sheet = qt.Lorentz(k)
    x = sheet.projx(draw(30, 4, seed=1)).requires_grad_()
    links = torch.randint(0, 30, (12, 7), generator=torch.Generator().manual_seed(2))
    links[0, 1] = links[0, 0]

    def composed(x: Any, sheet: Any) -> Any:
        d = sheet.dist(x[links[:, :1]].expand(12, 6, 4), x[links[:, 1:]])
        return torch.nn.functional.cross_entropy(-d, torch.zeros(12, dtype=torch.long))

    ours, wanted = qt.negative_sampling_loss(x, links, manifold=sheet), composed(x, sheet)
    torch.testing.assert_close(ours, wanted, rtol=1e-13, atol=1e-14)
    for found, expected in zip(torch.autograd.grad(3 * ours, x), torch.autograd.grad(3 * wanted, x)):
        torch.testing.assert_close(found, expected, rtol=1e-11, atol=1e-13)
    distinct = torch.tensor([[0, 1, 2], [3, 4, 5], [1, 0, 5]])

    def of_space(p: Any) -> Any:
        return qt.negative_sampling_loss(sheet.projx(torch.nn.functional.pad(p, (1, 0))), distinct, manifold=sheet)

    assert torch.autograd.gradgradcheck(of_space, (x[:6, 1:].detach().requires_grad_(),))
    curvature = torch.tensor(k, dtype=D, requires_grad=True)
    of_curvature = lambda k: qt.negative_sampling_loss(x.detach(), links[1:], manifold=qt.Lorentz(k))  # noqa: E731
    assert torch.autograd.gradcheck(of_curvature, (curvature,))
    ball = qt.PoincareBall(1 / k)
    in_ball = qt.negative_sampling_loss(sheet.to_poincare(x.detach()), links, manifold=ball)
    torch.testing.assert_close(in_ball, wanted.detach(), rtol=1e-12, atol=1e-13)


def test_means_on_the_sheet() -> None:
    sheet = qt.Lorentz(1.4)
    xs, w = sheet.projx(draw(3, 5, 4, seed=1)).requires_grad_(), draw(3, 5, seed=2).exp()
    mean = sheet.frechet_mean(xs, w, reducedim=[1])
    assert mean.shape == (3, 4)
    pulls = sheet.logmap(mean.unsqueeze(1).expand_as(xs), xs)
    torch.testing.assert_close((w.unsqueeze(-1) * pulls).sum(1), torch.zeros(3, 4, dtype=D), rtol=0.0, atol=1e-10)
    sums = (w.unsqueeze(-1) * xs).sum(1)
    length = (sums[:, :1].square() - sums[:, 1:].square().sum(1, keepdim=True)).sqrt() / 1.4**0.5
    torch.testing.assert_close(sheet.centroid(xs, w, reducedim=[1]), sums / length, rtol=1e-12, atol=1e-12)
    inner = draw(2, 4, 3, seed=5).requires_grad_()
    k = torch.tensor(1.4, dtype=D, requires_grad=True)

    def of_parts(p: Any, k: Any) -> Any:
        s = qt.Lorentz(k)
        xs = s.projx(torch.nn.functional.pad(p, (1, 0)))
        return s.frechet_mean(xs, reducedim=[1])[..., 1:], s.centroid(xs, reducedim=[1])[..., 1:]

    assert torch.autograd.gradcheck(of_parts, (inner, k))


def test_negative_sampling_loss_refuses() -> None:
    x = torch.zeros(3, 2)
    with pytest.raises(TypeError, match="links must be a tensor of type int64"):
        qt.negative_sampling_loss(x, torch.zeros(1, 2))
    with pytest.raises(quintet.InvalidArgument, match="links must have rows"):
        qt.negative_sampling_loss(x, torch.zeros(1, 1, dtype=torch.long))
    with pytest.raises(quintet.InvalidArgument, match=r"links\[0\]\[1\] must be in"):
        qt.negative_sampling_loss(x, torch.tensor([[0, 3]]))
    links = torch.tensor([[0, 1]])
    with pytest.raises(quintet.InvalidArgument, match=r"c must be None with a manifold, .* \(c=0.5\)"):
        qt.negative_sampling_loss(x, links, c=0.5, manifold=qt.Lorentz())
    with pytest.raises(TypeError, match=r"manifold must be a PoincareBall or a Lorentz .*\(manifold: Sphere\)"):
        qt.negative_sampling_loss(x, links, manifold=qt.Sphere())


# geoopt.


def test_geoopts_scaled_and_products_take_the_manifolds() -> None:
    geoopt = pytest.importorskip("geoopt")
    ours, theirs = qt.PoincareBall(0.5), geoopt.PoincareBall(0.5).double()
    x, y = draw(4, 3, seed=1, scale=0.3), draw(4, 3, seed=2, scale=0.3)
    for name in ("dist", "dist2", "logmap", "expmap", "mobius_add"):
        ours_too, wanted = (getattr(geoopt.Scaled(m, 2.0), name)(x, y) for m in (ours, theirs))
        torch.testing.assert_close(ours_too, wanted, rtol=1e-6, atol=1e-7)
    torch.testing.assert_close(geoopt.Scaled(ours, 2.0).dist0(x), 2 * ours.dist0(x))
    sheet = qt.Lorentz()
    p, q = sheet.projx(draw(4, 4, seed=3)), sheet.projx(draw(4, 4, seed=4))
    both = [geoopt.ProductManifold((a, 3), (b, 4)) for a, b in ((ours, sheet), (theirs, geoopt.Lorentz().double()))]
    first, second = both[0].pack_point(x, p), both[0].pack_point(y, q)
    torch.testing.assert_close(both[0].dist(first, second), both[1].dist(first, second), rtol=1e-6, atol=1e-7)
    assert both[0].check_point_on_manifold(first)
    assert both[0].random(2, 7).shape == both[0].origin(2, 7).shape == (2, 7)


@pytest.mark.parametrize("k", [-0.7, 0.9])
def test_stereographic_of_geoopt(k: float) -> None:
    geoopt = pytest.importorskip("geoopt")
    ours, theirs = qt.Stereographic(k), geoopt.Stereographic(k).double()
    x, y = draw(5, 3, seed=1, scale=0.4), draw(5, 3, seed=2, scale=0.4)
    for name in ("dist", "expmap", "logmap", "mobius_add", "egrad2rgrad"):
        torch.testing.assert_close(getattr(ours, name)(x, y), getattr(theirs, name)(x, y), rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(ours.transp(x, y, y), theirs.transp(x, y, y), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
@pytest.mark.parametrize("kind", ["RiemannianAdam", "RiemannianSGD"])
def test_geoopts_optimisers_move_points(manifold: Any, kind: str) -> None:
    geoopt = pytest.importorskip("geoopt")
    x, y = points(manifold, 1), points(manifold, 2)
    moving = geoopt.ManifoldParameter(x.clone(), manifold=manifold)
    steps = getattr(geoopt.optim, kind)([moving], lr=0.05)
    first = manifold.dist(x, y).sum()
    for _ in range(60):
        steps.zero_grad()
        manifold.dist2(moving, y).sum().backward()
        steps.step()
    manifold.assert_check_point_on_manifold(moving.detach(), atol=1e-9)
    assert manifold.dist(moving.detach(), y).sum() < first / 2
