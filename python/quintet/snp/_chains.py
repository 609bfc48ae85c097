"""Markov chains, priors, and what is said of draws."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._arguments import as_integer, as_number, as_seed
from .._errors import InvalidArgument
from .._options import read_options
from .._progress import Progress, progress_callable
from ._data import Data
from ._network import NAN, Network
from ._options import ModelOptions, SamplerOptions, core_of


class ChainSummary(NamedTuple):
    """What is said of a number: all draws together, and how well the chains agree."""

    mean: float
    sd: float
    median: float
    hpd95_low: float  #: the shortest interval with 95 % of the draws
    hpd95_high: float
    ess_bulk: float  #: effective sample size for the centre
    ess_tail: float  #: and for the tails
    rhat: float  #: 1 is perfect, over 1.01 the chains do not agree
    mcse: float  #: standard error of the mean


def _chains(values: Any) -> np.ndarray:
    array = np.asarray(values, dtype=np.float64)
    array = np.ascontiguousarray(array[None] if array.ndim == 1 else array)
    if array.ndim != 2:
        raise InvalidArgument(f"draws must have the shape (chains, draws) (shape={array.shape})")
    return array


def summarise(draws: Any) -> ChainSummary:
    """Mean, interval, effective sizes and R-hat of ``draws[chains, draws]`` or of one chain.

    >>> import numpy as np
    >>> from quintet import snp
    >>> summary = snp.summarise(np.random.default_rng(0).normal(size=(4, 500)))
    >>> abs(summary.mean) < 0.2, summary.rhat < 1.01
    (True, True)
    """
    return ChainSummary(**_core.snp_summarise(_chains(draws)))


def rhat(draws: Any) -> float:
    """Rank-normalised split R-hat (Vehtari et al. 2021) of ``draws[chains, draws]``.

    >>> import numpy as np
    >>> from quintet import snp
    >>> snp.rhat(np.random.default_rng(0).normal(size=(4, 500))) < 1.02
    True
    """
    return float(_core.snp_rhat(_chains(draws)))


def ess(draws: Any, kind: str = "bulk") -> float:
    """Effective sample size: "bulk", "tail", "mean", or "tracer" for one chain as Tracer counts.

    >>> import numpy as np
    >>> from quintet import snp
    >>> snp.ess(np.random.default_rng(0).normal(size=(4, 500))) > 1000
    True
    """
    return float(_core.snp_ess(_chains(draws), kind))


def shortest_interval(draws: Any, mass: float = 0.95) -> tuple[float, float]:
    """The shortest interval that holds `mass` of the draws.

    >>> from quintet import snp
    >>> snp.shortest_interval([0.0, 1.0, 1.1, 5.0], 0.5)
    (1.0, 1.1)
    """
    values = np.ascontiguousarray(np.asarray(draws, dtype=np.float64).ravel())
    low, high = _core.snp_shortest_interval(values, as_number(mass, "mass"))
    return float(low), float(high)


def frequency_deviation(frequencies: Sequence[Mapping[str, float]], least: float = 0.1) -> float:
    """Average standard deviation over chains of the frequencies of things (topologies, clusters) with at least `least`.

    >>> from quintet import snp
    >>> snp.frequency_deviation([{"a": 0.5}, {"a": 0.5}])
    0.0
    """
    return float(_core.snp_frequency_deviation([dict(f) for f in frequencies], as_number(least, "least")))


def normal_quantile(p: float) -> float:
    """Standard normal quantile of p in (0, 1).

    >>> from quintet import snp
    >>> round(snp.normal_quantile(0.975), 6)
    1.959964
    """
    return float(_core.snp_normal_quantile(as_number(p, "p")))


def prior_log_density(
    network: Network,
    priors: str = "",
    *,
    max_reticulations: int = 2,
    origin: float | None = None,
    common_theta: bool = False,
    pi1: float = 0.5,
) -> dict[str, float]:
    """Log density of an ultrametric network under `priors` (see :func:`mcmc`): parts network, theta, pi1, dates (calibrations,
    rate of the clock) and total.

    >>> from quintet import snp
    >>> network = snp.Network("((A:0.1,B:0.1):0.2,C:0.3);", theta=0.05)
    >>> parts = snp.prior_log_density(network, "speciation-rate = 10\\nhybridization-rate = 1")
    >>> parts["total"] == parts["network"] + parts["theta"] + parts["pi1"] + parts["dates"]
    True
    """
    parts = _core.snp_prior_parts(
        core_of(network, "network", Network),
        priors,
        as_integer(max_reticulations, "max_reticulations"),
        NAN if origin is None else as_number(origin, "origin"),
        bool(common_theta),
        as_number(pi1, "pi1"),
    )
    return dict(zip(("network", "theta", "pi1", "dates"), parts), total=sum(parts))


def simulate_network(
    species: Sequence[str],
    priors: str = "speciation-rate = 20\nhybridization-rate = 10",
    *,
    max_reticulations: int = 2,
    max_level: int = -1,
    bubbles: bool = True,
    seed: int = 1,
    number: int = 0,
) -> Network:
    """Draw `number` from the birth-hybridization process with the fixed rates of `priors`.

    >>> from quintet import snp
    >>> snp.simulate_network(["A", "B", "C"], max_reticulations=0).species
    ['A', 'B', 'C']
    """
    core = _core.snp_simulate_network(
        [str(s) for s in species],
        priors,
        as_integer(max_reticulations, "max_reticulations"),
        as_integer(max_level, "max_level"),
        bool(bubbles),
        as_seed(seed, "seed"),
        as_seed(number, "number"),
    )
    return Network._of(core)


def prior_moments(
    species: int, max_reticulations: int, speciation_rate: float, hybridization_rate: float, origin: float = 0.1
) -> dict[str, Any]:
    """What the birth-hybridization process does without data: P(r), E[root height | r], E[root height], E[origin].

    >>> from quintet import snp
    >>> float(snp.prior_moments(3, 2, 20.0, 10.0)["reticulations"].sum().round(12))
    1.0
    """
    found = _core.snp_prior_moments(
        as_integer(species, "species"),
        as_integer(max_reticulations, "max_reticulations"),
        as_number(speciation_rate, "speciation_rate"),
        as_number(hybridization_rate, "hybridization_rate"),
        as_number(origin, "origin"),
    )
    return dict(zip(("reticulations", "root_height_given_r", "root_height", "origin"), found))


def _surrogate(function: Callable[[Network, float], Any]) -> Callable[[Any, float], float]:
    return lambda core, pi1: as_number(function(Network._of(core), pi1), "the surrogate's value")


def _start(start: Any, state: tuple[float, bool, float]) -> Any:
    """A start as the core takes it."""
    if start is None:
        return None
    if isinstance(start, str) and start == "search":
        return start
    if isinstance(start, Network):
        return (core_of(start, "start", Network), *state)
    if isinstance(start, str) or not isinstance(start, Iterable):
        raise TypeError(f"start must be a Network, a list of them, one for each chain, or 'search' (start={start!r})")
    return [(core_of(one, "start", Network), *state) for one in start]


class Sampler:
    """Chains that advance together, for programs that look at them on the way; :func:`mcmc` does it all.

    Arguments are those of :func:`mcmc`. ``start`` is a network for all chains, a list with one for each, or "search":
    a hill climb for each chain (``quintet::snp::search_starts``). ``advance()`` goes to the next step divisible by
    1000; ``take_samples()`` gives what was sampled since the last call, for every chain (steps, trace, newick,
    topologies). After Ctrl-C or Cancelled samples may still be taken, and ``restore(snapshot)`` goes back.

    ``surrogate(network, pi1)`` is another log likelihood, cheaper than the right one, that proposals have to pass first
    (delayed acceptance: the samples are of the same posterior). It must depend on its arguments alone, and is called
    from several threads, one at a time; its exceptions come out of the call. ``shared_by``: ranks that share the chains,
    see :func:`quintet.mpi.snp_group`.

    >>> from quintet import snp
    >>> sampler = snp.Sampler(None, ["A", "B"], iterations=1000, burn_in=0, sample_every=100, max_reticulations=0)
    >>> sampler.advance()
    >>> len(sampler.take_samples()[0][0])
    10
    """

    def __init__(
        self,
        data: Data | None,
        species: Sequence[str] | None = None,
        priors: str = "",
        *,
        max_reticulations: int = 2,
        max_level: int = -1,
        bubbles: bool = True,
        start: Network | Sequence[Network] | str | None = None,
        start_origin: float | None = None,
        start_common_theta: bool = False,
        start_pi1: float = 0.5,
        polymorphic_only: bool = False,
        full_samples: bool = False,
        rate_categories: Sequence[float] = (1.0,),
        mutation_only_at_root: bool = False,
        ordered_data: bool = False,
        surrogate: Callable[[Network, float], Any] | None = None,
        shared_by: Any = None,
        memory_limit: int = 0,
        device: str = "host",
        truncation: float = 1e-9,
        **options: Any,
    ) -> None:
        if data is None and species is None:
            raise TypeError("species must be given where there are no data")
        core = None if data is None else core_of(data, "data", Data)
        names = list(data.species) if data is not None else [str(s) for s in species or ()]
        known = [member.name for member in fields(SamplerOptions)]
        for name in options:
            if name not in known:
                raise TypeError(f"there is no option {name!r}; there are {', '.join(known)}")
        if surrogate is not None and not callable(surrogate):
            raise TypeError(f"surrogate must be a callable(network, pi1) (surrogate={surrogate!r})")
        model = read_options(ModelOptions, locals())
        self._surrogate = None if surrogate is None else _surrogate(surrogate)
        origin = NAN if start_origin is None else as_number(start_origin, "start_origin")
        state = (origin, bool(start_common_theta), as_number(start_pi1, "start_pi1"))
        self.species = names
        self._data = data
        self._core: Any = _core.snp_sampler(
            names,
            core,
            priors,
            (as_integer(max_reticulations, "max_reticulations"), as_integer(max_level, "max_level"), bool(bubbles)),
            read_options(SamplerOptions, options),
            model,
            _start(start, state),
            as_integer(memory_limit, "memory_limit"),
            device,
            as_number(truncation, "truncation"),
            shared_by,
            self._surrogate,
        )
        #: Names of the columns of a trace.
        self.columns: list[str] = list(self._core.columns())

    def advance(self, progress: bool | Progress | None = None) -> None:
        """Runs to the next step that is divisible by 1000, or to the end."""
        self._core.advance(progress_callable(progress))

    @property
    def step(self) -> int:
        """Steps done."""
        return int(self._core.step())

    def take_samples(self) -> list[tuple[np.ndarray, np.ndarray, list[str], list[str]]]:
        """By chain: steps [s], trace [s, columns], newick and topologies of the samples since the last call."""
        return [(steps, trace, list(a), list(b)) for steps, trace, a, b in self._core.take_samples()]

    def snapshot(self) -> tuple[int, np.ndarray, np.ndarray]:
        """Where things stand, for restore(); only at steps divisible by 1000. May be pickled."""
        step, numbers, counts = self._core.snapshot()
        return int(step), numbers, counts

    def restore(self, snapshot: tuple[int, np.ndarray, np.ndarray]) -> None:
        """Goes to a snapshot of a sampler with the same arguments."""
        step, numbers, counts = snapshot
        self._core.restore(
            as_integer(step, "step"),
            np.ascontiguousarray(numbers, dtype=np.float64),
            np.ascontiguousarray(counts, dtype=np.int64),
        )

    def moves(self) -> list[list[dict[str, Any]]]:
        """Of every chain, for every move: name, tried, accepted, not_applicable, width, seconds."""
        names = ("name", "tried", "accepted", "not_applicable", "width", "seconds")
        return [[dict(zip(names, move)) for move in chain] for chain in self._core.moves()]

    def exchanges(self) -> list[dict[str, Any]]:
        """Of every chain: exchanges of temperatures tried, accepted, heat, round_trips.

        A round trip is a walker's way to the hottest temperature and back to the posterior.
        """
        return [dict(zip(("tried", "accepted", "heat", "round_trips"), chain)) for chain in self._core.exchanges()]

    def take_log_likelihoods(self) -> list[list[list[float]]]:
        """With ``powers``: log-likelihoods of all temperatures since the last call, [chain][temperature][draw]."""
        return list(self._core.take_log_likelihoods())

    def current(self, chain: int = 0) -> Network:
        """Where a chain is now."""
        return Network._of(self._core.current(as_integer(chain, "chain")))


class PredictiveStatistic(NamedTuple):
    """One of :func:`predictive_check`."""

    name: str  #: "patterns" or "f4(A, B; C, D)"
    observed: float  #: of the data
    mean: float  #: over the simulated data
    sd: float  #: over the simulated data
    p: float  #: share of the simulated data with more, those with as much counted half


def predictive_check(
    data: Data,
    networks: Sequence[Network],
    u: Any = 1.0,
    v: Any = 1.0,
    *,
    polymorphic_only: bool = False,
    seed: int = 1,
) -> list[PredictiveStatistic]:
    """Whether data simulated from draws of the posterior look like the data: patterns, and f4 of all quartets.

    Parameters
    ----------
    data : Data
        Markers; not dominant, weights whole numbers.
    networks : sequence of Network
        Draws of the posterior, two or more, with lengths in expected mutations.
    u, v : float or array
        Mutation rates, of all draws or of each.
    polymorphic_only : bool
        As in :class:`Likelihood`.
    seed : int
        Of the simulations.

    Returns
    -------
    list of PredictiveStatistic
        The number of patterns, then f4 of every four species in three orders.

    Examples
    --------
    >>> from quintet import snp
    >>> network = snp.Network("((A:0.1,B:0.1):0.2,(C:0.1,D:0.1):0.2);", theta=0.05)
    >>> data = snp.simulate(network, [2, 2, 2, 2], 200, seed=5)
    >>> found = snp.predictive_check(data, [network] * 20)
    >>> found[0].name, len(found)
    ('patterns', 4)
    """
    draws = [core_of(network, "networks", Network) for network in networks]
    all_u, all_v = (np.broadcast_to(np.asarray(rate, dtype=np.float64), len(draws)).tolist() for rate in (u, v))
    model = read_options(ModelOptions, {"polymorphic_only": polymorphic_only})
    found = _core.snp_predictive_check(core_of(data, "data", Data), draws, all_u, all_v, model, as_seed(seed, "seed"))
    return [PredictiveStatistic(*statistic) for statistic in found]


class MarginalLikelihood(NamedTuple):
    """What :func:`marginal_likelihood` found."""

    log_z: float  #: logarithm of the mean of the likelihood under the prior, by stepping stones
    error: float  #: its standard error
    thermodynamic: float  #: the same by thermodynamic integration
    thermodynamic_error: float  #: its standard error
    by_chain: np.ndarray  #: log_z of each chain alone
    agrees: bool  #: whether both are within three standard errors
    steps: np.ndarray  #: rows of power, mean, variance, ess, log_ratio, error


def marginal_likelihood(
    data: Data,
    priors: str = "",
    *,
    steps: int = 32,
    chains: int = 2,
    iterations: int = 20000,
    burn_in: int | None = None,
    swap_every: int = 10,
    sample_every: int = 10,
    ordered_data: bool = True,
    progress: bool | Progress | None = None,
    **options: Any,
) -> MarginalLikelihood:
    """Marginal likelihood of a model, for Bayes factors, from power posteriors: prior times the likelihood to a power.

    Further options are those of :class:`Sampler`.

    Parameters
    ----------
    data : Data
        Markers.
    priors : str
        As in :func:`mcmc`.
    steps : int
        Steps from the posterior to the prior, with a walker at each; 16 to 64.
    chains, iterations, burn_in, swap_every, sample_every : int
        As in :func:`mcmc`; the burn-in is a tenth by default.
    ordered_data : bool
        The likelihood says which copies are red, not how many: models with other species compare only so.
    progress : bool or callable, optional
        As in :func:`mcmc`.
    options : any
        Others of :class:`Sampler`, by name.

    Returns
    -------
    MarginalLikelihood
        log Z by two methods, with errors.

    Examples
    --------
    >>> from quintet import snp
    >>> data = snp.Data(["A", "B"], [[0, 0], [1, 0], [2, 1]], [2, 2], [20.0, 3.0, 1.0])
    >>> found = snp.marginal_likelihood(data, steps=4, iterations=1000, max_reticulations=0)
    >>> -60 < found.log_z < -10
    True
    """
    powers = list(_core.snp_power_ladder(as_integer(steps, "steps")))
    sampler = Sampler(
        data,
        priors=priors,
        chains=chains,
        temperatures=len(powers),
        powers=powers,
        iterations=iterations,
        burn_in=iterations // 10 if burn_in is None else burn_in,
        swap_every=swap_every,
        sample_every=sample_every,
        ordered_data=ordered_data,
        **options,
    )
    report = progress_callable(progress)
    draws: list[list[list[float]]] = [[[] for _ in powers] for _ in range(chains)]
    while sampler.step < iterations:
        sampler.advance(report)
        sampler.take_samples()
        for chain, part in zip(draws, sampler.take_log_likelihoods()):
            for values, more in zip(chain, part):
                values.extend(more)
    return MarginalLikelihood(*_core.snp_marginal_likelihood(powers, draws))


class MCMCResult:
    """Samples of a run. Arrays are ``[chain, draw]``, as ArviZ reads them.

    posterior: {name: array} of root_height, origin, network_length, theta_mean, theta_root, theta_<species>, pi1, u, v,
    lambda, nu, reticulations, level, bubbles. sample_stats: {name: array} of lp (log posterior), loglik, log_prior. steps
    ``[draw]``; newick and topologies ``[chain][draw]``; moves and exchanges as :class:`Sampler` has them.
    """

    _STATS = {"posterior": "lp", "likelihood": "loglik", "prior": "log_prior"}

    def __init__(self, sampler: Sampler, parts: list[list[Any]]) -> None:
        traces = [np.concatenate([p[1].reshape(-1, len(sampler.columns)) for p in chain]) for chain in parts]
        draws = min((len(t) for t in traces), default=0)
        stacked = np.stack([t[:draws] for t in traces])
        self.steps: np.ndarray = np.concatenate([p[0] for p in parts[0]])[:draws]
        self.posterior: dict[str, np.ndarray] = {}
        self.sample_stats: dict[str, np.ndarray] = {}
        for i, name in enumerate(sampler.columns):
            if name in self._STATS:
                self.sample_stats[self._STATS[name]] = stacked[:, :, i]
            elif name != "Sample":
                self.posterior[name] = stacked[:, :, i]
        self.newick: list[list[str]] = [sum((p[2] for p in chain), [])[:draws] for chain in parts]
        self.topologies: list[list[str]] = [sum((p[3] for p in chain), [])[:draws] for chain in parts]
        self.moves = sampler.moves()
        self.exchanges = sampler.exchanges()

    def topology_frequencies(self) -> dict[str, float]:
        """Share of the draws of all chains by topology, falling."""
        names, counts = np.unique(np.concatenate([np.array(t, dtype=object) for t in self.topologies]), return_counts=True)
        order = np.argsort(-counts, kind="stable")
        return {str(names[i]): float(counts[i] / counts.sum()) for i in order}

    def topology_deviation(self, least: float = 0.1) -> float:
        """:func:`frequency_deviation` of the topologies between chains; under 0.01 by custom."""
        chains = []
        for chain in self.topologies:
            names, counts = np.unique(np.array(chain, dtype=object), return_counts=True)
            chains.append({str(n): float(c / len(chain)) for n, c in zip(names, counts)})
        return frequency_deviation(chains, least)

    def summary(self) -> dict[str, ChainSummary]:
        """:func:`summarise` of every number of the posterior."""
        return {name: summarise(values) for name, values in self.posterior.items()}

    def to_arviz(self) -> Any:
        """``arviz.InferenceData`` (or the ``DataTree`` of ArviZ 1) with the groups posterior and sample_stats."""
        try:
            import importlib

            arviz: Any = importlib.import_module("arviz")
        except ImportError as error:
            raise ImportError("to_arviz() needs ArviZ: pip install arviz") from error
        groups = {"posterior": self.posterior, "sample_stats": self.sample_stats}
        if int(arviz.__version__.partition(".")[0]) >= 1:
            return arviz.from_dict(groups)
        return arviz.from_dict(**groups)


def mcmc(
    data: Data | None,
    species: Sequence[str] | None = None,
    priors: str = "",
    *,
    chains: int = 2,
    temperatures: int = 1,
    iterations: int = 100000,
    burn_in: int | None = None,
    sample_every: int = 100,
    seed: int = 1,
    max_reticulations: int = 2,
    progress: bool | Progress | None = None,
    **options: Any,
) -> MCMCResult:
    """Samples networks, heights, thetas, gammas and rates from their posterior (Metropolis-Hastings over networks with
    a varying number of reticulations, tempered chains).

    priors: lines "key = value" as ``speciation-rate = 20``, ``netdiv = exponential(10)``, ``turnover = beta(1,1)``,
    ``origin = exponential(0.1)``, ``theta = each gamma(2,20)`` or ``common ...``, ``pi1 = beta(2,2)``, ``network =
    poisson``; keys that are left out have SnappNet's. ``calibrate A,B = normal(0.03,0.005)`` and ``calibrate root = ...``
    date common ancestors; ``monophyletic = A,B``, ``outgroup = C`` and ``backbone = ((A,B),C)`` restrict the networks;
    ``clock = 1e-9`` or ``lognormal(mu,sigma)`` gives all in years, and ``generation-time = 5`` adds N_e. Without data
    (None, and species) the prior is sampled. The burn-in is a tenth of the iterations by default. Further options: heat,
    tune_heat, swap_every, threads, start (a Network, one for each chain, or "search"; see :class:`Sampler`) with
    fix_topology, fix_heights, fix_origin, fix_theta, fix_gamma, fix_rates; weights of moves; delayed_acceptance,
    frequent_share, surrogate (see :class:`Sampler`); max_level, bubbles, polymorphic_only, full_samples,
    rate_categories, mutation_only_at_root, memory_limit, device, truncation. The same samples for any number of threads.

    >>> from quintet import snp
    >>> result = snp.mcmc(None, ["A", "B", "C"], iterations=2000, burn_in=0, max_reticulations=0)
    >>> result.posterior["root_height"].shape
    (2, 20)
    """
    sampler = Sampler(
        data,
        species,
        priors,
        chains=chains,
        temperatures=temperatures,
        iterations=iterations,
        burn_in=as_integer(iterations, "iterations") // 10 if burn_in is None else burn_in,
        sample_every=sample_every,
        seed=seed,
        max_reticulations=max_reticulations,
        **options,
    )
    report = progress_callable(progress)
    parts: list[list[Any]] = [[] for _ in range(chains)]
    while sampler.step < iterations:
        sampler.advance(report)
        for chain, taken in zip(parts, sampler.take_samples()):
            chain.append(taken)
    return MCMCResult(sampler, parts)
