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
    assert c.format == (form if form in ("csc", "bsr") else "csr")
    assert c.dtype == dtype and c.has_canonical_format
    assert c.indices.dtype == np.int32 and c.indptr.dtype == np.int32
    c.check_format(full_check=True)


FORMS = ["csr", "csc", "coo", "bsr"]


def same_bits(ours: Any, expected: Any) -> None:
    ours, expected = ours.tocsr(), expected.tocsr()
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(expected, name))


@pytest.mark.parametrize("semiring", ["plus_times", "min_plus", "max_plus", "max_times", "any_pair", "plus_first"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.complex128])
def test_transposes_of_either_operand(semiring: str, dtype: Any) -> None:
    if dtype is np.complex128 and semiring != "plus_times":
        return
    a, b = (10 * A).astype(dtype), (10 * B).astype(dtype)
    expected = sparse.multiply(a, b, semiring=semiring)
    mask = random(200, 120, 0.2, seed=3)
    inside = sparse.multiply(a, b, semiring=semiring, mask=mask)
    for form in FORMS:
        for other in FORMS:
            left, right = a.asformat(form), b.asformat(other)
            turned, by = a.T.asformat(form), b.T.asformat(other)
            same_bits(sparse.multiply(left, right, semiring=semiring), expected)
            same_bits(sparse.multiply(turned, right, semiring=semiring, transpose_a=True), expected)
            same_bits(sparse.multiply(turned, by, semiring=semiring, transpose_a=True, transpose_b=True), expected)
            same_bits(sparse.multiply(turned, right, semiring=semiring, transpose_a=True, mask=mask), inside)
            same_bits(sparse.multiply(left, by, semiring=semiring, transpose_b=True, mask=mask), inside)


@pytest.mark.parametrize("form", FORMS)
def test_a_matrix_times_its_transpose_is_its_gram_matrix(form: str) -> None:
    a = A.asformat(form)
    for ours, rows in (
        (sparse.multiply(a, a, transpose_a=True), False),
        (sparse.multiply(a.T, a), False),
        (sparse.multiply(a, a, transpose_b=True), True),
        (sparse.multiply(a, a.T), True),
        (sparse.multiply(a, a, transpose_a=True, progress=lambda stage, fraction: True), False),
    ):
        same_bits(ours, sparse.gram(A, rows=rows))
    full = np.abs((A.T @ A).toarray())
    product, report = sparse.multiply(a.T, a, return_report=True)
    assert report["nnz"] == product.nnz == np.count_nonzero(full)
    assert sparse.multiply(a, a, transpose_a=True).format == ("bsr" if form == "bsr" else "csr")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_that_are_added(form: str, dtype: Any) -> None:
    C = random(200, 120, 0.1, seed=4)
    a, b, c = (matrix.astype(dtype).asformat(form) for matrix in (A, B, C))
    same_bits(sparse.multiply_add(a, b, c), sparse.add(sparse.multiply(a, b), c))
    same_bits(sparse.multiply_add(a, b, c, 1.0, -2.5), sparse.add(sparse.multiply(a, b), c, 1.0, -2.5))
    same_bits(sparse.multiply_add(a, b, c, -4.0, 0.3), sparse.add(sparse.multiply(a, b), c, -4.0, 0.3))
    turned = a.T.asformat(form), b.T.asformat(form)
    same_bits(
        sparse.multiply_add(*turned, c, 0.7, 0.3, transpose_a=True, transpose_b=True), sparse.multiply_add(a, b, c, 0.7, 0.3)
    )
    result, report = sparse.multiply_add(a, a, sparse.gram(A.astype(dtype)), 1.0, -1.0, transpose_a=True, prune=True,
                                         return_report=True)
    assert result.nnz == 0 and result.dtype == dtype and report["products"] > 0
    expected = 0.7 * (A @ B) + 0.3 * C
    np.testing.assert_allclose(
        sparse.multiply_add(a, b, c, 0.7, 0.3).toarray(), expected.toarray(), atol=1e-5 if dtype == np.float32 else 1e-13
    )


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: sparse.multiply_add(A, B, A), quintet.InvalidArgument, r"C must have the shape of the product, \(200, 120\)"),
        (lambda: sparse.multiply_add(A, A, A), quintet.InvalidArgument, "A and B must fit"),
        (lambda: sparse.multiply(A, B, transpose_a=True), quintet.InvalidArgument, "the transpose of"),
        (lambda: sparse.multiply_add(A, B, np.ones((200, 120))), TypeError, "C must be a sparse matrix"),
        (lambda: sparse.multiply_add(A, B, (A @ B).astype(int)), TypeError, "C must be of type float32 or float64"),
        (lambda: sparse.multiply_add(A, B, A @ B, "x"), TypeError, "alpha"),
    ],
)
def test_sums_refuse_bad_arguments(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize("semiring", ["plus_times", "min_plus", "max_times"])
@pytest.mark.parametrize("is_array", [True, False])
def test_matrices_of_far_more_rows_than_entries(semiring: str, is_array: bool) -> None:
    n = 2_000_000_000
    kind = sp.coo_array if is_array else sp.coo_matrix
    one = kind(([2.5], ([n - 1], [n - 1])), shape=(n, n))
    square = sparse.multiply(one, one, semiring=semiring)
    assert square.format == "coo" and square.shape == (n, n) and isinstance(square, sp.sparray) == is_array
    assert (square.row, square.col) == (n - 1, n - 1) and square.data == [5.0 if semiring == "min_plus" else 6.25]
    # Rows and columns spread out: the same entries, with the same bits.
    rng = np.random.default_rng(0)
    m, k, c = (np.sort(rng.choice(n, size, replace=False)) for size in (200, 150, 120))
    a, b = A.tocoo(), B.tocoo()
    wide = kind((a.data, (m[a.row], k[a.col])), shape=(n, n))
    by = kind((b.data, (k[b.row], c[b.col])), shape=(n, n))
    expected = sparse.multiply(A, B, semiring=semiring).tocoo()
    for product in (
        sparse.multiply(wide, by, semiring=semiring),
        sparse.multiply(wide.T, by, semiring=semiring, transpose_a=True),
        sparse.multiply(wide, by.T, semiring=semiring, transpose_b=True),
        sparse.multiply(wide, by, semiring=semiring, progress=lambda stage, fraction: True),
        sparse.multiply(wide, by, semiring=semiring, return_report=True)[0],
    ):
        np.testing.assert_array_equal(product.row, m[expected.row])
        np.testing.assert_array_equal(product.col, c[expected.col])
        np.testing.assert_array_equal(product.data, expected.data)
    empty = kind((n, n))
    assert sparse.multiply(empty, by, semiring=semiring).nnz == sparse.multiply(wide, empty, semiring=semiring).nnz == 0
    with pytest.raises(quintet.InvalidArgument, match="mask is not for"):
        sparse.multiply(wide, by, semiring=semiring, mask=one)
    huge = kind(([1.0], ([0], [0])), shape=(2**40, 2**40))
    for call in (lambda: sparse.add(huge, huge), lambda: sparse.gram(huge), lambda: sparse.multiply_top(huge, huge, 1),
                 lambda: sparse.multiply_add(huge, huge, huge)):
        with pytest.raises(quintet.OutOfMemory, match="has 1099511627776 rows, whose pointers take"):
            call()


@pytest.mark.parametrize("semiring", ["plus_times", "min_plus", "max_times"])
def test_blocks_stay_where_they_fit(semiring: str) -> None:
    a, b = A.tobsr((2, 3)), B.tobsr((3, 4))
    c = sparse.multiply(a, b, semiring=semiring)
    rows = sparse.multiply(a.tocsr(), b.tocsr(), semiring=semiring)
    assert c.format == "bsr" and c.blocksize == (2, 4) and isinstance(c, sp.sparray)
    assert c.nnz == rows.nnz  # no block is filled up with zeros
    np.testing.assert_array_equal(c.toarray(), rows.toarray())
    if semiring == "plus_times":
        np.testing.assert_allclose(c.toarray(), (a @ b).toarray())
        assert (a @ b).blocksize == c.blocksize
    turned = sparse.multiply(a, b.T.tocsr().tobsr((4, 3)), semiring=semiring, transpose_b=True)
    assert turned.blocksize == (2, 4)
    np.testing.assert_array_equal(turned.toarray(), c.toarray())
    in_parts = sparse.multiply(a, b, semiring=semiring, progress=lambda stage, fraction: True)
    assert in_parts.blocksize == (2, 4)
    np.testing.assert_array_equal(in_parts.toarray(), c.toarray())
    for other in (
        sparse.multiply(a, b.tocsr(), semiring=semiring),
        sparse.multiply(a, b, semiring=semiring, prune=True),
        sparse.multiply(a, b, semiring=semiring, mask=rows),
    ):
        assert other.format == "csr"
        np.testing.assert_array_equal(other.toarray(), c.toarray())
    assert sparse.multiply(a, B.tobsr((2, 4)), semiring=semiring).format == "csr"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("semiring", ["plus_times", "min_plus", "or_and"])
def test_triple_plans(dtype: Any, semiring: str) -> None:
    P = random(150, 40, dtype=dtype, seed=3)
    R, M = P.T.tocsr(), random(150, 150, dtype=dtype, seed=4)
    plan = sparse.TriplePlan(R, M, P, semiring)
    assert plan.shape == (40, 40) and plan.semiring == semiring

    def expected(m: Any) -> Any:
        return sparse.multiply(R, sparse.multiply(m, P, semiring=semiring), semiring=semiring)

    c = plan.execute(R, M, P)
    assert c.nnz == plan.nnz and c.dtype == dtype
    for m in (M, -3 * M):
        np.testing.assert_array_equal(plan.execute(R, m, P).toarray(), expected(m).toarray())
        assert plan.execute(R, m, P, out=c) is c
        np.testing.assert_array_equal(c.data, expected(m).data)
    with pytest.raises(quintet.InvalidArgument, match="R must be as planned: 40 x 150"):
        plan.execute(P, M, P)
    with pytest.raises(quintet.InvalidArgument, match="A must have the structure that was planned"):
        plan.execute(R, random(150, 150, dtype=dtype, seed=5), P)
    with pytest.raises(quintet.InvalidArgument, match="P must be as planned"):
        plan.execute(R, M, R)
    with pytest.raises(quintet.InvalidArgument, match="out must be a result of this plan"):
        plan.execute(R, M, P, out=M)
    with pytest.raises(quintet.InvalidArgument, match="R, A and P must fit"):
        sparse.TriplePlan(P, M, P)
    with pytest.raises(TypeError, match="A must be a sparse matrix"):
        sparse.TriplePlan(R, np.eye(150), P)


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


INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr"])
def test_integers_are_scipys_with_its_wrap(dtype: Any, form: str) -> None:
    rng, limits = np.random.default_rng(3), np.iinfo(dtype)
    for low, high in ((0, 3), (limits.min, limits.max)):  # exact at once; sums of every size, most of them too large
        a, b = A.astype(dtype), B.astype(dtype)
        a.data[:] = rng.integers(low, high, a.nnz, dtype, endpoint=True)
        b.data[:] = rng.integers(low, high, b.nnz, dtype, endpoint=True)
        c = sparse.multiply(a.asformat(form), b.asformat(form))
        assert c.dtype == dtype and c.has_canonical_format
        np.testing.assert_array_equal(c.toarray(), (a @ b).toarray())
        np.testing.assert_array_equal(c.toarray(), a.toarray() @ b.toarray())
        square = sparse.multiply(a, a, transpose_b=True, mask=a @ a.T)
        np.testing.assert_array_equal(square.toarray(), (a @ a.T).toarray())


def test_types_of_products_are_scipys() -> None:
    types = [np.bool_, *INTEGERS, np.float32, np.float64]
    for left in types:
        for right in types:
            a, b = (10 * A).astype(left), (10 * B).astype(right)
            c, expected = sparse.multiply(a, b), a @ b
            assert c.dtype == expected.dtype, (left, right)
            np.testing.assert_allclose(c.toarray().astype(float), expected.toarray().astype(float), rtol=1e-6)


def test_integers_with_repeated_entries() -> None:
    repeated = sp.csr_array((np.array([2**40, 2**40, 5, 3]), np.array([1, 1, 1, 0]), np.array([0, 3, 4])), shape=(2, 2))
    for m in (repeated, repeated.tocsc(), repeated.tocoo()):
        np.testing.assert_array_equal(sparse.multiply(m, m).toarray(), repeated.toarray() @ repeated.toarray())
    assert repeated.nnz == 4


def reference_semiring(a: Any, b: Any, multiply: Any, add: Any) -> tuple[np.ndarray, np.ndarray]:
    """Values, and where products exist, by loops over dense arrays."""
    x, y = a.toarray(), b.toarray()
    is_a, is_b = (sp.csr_array((np.ones(m.nnz), m.indices, m.indptr), shape=m.shape).toarray() > 0 for m in (a, b))
    values, exists = np.zeros((x.shape[0], y.shape[1])), np.zeros((x.shape[0], y.shape[1]), bool)
    for k in range(x.shape[1]):
        where = is_a[:, k, None] & is_b[None, k]
        product = np.broadcast_to(multiply(x[:, k, None], y[None, k]), values.shape)
        values = np.where(where, np.where(exists, add(values, product), product), values)
        exists |= where
    return values, exists


SEMIRINGS = {
    "max_plus": (lambda x, y: x + y, np.maximum),
    "max_times": (lambda x, y: x * y, np.maximum),
    "min_max": (np.maximum, np.minimum),
    "any_pair": (lambda x, y: 1.0, np.maximum),
    "plus_pair": (lambda x, y: 1.0, np.add),
    "plus_first": (lambda x, y: x + 0 * y, np.add),
    "plus_second": (lambda x, y: y + 0 * x, np.add),
}


@pytest.mark.parametrize("semiring", SEMIRINGS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.int64])
def test_more_semirings(semiring: str, dtype: Any) -> None:
    a, b = ((50 * (m - 0.5 * (m != 0))).astype(dtype) for m in (random(40, 30, 0.2, seed=4), random(30, 50, 0.2, seed=5)))
    values, exists = reference_semiring(a, b, *SEMIRINGS[semiring])
    mask = random(40, 50, 0.3, seed=6)
    inside, at = mask.toarray() != 0, exists.nonzero()
    for c, where in (
        (sparse.multiply(a, b, semiring=semiring), exists),
        (sparse.multiply(a.tocsc(), b.tocsc(), semiring=semiring), exists),
        (sparse.multiply(a, b.T.tocsr(), semiring=semiring, transpose_b=True), exists),
        (sparse.multiply(a, b, semiring=semiring, mask=mask), exists & inside),
        (sparse.multiply(a, b, semiring=semiring, mask=mask, complement=True), exists & ~inside),
    ):
        np.testing.assert_allclose(c.toarray(), np.where(where, values, 0), rtol=1e-5 if dtype == np.float32 else 1e-13)
        assert c.nnz == where.sum()
        assert c.dtype == (np.int64 if semiring == "plus_pair" and np.issubdtype(dtype, np.integer) else dtype)
    if semiring not in ("max_times", "min_max"):
        top = sparse.multiply_top(a, b, 1, semiring=semiring)
        first = [values[i][exists[i]].max() for i in range(40) if exists[i].any()]
        np.testing.assert_allclose(top.data, first, rtol=1e-5 if dtype == np.float32 else 1e-13)
        assert len(at[0]) > top.nnz


def test_counts_of_common_neighbours() -> None:
    friends = random(60, 60, 0.2, seed=7) != 0
    common = sparse.multiply(friends, friends, semiring="plus_pair", transpose_b=True)
    dense = friends.toarray().astype(int)
    assert common.dtype == np.int64
    np.testing.assert_array_equal(common.toarray(), dense @ dense.T)
    for semiring in ("plus_first", "plus_second"):
        c = sparse.multiply(friends, friends.astype(np.int32), semiring=semiring)
        assert c.dtype == (np.int64 if semiring == "plus_first" else np.int32)
        np.testing.assert_array_equal(c.toarray(), dense @ dense)


def test_nan_in_more_semirings() -> None:
    one = sp.csr_array(np.array([[2.0]]))
    for semiring, expected in (("max_plus", 5.0), ("max_times", 6.0), ("min_max", 3.0)):
        for values in ([np.nan, 3.0], [3.0, np.nan]):
            m = sp.csr_array((np.array(values), np.zeros(2, int), np.array([0, 2])), shape=(1, 1))
            assert sparse.multiply(m, one, semiring=semiring).data.tolist() == [expected]
            assert sparse.multiply(one, m, semiring=semiring).data.tolist() == [expected]


def test_integers_too_large_for_an_order_or_a_semiring() -> None:
    large = sp.csr_array(np.array([[2**60]]))
    with pytest.raises(quintet.InvalidArgument, match="must be smaller"):
        sparse.multiply(large, large, semiring="min_plus")
    with pytest.raises(quintet.InvalidArgument, match="have no order"):
        sparse.multiply_top(large, large, 1)
    small = sp.csr_array(np.array([[100]], dtype=np.int8))
    assert sparse.multiply(small, small).data.tolist() == [16]  # 10000 modulo 256
    with pytest.raises(quintet.InvalidArgument, match="a wider type"):
        sparse.multiply_top(small, small, 1)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr"])
def test_complex_products_are_scipys(dtype: Any, form: str) -> None:
    a, b = (A + 1j * A.T[::-1].T).astype(dtype), (B * np.exp(0.3j)).astype(dtype)
    bound = (4 * A.shape[1] * np.finfo(dtype).eps) * (abs(a) @ abs(b)).toarray()
    for left, right in ((a, b), (a, B), (A, b), (a, (10 * B).astype(int))):
        c, expected = sparse.multiply(left.asformat(form), right.asformat(form)), left @ right
        assert c.dtype == expected.dtype and c.shape == expected.shape
        assert np.all(np.abs(c.toarray() - expected.toarray()) <= 10 * bound)
    square = sparse.multiply(a, a, transpose_b=True, mask=abs(a) @ abs(a).T)  # of the values as they are, not conjugated
    np.testing.assert_allclose(square.toarray(), (a @ a.T).toarray(), rtol=1e-4 if dtype == np.complex64 else 1e-12, atol=1e-6)
    assert sparse.multiply(a, b, prune=True).nnz <= sparse.multiply(a, b).nnz


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_that_overflow_are_an_error_where_asked_for(dtype: Any) -> None:
    limits = np.iinfo(dtype)
    one = sp.csr_array(np.array([[1, 1]], dtype=dtype))
    for low, high in ((0, limits.max), (limits.max // 2, limits.max // 2 + 1), (limits.min, 0)):  # the last value that fits
        m = sp.csr_array(np.array([[low], [high]], dtype=dtype))
        assert sparse.multiply(one, m, overflow="error").toarray().tolist() == [[low + high]]
    for low, high in ((1, limits.max), (limits.max, limits.max), *([(limits.min, -1)] if limits.min < 0 else [])):
        m = sp.csr_array(np.array([[low], [high]], dtype=dtype))
        assert sparse.multiply(one, m).toarray()[0, 0] == (one.toarray() @ m.toarray())[0, 0]
        with pytest.raises(quintet.InvalidArgument, match=f"entries exceed {np.dtype(dtype).name}"):
            sparse.multiply(one, m, overflow="error")
    for semiring in ("max_plus", "min_plus"):
        m = sp.csr_array(np.array([[limits.max]], dtype=dtype))
        if dtype not in (np.int64, np.uint64):  # there sums beyond 2^53 are refused in any case
            with pytest.raises(quintet.InvalidArgument, match="entries exceed"):
                sparse.multiply(m, m, semiring=semiring, overflow="error")
    with pytest.raises(quintet.InvalidArgument, match="overflow must be 'wrap' or 'error'"):
        sparse.multiply(one, m, overflow="clip")


def test_sums_too_large_to_be_checked_are_refused() -> None:
    a = sp.csr_array(np.array([[2**62, -(2**62)]]))
    with pytest.raises(quintet.InvalidArgument, match=r"must be smaller for overflow='error'"):
        sparse.multiply(a, a.T.tocsr(), overflow="error")


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


def top_of(product: Any, k: int, threshold: float | None, smallest: bool) -> list[list[tuple[int, float]]]:
    """Column and value of the first k entries of each row, by rank."""
    rows = []
    for i in range(product.shape[0]):
        part = slice(product.indptr[i], product.indptr[i + 1])
        row = list(zip(product.indices[part].tolist(), product.data[part].tolist()))
        sign = 1 if smallest else -1
        if threshold is not None:
            row = [e for e in row if sign * e[1] <= sign * threshold]
        rows.append(sorted(row, key=lambda e: (np.isnan(e[1]), sign * e[1], e[0]))[:k])
    return rows


@pytest.mark.parametrize("semiring", ["plus_times", "min_plus", "or_and"])
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_first_entries_of_rows(semiring: str, transpose_b: bool, dtype: Any) -> None:
    a, b = A.astype(dtype), (B.T.tocsr() if transpose_b else B).astype(dtype)
    whole = sparse.multiply(a, b, semiring=semiring, transpose_b=transpose_b)
    for k, threshold in ((1, None), (5, None), (5, 0.5), (10**6, 0.5), (10**6, None)):
        expected = top_of(whole, k, None if threshold is None else float(dtype(threshold)), semiring == "min_plus")
        how: Any = {"threshold": threshold, "semiring": semiring, "transpose_b": transpose_b}
        ranked = sparse.multiply_top(a, b, k, by_value=True, **how)
        c, report = sparse.multiply_top(a, b, k, return_report=True, **how)
        assert ranked.dtype == c.dtype == dtype and c.has_canonical_format and not ranked.has_canonical_format
        assert report["nnz"] == c.nnz == ranked.nnz == sum(map(len, expected))
        for i, row in enumerate(expected):
            for matrix, entries in ((ranked, row), (c, sorted(row))):
                part = slice(matrix.indptr[i], matrix.indptr[i + 1])
                assert list(zip(matrix.indices[part].tolist(), matrix.data[part].tolist())) == entries


def test_first_entries_of_rows_refuse_bad_arguments() -> None:
    for call, error, message in (
        (lambda: sparse.multiply_top(A, B, 0), quintet.InvalidArgument, "k must be within 1"),
        (lambda: sparse.multiply_top(A, B, 2.5), TypeError, "k must be"),
        (lambda: sparse.multiply_top(A, B, 2, threshold=float("nan")), quintet.InvalidArgument, "threshold must be"),
        (lambda: sparse.multiply_top(A, B, 2, threshold="x"), TypeError, "threshold must be"),
        (lambda: sparse.multiply_top(A, B, 2, transpose_b=True), quintet.InvalidArgument, "A and B must fit"),
        (lambda: sparse.multiply_top(A, B, 2, semiring="x"), quintet.InvalidArgument, "semiring must be one of"),
        (lambda: sparse.multiply_top(A, B.toarray(), 2), TypeError, "B must be a sparse matrix"),
    ):
        with pytest.raises(error, match=message):
            call()


@pytest.mark.parametrize("semiring", ["plus_times", "min_plus", "or_and"])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr"])
@pytest.mark.parametrize("rows", [False, True])
def test_products_with_the_transpose(semiring: str, form: str, rows: bool) -> None:
    turned = A.T.tocsr()
    whole = sparse.multiply(*(A, turned) if rows else (turned, A), semiring=semiring)
    X = A.asformat(form)
    c = sparse.gram(X, rows=rows, semiring=semiring)
    assert c.has_canonical_format and (c != whole).nnz == 0 and c.nnz == whole.nnz
    upper, report = sparse.gram(X, rows=rows, upper=True, semiring=semiring, return_report=True)
    assert report["products"] < 0.6 * sparse.estimate(*(A, turned) if rows else (turned, A)).products
    assert (upper != sp.triu(whole).tocsr()).nnz == 0 and upper.nnz == sp.triu(whole).nnz
    assert sparse.gram(sp.csr_matrix(A)).__class__ is sp.csr_matrix
    with pytest.raises(quintet.InvalidArgument, match="semiring must be one of"):
        sparse.gram(A, semiring="max_plus")
    with pytest.raises(TypeError, match="X must be a sparse matrix"):
        sparse.gram(A.toarray())


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


@pytest.mark.parametrize("columns", [0, 1, 2, 8, 9])
def test_csc_times_dense(columns: int) -> None:
    tall = random(40, 30_000, 0.05, seed=8).tocsc()
    rng = np.random.default_rng(9)
    X = rng.random((30_000, columns)) if columns else rng.random(30_000)
    results = []
    for n in (1, 2, 3):
        with quintet.num_threads(n):
            results.append(sparse.multiply_dense(tall, X))
    np.testing.assert_allclose(results[0], tall @ X, rtol=1e-12)
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)
    with pytest.raises(quintet.InvalidArgument, match="A and X must fit"):
        sparse.multiply_dense(tall, X[:40])


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr"])
@pytest.mark.parametrize("dtypes", [("f4", "f4"), ("f8", "f8"), ("f4", "f8")])
def test_dense_products_where_a_matrix_has_entries(form: str, dtypes: tuple[str, str]) -> None:
    rng = np.random.default_rng(2)
    X, Y = rng.normal(size=(200, 13)).astype(dtypes[0]), rng.normal(size=(150, 13)).astype(dtypes[1])
    for mask in (A.asformat(form), (A != 0).asformat(form), A.astype(np.int8).asformat(form), sp.csr_matrix(A)):
        c = sparse.sampled(mask, X, Y)
        expected = (X @ Y.T) * (A.toarray() != 0)
        assert c.dtype == np.result_type(X, Y) and c.nnz == mask.nnz
        assert isinstance(c, sp.sparray) == isinstance(mask, sp.sparray)
        np.testing.assert_allclose(c.toarray(), expected, rtol=1e-4 if c.dtype == np.float32 else 1e-12, atol=1e-5)
    assert sparse.sampled(sp.csr_array((200, 150)), X, Y).nnz == 0
    with pytest.raises(quintet.InvalidArgument, match="M, X and Y must fit"):
        sparse.sampled(A, Y, X)


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
    (lambda: sparse.multiply(A.astype(np.longdouble), B), TypeError),
    (lambda: sparse.Plan(A.astype(np.int64), B), TypeError),
    (lambda: sparse.multiply(A.astype(complex), B, semiring="or_and"), TypeError),
    (lambda: sparse.multiply(A != 0, B != 0, semiring="min_plus"), TypeError),
    (lambda: sparse.multiply(A, B, semiring="plus_max"), ValueError),
    (lambda: sparse.multiply(A, B, semiring="max_times", device="emulated"), ValueError),
    (lambda: sparse.multiply(A, B, semiring="min_max", device="9"), ValueError),
    (lambda: sparse.Plan(A, B, "max_plus"), ValueError),
    (lambda: sparse.multiply_top(A, B, 2, semiring="max_times"), ValueError),
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
    with pytest.raises(TypeError, match=r"take A\.real and A\.imag apart"):
        sparse.multiply(A.astype(complex), B, semiring="min_plus")
    with pytest.raises(TypeError, match=r"B must be real: complex values have no order"):
        sparse.multiply_top(A, B.astype(complex), 3)
    with pytest.raises(TypeError, match=r"use B\.astype\(float\)"):
        sparse.multiply(A, B.astype(np.longdouble))


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
