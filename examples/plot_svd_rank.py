#!/usr/bin/env python3
"""Draws how well a few singular values stand for a set of images: the error against the rank, and images at some ranks.

    zcat examples/data/digits.csv.gz | cut -d, -f1-64 > digits.csv
    quintet-svd --input digits.csv --precision double --output digits.h5
    plot_svd_rank.py --factors digits.h5 --output digits_rank.png

The rows of the matrix are square images (64 columns: 8 x 8 pixels). Left, the relative error of the nearest matrix of
each rank in the Frobenius norm, sqrt(sum of the squares of the singular values left out), with the part of the numbers
that have to be stored. Right, the first images as they come back from some ranks.
"""
import argparse

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

LINE, GREY = "#1f6feb", "#8b949e"


def read_factors(path):
    with h5py.File(path) as file:
        return file["U"][:], file["S"][:], file["V"][:]


def relative_errors(s):
    """Of the best approximations of rank 0, 1, ..., len(s)."""
    left_out = np.concatenate([np.cumsum(s[::-1] ** 2)[::-1], [0]])
    return np.sqrt(left_out / left_out[0])


def draw_errors(axis, errors, shape):
    ranks = np.arange(len(errors))
    axis.plot(ranks, errors, color=LINE)
    axis.set(xlabel="rank", ylabel="relative error", xlim=(0, len(errors) - 1), ylim=(0, 1))
    stored = axis.secondary_xaxis(
        "top", functions=(lambda r: r * sum(shape) / np.prod(shape), lambda f: f * np.prod(shape) / sum(shape)))
    stored.set_xlabel("numbers stored, relative to the matrix")
    axis.grid(color=GREY, alpha=0.3)


def draw_images(grid, u, s, v, ranks, count):
    side = int(round(np.sqrt(len(v))))
    for row, rank in zip(grid, ranks):
        images = (u[:count, :rank] * s[:rank]) @ v[:, :rank].T
        for axis, image in zip(row, images):
            axis.imshow(image.reshape(side, side), cmap="gray_r")
            axis.set(xticks=[], yticks=[])
        row[0].set_ylabel(f"rank {rank}", rotation=0, ha="right", va="center")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--factors", required=True, help="output of quintet-svd, .h5, with U, S and V of one matrix")
    parser.add_argument("--output", required=True, help="picture, .png, .pdf or .svg")
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 5, 10, 20, 40], help="ranks to show images of")
    parser.add_argument("--images", type=int, default=8, help="number of images a rank")
    options = parser.parse_args()
    u, s, v = read_factors(options.factors)
    if int(round(np.sqrt(len(v)))) ** 2 != len(v):
        parser.error(f"--factors: rows must be square images, they have {len(v)} pixels")
    ranks = [rank for rank in options.ranks if rank <= len(s)] + [len(s)]
    errors = relative_errors(s)
    figure = plt.figure(figsize=(11, 4.5), layout="constrained")
    left, right = figure.subfigures(1, 2)
    draw_errors(left.subplots(), errors, (len(u), len(v)))
    draw_images(right.subplots(len(ranks), options.images, squeeze=False), u, s, v, ranks, options.images)
    figure.savefig(options.output, dpi=150)
    for rank in ranks:
        print(f"rank {rank:3d}: relative error {errors[rank]:.4f}")


if __name__ == "__main__":
    main()
