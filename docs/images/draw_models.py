"""The picture of docs/poincare.md: one set of points in the ball and in the half space, with geodesics and Voronoi cells.

    python docs/images/draw_models.py docs/images

Needs quintet and matplotlib.
"""

import os
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from quintet import lorentz, neighbours

PIXELS, STEPS = 480, 40


def geodesics(points, pairs):
    """[pair][step] places on the sheet."""
    t = np.tile(np.linspace(0, 1, STEPS), len(pairs))
    ends = [np.repeat(points[[pair[e] for pair in pairs]], STEPS, 0) for e in (0, 1)]
    return lorentz.geodesic(*ends, t).reshape(len(pairs), STEPS, 2)


def cells(places, inside, points, to_sheet):
    """The nearest point of every place of a picture; NaN outside the model."""
    nearest = np.full(inside.shape, np.nan)
    nearest[inside] = neighbours.nearest(points, 1, queries=to_sheet(places[inside]), metric="lorentz").indices[:, 0]
    return nearest


def draw(axis, extent, nearest, lines, places, title):
    axis.imshow(nearest, origin="lower", extent=extent, cmap="Pastel1", interpolation="nearest", aspect="equal")
    for line in lines:
        axis.plot(*line.T, color="0.25", linewidth=0.9)
    axis.scatter(*places.T, color="black", s=14, zorder=3)
    axis.set_title(title)
    axis.set_xticks([])
    axis.set_yticks([])
    axis.set_frame_on(title != "ball")


def main(folder):
    r = np.random.default_rng(3)
    angle, radius = np.sort(r.uniform(0, 2 * np.pi, 9)), r.uniform(0.4, 2.4, 9)
    points = lorentz.exp_map(radius[:, None] * np.stack((np.cos(angle), np.sin(angle)), 1))
    lines = geodesics(points, [(i, (i + 1) % len(points)) for i in range(len(points))])
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")

    at = np.linspace(-1, 1, PIXELS)
    places = np.stack(np.meshgrid(at, at), -1)
    inside = (places**2).sum(-1) < 1 - 1e-9
    nearest = cells(places, inside, points, lorentz.from_ball)
    draw(left, (-1, 1, -1, 1), nearest, lorentz.to_ball(lines), lorentz.to_ball(points), "ball")
    left.add_patch(plt.Circle((0, 0), 1, fill=False))

    in_half_space = lorentz.to_half_space(points)
    low, high = in_half_space[:, 0].min() - 1, in_half_space[:, 0].max() + 1
    top = min(in_half_space[:, 1].max() + 0.6, high - low)
    across, up = np.linspace(low, high, PIXELS), np.linspace(top / PIXELS, top, int(PIXELS * top / (high - low)))
    places = np.stack(np.meshgrid(across, up), -1)
    nearest = cells(places, np.ones(places.shape[:2], bool), points, lorentz.from_half_space)
    draw(right, (low, high, 0, top), nearest, lorentz.to_half_space(lines), in_half_space, "half space")
    figure.savefig(os.path.join(folder, "hyperbolic_models.png"), dpi=110)


if __name__ == "__main__":
    main(sys.argv[1])
