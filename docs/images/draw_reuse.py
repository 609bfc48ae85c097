"""Draws reuse.png: what a question costs with what a fit keeps, and without. Takes a minute.

    PYTHONPATH=build/python python3 docs/images/draw_reuse.py
"""
import pathlib
import statistics
import time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import quintet
from quintet import hdbscan, neighbours
from quintet.hdbscan import _estimator

HERE = pathlib.Path(__file__).parent


def milliseconds(question, least=3, budget=1.0):
    times = []
    begin = time.perf_counter()
    while len(times) < least or (time.perf_counter() - begin < budget and len(times) < 2000):
        before = time.perf_counter()
        question()
        times.append(time.perf_counter() - before)
    return 1e3 * statistics.median(times)


def measure():
    quintet.set_num_threads(1)
    r = np.random.default_rng(0)
    points = (r.normal(size=(300, 3)) * 10)[r.integers(300, size=100_000)] + r.normal(size=(100_000, 3)) * 0.3
    points = points.astype(np.float32)
    query = points[:1] + np.float32(0.01)
    index = neighbours.Index(points)
    fit = hdbscan.HDBSCAN(min_cluster_size=50).fit
    model = fit(points)
    rows, core = model._pair(query)[1], quintet._core
    fresh = {
        "10 neighbours\nof a point": milliseconds(lambda: neighbours.nearest(points, 10, queries=query)),
        "label of\na new point": milliseconds(lambda: core.hdbscan_predict(model._cpp_model(), points, rows, "host")),
        "memberships of\na new point": milliseconds(
            lambda: core.hdbscan_membership(model._cpp_model(), points, rows, "host")
        ),
        "another\nmin_cluster_size": milliseconds(lambda: hdbscan.HDBSCAN(min_cluster_size=80).fit(points)),
    }
    kept = [
        milliseconds(lambda: index.nearest(query, 10)),
        milliseconds(lambda: hdbscan.approximate_predict(model, query)),
        milliseconds(lambda: hdbscan.membership_vector(model, query)),
        milliseconds(lambda: model.refit(min_cluster_size=80)),
    ]
    _estimator._PREDICTORS.clear()
    return list(fresh), list(fresh.values()), kept


def draw(names, fresh, kept):
    figure, axes = plt.subplots(figsize=(7, 3.4))
    place = np.arange(len(names))
    for offset, values, label, colour in ((-0.2, fresh, "asked of the points", "#b0b7c3"), (0.2, kept, "kept", "#1f6f8b")):
        bars = axes.bar(place + offset, values, 0.38, label=label, color=colour)
        axes.bar_label(bars, [f"{value:.3g}" if value < 1000 else f"{value:.0f}" for value in values], fontsize=8)
    axes.set_yscale("log")
    axes.set_ylabel("milliseconds, one thread")
    axes.set_xticks(place, names, fontsize=8)
    axes.margins(y=0.15)
    axes.legend(frameon=False, fontsize=8)
    axes.set_title("100,000 points in 3 dimensions, 300 clusters", fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(HERE / "reuse.png", dpi=120)


if __name__ == "__main__":
    measured = measure()
    for name, fresh, kept in zip(*measured):
        print(name.replace("\n", " "), f"{fresh:.4g} {kept:.4g}")
    draw(*measured)
