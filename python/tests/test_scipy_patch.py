"""SciPy's products under quintet.sparse.patch(): the references are SciPy's own methods, without the patch."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import quintet
from quintet import sparse

sp = pytest.importorskip("scipy.sparse")
KINDS = ["csr_array", "csr_matrix", "csc_array", "csc_matrix"]


def random(m: int, n: int, kind: str = "csr_array", dtype: Any = np.float64, seed: int = 0) -> Any:
    g = np.random.default_rng(seed)
    return getattr(sp, kind)(sp.random_array((m, n), density=0.08, rng=g).astype(dtype))


def assert_same(ours: Any, scipys: Any) -> None:
    """Everything that a caller can see, apart from the order of the entries in a row."""
    assert type(ours) is type(scipys)
    assert ours.shape == scipys.shape and ours.dtype == scipys.dtype
    if sp.issparse(ours):
        assert ours.indices.dtype == scipys.indices.dtype and ours.indptr.dtype == scipys.indptr.dtype
        ours, scipys = ours.copy(), scipys.copy()
        ours.sort_indices()
        scipys.sort_indices()
        np.testing.assert_array_equal(ours.indptr, scipys.indptr)
        np.testing.assert_array_equal(ours.indices, scipys.indices)
        ours.check_format(full_check=True)
        ours, scipys = ours.data, scipys.data
    else:
        assert ours.flags.c_contiguous == scipys.flags.c_contiguous and ours.flags.writeable
    np.testing.assert_allclose(ours, scipys, rtol=1e-13 if ours.dtype == np.float64 else 1e-5)


def compare(product: Callable[[], Any], taken: str | None) -> None:
    """The same result with the patch and without; `taken`: by which product, None: it stays SciPy's."""
    expected = product()
    with sparse.patched(min_products=0):
        result = product()
        report = sparse.patch_report()
    assert {kind for kind in ("sparse", "dense", "vector") if report[kind]} == ({taken} if taken else set())
    assert taken or report["left"]
    assert taken != "sparse" or result.has_sorted_indices
    assert_same(result, expected)


@pytest.mark.parametrize("left", KINDS)
@pytest.mark.parametrize("right", [*KINDS, "coo_array", "bsr_array", "lil_array", "dia_array"])
@pytest.mark.parametrize("dtypes", [("f4", "f4"), ("f8", "f8"), ("f4", "f8"), ("f8", "f4")])
def test_sparse_products(left: str, right: str, dtypes: tuple[str, str]) -> None:
    A, B = random(60, 40, left, dtypes[0]), random(40, 50, right, dtypes[1], 1)
    compare(lambda: A @ B, "sparse")
    compare(lambda: A.dot(B), "sparse")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_matrix_and_its_transpose_are_taken_as_they_are_stored(kind: str, dtype: str) -> None:
    A, B = random(60, 40, kind, dtype), random(60, 40, kind, dtype, 1)
    with sparse.patched(min_products=0):
        grams = [A.T @ A, A @ A.T, A.T.copy() @ A, A.T @ B]
        report = sparse.patch_report()
    assert report["sparse"] == 4 and report["gram"] == 2  # a copy has other arrays, and B has, too
    expected = [sparse.gram(A), sparse.gram(A, rows=True), sparse.gram(A), sparse.multiply(A, B, transpose_a=True)]
    for ours, same in zip(grams, expected):
        np.testing.assert_array_equal(ours.toarray(), same.toarray())  # the same bits
    compare(lambda: A.T @ A, "sparse")
    compare(lambda: A.T @ B, "sparse")
    compare(lambda: B @ A.T, "sparse")


@pytest.mark.parametrize("kind", KINDS)
def test_one_set_of_arrays_with_two_shapes(kind: str) -> None:
    A = random(40, 40, kind)
    B = type(A)((A.data, A.indices, A.indptr), shape=(40, 70) if A.format == "csr" else (70, 40))
    if A.format == "csr":
        compare(lambda: A @ B, "sparse")
        compare(lambda: B.T @ A, "sparse")
    else:
        compare(lambda: B @ A, "sparse")
        compare(lambda: A @ B.T, "sparse")


@pytest.mark.parametrize("kind", KINDS)
def test_other_ways_to_write_a_product(kind: str) -> None:
    A = random(50, 50, kind)
    compare(lambda: A.T @ A, "sparse")
    compare(lambda: A @ A.T, "sparse")
    compare(lambda: A @ A, "sparse")
    if kind.endswith("matrix"):
        compare(lambda: A * A, "sparse")
        compare(lambda: A**3, "sparse")
    else:
        compare(lambda: sp.linalg.matrix_power(A, 3), "sparse")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtypes", [("f4", "f4"), ("f8", "f8"), ("f4", "f8"), ("f8", "f4")])
@pytest.mark.parametrize("columns", [2, 33])
@pytest.mark.parametrize("order", ["C", "F"])
def test_dense_products(kind: str, dtypes: tuple[str, str], columns: int, order: Any) -> None:
    A = random(60, 40, kind, dtypes[0])
    X = np.asarray(np.random.default_rng(2).normal(size=(40, columns)), dtypes[1], order=order)
    Y = np.asarray(np.random.default_rng(3).normal(size=(columns, 60)), dtypes[1], order=order)
    compare(lambda: A @ X, "dense")
    compare(lambda: A @ X[::-1], "dense")
    compare(lambda: Y @ A, "dense")
    compare(lambda: A @ np.asmatrix(X), "dense")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtypes", [("f4", "f4"), ("f8", "f8"), ("f4", "f8"), ("f8", "f4")])
def test_products_with_vectors(kind: str, dtypes: tuple[str, str]) -> None:
    A = random(60, 40, kind, dtypes[0])
    x = np.random.default_rng(2).normal(size=80).astype(dtypes[1])
    compare(lambda: A @ x[:40], "vector")
    compare(lambda: A @ x[::2], "vector")
    compare(lambda: A @ x[:40, None], "vector")
    compare(lambda: A @ np.asmatrix(x[:40]).T, "vector")
    compare(lambda: x[:40] @ A.T.tocsc(), "vector")


def test_sums_that_are_zero_are_dropped() -> None:
    A = sp.csr_array(np.array([[1.0, 1.0], [2.0, 0.0]]))
    B = sp.csr_array(np.array([[3.0, 1.0], [-3.0, 1.0]]))
    compare(lambda: A @ B, "sparse")
    with sparse.patched(min_products=0):
        assert (A @ B).nnz == 3
    E = sp.csr_array((np.zeros(3), ([0, 1, 1], [0, 0, 1])), shape=(2, 2))  # zeros that are stored
    compare(lambda: E @ B, "sparse")
    N = sp.csr_array(np.array([[np.nan, 0.0], [0.0, np.inf]]))
    compare(lambda: N @ B, "sparse")


def test_repeated_and_unsorted_entries() -> None:
    A = sp.csr_array((np.arange(1.0, 6.0), [2, 0, 2, 1, 0], [0, 3, 5, 5]), shape=(3, 3))
    compare(lambda: A @ A, "sparse")
    compare(lambda: A @ np.eye(3, 5), "dense")
    compare(lambda: A.T @ np.eye(3, 5), "dense")
    compare(lambda: A @ np.arange(3.0), "vector")


@pytest.mark.parametrize("kind", ["csr_array", "csr_matrix"])
def test_indices_have_scipys_type(kind: str) -> None:
    A, B = random(30, 30, kind), random(30, 30, kind, seed=1)
    A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    compare(lambda: A @ B, "sparse")
    compare(lambda: B @ A, "sparse")
    assert (A.indices.dtype, B.indices.dtype) == (np.int64, np.int32)


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0)])
def test_empty_matrices(shape: tuple[int, int]) -> None:
    A = sp.csr_array(shape)
    compare(lambda: A @ A.T, "sparse")
    compare(lambda: A @ np.zeros((shape[1], 4)), "dense")
    compare(lambda: A @ np.zeros(shape[1]), "vector")
    compare(lambda: sp.csr_array((3, 3)) @ random(3, 3), "sparse")


def test_what_stays_scipys() -> None:
    A = random(60, 60)
    for product in (
        lambda: A.astype(np.int32) @ A.astype(np.int32),
        lambda: A.astype(complex) @ A,
        lambda: A @ A.astype(complex),
        lambda: (A > 0.5) @ (A > 0.5),
        lambda: A @ np.ones((60, 4), int),
        lambda: A @ np.ones(60, complex),
    ):
        compare(product, None)
    with sparse.patched():
        assert_same(random(5, 5) @ random(5, 5), random(5, 5) @ random(5, 5))
        assert sparse.patch_report()["left"] == {"small": 2}


def test_vectors_stay_scipys_on_one_thread() -> None:
    A, x = random(2000, 2000), np.ones(2000)
    for threads, expected in ((1, {"vector": 0, "left": {"thread": 1}}), (2, {"vector": 1, "left": {}})):
        with quintet.num_threads(threads), sparse.patched():
            A @ x
            report = sparse.patch_report()
        assert {key: report[key] for key in expected} == expected


def test_one_dimension_stays_scipys() -> None:
    A, v = random(6, 6), sp.coo_array(np.arange(6.0)).tocsr()
    expected = [(A @ v).toarray(), v @ v, (v @ A).toarray(), v @ np.arange(6.0)]
    with sparse.patched(min_products=0):
        result = [(A @ v).toarray(), v @ v, (v @ A).toarray(), v @ np.arange(6.0)]
    for ours, scipys in zip(result, expected):
        np.testing.assert_array_equal(ours, scipys)


def test_errors_and_foreign_operands_are_scipys() -> None:
    A = random(6, 5)

    class Foreign:
        def __rmatmul__(self, other: Any) -> str:
            return "mine"

    with sparse.patched(min_products=0):
        for wrong in (A, np.ones((6, 2)), np.ones(6)):
            with pytest.raises(ValueError, match="dimension mismatch"):
                A @ wrong
        with pytest.raises(ValueError, match="Scalar"):
            A @ 2.0
        assert A @ Foreign() == "mine"


def test_subclasses_stay_themselves() -> None:
    class Mine(sp.csr_array):
        pass

    A = Mine(random(20, 20))
    compare(lambda: A @ A, "sparse")
    with sparse.patched(min_products=0):
        assert type(A @ A) is Mine


def test_broken_matrices_are_refused() -> None:
    A = sp.csr_array((np.ones(2), [0, 1], [0, 1, 2]), shape=(2, 2))
    A.indices = np.array([0, 7], np.int32)
    with sparse.patched(min_products=0):
        for other in (sp.csr_array(np.eye(2)), np.ones((2, 4)), np.ones(2)):
            with pytest.raises(quintet.InvalidArgument, match="columns must be in"):
                A @ other


def test_patches_nest_and_end() -> None:
    from scipy.sparse._compressed import _cs_matrix as base

    names = ("_matmul_sparse", "_matmul_multivector", "_matmul_vector")
    before = [getattr(base, name) for name in names]
    A = random(50, 50)
    sparse.unpatch()  # nothing happens
    with sparse.patched(min_products=10**9):
        A @ A
        with sparse.patched(min_products=0):
            A @ A
        A @ A
        assert [getattr(base, name) for name in names] != before
    assert [getattr(base, name) for name in names] == before
    assert sparse.patch_report() == {"sparse": 1, "gram": 0, "dense": 0, "vector": 0, "left": {"small": 2}}
    with pytest.raises(RuntimeError, match="inside"), sparse.patched():
        raise RuntimeError("inside")
    assert [getattr(base, name) for name in names] == before


def test_a_patch_over_this_one_stays() -> None:
    from scipy.sparse._compressed import _cs_matrix as base

    original = base._matmul_sparse
    A = random(50, 50)
    sparse.patch(min_products=0)
    ours = base._matmul_sparse
    base._matmul_sparse = lambda self, other: ours(self, other)  # noqa: PLW0108 - another function than ours
    try:
        sparse.unpatch()
        assert_same(A @ A, original(A, A))
        assert sparse.patch_report()["sparse"] == 0
        with sparse.patched(min_products=0):
            assert_same(A @ A, original(A, A))
            assert sparse.patch_report()["sparse"] == 1
    finally:
        base._matmul_sparse = ours
        with sparse.patched():
            pass
    assert base._matmul_sparse is original


@pytest.mark.parametrize("arguments, error", [
    ({"min_products": -1}, quintet.InvalidArgument),
    ({"min_products": 0.5}, TypeError),
    ({"device": "gpu:x"}, quintet.InvalidArgument),
])
def test_bad_arguments(arguments: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        sparse.patch(**arguments)
    assert random(5, 5).__class__._matmul_sparse.__module__.startswith("scipy")


def test_python_threads_share_a_patch() -> None:
    A = random(200, 200)
    expected = A @ A
    failures: list[Any] = []

    def work() -> None:
        for _ in range(20):
            with sparse.patched(min_products=0):
                try:
                    assert_same(A @ A, expected)
                except AssertionError as error:
                    failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_the_same_bits_for_any_number_of_threads() -> None:
    A, X = random(500, 500), np.random.default_rng(1).normal(size=(500, 17))
    with sparse.patched(min_products=0):
        results = []
        for threads in (1, 2, 5):
            with quintet.num_threads(threads):
                results.append(((A @ A).data, A @ X, A @ X[:, 0], X.T @ A))
    for other in results[1:]:
        for one, two in zip(results[0], other):
            assert one.tobytes() == two.tobytes()
