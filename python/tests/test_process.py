"""What a Python process does to the library: other OpenMP runtimes, forks, signals, imports."""

from __future__ import annotations

import importlib.util
import itertools
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import quintet
from conftest import interruptible
from quintet import linalg

Run = Callable[..., "subprocess.CompletedProcess[str]"]

USE = """
import numpy as np, quintet
quintet.set_num_threads(2)
a = np.random.default_rng(0).standard_normal((300, 8, 8))
s = quintet.linalg.svdvals(a)
assert abs(s - np.linalg.svd(a, compute_uv=False)).max() < 1e-12
"""


def test_import_is_light(python: Run) -> None:
    done = python(
        "import sys, time; t = time.perf_counter(); import numpy; n = time.perf_counter(); import quintet;"
        "print(time.perf_counter() - n, *sorted(m for m in ('sklearn', 'torch', 'scipy', 'matplotlib', 'pandas') "
        "if m in sys.modules))"
    )
    assert done.returncode == 0, done.stderr
    seconds, *loaded = done.stdout.split()
    assert not loaded
    assert float(seconds) < 1.0  # 0.03 s on a machine with nothing else to do


def test_show_config(capsys: pytest.CaptureFixture[str]) -> None:
    quintet.show_config()
    out = capsys.readouterr().out
    assert out.startswith(f"quintet {quintet.__version__}")
    for name in ("compiler", "OpenMP", "threads", "devices"):
        assert re.search(rf"^  {name} +\S", out, re.M)


def test_threads() -> None:
    before = quintet.get_num_threads()
    with quintet.num_threads(3):
        assert quintet.get_num_threads() == 3
        with quintet.num_threads(1):
            assert quintet.get_num_threads() == 1
        assert quintet.get_num_threads() == 3
    assert quintet.get_num_threads() == before
    for bad, kind in ((0, ValueError), (1.5, TypeError), (True, TypeError)):
        with pytest.raises(kind, match="n must"):
            quintet.set_num_threads(bad)  # type: ignore[arg-type]


def test_jobs_are_those_of_the_calling_thread() -> None:
    from quintet._threads import own_threads

    before = quintet.get_num_threads()
    seen: dict[int, list[int]] = {}
    together = threading.Barrier(2)

    def work(jobs: int) -> None:
        with own_threads(jobs):
            together.wait()
            seen[jobs] = [quintet.get_num_threads()]
            together.wait()
            with own_threads(None):
                seen[jobs].append(quintet.get_num_threads())
        together.wait()
        seen[jobs].append(quintet.get_num_threads())

    workers = [threading.Thread(target=work, args=(jobs,)) for jobs in (2, 5)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert seen == {2: [2, 2, before], 5: [5, 5, before]} and quintet.get_num_threads() == before
    with pytest.raises(quintet.InvalidArgument, match="n_jobs must not be 0"), own_threads(0):
        pass


def test_missing_extras_are_named(python: Run) -> None:
    done = python(
        "import sys; sys.modules['torch'] = None; sys.modules['sklearn'] = None\n"
        "import quintet\n"
        "for name, extra in (('torch', 'torch'), ('HDBSCAN', 'sklearn')):\n"
        "    try: getattr(quintet, name)\n"
        "    except ImportError as error: assert f'quintet[{extra}]' in str(error), error\n"
        "    else: raise SystemExit(name)\n"
    )
    assert done.returncode == 0, done.stderr + done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "order",
    list(itertools.permutations(["quintet", "sklearn", "numba"], 3))
    + [
        pytest.param(p, marks=pytest.mark.torch)
        for p in itertools.permutations(["quintet", "torch", "sklearn"], 3)
    ]
    + list(itertools.permutations(["quintet", "sparse_dot_mkl"], 2)),
    ids="-".join,
)
def test_import_orders(python: Run, order: tuple[str, ...]) -> None:
    """Every order, with work of each between the imports."""
    work = {
        "quintet": USE,
        "torch": "import torch; torch.set_num_threads(2); torch.randn(400, 400) @ torch.randn(400, 400)\n",
        "sklearn": "import numpy as np; from sklearn.cluster import KMeans\n"
        "KMeans(3, n_init=1).fit(np.random.default_rng(0).random((600, 4)))\n",
        "numba": "import numba, numpy as np\n"
        "@numba.njit(parallel=True)\ndef f(x):\n    s = 0.0\n    for i in numba.prange(len(x)):\n        s += x[i]\n"
        "    return s\nf(np.ones(100000))\n",
        "sparse_dot_mkl": "import scipy.sparse, sparse_dot_mkl\n"
        "m = scipy.sparse.random(500, 500, 0.01, 'csr'); sparse_dot_mkl.dot_product_mkl(m, m)\n",
    }
    for name in order:
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    environment = {}
    if "sparse_dot_mkl" in order and "MKL_RT" not in os.environ:  # it does not look where pip puts MKL
        found = sorted(pathlib.Path(sys.prefix, "lib").glob("libmkl_rt.so*"))
        if not found:
            pytest.skip("MKL is not installed")
        environment["MKL_RT"] = str(found[0])
    done = python("".join(work[name] for name in order) + USE, **environment)
    assert done.returncode == 0, done.stderr[-2000:]


def test_fork_after_use(python: Run) -> None:
    done = python(
        USE + "import os\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    ok = (quintet.linalg.svdvals(a) == s).all()\n"
        "    os._exit(0 if ok else 7)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0\n"
        "assert (quintet.linalg.svdvals(a) == s).all()\n",
        timeout=60,
    )
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.slow
@pytest.mark.torch
def test_workers_of_a_data_loader(python: Run) -> None:
    pytest.importorskip("torch")
    done = python(
        USE + "import torch\n"
        "class D(torch.utils.data.Dataset):\n"
        "    def __len__(self): return 8\n"
        "    def __getitem__(self, i): return float(quintet.linalg.svdvals(a[i])[0])\n"
        "got = [float(x) for x in torch.utils.data.DataLoader(D(), num_workers=2, batch_size=None)]\n"
        "assert np.allclose(got, s[:8, 0])\n"
    )
    assert done.returncode == 0, done.stderr[-2000:]


INTERRUPTED = {
    "svd": "quintet.linalg.svd(np.random.default_rng(0).standard_normal((400, 256, 256)))",
    "poincare": "x = np.random.default_rng(0).random((60000, 64)) / 10; quintet.poincare.nearest(x, x, 10)",
    "hdbscan": "import quintet.hdbscan; quintet.HDBSCAN().fit(np.random.default_rng(0).random((60000, 64)))",
    "spgemm": "import scipy.sparse, quintet.sparse\n"
    "A = scipy.sparse.random(150000, 150000, 4e-4, 'csr', rng=np.random.default_rng(0)); print('ready', flush=True)\n"
    "quintet.sparse.multiply(A, A)",
}


@pytest.mark.slow
@pytest.mark.parametrize("family", list(INTERRUPTED))
def test_interrupt(family: str) -> None:
    """Ctrl-C ends a long call with KeyboardInterrupt, soon."""
    if family in ("hdbscan", "spgemm"):
        pytest.importorskip("sklearn" if family == "hdbscan" else "scipy")
    program = (
        "import numpy as np, time, quintet\n"
        "try:\n    print('ready', flush=True)\n"
        + "".join(f"    {line}\n" for line in INTERRUPTED[family].split("\n"))
        + "except KeyboardInterrupt:\n    print('interrupted', time.time(), flush=True)\n"
        "else:\n    print('finished', flush=True)\n"
        "quintet.linalg.svd(np.eye(3))\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, preexec_fn=interruptible  # noqa: PLW1509 - one thread forks
    ) as process:
        assert process.stdout is not None
        for _ in range(2 if "ready" in INTERRUPTED[family] else 1):
            assert process.stdout.readline() == "ready\n"
        time.sleep(3.0)
        sent = time.time()
        process.send_signal(signal.SIGINT)
        word, *rest = process.stdout.readline().split()
        assert word == "interrupted", f"{word}: the work was too short"
        assert process.wait(timeout=60) == 0
    assert float(rest[0]) - sent < 3.0  # 0.3 s on a machine with nothing else to do


def test_no_leak() -> None:
    resource = pytest.importorskip("resource")
    a = np.random.default_rng(0).standard_normal((200, 16, 16))

    def peak() -> int:
        for _ in range(12):
            linalg.svd(a)
            linalg.randomized_svd(a[:10], 3)
            with pytest.raises(TypeError):
                linalg.svd(a.astype(int))
        size: int = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return size

    peak()
    before = peak()
    assert peak() - before < 4000  # kB; a leaked result would be 10 MB


def overhead(f: Callable[[], Any], core: Callable[[], Any], repeats: int = 2000) -> float:
    """Microseconds of f that are not core's; the least of several."""

    def least(g: Callable[[], Any]) -> float:
        times = []
        for _ in range(7):
            start = time.perf_counter()
            for _ in range(repeats // 7):
                g()
            times.append((time.perf_counter() - start) / (repeats // 7))
        return min(times) * 1e6

    return least(f) - least(core)


@pytest.mark.slow
def test_overhead_of_a_call() -> None:
    from quintet import _core, _svd_options

    options = _svd_options.decompose_options("full")
    a = np.random.default_rng(0).standard_normal((1, 8, 8)).astype(np.float32)
    u, v, s = np.empty((1, 8, 8), np.float32), np.empty((1, 8, 8), np.float32), np.empty((1, 8), np.float32)
    status, sweeps = np.empty((2, 1), np.int32)
    microseconds = overhead(
        lambda: linalg.svd(a), lambda: _core.svd_decompose(a, u, s, v, status, sweeps, options)
    )
    assert microseconds < 30  # 6 to 9 on a machine with nothing else to do
