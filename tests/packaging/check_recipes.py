#!/usr/bin/env python3
"""Checks that recipes of packages agree with the build: one version everywhere, and the Debian packages that it needs.

    check_recipes.py --source DIR

Exit status 0: they do; 1: not.
"""
import argparse
import os
import re
import sys

VERSIONS = {  # file: where its version is
    "CITATION.cff": r"^version: (\S+)$",
    "packaging/conda/recipe.yaml": r'^  version: "([^"]+)"$',
    "packaging/spack/packages/quintet/package.py": r'^    version\("([^"]+)"\)$',
}
# Lists of Debian packages: the pattern of the list, and what it has beyond what scripts/packages.sh calls packages_build.
LISTS = {
    "README.md": (r"^apt-get install (clang-19 (?:.*\\\n)*.*)$", {"g++", "pkgconf"}),
    "packaging/docker/Dockerfile": (r"--no-install-recommends \\\n((?:.*\\\n)*?.*)\nWORKDIR", {"g++", "file", "dpkg-dev"}),
}


def words(text):
    return set(text.replace("\\", " ").split())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", required=True, help="root of the tree")
    source = parser.parse_args().source
    problems = []

    def match(path, pattern):
        found = re.search(pattern, open(os.path.join(source, path), encoding="utf-8").read(), re.M)
        if found is None:
            problems.append(f"{path}: nothing matches {pattern}")
        return found[1] if found else ""

    version = match("CMakeLists.txt", r"^project\(quintet VERSION (\S+)")
    for path, pattern in VERSIONS.items():
        other = match(path, pattern)
        if other != version:
            problems.append(f"{path} has version {other}, CMakeLists.txt {version}")
    needed = words(match("scripts/packages.sh", r'^packages_build="([^"]+)"'))
    for path, (pattern, more) in LISTS.items():
        listed = words(match(path, pattern))
        if listed != needed | more:
            problems.append(f"{path} lacks {sorted((needed | more) - listed)} and has {sorted(listed - needed - more)} more "
                            "than scripts/packages.sh")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


sys.exit(main())
