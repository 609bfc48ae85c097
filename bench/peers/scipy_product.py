#!/usr/bin/env python3
"""Times scipy's product of matrices of a folder: median of several, with the entries of the result.

    bench/peers/scipy_product.py FOLDER [NAME...]

Squares square matrices and multiplies others by their transpose, as spgemm_ratios does; of all matrices, or those named.
scipy works on one thread. Its rows are sorted afterwards, and its entries that cancel are not kept: its nnz may be
smaller."""

import pathlib
import statistics
import sys
import time

import scipy.io
import scipy.sparse


def seconds(a, b):
    times = []
    for _ in range(5):
        start = time.perf_counter()
        c = a @ b
        c.sort_indices()
        times.append(time.perf_counter() - start)
    return statistics.median(times), c.nnz


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.mtx.gz")):
        name = path.name.removesuffix(".mtx.gz")
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        a = scipy.sparse.csr_matrix(scipy.io.mmread(path)).astype(float)
        time_taken, nnz = seconds(a, a if a.shape[0] == a.shape[1] else a.T.tocsr())
        print(f"{name:20}  {1e3 * time_taken:10.3f} ms {nnz:12d} entries")


if __name__ == "__main__":
    main()
