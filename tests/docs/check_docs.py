#!/usr/bin/env python3
"""Checks the documents of the tree: their links, their code, their commands.

    check_docs.py links    --source DIR                   every link, path, option and function that is named exists
    check_docs.py code     --source DIR --work DIR --cxx COMMAND --cc COMMAND      every C++ and C block compiles
    check_docs.py commands --source DIR --work DIR --build DIR [--only PAGE]       every shell and Python block runs
    check_docs.py site     --source DIR --work SITE       every link of the built site leads somewhere, the search knows it
    check_docs.py reference --source DIR --work SITE      every public name has its place in the site of scripts/site
    check_docs.py list     --source DIR                   what becomes of every block

A block is fenced and names its language; `text` and other languages that are no code are shown only. Comments of HTML
in front of a block, which no reader sees, say what else there is to know:

    <!-- docs: same-as PATH -->   the block is that file, or lines of it that follow one another; the build compiles it
    <!-- docs: skip REASON -->    the block cannot run here; it is counted, and listed with its reason
    <!-- docs: needs NAME -->     the command or Python module NAME must be there, or the block is skipped with a word;
                                  data:PATH is a file of tests/data or QUINTET_DATA_DIR, which is then in the folder,
                                  lib:NAME a library in lib/, which is in LD_LIBRARY_PATH
    <!-- docs: save NAME -->      the block is appended to that file of the page's folder
    <!-- docs: output -->         the block is what the last command block printed
    <!-- docs: run
    ... -->                       commands that come before the block (input files) or behind the last one (checks)
    <!-- docs: prelude
    ... -->                       what stands before a fragment of C++; the braces that it opens are closed behind it

The commands of a page run one after another in a folder of its own, in which the tree's folders are linked, with the
programs of the build in PATH. Exit status 0: all is right; 1: not; 77: nothing could run.
"""
import argparse
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
import time

PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md", "examples/data/README.md",
         "SECURITY.md"]
CODE, COMMANDS = {"cpp", "c"}, {"sh", "python"}
SHOWN = {"text", "json", "csv", "ini", "newick", "cmake"}


class Block:
    def __init__(self, page, line, language, notes):
        self.page, self.line, self.language, self.notes, self.text = page, line, language, notes, ""

    def note(self, key):
        return next((value for k, value in self.notes if k == key), None)

    def __str__(self):
        return f"{self.page}:{self.line}"


def pages_of(source):
    found = [page for page in PAGES if os.path.exists(os.path.join(source, page))]
    for folder, _, files in sorted(os.walk(os.path.join(source, "docs"))):
        found += [os.path.relpath(os.path.join(folder, f), source) for f in sorted(files) if f.endswith(".md")]
    return found


def blocks_of(source, page):
    """The blocks of a page, and the commands behind the last one as a block without a language."""
    errors, blocks, notes, block = [], [], [], None
    lines = open(os.path.join(source, page), encoding="utf-8").read().split("\n")
    comment = None
    for number, line in enumerate(lines, 1):
        if block is not None:
            if line.strip() == "```":
                blocks.append(block)
                block = None
            else:
                block.text += line + "\n"
        elif comment is not None:
            if line.strip() == "-->":
                notes.append(comment)
                comment = None
            else:
                comment = (comment[0], comment[1] + line + "\n")
        elif match := re.fullmatch(r"<!-- docs: (run|prelude)", line):
            comment = (match[1], "")
        elif match := re.fullmatch(r"<!-- docs: (same-as|skip|needs|save|output)\s?(.*?) ?-->", line):
            notes.append((match[1], match[2]))
        elif line.startswith("<!-- docs:"):
            errors.append(f"{page}:{number}: unknown note: {line}")
        elif match := re.match(r"\s*```(.*)$", line):
            block = Block(page, number, match[1].strip(), notes)
            notes = []
            if block.language not in CODE | COMMANDS | SHOWN | {"cmake"}:
                errors.append(f"{block}: a block needs a language, one of {sorted(CODE | COMMANDS | SHOWN)}")
        elif line.startswith("    ") and line.strip() and (number == 1 or not lines[number - 2].strip()):
            before = next((text for text in reversed(lines[:number - 1]) if text.strip()), "")
            if not re.match(r"\s*([-*]|\d+\.) ", before):
                errors.append(f"{page}:{number}: a block by indentation: fence it and name its language")
    if block is not None or comment is not None:
        errors.append(f"{page}: a block or a comment that does not end")
    if notes:
        blocks.append(Block(page, len(lines), "", notes))
    return blocks, errors


def fate(block):
    if not block.language:
        return "checks"
    if block.note("skip") is not None:
        return "not run"
    if block.note("same-as"):
        return "the same as a file"
    if block.language in CODE:
        return "compiled"
    if block.language in COMMANDS:
        return "run"
    return "checked" if block.note("save") or block.note("output") is not None else "shown"


def differs_from_file(source, block):
    path = os.path.join(source, block.note("same-as"))
    if not os.path.exists(path):
        return f"{block}: {block.note('same-as')} does not exist"
    plain = lambda text: [line.rstrip() for line in text.rstrip("\n").split("\n")]  # noqa: E731
    wanted, there = plain(textwrap.dedent(block.text)), plain(open(path, encoding="utf-8").read())
    for first in range(len(there) - len(wanted) + 1):
        indent = len(there[first]) - len(there[first].lstrip())
        if all(w == t[indent:] or not (w or t) for w, t in zip(wanted, there[first:])):
            return None
    return f"{block}: these lines are not in {block.note('same-as')}:\n{block.text}"


# ---- links and names

# Options of other programs that the pages name.
FOREIGN = {"build", "cflags", "install", "libs", "prefix", "preset", "target", "test-dir", "workflow"}


def text_below(source, folders, endings):
    found = []
    for top in folders:
        for folder, _, files in os.walk(os.path.join(source, top)):
            for name in files:
                if name.endswith(endings) or (not endings and "." not in name):
                    with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                        found.append(file.read())
    return "\n".join(found)


def check_names(source, pages):
    """Options of programs and functions of the library that pages name exist."""
    errors, options, functions = [], 0, 0
    programs = text_below(source, ["programs", "tests/accuracy"], (".cpp", ".hpp"))
    scripts = text_below(source, ["scripts"], ()) + text_below(source, ["scripts", "bench", "tests", "examples"], (".py", ".sh"))
    code = text_below(source, ["include", "src", "examples", "programs", "tests", "cmake", "python"],
                      (".hpp", ".h", ".cpp", ".c", ".txt", ".cmake", ".py"))
    for page in pages:
        text = open(os.path.join(source, page), encoding="utf-8").read()
        text = re.sub(r"^\s*```.*?^\s*```|<!--.*?-->", "", text, flags=re.M | re.S)
        for span in re.findall(r"`([^`\n]+)`", text):
            for option in re.findall(r"(?<![\w-])--([a-z][a-z0-9-]+)", span):
                options += 1
                if option not in FOREIGN and not re.search(rf'"{option}[",]', programs) and f"--{option}" not in scripts:
                    errors.append(f"{page}: no program has the option --{option}")
            for function in re.findall(r"(\w+)(?:<[^`(]*>)?\(\)", span):
                functions += 1
                if not re.search(rf"\b{function}\b", code):
                    errors.append(f"{page}: there is no function {function}()")
    print(f"{options} options and {functions} functions are named")
    return errors


def slug(heading):
    text = re.sub(r"[`*_]|\[([^\]]*)\]\([^)]*\)", lambda m: m[1] or "" if m[0] != "_" else "_", heading).strip().lower()
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", text))


def anchors_of(path):
    found = set()
    fenced = False
    for line in open(path, encoding="utf-8"):
        fenced ^= line.lstrip().startswith("```")
        if not fenced and (match := re.match(r"#+ (.*)", line)):
            found.add(slug(match[1]))
        found.update(re.findall(r'<a (?:id|name)="([^"]+)"', line))
    return found


def check_links(source, pages):
    errors, links, paths = [], 0, 0
    for page in pages:
        text = open(os.path.join(source, page), encoding="utf-8").read()
        text = re.sub(r"^\s*```.*?^\s*```", "", text, flags=re.M | re.S)
        folder = os.path.dirname(os.path.join(source, page))
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            links += 1
            path, _, anchor = target.partition("#")
            path = os.path.normpath(os.path.join(folder, path)) if path else os.path.join(source, page)
            if not os.path.exists(path):
                errors.append(f"{page}: the link {target} leads nowhere")
            elif anchor and anchor not in anchors_of(path):
                errors.append(f"{page}: {target}: no heading of that name ({sorted(anchors_of(path))})")
        # Paths of the tree that are named in passing.
        for path in re.findall(r"`((?:bench|cmake|docs|examples|include|programs|python|scripts|src|tests)/[\w./-]+)`", text):
            paths += 1
            if not os.path.exists(os.path.join(source, path)):
                errors.append(f"{page}: `{path}` does not exist")
    print(f"{links} links and {paths} paths in {len(pages)} pages")
    return errors


def check_site(site, pages):
    """Links of the HTML, and whether every page can be found by the search."""
    errors, links = [], 0
    for folder, _, files in os.walk(site):
        for name in files:
            if not name.endswith(".html"):
                continue
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                targets = re.findall(r'(?:href|src)="([^"#?]+)', file.read())
            for target in targets:
                if re.match(r"[a-z]+:|/", target):
                    continue
                links += 1
                if not os.path.exists(os.path.normpath(os.path.join(folder, target))):
                    errors.append(f"{os.path.relpath(path, site)}: {target} leads nowhere")
    with open(os.path.join(site, "search", "search_index.json"), encoding="utf-8") as file:
        found = {entry["location"].split("#")[0] for entry in json.load(file)["docs"]}
    for page in pages:
        place = re.sub(r"(^|/)README\.md$", r"\1index.html", page.removeprefix("docs/")).replace(".md", ".html")
        if page not in ("examples/data/README.md", "SECURITY.md") and place not in found:
            errors.append(f"{page} is not in the search of the site ({place})")
    print(f"{links} links of the site, {len(found)} pages in its search")
    return errors


def check_reference(source, site):
    """Whether every public name of the Python package, and every public header, has its place in the site of scripts/site."""
    errors, names = [], 0
    package = os.path.join(source, "python", "quintet")
    for folder, _, files in os.walk(package):
        for file in sorted(files):
            module = os.path.relpath(os.path.join(folder, file), os.path.dirname(package)).removesuffix(".py").replace(os.sep, ".")
            module = module.removesuffix(".__init__")
            if not file.endswith(".py") or "._" in module:
                continue
            with open(os.path.join(folder, file), encoding="utf-8") as text:
                listed = re.search(r"^__all__[^\[]*\[(.*?)\]", text.read(), re.M | re.S)
            page = os.path.join(site, "reference", module + ".html")
            if not os.path.exists(page):
                errors.append(f"{module} has no page in the site")
                continue
            with open(page, encoding="utf-8") as text:
                places = set(re.findall(r'\bid="([^"]+)"', text.read()))
            for name in re.findall(r'"(\w+)"', listed[1] if listed else ""):
                names += 1
                is_module = any(os.path.exists(os.path.join(folder, name + end)) for end in (".py", "/__init__.py"))
                if f"{module}.{name}" not in places and not is_module:
                    errors.append(f"{module}.{name} is not on the page of its module")
    headers = glob.glob("**/*.hpp", root_dir=os.path.join(source, "include", "quintet"), recursive=True)
    headers = [header for header in headers if "detail" + os.sep not in header]
    documented = [name.removesuffix("_8hpp_source.html") for name in os.listdir(os.path.join(site, "cpp"))]
    for header in headers:
        name = os.path.basename(header).removesuffix(".hpp").replace("_", "__")  # as Doxygen names its pages
        if not any(page == name or page.endswith("2" + name) for page in documented):
            errors.append(f"quintet/{header} is not in the reference of C++")
    print(f"{names} names of Python and {len(headers)} headers in the reference")
    return errors


# ---- code

def fragment(block, number):
    prelude = block.note("prelude") or ""
    code = prelude + block.text
    includes = "".join(f"{line}\n" for line in code.split("\n") if line.startswith("#include"))
    rest = "\n".join("" if line.startswith("#include") else line for line in code.split("\n"))
    first = block.line - prelude.count("\n")
    body = re.sub(r'"[^"\n]*"|//[^\n]*', "", prelude)
    closing = "}" * (body.count("{") - body.count("}"))
    return includes, f'namespace block_{number} {{\n#line {max(first, 1)} "{block.page}"\n{rest}\n{closing}\n}}\n'


def check_code(source, blocks, arguments):
    errors, includes, bodies, compared, c_blocks = [], [], [], 0, 0
    os.makedirs(arguments.work, exist_ok=True)
    for number, block in enumerate(blocks):
        if block.note("same-as"):
            compared += 1
            errors += filter(None, [differs_from_file(source, block)])
        elif block.language not in CODE or block.note("skip") is not None:
            continue
        elif re.search(r"\bint main\(", block.text):
            errors.append(f"{block}: a program must be a file of examples/, which the build compiles and runs: same-as")
        elif block.language == "c":
            c_blocks += 1
            path = os.path.join(arguments.work, f"block_{number}.c")
            open(path, "w", encoding="utf-8").write((block.note("prelude") or "") + block.text)
            errors += compile_it(arguments.cc, path)
        else:
            head, body = fragment(block, number)
            includes.append(head)
            bodies.append(body)
    # All fragments at once: the headers are what takes time.
    path = os.path.join(arguments.work, "fragments.cpp")
    open(path, "w", encoding="utf-8").write("".join(dict.fromkeys("".join(includes).splitlines(True))) + "".join(bodies))
    if bodies:
        errors += compile_it(arguments.cxx, path)
    print(f"{len(bodies)} fragments of C++ and {c_blocks} of C compiled, {compared} blocks compared with their files")
    return errors


def compile_it(command, path):
    done = subprocess.run(shlex.split(command) + [path], capture_output=True, text=True)
    return [done.stderr + done.stdout] if done.returncode else []


# ---- commands

def there(name, source, folder):
    if name.startswith("data:"):
        for root in (os.environ.get("QUINTET_DATA_DIR", ""), os.path.join(source, "tests", "data")):
            path = os.path.join(root, name[5:])
            if root and os.path.exists(path):
                shutil.copy(path, folder)
                return True
        return False
    if name.startswith("lib:"):
        return os.path.exists(os.path.join(folder, "lib", name[4:]))
    return shutil.which(name) or subprocess.run([sys.executable, "-c", f"import {name}"], capture_output=True).returncode == 0


def folder_of(page, arguments):
    folder = os.path.join(arguments.work, page.replace("/", "_"))
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(os.path.join(folder, "build"))
    os.makedirs(os.path.join(folder, "home"))
    os.makedirs(os.path.join(folder, "lib"))
    for preset in ("release", "host-clang"):
        os.symlink(arguments.build, os.path.join(folder, "build", preset))
    for entry in os.listdir(arguments.source):
        if entry not in ("build", "results") and not entry.startswith("."):
            os.symlink(os.path.join(arguments.source, entry), os.path.join(folder, entry))
    return folder


def run_page(blocks, arguments, environment):
    """The counts of what became of the blocks, and errors; the first error of a page is its last."""
    folder = folder_of(blocks[0].page, arguments)
    counts, printed = {"run": 0, "skipped": 0}, ""

    def run(command, block):
        nonlocal printed
        begun = time.monotonic()
        done = subprocess.run(command, cwd=folder, env={**environment, "HOME": os.path.join(folder, "home"),
                                                              "LD_LIBRARY_PATH": os.path.join(folder, "lib")},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        printed = done.stdout
        print(f"  {block}: {time.monotonic() - begun:.1f} s", flush=True)
        return [f"{block}: exit status {done.returncode} of\n{command[-1]}\nwhich printed\n{printed}"] if done.returncode else []

    for block in blocks:
        for key, value in block.notes:
            if key == "run":
                errors = run(["bash", "-euo", "pipefail", "-c", value], block)
                if errors:
                    return counts, errors
        missing = [name for key, name in block.notes if key == "needs" and not there(name, arguments.source, folder)]
        if missing:
            print(f"  {block}: skipped, {missing[0]} is not there")
            counts["skipped"] += block.language in COMMANDS
            if block.language in COMMANDS:
                printed = None
            continue
        if block.note("save"):
            with open(os.path.join(folder, block.note("save")), "a", encoding="utf-8") as file:
                file.write(block.text)
        elif block.note("output") is not None:  # of a block that was skipped nothing is known
            if printed is not None and printed.rstrip() != block.text.rstrip():
                return counts, [f"{block}: the page says\n{block.text}but it is\n{printed}"]
        elif block.language in COMMANDS and block.note("skip") is None:
            shell = ["bash", "-euo", "pipefail", "-c"] if block.language == "sh" else [sys.executable, "-c"]
            counts["run"] += 1
            errors = run(shell + [block.text], block)
            if errors:
                return counts, errors
    return counts, []


def check_commands(pages, arguments):
    arguments.build, arguments.work = os.path.abspath(arguments.build), os.path.abspath(arguments.work)
    environment = {k: v for k, v in os.environ.items() if k not in ("PKG_CONFIG_PATH", "LD_LIBRARY_PATH")}
    programs = [os.path.join(arguments.build, "bin"), os.path.dirname(sys.executable)]  # python3 is this one
    environment["PATH"] = os.pathsep.join(programs + [environment["PATH"]])
    environment.setdefault("OMP_WAIT_POLICY", "passive")
    environment["PYTHONPATH"] = os.environ["PYTHONPATH"] = os.path.join(arguments.build, "python")  # when it is built
    errors, total, skipped = [], 0, 0
    for page, blocks in pages.items():
        if not any(fate(block) == "run" for block in blocks) or (arguments.only and arguments.only != page):
            continue
        print(page, flush=True)
        counts, failed = run_page(blocks, arguments, environment)
        total, skipped, errors = total + counts["run"], skipped + counts["skipped"], errors + failed
    print(f"{total} blocks run, {skipped} skipped for want of something")
    return errors


def list_blocks(blocks):
    counts = {}
    for block in blocks:
        if not block.language:
            continue
        counts.setdefault(block.page, {}).setdefault(fate(block), []).append(block)
    total = {}
    for page, by_fate in counts.items():
        print(f"{page}: " + ", ".join(f"{len(found)} {name}" for name, found in by_fate.items()))
        for name, found in by_fate.items():
            total[name] = total.get(name, 0) + len(found)
    print("in all: " + ", ".join(f"{number} {name}" for name, number in sorted(total.items())))
    for block in blocks:
        if block.note("skip") is not None:
            print(f"not run: {block}: {block.note('skip')}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["links", "code", "commands", "site", "reference", "list"])
    parser.add_argument("--source", required=True)
    parser.add_argument("--build", help="folder of a finished build")
    parser.add_argument("--work", help="folder for what is written")
    parser.add_argument("--cxx", help="command that compiles C++, without a file")
    parser.add_argument("--cc", help="command that compiles C, without a file")
    parser.add_argument("--only", help="a page, as docs/svd.md")
    arguments = parser.parse_args()
    arguments.source = os.path.abspath(arguments.source)

    names = pages_of(arguments.source)
    errors, pages = [], {}
    for page in names:
        pages[page], wrong = blocks_of(arguments.source, page)
        errors += wrong
    blocks = [block for found in pages.values() for block in found]
    for block in blocks:
        if block.note("skip") == "":
            errors.append(f"{block}: skip needs a reason")
    if arguments.what == "links":
        errors += check_links(arguments.source, names)
        errors += check_names(arguments.source, names)
    elif arguments.what == "site":
        errors += check_site(arguments.work, names)
    elif arguments.what == "reference":
        errors += check_reference(arguments.source, arguments.work)
    elif arguments.what == "code":
        errors += check_code(arguments.source, blocks, arguments)
    elif arguments.what == "commands":
        errors += check_commands({page: found for page, found in pages.items() if found}, arguments)
    if arguments.what not in ("site", "reference"):
        list_blocks(blocks)
    for error in errors:
        print(f"error: {error}", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
