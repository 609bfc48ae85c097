from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import quintet
from conftest import layouts
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
        linalg.svd(rng.standard_normal((30, 30)), max_sweeps=1, preconditioning="none")


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


@pytest.mark.parametrize("shape", [(4, 8, 5), (1000, 6), (2, 5, 40), (3, 2, 6, 6)])
def test_centre(rng: Any, shape: tuple[int, ...]) -> None:
    a = rng.standard_normal(shape) + 3 * rng.standard_normal(shape[-1])
    U, S, Vh = result = linalg.svd(a, False, centre=True)
    np.testing.assert_allclose(result.means, a.mean(-2), rtol=1e-14, atol=1e-14)
    rest = a - a.mean(-2, keepdims=True)
    np.testing.assert_allclose((U * S[..., None, :]) @ Vh, rest, atol=1e-13 * np.linalg.norm(rest))
    np.testing.assert_allclose(S, np.linalg.svd(rest, compute_uv=False), atol=1e-13 * np.linalg.norm(rest))
    alone = linalg.svd(a, compute_uv=False, centre=True)
    np.testing.assert_allclose(alone, S, atol=1e-13 * np.linalg.norm(rest))
    assert linalg.svd(a, False).means is None
    in_blocks = linalg.svd(a, False, centre=True, progress=lambda stage, fraction: True)
    np.testing.assert_array_equal(in_blocks.means, result.means)
    with pytest.raises(ValueError, match="hermitian=True is not for .* centre"):
        linalg.svd(np.eye(3), hermitian=True, centre=True)


def test_gradient_after_centring(rng: Any) -> None:
    """By a: that by what was decomposed, minus the means of its columns."""
    a, gS = rng.standard_normal((9, 4)) + 2, rng.standard_normal(4)
    by_rest = linalg.svd_gradient(linalg.svd(a, False, centre=True), None, gS, None)
    gradient = by_rest - by_rest.mean(0)
    step = 1e-6
    for i, j in ((0, 0), (5, 2), (8, 3)):
        moved = np.zeros_like(a)
        moved[i, j] = step
        s = [linalg.svd(a + sign * moved, compute_uv=False, centre=True) @ gS for sign in (1, -1)]
        assert abs((s[0] - s[1]) / (2 * step) - gradient[i, j]) < 1e-8


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


def test_names_that_others_use(rng: Any) -> None:
    """rcond, tol, hermitian and p, by place too."""
    a = rng.standard_normal((7, 5)) * 10.0 ** -np.arange(0, 15, 3)
    b = rng.standard_normal((7, 2))
    np.testing.assert_array_equal(linalg.pinv(a, 1e-7), linalg.pinv(a, rtol=1e-7))
    np.testing.assert_allclose(linalg.pinv(a, rcond=1e-7), np.linalg.pinv(a, rcond=1e-7), rtol=1e-6, atol=1e-6)
    assert linalg.matrix_rank(a, 1e-7) == np.linalg.matrix_rank(a, 1e-7) == linalg.matrix_rank(a, atol=1e-7) == 3
    square = a.T @ a
    assert linalg.matrix_rank(square, 1e-7, True) == np.linalg.matrix_rank(square, 1e-7, True)
    x, _, rank, _ = np.linalg.lstsq(a, b, 1e-7)
    np.testing.assert_allclose(linalg.lstsq(a, b, 1e-7), x, rtol=1e-6, atol=1e-6)
    assert linalg.lstsq(a, b, rcond=1e-7, return_info=True).rank == rank
    assert linalg.orth(a, 1e-7).shape == (7, 3) and linalg.null_space(a, rcond=1e-7).shape == (5, 2)
    assert linalg.cond(a, 2) == linalg.cond(a)
    for call, text in (
        (lambda: linalg.pinv(a, 1e-7, rtol=1e-7), "rtol and rcond are one tolerance"),
        (lambda: linalg.matrix_rank(a, 1e-7, atol=1e-7), "atol and tol are one tolerance"),
        (lambda: linalg.lstsq(a, b, 1e-7, rtol=1e-7), "rtol and rcond"),
        (lambda: linalg.orth(a, 1e-7, rtol=1e-7), "rtol and rcond"),
        (lambda: linalg.cond(a, "fro"), r"p must be None or 2, the spectral norm \(p='fro'\)"),
    ):
        with pytest.raises(quintet.InvalidArgument, match=text):
            call()


def test_rtol_of_zero_is_zero() -> None:
    a = np.diag([1.0, 1e-17, 0.0])
    assert linalg.matrix_rank(a) == 1
    assert linalg.matrix_rank(a, rtol=0) == 2
    np.testing.assert_allclose(np.diag(linalg.pinv(a, rtol=0)), [1, 1e17, 0])
    np.testing.assert_allclose(linalg.lstsq(a, np.ones(3), rtol=0), [1, 1e17, 0])
    np.testing.assert_array_equal(np.diag(linalg.pinv(a)), [1, 0, 0])
    np.testing.assert_array_equal(linalg.lstsq(a, np.ones(3)), [1, 0, 0])


def low_rank_batch(rng: Any, dtype: Any = np.float64) -> np.ndarray:
    """Ranks 2, 4 and 0."""
    a = rng.standard_normal((3, 6, 4)).astype(dtype)
    a[0] = (rng.standard_normal((6, 2)) @ rng.standard_normal((2, 4))).astype(dtype)
    a[2] = 0
    return a


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tolerances_of_every_kind(rng: Any, dtype: Any) -> None:
    a = low_rank_batch(rng, dtype)
    s = np.linalg.svd(a.astype(float), compute_uv=False)
    np.testing.assert_array_equal(linalg.matrix_rank(a), [2, 4, 0])
    between = (s[1, 1] + s[1, 2]) / 2
    np.testing.assert_array_equal(linalg.matrix_rank(a, atol=between), (s > between).sum(1))
    np.testing.assert_array_equal(linalg.matrix_rank(a, atol=1e300), [0, 0, 0])
    # The larger of both; arrays are a number for each matrix.
    both = {"rtol": np.array([0.1, 0.5, 0.1]), "atol": [1.0, 0.2, 0.0]}
    limit = np.maximum(both["rtol"][:, None] * s[:, :1], np.array(both["atol"])[:, None])
    np.testing.assert_array_equal(linalg.matrix_rank(a, **both), (s > limit).sum(1))
    b = rng.standard_normal((3, 6, 2)).astype(dtype)
    exact = np.zeros((3, 4, 6))
    for i, (u, values, vh) in enumerate(np.linalg.svd(m.astype(float), False) for m in a):
        k = int((values > limit[i]).sum())
        exact[i] = (vh[:k].T / values[:k]) @ u[:, :k].T
    np.testing.assert_allclose(linalg.pinv(a, **both), exact, atol=100 * EPS[dtype])
    np.testing.assert_allclose(linalg.lstsq(a, b, **both), exact @ b, atol=100 * EPS[dtype])
    np.testing.assert_allclose(linalg.pinv(a[1], rtol=np.float32(0.5)), exact[1], atol=100 * EPS[dtype])
    lead = a[:, None].repeat(2, 1)
    assert linalg.matrix_rank(lead, rtol=np.full((3, 1), 0.5)).shape == (3, 2)
    for call, text in (
        (lambda: linalg.matrix_rank(a, rtol=[0.1, 0.2]), r"broadcast to the batch \(3,\)"),
        (lambda: linalg.pinv(a, atol=[1, -1, 2]), "least atol=-1"),
        (lambda: linalg.lstsq(a, b, atol=np.nan), "atol must be >= 0"),
    ):
        with pytest.raises(quintet.InvalidArgument, match=text):
            call()
    with pytest.raises(TypeError, match="rtol must be a number"):
        linalg.pinv(a, rtol="small")


def test_symmetric_matrices_by_their_eigenvalues(rng: Any) -> None:
    a = rng.standard_normal((4, 7, 7))
    a = a + a.swapaxes(1, 2)
    a[1] = a[1][:, :3] @ a[1][:, :3].T  # rank 3
    lower = np.tril(a) + np.triu(np.full_like(a, np.nan), 1)  # the upper triangle is not read
    np.testing.assert_array_equal(linalg.matrix_rank(lower, hermitian=True), [7, 3, 7, 7])
    np.testing.assert_allclose(linalg.pinv(lower, hermitian=True), np.linalg.pinv(a, rcond=7 * 2**-52), atol=1e-11)
    U, S, Vh = result = linalg.svd(lower, hermitian=True)
    np.testing.assert_allclose(S, np.linalg.svd(a, compute_uv=False), atol=1e-13)
    np.testing.assert_allclose((U * S[:, None]) @ Vh, a, atol=1e-13)
    assert (result.status == 0).all() and (result.sweeps == 0).all()
    np.testing.assert_allclose(linalg.svd(lower, compute_uv=False, hermitian=True), S, atol=1e-13)
    U, S2, Vh = linalg.svd(lower, top=2, hermitian=True)
    assert U.shape == (4, 7, 2) and Vh.shape == (4, 2, 7)
    np.testing.assert_array_equal(S2, S[:, :2])
    with pytest.raises(np.linalg.LinAlgError, match="square"):
        linalg.pinv(a[:, :3], hermitian=True)
    with pytest.raises(quintet.InvalidArgument, match="hermitian"):
        linalg.svd(a, hermitian=True, accurate=True)
    a[2, 3, 1] = np.nan
    with pytest.raises(np.linalg.LinAlgError, match=r"matrix \[2\] holds NaN"):
        linalg.matrix_rank(a, hermitian=True)


def test_truncation_by_a_tolerance(rng: Any) -> None:
    a = low_rank_batch(rng)
    whole = linalg.svd(a, False)
    U, S, Vh = linalg.svd(a[:1], rtol=1e-10)
    assert U.shape == (1, 6, 2) and S.shape == (1, 2) and Vh.shape == (1, 2, 4)
    np.testing.assert_allclose((U * S[:, None]) @ Vh, a[:1], atol=1e-13)
    limit = whole.S[1, 2]
    U, S, Vh = linalg.svd(a, atol=limit)
    assert U.shape == (3, 6, 2)
    np.testing.assert_array_equal(S, np.where(whole.S > limit, whole.S, 0)[:, :2])
    np.testing.assert_array_equal(U, whole.U[..., :2])
    np.testing.assert_allclose((U * S[:, None]) @ Vh, linalg.low_rank(a, atol=limit), atol=1e-13)
    assert linalg.svd(a, compute_uv=False, atol=[0, 0, 0]).shape == (3, 4)
    assert linalg.svd(a[2], rtol=0)[1].shape == (0,)
    a[0, 0, 0] = np.nan
    result = linalg.svd(a, rtol=0.0, on_failure="nan")
    assert np.isnan(result.S[0]).all() and result.S.shape == (3, 4) and result.status[0] == 2


def test_definite_and_generalised_eigenproblems(rng: Any) -> None:
    scipy_linalg = pytest.importorskip("scipy.linalg")
    g = rng.standard_normal((3, 6, 12))
    b = g @ g.swapaxes(1, 2)
    a = rng.standard_normal((3, 6, 6))
    w, V = linalg.eigh(a, "U", b=b)
    symmetric = np.triu(a) + np.triu(a, 1).swapaxes(1, 2)
    for i in range(3):
        np.testing.assert_allclose(w[i], scipy_linalg.eigh(symmetric[i], b[i], eigvals_only=True), atol=1e-12)
        np.testing.assert_allclose(V[i].T @ b[i] @ V[i], np.eye(6), atol=1e-12)
        np.testing.assert_allclose(symmetric[i] @ V[i], b[i] @ V[i] * w[i], atol=1e-12)
    np.testing.assert_allclose(linalg.eigvalsh(a, "U", b=b), w, atol=1e-13)
    scale = 10.0 ** -np.arange(0, 18, 3)
    graded = b * scale[:, None] * scale
    small, V = linalg.eigh(graded, positive=True)
    # Of the inverse the small ones are the large ones.
    inverse = np.linalg.inv(b) / scale[:, None] / scale
    np.testing.assert_allclose(1 / small[:, 0], np.linalg.eigvalsh(inverse)[:, -1], rtol=1e-12)
    np.testing.assert_allclose((V * small[:, None]) @ V.swapaxes(1, 2), graded, atol=1e-12)
    with pytest.raises(np.linalg.LinAlgError, match=r"matrix \[0\] is not positive definite"):
        linalg.eigvalsh(symmetric, positive=True)
    assert np.isnan(linalg.eigvalsh(b, b=-b, on_failure="nan")).all()
    with pytest.raises(quintet.InvalidArgument, match="b must be of the shape of a"):
        linalg.eigh(a, b=b[0])


def test_subsets_of_eigenvalues_are_scipys(rng: Any) -> None:
    scipy_linalg = pytest.importorskip("scipy.linalg")
    a = rng.standard_normal((3, 6, 6))
    a = a + a.swapaxes(1, 2)
    whole = linalg.eigh(a)
    w, V = linalg.eigh(a, subset_by_index=[1, 3])
    np.testing.assert_array_equal(w, whole.eigenvalues[:, 1:4])
    np.testing.assert_array_equal(V, whole.eigenvectors[..., 1:4])
    np.testing.assert_allclose(w[0], scipy_linalg.eigh(a[0], subset_by_index=[1, 3])[0], atol=1e-13)
    for limits in ((-1.0, 2.0), (-np.inf, 0.0), (0, np.inf), (50, 60)):
        w = linalg.eigvalsh(a[0], subset_by_value=limits)
        np.testing.assert_allclose(w, scipy_linalg.eigh(a[0], subset_by_value=limits, eigvals_only=True), atol=1e-13)
        assert linalg.eigh(a[0], subset_by_value=limits).eigenvectors.shape == (6, len(w))
    for call, text in (
        (lambda: linalg.eigh(a, subset_by_index=(2, 6)), "0 <= first <= last < 6"),
        (lambda: linalg.eigh(a, subset_by_value=(0, 1)), "for one matrix"),
        (lambda: linalg.eigvalsh(a[0], subset_by_value=(1, 0)), "must rise"),
        (lambda: linalg.eigvalsh(a[0], subset_by_value=(0, 1), subset_by_index=(0, 1)), "not for one call"),
    ):
        with pytest.raises(quintet.InvalidArgument, match=text):
            call()
    with pytest.raises(TypeError, match="two numbers"):
        linalg.eigh(a, subset_by_index=2)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_certificates(rng: Any, dtype: Any) -> None:
    a = rng.standard_normal((2, 3, 7, 5)).astype(dtype)
    result = linalg.svd(a, False)
    bound = linalg.certify(a, result)
    assert bound.shape == (2, 3) and bound.dtype == np.float64
    exact = np.linalg.svd(a.astype(float), compute_uv=False)
    assert (np.abs(result.S - exact).max(-1) <= bound + 1e-14).all()
    assert (bound < 200 * float(np.finfo(dtype).eps) * exact[..., 0] + 1e-12).all()
    # Of another library, and of one with a fault.
    u, s, vh = np.linalg.svd(a.astype(float), False)
    assert (linalg.certify(a.astype(float), (u, s, vh)) < 1e-12).all()
    vh[1, 2, 0, 0] += 0.25
    faulty = linalg.certify(a.astype(float), (u, s, vh))
    assert faulty[1, 2] > 0.1 and (faulty < 1e-12).sum() == 5
    b = a[..., :5, :]
    w, V = linalg.eigh(b, "U")
    of_w = linalg.certify(b, (w, V), UPLO="U")
    symmetric = np.triu(b.astype(float)) + np.triu(b.astype(float), 1).swapaxes(-1, -2)
    assert (np.abs(w - np.linalg.eigvalsh(symmetric)).max(-1) <= of_w + 1e-14).all()
    assert (linalg.certify(b, linalg.eigh(b, "U")) > 0.1).all()  # the other triangle
    assert isinstance(linalg.certify(a[0, 0], linalg.svd(a[0, 0])), float)
    assert linalg.certify(a[0], linalg.svd(a[0], on_failure="nan")).shape == (3,)
    with pytest.raises(quintet.InvalidArgument, match="values must be min"):
        linalg.certify(a, linalg.svd(a, top=2))


@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (5, 5)])
def test_bases_of_range_and_null_space(rng: Any, shape: tuple[int, int]) -> None:
    linalg_of_scipy = pytest.importorskip("scipy.linalg")
    m, n = shape
    a = rng.standard_normal((3, m, n))
    a[0] = rng.standard_normal((m, 2)) @ rng.standard_normal((2, n))
    Q, N = linalg.orth(a), linalg.null_space(a)
    assert Q.shape == (3, m, min(m, n)) and N.shape == (3, n, n - 2)
    for i in range(3):
        for got, expected in ((Q[i], linalg_of_scipy.orth(a[i])), (N[i], linalg_of_scipy.null_space(a[i]))):
            np.testing.assert_allclose(got @ got.T, expected @ expected.T, atol=1e-12)
            alone = got[:, : expected.shape[1]]
            np.testing.assert_allclose(alone.T @ alone, np.eye(expected.shape[1]), atol=1e-13)
            assert not got[:, expected.shape[1] :].any()
    assert linalg.null_space(a[0]).shape == (n, n - 2) and linalg.orth(a[0]).shape == (m, 2)
    assert linalg.orth(a, atol=1e10).shape == (3, m, 0) and linalg.null_space(a, atol=1e10).shape == (3, n, n)
    assert linalg.null_space(np.zeros((0, 2, 3))).shape == (0, 3, 0)


def test_least_squares_with_what_is_left(rng: Any) -> None:
    a = low_rank_batch(rng)
    b = rng.standard_normal((3, 6, 2))
    x, residuals, rank, s = linalg.lstsq(a, b, return_info=True)
    np.testing.assert_array_equal(x, linalg.lstsq(a, b))
    np.testing.assert_allclose(residuals, np.linalg.norm(a @ x - b, axis=1), rtol=1e-13)
    np.testing.assert_array_equal(rank, [2, 4, 0])
    np.testing.assert_allclose(s, np.linalg.svd(a, compute_uv=False), atol=1e-13)
    one = linalg.lstsq(a[1], b[1, :, 0], return_info=True)
    assert one.rank == 4 and one.residuals.shape == () and one.singular_values.shape == (4,)
    np.testing.assert_allclose(one.residuals, residuals[1, 0])


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
        expected, _rest = Rotation.align_vectors(q[b] - mean_q, p[b] - mean_p, share)
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


def umeyama(p: np.ndarray, q: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Umeyama (1991), equations 40 to 42."""
    share = w / w.sum()
    pc, qc = p - share @ p, q - share @ q
    U, S, Vh = np.linalg.svd((share[:, None] * qc).T @ pc)
    D = np.ones(len(S))
    D[-1] = np.sign(np.linalg.det(U) * np.linalg.det(Vh))
    R = (U * D) @ Vh
    c = (S * D).sum() / (share @ (pc**2).sum(1))
    t = share @ q - c * R @ (share @ p)
    return R, t, float(np.sqrt(share @ ((c * p @ R.T + t - q) ** 2).sum(1))), float(c)


@pytest.mark.parametrize("dimension", [2, 3, 4])
def test_kabsch_with_a_scale(rng: Any, dimension: int) -> None:
    p, q = rng.standard_normal((2, 5, 20, dimension))
    w = rng.uniform(0.1, 1, (5, 20))
    found = linalg.kabsch(p, q, w, scale=True)
    for b in range(5):
        for part, expected in zip(found, umeyama(p[b], q[b], w[b])):
            np.testing.assert_allclose(part[b], expected, atol=1e-12)
    _, _, rmsd, c = linalg.kabsch(p[0], 2.5 * p[0] + 1, scale=True)
    np.testing.assert_allclose(c, 2.5, rtol=1e-14)
    assert rmsd < 1e-14 and isinstance(c, np.float64)


def test_kabsch_masks_and_broadcasts(rng: Any) -> None:
    p, q = rng.standard_normal((4, 1, 10, 3)), rng.standard_normal((5, 10, 3))
    mask = np.ones((4, 5, 10), bool)
    mask[..., 7:] = False
    q[:, 7:] = np.nan  # padding
    found = linalg.kabsch(p, q, mask, scale=True)
    assert found.rotation.shape == (4, 5, 3, 3) and found.scale.shape == (4, 5)
    expected = linalg.kabsch(p[2, 0, :7], q[3, :7], scale=True)
    for part, alone in zip(found, expected):
        np.testing.assert_allclose(part[2, 3], alone, atol=1e-14)
    gR, gc = rng.standard_normal((4, 5, 3, 3)), rng.standard_normal((4, 5))
    after_p, after_q = linalg.kabsch_gradient(p, q, mask, g_rotation=gR, g_scale=gc, scale=True)
    assert after_p.shape == p.shape and after_q.shape == q.shape and not after_q[:, 7:].any()

    def loss(points: np.ndarray, target: np.ndarray) -> float:
        R, _, _, c = linalg.kabsch(points, target, mask, scale=True)
        return float((R * gR).sum() + (c * gc).sum())

    np.testing.assert_allclose(after_p, numeric_gradient(lambda x: loss(x, q), p), atol=5e-7)
    numbers = numeric_gradient(lambda x: loss(p, np.concatenate((x, q[:, 7:]), 1)), q[:, :7].copy())
    np.testing.assert_allclose(after_q[:, :7], numbers, atol=5e-7)
    with pytest.raises(quintet.InvalidArgument, match="must broadcast"):
        linalg.kabsch(p[:3, 0], q)
    with pytest.raises(quintet.InvalidArgument, match="weights must be of shape"):
        linalg.kabsch(p, q, mask[..., :3])
    with pytest.raises(quintet.InvalidArgument, match="positive sum"):
        linalg.kabsch(p[0], p[0], np.zeros(10, bool))
    with pytest.raises(quintet.InvalidArgument, match="g_scale needs scale=True"):
        linalg.kabsch_gradient(p, q, mask, g_scale=gc)


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


def eigen_errors(a: np.ndarray, w: np.ndarray, V: np.ndarray) -> tuple[float, float]:
    """|a V - V diag(w)|_F / |a|_F and max |V^T V - I|, in float64."""
    a, w, V = (x.astype(np.float64) for x in (a, w, V))
    residual = np.linalg.norm(a @ V - V * w[..., None, :], axis=(-2, -1)) / np.linalg.norm(a, axis=(-2, -1))
    return float(residual.max()), float(np.abs(np.swapaxes(V, -1, -2) @ V - np.eye(V.shape[-1])).max())


def symmetric(rng: Any, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    a = rng.standard_normal(shape).astype(dtype)
    return (a + np.swapaxes(a, -1, -2)) / dtype(2)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (7, 3, 3), (2, 3, 6, 6), (40, 9, 9), (33, 33), (20, 32, 32)])
def test_eigh_agrees_with_lapack(rng: Any, dtype: Any, shape: tuple[int, ...]) -> None:
    a = symmetric(rng, shape, dtype)
    result = linalg.eigh(a)
    w, V = result
    assert result.eigenvalues is w and result.eigenvectors is V
    n = shape[-1]
    real = np.float64 if dtype == np.float64 else np.float32
    assert w.shape == shape[:-1] and V.shape == shape and V.dtype == dtype and w.dtype == real
    expected = np.linalg.eigvalsh(a.astype(np.float64))
    np.testing.assert_allclose(w, expected, rtol=0, atol=2 * n * EPS[real] * np.abs(expected).max())
    residual, orthogonality = eigen_errors(a, w, V)
    assert residual < 4 * n * EPS[dtype] and orthogonality < 16 * EPS[dtype]
    largest = np.take_along_axis(V, np.abs(V).argmax(-2)[..., None, :], -2)
    assert (largest > 0).all()
    np.testing.assert_array_equal(linalg.eigvalsh(a), w)


def test_eigh_reads_one_triangle(rng: Any) -> None:
    a = symmetric(rng, (5, 4, 4), np.float64)
    expected = linalg.eigh(a)
    for uplo, part in (("L", np.tril(a)), ("u", np.triu(a)), ("U", np.where(np.tri(4, k=-1), np.nan, a))):
        for got, want in zip(linalg.eigh(part, uplo), expected):
            np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(linalg.eigvalsh(part, UPLO=uplo), expected.eigenvalues)


def test_eigh_takes_any_layout(rng: Any) -> None:
    a = symmetric(rng, (6, 5, 5), np.float64)
    expected = linalg.eigh(a)
    for got in (linalg.eigh(np.asfortranarray(a)), linalg.eigh(a[::-1][::-1]), linalg.eigh(a.swapaxes(1, 2))):
        np.testing.assert_array_equal(got.eigenvectors, expected.eigenvectors)
    repeated = linalg.eigh(np.broadcast_to(a[0], (6, 5, 5)))
    assert (repeated.eigenvectors == expected.eigenvectors[0]).all()
    for shape in ((0, 3, 3), (2, 0, 0), (0, 0)):
        w, V = linalg.eigh(np.empty(shape))
        assert w.shape == shape[:-1] and V.shape == shape


def test_eigh_failures(rng: Any) -> None:
    a = symmetric(rng, (2, 3, 4, 4), np.float64)
    a[1, 2, 3, 0] = np.nan
    with pytest.raises(np.linalg.LinAlgError, match=r"matrix \[1, 2\] holds NaN or infinity \(1 of 6"):
        linalg.eigh(a)
    w = linalg.eigvalsh(a, on_failure="nan")
    assert np.isnan(w[1, 2]).all() and np.isfinite(w).sum() == 20
    assert np.isfinite(linalg.eigvalsh(a, "U")).all()
    with pytest.raises(np.linalg.LinAlgError, match=r"a must have square matrices \(shape=\(3, 4\)\)"):
        linalg.eigh(np.ones((3, 4)))
    with pytest.raises(quintet.InvalidArgument, match="UPLO must be 'L' or 'U'"):
        linalg.eigh(a, "X")


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_eigh_has_the_same_bits_for_any_number_of_threads(rng: Any, threads: int) -> None:
    a = symmetric(rng, (50, 12, 12), np.float64)
    with quintet.num_threads(1):
        expected = linalg.eigh(a)
    with quintet.num_threads(threads):
        for got, want in zip(linalg.eigh(a), expected):
            np.testing.assert_array_equal(got, want)
