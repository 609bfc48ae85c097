#!/usr/bin/env python3
"""One peer on points in a file: the seconds of the work alone, after a first call on 3000 points that compiles and
starts threads.

Usage: few_dimensions_peers.py PEER FILE.npy

Prints "wall SECONDS cpu SECONDS". PEER is one of

  fast_hdbscan, hdbscan, scikit-learn   clusters, min_cluster_size 50, min_samples 10 (counted without the point)
  hdbscan-rs                            the same
  quitefastmst                          the spanning tree alone, M = 10
  cKDTree, FAISS                        16 nearest others: construction and a query with k = 17, two threads
"""
import sys
import time

import numpy as np


def cluster_fast_hdbscan(points):
    import fast_hdbscan

    fast_hdbscan.HDBSCAN(min_cluster_size=50, min_samples=10).fit(points)


def cluster_hdbscan(points):
    import hdbscan

    hdbscan.HDBSCAN(min_cluster_size=50, min_samples=10, core_dist_n_jobs=1).fit(points)


def cluster_sklearn(points):
    from sklearn.cluster import HDBSCAN

    HDBSCAN(min_cluster_size=50, min_samples=11, n_jobs=2, copy=True).fit(points)


def cluster_hdbscan_rs(points):
    import hdbscan_rs

    hdbscan_rs.HDBSCAN(min_cluster_size=50, min_samples=11).fit_predict(points.astype("float64"))


def tree_quitefastmst(points):
    import quitefastmst

    quitefastmst.mst_euclid(points, 10)


def search_ckdtree(points):
    from scipy.spatial import cKDTree

    cKDTree(points).query(points, k=17, workers=2)


def search_faiss(points):
    import faiss

    faiss.omp_set_num_threads(2)
    index = faiss.IndexFlatL2(points.shape[1])
    index.add(points)
    index.search(points, 17)


PEERS = {"fast_hdbscan": cluster_fast_hdbscan, "hdbscan": cluster_hdbscan, "scikit-learn": cluster_sklearn,
         "hdbscan-rs": cluster_hdbscan_rs, "quitefastmst": tree_quitefastmst, "cKDTree": search_ckdtree, "FAISS": search_faiss}


def main():
    call, points = PEERS[sys.argv[1]], np.load(sys.argv[2])
    call(points[:3000])
    wall, cpu = time.perf_counter(), time.process_time()
    call(points)
    print(f"wall {time.perf_counter() - wall:.3f} cpu {time.process_time() - cpu:.3f}")


if __name__ == "__main__":
    main()
