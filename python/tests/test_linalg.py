from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from conftest import layouts

import quintet
from quintet import linalg

EPS = {np.float16: 2**-10, np.float32: 2**-23, np.float64: 2**-52}


def error_of(a: np.ndarray, U: np.ndarray, S: np.ndarray, Vh: np.ndarray) -> float:
    """|a - U S Vh|_F / |a|_F, in float64."""
    k = S.shape[-1]
    a, U, S, Vh = (x.astype(np.float64) for x in (a, U, S, Vh))
    r = a - (U[..., :k] * S[..., None, :]) @ Vh[..., :k, :]
    return float((np.linalg.norm(r, axis=(-2, -1)) / np.linalg.norm(a, axis=(-2, -1))).max())


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(4, 4), (7, 3, 5), (2, 3, 6, 4), (1, 9, 1), (1, 1), (5, 33, 20)])
@pytest.mark.parametrize("full", [False, True])
def test_svd_agrees_with_lapack(rng: Any, dtype: Any, shape: tuple[int, ...], full: bool) -> None:
    a = rng.standard_normal(shape).astype(dtype)
    U, S, Vh = linalg.svd(a, full)
    expected = np.linalg.svd(a.astype(np.float64), full, False)
    assert U.dtype == Vh.dtype == dtype
    assert S.dtype == (np.float64 if dtype == np.float64 else np.float32)
    m, n = shape[-2:]
    k = min(m, n)
    assert U.shape == shape[:-1] + (m if full else k,) and Vh.shape == shape[:-2] + (n if full else k, n)
    precision = EPS[np.float64] if dtype == np.float64 else EPS[np.float32]
    np.testing.assert_allclose(S, expected, rtol=0, atol=16 * precision * expected.max())
    assert error_of(a, U, S, Vh) < 16 * EPS[dtype]
    for q in (np.swapaxes(U, -1, -2), Vh):
        gram = q.astype(np.float64) @ np.swapaxes(q, -1, -2).astype(np.float64)
        assert np.abs(gram - np.eye(gram.shape[-1])).max() < 16 * EPS[dtype]
    np.testing.assert_array_equal(linalg.svdvals(a).shape, S.shape)
    np.testing.assert_allclose(linalg.svdvals(a), S, rtol=0, atol=16 * precision * expected.max())


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_layout_does_not_change_bits(rng: Any, dtype: Any) -> None:
    a = rng.standard_normal((6, 5, 4)).astype(dtype)
    expected = linalg.svd(a, False)
    for name, b in layouts(a).items():
        for got, want in zip(linalg.svd(b, False), expected):
            np.testing.assert_array_equal(got, want, err_msg=name)


def test_bfloat16(rng: Any) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    a = rng.standard_normal((3, 6, 4)).astype(ml_dtypes.bfloat16)
    U, S, Vh = linalg.svd(a, False)
    assert U.dtype == ml_dtypes.bfloat16 and S.dtype == np.float32
    assert error_of(a, U, S, Vh) < 16 * 2**-7
    np.testing.assert_allclose(S, np.linalg.svd(a.astype(float), compute_uv=False), rtol=1e-5)
    r = linalg.randomized_svd(a, 4)
    assert r.U.dtype == ml_dtypes.bfloat16 and r.S.dtype == np.float32
    np.testing.assert_allclose(r.S, S, rtol=1e-5)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_same_bits_for_any_number_of_threads(rng: Any, threads: int) -> None:
    a = rng.standard_normal((50, 12, 9))
    with quintet.num_threads(1):
        expected = linalg.svd(a)
    with quintet.num_threads(threads):
        for got, want in zip(linalg.svd(a), expected):
            np.testing.assert_array_equal(got, want)


def test_empty() -> None:
    for shape in ((0, 3, 4), (2, 0, 4), (2, 3, 0), (0, 0)):
        U, S, Vh = linalg.svd(np.empty(shape), False)
        k = min(shape[-2:])
        assert S.shape == shape[:-2] + (k,) and U.shape == shape[:-1] + (k,) and Vh.shape == shape[:-2] + (k, shape[-1])


def test_failures_name_the_matrix(rng: Any) -> None:
    a = rng.standard_normal((2, 3, 4, 4))
    a[1, 2, 0, 0] = np.nan
    with pytest.raises(np.linalg.LinAlgError, match=r"matrix \[1, 2\] holds NaN or infinity \(1 of 6"):
        linalg.svd(a)
    result = linalg.svd(a, on_failure="nan")
    assert np.isnan(result.S[1, 2]).all() and result.status[1, 2] == 2 and result.status.sum() == 2
    assert np.isfinite(result.S[1, 1]).all()
    with pytest.raises(np.linalg.LinAlgError, match="did not converge"):
        linalg.svd(rng.standard_normal((30, 30)), max_sweeps=1)


def test_options(rng: Any) -> None:
    a = rng.standard_normal((4, 8, 5))
    expected = np.linalg.svd(a, compute_uv=False)
    for kind in ("automatic", "none", "qr", "pivoted_qr"):
        np.testing.assert_allclose(linalg.svd(a, preconditioning=kind, accurate=True).S, expected, rtol=1e-13)
    top = linalg.svd(a, top=2)
    assert top.U.shape == (4, 8, 2) and top.S.shape == (4, 2) and top.Vh.shape == (4, 2, 5)
    np.testing.assert_allclose(top.S, expected[:, :2], rtol=1e-13)
    U = linalg.svd(a, False, canonical_signs=True).U
    assert (np.take_along_axis(U, np.abs(U).argmax(1)[:, None], 1) > 0).all()


def test_refusals(rng: Any) -> None:
    a = rng.standard_normal((3, 3))
    for bad, text in (
        (a.astype(int), r"a must be of type float16, bfloat16, float32 or float64 \(dtype=int64\)"),
        (a.astype(complex), r"dtype=complex128"),
        (a.astype(np.uint16), r"dtype=uint16"),
        (a.astype(object), r"dtype=object"),
        (np.ma.masked_array(a), "masked"),
        (a.astype(np.longdouble), "dtype="),
        ("text", "a must be of type"),
        (None, "dtype=object"),
    ):
        with pytest.raises(TypeError, match=text):
            linalg.svd(bad)
    scipy_sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match="toarray"):
        linalg.svd(scipy_sparse.eye(3))
    for call, text in (
        (lambda: linalg.svd(a[0]), r"at least 2 dimensions \(shape=\(3,\)\)"),
        (lambda: linalg.svd(a, top=0), "top must be >= 1"),
        (lambda: linalg.svd(a, max_sweeps=0), "max_sweeps"),
        (lambda: linalg.svd(a, preconditioning="lu"), "preconditioning must be 'automatic' or"),
        (lambda: linalg.svd(a, on_failure="ignore"), "on_failure"),
        (lambda: linalg.svd(a, device="gpu"), "device"),
        (lambda: linalg.pinv(a, rtol=-1), "rtol"),
        (lambda: linalg.low_rank(a, -1), "rank"),
        (lambda: linalg.lstsq(a, a[:2]), "b must be of shape"),
        (lambda: linalg.randomized_svd(a, 0), "rank"),
    ):
        with pytest.raises(quintet.InvalidArgument, match=text):
            call()
    with pytest.raises(quintet.DeviceError, match="host only"):
        linalg.svd(a, device="0")
    with pytest.raises(TypeError, match="one type"):
        linalg.lstsq(a, a.astype(np.float32))


def test_lists_are_arrays() -> None:
    np.testing.assert_allclose(linalg.svdvals([[3.0, 0.0], [0.0, 4.0]]), [4, 3])


def test_applications(rng: Any) -> None:
    a = rng.standard_normal((3, 6, 4))
    a[1, :, 3] = a[1, :, 0]  # rank 3
    b = rng.standard_normal((3, 6, 2))
    np.testing.assert_allclose(linalg.pinv(a), np.linalg.pinv(a, rcond=6 * 2**-52), atol=1e-12)
    np.testing.assert_array_equal(linalg.matrix_rank(a), [4, 3, 4])
    for i in range(3):
        x = np.linalg.lstsq(a[i], b[i], rcond=6 * 2**-52)[0]
        np.testing.assert_allclose(linalg.lstsq(a, b)[i], x, atol=1e-12)
        np.testing.assert_allclose(linalg.lstsq(a, b[..., 0])[i], x[:, 0], atol=1e-12)
        np.testing.assert_allclose(linalg.lstsq(a[i], b[i, :, 0]), x[:, 0], atol=1e-12)
    assert linalg.cond(a).shape == (3,)
    np.testing.assert_allclose(linalg.cond(a[0]), np.linalg.cond(a[0]), rtol=1e-12)
    assert linalg.cond(np.zeros((2, 2))) == np.inf
    W, H = linalg.polar(a)
    np.testing.assert_allclose(W @ H, a, atol=1e-13)
    np.testing.assert_allclose(np.swapaxes(W, 1, 2) @ W, np.broadcast_to(np.eye(4), (3, 4, 4)), atol=1e-13)
    U, S, Vh = np.linalg.svd(a, False)
    np.testing.assert_allclose(linalg.low_rank(a, 2), (U[..., :2] * S[:, None, :2]) @ Vh[:, :2], atol=1e-13)


def test_rtol_of_zero_is_zero() -> None:
    a = np.diag([1.0, 1e-17, 0.0])
    assert linalg.matrix_rank(a) == 1
    assert linalg.matrix_rank(a, rtol=0) == 2
    np.testing.assert_allclose(np.diag(linalg.pinv(a, rtol=0)), [1, 1e17, 0])
    np.testing.assert_allclose(linalg.lstsq(a, np.ones(3), rtol=0), [1, 1e17, 0])
    np.testing.assert_array_equal(np.diag(linalg.pinv(a)), [1, 0, 0])
    np.testing.assert_array_equal(linalg.lstsq(a, np.ones(3)), [1, 0, 0])


def test_gradient_is_that_of_differences(rng: Any) -> None:
    a = rng.standard_normal((5, 3))
    gU, gS, gV = rng.standard_normal((5, 3)), rng.standard_normal(3), rng.standard_normal((3, 3))

    def loss(x: np.ndarray) -> float:
        U, S, Vh = linalg.svd(x, False, canonical_signs=True)
        return float((gU * U).sum() + gS @ S + (gV * Vh.T).sum())

    got = linalg.svd_gradient(linalg.svd(a, False, canonical_signs=True), gU, gS, gV)
    h = 1e-6
    for i, j in np.ndindex(a.shape):
        e = np.zeros_like(a)
        e[i, j] = h
        assert abs((loss(a + e) - loss(a - e)) / (2 * h) - got[i, j]) < 1e-7
    pair = np.stack((a, 2 * a))
    both = linalg.svd_gradient(linalg.svd(pair, False, canonical_signs=True), *(np.stack((g, g)) for g in (gU, gS, gV)))
    np.testing.assert_array_equal(both[0], got)
    with pytest.raises(quintet.InvalidArgument, match="policy"):
        linalg.svd_gradient(linalg.svd(a, False), gS=gS, policy="guess")
    with pytest.raises(quintet.InvalidArgument, match="gS must be of shape"):
        linalg.svd_gradient(linalg.svd(a, False), gS=gS[:2])


def test_randomized(rng: Any) -> None:
    a = rng.standard_normal((2, 60, 5)) @ rng.standard_normal((2, 5, 40))
    r = linalg.randomized_svd(a, 5, seed=3)
    np.testing.assert_allclose((r.U * r.S[:, None]) @ r.Vh, a, atol=1e-10)
    assert r.residual.shape == (2,) and (r.residual < 1e-5).all()
    again = linalg.randomized_svd(a, 5, seed=3)
    np.testing.assert_array_equal(r.U, again.U)
    with pytest.raises(np.linalg.LinAlgError):
        linalg.randomized_svd(np.full((4, 4), np.nan), 2)


def test_proper_rotations(rng: Any) -> None:
    a = rng.standard_normal((50, 3, 3))
    U, S, Vh = linalg.svd(a, proper_rotations=True)
    np.testing.assert_allclose(np.linalg.det(U), 1, atol=1e-14)
    np.testing.assert_allclose(np.linalg.det(Vh), 1, atol=1e-14)
    assert (np.sign(S[:, 2]) == np.sign(np.linalg.det(a))).all()
    np.testing.assert_allclose((U * S[:, None]) @ Vh, a, atol=1e-14)
    W, H = linalg.polar(a, proper_rotations=True)
    np.testing.assert_allclose(np.linalg.det(W), 1, atol=1e-14)
    np.testing.assert_allclose(W @ H, a, atol=1e-14)
    with pytest.raises(quintet.InvalidArgument, match="proper"):
        linalg.svd(np.eye(5), proper_rotations=True)


def numeric_gradient(loss: Any, a: np.ndarray) -> np.ndarray:
    """Central differences."""
    out, h = np.empty_like(a), 1e-6
    for i in np.ndindex(a.shape):
        above, below = a.copy(), a.copy()
        above[i] += h
        below[i] -= h
        out[i] = (loss(above) - loss(below)) / (2 * h)
    return out


@pytest.mark.parametrize("shape", [(2, 3, 3), (4, 2), (2, 5)])
def test_polar_gradient(rng: Any, shape: tuple[int, ...]) -> None:
    a = rng.standard_normal(shape)
    W, H = linalg.polar(a)
    gW, gH = rng.standard_normal(W.shape), rng.standard_normal(H.shape)

    def loss(b: np.ndarray) -> float:
        w, h = linalg.polar(b)
        return float((w * gW).sum() + (h * gH).sum())

    got = linalg.polar_gradient(linalg.svd(a, False), gW, gH)
    np.testing.assert_allclose(got, numeric_gradient(loss, a), atol=2e-7)
    with pytest.raises(quintet.InvalidArgument, match="gW must be of shape"):
        linalg.polar_gradient(linalg.svd(a, False), gW[..., :1])
    with pytest.raises(TypeError, match="gH must be of type float64"):
        linalg.polar_gradient(linalg.svd(a, False), None, gH.astype(np.float32))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kabsch_agrees_with_scipy(rng: Any, dtype: Any) -> None:
    Rotation = pytest.importorskip("scipy.spatial.transform").Rotation
    p, q = rng.standard_normal((2, 4, 30, 3)).astype(dtype)
    w = rng.uniform(0.1, 1, (4, 30)).astype(dtype)
    R, t, rmsd = linalg.kabsch(p, q, w)
    assert R.dtype == t.dtype == rmsd.dtype == dtype
    for b in range(4):
        share = w[b].astype(np.float64) / w[b].sum(dtype=np.float64)
        mean_p, mean_q = share @ p[b], share @ q[b]
        expected, rest = Rotation.align_vectors(q[b] - mean_q, p[b] - mean_p, share)
        np.testing.assert_allclose(R[b], expected.as_matrix(), atol=200 * EPS[dtype])
        np.testing.assert_allclose(t[b], mean_q - expected.as_matrix() @ mean_p, atol=200 * EPS[dtype])
        moved = p[b].astype(np.float64) @ expected.as_matrix().T + (mean_q - expected.as_matrix() @ mean_p)
        np.testing.assert_allclose(rmsd[b], np.sqrt(share @ ((moved - q[b]) ** 2).sum(1)), rtol=200 * EPS[dtype])
    mirror = p[0] * np.array([1, 1, -1], dtype)
    assert np.linalg.det(linalg.kabsch(p[0], mirror, reflections=True).rotation) < 0
    assert linalg.kabsch(p[0], mirror, reflections=True).rmsd < 100 * EPS[dtype] < linalg.kabsch(p[0], mirror).rmsd
    with pytest.raises(quintet.InvalidArgument, match="one shape"):
        linalg.kabsch(p, q[:, :3])
    with pytest.raises(quintet.InvalidArgument, match="weights must be of shape"):
        linalg.kabsch(p, q, w[:, :3])
    with pytest.raises(quintet.InvalidArgument, match="weight"):
        linalg.kabsch(p, q, -w)
    with pytest.raises(TypeError):
        linalg.kabsch(p, q.astype(np.float16))


def test_kabsch_gradient(rng: Any) -> None:
    p, q = rng.standard_normal((2, 6, 3))
    w = rng.uniform(0.1, 1, 6)
    gR, gt, gs = rng.standard_normal((3, 3)), rng.standard_normal(3), rng.standard_normal()

    def loss(points: np.ndarray, target: np.ndarray) -> float:
        R, t, rmsd = linalg.kabsch(points, target, w)
        return float((R * gR).sum() + (t * gt).sum() + rmsd * gs)

    after_p, after_q = linalg.kabsch_gradient(p, q, w, g_rotation=gR, g_translation=gt, g_rmsd=np.array(gs))
    np.testing.assert_allclose(after_p, numeric_gradient(lambda x: loss(x, q), p), atol=2e-7)
    np.testing.assert_allclose(after_q, numeric_gradient(lambda x: loss(p, x), q), atol=2e-7)
    with pytest.raises(quintet.InvalidArgument, match="g_rotation must be of shape"):
        linalg.kabsch_gradient(p, q, g_rotation=gR[:2])


def test_python_threads_at_the_same_time(rng: Any) -> None:
    a = rng.standard_normal((8, 40, 10, 10))
    expected = [linalg.svd(x, False) for x in a]
    wrong: list[int] = []

    def work(i: int) -> None:
        for _ in range(20):
            if any((g != w).any() for g, w in zip(linalg.svd(a[i], False), expected[i])):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_mutated_during_a_call(rng: Any) -> None:
    """What comes out is of neither content, but nothing crashes, and the memory cannot go away."""
    a = rng.standard_normal((2000, 12, 12))
    stop = threading.Event()

    def scribble() -> None:
        while not stop.is_set():
            a[:] = -a

    writer = threading.Thread(target=scribble)
    writer.start()
    try:
        for _ in range(5):
            assert linalg.svd(a, False, on_failure="nan").S.shape == (2000, 12)
    finally:
        stop.set()
        writer.join()
    S = linalg.svdvals(a)
    np.testing.assert_allclose(S, np.linalg.svd(a, compute_uv=False), atol=1e-12)


def test_kabsch_names_the_set_that_is_not_finite() -> None:
    p = np.random.default_rng(0).normal(size=(2, 3, 8, 3))
    p[1, 2, 4, 0] = np.nan
    with pytest.raises(np.linalg.LinAlgError, match=r"points, target or weights hold NaN or infinity \(set \[1, 2\]\)"):
        linalg.kabsch(p, np.nan_to_num(p))
    with pytest.raises(np.linalg.LinAlgError, match=r"set \[1, 2\]"):
        linalg.kabsch_gradient(p, np.nan_to_num(p), g_rmsd=np.ones((2, 3)))
