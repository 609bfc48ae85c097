from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import quintet
from quintet import sparse

sp = pytest.importorskip("scipy.sparse")


def random(m: int, n: int, density: float = 0.05, dtype: Any = np.float64, seed: int = 0) -> Any:
    return sp.random_array((m, n), density=density, dtype=dtype, rng=np.random.default_rng(seed)).tocsr()


A, B = random(200, 150, seed=1), random(150, 120, seed=2)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("is_array", [True, False])
def test_products_are_scipys(form: str, dtype: Any, is_array: bool) -> None:
    a, b = A.astype(dtype), B.astype(dtype)
    if not is_array:
        a, b = sp.csr_matrix(a), sp.csr_matrix(b)
    a, b = a.asformat(form), b.asformat(form)
    c = sparse.multiply(a, b)
    np.testing.assert_allclose(c.toarray(), (a @ b).toarray(), rtol=1e-5 if dtype == np.float32 else 1e-12)
    assert isinstance(c, sp.sparray) == is_array
    assert c.format == ("csc" if form == "csc" else "csr")
    assert c.dtype == dtype and c.has_canonical_format
    assert c.indices.dtype == np.int32 and c.indptr.dtype == np.int32
    c.check_format(full_check=True)


def test_mixed_types_and_formats() -> None:
    c = sparse.multiply(A.astype(np.float32), B.tocsc())
    assert c.dtype == np.float64
    np.testing.assert_allclose(c.toarray(), (A.astype(np.float32) @ B).toarray())
    wide = A.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert sparse.multiply(wide, B).indices.dtype == np.int64
    np.testing.assert_array_equal(sparse.multiply(wide, B).toarray(), sparse.multiply(A, B).toarray())


def test_repeated_and_unsorted_entries() -> None:
    rows, cols = np.array([0, 0, 1, 0]), np.array([1, 1, 0, 0])
    a = sp.coo_array((np.array([1.0, 2.0, 3.0, 4.0]), (rows, cols)), shape=(2, 2))
    np.testing.assert_array_equal(sparse.multiply(a, a).toarray(), (a @ a).toarray())
    raw = sp.csr_array((np.array([1.0, 2.0, 5.0]), np.array([1, 0, 1]), np.array([0, 3, 3])), shape=(2, 2))
    np.testing.assert_array_equal(sparse.multiply(raw, raw).toarray(), (raw @ raw).toarray())


@pytest.mark.parametrize("semiring, expected", [("plus_times", 8.0), ("min_plus", 4.0), ("or_and", 1.0)])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr"])
@pytest.mark.parametrize("is_array", [True, False])
def test_repeated_entries_are_added_with_the_semirings_addition(
    semiring: str, expected: float, form: str, is_array: bool
) -> None:
    kinds = {"csr": sp.csr_array, "csc": sp.csc_array, "coo": sp.coo_array, "bsr": sp.bsr_array}
    if not is_array:
        kinds = {"csr": sp.csr_matrix, "csc": sp.csc_matrix, "coo": sp.coo_matrix, "bsr": sp.bsr_matrix}
    values, zeros = np.array([3.0, 4.0]), np.zeros(2, int)
    arrays = {"coo": (values, (zeros, zeros)), "bsr": (values[:, None, None], zeros, np.array([0, 2]))}
    repeated = kinds[form](arrays.get(form, (values, zeros, np.array([0, 2]))), shape=(1, 1))
    assert repeated.nnz == 2
    one = sp.csr_array(np.array([[8 / 7 if semiring == "plus_times" else 1.0]]))
    products = [sparse.multiply(repeated, one, semiring=semiring), sparse.multiply(one, repeated, semiring=semiring)]
    products.append(sparse.multiply(one, repeated, semiring=semiring, transpose_b=True))
    products.append(sparse.multiply(one, repeated, semiring=semiring, mask=one))
    plan = sparse.Plan(one, repeated, semiring)
    products.append(plan.execute(one, repeated))
    sparse.multiply_blocks(repeated, one, lambda *block: products.append(block[3]), budget=2000, semiring=semiring)
    for product in products:
        np.testing.assert_allclose(product.data, [expected], rtol=1e-15)
    assert repeated.nnz == 2


def test_entries_that_cancel_in_coo_are_reached() -> None:
    twice = sp.coo_array((np.array([3.0, -3.0, 2.0]), ([1, 1, 0], [0, 0, 1])), shape=(2, 2))
    np.testing.assert_array_equal(sparse.multiply(twice, twice, semiring="or_and").toarray(), np.eye(2))


def test_min_plus_passes_over_nan() -> None:
    one = sp.csr_array(np.array([[1.0]]))
    for values, expected in (([np.nan, 3.0], 4.0), ([3.0, np.nan], 4.0), ([np.nan, np.nan], np.inf)):
        m = sp.csr_array((np.array(values), np.zeros(2, int), np.array([0, 2])), shape=(1, 1))
        assert sparse.multiply(m, one, semiring="min_plus").data.tolist() == [expected]
        assert sparse.multiply(one, m, semiring="min_plus").data.tolist() == [expected]


def test_semirings() -> None:
    dense_a = np.where(A.toarray() != 0, A.toarray(), np.inf)
    dense_b = np.where(B.toarray() != 0, B.toarray(), np.inf)
    shortest = np.min(dense_a[:, :, None] + dense_b[None], axis=1)
    c = sparse.multiply(A, B, semiring="min_plus")
    np.testing.assert_array_equal(c.toarray(), np.where(np.isfinite(shortest), shortest, 0))
    reach = sparse.multiply(A != 0, B != 0, semiring="or_and")
    assert reach.dtype == np.bool_
    np.testing.assert_array_equal(reach.toarray(), ((A != 0).astype(float) @ (B != 0).astype(float)).toarray() > 0)
    assert sparse.multiply(A, B, semiring="or_and").dtype == np.float64


def test_masks_and_transposes() -> None:
    mask = random(200, 120, 0.1, seed=3)
    full = (A @ B).toarray()
    for m in (mask, mask.tocsc(), mask != 0, (mask != 0).astype(np.int8)):
        np.testing.assert_allclose(sparse.multiply(A, B, mask=m).toarray(), np.where(mask.toarray() != 0, full, 0))
        np.testing.assert_allclose(
            sparse.multiply(A, B, mask=m, complement=True).toarray(), np.where(mask.toarray() == 0, full, 0)
        )
    turned = B.T.tocsr()
    np.testing.assert_allclose(sparse.multiply(A, turned, transpose_b=True).toarray(), full)
    np.testing.assert_allclose(
        sparse.multiply(A, turned, transpose_b=True, mask=mask).toarray(), np.where(mask.toarray() != 0, full, 0)
    )


@pytest.mark.parametrize("kind", ["csr_array", "csr_matrix", "csc_array", "csc_matrix"])
def test_results_are_made_as_scipy_makes_them(kind: str) -> None:
    A = getattr(sp, kind)(random(9, 9, 0.3))
    C = sparse.multiply(A, A)
    made = type(A)((C.data, C.indices, C.indptr), shape=C.shape)
    made.has_canonical_format = True
    assert type(C) is type(A) and vars(C).keys() == vars(made).keys()
    for name, value in vars(made).items():
        assert value is vars(C)[name] or np.array_equal(value, vars(C)[name]), name
    made.check_format()
    C.check_format()
    assert (C @ C - sparse.multiply(C, C)).nnz == 0 or abs(C @ C - sparse.multiply(C, C)).max() < 1e-12


def test_cancelled_entries_stay_unless_pruned() -> None:
    a = sp.csr_array(np.array([[1.0, 1.0]]))
    b = sp.csr_array(np.array([[1.0, 2.0], [-1.0, 2.0]]))
    assert sparse.multiply(a, b).nnz == 2
    pruned = sparse.multiply(a, b, prune=True)
    assert pruned.nnz == 1 and pruned.toarray().tolist() == [[0.0, 4.0]]


def test_report_and_estimate() -> None:
    c, report = sparse.multiply(A, B, return_report=True)
    assert report["nnz"] == c.nnz and report["products"] == sparse.estimate(A, B).products
    assert sum(report["products_by_strategy"].values()) == report["products"]
    assert sparse.estimate(A, B).upper_bound >= c.nnz


@pytest.mark.parametrize("semiring", ["plus_times", "min_plus", "or_and"])
def test_plans(semiring: str) -> None:
    plan = sparse.Plan(A, B, semiring)
    first = plan.execute(A, B)
    np.testing.assert_array_equal(first.toarray(), sparse.multiply(A, B, semiring=semiring).toarray())
    other = A.copy()
    other.data = -other.data
    expected = sparse.multiply(other, B, semiring=semiring)
    out = plan.execute(A, B)
    assert plan.execute(other, B, out=out) is out
    np.testing.assert_array_equal(out.data, expected.data)
    assert plan.nnz == first.nnz and plan.shape == (200, 120)
    wrong = other.copy()
    wrong.indices[0] = 149 if wrong.indices[0] != 149 else 148
    for bad in (wrong, random(200, 150, 0.06), random(199, 150)):
        with pytest.raises(ValueError):
            plan.execute(bad, B)
    with pytest.raises(ValueError):
        plan.execute(A, B, out=A)


def test_blocks() -> None:
    parts: list[Any] = []
    sparse.multiply_blocks(A, B, lambda row, first, last, block: parts.append((row, block)), budget=20000)
    assert len(parts) > 2
    np.testing.assert_array_equal(sp.vstack([p for _, p in parts]).toarray(), sparse.multiply(A, B).toarray())
    calls: list[int] = []

    def stop(row: int, first: int, last: int, block: Any) -> bool:
        calls.append(row)
        return False

    sparse.multiply_blocks(A, B, stop, budget=20000)
    assert calls == [0]

    class Own(Exception):
        pass

    def fail(*_: Any) -> None:
        raise Own

    with pytest.raises(Own):
        sparse.multiply_blocks(A, B, fail, budget=20000)
    with pytest.raises(ValueError):
        sparse.multiply_blocks(A, B, stop, budget=10)


def test_other_functions() -> None:
    X = np.random.default_rng(0).normal(size=(150, 7))
    np.testing.assert_allclose(sparse.multiply_dense(A, X), A @ X)
    np.testing.assert_allclose(sparse.multiply_dense(A, X[:, 0]), A @ X[:, 0])
    np.testing.assert_allclose(sparse.multiply_dense(A, X[:, ::2]), A @ X[:, ::2])
    assert sparse.multiply_dense(sp.csr_array(np.eye(3)), [1.0, 2, 3]).tolist() == [1, 2, 3]
    assert sparse.multiply_dense(sp.csr_array(np.eye(3)), (1, 2, 3)).tolist() == [1, 2, 3]
    assert sparse.multiply_dense(sp.csr_array(np.eye(3)), [[1], [2], [3]]).tolist() == [[1], [2], [3]]
    np.testing.assert_allclose(sparse.multiply_dense(A, X[:, 0].tolist()), A @ X[:, 0])
    out = np.empty((200, 7))
    assert sparse.multiply_dense(A, X, out) is out
    C = random(200, 150, seed=9)
    np.testing.assert_allclose(sparse.add(A, C, 2.0, -1.0).toarray(), (2 * A - C).toarray())
    for first, second, form in ((A, C, "csr"), (A.tocsc(), C.tocsc(), "csc"), (A.tocsc(), C, "csr"), (A, C.tocoo(), "csr")):
        total = sparse.add(first, second, 2.0, -1.0)
        assert total.format == form and total.has_canonical_format
        np.testing.assert_array_equal(total.toarray(), sparse.add(A, C, 2.0, -1.0).toarray())
    np.testing.assert_array_equal(sparse.transpose(A).toarray(), A.T.toarray())
    assert sparse.transpose(A != 0).dtype == np.bool_
    summary = sparse.summarise(A)
    np.testing.assert_allclose([summary["sum"], summary["frobenius"]], [A.sum(), sp.linalg.norm(A)])


def test_the_same_bits_for_any_number_of_threads() -> None:
    big = random(3000, 3000, 0.01, seed=5)
    results = []
    for n in (1, 2, 3):
        with quintet.num_threads(n):
            results.append(sparse.multiply(big, big))
    for other in results[1:]:
        np.testing.assert_array_equal(results[0].data, other.data)
        np.testing.assert_array_equal(results[0].indices, other.indices)


def test_eight_python_threads_share_a_plan() -> None:
    plan = sparse.Plan(A, B)
    expected = sparse.multiply(A, B).data
    failures: list[Any] = []

    def work() -> None:
        for _ in range(10):
            if not np.array_equal(plan.execute(A, B).data, expected) or sparse.multiply(A, B).nnz != plan.nnz:
                failures.append("differs")

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_empty_and_read_only() -> None:
    for m, k, n in ((0, 3, 2), (3, 0, 2), (3, 2, 0), (3, 2, 2)):
        assert sparse.multiply(sp.csr_array((m, k)), sp.csr_array((k, n))).shape == (m, n)
    a = A.copy()
    for part in (a.data, a.indices, a.indptr):
        part.flags.writeable = False
    np.testing.assert_array_equal(sparse.multiply(a, B).toarray(), sparse.multiply(A, B).toarray())


@pytest.mark.parametrize("call, error", [
    (lambda: sparse.multiply(A.toarray(), B), TypeError),
    (lambda: sparse.multiply(A, A), ValueError),
    (lambda: sparse.multiply(A.astype(np.int64), B), TypeError),
    (lambda: sparse.multiply(A.astype(complex), B), TypeError),
    (lambda: sparse.multiply(A != 0, B != 0), TypeError),
    (lambda: sparse.multiply(A, B, semiring="max_plus"), ValueError),
    (lambda: sparse.multiply(A, B, mask=A), ValueError),
    (lambda: sparse.multiply(A, B, complement=True), ValueError),
    (lambda: sparse.multiply(A, B, device="9"), quintet.DeviceError),
    (lambda: sparse.multiply_dense(A, np.zeros((3, 3))), ValueError),
    (lambda: sparse.multiply_dense(A, np.zeros((150, 2)), np.zeros((200, 3))), ValueError),
    (lambda: sparse.add(A, B), ValueError),
    (lambda: sparse.Plan(A, A), ValueError),
])
def test_bad_arguments(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call()


def test_the_hint_for_complex_keeps_the_imaginary_part() -> None:
    with pytest.raises(TypeError, match=r"multiply A\.real and A\.imag apart"):
        sparse.multiply(A.astype(complex), B)
    with pytest.raises(TypeError, match=r"use B\.astype\(float\)"):
        sparse.multiply(A, B.astype(np.int64))


def test_corrupt_arrays_are_refused() -> None:
    for change in ("column", "negative", "falling", "long"):
        bad = A.copy()
        if change == "column":
            bad.indices[5] = 150
        elif change == "negative":
            bad.indices[5] = -1
        elif change == "falling":
            bad.indptr[3] = bad.indptr[2] - 1 if bad.indptr[2] > 0 else bad.indptr[4] + 1
        else:
            bad.indptr[-1] += 5
        with pytest.raises(ValueError):
            sparse.multiply(bad, B)


def test_plan_ignores_what_lies_behind_the_last_entry() -> None:
    a = sp.csr_array(np.array([[0.0, 2.0], [3.0, 0.0]]))
    expected = sparse.multiply(a, a)
    longer = []
    for column in (0, 1):
        m = sp.csr_array((2, 2))
        m.data, m.indices, m.indptr = np.array([2.0, 3.0, 9.0]), np.array([1, 0, column], np.int32), a.indptr.copy()
        longer.append(m)
    for planned, given in ((a, longer[0]), (longer[0], a), (longer[0], longer[1])):
        product = sparse.Plan(planned, planned).execute(given, given)
        assert product.indptr.tolist() == expected.indptr.tolist()
        assert product.data.tolist() == expected.data.tolist()
