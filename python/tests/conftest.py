from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20)


def interruptible() -> None:
    """For a child: programs that a shell starts in the background ignore SIGINT, and hand that on."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def python() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a program in a Python of its own."""

    def run(program: str, timeout: float = 400, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            preexec_fn=interruptible,
        )

    return run


def layouts(a: np.ndarray) -> dict[str, np.ndarray]:
    """The same values in every layout that callers have."""
    wide = np.zeros(a.shape[:-1] + (2 * a.shape[-1],), a.dtype)
    wide[..., ::2] = a
    rows = np.zeros(a.shape[:-1] + (a.shape[-1] + 3,), a.dtype)
    rows[..., : a.shape[-1]] = a
    raw = np.zeros(a.nbytes + 1, np.uint8)
    misaligned = raw[1:].view(a.dtype).reshape(a.shape)
    misaligned[...] = a
    read_only = a.copy()
    read_only.flags.writeable = False
    return {
        "C": np.ascontiguousarray(a),
        "F": np.asfortranarray(a),
        "columns apart": wide[..., ::2],
        "rows apart": rows[..., : a.shape[-1]],
        "reversed": np.ascontiguousarray(a[::-1])[::-1],
        "misaligned": misaligned,
        "big-endian": a.astype(a.dtype.newbyteorder(">")),
        "read-only": read_only,
    }


def raises(kind: type[BaseException], match: str) -> Any:
    return pytest.raises(kind, match=match)
