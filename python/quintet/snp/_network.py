"""Networks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._arguments import as_integer, as_number
from .._errors import FileError, InvalidArgument

NAN = float("nan")


def _optional(value: float | None, name: str) -> float:
    return NAN if value is None else as_number(value, name)


class Branches(NamedTuple):
    """Columns over the branches of a network; copies."""

    child: np.ndarray  #: node below
    parent: np.ndarray  #: node above
    length: np.ndarray  #: >= 0
    theta: np.ndarray  #: > 0
    gamma: np.ndarray  #: in [0, 1]; 1 unless the child is a reticulation


class Network:
    """A rooted phylogenetic network with lengths, thetas and gammas.

    ``Network(text)`` reads extended Newick, ``name:length:theta:gamma``; `theta`, `root_theta`, `length` and `gamma` stand
    for what the text leaves out; with `support` the second number is a support value, and is left out; with `unrooted` the
    root may have three children, and :meth:`rooted_at` moves it.
    ``Network(names, edges, root_theta=...)`` takes nodes and edges ``(parent, child,
    length, theta[, gamma])`` by number.

    >>> from quintet import snp
    >>> network = snp.Network("((A:0.1,B:0.1):0.2,C:0.3);", theta=0.01)
    >>> network.species
    ['A', 'B', 'C']
    >>> sorted(network.branches.length.tolist())
    [0.1, 0.1, 0.2, 0.3]
    """

    def __init__(
        self,
        text: str | Iterable[str],
        edges: Iterable[tuple[Any, ...]] | None = None,
        *,
        theta: float | None = None,
        root_theta: float | None = None,
        length: float | None = None,
        gamma: float | None = None,
        support: bool = False,
        unrooted: bool = False,
    ) -> None:
        self._core: Any
        if edges is None:
            if not isinstance(text, str):
                raise TypeError("a network is made of a text, or of names and edges")
            self._core = _core.snp_parse_newick(
                text,
                _optional(theta, "theta"),
                _optional(root_theta, "root_theta"),
                _optional(length, "length"),
                _optional(gamma, "gamma"),
                bool(support),
                bool(unrooted),
            )
            return
        rows = []
        for i, edge in enumerate(edges):
            values = tuple(edge)
            if len(values) not in (4, 5):
                raise InvalidArgument(f"edges[{i}] must be (parent, child, length, theta[, gamma]) (edge={values!r})")
            rows.append(
                (
                    as_integer(values[0], f"edges[{i}].parent"),
                    as_integer(values[1], f"edges[{i}].child"),
                    as_number(values[2], f"edges[{i}].length"),
                    as_number(values[3], f"edges[{i}].theta"),
                    _optional(values[4], f"edges[{i}].gamma") if len(values) == 5 else NAN,
                )
            )
        self._core = _core.snp_network([str(name) for name in text], rows, _optional(root_theta, "root_theta"))

    @classmethod
    def _of(cls, core: Any) -> Network:
        network = cls.__new__(cls)
        network._core = core
        return network

    @classmethod
    def from_topology(cls, key: str) -> Network:
        """The network of a :attr:`topology`: lengths and thetas 1, gammas 1/2."""
        return cls._of(_core.snp_parse_topology(key))

    def __reduce__(self) -> tuple[Any, ...]:
        b = self.branches
        names = [self.name(i) for i in range(self.nodes)]
        edges = list(zip(b.parent.tolist(), b.child.tolist(), b.length.tolist(), b.theta.tolist(), b.gamma.tolist()))
        return _rebuild, (names, edges, self.root_theta)

    def copy(self) -> Network:
        """Another network with these parameters."""
        return Network._of(self._core.copy())

    def __repr__(self) -> str:
        return f"Network({self.newick!r})"

    @property
    def newick(self) -> str:
        """Extended Newick with all parameters; reads back to the same numbers."""
        return str(self._core.newick())

    @property
    def standard_newick(self) -> str:
        """Extended Newick for other programs: ``:length``, ``:length::gamma`` above reticulations, and no thetas."""
        return str(self._core.standard_newick())

    @property
    def branches(self) -> Branches:
        """Ends and parameters of all branches."""
        return Branches(**self._core.branches())

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return int(self._core.nodes)

    @property
    def kinds(self) -> list[str]:
        """"leaf", "tree", "reticulation" or "root" for every node."""
        return list(self._core.kinds())

    @property
    def root(self) -> int:
        """Node of the root."""
        return int(self._core.root)

    @property
    def root_theta(self) -> float:
        """Size of the population above the root."""
        return float(self._core.root_theta)

    @property
    def species(self) -> list[str]:
        """Names of the leaves."""
        return list(self._core.species())

    @property
    def leaves(self) -> np.ndarray:
        """Nodes of the leaves, in the order of :attr:`species`."""
        return np.asarray(self._core.leaves())

    @property
    def reticulations(self) -> np.ndarray:
        """Nodes with two parents."""
        return np.asarray(self._core.reticulations())

    @property
    def children_first(self) -> np.ndarray:
        """All nodes, every one after its children."""
        return np.asarray(self._core.children_first())

    def name(self, node: int) -> str:
        """Name of a node; may be empty unless it is a leaf."""
        return str(self._core.name(as_integer(node, "node")))

    def find(self, name: str) -> int:
        """The node of this name, -1 without such a node."""
        return int(self._core.find(name))

    def parent_branches(self, node: int) -> np.ndarray:
        """Branches up from a node."""
        return np.asarray(self._core.parent_branches(as_integer(node, "node")))

    def child_branches(self, node: int) -> np.ndarray:
        """Branches down from a node."""
        return np.asarray(self._core.child_branches(as_integer(node, "node")))

    def describe_branch(self, branch: int) -> str:
        """A branch in words, for messages."""
        return str(self._core.describe_branch(as_integer(branch, "branch")))

    def set_length(self, branch: int, length: float) -> None:
        """Length of a branch, >= 0."""
        self._core.set_length(as_integer(branch, "branch"), as_number(length, "length"))

    def set_theta(self, branch: int, theta: float) -> None:
        """Theta of a branch, > 0."""
        self._core.set_theta(as_integer(branch, "branch"), as_number(theta, "theta"))

    def set_gamma(self, branch: int, gamma: float) -> None:
        """Gamma of a parent branch of a reticulation; the other one becomes 1 - gamma."""
        self._core.set_gamma(as_integer(branch, "branch"), as_number(gamma, "gamma"))

    def set_root_theta(self, theta: float) -> None:
        """Theta above the root, > 0."""
        self._core.set_root_theta(as_number(theta, "theta"))

    # Comparison.

    @property
    def topology(self) -> str:
        """Newick without lengths in canonical order: equal exactly for isomorphic networks."""
        return str(_core.snp_topology_key(self._core))

    @property
    def reduced_topology(self) -> str:
        """The topology without bubbles."""
        return str(_core.snp_reduced_topology(self._core))

    @property
    def unrooted_topology(self) -> str:
        """Equal exactly for networks that differ in nothing but the place of the root."""
        return str(_core.snp_unrooted_key(self._core))

    def rootings(self) -> list[Network]:
        """The network with its root on every branch that may have it, first as it is.

        Where all thetas are equal, they have the same likelihood. Branches above reticulations keep their direction.
        """
        return [Network._of(core) for core in _core.snp_rootings(self._core)]

    def rooted_at(self, outgroup: Sequence[str]) -> Network | None:
        """The network with a root that separates these species from the others; None where that cannot be."""
        if isinstance(outgroup, str):
            outgroup = [outgroup]
        core = _core.snp_rooted_at(self._core, [str(name) for name in outgroup])
        return None if core is None else Network._of(core)

    @property
    def bubbles(self) -> int:
        """Reticulations with parent branches that both end at one node."""
        return int(_core.snp_count_bubbles(self._core))

    @property
    def level(self) -> int:
        """The most reticulations in one biconnected component."""
        return int(_core.snp_level(self._core))

    def is_isomorphic(self, other: Network) -> bool:
        """Whether the topologies are one."""
        return bool(_core.snp_is_isomorphic(self._core, other._core))

    def mu_distance(self, other: Network) -> int:
        """Distance by numbers of paths to the leaves (Cardona, Rossello, Valiente 2009)."""
        return int(_core.snp_mu_distance(self._core, other._core))

    def displayed_trees(self) -> list[tuple[str, float]]:
        """Trees that the network displays, with their probabilities."""
        return list(_core.snp_displayed_trees(self._core))

    def clusters(self) -> list[tuple[list[str], float]]:
        """Leaves below the nodes of displayed trees, with their probabilities."""
        return list(_core.snp_clusters(self._core))

    def hybrid_events(self) -> list[tuple[list[str], tuple[list[str], list[str]], tuple[float, float]]]:
        """For every reticulation: the hybrid's leaves, those of the sisters of its parent branches, gammas."""
        return list(_core.snp_hybrid_events(self._core))


def _rebuild(names: list[str], edges: list[tuple[Any, ...]], root_theta: float) -> Network:
    return Network(names, edges, root_theta=root_theta)


def read_network(
    path: str | os.PathLike[str],
    *,
    theta: float | None = None,
    root_theta: float | None = None,
    length: float | None = None,
    gamma: float | None = None,
    support: bool = False,
    unrooted: bool = False,
) -> Network:
    """The one network of a file: extended Newick, or NEXUS with one tree or network; ".gz" is compressed.

    >>> import pathlib, tempfile
    >>> from quintet import snp
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "network.nwk"
    >>> _ = path.write_text("(A:0.1,B:0.1);")
    >>> snp.read_network(path, theta=0.01).species
    ['A', 'B']
    """
    name = os.fspath(path)
    try:
        found = _core.snp_read_network(
            name,
            _optional(theta, "theta"),
            _optional(root_theta, "root_theta"),
            _optional(length, "length"),
            _optional(gamma, "gamma"),
            bool(support),
            bool(unrooted),
        )
    except FileError as error:
        raise FileError(str(error), name) from None
    return Network._of(found)
