"""What a call costs beside the work: every function of the package on a tiny input.

    python python/bench/overhead.py [--only hdbscan linalg ...] [--markdown]

`call` is a whole call, `library` the part of it inside the C++ library, `own` the rest: checks, conversions, results. All
are the least of many rounds, in microseconds, with one thread.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import quintet
from quintet import _core, hdbscan, linalg, neighbours, poincare, snp, sparse


def measured(call: Callable[[], Any], rounds: int, repeats: int) -> tuple[float, float]:
    """Seconds of one call, and those of it outside the library. Rounds are short, to fit between interruptions."""
    call()
    whole = own = float("inf")
    for _ in range(rounds):
        inside, begin = _core.library_seconds(), time.perf_counter()
        for _ in range(repeats):
            call()
        taken, inside = time.perf_counter() - begin, _core.library_seconds() - inside
        whole, own = min(whole, taken), min(own, taken - inside)
    return whole / repeats, own / repeats


def functions() -> dict[str, Callable[[], Any]]:
    X = np.random.default_rng(0).normal(size=(6, 2))
    labels = np.array([0, 0, 0, 1, 1, 1])
    a = np.random.default_rng(1).normal(size=(3, 3))
    p, v = 0.1 * X, 0.01 * X
    h = poincare.to_hyperboloid(p)
    tree = hdbscan.spanning_tree(X, 2)
    found = hdbscan.cluster(X, 2, 2)
    U, S, Vh = linalg.svd(a)
    network = snp.Network("((A:0.1,B:0.1):0.2,C:0.3);", theta=0.05)
    data = snp.simulate(network, [2, 2, 2], 20)
    likelihood = snp.Likelihood(network, data)
    draws = np.random.default_rng(2).normal(size=(2, 20))
    calls: dict[str, Callable[[], Any]] = {
        "hdbscan.core_distances": lambda: hdbscan.core_distances(X, 1),
        "hdbscan.mutual_reachability": lambda: hdbscan.mutual_reachability(X),
        "hdbscan.core_and_reachability": lambda: hdbscan.core_and_reachability(X, 2),
        "hdbscan.spanning_tree": lambda: hdbscan.spanning_tree(X, 2),
        "hdbscan.single_linkage": lambda: hdbscan.single_linkage(tree.edges, 6),
        "hdbscan.condense": lambda: hdbscan.condense(found.linkage, 2),
        "hdbscan.summarise": lambda: hdbscan.summarise(found.condensed, 6),
        "hdbscan.select_clusters": lambda: hdbscan.select_clusters(found.condensed, 6),
        "hdbscan.label_points": lambda: hdbscan.label_points(found.condensed, found.selected, 6),
        "hdbscan.cluster_tree": lambda: hdbscan.cluster_tree(tree.edges, 6, min_cluster_size=2),
        "hdbscan.cluster": lambda: hdbscan.cluster(X, 2, 2),
        "hdbscan.cut": lambda: hdbscan.cut(found.linkage, 1.0, 2),
        "hdbscan.validity_index": lambda: hdbscan.validity_index(X, labels),
        "hdbscan.medoids": lambda: hdbscan.medoids(X, labels, np.ones(6)),
        "hdbscan.weighted_centroids": lambda: hdbscan.weighted_centroids(X, labels, np.ones(6)),
        "neighbours.nearest": lambda: neighbours.nearest(X, 1),
        "neighbours.within_radius": lambda: neighbours.within_radius(X, 1.0),
        "neighbours.precomputed_knn": lambda: neighbours.precomputed_knn(X, 2),
        "linalg.svd": lambda: linalg.svd(a),
        "linalg.svdvals": lambda: linalg.svdvals(a),
        "linalg.matrix_rank": lambda: linalg.matrix_rank(a),
        "linalg.cond": lambda: linalg.cond(a),
        "linalg.pinv": lambda: linalg.pinv(a),
        "linalg.lstsq": lambda: linalg.lstsq(a, a),
        "linalg.polar": lambda: linalg.polar(a),
        "linalg.low_rank": lambda: linalg.low_rank(a, 1),
        "linalg.svd_gradient": lambda: linalg.svd_gradient((U, S, Vh), U),
        "linalg.polar_gradient": lambda: linalg.polar_gradient((U, S, Vh), gW=a),
        "linalg.kabsch": lambda: linalg.kabsch(a, a),
        "linalg.kabsch_gradient": lambda: linalg.kabsch_gradient(a, a, g_rotation=a),
        "linalg.randomized_svd": lambda: linalg.randomized_svd(a, 1),
        "poincare.distances": lambda: poincare.distances(p, p),
        "poincare.pair_distances": lambda: poincare.pair_distances(p, p),
        "poincare.origin_distances": lambda: poincare.origin_distances(p),
        "poincare.nearest": lambda: poincare.nearest(p, p, 1),
        "poincare.mobius_add": lambda: poincare.mobius_add(p, p),
        "poincare.mobius_scalar_mul": lambda: poincare.mobius_scalar_mul(0.5, p),
        "poincare.exp_map": lambda: poincare.exp_map(v, p),
        "poincare.log_map": lambda: poincare.log_map(p, p[::-1]),
        "poincare.geodesic": lambda: poincare.geodesic(p, p[::-1], 0.5),
        "poincare.parallel_transport": lambda: poincare.parallel_transport(v, p, p[::-1]),
        "poincare.project": lambda: poincare.project(p, 1e-3),
        "poincare.conformal_factor": lambda: poincare.conformal_factor(p),
        "poincare.to_hyperboloid": lambda: poincare.to_hyperboloid(p),
        "poincare.from_hyperboloid": lambda: poincare.from_hyperboloid(h),
        "poincare.riemannian_gradient": lambda: poincare.riemannian_gradient(p, v),
        "poincare.distance_gradients": lambda: poincare.distance_gradients(p, p[::-1]),
        "poincare.rsgd_step": lambda: poincare.rsgd_step(p, v, 0.1, 1e-3),
        "poincare.gyromidpoint": lambda: poincare.gyromidpoint(p),
        "poincare.frechet_mean": lambda: poincare.frechet_mean(p),
        "snp.Network": lambda: snp.Network("((A:0.1,B:0.1):0.2,C:0.3);", theta=0.05),
        "snp.simulate": lambda: snp.simulate(network, [2, 2, 2], 20),
        "snp.Likelihood.evaluate": likelihood.evaluate,
        "snp.Likelihood.set_length": lambda: likelihood.set_length(0, 0.1),
        "snp.Likelihood.gradient": likelihood.gradient,
        "snp.summarise": lambda: snp.summarise(draws),
        "snp.rhat": lambda: snp.rhat(draws),
    }
    try:
        import scipy.sparse
    except ImportError:
        pass
    else:
        A = scipy.sparse.csr_array(a)
        plan = sparse.Plan(A, A)
        calls |= {
            "sparse.multiply": lambda: sparse.multiply(A, A),
            "sparse.multiply, masked": lambda: sparse.multiply(A, A, mask=A),
            "sparse.multiply, a report": lambda: sparse.multiply(A, A, return_report=True),
            "sparse.Plan": lambda: sparse.Plan(A, A),
            "sparse.Plan.execute": lambda: plan.execute(A, A),
            "sparse.multiply_dense": lambda: sparse.multiply_dense(A, a),
            "sparse.add": lambda: sparse.add(A, A),
            "sparse.transpose": lambda: sparse.transpose(A),
            "sparse.estimate": lambda: sparse.estimate(A, A),
            "SciPy's A @ A": lambda: A @ A,
        }
    try:
        import torch

        import quintet.torch as qt
    except ImportError:
        pass
    else:
        t, w, x = torch.from_numpy(a), torch.from_numpy(a.copy()).requires_grad_(), torch.from_numpy(p)
        ball = qt.PoincareBall()
        calls |= {
            "torch.svd": lambda: qt.svd(t),
            "torch.svd, with history": lambda: qt.svd(w),
            "torch.svdvals": lambda: qt.svdvals(t),
            "torch.kabsch": lambda: qt.kabsch(t, t),
            "torch.cdist": lambda: qt.cdist(x, x),
            "torch.PoincareBall.dist": lambda: ball.dist(x, x),
            "torch's linalg.svd": lambda: torch.linalg.svd(t),
        }
    return calls


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[], help="beginnings of names")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--markdown", action="store_true", help="a table for a document")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    quintet.set_num_threads(1)
    print("| function | call | library | own |\n|---|---:|---:|---:|" if options.markdown
          else f"{'function, microseconds':<34}{'call':>8}{'library':>9}{'own':>8}")
    for name, call in functions().items():
        if options.only and not name.startswith(tuple(options.only)):
            continue
        whole, own = (1e6 * s for s in measured(call, options.rounds, options.repeats))
        if "'s" in name:
            print(f"| {name} | {whole:.1f} | | |" if options.markdown else f"{name:<34}{whole:8.1f}")
        else:
            print(f"| `{name}` | {whole:.1f} | {whole - own:.1f} | {own:.1f} |" if options.markdown
                  else f"{name:<34}{whole:8.1f}{whole - own:9.1f}{own:8.1f}")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
