"""What PyTorch needs: decompositions with gradients, a replacement of ``torch.linalg.svd``, the Poincaré ball, the
Lorentz model, spheres and products of them, sparse products. Needs torch >= 2.9.

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

from ._adam import RiemannianAdam
from ._eigen import eigh, eigvalsh
from ._kabsch import kabsch
from ._lorentz import Lorentz
from ._matrix_functions import expm_sym, invsqrt_spd, logm_spd, sqrtm_spd
from ._patch import patch, patched, unpatch
from ._poincare import PoincareBall, cdist, dist
from ._products import Euclidean, ProductManifold, Scaled, Sphere, Stereographic
from ._randomized import randomized_svd
from ._sparse import sampled, spgemm, spmm
from ._spectral import low_rank, lstsq, polar, spectral
from ._svd import pinv, svd, svdvals
from ._training import negative_sampling_loss

__all__ = [
    "Euclidean",
    "Lorentz",
    "PoincareBall",
    "ProductManifold",
    "RiemannianAdam",
    "Scaled",
    "Sphere",
    "Stereographic",
    "cdist",
    "dist",
    "eigh",
    "eigvalsh",
    "expm_sym",
    "invsqrt_spd",
    "kabsch",
    "logm_spd",
    "low_rank",
    "lstsq",
    "negative_sampling_loss",
    "patch",
    "patched",
    "pinv",
    "polar",
    "randomized_svd",
    "sampled",
    "spectral",
    "spgemm",
    "spmm",
    "sqrtm_spd",
    "svd",
    "svdvals",
    "unpatch",
]
