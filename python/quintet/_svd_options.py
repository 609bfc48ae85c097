"""Options of decompositions: an attribute for each member that python/src/svd.cpp lists."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from . import _core
from ._arguments import as_integer
from ._errors import InvalidArgument
from ._options import as_flag, checked, choice, read_options, remembered


def _top(value: Any, name: str) -> int:
    if value is None:
        return 0
    count = as_integer(value, name)
    if count < 1:
        raise InvalidArgument(f"{name} must be >= 1 ({name}={count})")
    return count


@dataclass(frozen=True)
class DecomposeOptions:
    """``quintet::svd::options``."""

    vectors: int = checked(choice("none", "economy", "full"), "economy")
    top: int = checked(_top, None)
    preconditioning: int = checked(choice("automatic", "none", "qr", "pivoted_qr"), "automatic")
    accurate: bool = checked(as_flag, False)
    canonical_signs: bool = checked(as_flag, False)
    proper_rotations: bool = checked(as_flag, False)
    max_sweeps: int = checked(as_integer, 30)
    centre: bool = checked(as_flag, False)
    part_of: int = checked(as_integer, 0)


_NAMES = tuple(member.name for member in fields(DecomposeOptions))


@remembered
def decompose_options(*arguments: Any) -> Any:
    """The options as the bindings hold them; `arguments` in the order of DecomposeOptions, the last ones may be left out."""
    return _core.svd_options(read_options(DecomposeOptions, dict(zip(_NAMES, arguments))))


def vectors_of(full_matrices: bool, compute_uv: bool, top: Any) -> str:
    """The name of the vectors that NumPy's arguments ask for."""
    return "none" if not compute_uv else "full" if full_matrices and top is None else "economy"


VALUES = decompose_options("none")
ECONOMY = decompose_options()
FULL = decompose_options("full")
PROPER = decompose_options("economy", None, "automatic", False, False, True)
