#!/usr/bin/env python3
"""Lays points out by their exact neighbours: an embedding to cluster, and a map to look at.

    quintet-neighbours --input digits.csv --k 92 --output neighbours.h5
    neighbour_map.py --neighbours neighbours.h5 --embedding embedding.npy --map map.csv
    quintet-hdbscan --input embedding.npy --output clusters.h5

The embedding are eigenvectors of the normalised graph of each point's nearest neighbours (a spectral embedding, Belkin
and Niyogi 2003). The map has two columns. It is t-SNE of all neighbours in the file where scikit-learn is installed.
Otherwise it has the ranks of the points in the first two columns of the embedding, because a few far points would fill
the picture. t-SNE of perplexity 30 needs 92 neighbours; fewer neighbours give a lower perplexity.
"""
import argparse

import h5py
import numpy as np

LARGEST = 10_000  # points; the eigenvectors are those of a dense matrix


def weighted_graph(index, distance):
    """exp(-d^2 / (s_i s_j)) of each point and its neighbours, s_i the mean distance of point i's; symmetric."""
    points = len(index)
    scale = np.maximum(distance.mean(axis=1), np.finfo(float).tiny)
    graph = np.zeros((points, points))
    graph[np.arange(points)[:, None], index] = np.exp(-(distance**2) / (scale[:, None] * scale[index]))
    return np.maximum(graph, graph.T)


def spectral_embedding(index, distance, dimensions):
    graph = weighted_graph(index, distance)
    degree = np.sqrt(graph.sum(axis=1))
    _, vectors = np.linalg.eigh(graph / (degree[:, None] * degree[None, :]))
    embedding = vectors[:, ::-1][:, 1 : dimensions + 1] / degree[:, None]
    return embedding * np.sign(embedding[np.abs(embedding).argmax(axis=0), range(embedding.shape[1])])


def tsne_map(index, distance, start):
    """None without scikit-learn."""
    try:
        from scipy.sparse import csr_matrix
        from sklearn.manifold import TSNE
    except ImportError:
        return None
    points, k = index.shape
    graph = csr_matrix((distance.ravel(), index.ravel(), np.arange(points + 1) * k), shape=(points, points))
    tsne = TSNE(metric="precomputed", perplexity=min(30.0, (k - 2) / 3), random_state=0,
                init=(1e-4 / start[:, 0].std() * start).astype(np.float32))
    return tsne.fit_transform(graph)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--neighbours", required=True, help=".h5 output of quintet-neighbours --k")
    parser.add_argument("--k", type=int, default=10, help="neighbours in the graph of the embedding (10)")
    parser.add_argument("--dimensions", type=int, default=10, help="columns of the embedding (10)")
    parser.add_argument("--embedding", required=True, help="output: .npy")
    parser.add_argument("--map", required=True, help="output: .csv with two columns")
    args = parser.parse_args()

    with h5py.File(args.neighbours) as file:
        index, distance = file["index"][:], file["distance"][:].astype(float)
    points, listed = index.shape
    if points > LARGEST:
        parser.error(f"{args.neighbours} has {points} points; at most {LARGEST} are laid out")
    if not 2 <= args.k <= listed or (index[:, : args.k] < 0).any():
        parser.error(f"--k must be 2 to {listed}, and no list may end before (--k {args.k}): {args.neighbours}")
    if not 2 <= args.dimensions < points:
        parser.error(f"--dimensions must be 2 to {points - 1} (--dimensions {args.dimensions})")

    embedding = spectral_embedding(index[:, : args.k], distance[:, : args.k], args.dimensions)
    layout = tsne_map(index, distance, embedding[:, :2]) if (index >= 0).all() and listed >= 8 else None
    np.save(args.embedding, embedding)
    ranks = embedding[:, :2].argsort(axis=0).argsort(axis=0)
    np.savetxt(args.map, ranks if layout is None else layout, delimiter=",", fmt="%.7g")
    print(f"{points} points, {args.dimensions} dimensions; map: {'spectral' if layout is None else 't-SNE'}")


if __name__ == "__main__":
    main()
