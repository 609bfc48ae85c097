"""The names of the extension metal-svd (``metalsvd``), on this library: ``import quintet.metalsvd as metalsvd``.

``svd(A) -> U, S, V`` with V, not its transpose; economy form; the element of largest size of each column of U is
positive. What differs: gradients are those of the SVD (the extension's were not), exceptions reach the caller, nothing is
printed. NumPy arrays work as tensors do; gradients need tensors.

>>> import numpy as np, quintet.metalsvd as metalsvd
>>> A = np.array([[3.0, 0.0], [4.0, 5.0]])
>>> U, S, V = metalsvd.svd(A)
>>> np.allclose(U * S @ V.T, A), bool((U[np.abs(U).argmax(0), [0, 1]] > 0).all())
(True, True)
"""

from __future__ import annotations

import sys
from typing import Any, SupportsIndex

from .. import linalg
from .._arguments import as_integer
from .._errors import InvalidArgument

__all__ = ["lanczos_svd", "patch_torch", "randomized_svd", "svd"]


def _is_tensor(A: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(A, torch.Tensor)


def _canonical_tensors(U: Any, S: Any, V: Any) -> tuple[Any, Any, Any]:
    if not U.numel():
        return U, S, V
    largest = U.detach().abs().argmax(-2, keepdim=True)
    sign = U.detach().gather(-2, largest).sign()
    sign = sign.masked_fill(sign == 0, 1)
    return U * sign, S, V * sign


def svd(A: Any) -> tuple[Any, Any, Any]:
    """``U [..., m, k], S [..., k], V [..., n, k]`` with ``A = U diag(S) V^T``, k = min(m, n), S falling. One matrix or a
    batch, of any shape and of 16, 32 or 64 bits; tensors that require a gradient have one.

    >>> import numpy as np, quintet.metalsvd as metalsvd
    >>> [x.shape for x in metalsvd.svd(np.ones((5, 2, 3)))]
    [(5, 2, 2), (5, 2), (5, 3, 2)]
    """
    if _is_tensor(A):
        from ..torch import svd as torch_svd

        U, S, Vh = torch_svd(A, False)
        return _canonical_tensors(U, S, Vh.mT)
    U, S, Vh = linalg.svd(A, False, canonical_signs=True)
    return U, S, Vh.swapaxes(-2, -1)


def randomized_svd(
    A: Any, k: SupportsIndex, n_iter: SupportsIndex = 2, q: SupportsIndex | None = None
) -> tuple[Any, Any, Any]:
    """``U, S, V`` of the k leading singular values by a random sketch of `q` columns (None: k + 10) and `n_iter` power
    iterations.

    >>> import numpy as np, quintet.metalsvd as metalsvd
    >>> bool(np.isclose(metalsvd.randomized_svd(np.ones((20, 10)), 1)[1][0], np.sqrt(200)))
    True
    """
    rank = as_integer(k, "k")
    oversampling = 10 if q is None else as_integer(q, "q") - rank
    if oversampling < 0:
        raise InvalidArgument(f"q must be >= k={rank} (q={rank + oversampling})")
    U, S, Vh, _ = linalg.randomized_svd(
        A, rank, oversampling=oversampling, power_iterations=n_iter, canonical_signs=True
    )
    return U, S, Vh.mT if _is_tensor(Vh) else Vh.swapaxes(-2, -1)


def lanczos_svd(A: Any, k: SupportsIndex, n_iter: SupportsIndex | None = None, tol: float = 1e-5) -> Any:
    """``U, S, V`` of the k largest singular values, exact: n_iter and tol, which an iteration would need, have no effect.

    >>> import numpy as np, quintet.metalsvd as metalsvd
    >>> metalsvd.lanczos_svd(np.diag([1.0, 3.0, 2.0]), 2)[1]
    array([3., 2.])
    """
    U, S, Vh = linalg.svd(A, False, top=k, canonical_signs=True)
    return U, S, Vh.mT if _is_tensor(Vh) else Vh.swapaxes(-2, -1)


_patched = False


def patch_torch() -> None:
    """``torch.linalg.svd`` and all that rests on it by this library, see :func:`quintet.torch.patch`. Calling it again
    changes nothing."""
    global _patched
    from ..torch import patch

    if not _patched:
        patch()
        _patched = True
