"""quintet: exact density clustering, hyperbolic geometry, batched singular value decompositions, sparse products and
species-network likelihoods, on host threads and GPUs.

Families are modules: :mod:`quintet.hdbscan`, :mod:`quintet.poincare`, :mod:`quintet.linalg`, :mod:`quintet.sparse`,
:mod:`quintet.snp`, :mod:`quintet.neighbours`; :mod:`quintet.torch` has what PyTorch needs, :mod:`quintet.mpi` runs them on
several ranks. They are loaded when they are asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._errors import Cancelled, DeviceError, Error, FileError, InvalidArgument, NetworkError, OutOfMemory

try:
    from . import _core
except ImportError as _error:
    if "libquintet.so" not in str(_error) and "undefined symbol: _ZN7quintet" not in str(_error):
        raise
    # A wheel, whose loader has found no library for this processor. Other builds say so by _core itself.
    raise ImportError(
        "quintet was compiled for processors with AVX2, FMA (x86-64-v3). This one lacks them, and the wheel has no library "
        f"for it. Build from source: pip install --no-cache-dir --force-reinstall --no-binary quintet quintet\n({_error})"
    ) from None

from ._config import show_config
from ._threads import get_num_threads, num_threads, set_num_threads

__version__: str = _core.build_info()["version"]

_MODULES = {"hdbscan", "linalg", "lorentz", "metalsvd", "mpi", "neighbours", "plots", "poincare", "product", "snp", "sparse"}
_MODULES |= {"stereographic", "torch"}
_NAMES = {
    "svd": ("linalg", "svd"),
    "HDBSCAN": ("hdbscan", "HDBSCAN"),
    "spgemm": ("sparse", "multiply"),
    "BallTree": ("neighbours", "BallTree"),
    "KDTree": ("neighbours", "KDTree"),
    "KNeighborsTransformer": ("neighbours", "KNeighborsTransformer"),
    "NearestNeighbors": ("neighbours", "NearestNeighbors"),
    "RadiusNeighborsTransformer": ("neighbours", "RadiusNeighborsTransformer"),
}

__all__ = [
    "BallTree",
    "Cancelled",
    "DeviceError",
    "Error",
    "FileError",
    "HDBSCAN",
    "InvalidArgument",
    "KDTree",
    "KNeighborsTransformer",
    "NearestNeighbors",
    "NetworkError",
    "OutOfMemory",
    "RadiusNeighborsTransformer",
    "get_num_threads",
    "hdbscan",
    "linalg",
    "lorentz",
    "metalsvd",
    "neighbours",
    "num_threads",
    "poincare",
    "product",
    "set_num_threads",
    "show_config",
    "snp",
    "sparse",
    "spgemm",
    "stereographic",
    "svd",
    "torch",
]

if TYPE_CHECKING:
    from . import hdbscan, linalg, lorentz, metalsvd, neighbours, poincare, product, snp, sparse, stereographic, torch
    from .hdbscan import HDBSCAN
    from .linalg import svd
    from .neighbours import BallTree, KDTree, KNeighborsTransformer, NearestNeighbors, RadiusNeighborsTransformer
    from .sparse import multiply as spgemm


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _NAMES:
        module, attribute = _NAMES[name]
        return getattr(importlib.import_module(f"{__name__}.{module}"), attribute)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *_NAMES})
