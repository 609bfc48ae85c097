#!/usr/bin/env python3
"""Draws a picture for the pages of singular values and of sparse products.

    python docs/images/draw_families.py          writes next to itself; needs quintet, SciPy and matplotlib

svd_error.svg: errors of singular values that this computes. products.svg: the table of bench/results/spgemm.md.
"""
import pathlib
import re

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import scipy.linalg

from quintet import linalg

HERE = pathlib.Path(__file__).parent
OURS, PEER, OTHER = "#1f6feb", "#e8833a", "#8b949e"


def singular_value_errors(n, decades, count=20):
    """Largest relative errors in float, of quintet and of LAPACK (sgesdd), for columns scaled over `decades` decades.

    The reference is LAPACK in double (dgesdd): its error is below 1e-16 times the largest value, and the least value is
    above 1e-9 of that.
    """
    rng = np.random.default_rng(n)
    scales = 10.0 ** -np.linspace(0, decades, n)
    errors = {"quintet": [], "LAPACK": []}
    for _ in range(count):
        a = (rng.standard_normal((n, n)) * scales).astype(np.float32)
        reference = scipy.linalg.svdvals(a.astype(np.float64))
        for name, values in (("quintet", linalg.svdvals(a)), ("LAPACK", scipy.linalg.svdvals(a))):
            errors[name].append(np.abs(values / reference - 1).max())
    return {name: np.median(values) / np.finfo(np.float32).eps for name, values in errors.items()}


def draw_svd_error():
    sizes = [2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128]
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True, layout="constrained")
    for axes, decades in zip(panels, (0, 6)):
        found = [singular_value_errors(n, decades) for n in sizes]
        for name, colour in (("quintet", OURS), ("LAPACK", PEER)):
            axes.loglog(sizes, [errors[name] for errors in found], "o-", color=colour, markersize=4, label=name)
        axes.set_title("random matrices" if decades == 0 else "columns from 1 to 1e-6")
        axes.set_xlabel("n")
        axes.set_xticks([2, 8, 32, 128], ["2", "8", "32", "128"])
        axes.minorticks_off()
    panels[0].set_ylabel("largest relative error of a\nsingular value, float eps")
    panels[0].legend(frameon=False)
    figure.savefig(HERE / "svd_error.svg")


def draw_products():
    table = (HERE.parent.parent / "bench" / "results" / "spgemm.md").read_text(encoding="utf-8")
    header = re.search(r"^\| matrix \| products .*$", table, re.M)
    rows = []
    for line in table[header.end():].strip().split("\n")[1:]:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or cells[0].startswith("geometric"):
            break
        rows.append((cells[0], float(cells[4]), float(cells[6])))
    rows.sort(key=lambda row: min(row[1:]))
    figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
    places = np.arange(len(rows))
    for column, (name, colour, mark) in enumerate((("SuiteSparse:GraphBLAS", PEER, "o"), ("Eigen", OTHER, "s")), 1):
        axes.plot([row[column] for row in rows], places, mark, color=colour, label=name, markersize=5)
    axes.axvline(1, color="#30363d", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_xticks([0.5, 1, 2, 5, 10], ["0.5", "1", "2", "5", "10"])
    axes.minorticks_off()
    axes.set_yticks(places, [row[0] for row in rows], fontsize=8)
    axes.set_xlabel("times as fast as the peer, A A on one thread")
    axes.grid(axis="x", color="#e6e9ed")
    axes.legend(frameon=False, loc="lower right")
    figure.savefig(HERE / "products.svg")


if __name__ == "__main__":
    draw_svd_error()
    draw_products()
