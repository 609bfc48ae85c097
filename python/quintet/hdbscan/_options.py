"""Options of clusterings: an attribute for each member that python/src/clusterings.hpp lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .. import _core
from .._arguments import as_integer, as_number
from .._errors import InvalidArgument
from .._options import as_flag, checked, choice


def _size_limit(value: Any, name: str) -> int:
    return as_integer(0 if value is None else value, name)


def _samples(value: Any, name: str) -> int:
    if value is None:
        return 0
    k = as_integer(value, name)
    if k < 1:
        raise InvalidArgument(f"{name} must be >= 1 ({name}={k})")
    return k


def _tolerance(value: Any, name: str) -> float | None:
    return None if value is None else as_number(value, name)


def _cluster_size(value: Any, name: str) -> int:
    if isinstance(value, str) and value == "auto":
        return _core.HDBSCAN_AUTOMATIC_SIZE
    if isinstance(value, str):
        raise InvalidArgument(f"{name} must be an integer >= 2 or 'auto' ({name}={value!r})")
    return as_integer(value, name, -(2**63) + 1)  # the smallest stands for "auto"


def _all_labels(value: Any, name: str) -> bool:
    return choice("best", "all")(value, name) == 1


def _computed_metric(value: str, name: str) -> str:
    return "euclidean" if value == "precomputed" else value


@dataclass(frozen=True)
class TreeOptions:
    """``quintet::hdbscan::tree_options``."""

    min_cluster_size: int = checked(_cluster_size, 2)
    ties: int = checked(choice("canonical", "binary"), "canonical")
    tie_tolerance: float | None = checked(_tolerance, None)
    cluster_selection_method: int = checked(choice("eom", "leaf"), "eom")
    cluster_selection_epsilon: float = checked(as_number, 0.0)
    cluster_selection_epsilon_max: float = checked(as_number, float("inf"))
    max_cluster_size: int = checked(_size_limit, 0)
    allow_single_cluster: bool = checked(as_flag, False)


@dataclass(frozen=True)
class SpanningTreeOptions:
    """``quintet::hdbscan::spanning_tree_options``. `metric` and `parameter` are checked by the caller."""

    min_samples: int = checked(as_integer, 0)
    count_self: bool = checked(as_flag, False)
    alpha: float = checked(as_number, 1.0)
    metric: str = checked(_computed_metric, "euclidean")
    parameter: float = checked(as_number, -1.0)


@dataclass(frozen=True)
class ClusterOptions(SpanningTreeOptions, TreeOptions):
    """``quintet::hdbscan::cluster_options``, where min_samples None is min_cluster_size."""

    min_samples: int = checked(_samples, 0)


@dataclass(frozen=True)
class SweepOptions:
    """``quintet::hdbscan::sweep_options`` but for its lists. `metric` and `parameter` are checked by the caller."""

    ties: int = checked(choice("canonical", "binary"), "canonical")
    tie_tolerance: float | None = checked(_tolerance, None)
    cluster_selection_method: int = checked(choice("eom", "leaf"), "eom")
    cluster_selection_epsilon_max: float = checked(as_number, float("inf"))
    max_cluster_size: int = checked(_size_limit, 0)
    allow_single_cluster: bool = checked(as_flag, False)
    count_self: bool = checked(as_flag, False)
    alpha: float = checked(as_number, 1.0)
    metric: str = checked(_computed_metric, "euclidean")
    parameter: float = checked(as_number, -1.0)
    score: int = checked(choice("persistence", "relative_validity", "dbcv"), "persistence")
    dbcv_all: bool = checked(as_flag, False)
    labels: bool = checked(_all_labels, "best")
    max_layers: int = checked(as_integer, 10)
