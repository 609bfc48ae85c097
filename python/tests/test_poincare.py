from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import quintet
from conftest import layouts
from quintet import poincare


def ball(rng: Any, shape: tuple[int, ...], c: float = 1.0) -> np.ndarray:
    x = rng.standard_normal(shape)
    return x / np.linalg.norm(x, axis=-1, keepdims=True) * rng.uniform(0, 0.95, shape[:-1] + (1,)) / np.sqrt(c)


def plain_distance(x: np.ndarray, y: np.ndarray, c: float) -> np.ndarray:
    t = c * ((x - y) ** 2).sum(-1) / ((1 - c * (x**2).sum(-1)) * (1 - c * (y**2).sum(-1)))
    return np.arccosh(1 + 2 * t) / np.sqrt(c)


def plain_add(x: np.ndarray, y: np.ndarray, c: float) -> np.ndarray:
    xy, xx, yy = ((a * b).sum(-1, keepdims=True) for a, b in ((x, y), (x, x), (y, y)))
    return ((1 + 2 * c * xy + c * yy) * x + (1 - c * xx) * y) / (1 + 2 * c * xy + c * c * xx * yy)


@pytest.mark.parametrize("c", [1.0, 0.3, 4.0])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_distances(rng: Any, c: float, dtype: Any) -> None:
    x, y = ball(rng, (7, 5), c).astype(dtype), ball(rng, (4, 5), c).astype(dtype)
    got = poincare.distances(x, y, curvature=-c)
    real = np.float64 if dtype == np.float64 else np.float32
    assert got.dtype == real and got.shape == (7, 4)
    expected = plain_distance(x[:, None].astype(float), y[None].astype(float), c)
    tolerance = 1e-12 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(got, expected, rtol=tolerance)
    np.testing.assert_array_equal(poincare.pair_distances(x[:4], y, curvature=-c), np.diagonal(got))
    np.testing.assert_allclose(
        poincare.origin_distances(x, curvature=-c),
        plain_distance(x.astype(float), np.zeros(5), c),
        rtol=tolerance,
    )


def test_layouts_give_the_same_bits(rng: Any) -> None:
    x = ball(rng, (9, 6))
    expected = poincare.distances(x, x)
    for name, b in layouts(x).items():
        np.testing.assert_array_equal(poincare.distances(b, x), expected, err_msg=name)
        np.testing.assert_array_equal(poincare.mobius_add(b, x), poincare.mobius_add(x, x), err_msg=name)


def test_flat_limit(rng: Any) -> None:
    x, y = rng.standard_normal((2, 6, 3))
    np.testing.assert_allclose(
        poincare.distances(x, y, curvature=0), 2 * np.linalg.norm(x[:, None] - y[None], axis=-1), rtol=1e-13
    )


@pytest.mark.parametrize("c", [1.0, 0.5])
def test_operations(rng: Any, c: float) -> None:
    k = {"curvature": -c}
    x, y, v = ball(rng, (8, 4), c), ball(rng, (8, 4), c), rng.standard_normal((8, 4))
    np.testing.assert_allclose(poincare.mobius_add(x, y, **k), plain_add(x, y, c), atol=1e-13)
    w = plain_add(-x, y, c)
    n = np.linalg.norm(w, axis=-1, keepdims=True)
    lam = 2 / (1 - c * (x**2).sum(-1, keepdims=True))
    log = 2 / (np.sqrt(c) * lam) * np.arctanh(np.sqrt(c) * n) * w / n
    np.testing.assert_allclose(poincare.log_map(y, x, **k), log, atol=1e-12)
    np.testing.assert_allclose(poincare.exp_map(log, x, **k), y, atol=1e-12)
    np.testing.assert_allclose(poincare.log_map(poincare.exp_map(v, **k), **k), v, rtol=1e-7)
    np.testing.assert_allclose(poincare.conformal_factor(x, **k), lam[:, 0], rtol=1e-13)
    np.testing.assert_allclose(poincare.geodesic(x, y, 1.0, **k), y, atol=1e-13)
    m = poincare.geodesic(x, y, np.full(8, 0.25), **k)
    np.testing.assert_allclose(
        poincare.pair_distances(x, m, **k), 0.25 * poincare.pair_distances(x, y, **k), rtol=1e-11
    )
    moved = poincare.parallel_transport(x, y, v, **k)
    mu = 2 / (1 - c * (y**2).sum(-1))
    np.testing.assert_allclose(
        mu * np.linalg.norm(moved, axis=-1), lam[:, 0] * np.linalg.norm(v, axis=-1), rtol=1e-12
    )
    np.testing.assert_allclose(
        poincare.mobius_scalar_mul(3.0, x, **k), plain_add(plain_add(x, x, c), x, c), atol=1e-12
    )
    h = poincare.to_hyperboloid(x, **k)
    assert h.shape == (8, 5)
    np.testing.assert_allclose(h[:, 0] ** 2 - (h[:, 1:] ** 2).sum(-1), 1 / c, rtol=1e-9)
    np.testing.assert_allclose(poincare.from_hyperboloid(h, **k), x, atol=1e-13)
    np.testing.assert_allclose(poincare.riemannian_gradient(x, v, **k), v / lam**2, rtol=1e-12)
    step = poincare.exp_map(-0.1 * v / lam**2, x, **k)
    np.testing.assert_allclose(poincare.rsgd_step(x, v, 0.1, 1e-9, **k), step, atol=1e-12)
    p = poincare.project(3 * x, 0.01, **k)
    assert (np.sqrt(c) * np.linalg.norm(p, axis=-1) <= 0.99 + 1e-12).all()


def test_broadcasting(rng: Any) -> None:
    x, y = ball(rng, (3, 1, 4)), ball(rng, (5, 4))
    got = poincare.mobius_add(x, y)
    assert got.shape == (3, 5, 4)
    np.testing.assert_allclose(got, plain_add(x, y[None], 1.0), atol=1e-13)
    with pytest.raises(quintet.InvalidArgument, match="broadcast"):
        poincare.mobius_add(np.zeros((2, 4)), np.zeros((3, 4)))


def test_distance_gradients(rng: Any) -> None:
    x, y = ball(rng, (6, 3)), ball(rng, (6, 3))
    gx, gy = poincare.distance_gradients(x, y)
    h = 1e-7
    for j in range(3):
        e = np.zeros(3)
        e[j] = h
        np.testing.assert_allclose(
            gx[:, j], (plain_distance(x + e, y, 1) - plain_distance(x - e, y, 1)) / (2 * h), rtol=1e-4, atol=1e-6
        )
        np.testing.assert_allclose(
            gy[:, j], (plain_distance(x, y + e, 1) - plain_distance(x, y - e, 1)) / (2 * h), rtol=1e-4, atol=1e-6
        )


def test_nearest(rng: Any) -> None:
    x, p = ball(rng, (20, 4)), ball(rng, (50, 4))
    index, distance = poincare.nearest(x, p, 5)
    d = poincare.distances(x, p)
    expected = np.argsort(d, axis=1, kind="stable")[:, :5]
    np.testing.assert_array_equal(index, expected)
    np.testing.assert_array_equal(distance, np.take_along_axis(d, expected, 1))
    own, _ = poincare.nearest(p, p, 3, exclude_self=True)
    assert (own != np.arange(50)[:, None]).all()
    for k in (0, 51):
        with pytest.raises(quintet.InvalidArgument, match="k must be"):
            poincare.nearest(x, p, k)


def test_means(rng: Any) -> None:
    p = ball(rng, (12, 3))
    w = rng.uniform(0.5, 1, 12)
    r = poincare.frechet_mean(p, [0, 5, 12], weights=w, return_status=True)
    assert r.converged.all() and (r.status == 0).all()
    for group, (a, b) in zip(r.mean, ((0, 5), (5, 12))):
        logs = poincare.log_map(p[a:b], np.broadcast_to(group, (b - a, 3)))
        assert np.abs((w[a:b, None] * logs).sum(0)).max() < 1e-12
    lam = poincare.conformal_factor(p)[:, None]
    direct = poincare.mobius_scalar_mul(0.5, (lam * p).sum(0) / (lam - 1).sum())
    np.testing.assert_allclose(poincare.gyromidpoint(p), direct, atol=1e-13)
    with pytest.raises(quintet.InvalidArgument, match="offsets"):
        poincare.gyromidpoint(p, [0, 5])
    with pytest.raises(TypeError, match="offsets must be integers"):
        poincare.gyromidpoint(p, [0.0, 12.0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_results_near_the_boundary_are_inside(rng: Any, dtype: Any) -> None:
    v = rng.standard_normal((200, 3)) * rng.uniform(1, 60, (200, 1))
    x = poincare.exp_map(v.astype(dtype))
    assert np.isfinite(poincare.origin_distances(poincare.exp_map(v.astype(dtype), x))).all()
    assert np.isfinite(poincare.origin_distances(x)).all()
    assert np.isfinite(poincare.origin_distances(poincare.mobius_add(x, x))).all()


def test_gyromidpoint_near_the_boundary() -> None:
    s = 1 - 1e-9
    np.testing.assert_allclose(poincare.gyromidpoint(np.array([[s, 0], [0, s]])), np.full(2, 1 - np.sqrt(0.5)), rtol=1e-8)


def test_points_outside() -> None:
    x = np.array([[0.5, 0.0], [1.0, 0.0], [np.nan, 0.0]])
    d, (sx, sy) = poincare.distances(x, x[:1], return_status=True)
    np.testing.assert_array_equal(sx, [0, 1, 2])
    np.testing.assert_array_equal(sy, [0])
    assert d[0, 0] == 0 and np.isnan(d[1:]).all()
    with pytest.raises(quintet.InvalidArgument, match="1"):
        poincare.distances(x, x[:1], strict=True)
    out, status = poincare.exp_map(x, x, return_status=True)
    np.testing.assert_array_equal(status, [0, 1, 2])
    assert np.isnan(out[1:]).all()


def test_refusals() -> None:
    x = np.zeros((2, 2))
    with pytest.raises(ValueError, match=r"use curvature=-1\.5"):
        poincare.distances(x, x, curvature=1.5)
    with pytest.raises(TypeError, match="x and y must be of one type"):
        poincare.distances(x, x.astype(np.float32))
    with pytest.raises(quintet.InvalidArgument, match="2 dimensions"):
        poincare.distances(x[0], x)
    with pytest.raises(quintet.InvalidArgument, match="formula"):
        poincare.distances(x, x, formula="cosine")
    with pytest.raises(TypeError, match="float64"):
        poincare.distances(x, x, out=np.empty((2, 2), np.float32))
    with pytest.raises(quintet.InvalidArgument, match="epsilon"):
        poincare.project(x, 2.0)


def test_out(rng: Any) -> None:
    x = ball(rng, (5, 3))
    out = np.empty((5, 8))[:, :5]
    assert poincare.distances(x, x, out=out) is out
    np.testing.assert_array_equal(out, poincare.distances(x, x))


def test_the_ball_has_every_function(rng: Any) -> None:
    ball_of = poincare.Ball(curvature=-0.3, strict=True, device="host")
    x, y = ball(rng, (5, 3), 0.3), ball(rng, (5, 3), 0.3)
    bound = {"curvature", "strict", "device"}
    for name in set(poincare.__all__) - {"AdamState", "Ball", "MeanResult"}:
        parameters = inspect.signature(getattr(poincare, name)).parameters
        assert bound <= set(parameters)
        assert set(inspect.signature(getattr(ball_of, name)).parameters) == set(parameters) - bound
    np.testing.assert_array_equal(ball_of.mobius_add(x, y), poincare.mobius_add(x, y, curvature=-0.3))
    np.testing.assert_array_equal(ball_of.nearest(x, y, 2)[0], poincare.nearest(x, y, 2, curvature=-0.3)[0])
    with pytest.raises(quintet.InvalidArgument, match="x"):
        ball_of.origin_distances(np.full((1, 3), 2.0))
    with pytest.raises(quintet.InvalidArgument, match="curvature must be <= 0"):
        poincare.Ball(curvature=1.0)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_negative_sampling(dtype: Any) -> None:
    r = np.random.default_rng(4)
    x = r.uniform(-0.4, 0.4, (9, 3)).astype(dtype)
    links = r.integers(0, 9, (6, 5))
    losses, gradient, status = poincare.negative_sampling(x, links, curvature=-0.5, return_status=True)
    assert losses.dtype == gradient.dtype == (np.float64 if dtype == np.float64 else np.float32)
    d = poincare.pair_distances(
        x.astype(float)[np.repeat(links[:, 0], 4)], x.astype(float)[links[:, 1:].ravel()], curvature=-0.5
    ).reshape(6, 4)
    np.testing.assert_allclose(losses, d[:, 0] + np.log(np.exp(-d).sum(1)), rtol=1e-6)
    assert gradient.shape == (9, 3) and not np.asarray(status).any()
    again = poincare.negative_sampling(x, links.astype(np.int32), curvature=-0.5)
    np.testing.assert_array_equal(again[1], gradient)
    with pytest.raises(quintet.InvalidArgument, match=r"links\[0\]\[1\] must be in \[0, points.rows=9\)"):
        poincare.negative_sampling(x, [[0, 9]])
    with pytest.raises(quintet.InvalidArgument, match="links must have 2 dimensions"):
        poincare.negative_sampling(x, [0, 1])
    with pytest.raises(TypeError, match="links must be integers"):
        poincare.negative_sampling(x, [[0.0, 1.0]])
