#!/usr/bin/env python3
"""Tracks on a globe, as ships report them: latitudes and longitudes in degrees, of which 2 % lie anywhere.

    bench/sphere_tracks.py 8870000 tracks.npy
    quintet-hdbscan --input tracks.npy --metric haversine --min-cluster-size 50 --min-samples 10 --output clusters.h5

Each track has 500 positions: it begins at one of 200 ports, turns slowly, and is at anchor 3 times in 10.
"""
import sys

import numpy as np

POSITIONS, PORTS = 500, 200


def tracks(count):
    random = np.random.default_rng(1)
    rows = (count // POSITIONS, POSITIONS)
    ports = np.column_stack([random.uniform(-60, 70, PORTS), random.uniform(-180, 180, PORTS)])
    port = ports[random.integers(PORTS, size=rows[0])]
    course = random.uniform(0, 2 * np.pi, (rows[0], 1)) + random.normal(scale=0.02, size=rows).cumsum(axis=1)
    step = random.uniform(0.0005, 0.02, size=(rows[0], 1)) * random.choice([0.02, 1], size=rows, p=[0.3, 0.7])
    latitude = port[:, :1] + random.normal(scale=0.01, size=(rows[0], 1)) + np.cumsum(step * np.cos(course), axis=1)
    latitude = np.clip(latitude, -85, 85)
    east = np.cumsum(step * np.sin(course) / np.cos(np.radians(latitude)), axis=1)
    longitude = port[:, 1:] + random.normal(scale=0.01, size=(rows[0], 1)) + east
    points = np.column_stack([latitude.ravel(), longitude.ravel()])
    points += random.normal(scale=2e-5, size=points.shape)
    anywhere = random.random(len(points)) < 0.02
    lost = int(anywhere.sum())
    points[anywhere] = np.column_stack([np.degrees(np.arcsin(random.uniform(-1, 1, lost))), random.uniform(-180, 180, lost)])
    points[:, 1] = (points[:, 1] + 180) % 360 - 180
    return points


if __name__ == "__main__":
    np.save(sys.argv[2], tracks(int(sys.argv[1])))
