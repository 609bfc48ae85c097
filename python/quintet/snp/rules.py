"""The rules of the likelihood one by one, on partial likelihoods of one site: to read the papers next to a program.

A group of open branches has ``F(n1, r1, ...) = Pr(data below | n_i lineages, r_i of them with allele 1) Pr(n1, ...)``, in
the notation of Rabier et al. (2021). :class:`quintet.snp.Likelihood` computes the same for many sites at once.

>>> from quintet.snp import rules
>>> a, b = (rules.branch(rules.leaf(2, r), 0, length=0.1, theta=0.05) for r in (0, 1))
>>> 0 < rules.root(rules.join(a, 0, b, 0), theta=0.05) < 1
True
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._arguments import as_integer, as_number

__all__ = ["Partial", "branch", "join", "leaf", "merge", "root", "split"]


class Partial:
    """F of one group of open branches."""

    def __init__(self, core: Any) -> None:
        self._core = core

    @property
    def max(self) -> list[int]:
        """The most lineages on every branch."""
        return list(self._core.max)

    @property
    def entries(self) -> np.ndarray:
        """One number for every combination of states, the last branch fastest; state (n, r) is n (n + 1) / 2 + r."""
        return np.asarray(self._core.entries)

    def at(self, *states: tuple[int, int]) -> float:
        """F of one state (n, r) of every branch; 0 for more lineages than there can be."""
        return float(self._core.at([(as_integer(n, "n"), as_integer(r, "r")) for n, r in states]))


def leaf(copies: int, red: int, dominant: bool = False) -> Partial:
    """Rule 0: the bottom of a leaf's branch."""
    return Partial(_core.snp_rule_leaf(as_integer(copies, "copies"), as_integer(red, "red"), bool(dominant)))


def branch(
    below: Partial, axis: int, *, length: float, theta: float, u: float = 1.0, v: float = 1.0, device: str = "auto"
) -> Partial:
    """Rule 1: from the bottom of branch `axis` to its top."""
    return Partial(
        _core.snp_rule_branch(
            below._core,
            as_integer(axis, "axis"),
            as_number(length, "length"),
            as_number(theta, "theta"),
            as_number(u, "u"),
            as_number(v, "v"),
            device,
        )
    )


def join(left: Partial, left_axis: int, right: Partial, right_axis: int, *, device: str = "auto") -> Partial:
    """Rule 2: branches of two groups meet at a node; the branch above it is the first of the result."""
    return Partial(
        _core.snp_rule_join(
            left._core, as_integer(left_axis, "left_axis"), right._core, as_integer(right_axis, "right_axis"), device
        )
    )


def split(below: Partial, axis: int, gamma: float, *, device: str = "auto") -> Partial:
    """Rule 3: the branch below a reticulation becomes the two above it, the first two of the result."""
    return Partial(_core.snp_rule_split(below._core, as_integer(axis, "axis"), as_number(gamma, "gamma"), device))


def merge(below: Partial, first_axis: int, second_axis: int, *, device: str = "auto") -> Partial:
    """Rule 4: two branches of one group meet at a node; the branch above it is the first of the result."""
    return Partial(
        _core.snp_rule_merge(
            below._core, as_integer(first_axis, "first_axis"), as_integer(second_axis, "second_axis"), device
        )
    )


def root(below: Partial, theta: float, u: float = 1.0, v: float = 1.0, *, device: str = "auto") -> float:
    """The likelihood of the site: one branch at the root, below an endless population."""
    return float(
        _core.snp_rule_root(below._core, as_number(theta, "theta"), as_number(u, "u"), as_number(v, "v"), device)
    )
