"""Markers."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._arguments import as_integer, as_number, as_seed
from .._errors import FileError, InvalidArgument
from ._network import Network
from ._options import core_of

_KINDS = ("polymorphic", "all_zero", "all_one", "unobserved")


def _counts(values: Any, name: str) -> np.ndarray:
    array = np.asarray(values)
    if array.dtype.kind not in "iub":
        raise TypeError(f"{name} must be integers (dtype={array.dtype})")
    if array.ndim != 2:
        raise InvalidArgument(f"{name} must have the shape (sites, species) (shape={array.shape})")
    return np.ascontiguousarray(array, dtype=np.int64)


def _keeps(empty: str) -> bool:
    if empty not in ("drop", "keep"):
        raise InvalidArgument(f"empty must be 'drop' or 'keep' (empty={empty!r})")
    return empty == "keep"


class Data:
    """Counts of allele 1 by site and species, as patterns with weights.

    ``red[sites, species]`` copies of allele 1 among ``copies``, ``[sites, species]`` or ``[species]``; ``weights[sites]``
    are 1 by default. dominant: copies are twice the individuals that were scored, and red those that show the band.
    empty: what becomes of a site at which a species has no copies, "drop" or "keep". sampled_copies ``[species]`` are the
    sample sizes, by default the most at a site.

    >>> from quintet import snp
    >>> data = snp.Data(["A", "B"], [[0, 1], [2, 1], [0, 1]], [2, 2])
    >>> data.patterns, data.sites, data.weights.tolist()
    (2, 3, [2.0, 1.0])
    """

    def __init__(
        self,
        species: Sequence[str],
        red: Any,
        copies: Any,
        weights: Any = None,
        dominant: bool = False,
        empty: str = "drop",
        *,
        sampled_copies: Sequence[int] | None = None,
    ) -> None:
        counts = _counts(red, "red")
        sizes = np.asarray(copies)
        if sizes.ndim == 1:
            sizes = np.broadcast_to(sizes, counts.shape) if len(sizes) == counts.shape[1] else sizes[None, :]
        w = None
        if weights is not None:
            w = np.ascontiguousarray(weights, dtype=np.float64)
            if w.ndim != 1:
                raise InvalidArgument(f"weights must have 1 dimension (shape={w.shape})")
        self._core: Any = _core.snp_data(
            [str(s) for s in species],
            counts,
            _counts(sizes, "copies"),
            w,
            bool(dominant),
            _keeps(empty),
            [] if sampled_copies is None else [as_integer(c, "sampled_copies") for c in sampled_copies],
        )
        self._tables: dict[str, Any] | None = None
        #: What :func:`read_data` says of the file.
        self.report: dict[str, Any] = {}

    @classmethod
    def _of(cls, core: Any, report: dict[str, Any] | None = None) -> Data:
        data = cls.__new__(cls)
        data._core, data._tables, data.report = core, None, report or {}
        return data

    @classmethod
    def from_genotypes(
        cls, gt: Any, populations: Sequence[str] | Mapping[str, Sequence[int]], *, empty: str = "drop"
    ) -> Data:
        """From genotypes ``gt[sites, individuals, ploidy]`` (scikit-allel's ``calldata/GT``): 0, 1, or -1 for missing.

        populations: the species of every individual, or {species: individuals}. Copies with another allele than 0 and 1
        are an error: keep biallelic sites.

        >>> import numpy as np
        >>> from quintet import snp
        >>> gt = np.array([[[0, 0], [0, 1], [1, 1]]])
        >>> snp.Data.from_genotypes(gt, ["A", "A", "B"]).red.tolist()
        [[1, 2]]
        """
        calls = np.asarray(gt)
        if calls.dtype.kind not in "iu":
            raise TypeError(f"gt must be integers (dtype={calls.dtype})")
        if calls.ndim == 2:
            calls = calls[:, :, None]
        if calls.ndim != 3:
            raise InvalidArgument(f"gt must have the shape (sites, individuals, ploidy) (shape={calls.shape})")
        if calls.size and (calls.max() > 1 or calls.min() < -1):
            raise InvalidArgument(
                f"gt must be 0, 1 or -1, missing (found {int(calls.max()) if calls.max() > 1 else int(calls.min())})"
            )
        if isinstance(populations, Mapping):
            groups = {str(name): np.asarray(list(rows), dtype=np.int64) for name, rows in populations.items()}
        else:
            names = [str(name) for name in populations]
            if len(names) != calls.shape[1]:
                raise InvalidArgument(
                    f"populations must name the species of all {calls.shape[1]} individuals (len={len(names)})"
                )
            groups = {name: np.flatnonzero(np.array(names) == name) for name in dict.fromkeys(names)}
        for name, rows in groups.items():
            if len(rows) and not (0 <= rows.min() and rows.max() < calls.shape[1]):
                raise InvalidArgument(f"populations[{name!r}] must be in [0, {calls.shape[1]})")
        red = np.stack([(calls[:, rows] == 1).sum(axis=(1, 2)) for rows in groups.values()], axis=1)
        copies = np.stack([(calls[:, rows] >= 0).sum(axis=(1, 2)) for rows in groups.values()], axis=1)
        sampled = [len(rows) * calls.shape[2] for rows in groups.values()]
        return cls(list(groups), red, copies, empty=empty, sampled_copies=sampled)

    def __reduce__(self) -> tuple[Any, ...]:
        t = self._table()
        return _rebuild, (
            self.species,
            t["red"],
            t["copies"],
            t["weights"],
            self.dominant,
            t["sampled_copies"].tolist(),
            self.report,
        )

    def __repr__(self) -> str:
        return f"Data({len(self.species)} species, {self.sites} sites, {self.patterns} patterns)"

    def _table(self) -> dict[str, Any]:
        if self._tables is None:
            self._tables = dict(self._core.tables())
        return self._tables

    @property
    def species(self) -> list[str]:
        """Names, in the order of the columns."""
        return list(self._core.species())

    @property
    def patterns(self) -> int:
        """Number of different patterns."""
        return int(self._core.patterns)

    @property
    def sites(self) -> int:
        """Sites that have a pattern."""
        return int(self._core.sites)

    @property
    def dominant(self) -> bool:
        """Whether the markers are dominant."""
        return bool(self._core.dominant)

    @property
    def red(self) -> np.ndarray:
        """Copies of allele 1, [patterns, species]."""
        return np.array(self._table()["red"])

    @property
    def copies(self) -> np.ndarray:
        """Copies that were seen, [patterns, species]."""
        return np.array(self._table()["copies"])

    @property
    def weights(self) -> np.ndarray:
        """Sites of every pattern, or the sum of their weights."""
        return np.array(self._table()["weights"])

    @property
    def kinds(self) -> list[str]:
        """"polymorphic", "all_zero", "all_one" or "unobserved" for every pattern."""
        return [_KINDS[int(k)] for k in self._table()["kinds"]]

    @property
    def pattern_of_site(self) -> np.ndarray:
        """Pattern of every site that was given, -1 for those left out."""
        return np.array(self._table()["pattern_of_site"])

    @property
    def dropped_sites(self) -> np.ndarray:
        """Sites left out and the first species without copies there, [dropped, 2]."""
        return np.array(self._table()["dropped_sites"])

    @property
    def sampled_copies(self) -> np.ndarray:
        """Sample sizes, [species]."""
        return np.array(self._table()["sampled_copies"])

    @property
    def max_copies(self) -> np.ndarray:
        """The most copies of each species at a site, [species]."""
        return np.array(self._table()["max_copies"])

    def select_sites(self, sites: Any) -> Data:
        """The data of these sites, which may come repeatedly: numbers from 0 in the order of `pattern_of_site`.

        >>> import numpy as np
        >>> from quintet import snp
        >>> data = snp.Data(["A", "B"], [[0, 1], [2, 1], [0, 1]], [2, 2])
        >>> data.select_sites([1, 1]).weights.tolist()
        [2.0]
        """
        return Data._of(_core.snp_select_sites(self._core, np.ascontiguousarray(sites, dtype=np.int64)))

    def frequent_patterns(self, share: float) -> Data:
        """The data of the most frequent patterns, ceil(share x patterns) of them, weights scaled up to the same sum."""
        return Data._of(_core.snp_frequent_patterns(self._core, as_number(share, "share")))


def _rebuild(
    species: list[str],
    red: np.ndarray,
    copies: np.ndarray,
    weights: np.ndarray,
    dominant: bool,
    sampled: list[int],
    report: dict[str, Any],
) -> Data:
    data = Data(species, red, copies, weights, dominant, "keep", sampled_copies=sampled)
    data.report = report
    return data


class FStatistic(NamedTuple):
    """One of :func:`f_statistics`."""

    species: list[str]  #: two: f2; three: f3, the first one is the target; four: f4
    value: float  #: mean over sites
    standard_error: float  #: by the jackknife, NaN with fewer than two blocks
    z: float  #: value / standard_error
    sites: int  #: that count
    blocks: int  #: that have such sites


def f_statistics(
    data: Data,
    species: Sequence[Sequence[str]] = (),
    *,
    block_sites: int = 1,
    block_of_site: Any = None,
) -> list[FStatistic]:
    """f2(A, B), f3(C; A, B) and f4(A, B; C, D) of allele frequencies, with standard errors by a jackknife over blocks.

    Parameters
    ----------
    data : Data
        Markers; not dominant, and without weights.
    species : sequence of sequences of names, optional
        Two, three or four names each; by default every f2, f3 and f4.
    block_sites : int
        Consecutive sites of a block.
    block_of_site : array of int, optional
        The block of every site given, such as ``data.report["locus_of_site"]``; replaces `block_sites`.

    Returns
    -------
    list of FStatistic
        In the order of `species`, or of the species of the data.

    Examples
    --------
    >>> from quintet import snp
    >>> network = snp.Network("((A:0.1,B:0.1):0.2,(C:0.1,D:0.1):0.2);", theta=0.05)
    >>> data = snp.simulate(network, [4, 4, 4, 4], 500, seed=1)
    >>> abs(snp.f_statistics(data, [["A", "B", "C", "D"]], block_sites=10)[0].z) < 4
    True
    """
    blocks = np.ascontiguousarray([] if block_of_site is None else block_of_site, dtype=np.int64)
    names = [[str(name) for name in one] for one in species]
    found = _core.snp_f_statistics(core_of(data, "data", Data), names, as_integer(block_sites, "block_sites"), blocks)
    return [FStatistic(list(one[0]), *one[1:]) for one in found]


def has_vcf() -> bool:
    """Whether :func:`read_data` reads VCF; wheels do not: ``Data.from_genotypes(allel.read_vcf(path)["calldata/GT"], ...)``.

    >>> from quintet import snp
    >>> snp.has_vcf() in (True, False)
    True
    """
    return bool(_core.snp_has_vcf())


def read_data(
    path: str | os.PathLike[str],
    *,
    populations: str | os.PathLike[str] | None = None,
    population_rule: str | None = None,
    diploid: bool = False,
    haploid: bool = False,
    dominant: bool = False,
    empty: str = "drop",
    max_missing: float = 1.0,
    thin_distance: int = 0,
    one_per_locus: bool = False,
) -> Data:
    """Markers of a file: NEXUS, PHYLIP, PLINK's .raw, a table of counts (.csv, .tsv), or VCF where the build reads it; ".gz" too.

    populations: a file with two columns, individual and species; or population_rule: "before-first:_", "after-last:_".
    diploid: states are genotypes 0, 1, 2; haploid: those of NEXUS with datatype=snp are not.
    max_missing: the most missing share of a site. VCF: thin_distance, the least number of bases between polymorphic sites;
    one_per_locus, one polymorphic site for every contig. ``Data.report`` has what was read and left out; of VCF also
    locus_of_site, the number of the contig of every site.

    >>> import pathlib, tempfile
    >>> from quintet import snp
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "counts.csv"
    >>> _ = path.write_text("A,B\\n0/2,1/2\\n2/2,1/2\\n")
    >>> snp.read_data(path)
    Data(2 species, 2 sites, 2 patterns)
    """
    name = os.fspath(path)
    if populations is not None and population_rule is not None:
        raise InvalidArgument("populations and population_rule exclude each other")
    try:
        core, report = _core.snp_read_data(
            name,
            "" if populations is None else os.fspath(populations),
            population_rule or "",
            bool(diploid),
            bool(haploid),
            bool(dominant),
            _keeps(empty),
            as_number(max_missing, "max_missing"),
            as_integer(thin_distance, "thin_distance"),
            bool(one_per_locus),
        )
    except FileError as error:
        text = str(error)
        which = name if populations is None or text.startswith(name) else os.fspath(populations)
        raise FileError(text, which) from None
    return Data._of(core, dict(report))


def _sizes(network: Network, copies: Any) -> list[int]:
    if isinstance(copies, Mapping):
        missing = set(network.species) ^ set(copies)
        if missing:
            raise InvalidArgument(f"copies must have one number for each species (differ: {sorted(missing)})")
        return [as_integer(copies[name], f"copies[{name!r}]") for name in network.species]
    return [as_integer(c, "copies") for c in copies]


def _simulation(
    network: Network, copies: Any, u: Any, v: Any, sites: Any, seed: Any, polymorphic_only: Any
) -> tuple[Any, ...]:
    return (
        core_of(network, "network", Network),
        _sizes(network, copies),
        as_number(u, "u"),
        as_number(v, "v"),
        as_integer(sites, "sites"),
        as_seed(seed, "seed"),
        bool(polymorphic_only),
    )


def simulate_sites(
    network: Network,
    copies: Any,
    sites: int = 1000,
    *,
    u: float = 1.0,
    v: float = 1.0,
    seed: int = 1,
    polymorphic_only: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Counts ``red[sites, species]`` of markers that evolved on a network, and the tries for every site.

    copies: gene copies of every species, in the order of ``network.species`` or {species: copies}. A pure function of
    the seed: the first sites of a longer run are those of a shorter one.

    >>> from quintet import snp
    >>> network = snp.Network("(A:0.1,B:0.1);", theta=0.05)
    >>> snp.simulate_sites(network, [2, 2], 5)[0].shape
    (5, 2)
    """
    red, tries = _core.snp_simulate_sites(*_simulation(network, copies, u, v, sites, seed, polymorphic_only))
    return np.asarray(red), np.asarray(tries)


def simulate(
    network: Network,
    copies: Any,
    sites: int = 1000,
    *,
    u: float = 1.0,
    v: float = 1.0,
    seed: int = 1,
    polymorphic_only: bool = False,
) -> Data:
    """The same as :class:`Data`.

    >>> from quintet import snp
    >>> snp.simulate(snp.Network("(A:0.1,B:0.1);", theta=0.05), {"A": 2, "B": 2}, 100).sites
    100
    """
    return Data._of(_core.snp_simulate(*_simulation(network, copies, u, v, sites, seed, polymorphic_only)))
