"""Options of likelihoods, optimisation, search and chains: an attribute for each member that python/src/snp_options.hpp
lists. None leaves the library's default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arguments import as_integer, as_number, as_seed
from .._errors import InvalidArgument
from .._options import as_flag, checked, choice


def core_of(value: Any, name: str, kind: type) -> Any:
    """The object of the bindings in a Network or Data. Raises TypeError for anything else."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__} ({name} is {type(value).__qualname__})")
    return value._core  # type: ignore[attr-defined]


def _rates(values: Any, name: str) -> list[float]:
    return [as_number(rate, name) for rate in np.atleast_1d(np.asarray(values, dtype=object))]


def _range(values: Any, name: str) -> tuple[float, float]:
    try:
        low, high = values
    except (TypeError, ValueError):
        raise InvalidArgument(f"{name} must be a pair (low, high) ({name}={values!r})") from None
    return as_number(low, name), as_number(high, name)


def _names(values: Any, name: str) -> list[str]:
    if isinstance(values, str):
        raise TypeError(f"{name} must be a sequence of names ({name}={values!r})")
    return [str(value) for value in values]


def _numbers(values: Any, name: str) -> list[float]:
    return [as_number(value, name) for value in values]


def _weights(values: Any, name: str) -> dict[str, float]:
    return {str(move): as_number(weight, f"{name}[{move!r}]") for move, weight in dict(values).items()}


@dataclass(frozen=True)
class ModelOptions:
    """``quintet::snp::model``."""

    u: float = checked(as_number, 1.0)
    v: float = checked(as_number, 1.0)
    rate_categories: list[float] = checked(_rates, (1.0,))
    mutation_only_at_root: bool = checked(as_flag, False)
    polymorphic_only: bool = checked(as_flag, False)
    full_samples: bool = checked(as_flag, False)
    unseen_zeros: float = checked(as_number, 0.0)
    unseen_ones: float = checked(as_number, 0.0)
    ordered_data: bool = checked(as_flag, False)


@dataclass(frozen=True)
class OptimiseOptions:
    """``quintet::snp::optimise_options``."""

    lengths: bool = checked(as_flag, True)
    thetas: int = checked(choice("fixed", "each", "common"), "each")
    gammas: bool = checked(as_flag, True)
    max_iterations: int = checked(as_integer, 200)
    tolerance: float = checked(as_number, 1e-6)
    length_range: tuple[float, float] = checked(_range, (1e-8, 1e3))
    theta_range: tuple[float, float] = checked(_range, (1e-8, 1e3))
    min_gamma: float = checked(as_number, 1e-6)


@dataclass(frozen=True)
class SearchOptions:
    """``quintet::snp::search_options`` without the model and the optimisation, which have their own."""

    max_reticulations: int = checked(as_integer, 2)
    starts: int = checked(as_integer, 4)
    patience: int = checked(as_integer, 40)
    theta: float = checked(as_number, 0.01)
    seed: int = checked(as_seed, 1)
    outgroup: list[str] = checked(_names, ())
    composite: int = checked(as_integer, 0)


def _unless_none(check: Any) -> Any:
    return checked(lambda value, name: None if value is None else check(value, name))


@dataclass(frozen=True)
class SamplerOptions:
    """``quintet::snp::sampler_options``."""

    chains: int | None = _unless_none(as_integer)
    temperatures: int | None = _unless_none(as_integer)
    heat: float | None = _unless_none(as_number)
    tune_heat: bool | None = _unless_none(as_flag)
    powers: list[float] | None = _unless_none(_numbers)
    iterations: int | None = _unless_none(as_integer)
    burn_in: int | None = _unless_none(as_integer)
    sample_every: int | None = _unless_none(as_integer)
    swap_every: int | None = _unless_none(as_integer)
    seed: int | None = _unless_none(as_seed)
    threads: int | None = _unless_none(as_integer)
    fix_topology: bool | None = _unless_none(as_flag)
    fix_heights: bool | None = _unless_none(as_flag)
    fix_origin: bool | None = _unless_none(as_flag)
    fix_theta: bool | None = _unless_none(as_flag)
    fix_gamma: bool | None = _unless_none(as_flag)
    fix_rates: bool | None = _unless_none(as_flag)
    delayed_acceptance: bool | None = _unless_none(as_flag)
    frequent_share: float | None = _unless_none(as_number)
    weights: dict[str, float] | None = _unless_none(_weights)
