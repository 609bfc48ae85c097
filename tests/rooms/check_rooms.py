#!/usr/bin/env python3
"""Checks that includes go down only, from the interfaces to the families, to the pairwise engine, to core and device.

    check_rooms.py --source DIR

A room is a folder of src/ with the folder of include/quintet/ of the same name. ROOMS says which rooms a room may use: their
private headers, those of src/, or only the public ones. Exit status 0: all is right; 1: not.
"""
import argparse
import os
import re
import sys

BASE = {"core", "device"}  # views know the device whose memory they are, so these two know each other
FAMILIES = {"hdbscan", "neighbours", "poincare", "snp", "spgemm", "svd"}
ROOMS = {  # room: (rooms whose private headers it may use, rooms of which it may use the public ones too)
    "core": (BASE, set()),
    "device": (BASE, set()),
    "pairwise": (BASE, set()),
    "hdbscan": (BASE | {"pairwise"}, set()),
    "neighbours": (BASE | {"pairwise"}, {"spgemm"}),  # neighbours as a sparse matrix
    "poincare": (BASE | {"pairwise"}, set()),
    "snp": (BASE, set()),
    "spgemm": (BASE, set()),
    "svd": (BASE, set()),
    "io": (BASE, {"snp", "spgemm"}),
    "mpi": (BASE | FAMILIES | {"pairwise"}, {"io"}),
    "c": (BASE, FAMILIES | {"io", "pairwise"}),
}
INCLUDE = re.compile(r'^\s*#\s*include "([^"]+)"', re.M)


def includes(source):
    """(file, its room, the header, the header's room or None where it belongs to all, whether that is public)"""
    for base, public in (("src", False), ("include/quintet", True)):
        for folder, _, names in sorted(os.walk(os.path.join(source, base))):
            parts = os.path.relpath(folder, os.path.join(source, base)).split(os.sep)
            for name in sorted(names):
                if not name.endswith((".hpp", ".cpp", ".h", ".c")) or parts == ["."]:
                    continue
                path = os.path.join(folder, name)
                for header in INCLUDE.findall(open(path, encoding="utf-8").read()):
                    where = header.split("/")
                    is_public = where[0] == "quintet"
                    where = where[is_public:]
                    yield os.path.relpath(path, source), parts[0], header, where[0] if where[1:] else None, is_public


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", required=True, help="root of the tree")
    source = parser.parse_args().source
    problems, seen = [], 0
    for path, room, header, other, is_public in includes(source):
        seen += 1
        if room not in ROOMS:
            problems.append(f"{path}: {room} is no room that tests/rooms/check_rooms.py knows")
        elif other is not None and other != room:
            private, public = ROOMS[room]
            if other not in (private | public if is_public else private):
                problems.append(f"{path}: {room} must not include {header}")
        if path.startswith("include/") and not is_public:
            problems.append(f"{path}: a public header must not include {header}")
    for problem in sorted(set(problems)):
        print(problem)
    if seen == 0:
        sys.exit(f"no include in {source}/src")
    print(f"{seen} includes")
    sys.exit(1 if problems else 0)


main()
