"""Pictures of the trees of a clustering; matplotlib is loaded by the functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._errors import InvalidArgument


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'quintet[plot]'") from error
    return plt


def _bare(axis: Any) -> None:
    axis.set_xticks([])
    for side in ("right", "top", "bottom"):
        axis.spines[side].set_visible(False)


def icicles(
    tree: np.ndarray, root: int, leaf_separation: float, log_size: bool, max_rectangle_per_icicle: int
) -> dict[str, Any]:
    """See CondensedTree.get_plot_data; `root` is the number of points."""
    if not leaf_separation > 0:
        raise InvalidArgument(f"leaf_separation must be > 0 (leaf_separation={leaf_separation!r})")
    if max_rectangle_per_icicle < 1:
        raise InvalidArgument(
            f"max_rectangle_per_icicle must be >= 1 (max_rectangle_per_icicle={max_rectangle_per_icicle})"
        )
    count = int(max(tree["parent"].max(initial=root), tree["child"].max(initial=0))) - root + 1
    value = tree["lambda_val"]
    finite = value[np.isfinite(value)]
    ceiling = 1.1 * float(finite.max()) if finite.size and finite.max() > 0 else 1.0
    value = np.where(np.isfinite(value), value, ceiling)

    splits = tree[tree["child"] >= root]
    births = np.zeros(count)
    births[splits["child"] - root] = value[tree["child"] >= root]
    parent = np.full(count, -1)
    parent[splits["child"] - root] = splits["parent"] - root
    children: list[list[int]] = [[] for _ in range(count)]
    for c in range(1, count):
        children[parent[c]].append(c)
    x = np.zeros(count)
    place = 0
    stack = [0]
    while stack:  # leaves from left to right
        c = stack.pop()
        if not children[c]:
            x[c] = leaf_separation * place
            place += 1
        stack.extend(reversed(children[c]))
    for c in range(count - 1, -1, -1):  # children have larger numbers than their parents
        if children[c]:
            x[c] = float(np.mean(x[children[c]]))

    def width(points: float) -> float:
        return float(np.log(max(points, 1.0))) if log_size else float(points)

    begin = np.searchsorted(tree["parent"], np.arange(root, root + count + 1))
    size = np.zeros(count)
    np.add.at(size, tree["parent"] - root, tree["child_size"])
    scaling = max(width(size[0]), 1.0)
    centers: list[float] = []
    tops: list[float] = []
    bottoms: list[float] = []
    widths: list[float] = []
    bounds: dict[int, list[float]] = {}
    for c in range(count - 1, -1, -1):
        rows = slice(begin[c], begin[c + 1])
        lambdas, sizes = value[rows], tree["child_size"][rows]
        top = float(lambdas.max()) if lambdas.size else float(births[c])
        middle = float(x[c]) * scaling
        half = width(size[c]) / 2
        bounds[root + c] = [middle - half, middle + half, float(births[c]), top]
        if not lambdas.size:
            continue
        order = np.argsort(lambdas, kind="stable")
        levels, first = np.unique(lambdas[order], return_index=True)
        gone = np.add.reduceat(sizes[order], first)
        left = size[c] - np.concatenate(([0], np.cumsum(gone)[:-1]))  # points that are there below each level
        step = (width(size[c]) - width(float(gone[-1]))) / max_rectangle_per_icicle
        bottom, drawn = float(births[c]), width(size[c])
        for i, level in enumerate(levels):
            now = width(left[i + 1]) if i + 1 < len(levels) else -1.0
            if i + 1 < len(levels) and drawn - now <= step:
                continue
            if level > bottom:
                centers.append(middle)
                tops.append(float(level) - bottom)
                bottoms.append(bottom)
                widths.append(drawn)
                bottom = float(level)
            drawn = now
    line_xs: list[list[float]] = []
    line_ys: list[list[float]] = []
    for c in range(1, count):
        above, here = float(x[parent[c]]) * scaling, float(x[c]) * scaling
        reach = width(size[c]) / 2
        line_xs.append([above, here + float(np.sign(here - above)) * reach])
        line_ys.append([float(births[c]), float(births[c])])
    return {
        "bar_centers": centers,
        "bar_tops": tops,
        "bar_bottoms": bottoms,
        "bar_widths": widths,
        "line_xs": line_xs,
        "line_ys": line_ys,
        "cluster_bounds": bounds,
    }


def draw_icicles(
    data: dict[str, Any], rings: list[int], label_rings: bool, palette: Any, cmap: Any, axis: Any, colorbar: str | None
) -> Any:
    """Draws what icicles() gives, and rings around the clusters `rings`; `colorbar` is the name of its axis."""
    plt = _pyplot()
    axis = plt.gca() if axis is None else axis
    bars = None
    colors: Any = "black"
    if cmap != "none":
        bars = plt.cm.ScalarMappable(
            cmap=cmap, norm=plt.Normalize(0, max(data["bar_widths"], default=1.0) or 1.0)
        )
        bars.set_array(data["bar_widths"])
        colors = [bars.to_rgba(w) for w in data["bar_widths"]]
    axis.bar(
        data["bar_centers"],
        data["bar_tops"],
        bottom=data["bar_bottoms"],
        width=data["bar_widths"],
        color=colors,
        align="center",
        linewidth=0,
    )
    for xs, ys in zip(data["line_xs"], data["line_ys"]):
        axis.plot(xs, ys, color="black", linewidth=1)
    if rings:
        _ring(axis, data["cluster_bounds"], rings, label_rings, palette)
    if colorbar is not None and bars is not None:
        bar = plt.colorbar(bars, ax=axis)
        bar.ax.set_ylabel(colorbar)
    _bare(axis)
    axis.invert_yaxis()
    axis.set_ylabel("$\\lambda$ value")
    return axis


def _ring(
    axis: Any, bounds: dict[int, list[float]], chosen: list[int], label_clusters: bool, palette: Any
) -> None:
    from matplotlib.patches import Ellipse

    tallest = max((bounds[c][3] - bounds[c][2] for c in chosen), default=0.0)
    for i, c in enumerate(chosen):
        left, right, bottom, top = bounds[c]
        center = ((left + right) / 2, (bottom + top) / 2)
        height = max(top - bottom, 0.1 * tallest)
        color = palette[i] if palette is not None and len(palette) >= len(chosen) else "r"
        axis.add_artist(
            Ellipse(
                center, 2.0 * (right - left), 1.2 * height, facecolor="none", edgecolor=color, linewidth=2
            )
        )
        if label_clusters:
            axis.annotate(
                str(i),
                xy=center,
                xytext=(center[0] - 2.0 * (right - left), center[1] + 0.65 * height),
                horizontalalignment="left",
                verticalalignment="bottom",
            )


def draw_dendrogram(
    rows: np.ndarray, axis: Any, truncate_mode: str | None, p: int, vary_line_width: bool, cmap: Any, colorbar: bool
) -> Any:
    """See SingleLinkageTree.plot."""
    plt = _pyplot()
    axis = plt.gca() if axis is None else axis
    data = brackets(rows, truncate_mode, p)
    sizes = np.array([w for _, _, w in data]).reshape(-1, 2) if vary_line_width else np.ones((len(data), 2))
    shades = np.log2(1 + sizes)
    scale = None
    if cmap != "none":
        scale = plt.cm.ScalarMappable(cmap=cmap, norm=plt.Normalize(0, max(shades.max(initial=0), 1e-9)))
        scale.set_array(shades.ravel())
    style = {"solid_joinstyle": "miter", "solid_capstyle": "butt"}
    for (xs, ys, _), shade in zip(data, shades):
        for side in (0, 1):
            color = scale.to_rgba(shade[side]) if scale is not None else "k"
            cut = slice(0, 2) if side == 0 else slice(2, 4)
            axis.plot(xs[cut], ys[cut], color=color, linewidth=shade[side], **style)
        axis.plot(xs[1:3], ys[1:3], color="k", linewidth=1.0, **style)
    if colorbar and scale is not None:
        bar = plt.colorbar(scale, ax=axis)
        bar.ax.set_ylabel("log(Number of points)")
    _bare(axis)
    axis.set_ylabel("distance")
    return axis


def brackets(
    rows: np.ndarray, truncate_mode: str | None, p: int
) -> list[tuple[list[float], list[float], tuple[float, float]]]:
    """Of every merge that is shown: x and y of its bracket, and the points below its two legs."""
    if truncate_mode not in (None, "none", "lastp", "level", "mtica"):
        raise InvalidArgument(
            f"truncate_mode must be None, 'lastp' or 'level' (truncate_mode={truncate_mode!r})"
        )
    n = len(rows) + 1
    if not len(rows):
        return []
    finite = rows[np.isfinite(rows[:, 2]), 2]
    ceiling = 1.1 * float(finite.max()) if finite.size and finite.max() > 0 else 1.0
    height = np.where(np.isfinite(rows[:, 2]), rows[:, 2], ceiling)
    depth = np.zeros(2 * n - 1, dtype=np.int64)
    for t in range(n - 2, -1, -1):
        depth[rows[t, :2].astype(np.int64)] = depth[n + t] + 1

    def is_open(node: int) -> bool:
        if node < n:
            return False
        if truncate_mode == "lastp":
            return node - n >= n - 1 - max(int(p) - 1, 1)
        if truncate_mode in ("level", "mtica"):
            return bool(depth[node] <= p)
        return True

    x = np.zeros(2 * n - 1)
    place = 5.0
    shown: list[int] = []
    stack = [2 * n - 2]
    while stack:
        node = stack.pop()
        if not is_open(node):
            x[node] = place
            place += 10.0
            continue
        shown.append(node)
        left, right = (int(v) for v in rows[node - n, :2])
        stack += [right, left]
    drawing = []
    for node in sorted(shown):
        left, right = (int(v) for v in rows[node - n, :2])
        x[node] = (x[left] + x[right]) / 2
        ends = [float(height[c - n]) if c >= n and is_open(c) else 0.0 for c in (left, right)]
        top = float(height[node - n])
        sizes = tuple(float(rows[c - n, 3]) if c >= n else 1.0 for c in (left, right))
        xs = [float(x[left]), float(x[left]), float(x[right]), float(x[right])]
        drawing.append((xs, [ends[0], top, top, ends[1]], (sizes[0], sizes[1])))
    return drawing


def draw_edges(
    rows: np.ndarray,
    data: np.ndarray,
    axis: Any,
    node_size: float,
    node_color: Any,
    node_alpha: float,
    edge_alpha: float,
    edge_cmap: Any,
    edge_linewidth: float,
    vary_line_width: bool,
    colorbar: bool,
) -> Any:
    """See MinimumSpanningTree.plot."""
    plt = _pyplot()
    from matplotlib.collections import LineCollection

    axis = plt.gca() if axis is None else axis
    points = np.nan_to_num(np.asarray(data, dtype=np.float64), posinf=0.0, neginf=0.0)
    if points.shape[1] > 2:
        from ..linalg import svd

        points = points - points.mean(axis=0)
        points = points @ np.asarray(svd(points, full_matrices=False).Vh)[:2].T
    elif points.shape[1] == 1:
        points = np.column_stack((points[:, 0], np.zeros(len(points))))
    distance = rows[:, 2]
    width: Any = edge_linewidth
    if vary_line_width and distance.size:
        least = max(float(distance[distance > 0].min(initial=np.inf)), np.finfo(float).tiny)
        shown = np.where(distance > 0, distance, least)
        width = edge_linewidth * (np.log(shown.max() / shown) + 1.0)
    lines = LineCollection(
        list(points[rows[:, :2].astype(np.int64)]), linewidth=width, cmap=edge_cmap, alpha=edge_alpha
    )
    lines.set_array(distance)
    axis.add_artist(lines)
    axis.scatter(points[:, 0], points[:, 1], c=node_color, alpha=node_alpha, s=node_size)
    axis.set_xticks([])
    axis.set_yticks([])
    if colorbar:
        bar = plt.colorbar(lines, ax=axis)
        bar.ax.set_ylabel("Mutual reachability distance")
    return axis


def _grid(found: Any, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values over min_samples (rows) and min_cluster_size; between two listed sizes those of the smaller."""
    settings = found.settings
    epsilon = settings["cluster_selection_epsilon"]
    settings = settings[epsilon == epsilon.min()]
    samples, sizes = np.unique(settings["min_samples"]), np.unique(settings["min_cluster_size"])
    values = np.full((len(samples), len(sizes)), np.nan)
    for row, k in enumerate(samples):
        of_it = settings[settings["min_samples"] == k]
        place = np.searchsorted(of_it["min_cluster_size"], sizes, side="right") - 1
        values[row] = np.where(place >= 0, of_it[name][np.maximum(place, 0)].astype(np.float64), np.nan)
    return samples, sizes, values


def _edges_between(values: np.ndarray) -> np.ndarray:
    """Borders of cells around increasing values."""
    if len(values) == 1:
        return np.array([values[0] - 0.5, values[0] + 0.5])
    middle = (values[1:] + values[:-1]) / 2
    return np.concatenate([[2 * values[0] - middle[0]], middle, [2 * values[-1] - middle[-1]]])


def _new_axes(axes: Any, count: int, **layout: Any) -> Any:
    if axes is None:
        axes = _pyplot().subplots(layout.pop("rows", 1), layout.pop("columns", count), **layout)[1]
    axes = np.asarray(axes, dtype=object).reshape(-1)
    if len(axes) != count:
        raise InvalidArgument(f"axes must be {count} (axes={len(axes)})")
    return axes


def draw_sweep(found: Any, measure: str | None, axes: Any) -> Any:
    """See SweepResult.plot."""
    measures = ("persistence", "relative_validity", "dbcv")
    if measure is None:
        measure = measures[found.options.score]
    if measure not in measures:
        raise InvalidArgument(f"measure must be one of {', '.join(measures)} (measure={measure!r})")
    axes = _new_axes(axes, 3, figsize=(14, 4), sharey=True, layout="constrained")
    points = len(found.trees[0].core_distances)
    for axis, name in zip(axes, ("clusters", "noise", measure)):
        samples, sizes, values = _grid(found, name)
        if name == "noise":
            values = values / max(points, 1)
        borders = np.exp(_edges_between(np.log(sizes)))
        mesh = axis.pcolormesh(borders, _edges_between(samples), values, shading="flat")
        axis.set_xscale("log")
        axis.set_xlabel("min_cluster_size")
        axis.set_title({"noise": "share of noise"}.get(name, name.replace("_", " ")))
        axis.figure.colorbar(mesh, ax=axis)
        if found.best_ is not None:
            best = found.settings[found.best_]
            axis.plot(best["min_cluster_size"], best["min_samples"], "x", color="red", markersize=10, label="best")
    axes[0].set_ylabel("min_samples")
    return axes


def _points_below(linkage: np.ndarray, node: int) -> list[int]:
    n, points, stack = len(linkage) + 1, [], [int(node)]
    while stack:
        top = stack.pop()
        if top < n:
            points.append(top)
        else:
            stack.extend(linkage[top - n, :2].astype(np.int64).tolist())
    return points


def draw_layers(found: Any, axes: Any, max_leaves: int) -> Any:
    """See SweepResult.plot_layers."""
    from ._sweep import persistent_leaves

    best = found._best()
    k = int(found.settings["min_samples"][best])
    axes = _new_axes(axes, 2, rows=2, columns=1, figsize=(8, 7), sharex=True, layout="constrained")
    plt = _pyplot()
    trace = found.persistence_trace(k)
    axes[0].step(trace["min_cluster_size"], trace["persistence"], where="post")
    for layer in found.layers_:
        axes[0].plot(layer.min_cluster_size, layer.persistence, "o", color="red")
    axes[0].set_ylabel("persistence")
    result, labels = found._result_of(k), found.labels(best)
    linkage, leaves = result.linkage, persistent_leaves(result, k, found.options.ties)
    leaves = leaves[np.argsort(leaves["first"] - leaves["last"], kind="stable")][:max_leaves]
    colours = plt.get_cmap("tab20")
    for row, leaf in enumerate(leaves[np.lexsort((leaves["node"], leaves["first"]))]):
        inside = labels[_points_below(linkage, leaf["node"])]
        label = np.bincount(inside[inside >= 0]).argmax() if (inside >= 0).any() else -1
        axes[1].barh(
            row,
            leaf["last"] + 1 - leaf["first"],
            left=leaf["first"],
            height=0.8,
            color="lightgrey" if label < 0 else colours(label % 20),
        )
    axes[1].set_xscale("log")
    axes[1].set_yticks([])
    axes[1].set_xlabel("min_cluster_size")
    axes[1].set_ylabel("leaf clusters")
    return axes
