from __future__ import annotations

import math
import pathlib
import pickle
import threading
from typing import Any

import numpy as np
import pytest

import quintet
from quintet import snp
from quintet.snp import compat, rules

NEWICK = "(((B:0.4)#H1:0.1::0.6,A:0.5)x:0.3,(C:0.6,#H1:0.2::0.4)y:0.2)r;"
DATA = pathlib.Path(__file__).parents[2] / "tests" / "data" / "snp"


@pytest.fixture
def network() -> snp.Network:
    return snp.Network(NEWICK, theta=0.1)


@pytest.fixture
def data(network: snp.Network) -> snp.Data:
    return snp.simulate(network, {"A": 2, "B": 2, "C": 4}, 300, seed=2)


def test_networks(network: snp.Network) -> None:
    assert sorted(network.species) == ["A", "B", "C"] and len(network.reticulations) == 1
    assert sorted(set(network.kinds)) == ["leaf", "reticulation", "root", "tree"]
    b = network.branches
    assert b.length.shape == b.theta.shape == b.child.shape and sorted(b.gamma[b.gamma < 1].tolist()) == [0.4, 0.6]
    again = snp.Network(network.newick)
    np.testing.assert_array_equal(np.sort(again.branches.length), np.sort(b.length))
    assert again.is_isomorphic(network) and again.topology == network.topology and network.mu_distance(again) == 0
    names = [network.name(i) for i in range(network.nodes)]
    made = snp.Network(names, zip(b.parent, b.child, b.length, b.theta, b.gamma), root_theta=0.1)
    assert made.newick == network.newick
    assert pickle.loads(pickle.dumps(network)).newick == network.newick
    other = network.copy()
    other.set_length(0, 3.0)
    other.set_theta(1, 0.2)
    other.set_root_theta(0.3)
    assert other.branches.length[0] == 3.0 and other.root_theta == 0.3 and network.branches.length[0] != 3.0
    branch = int(network.parent_branches(int(network.reticulations[0]))[0])
    other.set_gamma(branch, 0.25)
    assert sorted(other.branches.gamma[other.branches.gamma < 1].tolist()) == [0.25, 0.75]
    assert len(network.displayed_trees()) == 2 and network.level == 1 and network.bubbles == 0
    assert abs(sum(w for _, w in network.displayed_trees()) - 1) < 1e-12
    assert network.hybrid_events()[0][0] == ["B"] and len(network.clusters()) == 2
    assert snp.Network.from_topology(network.topology).is_isomorphic(network)
    assert network.find("A") >= 0 and network.find("Z") == -1 and "A" in network.describe_branch(
        int(network.parent_branches(network.find("A"))[0]))
    assert network.children_first[-1] == network.root


def test_newick_of_other_programs(network: snp.Network) -> None:
    assert network.standard_newick == NEWICK
    with pytest.raises(quintet.NetworkError, match="may be a theta or a support value"):
        snp.Network("((A:1,B:1):1:95,C:1);", theta=0.1)
    assert set(snp.Network("((A:1,B:1):1:95,C:1);", theta=0.1, support=True).branches.theta) == {0.1}


def test_missing_copies_are_conditioned_on(network: snp.Network) -> None:
    red, copies = [[1, 0, 0], [0, 1, 0]], [[2, 2, 2], [2, 1, 2]]

    def value(rows: list[int], **options: Any) -> float:
        data = snp.Data(["A", "B", "C"], np.array(red)[rows], np.array(copies)[rows])
        return snp.Likelihood(network, data, **options).evaluate()

    both, each = value([0, 1], polymorphic_only=True), [value([i], polymorphic_only=True) for i in (0, 1)]
    assert abs(both - sum(each)) < 1e-12
    assert value([0, 1], polymorphic_only=True, full_samples=True) < both
    with pytest.raises(quintet.InvalidArgument, match="needs polymorphic_only"):
        value([0], full_samples=True)


def test_network_errors() -> None:
    with pytest.raises(quintet.NetworkError) as caught:
        snp.Network("((A:1,B:1):1,C:1", theta=0.1)
    assert caught.value.reason == "syntax" and caught.value.position is not None
    assert isinstance(caught.value, ValueError)
    with pytest.raises(quintet.NetworkError) as caught:
        snp.Network("(A:1,B:1);")
    assert caught.value.reason == "theta"
    with pytest.raises(quintet.NetworkError) as caught:
        snp.Network(["a", "b"], [(0, 1, 1.0, 1.0), (1, 0, 1.0, 1.0)], root_theta=1.0)
    assert caught.value.reason in ("cycle", "root")
    network = snp.Network("(A:1,B:1);", theta=0.1)
    for call in (lambda: network.set_length(0, -1.0), lambda: network.set_theta(0, 0.0), lambda: network.set_length(9, 1.0)):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(TypeError):
        snp.Network(3)
    with pytest.raises(TypeError):
        network.set_length(0, "long")


def test_data(tmp_path: pathlib.Path) -> None:
    data = snp.Data(["A", "B"], [[0, 1], [2, 1], [0, 1], [2, 2]], [2, 2], [1.0, 2.0, 0.5, 1.0])
    assert data.patterns == 3 and data.sites == 4 and data.weights.tolist() == [1.5, 2.0, 1.0]
    assert data.kinds == ["polymorphic", "polymorphic", "all_one"] and data.pattern_of_site.tolist() == [0, 1, 0, 2]
    again = pickle.loads(pickle.dumps(data))
    assert again.red.tolist() == data.red.tolist() and again.weights.tolist() == data.weights.tolist()
    gt = np.random.default_rng(0).integers(-1, 2, (50, 6, 2))
    found = snp.Data.from_genotypes(gt, ["A"] * 3 + ["B"] * 3, empty="keep")
    assert found.sampled_copies.tolist() == [6, 6] and found.sites == 50
    same = snp.Data.from_genotypes(gt, {"A": [0, 1, 2], "B": [3, 4, 5]}, empty="keep")
    assert same.red.tolist() == found.red.tolist()
    site = found.pattern_of_site[7]
    assert found.red[site].tolist() == [(gt[7, :3] == 1).sum(), (gt[7, 3:] == 1).sum()]
    path = tmp_path / "counts.csv"
    path.write_text("A,B,weight\n0/2,1/2,2\n?,1/2,1\n")
    read = snp.read_data(path)
    assert read.sites == 1 and read.dropped_sites.tolist() == [[1, 0]] and read.weights.tolist() == [2.0]
    assert snp.read_data(path, empty="keep").sites == 2
    assert data.frequent_patterns(0.3).patterns == 1
    for bad, error in (
        (lambda: snp.Data(["A"], [[3]], [2]), ValueError),
        (lambda: snp.Data(["A", "A"], [[1, 1]], [2, 2]), ValueError),
        (lambda: snp.Data(["A"], [[0.5]], [2]), TypeError),
        (lambda: snp.Data(["A", "B"], [[1]], [2, 2]), ValueError),
        (lambda: snp.Data(["A"], [[1]], [2], [-1.0]), ValueError),
        (lambda: snp.Data.from_genotypes(gt + 5, ["A"] * 6), ValueError),
        (lambda: snp.Data.from_genotypes(gt, ["A"] * 5), ValueError),
    ):
        with pytest.raises(error):
            bad()


def test_file_errors(tmp_path: pathlib.Path) -> None:
    with pytest.raises(quintet.FileError) as caught:
        snp.read_data(tmp_path / "none.csv")
    assert caught.value.filename == str(tmp_path / "none.csv") and isinstance(caught.value, OSError)
    path = tmp_path / "bad.csv"
    path.write_text("A,B\n0/2,1/2\n5/2,1/2\n")
    with pytest.raises(quintet.FileError) as caught:
        snp.read_data(path)
    assert caught.value.lineno == 3
    (tmp_path / "net.nwk").write_text("(A:1,")
    with pytest.raises(quintet.FileError):
        snp.read_network(tmp_path / "net.nwk", theta=1.0)


def bryant_two_species(red: tuple[int, int], length: float, theta: float) -> float:
    """One copy of each of two species: the alleles at the ancestor are stationary, then two ways of mutation; the
    probability averages over the coalescence above the root (rates 2/theta), u = v = 1."""
    times = np.linspace(0, 40 * theta, 200001)
    density = 2 / theta * np.exp(-2 * times / theta)
    change = 0.5 * (1 - np.exp(-2 * (length + times)))
    both = change * change + (1 - change) * (1 - change)
    value = np.where(red[0] == red[1], 0.5 * both, 0.5 * (1 - both))
    return float(np.trapezoid(value * density, times) if hasattr(np, "trapezoid") else np.trapz(value * density, times))


def test_likelihood_by_quadrature() -> None:
    network = snp.Network("(A:0.3,B:0.3);", theta=0.2)
    for red in ((0, 0), (0, 1), (1, 1)):
        likelihood = snp.Likelihood(network, snp.Data(["A", "B"], [red], [1, 1]))
        assert abs(np.exp(likelihood.evaluate()) - bryant_two_species(red, 0.3, 0.2)) < 1e-6


def test_likelihoods_of_all_patterns_sum_to_one(network: snp.Network) -> None:
    grid = np.array(np.meshgrid(range(3), range(3), range(3))).reshape(3, -1).T
    likelihood = snp.Likelihood(network, snp.Data(network.species, grid, [2, 2, 2]))
    assert abs(np.exp(likelihood.patterns).sum() - 1) < 1e-12


def test_proposals_and_gradients(network: snp.Network, data: snp.Data) -> None:
    likelihood = snp.Likelihood(network, data)
    first = likelihood.evaluate()
    gradient = likelihood.gradient()
    h = 1e-6
    for b in range(len(network.branches.length)):
        for name in ("length", "theta"):
            value = getattr(likelihood.network.branches, name)[b]
            ends = []
            for sign in (1, -1):
                getattr(likelihood, f"set_{name}")(b, value + sign * h)
                ends.append(likelihood.evaluate())
                likelihood.reject()
            slope = getattr(gradient, name)[b]
            assert abs((ends[0] - ends[1]) / (2 * h) - slope) <= 1e-3 * max(1, abs(slope))
    assert likelihood.evaluate() == first
    likelihood.set_rates(0.7, 1.4)
    changed = likelihood.evaluate()
    likelihood.accept()
    likelihood.reject()
    assert likelihood.evaluate() == changed != first and likelihood.rates == (0.7, 1.4)
    assert abs(snp.Likelihood(network, data, u=0.7, v=1.4).evaluate() - changed) < 1e-9 * abs(changed)
    assert likelihood.sites.shape == (300,) and likelihood.size["bytes"] > 0
    categories = snp.Likelihood(network, data, rate_categories=snp.gamma_rates(0.5, 3))
    assert np.isfinite(categories.evaluate())
    assert np.isfinite(snp.Likelihood(network, data, polymorphic_only=True).evaluate())
    assert snp.Likelihood(network, data, ordered_data=True).evaluate() < first


def test_optimise_and_search(network: snp.Network, data: snp.Data) -> None:
    likelihood = snp.Likelihood(network, data)
    steps: list[float] = []
    result = likelihood.optimise(thetas="common", max_iterations=20, progress=lambda stage, f: steps.append(f))
    assert result.log_likelihood > result.start and steps
    assert abs(likelihood.evaluate() - result.log_likelihood) < 1e-6
    with pytest.raises(quintet.Cancelled):
        likelihood.optimise(progress=lambda stage, fraction: False)
    assert np.isfinite(likelihood.evaluate())

    def meddle(stage: str, fraction: float) -> None:
        likelihood.evaluate()

    with pytest.raises(quintet.Error, match="at work"):
        likelihood.optimise(progress=meddle)
    found = snp.search(data, max_reticulations=1, starts=1, patience=2, max_iterations=5)
    assert [level.reticulations for level in found.levels] == [0, 1]
    assert found.levels[1].log_likelihood >= found.levels[0].log_likelihood - 1e-3
    assert found.best in found.levels


def test_search_without_a_root(data: snp.Data) -> None:
    status: list[snp.SearchStatus] = []
    options: dict[str, Any] = {"max_reticulations": 0, "starts": 2, "patience": 3, "theta": 0.05}
    found = snp.search(data, report=status.append, **options)
    assert not found.is_root_seen and found.topologies == 1  # unrooted trees of three species
    assert found.levels[0].starts == 2 and found.levels[0].rootings == 3
    assert status[-1].is_end and status[-1].topologies == 1 and status[-1].best.species == ["A", "B", "C"]
    for outgroup in (["A"], ["A", "C"]):
        rooted = snp.search(data, outgroup=outgroup, **options).levels[0].network
        kept = rooted.rooted_at(outgroup)
        assert kept is not None and kept.newick == rooted.newick
        assert rooted.unrooted_topology == found.levels[0].network.unrooted_topology
        assert len(rooted.rootings()) == 3
    hybrid = snp.Network("(((A:1,(B:1)#H1:1::0.5):1,(C:1,#H1:1::0.5):1):1,D:1);", theta=0.1)
    assert hybrid.rooted_at("B") is not None and hybrid.rooted_at(["A", "C"]) is None

    def stop(now: snp.SearchStatus) -> None:
        raise KeyError(now.topologies)

    with pytest.raises(KeyError):
        snp.search(data, report=stop, **options)
    with pytest.raises(TypeError, match="report must be a callable"):
        snp.search(data, report=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="outgroup must be a sequence of names"):
        snp.search(data, outgroup="A")
    with pytest.raises(ValueError, match="outgroup must be a species of the data"):
        snp.search(data, outgroup=["X"])
    assert snp.search(data, thetas="each", max_iterations=3, **options).is_root_seen


def test_filters_and_selected_sites(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.raw"
    path.write_text("FID IID PAT MAT SEX PHENOTYPE s_T t_T u_T\nA 1 0 0 0 -9 0 1 2\nB 2 0 0 0 -9 2 NA 1\nB 3 0 0 0 -9 2 0 1\n")
    whole = snp.read_data(path)
    assert whole.sites == 3 and whole.species == ["A", "B"] and whole.report["locus_of_site"].size == 0
    filtered = snp.read_data(path, max_missing=0.1)
    assert filtered.sites == 2 and filtered.report["too_much_missing"] == 1
    with pytest.raises(ValueError, match="which only VCF has"):
        snp.read_data(path, one_per_locus=True)
    chosen = whole.select_sites([2, 0, 2])
    assert chosen.weights.tolist() == [2.0, 1.0] and chosen.red.tolist() == [[2, 2], [0, 4]]
    with pytest.raises(ValueError, match="site must be in"):
        whole.select_sites([3])
    unrooted = snp.Network("(A:1,B:2,C:3);", theta=0.1, unrooted=True)
    rooted = unrooted.rooted_at(["C"])
    assert rooted is not None and rooted.topology == snp.Network.from_topology("((A,B),C);").topology
    with pytest.raises(ValueError, match="three children"):
        snp.Network("(A:1,B:2,C:3);", theta=0.1)


def test_resample(network: snp.Network, data: snp.Data) -> None:
    options: dict[str, Any] = {"block_sites": 20, "thetas": "fixed", "max_iterations": 20}
    found = snp.resample(network, data, replicates=4, **options)
    lengths = np.stack([one.branches.length for one in found.replicates])
    np.testing.assert_allclose(found.length.standard_error, lengths.std(axis=0, ddof=1), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(found.length.low, np.quantile(lengths, 0.025, axis=0), rtol=1e-12)
    np.testing.assert_array_equal(found.theta.standard_error, 0)
    jack = snp.resample(network, data, method="jackknife", **options)
    assert len(jack.replicates) == jack.blocks == found.blocks
    loci = np.arange(data.pattern_of_site.size) // 20
    by_locus = snp.resample(network, data, replicates=4, block_of_site=loci, thetas="fixed", max_iterations=20)
    np.testing.assert_array_equal(by_locus.length.mean, found.length.mean)
    # Of three species there is one set.
    gammas: dict[str, Any] = {"replicates": 4, "block_sites": 20, "thetas": "fixed", "lengths": False}
    whole, sets = snp.resample(network, data, **gammas), snp.resample(network, data, composite=3, **gammas)
    np.testing.assert_allclose(sets.gamma.mean, whole.gamma.mean, atol=2e-4)
    with pytest.raises(ValueError, match="needs one theta for all branches"):
        snp.resample(network, data, composite=3)
    with pytest.raises(ValueError, match="composite must be 0, 3 or 4"):
        snp.resample(network, data, composite=2, thetas="fixed")
    with pytest.raises(ValueError, match="method must be"):
        snp.resample(network, data, method="x")
    with pytest.raises(ValueError, match="replicates must be in 2"):
        snp.resample(network, data, replicates=2**62)


def test_the_burn_in_of_a_short_run_is_a_tenth(data: snp.Data) -> None:
    runs = [snp.mcmc(data, iterations=400, sample_every=10, max_reticulations=0, **more) for more in ({}, {"burn_in": 40})]
    assert runs[0].steps[0] == 50 and len(runs[0].steps) == 36
    np.testing.assert_array_equal(runs[0].posterior["root_height"], runs[1].posterior["root_height"])
    with pytest.raises(TypeError, match="iterations must be an integer"):
        snp.mcmc(data, iterations="many")


def test_integers_out_of_range(network: snp.Network, data: snp.Data) -> None:
    for most in (2**62, 2**63 - 1):
        for name in ("starts", "patience", "max_reticulations", "max_iterations"):
            with pytest.raises(quintet.InvalidArgument, match=f"{name} must be in"):
                snp.search(data, **{name: most})
        with pytest.raises(quintet.InvalidArgument, match="max_iterations must be in"):
            snp.Likelihood(network, data).optimise(max_iterations=most)
        with pytest.raises(quintet.InvalidArgument, match="sites must be in"):
            snp.simulate(network, [2, 2, 2], most)
        with pytest.raises(quintet.InvalidArgument, match="max_reticulations must be in"):
            snp.mcmc(data, max_reticulations=most)
        with pytest.raises(quintet.InvalidArgument, match="species must be in"):
            snp.prior_moments(most, 1, 20.0, 10.0)
        for name in ("chains", "temperatures", "iterations", "burn_in", "swap_every"):
            with pytest.raises(quintet.InvalidArgument, match=name):
                snp.mcmc(data, **{name: most})
    with pytest.raises(quintet.InvalidArgument, match="max_level must be"):
        snp.mcmc(data, max_level=-2)
    with pytest.raises(quintet.InvalidArgument, match="number must be within 0"):
        snp.simulate_network(["A", "B"], number=-1)


def test_simulation_is_a_function_of_the_seed(network: snp.Network) -> None:
    a, tries = snp.simulate_sites(network, [2, 2, 2], 50, seed=7)
    b, _ = snp.simulate_sites(network, [2, 2, 2], 80, seed=7)
    np.testing.assert_array_equal(a, b[:50])
    assert (tries == 1).all() and not np.array_equal(a, snp.simulate_sites(network, [2, 2, 2], 50, seed=8)[0])
    assert set(snp.simulate(network, [2, 2, 2], 100, polymorphic_only=True).kinds) == {"polymorphic"}
    with pytest.raises(ValueError):
        snp.simulate(network, {"A": 2}, 10)


def test_chains(data: snp.Data) -> None:
    options: dict[str, Any] = {"iterations": 3000, "burn_in": 1000, "sample_every": 50, "max_reticulations": 1}
    results = [snp.mcmc(data, chains=2, temperatures=2, threads=t, **options) for t in (1, 2, 3)]
    for other in results[1:]:
        for name, values in results[0].posterior.items():
            np.testing.assert_array_equal(values, other.posterior[name])
        assert other.newick == results[0].newick
    result = results[0]
    assert result.posterior["root_height"].shape == (2, 40) == result.sample_stats["lp"].shape
    assert result.steps.tolist() == list(range(1050, 3001, 50))
    np.testing.assert_allclose(
        result.sample_stats["lp"], result.sample_stats["loglik"] + result.sample_stats["log_prior"]
    )
    assert abs(sum(result.topology_frequencies().values()) - 1) < 1e-12
    network = snp.Network(result.newick[1][-1])
    u, v = result.posterior["u"][1, -1], result.posterior["v"][1, -1]
    value = snp.Likelihood(network, data, u=u, v=v).evaluate()
    assert abs(value - result.sample_stats["loglik"][1, -1]) < 1e-6
    assert result.topologies[1][-1] == network.topology
    summary = result.summary()["root_height"]
    assert summary.hpd95_low <= summary.median <= summary.hpd95_high
    assert result.moves[0][0]["tried"] > 0 and result.exchanges[0]["tried"] > 0
    assert 0 < result.exchanges[0]["round_trips"] <= result.exchanges[0]["accepted"]
    assert 0 <= result.topology_deviation() <= 1


def test_arviz_reads_the_chains() -> None:
    arviz = pytest.importorskip("arviz")
    result = snp.mcmc(None, ["A", "B"], chains=2, iterations=2000, burn_in=0, sample_every=20, max_reticulations=0)
    data = result.to_arviz()
    assert data["posterior"]["root_height"].shape == (2, 100)
    assert float(np.asarray(arviz.rhat(data["posterior"]["root_height"].values))) > 0
    assert abs(snp.ess(result.posterior["root_height"]) - float(
        np.asarray(arviz.ess(result.posterior["root_height"])))) < 5


def test_a_surrogate_is_asked_first(data: snp.Data) -> None:
    options: dict[str, Any] = {"iterations": 1000, "burn_in": 0, "sample_every": 100, "chains": 2, "threads": 2}
    asked: list[float] = []

    def surrogate(network: snp.Network, pi1: float) -> float:
        assert set(network.species) == set(data.species) and 0 < pi1 < 1
        asked.append(snp.Likelihood(network, data, u=0.5 / pi1, v=0.5 / (1 - pi1)).evaluate())
        return asked[-1]

    def accepted(sampler: snp.Sampler) -> int:
        sampler.advance()
        return sum(move["accepted"] for chain in sampler.moves() for move in chain)

    free = accepted(snp.Sampler(data, surrogate=surrogate, **options))
    assert free > 0 and len(asked) > 100
    # One that finds everything impossible but the start: parameters of the prior move alone.
    starts = iter([0.0] * 2)
    blocked = snp.Sampler(data, surrogate=lambda *_: next(starts, -np.inf), **options)
    before = [blocked.current(chain).newick for chain in range(2)]
    assert accepted(blocked) < free
    assert [blocked.current(chain).newick for chain in range(2)] == before

    def fail(*_: Any) -> float:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        snp.Sampler(data, surrogate=fail, **options)
    for bad in (3.0, "f"):
        with pytest.raises(TypeError, match="surrogate"):
            snp.Sampler(data, surrogate=bad, **options)
    with pytest.raises(TypeError, match="surrogate's value"):
        snp.Sampler(data, surrogate=lambda *_: None, **options)


def test_a_sampler_goes_on_from_a_snapshot(data: snp.Data) -> None:
    def make() -> snp.Sampler:
        return snp.Sampler(data, iterations=3000, burn_in=0, sample_every=100, max_reticulations=1)

    sampler = make()
    sampler.advance()
    snapshot = pickle.loads(pickle.dumps(sampler.snapshot()))
    sampler.take_samples()
    sampler.advance()
    expected = sampler.take_samples()[0]
    other = make()
    other.restore(snapshot)
    other.advance()
    found = other.take_samples()[0]
    np.testing.assert_array_equal(found[1], expected[1])
    assert found[2] == expected[2] and other.step == 2000
    assert isinstance(other.current(0), snp.Network)
    with pytest.raises(quintet.Cancelled):
        other.advance(lambda stage, fraction: False)
    for bad in (
        lambda: snp.Sampler(data, iterations=0),
        lambda: snp.Sampler(data, priors="nonsense = 1"),
        lambda: snp.Sampler(data, fix_topology=True),
        lambda: snp.Sampler(data, swap_every=7),
        lambda: snp.Sampler(data, chains=3, start=[other.current(0)] * 2),
        lambda: snp.Sampler(None, list(data.species), start="search"),
    ):
        with pytest.raises(ValueError):
            bad()
    with pytest.raises(TypeError):
        snp.Sampler(data, no_such_option=1)
    with pytest.raises(TypeError, match="start must be a Network, a list of them, one for each chain, or 'search'"):
        snp.Sampler(data, start="here")
    with pytest.raises(TypeError):
        snp.Sampler(None)


def test_starts_of_chains(data: snp.Data) -> None:
    def run(start: object) -> list[str]:
        chains = snp.Sampler(data, chains=2, iterations=1000, burn_in=0, sample_every=1, max_reticulations=1, start=start)
        first = [chains.current(0), chains.current(1)]
        chains.advance()
        assert [len(samples[0]) for samples in chains.take_samples()] == [1000, 1000]
        return [network.topology for network in first]

    found = run("search")
    assert found[0] != found[1]
    assert run("search") == found
    trees = [snp.Network(text, theta=0.02) for text in ("((A:1,B:1):1,C:2);", "((A:1,C:1):1,B:2);")]
    assert run(trees) == [tree.topology for tree in trees]


def test_priors() -> None:
    moments = snp.prior_moments(3, 2, 20.0, 10.0)
    chains = snp.mcmc(None, ["A", "B", "C"], "speciation-rate = 20\nhybridization-rate = 10\n", chains=4,
                      iterations=20000, burn_in=1000, sample_every=20)
    drawn = np.bincount(chains.posterior["reticulations"].astype(int).ravel(), minlength=3) / 3800
    assert np.abs(drawn - moments["reticulations"]).max() < 0.1
    network = snp.simulate_network(["A", "B", "C"], seed=3, number=5)
    assert network.newick == snp.simulate_network(["A", "B", "C"], seed=3, number=5).newick


def test_rules_are_the_likelihood() -> None:
    network = snp.Network("(A:0.3,B:0.3);", theta=0.2)
    for red in ((0, 2), (1, 1), (2, 1)):
        a, b = (rules.branch(rules.leaf(2, r), 0, length=0.3, theta=0.2) for r in red)
        value = rules.root(rules.join(a, 0, b, 0), 0.2)
        expected = snp.Likelihood(network, snp.Data(["A", "B"], [red], [2, 2])).evaluate()
        choose = {0: 1, 1: 2, 2: 1}
        ways = choose[red[0]] * choose[red[1]]
        assert abs(np.log(value * ways) - expected) < 1e-9 or abs(np.log(value) - expected) < 1e-9
    split = rules.split(rules.branch(rules.leaf(2, 1), 0, length=0.1, theta=0.1), 0, 0.4)
    assert len(split.max) == 2 and split.entries.sum() > 0 and split.at((1, 1), (1, 0)) >= 0
    with pytest.raises(ValueError):
        rules.leaf(2, 3)


def test_compat() -> None:
    path = DATA / "phynetpy" / "paper_net.nex"
    value = compat.SNP_LIKELIHOOD(path)
    network = snp.read_network(path, theta=2.0)
    data = snp.read_data(path, haploid=True)
    assert abs(value - snp.Likelihood(network, data, u=0.5, v=0.5).evaluate()) < 1e-9
    large = DATA / "phynetpy" / "paper_net_largeseq.nex"
    assert np.isfinite(compat.SNP_LIKELIHOOD(large, use_gpu=False))
    sites = data.pattern_of_site
    reds = {name: data.red[sites, i].tolist() for i, name in enumerate(data.species)}
    assert abs(compat.SNP_LIKELIHOOD_DATA(path, reds) - value) < 1e-9
    grouped = compat.SNP_LIKELIHOOD(path, grouping={"A": "A", "B": "B", "C": "C"}, coal=2)
    assert np.isfinite(grouped) and grouped != value
    assert compat.SNP_LIKELIHOOD(path, auto_detect=True) == value
    assert compat.benchmark_cuda_vs_cpu(path, 1)["cpu_result"] == value
    assert set(compat.get_cuda_device_info()) == {"available", "device_count", "devices"}
    with pytest.raises(ValueError):
        compat.SNP_LIKELIHOOD(path, coal=0)


def test_eight_python_threads_share_a_likelihood(network: snp.Network, data: snp.Data) -> None:
    likelihood = snp.Likelihood(network, data)
    expected = likelihood.evaluate()
    failures: list[Any] = []

    def work() -> None:
        for _ in range(20):
            if likelihood.evaluate() != expected or not np.isfinite(likelihood.patterns).all():
                failures.append("differs")
            snp.Likelihood(network, data).gradient()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


@pytest.mark.parametrize("options, error", [
    ({"u": -1.0}, ValueError),
    ({"u": 0.0, "v": 0.0}, ValueError),
    ({"rate_categories": []}, ValueError),
    ({"u": "x"}, TypeError),
    ({"memory_limit": -1}, ValueError),
    ({"device": "7"}, quintet.DeviceError),
    ({"polymorphic_only": True, "unseen_zeros": 3.0}, ValueError),
])
def test_bad_models(network: snp.Network, data: snp.Data, options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        snp.Likelihood(network, data, **options)


def test_other_species_are_named(network: snp.Network) -> None:
    with pytest.raises(quintet.NetworkError) as caught:
        snp.Likelihood(network, snp.Data(["A", "B", "Z"], [[0, 1, 1]], [2, 2, 2]))
    assert caught.value.reason == "unknown_taxon" and "Z" in str(caught.value)


def test_f_statistics():
    quarters = [[0, 2, 4, 2], [4, 4, 2, 0], [1, 0, 0, 3], [2, 1, 4, 4], [0, 0, 1, 2], [3, 4, 0, 0], [4, 2, 2, 1], [1, 2, 3, 4]]
    data = snp.Data(["A", "B", "C", "D"], quarters, [4, 4, 4, 4])
    (f4,) = snp.f_statistics(data, [["A", "B", "C", "D"]], block_sites=2)
    assert f4.value == pytest.approx(-0.03125) and f4.standard_error == pytest.approx(0.0494105884, abs=1e-10)
    assert f4.z == pytest.approx(-0.6324555320, abs=1e-9) and (f4.sites, f4.blocks) == (8, 4)
    assert len(snp.f_statistics(data)) == 21
    with pytest.raises(ValueError, match="a species of the data"):
        snp.f_statistics(data, [["A", "Z"]])


def test_composite_likelihood_and_predictive_check():
    newick = "((((B:0.01)#H1:0.01::0.7,A:0.02)x:0.02,(C:0.03,#H1:0.02::0.3)y:0.01)z:0.02,(D:0.04,E:0.04)w:0.02)r;"
    network = snp.Network(newick, theta=0.02)
    sites = ["00001", "22000", "01200", "22201", "10022", "22222"]
    data = snp.Data(list("ABCDE"), [[int(c) for c in site] for site in sites], [2] * 5)
    found = snp.composite_log_likelihood(network, data)
    assert found.log_likelihood == pytest.approx(-216.6092397181, abs=1e-9)
    assert found.truncation_bound == 0 and found.skipped == 0
    assert {tuple(species): value for species, value in found.terms}[("A", "B", "C")] == pytest.approx(-17.108066544)
    with pytest.raises(ValueError, match="size must be 3 or 4"):
        snp.composite_log_likelihood(network, data, size=2)
    simulated = snp.simulate(network, [4] * 5, 300, seed=2)
    checks = snp.predictive_check(simulated, [network] * 20, [1.0] * 20)
    assert len(checks) == 16 and all(abs(c.observed - c.mean) < 5 * c.sd for c in checks)
    with pytest.raises(ValueError, match="draws"):
        snp.predictive_check(simulated, [network])


def test_composite_search():
    network = snp.Network("((A:0.02,B:0.02):0.03,((C:0.02,D:0.02):0.01,E:0.03):0.02);", theta=0.02)
    data = snp.simulate(network, [2] * 5, 1000, seed=5)
    found = snp.search(data, max_reticulations=1, patience=1, theta=0.02, composite=3)
    assert [level.reticulations for level in found.levels] == [0, 1] and found.levels[0].starts == 1
    assert found.best is found.levels[found.best_level] and math.isnan(found.best.bic)
    assert found.levels[0].log_likelihood == pytest.approx(
        snp.composite_log_likelihood(found.levels[0].network, data).log_likelihood
    )
    assert found.levels[1].gain > -1 and found.levels[1].gain_error > 0
    ratio = max(2 * found.levels[1].gain / found.levels[1].gain_error, 0)
    price = math.log(1000) + 2 * math.log(found.levels[1].places)
    assert found.levels[1].bic_gain == pytest.approx(ratio**2 - price) and found.best_level == 0
    with pytest.raises(ValueError, match="one theta for all branches"):
        snp.search(data, thetas="each", composite=3)
    with pytest.raises(ValueError, match="composite must be 0, 3 or 4"):
        snp.search(data, composite=5)


def test_marginal_likelihood():
    # AB: quadrature gives log Z = -309.293004.
    red = [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2], [2, 0], [2, 1], [2, 2]]
    weights = np.array([77.0, 5, 13, 6, 1, 10, 7, 7, 74])
    data = snp.Data(["A", "B"], red, [2, 2], weights)
    priors = "speciation-rate = 10\nhybridization-rate = 0\norigin = exponential(0.1)\ntheta = common gamma(2,20)\n"
    found = snp.marginal_likelihood(
        data, priors, steps=12, iterations=3000, seed=2, max_reticulations=0, ordered_data=False
    )
    assert abs(found.log_z + 309.293004) < 4 * found.error < 1
    assert found.steps.shape == (13, 6) and found.by_chain.shape == (2,)
    with pytest.raises(ValueError, match="steps"):
        snp.marginal_likelihood(data, steps=0)


def test_dates_and_constraints():
    priors = "speciation-rate = 1e-6\nhybridization-rate = 5e-7\norigin = exponential(1e6)\ntheta = each gamma(2,2e-5)\n"
    rules = "calibrate A,B = uniform(1e5,2e5)\nmonophyletic = A,B\noutgroup = D\nclock = lognormal(-18,.3)\ngeneration-time = 4\n"
    result = snp.mcmc(None, ["A", "B", "C", "D"], priors + rules, iterations=4000, burn_in=0, sample_every=50)
    assert result.posterior["Ne_A"].shape == result.posterior["clock"].shape == (2, 80)
    assert np.allclose(result.posterior["Ne_A"], result.posterior["theta_A"] / 16)
    for newick in result.newick[0]:
        network = snp.Network(newick)
        assert snp.prior_log_density(network, priors + rules, max_reticulations=2)["dates"] > -50
        assert ["A", "B"] in [sorted(names) for names, _ in network.clusters()]
    start = snp.Network("(((A:1.5e5,B:1.5e5):1e5,C:2.5e5):1e5,D:3.5e5);", theta=1e5)
    again = snp.mcmc(None, start.species, priors + rules, start=start, iterations=1000, burn_in=0, sample_every=1000)
    assert 1e5 < again.posterior["root_height"][0, 0] < 1e7
    with pytest.raises(ValueError, match="there is no species Z"):
        snp.mcmc(None, ["A", "B"], "calibrate A,Z = normal(1,1)", iterations=1000, burn_in=0)
    with pytest.raises(ValueError, match="two or more species"):
        snp.mcmc(None, ["A", "B"], "calibrate A = normal(1,1)", iterations=1000, burn_in=0)


def test_truncation_has_a_bound():
    newick = "((A:0.04,(B:0.02)#H1:0.01::0.6):0.02,((C:0.03,#H1:0.01::0.4):0.01,D:0.05):0.02);"
    network = snp.Network(newick, theta=0.01)
    data = snp.simulate(network, [8, 24, 12, 8], 20, seed=5)
    exact = snp.Likelihood(network, data, truncation=0)
    truncated = snp.Likelihood(network, data)
    value = exact.evaluate()
    assert exact.truncation_bound == 0
    assert abs(truncated.evaluate() - value) <= truncated.truncation_bound + 1e-11 * abs(value)
    assert 0 < truncated.truncation_bound <= 1e-9
    assert 0 < truncated.truncation_mass < 1e-20
    assert truncated.size["largest_group"] < truncated.size["largest_group_untruncated"]
    for truncation in (-1.0, 0.2, float("nan")):
        with pytest.raises(ValueError, match="truncation"):
            snp.Likelihood(network, data, truncation=truncation)
        with pytest.raises(ValueError, match="truncation"):
            snp.resample(network, data, replicates=2, truncation=truncation)
        with pytest.raises(ValueError, match="truncation"):
            snp.search(data, max_reticulations=0, starts=1, patience=1, truncation=truncation)
        with pytest.raises(ValueError, match="truncation"):
            snp.mcmc(data, iterations=1000, burn_in=0, truncation=truncation)
    found = truncated.optimise(lengths=False, thetas="fixed", max_iterations=2)
    assert found.truncation_bound == truncated.truncation_bound
    assert 0 < found.truncation_bound <= 1e-9
    tree = snp.search(data, max_reticulations=0, starts=1, patience=1, max_iterations=2)
    assert tree.best.truncation_bound == 0
