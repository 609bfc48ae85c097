"""Adds to the site: a page of reference for every module of the Python package, and the notebooks with their outputs."""
import ast
import os
import pathlib
import re

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "quintet"
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
CPP_PAGE = """# C++ and C

The reference of the headers is made by Doxygen from their comments.

- <a href="../cpp/index.html">All headers</a>
- <a href="../cpp/namespaces.html">C++ by namespace</a>
- <a href="../cpp/globals.html">Functions and types of the C interface</a>; [rules and an example](../c_interface.md)
"""


def public_modules():
    """Name of each public module of the package, and its file."""
    for path in sorted(PACKAGE.glob("**/*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        if not any(part.startswith("_") and part != "__init__" for part in parts):
            yield ".".join(part for part in parts if part != "__init__"), path


def public_names(path):
    """What __all__ lists, in this order; it may be put together from lists of strings."""
    names = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            names += [word.value for word in ast.walk(node.value) if isinstance(word, ast.Constant)]
    return names


def imported_names(path):
    """Names that a module takes from other packages, and what they are there."""
    imports = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
               if isinstance(node, ast.ImportFrom) and node.level == 0]
    return {alias.asname or alias.name: f"{node.module}.{alias.name}" for node in imports for alias in node.names}


def entry(module, name, imported):
    if name in imported:
        return f"\n## {module}.{name} {{ #{module}.{name} }}\n\nThis is `{imported[name]}`.\n"
    return f"\n::: {module}.{name}\n"


def reference_pages():
    """Name of each module, and the text of its page: every public name that is no module itself."""
    modules = dict(public_modules())
    for module, path in modules.items():
        names = [name for name in public_names(path) if f"{module}.{name}" not in modules]
        text = f"# {module}\n\n::: {module}\n    options: {{members: [], show_root_heading: false, show_root_toc_entry: false}}\n"
        imported = imported_names(path)
        yield module, text + "".join(entry(module, name, imported) for name in names)


def notebook_page(path):
    """Markdown of a notebook, and its pictures by name."""
    import nbformat
    from nbconvert import MarkdownExporter

    text, resources = MarkdownExporter().from_notebook_node(nbformat.read(path, as_version=4), {"unique_key": path.stem})
    return text, resources.get("outputs", {})


def on_config(config):
    config["nav"] += [
        {"Notebooks": [{path.stem.replace("_", " ").capitalize(): f"notebooks/{path.stem}.md"} for path in NOTEBOOKS]},
        {"Reference": [{module: f"reference/{module}.md"} for module, _ in public_modules()]
         + [{"C++ and C": "reference/cpp.md"}]},
    ]
    return config


def on_files(files, config):
    pages = {f"reference/{module}.md": text for module, text in reference_pages()}
    pages["reference/cpp.md"] = CPP_PAGE
    for path in NOTEBOOKS:
        text, pictures = notebook_page(path)
        pages[f"notebooks/{path.stem}.md"] = text
        pages.update({os.path.join("notebooks", name): picture for name, picture in pictures.items()})
    for place, content in pages.items():
        files.append(File.generated(config, place, content=content))
    return files


def on_page_content(html, page, config, files):
    """Roles of reStructuredText in docstrings, which Markdown shows as they are."""
    return re.sub(r":(?:func|class|mod|meth|attr|exc|data):(?=<code>)", "", html) if page.file.src_uri.startswith("reference/") else html
