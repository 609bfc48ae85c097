#!/usr/bin/env python3
"""Checks the prose that users read: pages, comments of public headers, help and messages of programs, docstrings.

    check_prose.py --source DIR [--lengths] [PATH ...]     PATH: only these files, relative to DIR

WORDS has the words that a sentence must not use. Sentences longer than MAX_WORDS words, and files whose sentences have more than
MEAN_WORDS on average, are counted, and listed with --lengths; they are no errors. Tables, code and docstrings of Python have no
lengths. Exit status 0: no sentence uses such a word; 1: one does.
"""
import argparse
import ast
import os
import re
import sys

MAX_WORDS, MEAN_WORDS = 35, 18
WORDS = {  # pattern: what to write instead
    r"(?:is|are|was|were|be|has|have) (?-i:none)": "invalid, not a tree, empty",
    r"besides?": "next to, with, also",
    r"anew": "again",
    r"of (?:its|their|one's|your) own": "its, separate, one per thread",
    r"of which": "a second sentence",
    r"whose": "with, that has",
    r"tells?|told": "shows, reports, says",
    r"somebody|nobody": "you, another program, no rank",
    r"lives": "is, is stored",
}
PAGES = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "examples/README.md", "examples/data/README.md", "tests/data/README.md"]
ABBREVIATIONS = re.compile(r"(?:^|[\s(])(?:e\.g|i\.e|cf|vs|etc|al|Fig|Eq|eq)\.$|(?:^|[.,:&-] ?)[A-Z]\.$")
FORBIDDEN = {re.compile(rf"\b(?:{pattern})\b", re.I): advice for pattern, advice in WORDS.items()}


class Text:
    """Lines of one paragraph, list item, comment or message with their numbers.

    counts: its sentences have lengths, as those of tables have not; averaged: they are part of the file's mean, as the remarks
    behind members are not.
    """

    def __init__(self, counts=True, averaged=True):
        self.counts, self.averaged, self.is_item, self.lines = counts, counts and averaged, False, []

    def add(self, number, line):
        self.lines.append((number, line.strip()))

    def sentences(self):
        """(line, sentence)"""
        text, starts = "", []
        for number, line in self.lines:
            starts.append((len(text), number))
            text += line + " "
        begin = 0
        for match in re.finditer(r"(?<![\s.])[.!?][\"')\]*_]*\s+", text):
            if not ABBREVIATIONS.search(text[begin:match.start() + 1]):
                yield self.line_of(starts, begin), text[begin:match.end()].strip()
                begin = match.end()
        if text[begin:].strip():
            yield self.line_of(starts, begin), text[begin:].strip()

    @staticmethod
    def line_of(starts, position):
        return max(number for start, number in starts if start <= position)


def plain_markdown(line):
    line = re.sub(r"`[^`]*`", "code", line)
    line = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", line)
    return re.sub(r"<[^<> ][^<>]*>|\]\([^)]*\)?|[*\[]", "", line)


def texts_of_page(lines):
    texts, current, fenced, comment = [], None, False, False
    for number, line in enumerate(lines, 1):
        body = line.strip()
        if body.startswith("```"):
            fenced, current = not fenced, None
        elif fenced:
            continue
        elif comment or body.startswith("<!--"):
            comment, current = "-->" not in body, None
        elif not body:
            current = None
        elif body.startswith(("|", "#")):
            current = None
            texts.append(Text(counts=False))
            texts[-1].add(number, plain_markdown(body.strip("|")))
        else:
            if current is None or re.match(r"([-*+]|\d+\.) ", body):
                current = Text()
                texts.append(current)
            current.add(number, plain_markdown(re.sub(r"^(>|[-*+]|\d+\.) +", "", body)))
    return texts


def texts_of_header(lines):
    """Comments. What is indented, or between \\code and \\endcode, is a table, a formula or code."""
    texts, current, quoted, block = [], None, False, False
    for number, line in enumerate(lines, 1):
        match = re.match(r"\s*///?(?!<)( ?)(.*)$", line)
        behind = re.search(r"///?<? (.*)$", line) if not match else None
        if block or (not match and re.match(r"\s*/\*", line)):
            match = re.match(r"\s*(?:/\*+|\*+/|\*)?( ?)(.*?)(?:\*/)?\s*$", line)
            block = "*/" not in line
        if match is None:
            current = None
            if behind is not None and "//" in re.sub(r'"(\\.|[^"])*"', "", line):
                texts.append(Text(averaged=False))
                texts[-1].add(number, behind[1])
            continue
        body = match[2]
        if re.match(r"\s*[\\@](code|verbatim|f\[)", body):
            quoted = True
        elif re.match(r"\s*[\\@](endcode|endverbatim|f\])", body):
            quoted = False
        elif quoted:
            continue
        elif not body.strip() or re.match(r"@[{}]|[\\@](file|ingroup|overload|name|page|defgroup)\b", body.strip()):
            current = None
        elif (body.startswith("  ") and not (current and current.is_item)) or body.lstrip().startswith("|"):
            current = None
            texts.append(Text(counts=False))
            texts[-1].add(number, body)
        else:
            if current is None or re.match(r"\s*([-*] |\d+\. |[\\@](param|tparam|return|throws|pre|post|note)\b)", body):
                current = Text()
                current.is_item = bool(re.match(r"\s*([-*] |\d+\. |[\\@])", body))
                texts.append(current)
            body = re.sub(r"^\s*[-*] |[\\@](t?param(\[\w+\])? +\w+|returns?|throws? +\w+|brief|p|c|a|note|pre|post)\b", "", body)
            current.add(number, re.sub(r"`[^`]*`", "code", body))
    return texts


def texts_of_program(text):
    """String literals of three words or more, those that follow one another as one."""
    texts = []
    text = re.sub(r"^\s*//.*$", "", text, flags=re.M)
    literal = r'"(?:[^"\\\n]|\\.)*"'
    for match in re.finditer(rf"{literal}(?:\s*{literal})*", text):
        number = text.count("\n", 0, match.start()) + 1
        if text[text.rfind("\n", 0, match.start()) + 1:match.start()].lstrip().startswith("#"):
            continue
        whole = "".join(part[1:-1] for part in re.findall(literal, match[0])).replace('\\"', '"')
        if len(re.findall(r"[A-Za-z]{2,}", whole)) < 3:
            continue
        for part in re.split(r"\\n", whole):
            example = re.match(r"\s*(Example|mpirun|quintet-)|\s{3}", part)
            texts.append(Text(counts=not example))
            texts[-1].add(number, part)
    return texts


def texts_of_python(text):
    """Docstrings, without their examples."""
    texts = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            texts.append(Text(counts=False))
            for number, line in enumerate(node.body[0].value.value.split("\n"), node.body[0].lineno):
                if not re.match(r"\s*(>>>|\.\.\.)", line):
                    texts[-1].add(number, re.sub(r"`+[^`]*`+", "code", line))
    return texts


def texts_of(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".py"):
        return texts_of_python(text)
    if path.endswith(".md"):
        return texts_of_page(text.split("\n"))
    return (texts_of_program(text) if path.endswith(".cpp") else texts_of_header(text.split("\n")))


def words(sentence):
    return sum(1 for word in sentence.split() if re.search(r"\w", word))


def check(path, name):
    """The words of a file that are not allowed and its long sentences, both as lines, and the number of its sentences."""
    problems, long, lengths = [], [], []
    for text in texts_of(path):
        for number, sentence in text.sentences():
            for pattern, advice in FORBIDDEN.items():
                if match := pattern.search(sentence):
                    problems.append(f"{name}:{number}: \"{match[0]}\", write {advice}: {sentence}")
            length = words(sentence)
            if text.averaged and length:
                lengths.append(length)
            if text.counts and length > MAX_WORDS:
                long.append(f"{name}:{number}: {length} words, more than {MAX_WORDS}: {sentence}")
    if lengths and sum(lengths) > MEAN_WORDS * len(lengths):
        mean = sum(lengths) / len(lengths)
        long.append(f"{name}:1: {mean:.1f} words a sentence on average, more than {MEAN_WORDS}")
    return problems, long, len(lengths)


def files_of(source):
    yield from (page for page in PAGES if os.path.exists(os.path.join(source, page)))
    for top, endings in (("docs", (".md",)), ("include", (".hpp", ".h")), ("programs", (".cpp",)),
                         ("python/quintet", (".py",))):
        for folder, _, names in sorted(os.walk(os.path.join(source, top))):
            yield from (os.path.relpath(os.path.join(folder, name), source) for name in sorted(names) if name.endswith(endings))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", required=True, help="root of the tree")
    parser.add_argument("paths", nargs="*", help="only these files, relative to the root")
    parser.add_argument("--lengths", action="store_true", help="list the long sentences")
    arguments = parser.parse_args()
    problems, long, sentences = [], [], 0
    names = arguments.paths or list(files_of(arguments.source))
    for name in names:
        wrong, lengthy, number = check(os.path.join(arguments.source, name), name)
        problems += wrong
        long += lengthy
        sentences += number
    print("\n".join(problems + (long if arguments.lengths else []) +
                    [f"{sentences} sentences in {len(names)} files; words that are not allowed: {len(problems)}; "
                     f"remarks on length: {len(long)}"]))
    return 1 if problems or not sentences else 0


if __name__ == "__main__":
    sys.exit(main())
