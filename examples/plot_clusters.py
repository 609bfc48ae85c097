#!/usr/bin/env python3
"""Draws what quintet-hdbscan found: the points, and the condensed tree.

Left, the points, coloured by cluster, noise in grey. Points of two columns are drawn where they are, such as the map of
neighbour_map.py. Points of more columns are drawn on their first two principal components. Right, the condensed tree: a
cluster is a bar as wide as the number of its points, which falls as points leave with growing density 1 / distance;
selected clusters are in colour.

    plot_clusters.py --points points.npy --clusters clusters.h5 --output clusters.png

Clusters carry their numbers. When the true classes of the points are known (--classes, one number per line), they carry the
class that most of their points have, and a table of this is printed.
"""
import argparse

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.patheffects as effects
import matplotlib.pyplot as plt
import numpy as np

NOISE, OUTLINE, TREE = "#c9ced6", "#30363d", "#d5dae1"


def read_points(path, dataset):
    if path.endswith(".npy"):
        return np.load(path)
    if path.endswith((".h5", ".hdf5")):
        with h5py.File(path) as file:
            return file[dataset or next(iter(file))][:]
    points = np.genfromtxt(path, delimiter=",", ndmin=2)
    return points[1:] if np.isnan(points[0]).all() else points  # a header


def principal_components(points):
    """The first two, for rows without NaN or infinity; others become NaN. Signs are fixed: the largest part is positive."""
    points = np.asarray(points, dtype=float).reshape(len(points), -1)
    finite = np.isfinite(points).all(axis=1)
    centred = points - points[finite].mean(axis=0)
    _, axes = np.linalg.eigh(np.cov(centred[finite].T).reshape(points.shape[1], -1))
    axes = axes[:, ::-1][:, :2]
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), range(axes.shape[1])])
    projected = centred @ axes
    if projected.shape[1] == 1:
        projected = np.column_stack([projected, np.zeros(len(points))])
    return projected


def palette(clusters):
    """Distinct colours, none of them grey."""
    few = ["#3b6fb6", "#e8833a", "#4a9d5b", "#c8453f", "#8660b0", "#8c5f4b", "#d978b5", "#a8a32b", "#35aebd", "#f0b429",
           "#1d4e50", "#9bc53d"]
    if clusters <= len(few):
        return few[:clusters]
    return [plt.cm.turbo(0.05 + 0.9 * ((7 * k) % clusters) / max(clusters - 1, 1)) for k in range(clusters)]


class Cluster:
    """A cluster of the condensed tree and where it is drawn."""

    def __init__(self, birth, size):
        self.birth, self.size = birth, size
        self.leaving, self.children = [], []  # (lambda, points), clusters

    def outline(self):
        """Steps (lambda, points left), from birth to death."""
        steps, left = [(self.birth, self.size)], self.size
        for density, points in sorted(self.leaving):
            steps.append((density, left))
            left -= points
            steps.append((density, left))
        return np.array(steps)

    def deepest(self):
        """The largest density at which a point below leaves."""
        return max([density for density, _ in self.leaving] + [child.deepest() for child in self.children])

    def place(self, start, gap):
        """Gives this cluster and those below a strip that begins at `start`; returns the strip's width."""
        at = start
        for child in self.children:
            at += child.place(at, gap) + gap
        below = max(at - start - gap, 0)
        width = max(self.size, below)
        for child in self.children:
            child.shift((width - below) / 2)
        self.centre = start + width / 2
        return width

    def shift(self, distance):
        if hasattr(self, "centre"):
            self.centre += distance
        for child in self.children:
            child.shift(distance)


def read_tree(rows, points):
    """Clusters by id. Infinite densities are drawn a little above the largest finite one."""
    rows = rows.copy()
    finite = rows[np.isfinite(rows[:, 2]), 2]
    rows[~np.isfinite(rows[:, 2]), 2] = 1.1 * finite.max() if len(finite) and finite.max() > 0 else 1
    clusters = {points: Cluster(0.0, points)}
    for parent, child, density, size in rows:
        if child >= points:
            clusters[int(child)] = Cluster(density, int(size))
            clusters[int(parent)].children.append(clusters[int(child)])
        clusters[int(parent)].leaving.append((density, int(size)))
    return clusters


def adjusted_rand_index(labels, classes):
    """Hubert and Arabie 1985: 1 for equal partitions, 0 expected for random ones."""
    def pairs(counts):
        return (counts * (counts - 1) / 2).sum()

    both = np.unique(np.column_stack([labels, classes]), axis=0, return_counts=True)[1]
    inside, outside = (pairs(np.unique(values, return_counts=True)[1]) for values in (labels, classes))
    expected = inside * outside / (len(labels) * (len(labels) - 1) / 2)
    return (pairs(both) - expected) / ((inside + outside) / 2 - expected) if inside + outside > 2 * expected else 1.0


def name_clusters(labels, classes, clusters):
    """Names of the clusters, and the table that explains them (empty without classes)."""
    if classes is None:
        return [str(k) for k in range(clusters)], ""
    names, table = [], ["cluster   class   share of its points"]
    for k in range(clusters):
        values, counts = np.unique(classes[labels == k], return_counts=True)
        names.append(f"{values[counts.argmax()]:g}")
        table.append(f"{k:7d} {names[-1]:>7s} {100 * counts.max() / counts.sum():19.1f} %")
    table.append(f"adjusted Rand index, noise as one class: {adjusted_rand_index(labels, classes):.3f}")
    return names, "\n".join(table)


def draw_points(axes, projected, labels, probabilities, colours, names):
    noise = labels < 0
    axes.scatter(*projected[noise].T, s=7, c=NOISE, linewidths=0, label="noise")
    for k, colour in enumerate(colours):
        inside = labels == k
        alpha = 0.35 + 0.6 * probabilities[inside]
        axes.scatter(*projected[inside].T, s=11, color=colour, alpha=alpha, linewidths=0)
    for k, colour in enumerate(colours if len(colours) <= 40 else []):
        place = np.nanmedian(projected[labels == k], axis=0)
        axes.text(*place, names[k], color=colour, fontsize=13, fontweight="bold", ha="center", va="center",
                  path_effects=[effects.withStroke(linewidth=3.5, foreground="white")])
    axes.set_xticks([])
    axes.set_yticks([])


def draw_tree(axes, clusters, root, selected, colours, names):
    clusters[root].place(0, 0.015 * clusters[root].size)
    colour_of = dict(zip((int(s) for s in selected), colours))
    name_of = dict(zip((int(s) for s in selected), names))
    numbers = {id(cluster): number for number, cluster in clusters.items()}
    # Nothing happens before the first point leaves.
    first, last = min(density for density, _ in clusters[root].leaving), clusters[root].deepest()
    logarithmic = last > 20 * first > 0
    margin = 0.08 * (np.log(last / first) if logarithmic else last - first if last > first else 1)
    top = first * np.exp(-margin) if logarithmic else max(first - margin, 0)
    bottom = last * np.exp(margin) if logarithmic else max(last, first) + margin

    def draw(number, inherited):
        cluster = clusters[number]
        colour = colour_of.get(number, inherited)
        steps = cluster.outline()
        steps[:, 0] = np.maximum(steps[:, 0], top)
        half = steps[:, 1] / 2
        axes.fill_betweenx(steps[:, 0], cluster.centre - half, cluster.centre + half, linewidth=0,
                           color=colour or TREE, alpha=1 if number in colour_of or colour is None else 0.55)
        if number in colour_of:
            edge = np.concatenate([cluster.centre - half, (cluster.centre + half)[::-1]])
            axes.fill(edge, np.concatenate([steps[:, 0], steps[::-1, 0]]), fill=False, edgecolor=OUTLINE, linewidth=0.9)
            if len(colours) <= 40:
                axes.annotate(name_of[number], (cluster.centre, cluster.deepest()), xytext=(0, -4), color=colour,
                              textcoords="offset points", ha="center", va="top", fontsize=13, fontweight="bold")
        if cluster.children:
            split = cluster.children[0].birth
            ends = [child.centre for child in cluster.children] + [cluster.centre]
            axes.plot([min(ends), max(ends)], [split, split], color=OUTLINE, linewidth=0.6, alpha=0.6, zorder=0.5)
        for child in cluster.children:
            draw(numbers[id(child)], colour)

    draw(root, None)
    axes.set_yscale("log" if logarithmic else "linear")
    axes.set_ylim(bottom, top)
    axes.set_ylabel("density $\\lambda$ = 1 / distance")
    axes.set_xticks([])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", required=True, help="what was clustered, or a map of it in two columns: .csv, .npy or .h5")
    parser.add_argument("--dataset", help="dataset of an .h5 file of points")
    parser.add_argument("--clusters", required=True, help=".h5 output of quintet-hdbscan")
    parser.add_argument("--output", required=True, help="picture: .png, .svg or .pdf")
    parser.add_argument("--classes", help="the true classes of the points: one number per line")
    parser.add_argument("--title", default="", help="what the points are")
    args = parser.parse_args()

    points = read_points(args.points, args.dataset)
    with h5py.File(args.clusters) as file:
        labels, probabilities = file["labels"][:], file["probabilities"][:]
        rows, selected = file["condensed_tree"][:], file["selected_clusters"][:]
    if len(points) != len(labels):
        parser.error(f"{args.points} has {len(points)} points, {args.clusters} has {len(labels)}")

    classes = np.loadtxt(args.classes, ndmin=1) if args.classes else None
    names, table = name_clusters(labels, classes, len(selected))
    if table:
        print(table)
    colours = palette(len(selected))
    plt.rcParams.update({"font.size": 10, "axes.edgecolor": "#8b949e", "axes.labelcolor": OUTLINE,
                         "text.color": OUTLINE, "xtick.color": OUTLINE, "ytick.color": OUTLINE})
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5.6), layout="constrained")
    drawn_as_is = points.ndim == 2 and points.shape[1] == 2
    if not drawn_as_is:
        left.set_xlabel("first principal component")
        left.set_ylabel("second principal component")
    draw_points(left, points if drawn_as_is else principal_components(points), labels, probabilities, colours, names)
    title = f"{len(labels)} points, {len(selected)} clusters, {np.sum(labels < 0)} points of noise"
    left.set_title(f"{args.title}: {title}" if args.title else title)
    draw_tree(right, read_tree(rows, len(labels)), len(labels), selected, colours, names)
    right.set_title("condensed tree: width = points in the cluster")
    left.spines[:].set_visible(False)
    right.spines[["top", "right", "bottom"]].set_visible(False)
    figure.savefig(args.output, dpi=130)


if __name__ == "__main__":
    main()
