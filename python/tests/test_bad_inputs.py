"""What no function may take: of every family, one by one, the right exception and no crash."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import quintet
from quintet import hdbscan, linalg, lorentz, neighbours, poincare, snp, sparse

Call = Callable[[Any], Any]

#: name: (its array argument, the function of that array)
FUNCTIONS: dict[str, tuple[str, Call]] = {
    "hdbscan.cluster": ("X", lambda x: hdbscan.cluster(x, 2, 2)),
    "hdbscan.core_distances": ("X", lambda x: hdbscan.core_distances(x, 2)),
    "hdbscan.core_and_reachability": ("X", lambda x: hdbscan.core_and_reachability(x, 2)),
    "hdbscan.mutual_reachability": ("X", hdbscan.mutual_reachability),
    "hdbscan.spanning_tree": ("X", lambda x: hdbscan.spanning_tree(x, 2)),
    "hdbscan.medoids": ("X", lambda x: hdbscan.medoids(x, np.arange(8) % 2)),
    "hdbscan.weighted_centroids": ("X", lambda x: hdbscan.weighted_centroids(x, np.arange(8) % 2)),
    "hdbscan.validity_index": ("X", lambda x: hdbscan.validity_index(x, np.arange(8) % 2)),
    "neighbours.nearest": ("points", lambda x: neighbours.nearest(x, 1)),
    "neighbours.within_radius": ("points", lambda x: neighbours.within_radius(x, 1.0)),
    "linalg.svd": ("a", linalg.svd),
    "linalg.svdvals": ("a", linalg.svdvals),
    "linalg.eigh": ("a", lambda x: linalg.eigh(square(x))),
    "linalg.eigvalsh": ("a", lambda x: linalg.eigvalsh(square(x))),
    "linalg.pinv": ("a", linalg.pinv),
    "linalg.lstsq": ("a", lambda x: linalg.lstsq(x, x)),
    "linalg.polar": ("a", linalg.polar),
    "linalg.low_rank": ("a", lambda x: linalg.low_rank(x, 1)),
    "linalg.cond": ("a", linalg.cond),
    "linalg.matrix_rank": ("a", linalg.matrix_rank),
    "linalg.kabsch": ("points", lambda x: linalg.kabsch(x, x)),
    "linalg.kabsch_gradient": ("points", lambda x: linalg.kabsch_gradient(x, x, g_translation=np.ones(3, like_type(x)))),
    "linalg.randomized_svd": ("a", lambda x: linalg.randomized_svd(x, 1)),
    "lorentz.distances": ("x", lambda x: lorentz.distances(x, x)),
    "lorentz.pair_distances": ("x", lambda x: lorentz.pair_distances(x, x)),
    "lorentz.origin_distances": ("x", lorentz.origin_distances),
    "poincare.distances": ("x", lambda x: poincare.distances(x, x)),
    "poincare.pair_distances": ("x", lambda x: poincare.pair_distances(x, x)),
    "poincare.origin_distances": ("x", poincare.origin_distances),
    "poincare.nearest": ("x", lambda x: poincare.nearest(x, x, 1)),
    "poincare.mobius_add": ("x", lambda x: poincare.mobius_add(x, x)),
    "poincare.exp_map": ("v", poincare.exp_map),
    "poincare.distance_gradients": ("x", lambda x: poincare.distance_gradients(x, x)),
    "poincare.frechet_mean": ("points", poincare.frechet_mean),
    "poincare.gyromidpoint": ("points", poincare.gyromidpoint),
    "poincare.mobius_scalar_mul": ("x", lambda x: poincare.mobius_scalar_mul(0.5, x)),
    "poincare.log_map": ("y", poincare.log_map),
    "poincare.geodesic": ("x", lambda x: poincare.geodesic(x, x, 0.5)),
    "poincare.parallel_transport": ("x", lambda x: poincare.parallel_transport(x, x, x)),
    "poincare.project": ("x", lambda x: poincare.project(x, 1e-3)),
    "poincare.conformal_factor": ("x", poincare.conformal_factor),
    "poincare.to_hyperboloid": ("x", poincare.to_hyperboloid),
    "poincare.from_hyperboloid": ("h", poincare.from_hyperboloid),
    "poincare.riemannian_gradient": ("x", lambda x: poincare.riemannian_gradient(x, x)),
    "poincare.adam_step": ("x", lambda x: poincare.adam_step(x, x, 1e-3)),
    "poincare.rsgd_step": ("x", lambda x: poincare.rsgd_step(x, x, 0.1, 1e-3)),
    "sparse.multiply_dense": ("X", lambda x: sparse.multiply_dense(eye(8), x)),
    "quintet.HDBSCAN": ("X", lambda x: quintet.HDBSCAN(min_cluster_size=2).fit(x)),
}
#: Of scikit-learn's conventions: their messages name what is wrong, but not the argument.
ESTIMATORS = {"quintet.HDBSCAN"}
WHOLE_NUMBERS = {name for name in FUNCTIONS if name.startswith(("hdbscan", "neighbours", "quintet", "sparse"))}


def square(x: Any) -> Any:
    return x[:3] if hasattr(x, "__getitem__") and getattr(x, "ndim", 0) == 2 else x


def eye(n: int) -> Any:
    return pytest.importorskip("scipy.sparse").eye_array(n, format="csr")


@pytest.fixture
def x() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(8, 3)) / 10


def named(name: str, argument: str) -> str | None:
    return None if name in ESTIMATORS else rf"\b{argument}\b"


def like_type(x: Any) -> Any:
    """The type of NumPy for an array or tensor of floats; what is bad has none."""
    return str(getattr(x, "dtype", "")).removeprefix("torch.") if "float" in str(getattr(x, "dtype", "")) else float


def needs(name: str) -> None:
    if name in ESTIMATORS:
        pytest.importorskip("sklearn")


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_types(name: str, x: np.ndarray) -> None:
    needs(name)
    argument, call = FUNCTIONS[name]
    bad = [x.astype(complex), x.astype(object) + 0j, x.astype("U8"), x.astype("M8[s]"), np.zeros(8, "i4,f8")]
    if name not in WHOLE_NUMBERS:
        bad += [x.astype(int), x > 0]
    for array in bad:
        with pytest.raises((TypeError, ValueError) if name in ESTIMATORS else TypeError, match=named(name, argument)):
            call(array)


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_shapes(name: str, x: np.ndarray) -> None:
    needs(name)
    argument, call = FUNCTIONS[name]
    bad = [np.float64(1.0)]
    if not name.startswith(("linalg", "lorentz", "poincare", "sparse")):
        bad += [x[0], x[None]]
    for array in bad:
        with pytest.raises((TypeError, ValueError), match=named(name, argument)):
            call(array)


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_not_a_number(name: str, x: np.ndarray) -> None:
    """An exception, or NaN and -1 for the rows that have one: numbers come of numbers only."""
    needs(name)
    _, call = FUNCTIONS[name]
    for value in (np.nan, np.inf):
        x[2, 1] = value
        try:
            found = call(x)
        except (ValueError, np.linalg.LinAlgError):
            continue
        assert not name.startswith("linalg"), name
        if name.endswith("cluster") or name in ESTIMATORS:
            assert (found.labels if name.endswith("cluster") else found.labels_)[2] == -1
        elif name == "hdbscan.medoids":
            assert (found != 2).all()
        elif name == "hdbscan.weighted_centroids":  # of the rows that are left
            assert np.isfinite(found).all() and not (found == call(np.where(np.isfinite(x), x, 0))).all()
        elif name.endswith("nearest") and not name.startswith("poincare"):
            assert (found.indices[2] == -1).all() and (found.indices != 2).all()
        elif isinstance(found, np.ndarray):
            assert not np.isfinite(found).all()


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_strides_and_read_only_arrays(name: str, x: np.ndarray) -> None:
    """Any strides give the same bits; what may not be written is not."""
    needs(name)
    _, call = FUNCTIONS[name]

    def bits(value: Any) -> list[bytes]:
        if isinstance(value, np.ndarray):
            return [value.tobytes()]
        if isinstance(value, (tuple, list)):
            return [b for part in value for b in bits(part)]
        return bits(value.labels_) if name in ESTIMATORS else bits(value.labels) if hasattr(value, "labels") else []

    expected = bits(call(x))
    wide = np.zeros((16, 6))
    wide[::2, ::2] = x
    frozen = x.copy()
    frozen.flags.writeable = False
    for other in (np.asfortranarray(x), wide[::2, ::2], x[::-1].copy()[::-1], frozen, x.astype(">f8")):
        before = other.tobytes()
        assert bits(call(other)) == expected
        assert other.tobytes() == before


class OnGpu:
    """What a function sees of an array of CuPy."""

    shape, dtype, ndim = (8, 3), np.dtype(np.float64), 2
    __cuda_array_interface__ = {"shape": (8, 3), "typestr": "<f8", "data": (0, False), "version": 3}

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, **_: Any) -> Any:
        raise AssertionError("nobody may ask for memory of a GPU")


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in ESTIMATORS])
def test_arrays_of_a_gpu(name: str) -> None:
    argument, call = FUNCTIONS[name]
    with pytest.raises(quintet.DeviceError, match=rf"\b{argument}\b.*processor"):
        call(OnGpu())


@pytest.mark.torch
@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_tensors(name: str, x: np.ndarray) -> None:
    """Of another device, and those that require a gradient, which functions on arrays would lose."""
    torch = pytest.importorskip("torch")
    needs(name)
    argument, call = FUNCTIONS[name]
    with pytest.raises(TypeError, match="requires a gradient" if name in ESTIMATORS else f"{argument} requires a gradient"):
        call(torch.from_numpy(x).requires_grad_())
    with pytest.raises(quintet.DeviceError, match="processor"):
        call(torch.empty(8, 3, device="meta"))
    negative = torch.complex(torch.zeros(8, 3), torch.from_numpy(-x).float()).conj().imag
    assert negative.is_neg()
    got, expected = call(negative), call(torch.from_numpy(x).float())
    if isinstance(got, torch.Tensor):
        torch.testing.assert_close(got, expected, rtol=0, atol=0, equal_nan=True)


def test_other_devices_are_refused(x: np.ndarray) -> None:
    for call in (
        lambda d: hdbscan.cluster(x, device=d),
        lambda d: neighbours.nearest(x, 1, device=d),
        lambda d: linalg.svd(x, device=d),
        lambda d: poincare.distances(x, x, device=d),
        lambda d: sparse.multiply(eye(3), eye(3), device=d),
    ):
        with pytest.raises(quintet.DeviceError, match="17"):
            call("17")
        with pytest.raises((quintet.InvalidArgument, quintet.DeviceError), match="toaster"):
            call("toaster")


def test_outputs_that_cannot_be_written(x: np.ndarray) -> None:
    frozen = np.empty((8, 8))
    frozen.flags.writeable = False
    with pytest.raises(quintet.InvalidArgument, match="out"):
        poincare.distances(x, x, out=frozen)
    with pytest.raises(TypeError, match="out"):
        poincare.distances(x, x, out=np.empty((8, 8), np.float32))
    with pytest.raises(quintet.InvalidArgument, match="out"):
        hdbscan.mutual_reachability(x, out=frozen)


MUTATED = {
    "hdbscan": "X = g.normal(size=(1500, 40)); arrays = [X]; call = lambda: quintet.hdbscan.cluster(X)",
    "hdbscan of few dimensions": "X = g.normal(size=(4000, 2)); arrays = [X]; call = lambda: quintet.hdbscan.cluster(X)",
    "hdbscan of a graph": (
        "import scipy.sparse as sp\n"
        "X = sp.triu(sp.random_array((300, 300), density=0.1, rng=g), 1); X = (X + X.T).tocsr()\n"
        "X.indptr, X.indices = X.indptr.astype(np.int64), X.indices.astype(np.int64)\n"
        "arrays = [X.data, X.indices, X.indptr]; call = lambda: quintet.hdbscan.cluster(X, metric='precomputed')"
    ),
    "validity": (
        "X = g.normal(size=(600, 20)); y = g.integers(0, 5, 600); arrays = [X, y]\n"
        "call = lambda: quintet.hdbscan.validity_index(X, y)"
    ),
    "neighbours": "X = g.normal(size=(2000, 40)); arrays = [X]; call = lambda: quintet.neighbours.nearest(X, 5)",
    "neighbours of few dimensions": (
        "X = g.normal(size=(5000, 2)); arrays = [X]; call = lambda: quintet.neighbours.nearest(X, 5)"
    ),
    "svd": "A = g.normal(size=(3000, 12, 12)); arrays = [A]; call = lambda: quintet.linalg.svd(A)",
    "poincare": (
        "X = 0.1 * g.normal(size=(1500, 20)); arrays = [X]; call = lambda: quintet.poincare.nearest(X, X, 5)"
    ),
    "sparse": (
        "import scipy.sparse as sp\n"
        "A = sp.random_array((2000, 2000), density=0.01, rng=g).tocsr(); arrays = [A.data, A.indices, A.indptr]\n"
        "call = lambda: quintet.sparse.multiply(A, A)"
    ),
    "plan": (
        "import scipy.sparse as sp\n"
        "A = sp.random_array((2000, 2000), density=0.01, rng=g).tocsr(); plan = quintet.sparse.Plan(A, A)\n"
        "arrays = [A.data, A.indices, A.indptr]; call = lambda: plan.execute(A, A)"
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(MUTATED))
def test_mutated_by_another_thread(name: str, python: Callable[..., Any]) -> None:
    """Arrays that another thread fills with anything while a call reads them: any result, or an exception of the
    package; the process lives, and works on."""
    if "sp." in MUTATED[name]:
        pytest.importorskip("scipy")
    done = python(
        "import sys, threading, numpy as np, quintet, quintet.sparse\n"
        "g = np.random.default_rng(0)\n" + MUTATED[name] + "\n"
        "kept = [a.copy() for a in arrays]\n"
        "end = False\n"
        "def scribble():\n"
        "    h = np.random.default_rng(1)\n"
        "    while not end:\n"
        "        for a, k in zip(arrays, kept):\n"
        "            at = h.integers(0, a.size, max(1, a.size // 50))\n"
        "            big = [np.nan, np.inf, -1e300, 0.0] if a.dtype.kind == 'f' else [-1, 2**30, 10**9, 0]\n"
        "            a.reshape(-1)[at] = h.choice(big, len(at))\n"
        "            a.reshape(-1)[at] = k.reshape(-1)[at]\n"
        "sys.setswitchinterval(1e-5)\n"
        "t = threading.Thread(target=scribble); t.start()\n"
        "found = failed = 0\n"
        "for _ in range(40):\n"
        "    try: call(); found += 1\n"
        "    except (quintet.Error, ValueError): failed += 1\n"
        "end = True; t.join()\n"
        "for a, k in zip(arrays, kept): a[...] = k\n"
        "call(); print(found, failed)\n",
        OMP_WAIT_POLICY="passive",
    )
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr[-1500:])


def test_likelihood_takes_sound_numbers_only() -> None:
    network = snp.Network("((A:0.1,B:0.1):0.2,C:0.3);", theta=0.05)
    for bad in (np.nan, -1.0):
        with pytest.raises(quintet.InvalidArgument, match="theta"):
            snp.Network("(A:0.1,B:0.1);", theta=bad)
    with pytest.raises(TypeError):
        snp.Data(["A", "B", "C"], np.array([["a"] * 3]), np.full((1, 3), 2))
    with pytest.raises(quintet.InvalidArgument):
        snp.Data(["A", "B", "C"], np.array([[3, 0, 0]]), np.full((1, 3), 2))
    with pytest.raises((TypeError, ValueError)):
        snp.simulate(network, [2, 2], 10)


def test_estimators_refuse_masked_arrays() -> None:
    pytest.importorskip("sklearn")
    from quintet.hdbscan import RobustSingleLinkage
    from quintet.metalsvd.sklearn import MetalTruncatedSVD

    X = np.random.default_rng(0).normal(size=(40, 3))
    masked = np.ma.masked_array(X, X > 1)
    for estimator in (
        quintet.HDBSCAN(),
        quintet.KNeighborsTransformer(),
        quintet.NearestNeighbors(),
        quintet.RadiusNeighborsTransformer(),
        RobustSingleLinkage(),
        MetalTruncatedSVD(n_components=2),
    ):
        with pytest.raises(TypeError, match="X must not be a masked array: use X.filled"):
            estimator.fit(masked)
        estimator.fit(masked.filled(0.0))
    transformer = MetalTruncatedSVD(n_components=2).fit(X)
    with pytest.raises(TypeError, match="X must not be a masked array"):
        transformer.transform(masked)


def test_predictions_name_what_is_no_clusterer() -> None:
    pytest.importorskip("sklearn")
    X = np.random.default_rng(0).normal(size=(40, 3))
    for call in (
        lambda wrong: hdbscan.approximate_predict(wrong, X),
        lambda wrong: hdbscan.approximate_predict_scores(wrong, X),
        lambda wrong: hdbscan.membership_vector(wrong, X),
        lambda wrong: hdbscan.membership_vector_blocks(wrong, print),
        hdbscan.all_points_membership_vectors,
        lambda wrong: hdbscan.flat(wrong, 2),
    ):
        with pytest.raises(TypeError, match="clusterer must be a fitted quintet.HDBSCAN"):
            call(X)
    with pytest.raises(quintet.InvalidArgument, match=r"n_jobs must be below 2\^31"):
        quintet.HDBSCAN(n_jobs=2**70).fit(X)


def test_networks_and_data_of_other_types_are_named() -> None:
    network = snp.Network("((A:0.1,B:0.1):0.2,C:0.3);", theta=0.05)
    data = snp.simulate(network, [2, 2, 2], 10, seed=1)
    for wrong in (None, "((A,B),C);", 3, np.ones((3, 3))):
        for call in (
            snp.estimate,
            snp.composite_log_likelihood,
            snp.resample,
            snp.Likelihood,
        ):
            with pytest.raises(TypeError, match="network must be a Network"):
                call(wrong, data)
            with pytest.raises(TypeError, match="data must be a Data"):
                call(network, wrong)
        with pytest.raises(TypeError, match="network must be a Network"):
            snp.simulate(wrong, [2, 2, 2], 10)
        with pytest.raises(TypeError, match="network must be a Network"):
            snp.prior_log_density(wrong)
        with pytest.raises(TypeError, match="networks must be a Network"):
            snp.predictive_check(data, [wrong])
        for call in (
            lambda x: snp.predictive_check(x, [network]),
            lambda x: snp.f_statistics(x, [["A", "B"]]),
            snp.search,
        ):
            with pytest.raises(TypeError, match="data must be a Data"):
                call(wrong)
        if wrong is not None:
            with pytest.raises(TypeError, match="data must be a Data"):
                snp.mcmc(wrong, iterations=10)
            with pytest.raises(TypeError, match="start must be a Network"):
                snp.Sampler(data, start=wrong)


@pytest.mark.parametrize("wrong", [None, "3", 2.0, b"x", True])
def test_numbers_of_other_types_are_named(wrong: Any) -> None:
    from quintet import metalsvd

    p = np.zeros((3, 2))
    for call, name in (
        (lambda: poincare.nearest(p, p, wrong), "k"),
        (lambda: poincare.nearest(p, p, 1, budget_bytes=wrong), "budget_bytes"),
        (lambda: poincare.frechet_mean(p, max_iterations=wrong), "max_iterations"),
        (lambda: metalsvd.randomized_svd(p, wrong), "k"),
    ):
        with pytest.raises(TypeError, match=f"{name} must be an integer"):
            call()
