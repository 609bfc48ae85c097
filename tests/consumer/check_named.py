#!/usr/bin/env python3
"""Every function template that a public header declares and does not define is named by programs of g++.

  check_named.py INCLUDE_DIRECTORY PROGRAM...

A template without a body is compiled in the library, and its name there can depend on the compiler. Headers of
quintet::mpi are left out: their programs are compiled by the compiler of the MPI library.
"""

import pathlib
import re
import sys

#: Compiled templates that only other templates of their header call: reached through the names on the right.
REACHED = {
    "product": "multiply",
    "masked": "multiply_masked",
    "transposed_product": "multiply_transposed",
    "product_in_blocks": "multiply_in_blocks",
    "refill": "plan",
    "order_columns": "multiply",
    "leave_rows_to_others": "shared_matrix_file",
}


def plain(text: str) -> str:
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:.*\\\n)*.*$", "", text, flags=re.M)


def statement(text: str, start: int) -> tuple[str, str]:
    """What begins at `start` up to the first brace or semicolon outside parentheses, and that character."""
    depth = 0
    for i in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0 and text[i] in "{;":
            return " ".join(text[start:i].split()), text[i]
    return "", ""


def name_of(declaration: str) -> str | None:
    """The function that a template declares; None for anything else."""
    rest, depth = declaration, 0
    while rest.startswith("template"):
        for i, c in enumerate(rest):
            depth += {"<": 1, ">": -1}.get(c, 0)
            if c == ">" and depth == 0:
                rest = rest[i + 1 :].strip()
                break
    if rest.startswith(("using", "concept", "requires", "struct", "class", "friend", "inline constexpr", "constexpr")):
        return None
    if "->" in rest:  # a deduction guide
        return None
    found = re.search(r"(\w+)\s*\(", rest)
    return found.group(1) if found else None


def templates(text: str) -> tuple[set[str], set[str]]:
    """Names of function templates that are declared without a body, and of those with one."""
    declared, defined = set(), set()
    for m in re.finditer(r"\btemplate\s*<", text):
        declaration, end = statement(text, m.start())
        name = name_of(declaration)
        if name is not None:
            (declared if end == ";" else defined).add((name, declaration.count(",")))
    return {n for n, _ in declared - defined}, {n for n, _ in defined}


def main() -> int:
    include = pathlib.Path(sys.argv[1])
    program = "".join(pathlib.Path(name).read_text() for name in sys.argv[2:])
    missing, count = [], 0
    for header in sorted(include.glob("quintet/**/*.hpp")):
        if "mpi" in header.parts:
            continue
        for name in sorted(templates(plain(header.read_text()))[0]):
            count += 1
            if not re.search(rf"\b{REACHED.get(name, name)}\b", program):
                missing.append(f"{header.relative_to(include)}: {name}")
    for line in missing:
        print("not named by a program of g++:", line)
    print(count, "compiled function templates in public headers,", len(missing), "not named")
    return bool(missing) or count < 30


if __name__ == "__main__":
    sys.exit(main())
