"""Options of clusterings: an attribute for each member that python/src/clusterings.hpp lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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


def _computed_metric(value: str, name: str) -> str:
    return "euclidean" if value == "precomputed" else value


@dataclass(frozen=True)
class TreeOptions:
    """``quintet::hdbscan::tree_options``."""

    min_cluster_size: int = checked(as_integer, 2)
    ties: int = checked(choice("canonical", "binary"), "canonical")
    tie_tolerance: float = checked(as_number, 0.0)
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
