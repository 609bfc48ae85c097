"""Every example of a docstring runs."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import pathlib

import pytest

import quintet

#: What a module needs besides NumPy.
NEEDS = {
    "hdbscan": "sklearn",
    "neighbours": "sklearn",
    "hdbscan._plots": "matplotlib",
    "_scipy_patch": "scipy",
    "sparse": "scipy",
    "torch": "torch",
}
ROOT = pathlib.Path(quintet.__file__).parent
MODULES = sorted(
    ".".join(("quintet",) + file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for file in ROOT.rglob("*.py")
)


def need_of(module: str) -> str:
    parts = module.split(".")
    return NEEDS.get(".".join(parts[1:3]), NEEDS.get((parts + [""])[1], ""))


@pytest.mark.parametrize(
    "name", [pytest.param(m, marks=pytest.mark.torch) if need_of(m) == "torch" else m for m in MODULES]
)
def test_examples(name: str) -> None:
    if need_of(name):
        pytest.importorskip(need_of(name))
    if name == "quintet.mpi" and importlib.util.find_spec("quintet._mpi") is None:
        pytest.skip("quintet was built without MPI")
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0
