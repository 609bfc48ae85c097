"""Sections of docstrings, as numpydoc and editors read them: parameters are those of the signature, each with a type."""

from __future__ import annotations

import importlib
import inspect
import pathlib
from typing import Any

import pytest

import quintet

docscrape = pytest.importorskip("sklearn.externals._numpydoc.docscrape")
ROOT = pathlib.Path(quintet.__file__).parent
ESTIMATORS = {"HDBSCAN", "KNeighborsTransformer", "MetalTruncatedSVD", "NearestNeighbors"}


def documented() -> dict[str, Any]:
    """Everything public that has a section of parameters, and the estimators, which must have one."""
    found = {}
    for file in sorted(ROOT.rglob("*.py")):
        name = ".".join(("quintet",) + file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        if "torch" in name or name == "quintet.mpi":
            continue
        module = importlib.import_module(name)
        for key, value in vars(module).items():
            if getattr(value, "__module__", "") != name or not (inspect.isfunction(value) or inspect.isclass(value)):
                continue
            members = [(key, value)]
            if inspect.isclass(value):
                members += [(f"{key}.{k}", m) for k, m in vars(value).items() if inspect.isfunction(m)]
            for path, member in members:
                if "\nParameters\n" in "\n" + inspect.cleandoc(member.__doc__ or "") or path in ESTIMATORS:
                    found[f"{name}.{path}"] = member
    return found


DOCUMENTED = documented()


def test_what_is_documented() -> None:
    names = {name.rsplit(".", 1)[1] for name in DOCUMENTED}
    assert ESTIMATORS | {"svd", "svd_gradient", "get_plot_data"} <= names


@pytest.mark.parametrize("name", sorted(DOCUMENTED))
def test_parameters(name: str) -> None:
    thing = DOCUMENTED[name]
    parsed = docscrape.NumpyDocString(inspect.getdoc(thing))
    listed = [n.strip() for p in parsed["Parameters"] for n in p.name.split(",")]
    given = [p for p in inspect.signature(thing).parameters if p != "self"]
    assert sorted(listed) == sorted(given)
    for section in ("Parameters", "Attributes", "Returns"):
        for parameter in parsed[section]:
            if section != "Returns":
                assert parameter.type, f"{parameter.name} has no type"
            assert parameter.desc, f"{parameter.name or parameter.type} has no text"
