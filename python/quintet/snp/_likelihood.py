"""Likelihoods, optimisation and search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._arguments import as_integer, as_number, as_seed, choice_index
from .._options import read_options
from .._progress import Progress, progress_callable
from ._data import Data
from ._network import Network
from ._options import ModelOptions, OptimiseOptions, SearchOptions, core_of


class Gradient(NamedTuple):
    """Derivatives of the log-likelihood."""

    length: np.ndarray  #: by the length of every branch
    theta: np.ndarray  #: by theta of every branch
    gamma: np.ndarray  #: by gamma of a branch, the other one being 1 - gamma; 0 for branches without one
    u: float  #: by the rate from 1 to 0
    v: float  #: by the rate from 0 to 1
    root_theta: float  #: by theta above the root


class OptimiseResult(NamedTuple):
    """How far an optimisation came."""

    log_likelihood: float  #: at the end
    start: float  #: at the start
    iterations: int  #: steps of L-BFGS
    evaluations: int  #: of the log-likelihood
    converged: bool  #: False: the iterations were used up
    truncation_bound: float  #: how much larger the exact log-likelihood of the end is at most


class SearchLevel(NamedTuple):
    """The best network with so many reticulations."""

    reticulations: int
    network: Network
    log_likelihood: float
    parameters: int
    aic: float
    bic: float
    starts: int  #: of how many starts this is the result
    rootings: int  #: places of the root with this likelihood; 1 where the root is seen
    truncation_bound: float  #: how much larger the exact log-likelihood is at most
    gain: float  #: composite: over the level before
    gain_error: float  #: its standard error where sites are independent
    places: int  #: composite: pairs of branches that the last reticulation could join
    bic_gain: float  #: composite: (2 gain / gain_error)^2 - log(sites) - 2 log(places); > 0 keeps the reticulation


class SearchResult(NamedTuple):
    """What :func:`search` found."""

    levels: list[SearchLevel]  #: by number of reticulations
    topologies: int  #: that were optimised
    is_root_seen: bool  #: False: topologies are unrooted ones, and their places of the root are equal
    best_level: int  #: reticulations of `best`

    @property
    def best(self) -> SearchLevel:
        """The level with the least BIC; composite: the last one up to which every BIC gain is > 0."""
        return self.levels[self.best_level]


class SearchStatus(NamedTuple):
    """Where :func:`search` stands, after a topology."""

    start: int  #: starts that have ended
    reticulations: int  #: of the climb that goes on
    topologies: int  #: that were optimised
    log_likelihood: float  #: the best of this climb
    is_end: bool  #: the climb with so many reticulations has ended
    bic: float  #: of `best`
    best: Network  #: the network with the least BIC so far


def gamma_rates(shape: float, categories: int) -> np.ndarray:
    """Rates of a discrete gamma distribution of mean 1 (Yang 1994): means of `categories` equal parts.

    >>> from quintet import snp
    >>> round(float(snp.gamma_rates(0.5, 4).mean()), 12)
    1.0
    """
    return np.asarray(_core.snp_gamma_rates(as_number(shape, "shape"), as_integer(categories, "categories")))


def estimate(
    network: Network,
    data: Data,
    *,
    u: float = 1.0,
    v: float = 1.0,
    rate_categories: Sequence[float] = (1.0,),
    mutation_only_at_root: bool = False,
    polymorphic_only: bool = False,
    full_samples: bool = False,
    unseen_zeros: float = 0.0,
    unseen_ones: float = 0.0,
    ordered_data: bool = False,
    memory_limit: int = 0,
    device: str = "auto",
    truncation: float = 1e-9,
) -> dict[str, Any]:
    """What an evaluation needs, before anything is computed.

    Keys: groups, largest_group, largest_group_untruncated, bytes, operations, blocks.

    >>> from quintet import snp
    >>> network = snp.Network("(A:0.1,B:0.1);", theta=0.05)
    >>> snp.estimate(network, snp.simulate(network, [2, 2], 50))["bytes"] > 0
    True
    """
    model = read_options(ModelOptions, locals())
    limit = as_integer(memory_limit, "memory_limit")
    cores = core_of(network, "network", Network), core_of(data, "data", Data)
    return dict(_core.snp_estimate(*cores, model, limit, device, as_number(truncation, "truncation")))


class Likelihood:
    """The exact log-likelihood of data on a network, with parameters that change.

    What is computed is kept: after a change only what lies above it is computed again. What is set after the first
    evaluate() is a proposal until accept() or reject(). An object may be used by several Python threads, one after
    another; work of different objects runs at the same time.

    Parameters: mutation rates u (1 to 0) and v (0 to 1); rate_categories multiply them (see :func:`gamma_rates`);
    mutation_only_at_root; polymorphic_only: constant sites are left out, and every site is conditioned on being
    polymorphic among its own copies, or, with full_samples, among the full samples as in SNAPP; unseen_zeros,
    unseen_ones: constant sites that the data do not show; ordered_data: which copies are red instead of how many;
    memory_limit in bytes, 0 is half of what there is; truncation in [0, 0.1]: lineage numbers in large groups of branches
    are dropped if that cannot change the log-likelihood by more than this, 0 keeps all; shared_by: ranks that share the
    patterns, see :func:`quintet.mpi.snp_group`.

    >>> from quintet import snp
    >>> network = snp.Network("((A:0.1,B:0.1):0.2,C:0.3);", theta=0.05)
    >>> data = snp.simulate(network, [2, 2, 2], 200, seed=3)
    >>> likelihood = snp.Likelihood(network, data)
    >>> before = likelihood.evaluate()
    >>> likelihood.set_length(0, 0.4)
    >>> likelihood.evaluate() < before
    True
    >>> likelihood.reject()
    >>> likelihood.evaluate() == before
    True
    """

    def __init__(
        self,
        network: Network,
        data: Data,
        *,
        u: float = 1.0,
        v: float = 1.0,
        rate_categories: Sequence[float] = (1.0,),
        mutation_only_at_root: bool = False,
        polymorphic_only: bool = False,
        full_samples: bool = False,
        unseen_zeros: float = 0.0,
        unseen_ones: float = 0.0,
        ordered_data: bool = False,
        memory_limit: int = 0,
        device: str = "auto",
        shared_by: Any = None,
        truncation: float = 1e-9,
    ) -> None:
        model = read_options(ModelOptions, locals())
        self._core: Any = _core.snp_likelihood(
            core_of(network, "network", Network),
            core_of(data, "data", Data),
            model,
            as_integer(memory_limit, "memory_limit"),
            device,
            as_number(truncation, "truncation"),
            shared_by,
        )

    def evaluate(self) -> float:
        """The log-likelihood at the current parameters, natural logarithm."""
        return float(self._core.evaluate())

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

    def set_rates(self, u: float, v: float) -> None:
        """Mutation rates, >= 0 and not both 0."""
        self._core.set_rates(as_number(u, "u"), as_number(v, "v"))

    def accept(self) -> None:
        """Keeps what was set since the last accept() or reject()."""
        self._core.accept()

    def reject(self) -> None:
        """Takes it back."""
        self._core.reject()

    @property
    def network(self) -> Network:
        """A copy of the network with the current parameters."""
        return Network._of(self._core.network())

    @property
    def rates(self) -> tuple[float, float]:
        """u and v."""
        u, v = self._core.rates()
        return float(u), float(v)

    @property
    def size(self) -> dict[str, Any]:
        """As :func:`estimate` gives it."""
        return dict(self._core.size())

    @property
    def truncation_bound(self) -> float:
        """How much larger the exact log-likelihood of the last evaluate() is at most; 0 where nothing was dropped."""
        return float(self._core.truncation()[0])

    @property
    def truncation_mass(self) -> float:
        """The chance of all lineage numbers that were dropped."""
        return float(self._core.truncation()[1])

    @property
    def patterns(self) -> np.ndarray:
        """log L of every pattern, without corrections and weights, [patterns]."""
        return np.asarray(self._core.patterns())

    @property
    def sites(self) -> np.ndarray:
        """The same of every site that was given, NaN for those left out, [sites]."""
        return np.asarray(self._core.sites())

    def gradient(self) -> Gradient:
        """Derivatives of evaluate(), by one pass from the root to the leaves. Costs about five evaluations."""
        length, theta, gamma, u, v, root_theta = self._core.gradient()
        return Gradient(length, theta, gamma, u, v, root_theta)

    def optimise(
        self,
        *,
        lengths: bool = True,
        thetas: str = "each",
        gammas: bool = True,
        max_iterations: int = 200,
        tolerance: float = 1e-6,
        length_range: tuple[float, float] = (1e-8, 1e3),
        theta_range: tuple[float, float] = (1e-8, 1e3),
        min_gamma: float = 1e-6,
        progress: bool | Progress | None = None,
    ) -> OptimiseResult:
        """Climbs to a local maximum of the likelihood by L-BFGS and stays there.

        thetas: "each", "common" or "fixed". Networks have several maxima: start from several points.
        """
        options = read_options(OptimiseOptions, locals())
        return OptimiseResult(*self._core.optimise(options, progress_callable(progress)))


class CompositeLikelihood(NamedTuple):
    """What :func:`composite_log_likelihood` found."""

    log_likelihood: float  #: the sum over the sets
    terms: list[tuple[list[str], float]]  #: species and log-likelihood of every set that counts
    skipped: int  #: sets with a species that has no copies at any site
    truncation_bound: float  #: how much larger the exact sum is at most


def composite_log_likelihood(
    network: Network,
    data: Data,
    *,
    size: int = 3,
    u: float = 1.0,
    v: float = 1.0,
    rate_categories: Sequence[float] = (1.0,),
    polymorphic_only: bool = False,
    full_samples: bool = False,
    ordered_data: bool = False,
    memory_limit: int = 0,
    progress: bool | Progress | None = None,
    device: str = "auto",
    truncation: float = 1e-9,
) -> CompositeLikelihood:
    """Sum of the exact log-likelihoods of all sets of `size` species, for networks that are too large together.

    It is no likelihood: sites come once for every set. Networks with the same data compare by it.

    Parameters
    ----------
    network : Network
        With the species of the data.
    data : Data
        Markers.
    size : int
        3 or 4 species of a set.
    u, v : float
        Mutation rates from 1 to 0 and from 0 to 1.
    rate_categories : sequence of float
        As in :class:`Likelihood`.
    polymorphic_only, full_samples, ordered_data : bool
        As in :class:`Likelihood`, for each set.
    memory_limit : int
        As in :class:`Likelihood`.
    progress : bool or callable, optional
        As in :meth:`Likelihood.optimise`.
    device : str
        As in :class:`Likelihood`.
    truncation : float
        As in :class:`Likelihood`, for each set.

    Returns
    -------
    CompositeLikelihood
        The sum and its terms.

    Examples
    --------
    >>> from quintet import snp
    >>> network = snp.Network("((A:0.1,B:0.1):0.2,(C:0.1,D:0.1):0.2);", theta=0.05)
    >>> data = snp.simulate(network, [2, 2, 2, 2], 100, seed=5)
    >>> len(snp.composite_log_likelihood(network, data).terms)
    4
    """
    arguments = locals()
    return CompositeLikelihood(
        *_core.snp_composite(
            core_of(network, "network", Network),
            core_of(data, "data", Data),
            read_options(ModelOptions, arguments),
            as_integer(size, "size"),
            as_integer(memory_limit, "memory_limit"),
            progress_callable(progress),
            device,
            as_number(truncation, "truncation"),
        )
    )


class ParameterErrors(NamedTuple):
    """How far estimates may be off: columns over the branches of the network."""

    estimate: np.ndarray  #: with all sites
    mean: np.ndarray  #: of the replicates
    standard_error: np.ndarray  #: of the estimate
    low: np.ndarray  #: end of the 95 % interval
    high: np.ndarray  #: end of the 95 % interval


class ResampleResult(NamedTuple):
    """What :func:`resample` found."""

    replicates: list[Network]  #: with the parameters of each
    blocks: int  #: that the data have
    converged: int  #: replicates that reached a maximum
    length: ParameterErrors  #: by branch
    theta: ParameterErrors  #: by branch
    gamma: ParameterErrors  #: by branch; 1 but above reticulations


def resample(
    network: Network,
    data: Data,
    *,
    method: str = "bootstrap",
    replicates: int = 100,
    block_sites: int = 1,
    block_of_site: Any = None,
    seed: int = 1,
    lengths: bool = True,
    thetas: str = "each",
    gammas: bool = True,
    composite: int = 0,
    max_iterations: int = 200,
    tolerance: float = 1e-6,
    u: float = 1.0,
    v: float = 1.0,
    rate_categories: Sequence[float] = (1.0,),
    polymorphic_only: bool = False,
    full_samples: bool = False,
    memory_limit: int = 0,
    progress: bool | Progress | None = None,
    device: str = "auto",
    truncation: float = 1e-9,
) -> ResampleResult:
    """Standard errors and 95 % intervals of a maximum likelihood network, by blocks of sites.

    method: "bootstrap" draws as many blocks as there are, with replacement; "jackknife" leaves out each block once. A
    block is a run of `block_sites` sites, or the sites with one number in `block_of_site`, such as
    ``data.report["locus_of_site"]`` of a VCF. Every replicate is optimised from the parameters of `network`. With
    ``composite=3`` (or 4) it is the composite likelihood of all sets of so many species, with thetas "common" or
    "fixed": its curvature shows no errors, because sites come once for every set. `tolerance` is then multiplied by
    sets / species; ``tolerance=1e-3`` is that of :func:`search`.

    >>> from quintet import snp
    >>> network = snp.Network("((A:0.1,B:0.1):0.2,C:0.3);", theta=0.05)
    >>> data = snp.simulate(network, [2, 2, 2], 200, seed=3)
    >>> found = snp.resample(network, data, replicates=5, block_sites=10, thetas="fixed")
    >>> found.blocks, len(found.replicates), found.length.standard_error.shape
    (20, 5, (4,))
    """
    arguments = locals()
    replicas, blocks, converged, errors = _core.snp_resample(
        core_of(network, "network", Network),
        core_of(data, "data", Data),
        choice_index(method, "method", ("bootstrap", "jackknife")) == 1,
        as_integer(replicates, "replicates"),
        as_integer(block_sites, "block_sites"),
        np.ascontiguousarray([] if block_of_site is None else block_of_site, dtype=np.int64),
        as_seed(seed, "seed"),
        read_options(OptimiseOptions, arguments),
        as_integer(composite, "composite"),
        read_options(ModelOptions, arguments),
        as_integer(memory_limit, "memory_limit"),
        progress_callable(progress),
        device,
        as_number(truncation, "truncation"),
    )
    tables = [ParameterErrors(*np.asarray(table).T) for table in errors]
    return ResampleResult([Network._of(core) for core in replicas], blocks, converged, *tables)


def search(
    data: Data,
    *,
    max_reticulations: int = 2,
    starts: int | None = None,
    patience: int = 40,
    theta: float = 0.01,
    seed: int = 1,
    composite: int = 0,
    thetas: str = "common",
    max_iterations: int = 50,
    tolerance: float = 1e-3,
    u: float = 1.0,
    v: float = 1.0,
    rate_categories: Sequence[float] = (1.0,),
    polymorphic_only: bool = False,
    full_samples: bool = False,
    memory_limit: int = 0,
    progress: bool | Progress | None = None,
    device: str = "auto",
    outgroup: Sequence[str] = (),
    report: Callable[[SearchStatus], Any] | None = None,
    truncation: float = 1e-9,
) -> SearchResult:
    """Maximum likelihood over topologies: hill climbing from random trees, reticulations added one by one.

    `starts` trees begin a climb, 4 unless you say otherwise. For tens of species, ``composite=3`` climbs on the sum of
    the log-likelihoods of all triples of species (4: quartets), from the tree that joins neighbours; starts is then 1.

    Every topology is judged after optimising its parameters. That several starts end in one place is the only sign that
    there is no better one. With one theta the data do not show the root: topologies are then unrooted ones, and the root
    of a result separates the species of `outgroup` from the others. `report` is called after every topology; it may keep
    the best network so far, and what it raises ends the search.

    >>> from quintet import snp
    >>> data = snp.simulate(snp.Network("((A:0.1,B:0.1):0.2,C:0.3);", theta=0.05), [2, 2, 2], 500)
    >>> found = snp.search(data, max_reticulations=0, starts=1, patience=10)
    >>> found.best.reticulations, found.topologies
    (0, 1)
    """
    arguments = locals()
    if report is not None and not callable(report):
        raise TypeError(f"report must be a callable(status) (report={report!r})")
    if starts is None:
        arguments["starts"] = 1 if composite else 4
    levels, topologies, is_root_seen, best_level = _core.snp_search(
        core_of(data, "data", Data),
        read_options(SearchOptions, arguments),
        read_options(OptimiseOptions, arguments),
        read_options(ModelOptions, arguments),
        as_integer(memory_limit, "memory_limit"),
        progress_callable(progress),
        device,
        as_number(truncation, "truncation"),
        None if report is None else _status_to(report),
    )
    networks = [SearchLevel(level[0], Network._of(level[1]), *level[2:]) for level in levels]
    return SearchResult(networks, topologies, is_root_seen, best_level)


def _status_to(report: Callable[[SearchStatus], Any]) -> Callable[..., None]:
    def pass_on(start: int, reticulations: int, topologies: int, log_likelihood: float, is_end: bool, bic: float, best: Any) -> None:
        report(SearchStatus(start, reticulations, topologies, log_likelihood, is_end, bic, Network._of(best)))

    return pass_on
