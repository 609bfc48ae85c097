#!/usr/bin/env python3
"""Checks what the comparison of processors rests on (src/core/processor.hpp), in a static library's objects.

    check_entries.py --library libquintet.a --processor OBJECT --nm NM --readelf READELF

Every object with functions has entries that can be closed, but those of the target quintet_baseline; no object runs code
before main(), but that with the comparison and that which watches forks; and the object with the comparison uses no function
of the library but its own, nor a template's. Exit status 0: all is so; 1: not, and the faults are printed.
"""
import argparse
import os
import re
import subprocess
import sys

# What only objects of the target quintet_baseline define.
BASELINE = re.compile(r" T (quintet_\w+|_ZN7quintet10build_info\w*|_ZN7quintet14ProcessorError\w*)$", re.M)
FUNCTIONS = re.compile(r" [TW] _ZNK?7quintet")
USED = re.compile(r"_ZNK?St13runtime_error|_ZN7quintet6detail21compiled_instructions")


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def members(text, heading):
    """The part of each object in what a tool prints of an archive, in its order: names may come twice."""
    parts = re.split(heading, text, flags=re.M)
    return list(zip(parts[1::2], parts[2::2]))


def faults_of(name, symbols, sections):
    baseline = BASELINE.search(symbols) is not None
    is_open = "__patchable_function_entries" not in sections
    if baseline and not is_open:
        yield f"{name}: is for every processor, and has entries that are closed"
    if baseline:
        return
    if FUNCTIONS.search(symbols) and is_open:
        yield f"{name}: has functions without entries that can be closed"
    if re.search(r"\] \.(init_array|ctors|preinit_array)", sections):
        yield f"{name}: runs code before main(): make the static object constinit, or local to a function"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("library", "processor", "nm", "readelf"):
        parser.add_argument(f"--{option}", required=True)
    arguments = parser.parse_args()
    symbols = members(output_of(arguments.nm, arguments.library), r"^(\S+\.o):$")
    sections = members(output_of(arguments.readelf, "-SW", arguments.library), r"^File: .*\((.*)\)$")
    faults = []
    if [name for name, _ in symbols] != [name for name, _ in sections] or len(symbols) < 10:
        faults.append(f"{arguments.library}: {len(symbols)} objects by nm, {len(sections)} by readelf")
    for (name, of_nm), (_, of_readelf) in zip(symbols, sections):
        faults.extend(faults_of(name, of_nm, of_readelf))
    for line in output_of(arguments.nm, arguments.processor).splitlines():
        kind, symbol = line.split()[-2:]
        if kind in "UWw" and symbol.startswith("_ZN") and not USED.match(symbol):
            faults.append(f"{os.path.basename(arguments.processor)}: uses {symbol}, of which another object may have the copy")
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
