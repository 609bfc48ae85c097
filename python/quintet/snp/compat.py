"""The calls of the PhyNetPy extension that this family replaces, with its names and defaults.

Its coalescent rate ``coal`` is ``2 / theta``; ``u`` is the rate from allele 1 to 0, ``v`` from 0 to 1. Lengths are those
of the network in the file. New programs use :class:`quintet.snp.Likelihood`.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import _core
from .._arguments import as_integer, as_number
from .._errors import InvalidArgument
from ._data import Data, read_data
from ._likelihood import Likelihood
from ._network import Network, read_network

__all__ = ["SNP_LIKELIHOOD", "SNP_LIKELIHOOD_DATA", "benchmark_cuda_vs_cpu", "get_cuda_device_info"]


def _theta(coal: float) -> float:
    rate = as_number(coal, "coal")
    if not rate > 0:
        raise InvalidArgument(f"coal must be > 0 (coal={coal})")
    return 2 / rate


def _device(use_gpu: bool) -> str:
    return "auto" if use_gpu else "host"


def _grouped(data: Data, species_of: Mapping[str, str]) -> Data:
    missing = [name for name in data.species if name not in species_of]
    if missing:
        raise InvalidArgument(f"grouping must name the species of every sequence (missing: {', '.join(missing)})")
    names = list(dict.fromkeys(species_of[name] for name in data.species))
    member = np.array([[species_of[name] == species for species in names] for name in data.species], dtype=np.int64)
    return Data(names, data.red @ member, data.copies @ member, data.weights, data.dominant)


def _by_prefix(data: Data, leaves: Sequence[str]) -> dict[str, str]:
    """The leaf that a sequence's name begins with, the longest of several."""
    found = {}
    for name in data.species:
        fitting = [leaf for leaf in leaves if name.startswith(leaf)]
        if not fitting:
            raise InvalidArgument(f"auto_detect: no leaf's name begins the name of the sequence {name!r}")
        found[name] = max(fitting, key=len)
    return found


def _data(
    filename: str, network: Network, grouping: Mapping[str, Any] | None, auto_detect: bool
) -> Data:
    data = read_data(filename, haploid=True, empty="keep")
    if auto_detect:
        return _grouped(data, _by_prefix(data, network.species))
    if grouping is None:
        return data
    species_of: dict[str, str] = {}
    for key, value in grouping.items():
        if isinstance(value, str):
            species_of[str(key)] = value
        else:  # {species: sequences}
            species_of.update({str(name): str(key) for name in value})
    return _grouped(data, species_of)


def SNP_LIKELIHOOD(
    filename: str | os.PathLike[str],
    u: float = 0.5,
    v: float = 0.5,
    coal: float = 1,
    grouping: Mapping[str, Any] | None = None,
    auto_detect: bool = False,
    use_gpu: bool = True,
) -> float:
    """Log-likelihood of the markers of a NEXUS file on the network of the same file.

    grouping: {sequence: species}, or {species: sequences}; auto_detect groups sequences by the leaf that their name
    begins with. use_gpu=False keeps the work on the host.

    >>> import pathlib, tempfile
    >>> from quintet.snp import compat
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.nex"
    >>> _ = path.write_text('''#NEXUS
    ... begin data; dimensions ntax=2 nchar=3; format datatype=snp; matrix
    ... A 011
    ... B 010
    ... ; end;
    ... begin trees; tree t = (A:0.1,B:0.1); end;''')
    >>> compat.SNP_LIKELIHOOD(path) < 0
    True
    """
    name = os.fspath(filename)
    network = read_network(name, theta=_theta(coal))
    data = _data(name, network, grouping, auto_detect)
    return Likelihood(network, data, u=u, v=v, device=_device(use_gpu)).evaluate()


def SNP_LIKELIHOOD_DATA(
    filename: str | os.PathLike[str],
    set_reds: Mapping[str, Sequence[int]],
    u: float = 0.5,
    v: float = 0.5,
    coal: float = 1,
    copies: Mapping[str, int] | None = None,
    use_gpu: bool = True,
) -> float:
    """The same for counts of allele 1 that are given, ``set_reds = {species: [count of every site]}``, on the network of
    a NEXUS or Newick file. copies: gene copies of the species, 1 by default.

    >>> import pathlib, tempfile
    >>> from quintet.snp import compat
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.nwk"
    >>> _ = path.write_text("(A:0.1,B:0.1);")
    >>> compat.SNP_LIKELIHOOD_DATA(path, {"A": [0, 1], "B": [0, 1]}) < 0
    True
    """
    network = read_network(os.fspath(filename), theta=_theta(coal))
    names = list(set_reds)
    lengths = {len(list(set_reds[name])) for name in names}
    if len(lengths) != 1:
        raise InvalidArgument(f"set_reds must have as many counts for every species (lengths: {sorted(lengths)})")
    red = np.stack([np.asarray(set_reds[name]) for name in names], axis=1)
    sizes = [1 if copies is None else as_integer(copies[name], f"copies[{name!r}]") for name in names]
    return Likelihood(network, Data(names, red, sizes), u=u, v=v, device=_device(use_gpu)).evaluate()


def get_cuda_device_info() -> dict[str, Any]:
    """``{"available": bool, "device_count": int, "devices": [{"index", "name"}]}``: the GPUs that this build can use.

    >>> from quintet.snp import compat
    >>> compat.get_cuda_device_info()["device_count"] >= 0
    True
    """
    found = [(spelling, name) for spelling, name in _core.devices() if spelling.isdigit()]
    return {
        "available": bool(found),
        "device_count": len(found),
        "devices": [{"index": int(spelling), "name": name} for spelling, name in found],
    }


def benchmark_cuda_vs_cpu(filename: str | os.PathLike[str], iterations: int = 10) -> dict[str, Any]:
    """Median seconds of one evaluation on the host, and on the first GPU where there is one.

    ``{"cpu_time", "cpu_result", "gpu_time", "gpu_result", "speedup"}``; the last three are None without a GPU.

    >>> import pathlib, tempfile
    >>> from quintet.snp import compat
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.nex"
    >>> _ = path.write_text('''#NEXUS
    ... begin data; dimensions ntax=2 nchar=3; format datatype=snp; matrix
    ... A 011
    ... B 010
    ... ; end;
    ... begin trees; tree t = (A:0.1,B:0.1); end;''')
    >>> compat.benchmark_cuda_vs_cpu(path, 2)["cpu_time"] > 0
    True
    """
    count = as_integer(iterations, "iterations")
    if count < 1:
        raise InvalidArgument(f"iterations must be >= 1 (iterations={iterations})")
    name = os.fspath(filename)
    network = read_network(name, theta=_theta(1))
    data = read_data(name, haploid=True, empty="keep")

    def measure(device: str) -> tuple[float, float]:
        times = []
        value = 0.0
        for _ in range(count):
            likelihood = Likelihood(network, data, u=0.5, v=0.5, device=device)
            begin = time.perf_counter()
            value = likelihood.evaluate()
            times.append(time.perf_counter() - begin)
        return statistics.median(times), value

    cpu_time, cpu_result = measure("host")
    result: dict[str, Any] = {
        "cpu_time": cpu_time,
        "cpu_result": cpu_result,
        "gpu_time": None,
        "gpu_result": None,
        "speedup": None,
    }
    if get_cuda_device_info()["available"]:
        gpu_time, gpu_result = measure("0")
        result.update(gpu_time=gpu_time, gpu_result=gpu_result, speedup=cpu_time / gpu_time)
    return result
