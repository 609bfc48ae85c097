"""Riemannian Adam in one pass: geoopt's steps where geoopt takes the exponential map, and those of methods elsewhere."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import quintet  # noqa: E402
import quintet.torch as qt  # noqa: E402
from quintet import lorentz, poincare  # noqa: E402

pytestmark = pytest.mark.torch
D = torch.float64


class ByMethods(qt.Lorentz):
    """The same sheet, which is not that of the kernel; its steps are exponential maps."""

    def retr_transp(self, x: Any, u: Any, v: Any) -> tuple[Any, Any]:
        return self.expmap_transp(x, u, v)


def draw(*size: int, seed: int = 0, scale: float = 1.0) -> Any:
    return torch.randn(*size, dtype=D, generator=torch.Generator().manual_seed(seed)) * scale


def trained(x: Any, manifold: Any, target: Any, steps: int, make: Any) -> Any:
    moving = torch.nn.Parameter(x.clone())
    if manifold is not None:
        moving.manifold = manifold
    optimiser = make([moving])
    for _ in range(steps):
        optimiser.zero_grad()
        loss = (moving - target).square().sum() if manifold is None else manifold.dist2(moving, target).sum()
        loss.backward()
        optimiser.step()
    return moving.detach()


@pytest.mark.parametrize("decay", [0.0, 0.02])
@pytest.mark.parametrize("c", [1.0, 0.4])
def test_steps_in_the_ball_are_those_of_geoopt(c: float, decay: float) -> None:
    geoopt = pytest.importorskip("geoopt")
    x, y = draw(12, 4, seed=1, scale=0.15), draw(12, 4, seed=2, scale=0.15)
    options = {"lr": 0.05, "betas": (0.8, 0.9), "eps": 1e-7, "weight_decay": decay}
    found = trained(x, qt.PoincareBall(c), y, 30, lambda p: qt.RiemannianAdam(p, **options))
    moving = geoopt.ManifoldParameter(x.clone(), manifold=geoopt.PoincareBallExact(c).double())
    optimiser = geoopt.optim.RiemannianAdam([moving], **options)
    ball = qt.PoincareBall(c)
    for _ in range(30):
        optimiser.zero_grad()
        ball.dist2(moving.as_subclass(torch.Tensor), y).sum().backward()
        optimiser.step()
    torch.testing.assert_close(found, moving.detach().as_subclass(torch.Tensor), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("k", [1.0, 2.5])
def test_steps_of_the_lorentz_model_are_those_by_methods(k: float) -> None:
    sheet = qt.Lorentz(k)
    x, y = (sheet.expmap0(torch.nn.functional.pad(draw(12, 4, seed=s), (1, 0))) for s in (1, 2))
    found, expected = (
        trained(x, manifold, y, 30, lambda p: qt.RiemannianAdam(p, lr=0.05)) for manifold in (sheet, ByMethods(k))
    )
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)
    sheet.assert_check_point_on_manifold(found)


def test_parameters_without_a_manifold_are_torchs() -> None:
    x, y = draw(7, 3, seed=1), draw(7, 3, seed=2)
    found = trained(x, None, y, 25, lambda p: qt.RiemannianAdam(p, lr=0.05))
    torch.testing.assert_close(found, trained(x, None, y, 25, lambda p: torch.optim.Adam(p, lr=0.05)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_narrow_points_come_near(dtype: Any) -> None:
    ball = qt.PoincareBall()
    x, y = draw(9, 3, seed=1, scale=0.12).to(dtype), draw(9, 3, seed=2, scale=0.12).to(dtype)
    found = trained(x, ball, y, 150, lambda p: qt.RiemannianAdam(p, lr=0.03))
    assert found.dtype == dtype
    assert ball.dist(found, y).max() < 0.1
    assert float(ball.dist(found, y).mean()) < float(ball.dist(x, y).mean()) / 5


def test_leading_dimensions_and_memory_that_is_not_contiguous() -> None:
    ball = qt.PoincareBall()
    x, y = draw(2, 3, 4, seed=1, scale=0.12), draw(2, 3, 4, seed=2, scale=0.12)
    expected = trained(x, ball, y, 5, lambda p: qt.RiemannianAdam(p, lr=0.03))
    strided = torch.empty(4, 3, 2, dtype=D).permute(2, 1, 0)
    strided.copy_(x)
    moving = torch.nn.Parameter(strided)
    moving.manifold = ball
    optimiser = qt.RiemannianAdam([moving], lr=0.03)
    for _ in range(5):
        optimiser.zero_grad()
        ball.dist2(moving, y).sum().backward()
        optimiser.step()
    torch.testing.assert_close(moving.detach(), expected, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [D, torch.float16])
def test_state_can_be_saved(dtype: Any) -> None:
    ball, y = qt.PoincareBall(), draw(6, 2, seed=2, scale=0.15).to(dtype)
    moving = torch.nn.Parameter(draw(6, 2, seed=1, scale=0.15).to(dtype))
    moving.manifold = ball
    optimiser = qt.RiemannianAdam([moving], lr=0.05)

    def run(p: Any, steps: Any) -> None:
        steps.zero_grad()
        ball.dist2(p, y).sum().backward()
        steps.step()

    for _ in range(3):
        run(moving, optimiser)
    other = torch.nn.Parameter(moving.detach().clone())
    other.manifold = ball
    again = qt.RiemannianAdam([other], lr=0.05)
    again.load_state_dict(copy.deepcopy(optimiser.state_dict()))
    for _ in range(3):
        run(moving, optimiser)
        run(other, again)
    tolerance = 0 if dtype == D else 2e-3
    torch.testing.assert_close(moving.detach(), other.detach(), rtol=tolerance, atol=tolerance)


def test_wrong_arguments() -> None:
    p = torch.nn.Parameter(draw(3, 2, scale=0.1))
    for options, words in (
        ({"lr": -1.0}, "lr must be >= 0"),
        ({"betas": (0.9, 1.0)}, "betas must be in"),
        ({"eps": 0.0}, "eps must be > 0"),
    ):
        with pytest.raises(quintet.InvalidArgument, match=words):
            qt.RiemannianAdam([p], **options)


def test_arrays_take_the_same_steps() -> None:
    x, y = draw(8, 3, seed=1, scale=0.15), draw(8, 3, seed=2, scale=0.15)
    ball, points, first, second = qt.PoincareBall(), x.numpy(), None, None
    for step in range(1, 6):
        leaf = torch.from_numpy(points).requires_grad_()
        ball.dist2(leaf, y).sum().backward()
        state = poincare.adam_step(points, leaf.grad.numpy(), 1e-5, first, second, step=step, rate=0.05)
        points, first, second = state
    found = trained(x, ball, y, 5, lambda p: qt.RiemannianAdam(p, lr=0.05))
    np.testing.assert_array_equal(points, found.numpy())
    sheet = lorentz.adam_step(np.zeros((2, 3)), np.ones((2, 3)), time="ignore", rate=0.1)
    assert sheet.first.shape == (2, 2)
    np.testing.assert_allclose(sheet.points[:, 0], np.sqrt(1 + (sheet.points[:, 1:] ** 2).sum(1)))
    with pytest.raises(quintet.InvalidArgument, match="second must be of shape"):
        poincare.adam_step(points, points, 1e-5, first, np.zeros(3))
    with pytest.raises(quintet.InvalidArgument, match="time must be False or 'ignore'"):
        lorentz.adam_step(points, points, time=True)
