"""Points in few dimensions for benchmarks, the same every time: NumPy's PCG64 with fixed seeds."""
import numpy as np


def noise(n, dim, seed=1):
    """50 Gaussian clusters of different widths, and 10 % uniform noise."""
    random = np.random.default_rng(seed)
    centre, width = random.uniform(-10, 10, (50, dim)), random.uniform(0.05, 0.6, 50)
    label = random.integers(0, 50, n)
    points = centre[label] + random.normal(size=(n, dim)) * width[label][:, None]
    anywhere = random.random(n) < 0.1
    points[anywhere] = random.uniform(-12, 12, (int(anywhere.sum()), dim))
    return points.astype(np.float32)


def mapped(n, dim, seed=2):
    """20 clusters and 20 filaments, without noise: like the output of UMAP."""
    random = np.random.default_rng(seed)
    begin, end = random.uniform(-10, 10, (40, dim)), random.uniform(-10, 10, (40, dim))
    label = random.integers(0, 40, n)
    along = np.where(label < 20, 0, random.random(n))
    points = begin[label] + along[:, None] * 0.4 * (end - begin)[label]
    points += random.normal(size=(n, dim)) * random.uniform(0.05, 0.3, 40)[label][:, None]
    return points.astype(np.float32)


def uniform(n, dim, seed=3):
    """Nothing to prune in ten dimensions."""
    return np.random.default_rng(seed).random((n, dim), dtype=np.float32)


def embeddings(n, dim, seed=4):
    """Unit vectors around 50 directions, and 10 % anywhere."""
    random = np.random.default_rng(seed)
    centre = random.normal(size=(50, dim))
    points = centre[random.integers(0, 50, n)] + 0.5 * random.normal(size=(n, dim))
    anywhere = random.random(n) < 0.1
    points[anywhere] = random.normal(size=(int(anywhere.sum()), dim))
    return (points / np.linalg.norm(points, axis=1)[:, None]).astype(np.float32)


KINDS = {"noise": noise, "map": mapped, "uniform": uniform, "embeddings": embeddings}
