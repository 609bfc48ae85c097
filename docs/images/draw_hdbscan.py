#!/usr/bin/env python3
"""Draws the pictures of docs/choosing_parameters.md and docs/how_hdbscan_works.md with the Python package's own results.

    python docs/images/draw_hdbscan.py           writes next to itself; needs quintet, scikit-learn and matplotlib
"""
import pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection

from quintet import hdbscan

HERE = pathlib.Path(__file__).parent
NOISE, INK = "#c9ced6", "#30363d"
COLOURS = ["#3b6fb6", "#e8833a", "#4a9d5b", "#c8453f", "#8660b0", "#8c5f4b", "#d978b5", "#a8a32b", "#35aebd", "#f0b429",
           "#1d4e50", "#9bc53d"]


def example_points():
    """Two crescents, a wide cluster next to two narrow ones, and one point in eight anywhere."""
    rng = np.random.default_rng(7)
    t = rng.uniform(0, np.pi, 500)
    crescents = np.concatenate([np.column_stack([np.cos(t[:250]), np.sin(t[:250])]),
                                np.column_stack([1 - np.cos(t[250:]), 0.45 - np.sin(t[250:])])])
    blobs = [rng.normal(centre, width, (count, 2))
             for centre, width, count in (((3.6, 0.9), 0.32, 220), ((4.3, -0.6), 0.09, 90), ((3.9, -0.6), 0.09, 90))]
    anywhere = rng.uniform((-1.6, -1.4), (5.2, 2.0), (130, 2))
    return np.concatenate([crescents + rng.normal(0, 0.07, crescents.shape), *blobs, anywhere])


def draw_labels(axes, points, labels, title):
    noise = labels < 0
    axes.scatter(*points[noise].T, s=3, c=NOISE, linewidths=0)
    axes.scatter(*points[~noise].T, s=4, c=[COLOURS[k % len(COLOURS)] for k in labels[~noise]], linewidths=0)
    axes.set_title(f"{title}\n{labels.max() + 1} clusters, {noise.sum()} noise", fontsize=8.5, color=INK)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_aspect("equal")
    axes.spines[:].set_color(NOISE)


def draw_choices(points):
    rows = [
        [("min_cluster_size", size, {"min_cluster_size": size}) for size in (5, 15, 50, 150)],
        [("min_samples", k, {"min_cluster_size": 15, "min_samples": k}) for k in (1, 5, 15, 50)],
        [("method", method, {"min_cluster_size": 15, "min_samples": 5, "cluster_selection_method": method})
         for method in ("eom", "leaf")]
        + [("leaf, epsilon", epsilon, {"min_cluster_size": 15, "min_samples": 5, "cluster_selection_method": "leaf",
                                       "cluster_selection_epsilon": epsilon}) for epsilon in (0.15, 0.3)],
    ]
    figure, panels = plt.subplots(3, 4, figsize=(11, 5.6), layout="constrained")
    for row, axes in zip(rows, panels):
        for (name, value, options), ax in zip(row, axes):
            draw_labels(ax, points, hdbscan.HDBSCAN(**options).fit_predict(points), f"{name} = {value}")
    figure.savefig(HERE / "choosing_parameters.png", dpi=120)


def draw_sweep(points):
    found = hdbscan.sweep(points, min_samples=range(2, 31), min_cluster_size=range(5, 151, 5), score="relative_validity")
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.1), layout="constrained")
    found.plot(axes=axes)
    figure.savefig(HERE / "sweep.png", dpi=120)


def draw_stages(points):
    """Every picture is drawn from what the library returns: distances, edges, trees and labels."""
    k = 5
    core = hdbscan.core_distances(points, k)
    model = hdbscan.HDBSCAN(min_cluster_size=15, min_samples=k, gen_min_span_tree=True).fit(points)
    figure, panels = plt.subplots(2, 3, figsize=(11, 5.4), layout="constrained")
    ((one, two, three), (four, five, six)) = panels

    draw_labels(one, points, np.full(len(points), -1), "")
    chosen = np.argsort(core)[[3, 200, 600, 1000, 1020]]
    for i in chosen:
        one.add_patch(plt.Circle(points[i], core[i], fill=False, color=COLOURS[3], linewidth=1.2))
        one.plot(*points[i], ".", color=COLOURS[3], markersize=5)
    one.set_title("1. core distances: circles with 5 others", fontsize=9)

    edges = model.minimum_spanning_tree_.to_numpy()
    ends = points[edges[:, :2].astype(int)]
    lines = LineCollection(ends, array=np.log10(edges[:, 2]), cmap="viridis_r", linewidths=0.9)
    two.add_collection(lines)
    two.autoscale()
    two.set_aspect("equal")
    two.set_title("2. minimum spanning tree of mutual reachability", fontsize=9)
    figure.colorbar(lines, ax=two, label="log10 of the weight", shrink=0.55)

    model.single_linkage_tree_.plot(axis=three, truncate_mode="lastp", p=40, vary_line_width=False, cmap="none", colorbar=False)
    three.set_title("3. dendrogram (the last 40 merges)", fontsize=9)
    model.condensed_tree_.plot(axis=four, select_clusters=True, selection_palette=COLOURS, colorbar=False)
    four.set_title("4. condensed tree: clusters of at least 15", fontsize=9)

    order = np.argsort(-model.cluster_persistence_)
    five.bar(range(len(order)), model.cluster_persistence_[order], color=[COLOURS[c % len(COLOURS)] for c in order])
    five.set_title("5. the most stable clusters are selected", fontsize=9)
    five.set_xlabel("cluster")
    five.set_ylabel("persistence")

    draw_labels(six, points, model.labels_, "")
    six.collections[-1].set_alpha(0.2 + 0.8 * model.probabilities_[model.labels_ >= 0])
    six.set_title("6. labels, pale where the probability is low", fontsize=9)
    two.set_xticks([])
    two.set_yticks([])
    figure.savefig(HERE / "how_hdbscan_works.png", dpi=120)


def main():
    plt.rcParams.update({"font.size": 8.5, "axes.labelcolor": INK, "text.color": INK})
    points = example_points()
    draw_choices(points)
    draw_sweep(points)
    draw_stages(points)


if __name__ == "__main__":
    main()
