"""The trees of a clustering: as arrays, tables, graphs and pictures, in the layouts of scikit-learn-contrib/hdbscan.

matplotlib, pandas and networkx are loaded by the methods that need them. Nodes of a condensed tree may have more than
two children (merges of one height are one split), lambda may be infinite (duplicates), and trees may be deeper than
Python's recursion allows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._arguments import as_integer, as_number
from .._arrays import F64
from .._errors import InvalidArgument
from ._plots import draw_dendrogram, draw_edges, draw_icicles, icicles

#: One row of a condensed tree: ``child`` leaves ``parent`` at density ``lambda_val``.
CONDENSED_DTYPE = np.dtype(
    [("parent", np.int64), ("child", np.int64), ("lambda_val", np.float64), ("child_size", np.int64)]
)


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


CLUSTER_DTYPE = np.dtype(
    [
        ("cluster", np.int64),
        ("parent", np.int64),
        ("label", np.int64),
        ("size", np.int64),
        ("birth", np.float64),
        ("death", np.float64),
        ("stability", np.float64),
    ]
)


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

    @property
    def selected_clusters(self) -> np.ndarray:
        """``[K]``: the ids of the clusters with label 0, 1, ..."""
        return np.array(self._selected, dtype=np.int64)

    def clusters(self) -> np.ndarray:
        """A row for every cluster, parents before children; ``pandas.DataFrame`` takes it.

        Fields: ``cluster`` and ``parent`` (ids; -1 above the root), ``label`` (-1: not selected), ``size``, ``birth`` and
        ``death`` (lambda where it begins, and where the last row leaves that is not of a cluster below), ``stability``.

        >>> from quintet import hdbscan
        >>> result = hdbscan.cluster([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]], 2, min_samples=1)
        >>> result.condensed_tree.clusters()[["cluster", "parent", "label"]].tolist()
        [(6, -1, -1), (7, 6, 0), (8, 6, 1)]
        """
        from ._functions import summarise

        n = self._points()
        table = np.empty(0, CLUSTER_DTYPE)
        if n == 0:
            return table
        summary = summarise(self._raw_tree, n)
        table = np.empty(len(summary.parent), CLUSTER_DTYPE)
        table["cluster"] = np.arange(n, n + len(table))
        table["parent"] = np.where(summary.parent >= 0, summary.parent + n, -1)
        table["label"] = -1
        table["label"][self.selected_clusters - n] = np.arange(len(self._selected))
        for name in ("size", "birth", "death", "stability"):
            table[name] = getattr(summary, name)
        return table

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
        leaf_separation : float, default 1
            Distance of the last leaves.
        log_size : bool, default False
            Widths are the logarithms of numbers of points.
        max_rectangle_per_icicle : int, default 20
            Bars of one cluster at most, about.

        Returns
        -------
        dict
            Lists ``bar_centers, bar_tops, bar_bottoms, bar_widths`` (tops are heights above the bottoms), ``line_xs,
            line_ys`` (horizontal lines of the splits) and ``cluster_bounds``, {cluster: [left, right, bottom, top]}. An
            infinite lambda is drawn a tenth above the largest finite one.
        """
        return icicles(self._raw_tree, self._points(), leaf_separation, log_size, max_rectangle_per_icicle)

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
        data = self.get_plot_data(leaf_separation, log_size, max_rectangles_per_icicle)
        rings = self._select_clusters() if select_clusters else []
        title = "log(Number of points)" if log_size else "Number of points"
        return draw_icicles(data, rings, label_clusters, selection_palette, cmap, axis, title if colorbar else None)


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
        return draw_dendrogram(self._linkage, axis, truncate_mode, p, vary_line_width, cmap, colorbar)


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
        return draw_edges(
            self._mst,
            self._data,
            axis,
            node_size,
            node_color,
            node_alpha,
            edge_alpha,
            edge_cmap,
            edge_linewidth,
            vary_line_width,
            colorbar,
        )


def numeric_rows(matrix: Any, name: str, columns: int, shape: str) -> np.ndarray:
    """Edges or merges as the bindings take them: float64."""
    array = np.asarray(matrix)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be an array of numbers (dtype={array.dtype})")
    if array.ndim != 2 or array.shape[1] != columns:
        raise InvalidArgument(f"{name} must have the shape {shape} (shape={array.shape})")
    return np.ascontiguousarray(array, dtype=F64)


def linkage_rows(tree: Any, name: str = "linkage") -> np.ndarray:
    return numeric_rows(tree._linkage if isinstance(tree, SingleLinkageTree) else tree, name, 4, "(n - 1, 4)")


def cut(
    linkage: Any,
    height: float,
    min_cluster_size: int = 5,
    *,
    sample_weight: np.ndarray | None = None,
    core_distances: np.ndarray | None = None,
) -> np.ndarray:
    """Labels of the components that merges below `height` make; -1 in those of fewer than min_cluster_size points.

    On mutual reachability this is DBSCAN* with the radius `height`. A result with weights has ``weights`` and
    ``core_distances``, which are given here; sizes are sums of weights then.

    >>> from quintet import hdbscan
    >>> hdbscan.cut([[0, 1, 1.0, 2], [2, 3, 1.0, 2], [4, 5, 9.0, 4]], 2.0, 2)
    array([0, 0, 1, 1])
    """
    return np.asarray(
        _core.hdbscan_cut(
            linkage_rows(linkage),
            as_number(height, "height"),
            as_integer(min_cluster_size, "min_cluster_size"),
            sample_weight,
            core_distances,
        )
    )
