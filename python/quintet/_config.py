"""What this copy of the library is."""

from __future__ import annotations

import os
import sys
from typing import Any

from . import _core


def config() -> dict[str, Any]:
    """The facts that :func:`show_config` prints."""
    info = dict(_core.build_info())
    openmp = _core.file_of("GOMP_parallel") or _core.file_of("__kmpc_fork_call")
    info["openmp"] = os.path.realpath(openmp) if openmp else "unknown"
    info["threads"] = _core.threads()
    info["devices"] = [f"{spelling}: {name}" for spelling, name in _core.devices()]
    info["other_openmp"] = _other_runtimes(info["openmp"])
    info["library"] = _library()
    info["python"] = sys.version.split()[0]
    return info


def _mapped_files() -> list[str]:
    try:
        with open("/proc/self/maps", encoding="utf-8") as maps:
            return sorted({line.split(maxsplit=5)[5].strip() for line in maps if ".so" in line})
    except OSError:
        return []


def _other_runtimes(ours: str) -> list[str]:
    names = ("libgomp", "libomp.", "libomp-", "libiomp5", "libomp5")
    return [f for f in _mapped_files() if os.path.basename(f).startswith(names) and os.path.realpath(f) != ours]


def _library() -> str:
    """The shared library of the instruction level that the loader has picked, or the module itself."""
    for file in _mapped_files():
        if os.path.basename(file).startswith("libquintet.so"):
            return file
    return str(_core.__file__)


def show_config() -> None:
    """Prints version, commit, compiler, instruction level, OpenMP runtime, threads, devices, and other OpenMP runtimes
    in this process.

    >>> import quintet
    >>> quintet.show_config()  # doctest: +ELLIPSIS
    quintet ...
    """
    info = config()
    commit = f" ({info['commit']})" if info["commit"] else ""
    print(f"quintet {info['version']}{commit}")
    rows = [
        ("compiler", f"{info['compiler']}, {info['build_type']}"),
        ("instructions", info["host_architecture"]),
        ("offload targets", info["offload_targets"]),
        ("library", info["library"]),
        ("OpenMP", info["openmp"]),
        ("other OpenMP", ", ".join(info["other_openmp"]) or "none"),
        ("threads", str(info["threads"])),
        ("devices", "; ".join(info["devices"])),
        ("Python", info["python"]),
    ]
    for name, value in rows:
        print(f"  {name:<16}{value}")
