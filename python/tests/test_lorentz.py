from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quintet
from quintet import lorentz, poincare, product, stereographic

DATA = Path(__file__).parents[2] / "tests" / "data" / "lorentz" / "lorentz_pairs.csv"


@pytest.mark.parametrize("dtype, bound", [("float", 1), ("double", 4)])
def test_data(dtype: str, bound: float) -> None:
    """Values of 30 digits, up to radius 40."""
    with open(DATA) as file:
        cases = [row for row in csv.DictReader(file) if row["type"] == dtype]
    assert len(cases) == 64
    kind = np.float32 if dtype == "float" else np.float64
    for row in cases:
        x, y = (np.array([row[name].split()], np.float64).astype(kind) for name in "xy")
        expected = np.longdouble(row["distance"])
        d = lorentz.pair_distances(x, y)
        assert d.dtype == kind
        assert abs(np.longdouble(d[0]) - expected) <= bound * np.spacing(kind(expected)), row["case"]
        wide = [np.sqrt(1 + (p.astype(np.longdouble) ** 2).sum(1, keepdims=True)).astype(kind) for p in (x, y)]
        timed = [np.concatenate((t, p), axis=1) for t, p in zip(wide, (x, y))]
        assert lorentz.distances(*timed, time=True)[0, 0] == d[0]


def test_forms_and_status() -> None:
    points = np.array([[np.sqrt(2.0), 1.0], [1.5, 1.0], [np.nan, 1.0]])
    d, status = lorentz.origin_distances(points, time=True, return_status=True)
    assert status.tolist() == [0, 1, 2] and np.isfinite(d[0]) and np.isnan(d[1:]).all()
    np.testing.assert_array_equal(lorentz.origin_distances(points, time="ignore"), d[0])
    assert lorentz.origin_distances(points, time=True, tolerance=0.1)[1] == d[0]
    with pytest.raises(quintet.InvalidArgument, match=r"x\[1\] must be"):
        lorentz.origin_distances(points, time=True, strict=True)
    d, (of_x, of_y) = lorentz.distances(points, points[:1], time=True, return_status=True)
    assert of_x.tolist() == [0, 1, 2] and of_y.tolist() == [0] and d[0, 0] == 0


def test_curvature_scales(rng: Any) -> None:
    x, y = rng.standard_normal((2, 20, 5))
    d = lorentz.pair_distances(2 * x, 2 * y, curvature=-0.25)
    np.testing.assert_allclose(d, 2 * lorentz.pair_distances(x, y), rtol=1e-15)
    np.testing.assert_array_equal(lorentz.pair_distances(x, y[0]), lorentz.distances(x, y[:1])[:, 0])
    out = np.empty((20, 20))
    assert lorentz.distances(x, y, out=out) is out
    np.testing.assert_array_equal(out.T, lorentz.distances(y, x))


@pytest.mark.parametrize("curvature", [0.0, 1.0, float("nan")])
def test_bad_arguments(curvature: float) -> None:
    x = np.ones((3, 2))
    with pytest.raises(quintet.InvalidArgument, match="curvature must be negative"):
        lorentz.distances(x, x, curvature=curvature)
    with pytest.raises(quintet.InvalidArgument, match="time must be"):
        lorentz.distances(x, x, time="first")
    with pytest.raises(quintet.InvalidArgument, match="tolerance must be > 0"):
        lorentz.distances(x, x, time=True, tolerance=0.0)
    with pytest.raises(TypeError):
        lorentz.distances(x, x.astype(np.float32))


def test_operations(rng: Any) -> None:
    x, y, v = rng.standard_normal((3, 20, 4))
    there = lorentz.exp_map(v, x, curvature=-0.7)
    np.testing.assert_allclose(lorentz.log_map(there, x, curvature=-0.7), v, atol=1e-13)
    moved = lorentz.parallel_transport(x, there, v, curvature=-0.7)
    np.testing.assert_allclose(moved, -lorentz.log_map(x, there, curvature=-0.7), atol=1e-12)
    middle = lorentz.geodesic(x, y, 0.5, curvature=-0.7)
    np.testing.assert_allclose(
        2 * lorentz.pair_distances(x, middle, curvature=-0.7), lorentz.pair_distances(x, y, curvature=-0.7), rtol=1e-13
    )
    ball = [lorentz.to_ball(p, curvature=-0.7) for p in (x, y)]
    np.testing.assert_allclose(
        quintet.poincare.pair_distances(*ball, curvature=-0.7), lorentz.pair_distances(x, y, curvature=-0.7), rtol=1e-12
    )
    for name in ("ball", "klein", "half_space"):
        model = getattr(lorentz, f"to_{name}")(x, curvature=-0.7)
        np.testing.assert_allclose(getattr(lorentz, f"from_{name}")(model, curvature=-0.7), x, rtol=1e-12, atol=1e-12)
    _, status = lorentz.from_ball(np.array([[0.5, 0.0], [1.0, 0.0]]), return_status=True)
    assert status.tolist() == [0, 1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_hyperplanes(rng: Any, dtype: Any) -> None:
    x, z = rng.standard_normal((20, 4)).astype(dtype), rng.standard_normal((6, 4)).astype(dtype)
    a = rng.standard_normal(6).astype(dtype)
    root, rtol = np.sqrt(0.7), 2e-6 if dtype == np.float32 else 1e-12
    wide_x, wide_z, wide_a = x.astype(np.longdouble)[:, None], z.astype(np.longdouble), a.astype(np.longdouble)
    unit = wide_z / np.sqrt((wide_z**2).sum(-1, keepdims=True))
    along, time = (unit * wide_x).sum(-1), np.sqrt(1 + 0.7 * (wide_x**2).sum(-1))
    wanted = np.arcsinh(np.cosh(root * wide_a) * root * along - np.sinh(root * wide_a) * time) / root
    at = np.broadcast_to(a, (20, 6))
    d, status = lorentz.hyperplane_distances(x[:, None], z, at, curvature=-0.7, return_status=True)
    assert d.dtype == dtype and d.shape == (20, 6) and not status.any()
    np.testing.assert_allclose(d, wanted.astype(float), rtol=rtol, atol=rtol)
    of_x, of_z, of_a = lorentz.hyperplane_gradients(x[:, None], z, at, curvature=-0.7)
    below = np.cosh(root * wanted)[..., None]
    slope = np.cosh(root * wide_a)[:, None] * unit - np.sinh(root * wide_a)[:, None] * root * wide_x / time[..., None]
    np.testing.assert_allclose(of_x, (slope / below).astype(float), rtol=rtol, atol=rtol)
    np.testing.assert_allclose((of_z * z).sum(-1), 0, atol=20 * rtol)
    turned = np.sinh(root * wide_a) * root * along - np.cosh(root * wide_a) * time
    np.testing.assert_allclose(of_a, (turned / below[..., 0]).astype(float), rtol=rtol, atol=rtol)
    assert lorentz.hyperplane_distances(x[0], np.zeros(4, dtype)) == 0
    with pytest.raises(quintet.InvalidArgument, match="offsets must be one number or of shape"):
        lorentz.hyperplane_distances(x, x, a)
    with pytest.raises(quintet.InvalidArgument, match="curvature must be negative"):
        lorentz.hyperplane_distances(x, x, curvature=0.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_means(rng: Any, dtype: Any) -> None:
    x = rng.standard_normal((12, 3)).astype(dtype)
    w = rng.uniform(0.5, 2, 12).astype(dtype)
    atol = 1e-6 if dtype == np.float32 else 1e-13
    t = np.sqrt(1 / 0.7 + (x.astype(float) ** 2).sum(1))
    sums = np.array([(w[s, None] * np.c_[t, x][s]).sum(0) for s in (slice(0, 5), slice(5, 12))])
    wanted = sums[:, 1:] / np.sqrt(0.7 * (sums[:, 0] ** 2 - (sums[:, 1:] ** 2).sum(1)))[:, None]
    found = lorentz.centroid(x, [0, 5, 12], weights=w, curvature=-0.7)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, wanted, atol=atol)
    result = lorentz.frechet_mean(x, [0, 5, 12], weights=w, curvature=-0.7, return_status=True)
    assert result.converged.all() and result.iterations.shape == (2,)
    for mean, s in zip(result.mean.astype(float), (slice(0, 5), slice(5, 12))):
        pulls = lorentz.log_map(x[s].astype(float), np.tile(mean, (s.stop - s.start, 1)), curvature=-0.7)
        np.testing.assert_allclose((w[s, None] * pulls).sum(0), 0, atol=20 * atol)
    far = np.array([[2.0**60, 0, 0], [0, 1, 0]])
    assert np.isnan(lorentz.centroid(far)).all()
    with pytest.raises(quintet.InvalidArgument, match="curvature must be negative"):
        lorentz.frechet_mean(x, curvature=0.0)


def test_products_of_spaces() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.uniform(-0.4, 0.4, (7, 9)), rng.uniform(-0.4, 0.4, (5, 9))
    space = [("poincare", 2, -1.5), ("lorentz", 3), ("sphere", 2, 2.0, 0.5), ("euclidean", 2)]
    expected = (
        poincare.distances(x[:, :2], y[:, :2], curvature=-1.5) ** 2
        + lorentz.distances(x[:, 2:5], y[:, 2:5]) ** 2
        + 0.5 / 2.0 * np.arccos(unit(x[:, 5:7]) @ unit(y[:, 5:7]).T) ** 2
        + ((x[:, None, 7:] - y[None, :, 7:]) ** 2).sum(-1)
    )
    np.testing.assert_allclose(product.distances(x, y, space), np.sqrt(expected), rtol=1e-12)
    narrow = product.distances(x.astype(np.float32), y.astype(np.float32), space)
    assert narrow.dtype == np.float32
    np.testing.assert_array_equal(product.pair_distances(x[:5], y, space), np.diag(product.distances(x[:5], y, space)))
    x[1, 5:7] = 0
    values, (status, _) = product.distances(x, y, space, return_status=True)
    assert status.tolist() == [0, 1, 0, 0, 0, 0, 0] and np.isnan(values[1]).all() and not np.isnan(values[2]).any()
    for wrong, words in (
        ([("ball", 9)], "space\\[0\\] must begin with one of"),
        ([("poincare", 9, 1.0)], "the curvature of space\\[0\\] must be < 0"),
        ([("sphere", 9, -1.0)], "space\\[0\\].curvature must be positive"),
        ([("lorentz", 8)], "the sum of the dimensions, 8"),
        ([("euclidean",)], "space\\[0\\] must be \\(geometry"),
    ):
        with pytest.raises(quintet.InvalidArgument, match=words):
            product.distances(x, y, wrong)


@pytest.mark.parametrize("curvature", [1.5, 1e-13, 0.0, -0.4])
def test_stereographic_operations(curvature: float) -> None:
    rng = np.random.default_rng(5)
    x, y = rng.uniform(-0.5, 0.5, (2, 3, 4, 3))
    v = stereographic.log_map(y, x, curvature=curvature)
    np.testing.assert_allclose(stereographic.exp_map(v, x, curvature=curvature), y, atol=1e-14)
    distance = stereographic.pair_distances(x, y, curvature=curvature)
    squares = (x * x).sum(-1)
    np.testing.assert_allclose(2 / (1 + curvature * squares) * np.linalg.norm(v, axis=-1), distance, rtol=1e-13)
    np.testing.assert_allclose(stereographic.distances(x[0], y[0], curvature=curvature).diagonal(), distance[0], rtol=1e-14)
    middle = stereographic.geodesic(x, y, 0.5, curvature=curvature)
    np.testing.assert_allclose(stereographic.pair_distances(x, middle, curvature=curvature), distance / 2, rtol=1e-12)
    ball = stereographic.add(x, y, curvature=curvature)
    dot = (x * y).sum(-1, keepdims=True)
    xx, yy = squares[..., None], (y * y).sum(-1, keepdims=True)
    below = 1 - 2 * curvature * dot + curvature**2 * xx * yy
    expected = ((1 - 2 * curvature * dot - curvature * yy) * x + (1 + curvature * xx) * y) / below
    np.testing.assert_allclose(ball, expected, atol=1e-14)
    far = stereographic.scalar_mul(np.full(x.shape[:-1], 2.0), x, curvature=curvature)
    np.testing.assert_allclose(far, stereographic.add(x, x, curvature=curvature), atol=1e-13)
    assert stereographic.add(x.astype(np.float32), y.astype(np.float32), curvature=curvature).dtype == np.float32


def test_stereographic_points_without_a_result() -> None:
    points = np.array([[1.0, 0.0], [0.0, 0.0], [np.nan, 0.0]])
    opposite = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    logs, status = stereographic.log_map(opposite, points, curvature=1.0, return_status=True)
    assert status.tolist() == [1, 0, 2] and np.isnan(logs[[0, 2]]).all()
    with pytest.raises(quintet.InvalidArgument, match="row 0 must be of points with a result"):
        stereographic.log_map(opposite, points, curvature=1.0, strict=True)
    with pytest.raises(quintet.InvalidArgument, match="curvature must be 0, or of a magnitude"):
        stereographic.add(points, points, curvature=1e-40)


def unit(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x, axis=1, keepdims=True)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_negative_sampling(dtype: Any) -> None:
    r = np.random.default_rng(4)
    x = r.standard_normal((9, 3)).astype(dtype)
    links = r.integers(0, 9, (6, 5))
    losses, gradient, status = lorentz.negative_sampling(x, links, curvature=-0.5, return_status=True)
    assert losses.dtype == gradient.dtype == (np.float64 if dtype == np.float64 else np.float32)
    assert not np.asarray(status).any()
    wide = x.astype(float)
    d = lorentz.pair_distances(wide[np.repeat(links[:, 0], 4)], wide[links[:, 1:].ravel()], curvature=-0.5).reshape(6, 4)
    np.testing.assert_allclose(losses, d[:, 0] + np.log(np.exp(-d).sum(1)), rtol=1e-6)
    timed = np.concatenate((np.sqrt(2 + (wide**2).sum(1, keepdims=True)), wide), 1)
    again = lorentz.negative_sampling(timed, links, time=True, strict=True, curvature=-0.5)
    np.testing.assert_allclose(again[1][:, 1:], gradient, rtol=1e-5, atol=1e-6)
    assert not again[1][:, 0].any()
    timed[4, 0] += 1
    spoilt, _ = lorentz.negative_sampling(timed, links, time=True, curvature=-0.5)
    np.testing.assert_array_equal(np.isnan(spoilt), (links == 4).any(1))
    with pytest.raises(quintet.InvalidArgument, match=r"points\[4\] must be finite with t = "):
        lorentz.negative_sampling(timed, links, time=True, strict=True, curvature=-0.5)
    with pytest.raises(quintet.InvalidArgument, match=r"links\[0\]\[1\] must be in \[0, points.rows=9\)"):
        lorentz.negative_sampling(x, [[0, 9]])
