from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from quintet import metalsvd


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 6, 4)])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_svd(rng: Any, shape: tuple[int, ...], dtype: Any) -> None:
    A = rng.standard_normal(shape).astype(dtype)
    U, S, V = metalsvd.svd(A)
    wide = np.matmul(U.astype(float) * S[..., None, :], np.swapaxes(V, -1, -2).astype(float))
    assert np.abs(wide - A).max() < (1e-2 if dtype == np.float16 else 1e-5 if dtype == np.float32 else 1e-13)
    assert (np.take_along_axis(U, np.abs(U).argmax(-2)[..., None, :], -2) > 0).all()


def test_others(rng: Any) -> None:
    A = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 30))
    s = np.linalg.svd(A, compute_uv=False)[:3]
    for U, S, V in (metalsvd.randomized_svd(A, 3), metalsvd.randomized_svd(A, 3, q=8), metalsvd.lanczos_svd(A, 3)):
        np.testing.assert_allclose(S, s, rtol=1e-10)
        np.testing.assert_allclose(U * S @ V.T, A, atol=1e-10)
    with pytest.raises(ValueError, match="q must be >= k=3"):
        metalsvd.randomized_svd(A, 3, q=2)


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
def test_tensors_have_gradients() -> None:
    torch = pytest.importorskip("torch")
    A = torch.randn(4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).requires_grad_()
    assert torch.autograd.gradcheck(metalsvd.svd, A)
    half = torch.eye(2, dtype=torch.float16)
    metalsvd.patch_torch()
    metalsvd.patch_torch()
    try:
        torch.linalg.svdvals(half)
    finally:
        from quintet.torch import unpatch

        unpatch()
        metalsvd._patched = False


def test_estimator() -> None:
    pytest.importorskip("sklearn")
    from sklearn.decomposition import TruncatedSVD
    from sklearn.utils.estimator_checks import check_estimator

    from quintet.metalsvd.sklearn import MetalTruncatedSVD

    X = np.random.default_rng(0).standard_normal((60, 8)) * 2.0 ** -np.arange(8)
    ours = MetalTruncatedSVD(3, random_state=0).fit(X)
    theirs = TruncatedSVD(3, algorithm="arpack").fit(X)
    np.testing.assert_allclose(ours.singular_values_, theirs.singular_values_, rtol=1e-8)
    np.testing.assert_allclose(np.abs(ours.components_), np.abs(theirs.components_), atol=1e-6)
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-6)
    np.testing.assert_allclose(ours.transform(X), ours.fit_transform(X), atol=1e-10)
    check_estimator(MetalTruncatedSVD())
