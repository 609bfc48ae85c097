"""The C interface from Python, by ctypes alone: python3 c_interface_test.py libquintet.so

Clusters points, decomposes matrices and multiplies sparse ones, and compares with plain Python, and with NumPy where
there is one.
"""
import contextlib
import ctypes
import io
import math
import pathlib
import random
import re
import sys
import unittest
from ctypes import POINTER, byref, c_char_p, c_double, c_int32, c_int64, c_size_t, c_void_p

try:
    import numpy
except ImportError:
    numpy = None

OK, INVALID = 0, 1
FLOAT, DOUBLE, INT32 = 1, 2, 1
library_path = sys.argv.pop(1)
library = ctypes.CDLL(library_path)
library.quintet_last_error.restype = c_char_p
library.quintet_version.restype = c_char_p


class Csr(ctypes.Structure):
    """quintet_csr"""
    _fields_ = [("rows", c_int64), ("cols", c_int64), ("row_pointers", POINTER(c_int64)), ("columns", c_void_p),
                ("values", c_void_p), ("index_type", c_int32), ("value_type", c_int32)]


class SvdShape(ctypes.Structure):
    """quintet_svd_shape"""
    _fields_ = [("size", c_size_t), ("type", c_int32), ("reserved", c_int32), ("batch", c_int64), ("rows", c_int64),
                ("cols", c_int64), ("values", c_int64), ("u_cols", c_int64), ("v_cols", c_int64)]


class HdbscanOptions(ctypes.Structure):
    """quintet_hdbscan_options, as far as this program knows it: the rest are defaults."""
    _fields_ = [("size", c_size_t), ("min_cluster_size", c_int64), ("min_samples", c_int64)]


def call(name, *arguments):
    """Calls a function; integers become int64_t unless they are given as another type. Raises for a bad status."""
    converted = [c_int64(a) if isinstance(a, int) else a for a in arguments]
    if getattr(library, name)(*converted) != OK:
        raise ValueError(library.quintet_last_error().decode())


def doubles(values):
    values = list(values)
    return (c_double * len(values))(*values)


def array_of(name, handle, kind):
    """What an accessor gives, as a list."""
    data, count = POINTER(kind)(), c_int64()
    call(name, handle, byref(data), byref(count))
    return data[:count.value]


class Clustering(unittest.TestCase):
    def setUp(self):
        generator = random.Random(1)
        self.points = [[10.0 * (i // 40) + generator.random(), generator.random()] for i in range(120)]
        self.points += [[500.0 + 90 * i, -300.0] for i in range(5)]
        self.model = c_void_p()
        options = HdbscanOptions()
        call("quintet_hdbscan_options_default", byref(options), c_size_t(ctypes.sizeof(options)))
        self.assertEqual(options.min_cluster_size, 5)
        options.min_cluster_size, options.min_samples = 10, 4
        call("quintet_hdbscan_cluster", doubles(x for point in self.points for x in point), c_int32(DOUBLE), 125, 2, 2,
             byref(options), None, None, None, byref(self.model))

    def tearDown(self):
        library.quintet_hdbscan_free(self.model)

    def test_labels_are_the_groups(self):
        labels = array_of("quintet_hdbscan_labels", self.model, c_int64)
        self.assertEqual(labels, [labels[40 * (i // 40)] for i in range(120)] + [-1] * 5)
        self.assertEqual(sorted({*labels}), [-1, 0, 1, 2])

    def test_core_distances_are_those_of_plain_python(self):
        core = array_of("quintet_hdbscan_core", self.model, c_double)
        for point, distance in zip(self.points, core):
            expected = sorted(math.dist(point, other) for other in self.points)[4]
            self.assertAlmostEqual(distance, expected, delta=1e-13 * expected)

    @unittest.skipIf(numpy is None, "there is no NumPy")
    def test_reachability_is_that_of_numpy(self):
        points = numpy.array(self.points)
        distances = numpy.linalg.norm(points[:, None] - points[None], axis=2)
        core = numpy.array(array_of("quintet_hdbscan_core", self.model, c_double))
        expected = numpy.maximum(numpy.maximum(core[:, None], core[None]), distances)
        numpy.fill_diagonal(expected, 0)
        out = numpy.empty((125, 125))
        call("quintet_hdbscan_mutual_reachability", points.ctypes.data_as(c_void_p), c_int32(DOUBLE), 125, 2, 2,
             core.ctypes.data_as(c_void_p), None, b"host", out.ctypes.data_as(c_void_p), 125)
        numpy.testing.assert_allclose(out, expected, rtol=1e-13)

    def test_errors_have_texts(self):
        with self.assertRaisesRegex(ValueError, r"device must be auto, host, emulated, or an offload device as NUMBER or "
                                                r"offload:NUMBER \(device=moon\)"):
            call("quintet_hdbscan_cluster", doubles([0, 1]), c_int32(DOUBLE), 1, 2, 2, None, b"moon", None, None,
                 byref(c_void_p()))


class SingularValues(unittest.TestCase):
    def setUp(self):
        generator = random.Random(2)
        self.batch, self.rows, self.cols = 3, 6, 4
        self.a = [generator.random() - 0.5 for _ in range(72)]
        self.svd = c_void_p()
        call("quintet_svd_decompose", doubles(self.a), c_int32(DOUBLE), 3, 6, 4, 24, 4, 1, None, None, byref(self.svd))

    def tearDown(self):
        library.quintet_svd_free(self.svd)

    def test_factors_make_the_matrix(self):
        shape = SvdShape(size=ctypes.sizeof(SvdShape))
        call("quintet_svd_get_shape", self.svd, byref(shape))
        self.assertEqual((shape.batch, shape.rows, shape.cols, shape.values, shape.u_cols), (3, 6, 4, 4, 4))
        u, s, v = (array_of(name, self.svd, c_double) for name in ("quintet_svd_u", "quintet_svd_s", "quintet_svd_v"))
        for b in range(3):
            for i in range(6):
                for j in range(4):
                    product = sum(u[b * 24 + i * 4 + k] * s[b * 4 + k] * v[b * 16 + j * 4 + k] for k in range(4))
                    self.assertAlmostEqual(product, self.a[b * 24 + i * 4 + j], delta=1e-14)

    @unittest.skipIf(numpy is None, "there is no NumPy")
    def test_values_are_those_of_numpy(self):
        expected = numpy.linalg.svd(numpy.array(self.a).reshape(3, 6, 4), compute_uv=False)
        found = numpy.array(array_of("quintet_svd_s", self.svd, c_double)).reshape(3, 4)
        numpy.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)


class SparseProducts(unittest.TestCase):
    def make(self, rows, cols, seed):
        """A matrix as quintet_csr, with its dense copy."""
        generator = random.Random(seed)
        dense = [[float(generator.randint(1, 9)) if generator.random() < 0.2 else 0.0 for _ in range(cols)]
                 for _ in range(rows)]
        pointers, columns, values = [0], [], []
        for row in dense:
            columns += [j for j, x in enumerate(row) if x]
            values += [x for x in row if x]
            pointers.append(len(columns))
        arrays = ((c_int64 * len(pointers))(*pointers), (c_int32 * len(columns))(*columns), doubles(values))
        matrix = Csr(rows, cols, arrays[0], ctypes.addressof(arrays[1]), ctypes.addressof(arrays[2]), INT32, DOUBLE)
        matrix.arrays = arrays
        return matrix, dense

    def test_product_is_that_of_plain_python(self):
        (a, dense_a), (b, dense_b) = self.make(30, 20, 3), self.make(20, 25, 4)
        expected = {}
        for i, row in enumerate(dense_a):
            for k, x in enumerate(row):
                for j, y in enumerate(dense_b[k]):
                    if x and y:
                        expected[i, j] = expected.get((i, j), 0.0) + x * y
        result, view = c_void_p(), Csr()
        call("quintet_spgemm_multiply", byref(a), byref(b), c_int32(0), None, None, None, byref(result))
        call("quintet_spgemm_view", result, byref(view))
        columns = ctypes.cast(view.columns, POINTER(c_int32))
        values = ctypes.cast(view.values, POINTER(c_double))
        found = {(i, columns[e]): values[e] for i in range(view.rows)
                 for e in range(view.row_pointers[i], view.row_pointers[i + 1])}
        library.quintet_spgemm_free(result)
        self.assertEqual((view.rows, view.cols), (30, 25))
        self.assertEqual(found, expected)


class Documentation(unittest.TestCase):
    @unittest.skipIf(numpy is None, "there is no NumPy")
    def test_example_runs(self):
        document = pathlib.Path(__file__).parents[2] / "docs" / "c_interface.md"
        example = re.search(r"```python\n(.*?)```", document.read_text(encoding="utf-8"), re.DOTALL)[1]
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(example.replace('"libquintet.so"', repr(library_path)), {})
        labels = [int(x) for x in re.findall(r"-?\d+", printed.getvalue())]
        self.assertEqual(len(labels), 1000)


if __name__ == "__main__":
    print("quintet", library.quintet_version().decode(), "" if numpy else "without NumPy: two comparisons are skipped")
    unittest.main()
