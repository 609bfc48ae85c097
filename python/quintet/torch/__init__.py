"""What PyTorch needs: decompositions with gradients, a replacement of ``torch.linalg.svd``, the Poincaré ball, sparse
products. Needs torch >= 2.9.

>>> import torch, quintet.torch as qt
>>> A = torch.eye(3, dtype=torch.float64, requires_grad=True)
>>> U, S, Vh = qt.svd(A)
>>> (U @ Vh).sum().backward()      # U V^T is smooth at the identity; torch.linalg.svd gives NaN here
>>> bool(torch.isfinite(A.grad).all())
True
"""

from __future__ import annotations

try:
    import torch as _torch
except ImportError as _error:
    raise ImportError("quintet.torch needs PyTorch 2.9 or later: pip install 'quintet[torch]'") from _error

if tuple(int(part) for part in _torch.__version__.split("+")[0].split(".")[:2]) < (2, 9):
    raise ImportError(f"quintet.torch needs PyTorch 2.9 or later (this is {_torch.__version__})")

from ._kabsch import kabsch
from ._patch import patch, patched, unpatch
from ._poincare import PoincareBall, cdist, dist
from ._randomized import randomized_svd
from ._sparse import spgemm
from ._spectral import lstsq, low_rank, polar, spectral
from ._svd import pinv, svd, svdvals

__all__ = [
    "PoincareBall",
    "cdist",
    "dist",
    "kabsch",
    "low_rank",
    "lstsq",
    "patch",
    "patched",
    "pinv",
    "polar",
    "randomized_svd",
    "spectral",
    "spgemm",
    "svd",
    "svdvals",
    "unpatch",
]
