"""Species networks from biallelic markers: likelihoods, gradients, optimisation, search, simulation, Markov chains.

A :class:`Network` is a rooted phylogenetic network (extended Newick), a :class:`Data` holds counts of allele 1 by species
and site, and a :class:`Likelihood` is the exact probability of the data under the multispecies network coalescent with
mutation (Bryant et al. 2012; Rabier et al. 2021): populations of size theta, mutation rates u from 1 to 0 and v from 0
to 1, lengths in expected mutations, and inheritance probabilities gamma at reticulations.

:func:`mcmc` samples networks and parameters from their posterior; its result has arrays ``[chain, draw]`` that ArviZ
reads. :mod:`quintet.snp.compat` has the calls of the program that this replaces.

Errors: :class:`quintet.NetworkError` (with ``.reason`` and ``.position``) for texts and graphs that are no network and
for parameters out of range, ``InvalidArgument`` (both are a ``ValueError``) for other arguments, ``FileError`` (with
``.filename`` and ``.lineno``) for files, ``OutOfMemory``, ``DeviceError``, ``Cancelled``.
"""

from __future__ import annotations

from . import rules
from ._chains import (
    ChainSummary,
    MarginalLikelihood,
    MCMCResult,
    PredictiveStatistic,
    Sampler,
    ess,
    frequency_deviation,
    marginal_likelihood,
    mcmc,
    normal_quantile,
    predictive_check,
    prior_log_density,
    prior_moments,
    rhat,
    shortest_interval,
    simulate_network,
    summarise,
)
from ._data import Data, FStatistic, f_statistics, has_vcf, read_data, simulate, simulate_sites
from ._likelihood import (
    CompositeLikelihood,
    Gradient,
    Likelihood,
    OptimiseResult,
    ParameterErrors,
    ResampleResult,
    SearchLevel,
    SearchResult,
    SearchStatus,
    composite_log_likelihood,
    estimate,
    gamma_rates,
    resample,
    search,
)
from ._network import Network, read_network

__all__ = [
    "ChainSummary",
    "CompositeLikelihood",
    "Data",
    "FStatistic",
    "Gradient",
    "Likelihood",
    "MCMCResult",
    "MarginalLikelihood",
    "Network",
    "OptimiseResult",
    "ParameterErrors",
    "PredictiveStatistic",
    "ResampleResult",
    "Sampler",
    "SearchLevel",
    "SearchResult",
    "SearchStatus",
    "composite_log_likelihood",
    "ess",
    "estimate",
    "f_statistics",
    "frequency_deviation",
    "gamma_rates",
    "has_vcf",
    "marginal_likelihood",
    "mcmc",
    "normal_quantile",
    "predictive_check",
    "prior_log_density",
    "prior_moments",
    "read_data",
    "read_network",
    "resample",
    "rhat",
    "rules",
    "search",
    "shortest_interval",
    "simulate",
    "simulate_network",
    "simulate_sites",
    "summarise",
]
