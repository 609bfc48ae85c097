#!/bin/sh
# quintet-spgemm writes an .npz that Python's zipfile and, where they are installed, NumPy and SciPy read.
# spgemm_npz_test.sh PROGRAM PYTHON
set -eu
program=$1
python=$2
[ -x "$python" ] || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 2\n1 3 0.5\n2 1 -1\n3 2 4\n' > a.mtx
"$program" --a a.mtx --output c.npz > /dev/null
"$python" - <<'END'
import importlib.util
import struct
import zipfile

archive = zipfile.ZipFile("c.npz")
assert archive.testzip() is None
assert archive.namelist() == ["indices.npy", "indptr.npy", "format.npy", "shape.npy", "data.npy"], archive.namelist()


def numbers(name, kind, code):
    content = archive.read(name)
    assert content.startswith(b"\x93NUMPY\x01\x00") and kind in content[:128] and len(content) >= 128, content
    return list(struct.unpack(f"<{(len(content) - 128) // 8}{code}", content[128:]))


assert numbers("shape.npy", b"'<i8'", "q") == [3, 3]
assert numbers("indptr.npy", b"'<i8'", "q") == [0, 3, 5, 6]
assert numbers("indices.npy", b"'<i8'", "q") == [0, 1, 2, 0, 2, 0]
assert numbers("data.npy", b"'<f8'", "d") == [4.0, 2.0, 1.0, -2.0, -0.5, -4.0]
assert archive.read("format.npy").endswith(b"csr")
if importlib.util.find_spec("scipy") is not None:
    import scipy.sparse

    matrix = scipy.sparse.load_npz("c.npz")
    assert matrix.format == "csr"
    assert matrix.toarray().tolist() == [[4.0, 2.0, 1.0], [-2.0, 0.0, -0.5], [-4.0, 0.0, 0.0]], matrix.toarray()
END
