"""The trees of a clustering: as arrays, tables, graphs and pictures, in the layouts of scikit-learn-contrib/hdbscan.

matplotlib, pandas and networkx are loaded by the methods that need them. Nodes of a condensed tree may have more than
two children (merges of one height are one split), lambda may be infinite (duplicates), and trees may be deeper than
Python's recursion allows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._errors import InvalidArgument

__all__ = ["CONDENSED_DTYPE", "CondensedTree", "MinimumSpanningTree", "SingleLinkageTree"]

#: One row of a condensed tree: ``child`` leaves ``parent`` at density ``lambda_val``.
CONDENSED_DTYPE = np.dtype(
    [("parent", np.int64), ("child", np.int64), ("lambda_val", np.float64), ("child_size", np.int64)]
)


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'quintet[plot]'") from error
    return plt


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError("to_pandas() needs pandas: pip install pandas") from error
    return pandas


def _networkx() -> Any:
    try:
        import networkx
    except ImportError as error:
        raise ImportError("to_networkx() needs networkx: pip install networkx") from error
    return networkx


def _bare(axis: Any) -> None:
    axis.set_xticks([])
    for side in ("right", "top", "bottom"):
        axis.spines[side].set_visible(False)


class CondensedTree:
    """The condensed tree of a clustering.

    ``tree`` is a structured array with the fields ``parent, child, lambda_val, child_size``: child leaves parent at
    density lambda = 1 / distance. Ids below n are points, n is the root, clusters above it follow, parents before
    children. ``labels`` are those of the points; ``selected`` the ids of the clusters with label 0, 1, ...

    >>> import numpy as np
    >>> from quintet import hdbscan
    >>> result = hdbscan.cluster(np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]), 2, min_samples=1)
    >>> tree = result.condensed_tree
    >>> tree.to_numpy().dtype.names
    ('parent', 'child', 'lambda_val', 'child_size')
    """

    def __init__(self, tree: np.ndarray, labels: np.ndarray, selected: np.ndarray) -> None:
        self._raw_tree = tree
        self._labels = labels
        self._selected = selected

    def to_numpy(self) -> np.ndarray:
        """A copy of the rows, increasing in (parent, lambda_val, child)."""
        return self._raw_tree.copy()

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame`` with the columns parent, child, lambda_val, child_size."""
        return _pandas().DataFrame(self._raw_tree)

    def to_networkx(self) -> Any:
        """A ``networkx.DiGraph``: an edge of ``weight`` lambda for every row; nodes have a ``size``."""
        graph = _networkx().DiGraph()
        for parent, child, value, size in self._raw_tree.tolist():
            graph.add_edge(parent, child, weight=value)
            graph.nodes[child]["size"] = size
        return graph

    def _points(self) -> int:
        return int(self._labels.shape[0])

    def _select_clusters(self) -> list[int]:
        return [int(c) for c in self._selected]

    def get_plot_data(
        self, leaf_separation: float = 1, log_size: bool = False, max_rectangle_per_icicle: int = 20
    ) -> dict[str, Any]:
        """What :meth:`plot` draws.

        Parameters
        ----------
        leaf_separation : distance of the last leaves.
        log_size : widths are the logarithms of numbers of points.
        max_rectangle_per_icicle : bars of one cluster at most, about.

        Returns
        -------
        dict with lists ``bar_centers, bar_tops, bar_bottoms, bar_widths`` (tops are heights above the bottoms),
        ``line_xs, line_ys`` (horizontal lines of the splits) and ``cluster_bounds``, {cluster: [left, right, bottom,
        top]}. An infinite lambda is drawn a tenth above the largest finite one.
        """
        if not leaf_separation > 0:
            raise InvalidArgument(f"leaf_separation must be > 0 (leaf_separation={leaf_separation!r})")
        if max_rectangle_per_icicle < 1:
            raise InvalidArgument(
                f"max_rectangle_per_icicle must be >= 1 (max_rectangle_per_icicle={max_rectangle_per_icicle})"
            )
        tree = self._raw_tree
        root = self._points()
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

    def plot(
        self,
        leaf_separation: float = 1,
        cmap: Any = "viridis",
        select_clusters: bool = False,
        label_clusters: bool = False,
        selection_palette: Any = None,
        axis: Any = None,
        colorbar: bool = True,
        log_size: bool = False,
        max_rectangles_per_icicle: int = 20,
    ) -> Any:
        """Icicles: a bar for every cluster, as wide as it has points, downwards in lambda.

        Parameters are those of hdbscan's ``CondensedTree.plot``: cmap "none" draws black bars, select_clusters rings
        the clusters that became labels, in the colours of selection_palette, label_clusters writes their numbers.
        Returns the matplotlib axis.
        """
        plt = _pyplot()
        data = self.get_plot_data(leaf_separation, log_size, max_rectangles_per_icicle)
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
        if select_clusters:
            self._ring(axis, data["cluster_bounds"], label_clusters, selection_palette)
        if colorbar and bars is not None:
            bar = plt.colorbar(bars, ax=axis)
            bar.ax.set_ylabel("log(Number of points)" if log_size else "Number of points")
        _bare(axis)
        axis.invert_yaxis()
        axis.set_ylabel("$\\lambda$ value")
        return axis

    def _ring(self, axis: Any, bounds: dict[int, list[float]], label_clusters: bool, palette: Any) -> None:
        from matplotlib.patches import Ellipse

        chosen = self._select_clusters()
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


class SingleLinkageTree:
    """The dendrogram, SciPy's ``Z``: row t is ``left, right, distance, size``, ids below n are points, n + t is what row
    t made. Rows that NaN or missing edges leave apart join at infinity.

    >>> from quintet import hdbscan
    >>> tree = hdbscan.cluster([[0.0], [1.0], [3.0]], 2, min_samples=1).single_linkage_tree
    >>> tree.to_numpy()
    array([[0., 1., 1., 2.],
           [3., 2., 2., 3.]])
    """

    def __init__(self, linkage: np.ndarray) -> None:
        self._linkage = linkage

    def to_numpy(self) -> np.ndarray:
        """A copy of the rows [n - 1, 4], float64."""
        return self._linkage.copy()

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame`` with the columns parent, left_child, right_child, distance, size."""
        n = len(self._linkage) + 1
        return _pandas().DataFrame(
            {
                "parent": np.arange(n, 2 * n - 1),
                "left_child": self._linkage[:, 0].astype(np.int64),
                "right_child": self._linkage[:, 1].astype(np.int64),
                "distance": self._linkage[:, 2],
                "size": self._linkage[:, 3].astype(np.int64),
            }
        )

    def to_networkx(self) -> Any:
        """A ``networkx.DiGraph``: two edges of ``weight`` distance for every row; nodes made by rows have a ``size``."""
        graph = _networkx().DiGraph()
        n = len(self._linkage) + 1
        for parent, (left, right, distance, size) in enumerate(self._linkage.tolist(), n):
            graph.add_edge(parent, int(left), weight=distance)
            graph.add_edge(parent, int(right), weight=distance)
            graph.nodes[parent]["size"] = int(size)
        return graph

    def get_clusters(self, cut_distance: float, min_cluster_size: int = 5) -> np.ndarray:
        """Labels of the components that merges below `cut_distance` make: DBSCAN* with that radius.

        Components of fewer than `min_cluster_size` points are noise, -1; labels are numbered by the first point.
        """
        from .hdbscan import cut

        return cut(self._linkage, cut_distance, min_cluster_size)

    def plot(
        self,
        axis: Any = None,
        truncate_mode: str | None = None,
        p: int = 0,
        vary_line_width: bool = True,
        cmap: Any = "viridis",
        colorbar: bool = True,
    ) -> Any:
        """The dendrogram. `truncate_mode` and `p` are SciPy's: "lastp" shows the last p merges, "level" p levels.

        Lines are as wide as the logarithm of the points below them with vary_line_width. Returns the axis.
        """
        plt = _pyplot()
        axis = plt.gca() if axis is None else axis
        data = self._drawing(truncate_mode, p)
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

    def _drawing(self, truncate_mode: str | None, p: int) -> list[tuple[list[float], list[float], tuple[float, float]]]:
        """Of every merge that is shown: x and y of its bracket, and the points below its two legs."""
        if truncate_mode not in (None, "none", "lastp", "level", "mtica"):
            raise InvalidArgument(
                f"truncate_mode must be None, 'lastp' or 'level' (truncate_mode={truncate_mode!r})"
            )
        rows = self._linkage
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


class MinimumSpanningTree:
    """The minimum spanning tree of mutual reachability: rows ``from, to, distance`` [n - 1, 3] float64, by distance.

    >>> from quintet import hdbscan
    >>> tree = hdbscan.cluster([[0.0], [1.0], [3.0]], 2, min_samples=1).minimum_spanning_tree
    >>> tree.to_numpy()
    array([[0., 1., 1.],
           [1., 2., 2.]])
    """

    def __init__(self, mst: np.ndarray, data: np.ndarray | None) -> None:
        self._mst = mst
        self._data = data

    def to_numpy(self) -> np.ndarray:
        """A copy of the rows."""
        return self._mst.copy()

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame`` with the columns from, to, distance."""
        return _pandas().DataFrame(
            {
                "from": self._mst[:, 0].astype(np.int64),
                "to": self._mst[:, 1].astype(np.int64),
                "distance": self._mst[:, 2],
            }
        )

    def to_networkx(self) -> Any:
        """A ``networkx.Graph`` with edges of ``weight`` distance; nodes have their coordinates as ``data``."""
        graph = _networkx().Graph()
        for u, v, distance in self._mst.tolist():
            graph.add_edge(int(u), int(v), weight=distance)
        if self._data is not None:
            for i, row in enumerate(self._data):
                graph.add_node(i, data=tuple(row.tolist()))
        return graph

    def plot(
        self,
        axis: Any = None,
        node_size: float = 40,
        node_color: Any = "k",
        node_alpha: float = 0.8,
        edge_alpha: float = 0.5,
        edge_cmap: Any = "viridis_r",
        edge_linewidth: float = 2,
        vary_line_width: bool = True,
        colorbar: bool = True,
    ) -> Any:
        """Points and edges in the plane. More than two coordinates are projected onto their first two principal axes
        (hdbscan runs t-SNE, which takes minutes and moves with every run). Returns the axis.
        """
        if self._data is None:
            raise ValueError("a tree of precomputed distances has no coordinates to draw")
        plt = _pyplot()
        from matplotlib.collections import LineCollection

        axis = plt.gca() if axis is None else axis
        points = np.nan_to_num(np.asarray(self._data, dtype=np.float64), posinf=0.0, neginf=0.0)
        if points.shape[1] > 2:
            from .linalg import svd

            points = points - points.mean(axis=0)
            points = points @ np.asarray(svd(points, full_matrices=False).Vh)[:2].T
        elif points.shape[1] == 1:
            points = np.column_stack((points[:, 0], np.zeros(len(points))))
        distance = self._mst[:, 2]
        width: Any = edge_linewidth
        if vary_line_width and distance.size:
            least = max(float(distance[distance > 0].min(initial=np.inf)), np.finfo(float).tiny)
            shown = np.where(distance > 0, distance, least)
            width = edge_linewidth * (np.log(shown.max() / shown) + 1.0)
        lines = LineCollection(
            list(points[self._mst[:, :2].astype(np.int64)]), linewidth=width, cmap=edge_cmap, alpha=edge_alpha
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
