#!/usr/bin/env python3
"""Times scipy's product of the matrices of a folder: processor seconds, best of several, with the entries of the result.

    bench/peers/scipy_product.py FOLDER

Squares square matrices and multiplies others by their transpose, as spgemm_bench does. scipy's rows are sorted
afterwards, and its entries that cancel are not kept: its nnz may be smaller."""

import pathlib
import sys
import time

import scipy.io
import scipy.sparse


def seconds(a, b):
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        c = a @ b
        c.sort_indices()
        best = min(best, time.process_time() - start)
    return best, c.nnz


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.mtx.gz")):
        a = scipy.sparse.csr_matrix(scipy.io.mmread(path)).astype(float)
        time_taken, nnz = seconds(a, a if a.shape[0] == a.shape[1] else a.T.tocsr())
        print(f"{path.name[:-7]:20} {1e3 * time_taken:10.2f} ms {nnz:12d} entries")


if __name__ == "__main__":
    main()
