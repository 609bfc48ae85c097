"""The few-dimensional rows of bench/compare.py: whole programs beside their peers, interleaved.

Every round runs quintet-hdbscan or quintet-neighbours (reading and writing included) and every peer (the work alone,
see peers/few_dimensions_peers.py) on the same file, each in a separate process. Both the CPU seconds, which mean
something also when other work is running, and the wall time are kept. Of a spanning tree ours are the seconds of the
stages neighbours and spanning_tree, and their share of the CPU seconds.
"""
import json
import os
import re
import resource
import subprocess
import sys
import time

import few_dimensions_points

HERE = os.path.dirname(os.path.abspath(__file__))
CLUSTERING, TREE, NEIGHBOURS = "clustering", "spanning tree", "16 nearest"
# (task, points, dimensions, kind, peers)
CASES = [
    (CLUSTERING, 100_000, 2, "noise", ("fast_hdbscan", "hdbscan", "oneDAL kd_tree", "hdbscan-rs")),
    (CLUSTERING, 50_000, 5, "map", ("fast_hdbscan", "hdbscan", "oneDAL kd_tree", "hdbscan-rs")),
    (CLUSTERING, 50_000, 10, "map", ("fast_hdbscan", "oneDAL kd_tree", "hdbscan-rs")),
    (TREE, 100_000, 2, "noise", ("quitefastmst",)),
    (TREE, 100_000, 3, "noise", ("quitefastmst",)),
    (TREE, 50_000, 5, "map", ("quitefastmst",)),
    (TREE, 50_000, 8, "map", ("quitefastmst",)),
    (CLUSTERING, 5000, 384, "embeddings", ("oneDAL brute_force",)),
    (NEIGHBOURS, 200_000, 2, "noise", ("cKDTree",)),
    (NEIGHBOURS, 200_000, 3, "noise", ("cKDTree",)),
    (NEIGHBOURS, 100_000, 5, "map", ("cKDTree",)),
    (NEIGHBOURS, 20_000, 384, "embeddings", ("FAISS",)),
]
LARGE = [
    (CLUSTERING, 1_000_000, 2, "noise", ("fast_hdbscan",)),
    (CLUSTERING, 200_000, 5, "map", ("fast_hdbscan", "oneDAL kd_tree")),
    (CLUSTERING, 200_000, 10, "map", ("fast_hdbscan", "oneDAL kd_tree")),
    (NEIGHBOURS, 1_000_000, 2, "noise", ("cKDTree",)),
    (NEIGHBOURS, 1_000_000, 3, "noise", ("cKDTree",)),
    (NEIGHBOURS, 1_000_000, 5, "map", ("cKDTree",)),
    (NEIGHBOURS, 100_000, 384, "embeddings", ("FAISS",)),
]


def title(case):
    task, n, dim, kind, _ = case
    return f"{task}, {n:,} x {dim}, {kind}"


def write_points(case, folder):
    import numpy as np

    _, n, dim, kind, _ = case
    path = os.path.join(folder, f"{n}_{dim}_{kind}.npy")
    if not os.path.exists(path):
        np.save(path, few_dimensions_points.KINDS[kind](n, dim))
    return path


def run_ours(case, path, folder, binaries, threads):
    summary = os.path.join(folder, "o.json")
    program, arguments = (("quintet-neighbours", ["--k", "16"]) if case[0] == NEIGHBOURS else
                          ("quintet-hdbscan", ["--min-cluster-size", "50", "--min-samples", "10", "--json", summary]))
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([os.path.join(binaries, program), "--input", path, "--output", os.path.join(folder, "o.h5"),
                           "--quiet", *arguments], capture_output=True, text=True,
                          env=dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_WAIT_POLICY="passive"))
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{program}: exit status {done.returncode}\n{done.stderr}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if case[0] != TREE:
        return {"wall": wall, "cpu": cpu}
    with open(summary, encoding="utf-8") as file:
        seconds = json.load(file)["seconds"]
    of_tree = seconds["neighbours"] + seconds["spanning_tree"]
    return {"wall": of_tree, "cpu": cpu * of_tree / wall}


def run_peer(peer, path, python, threads):
    """None where the peer is not installed, or fails."""
    if peer.startswith("oneDAL"):  # a program beside the interpreter, see peers/onedal_hdbscan.cpp
        command = [os.path.join(os.path.dirname(python), "onedal_hdbscan"), peer.split()[1], path]
    else:
        command = [python, os.path.join(HERE, "peers", "few_dimensions_peers.py"), peer, path]
    try:
        done = subprocess.run(command, capture_output=True, text=True,
                              env=dict(os.environ, OMP_NUM_THREADS=str(threads), NUMBA_NUM_THREADS=str(threads),
                                       OPENBLAS_NUM_THREADS=str(threads), RAYON_NUM_THREADS=str(threads)))
    except FileNotFoundError:
        return None
    found = re.search(r"^wall ([\d.]+) cpu ([\d.]+)", done.stdout, re.M)
    if found is None:
        print(f"{peer}: {(done.stderr.strip().splitlines() or ['no output'])[-1]}", file=sys.stderr)
        return None
    return {"wall": float(found[1]), "cpu": float(found[2])}


def run_rounds(cases, rounds, binaries, python, threads, folder):
    """For every round a dictionary (title, program) -> {"wall", "cpu"}; ours is "quintet"."""
    results = []
    absent = set()
    for _ in range(rounds):
        found = {}
        for case in cases:
            path = write_points(case, folder)
            found[title(case), "quintet"] = run_ours(case, path, folder, binaries, threads)
            for peer in case[4]:
                if not python or (title(case), peer) in absent:
                    continue
                measured = run_peer(peer, path, python, threads)
                if measured is None:
                    absent.add((title(case), peer))
                else:
                    found[title(case), peer] = measured
        results.append(found)
    return results
