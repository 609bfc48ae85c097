#!/usr/bin/env python3
"""Checks the names that C++ sources declare: a variable is a noun, a function a verb with its object (CONTRIBUTING.md).

    check_names.py --source DIR [--write]

WORDS are pronouns, adverbs and bare participles: no variable, member, parameter or function has one of them as its name.
names_ledger.txt lists the declarations that were there before the rule, with how often each file declares them. A file may declare
a word less often than the ledger says, never more often; --write lowers the ledger to what is there. Exit status 0: all is
right; 1: not.
"""
import argparse
import collections
import pathlib
import re
import sys

FOLDERS = ("src", "include", "programs")
WORDS = set(
    "again alone anew anything away back beside besides done everything found given gone here how kept made mine nobody now one ones "
    "others ours put seen something taken then there thing things together told wanted way what which who whose".split())
ALLOWED = re.compile(r"\bone(?:\(\))? (?:=|\{ return) (?:same<[\w: ]+>\()?(?:[\w: ]+\()?1\b|\bwhat\(\) const noexcept")  # the number one; std::exception's
NO_TYPES = set("and case co_return delete else goto in is new not operator or return sizeof throw using namespace".split())
NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"\(.*?\)"|"(?:\\.|[^"\\\n])*"', re.S)


def code_of(text):
    """The text with comments and strings blank; positions stay."""
    return NO_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)


def is_declaration(before, after):
    """Whether a name between the two pieces of code is declared there: a type stands before it."""
    binding = re.search(r"auto\s*&{0,2}\s*\[[^\]]*$", before[-120:])
    if binding:
        return True
    if not re.match(r"[=;,){:(\[]", after):
        return False
    if before.endswith(">"):
        return not before.endswith("->")
    pointer = re.search(r"(?:^|[\s(,<])(?:const\s+)?([\w:]+|[\w:]*<[^()]*>)(?:\s+const)?\s*[&*]{1,2}$", before[-160:])
    if pointer:
        line = before[before.rfind("\n") + 1:]
        is_expression = re.search(r"[=+\-/(]\s*[\w.\[\]>()-]+\s*[*&]{1,2}$", line) and not re.search(r"\(\s*(?:const )?[\w:<>, ]+[*&]$", line)
        return pointer.group(1) not in NO_TYPES and not is_expression
    word = re.search(r"([A-Za-z_]\w*)$", before)
    return bool(word) and word.group(1) not in NO_TYPES


def declarations(text):
    """(line, name) of each declaration with a word of WORDS."""
    code = code_of(text)
    lines = text.split("\n")
    for match in re.finditer(r"(?<![\w.])([A-Za-z]\w*?)_?\b", code):
        if match.group(1) not in WORDS or code[match.start() - 2:match.start()] in ("->", "::"):
            continue
        if is_declaration(code[:match.start()].rstrip(), code[match.end():].lstrip()):
            line = code.count("\n", 0, match.start())
            if not ALLOWED.search(lines[line]):
                yield line + 1, match.group(0)


def read_ledger(path):
    ledger = {}
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            file, name, count = line.split()
            ledger[file, name] = int(count)
    return ledger


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    path = arguments.source / "tests" / "rooms" / "names_ledger.txt"
    ledger = read_ledger(path) if path.exists() else {}
    places = collections.defaultdict(list)
    for folder in FOLDERS:
        for file in sorted((arguments.source / folder).rglob("*.[hc]*")):
            if file.suffix in (".h", ".c", ".hpp", ".cpp"):
                for line, name in declarations(file.read_text()):
                    places[str(file.relative_to(arguments.source)), name].append(line)
    if arguments.write:
        rows = [f"{file} {name} {len(lines)}" for (file, name), lines in sorted(places.items())]
        path.write_text("# file, name, declarations: older than the rule of check_names.py. Only remove lines.\n" + "\n".join(rows) + "\n")
        return 0
    wrong = 0
    for (file, name), lines in sorted(places.items()):
        if len(lines) > ledger.get((file, name), 0):
            print(f"{file}:{lines[-1]}: '{name}' is no noun: name what it holds (tests/rooms/check_names.py)")
            wrong += 1
    print(f"{sum(map(len, places.values()))} declarations of the ledger are left, {wrong} new ones")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
