"""The blocks of docs/python.md and the notebooks run."""

from __future__ import annotations

import json
import pathlib
import re

import pytest

import quintet

ROOT = pathlib.Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
#: Comments in front of a block, and the block.
BLOCKS = re.findall(r"((?:<!-- docs: [^>]*-->\n)*)```python\n(.*?)```", PAGE, flags=re.S)
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


def parameters() -> list[object]:
    found = []
    for i, (comments, text) in enumerate(BLOCKS):
        if "docs: skip" in comments:
            continue
        needs = re.findall(r"docs: needs (\w+)", comments)
        found.append(pytest.param(needs, text, id=str(i), marks=[pytest.mark.torch] if "torch" in needs else []))
    return found


def test_the_page_has_blocks() -> None:
    assert len(parameters()) >= 8 and len(NOTEBOOKS) >= 5


@pytest.mark.parametrize("needs, text", parameters())
def test_block(needs: list[str], text: str) -> None:
    for name in needs:
        pytest.importorskip(name)
    exec(compile(text, "docs/python.md", "exec"), {"__name__": "block"})


def cells_of(path: pathlib.Path) -> list[str]:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def needs_vcf(path: pathlib.Path) -> bool:
    return any(".vcf" in text for text in cells_of(path))


def needs_torch(path: pathlib.Path) -> bool:
    return any("import torch" in text for text in cells_of(path))


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [pytest.param(p, marks=pytest.mark.torch if needs_torch(p) else (), id=p.stem) for p in NOTEBOOKS],
)
def test_notebook(path: pathlib.Path) -> None:
    cells = cells_of(path)
    if needs_vcf(path) and not quintet.snp.has_vcf():
        pytest.skip("this build reads no VCF: it was made without htslib")
    for name in ["sklearn", "matplotlib"] + (["torch"] if needs_torch(path) else []):
        pytest.importorskip(name)
    import matplotlib

    matplotlib.use("Agg")
    space: dict[str, object] = {"__name__": "__main__"}
    for i, text in enumerate(cells):
        exec(compile(text, f"{path.name}[{i}]", "exec"), space)


def test_notebooks_are_notebooks() -> None:
    for path in NOTEBOOKS:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        assert notebook["nbformat"] == 4 and len(cells_of(path)) >= 4
        outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
        assert any("image/png" in output.get("data", {}) for output in outputs), path
        assert not any(output["output_type"] == "error" for output in outputs), path
