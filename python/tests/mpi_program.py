"""Run by test_mpi.py under mpirun: every function of quintet.mpi against the plain one of all rows, bit for bit."""

import sys

import numpy as np
import scipy.sparse
from mpi4py import MPI

import quintet
from quintet import hdbscan, lorentz, mpi, neighbours, poincare, product, snp, sparse

ranks = mpi.Communicator(MPI.COMM_WORLD)
random = np.random.default_rng(1)


def same(found, expected):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype and found.shape == expected.shape, (found.dtype, found.shape, expected.shape)
    assert found.tobytes() == expected.tobytes()


def clusters():
    centres = random.normal(0, 4, (6, 40))
    points = centres[random.integers(0, 6, 700)] + random.normal(0, 0.5, (700, 40))
    points[::9] = points[3]
    points[5, 2] = np.nan
    for X, options in (
        (points.astype(np.float32), {}),
        (points, {"metric": "cosine", "alpha": 1.5}),
        (points.astype(np.float16), {"min_samples": 3, "cluster_selection_method": "leaf"}),
        (random.normal(size=(2500, 2)), {}),
        (points[: ranks.size - 1].astype(np.float32), {}),  # a rank without rows
    ):
        expected = hdbscan.cluster(X, 8, **options)
        mine = ranks.own_rows(len(X))
        found = mpi.cluster(ranks, X[mine], 8, **options)
        same(found.labels, expected.labels[mine])
        same(found.probabilities, expected.probabilities[mine])
        same(found.outlier_scores, expected.outlier_scores[mine])
        assert (found.whole is not None) == (ranks.rank == 0)
        tree = mpi.spanning_tree(MPI.COMM_WORLD, X[mine], 4)
        if found.whole is not None:
            same(found.whole.labels, expected.labels)
            same(found.whole.linkage, expected.linkage)
            same(found.whole.condensed, expected.condensed)
            same(found.whole.core_distances, expected.core_distances)
            same(tree.edges, hdbscan.spanning_tree(X, 4).edges)
    assert sum(phase.sent for phase in ranks.traffic()) > 0 or ranks.size == 1


def lists():
    X = random.normal(size=(300, 24)).astype(np.float32)
    X[17] = np.inf
    mine = ranks.own_rows(len(X))
    expected, found = neighbours.nearest(X, 5), mpi.nearest(ranks, X[mine], 5)
    same(found.distances, expected.distances[mine])
    same(found.indices, expected.indices[mine])
    same(found.invalid_points, expected.invalid_points)
    Y = X[::3] + np.float32(0.01)
    asked = ranks.own_rows(len(Y))
    for rows, queries, options in (
        (X, Y, {}),
        (X[:, :5].astype(np.float64), Y[:, :5].astype(np.float64), {"metric": "lorentz", "curvature": -0.5}),
        (X[:, :5], Y[:, :5], {"metric": product.metric([("lorentz", 2), ("sphere", 2), ("euclidean", 1, 0, 3)])}),
        (X, Y[: ranks.size - 1], {"metric": "cosine"}),  # a rank without queries
    ):
        if options.get("metric") == "lorentz":
            rows[17] = np.nan
        asked = ranks.own_rows(len(queries))
        expected = neighbours.nearest(rows, 5, queries=queries, **options)
        found = mpi.nearest(ranks, rows[mine], 5, queries=queries[asked], **options)
        same(found.distances, expected.distances[asked])
        same(found.indices, expected.indices[asked])
        same(found.invalid_points, expected.invalid_points)


def sheet():
    points, queries = random.normal(0, 20, (90, 3)), random.normal(0, 20, (31, 3))
    own, asked = ranks.own_rows(len(points)), ranks.own_rows(len(queries))
    for options in ({"curvature": -0.5}, {"time": "ignore"}):
        same(
            mpi.lorentz_distances(ranks, queries[asked], points[own], **options),
            lorentz.distances(queries, points, **options)[asked],
        )


def ball():
    points = random.uniform(-0.4, 0.4, (90, 3))
    queries = random.uniform(-0.4, 0.4, (31, 3))
    own, asked = ranks.own_rows(len(points)), ranks.own_rows(len(queries))
    index, distance = mpi.poincare_nearest(ranks, queries[asked], points[own], 4, curvature=-0.5)
    expected = poincare.nearest(queries, points, 4, curvature=-0.5)
    same(index, expected[0][asked])
    same(distance, expected[1][asked])
    same(mpi.poincare_distances(ranks, queries[asked], points[own]), poincare.distances(queries, points)[asked])
    index, _ = mpi.poincare_nearest(ranks, points[own], points[own], 2, exclude_self=True)
    same(index, poincare.nearest(points, points, 2, exclude_self=True)[0][own])


def matrices():
    for a in (random.normal(size=(23, 7, 4)).astype(np.float32), random.normal(size=(5, 3, 6))):
        mine = ranks.own_rows(len(a))
        for found, expected in zip(mpi.svd(ranks, a[mine], full_matrices=False), quintet.svd(a, full_matrices=False)):
            same(found, expected[mine])
        same(mpi.svd(ranks, a[mine], compute_uv=False), quintet.svd(a, compute_uv=False)[mine])
    a = random.normal(size=(11, 3, 3))
    mine = ranks.own_rows(len(a))
    for found, expected in zip(mpi.svd(ranks, a[mine], proper_rotations=True), quintet.svd(a, proper_rotations=True)):
        same(found, expected[mine])


def products():
    a = scipy.sparse.random_array((60, 50), density=0.1, rng=random, format="csr")
    b = scipy.sparse.random_array((50, 40), density=0.1, rng=random, format="csr")
    own_a, own_b = ranks.own_rows(60), ranks.own_rows(50)
    for layout in ("automatic", "rows", "grid"):
        for ring in ("plus_times", "min_plus"):
            expected = sparse.multiply(a, b, semiring=ring)
            c, first, report = mpi.multiply(
                ranks, a[own_a], b[own_b], semiring=ring, layout=layout, budget=400, return_report=True
            )
            part = expected[first : first + c.shape[0]]
            same(c.data, part.data)
            same(c.indices.astype(np.int64), part.indices.astype(np.int64))
            assert report["products"] > 0
    c, first = mpi.multiply(ranks, a[own_a], b[own_b], balance=False)
    assert first == own_a.start and c.shape[0] == own_a.stop - own_a.start


def trees():
    network = snp.Network("((A:0.1,B:0.1):0.2,C:0.3);", theta=0.05)
    data = snp.simulate(network, [2, 2, 2], 200, seed=3)
    group = mpi.snp_group(ranks)
    alone, shared = snp.Likelihood(network, data), snp.Likelihood(network, data, shared_by=group)
    assert shared.evaluate() == alone.evaluate()
    for one in (alone, shared):
        one.set_length(0, 0.15)
    assert shared.evaluate() == alone.evaluate()
    how = {"iterations": 1000, "burn_in": 0, "sample_every": 100, "max_reticulations": 0, "temperatures": 2, "seed": 4,
           "swap_every": 50, "threads": 1}
    samplers = snp.Sampler(data, **how), snp.Sampler(data, shared_by=group, **how)
    for sampler in samplers:
        sampler.advance()
    alone, shared = (sampler.take_samples() for sampler in samplers)
    if ranks.rank == 0:
        for one, other in zip(alone, shared):
            same(other[1], one[1])
            assert other[2] == one[2]


def raised(kind, words, call):
    try:
        call()
    except kind as error:
        assert words in str(error), error
        return
    raise AssertionError(f"no {kind.__name__}")


def errors():
    X = random.normal(size=(40, 3))
    mine = ranks.own_rows(len(X))
    invalid = quintet.InvalidArgument
    raised(invalid, "alpha must be > 0", lambda: mpi.cluster(ranks, X[mine], alpha=-1.0))
    raised(invalid, "k must be in [1, 39]", lambda: mpi.nearest(ranks, X[mine], 40))
    raised(TypeError, "communicator of mpi4py", lambda: mpi.nearest(5, X[mine], 2))
    if ranks.size == 1:
        return
    last = ranks.rank == ranks.size - 1
    raised(invalid, "must be the same on all ranks", lambda: mpi.nearest(ranks, X[mine], 3 + last))
    raised(invalid, "the type of points", lambda: mpi.nearest(ranks, X[mine].astype("f4") if last else X[mine], 3))
    # What one rank alone is given wrong.
    raised(TypeError if last else invalid, "dtype", lambda: mpi.nearest(ranks, X[mine] + 1j if last else X[mine], 3))
    raised(invalid, "cols", lambda: mpi.nearest(ranks, X[mine][:, :2] if last else X[mine], 3))
    raised(invalid, "metric", lambda: mpi.cluster(ranks, X[mine], metric="none" if last else "cosine"))


for name in sys.argv[1:]:
    globals()[name]()
    print(f"{name}: passed", flush=True)
