"""Makes a site of documents that were written to be read in the tree: the pages of the root join those of docs/, and links
between them, and to sources, lead to where the site has them."""
import glob
import os
import re

from mkdocs.structure.files import File

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Pages beside docs/, by their place in the tree, which is their place in the site too.
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md"]
PAGES += sorted(glob.glob("bench/results/*.md", root_dir=ROOT))
LINK = re.compile(r"(\]\()([^)\s#:]+)(#[^)\s]*)?(\))")


def place_in_tree(page):
    """Of a page of the site: docs/ of the tree is the site's root."""
    return page if page in PAGES else "docs/" + page


def place_in_site(path):
    """Of a file of the tree. What is no page and not in docs/ is copied below source/."""
    if path in PAGES:
        return path
    return path.removeprefix("docs/") if path.startswith("docs/") else "source/" + path


def targets(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        text = file.read()
    for match in LINK.finditer(text):
        yield os.path.normpath(os.path.join(os.path.dirname(path), match[2]))


def on_files(files, config):
    for page in list(files):  # mkdocs takes a README below docs/ for an index
        if page.src_uri.endswith(".py"):
            files.remove(page)
    for page in PAGES:
        files.append(File(page, ROOT, config["site_dir"], config["use_directory_urls"]))
    linked = {t for page in files.documentation_pages() for t in targets(place_in_tree(page.src_uri))}
    for path in sorted(linked):
        site = place_in_site(path)
        if site.startswith("source/") and os.path.isfile(os.path.join(ROOT, path)):
            file = File(path, ROOT, config["site_dir"], config["use_directory_urls"])
            file.src_uri = site
            file.abs_src_path = os.path.join(ROOT, path)
            # As it is, a source or a table in Markdown: no page of the site.
            file.dest_uri = file.url = site
            file.abs_dest_path = os.path.join(config["site_dir"], site)
            file.is_documentation_page = lambda: False
            files.append(file)
    return files


def on_page_markdown(markdown, page, config, files):
    here = os.path.dirname(page.file.src_uri)

    def moved(match):
        tree = os.path.normpath(os.path.join(os.path.dirname(place_in_tree(page.file.src_uri)), match[2]))
        return match[1] + os.path.relpath(place_in_site(tree), here or ".") + (match[3] or "") + match[4]

    return LINK.sub(moved, markdown)
