#!/usr/bin/env python3
"""Checks that includes go down only, from the interfaces to the families, to the pairwise engine, to core and device.

    check_rooms.py --source DIR

The header of a family, FAMILY/FAMILY.hpp for those of WHOLE, has to include all others of its folder, and quintet.hpp has to
lead to all headers but those of APART, which need another library.

A room is a folder of src/ with the folder of include/quintet/ of the same name. ROOMS says which rooms a room may use: their
private headers, those of src/, or only the public ones. Large rooms are divided: LAYERS names the parts of a room from the lowest
to the highest, and a file may include its own part and lower ones. Exit status 0: all is right; 1: not.
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
    "io": (BASE, {"hdbscan", "neighbours", "snp", "spgemm"}),
    "distributed": (BASE | {"hdbscan", "pairwise"}, set()),
    "mpi": (BASE | FAMILIES | {"distributed", "pairwise"}, {"io"}),
    "c": (BASE, FAMILIES | {"io", "pairwise"}),
}
LAYERS = {  # room: (part, pattern of the paths in it without their endings), from the lowest part to the highest
    "snp": (
        ("network", r"network/.*"),
        ("markers", r"markers/.*"),
        ("likelihood", r"likelihood/.*"),
        ("inference", r"inference/.*"),
        ("simulation", r"simulation/.*"),
        ("family", r"snp"),
    ),
    "svd": (
        ("lanes", r"lane_math|sums|maps|rotation|options"),
        ("steps", r"job|workspace|transfer|pairs|sweeps|finish|householder|jacobi_policies"
                  r"|bidiagonal.*|qd.*|small_values|division_memory"),
        ("large", r"eigenvectors|division|reflection_blocks|tridiagonal.*|gram_qr_steps|large_.*"),
        ("jacobi", r"jacobi(_(?!policies).*)?|small_kernel|block_jacobi.*|eigen_kernel"),
        ("functions", r"centring|checks|decompose|gram_qr|eigen|applications|gradient.*|polar_gradient.*|kabsch|randomised|range_finder"
                      r"|certify.*|cholesky_kernel|definite|residuals|subspaces|symmetric"),
        ("family", r"svd"),
    ),
    "pairwise": (
        ("points", r"metric|packed_bits|packed_integers|word_rows|product_.*|reduced_limit|coordinate_term|lane_bits|sphere"
                   r"|compensated|sheet_kernel|ball|shape|dimensions|check_points|panels|scan.*|stored_rows|transposed_rows"),
        ("tiles", r"tile_kernel|triangle|pack_loop|point_factors|dot_bounds|edge_bounds|minima|group_minima.*|dense_kernel"
                  r"|cross_kernel|resident_tile|nearest_kernel|lightest_kernel|pairs.*|sinks.*"),
        ("lists", r"list_plan|neighbours|sheet_lists|short_list|filter.*|refine_kernel|rounded_points.*|locality"),
        ("trees", r"block_tree.*|tree_.*|kept_points"),
    ),
    "hdbscan": (
        ("tree stage", r"edge|tree_stages(/.*)?|tree_rules|weights|cluster_tree|cut|disjoint_sets"
                       r"|persistence_trace|dendrogram_splits"),
        ("distances", r"checks|core_.*|mutual_reachability|reachability_source|row_.*"),
        ("spanning tree", r"spanning_tree.*|boruvka.*|rounds|edge_search|piles|tile_.*|prim|listed_tree|tree_candidates"
                          r"|lightest_forest"),
        ("clustering", r"hdbscan|finish|precomputed|graph|symmetric_check"),
        ("use", r"fitted_tree|joining|medoids|members|membership.*|each_row|predict.*|validity|relative_validity|sweep"),
    ),
}
WHOLE = ("poincare", "snp", "spgemm", "svd")
APART = {"c", "io", "mpi"}
ALONE = {"spgemm/complex_product.hpp"}  # spgemm.hpp says why
INCLUDE = re.compile(r'^\s*#\s*include "([^"]+)"', re.M)


def includes(source):
    """(file, its room, the header, the header's room or None where it belongs to all, whether that is public)"""
    for base in ("src", "include/quintet"):
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


def layer_of(room, path):
    """Number of the part of `room` that `path`, below the room's folder, belongs to; None where it is in none, or in two."""
    stem = re.sub(r"(\.hpp\.in|\.\w+)$", "", path)
    parts = [i for i, (_, pattern) in enumerate(LAYERS[room]) if re.fullmatch(pattern, stem)]
    return parts[0] if len(parts) == 1 else None


def check_layers(path, room, header):
    """What is wrong with an include inside a divided room, or an empty list."""
    file = path.split("/", 3)[3] if path.startswith("include/") else path.split("/", 2)[2]
    other = header.split("/", 2)[2] if header.startswith("quintet/") else header.split("/", 1)[1]
    layers = [layer_of(room, name) for name in (file, other)]
    problems = [f"{path}: {name} is in no part, or in two, of {room} in tests/rooms/check_rooms.py"
                for name, layer in zip((file, other), layers) if layer is None]
    if not problems and layers[1] > layers[0]:
        names = [LAYERS[room][layer][0] for layer in layers]
        problems.append(f"{path}: {room}'s part {names[0]} must not include {header} of the part {names[1]}")
    return problems


def headers_of(folder):
    """Paths of the headers below include/quintet/, without those of folders called detail."""
    return {os.path.relpath(os.path.join(place, name), folder) for place, _, names in os.walk(folder) for name in names
            if name.endswith(".hpp") and "detail" not in place.split(os.sep)}


def check_whole(source):
    """What the headers of families and quintet.hpp lack."""
    base = os.path.join(source, "include/quintet")
    included = {path: set(re.findall(r'#include "quintet/([^"]+)"', open(os.path.join(base, path), encoding="utf-8").read()))
                for path in headers_of(base) - ALONE}
    wholes = {f"{family}/{family}.hpp": {path for path in included if path.startswith(f"{family}/")} for family in WHOLE}
    wholes["quintet.hpp"] = {path for path in included if "/" in path and path.split("/")[0] not in APART}
    problems = []
    for whole, wanted in wholes.items():
        if whole not in included:
            continue
        there, rest = set(), [whole]
        while rest:
            path = rest.pop()
            if path not in there:
                there.add(path)
                rest += included.get(path, ()) if path == whole or path in wholes else ()
        problems += [f"include/quintet/{whole} must include quintet/{path}" for path in sorted(wanted - there)]
    return problems


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
        elif other == room and room in LAYERS:
            problems += check_layers(path, room, header)
        if path.startswith("include/") and not is_public:
            problems.append(f"{path}: a public header must not include {header}")
    problems += check_whole(source)
    for problem in sorted(set(problems)):
        print(problem)
    if seen == 0:
        sys.exit(f"no include in {source}/src")
    print(f"{seen} includes")
    sys.exit(1 if problems else 0)


main()
