"""Ctrl-C in every family: KeyboardInterrupt comes soon, and the next call works."""

from __future__ import annotations

from collections.abc import Callable

import pytest

PROGRAM = """
import os, signal, sys, threading, time
import numpy as np
import quintet
{setup}
main = threading.main_thread().ident
sent = []

def interrupt():
    time.sleep({wait})
    sent.append((time.monotonic(), time.clock_gettime(time.pthread_getcpuclockid(main))))
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
try:
    {call}
except KeyboardInterrupt:
    wall, used = time.monotonic() - sent[0][0], time.thread_time() - sent[0][1]
    {again}
    print("interrupted", wall, used)
else:
    print("finished", time.monotonic())
"""

CASES = {
    "hdbscan": (
        "X = np.random.default_rng(0).normal(size=(60000, 256)).astype(np.float32)",
        "quintet.hdbscan.cluster(X)",
        "assert quintet.hdbscan.cluster(X[:500]).labels.shape == (500,)",
    ),
    "hdbscan, few dimensions": (
        "X = np.random.default_rng(0).normal(size=(2000000, 3))",
        "quintet.hdbscan.cluster(X)",
        "assert quintet.hdbscan.cluster(X[:500]).labels.shape == (500,)",
    ),
    "neighbours": (
        "X = np.random.default_rng(0).normal(size=(100000, 128)).astype(np.float32)",
        "quintet.neighbours.nearest(X, 5)",
        "assert quintet.neighbours.nearest(X[:500], 5).indices.shape == (500, 5)",
    ),
    "poincare": (
        "X = 0.01 * np.random.default_rng(0).normal(size=(60000, 100)).astype(np.float32)",
        "quintet.poincare.nearest(X, X, 5)",
        "assert quintet.poincare.distances(X[:50], X[:50]).shape == (50, 50)",
    ),
    "poincare, mean": (
        "X = 0.01 * np.random.default_rng(0).normal(size=(2000000, 20))",
        "[quintet.poincare.frechet_mean(X, tolerance=1e-300) for _ in range(9)]",
        "assert quintet.poincare.frechet_mean(X[:50]).shape == (20,)",
    ),
    "svd": (
        "A = np.random.default_rng(0).normal(size=(8000, 100, 100)).astype(np.float32)",
        "quintet.linalg.svd(A)",
        "assert quintet.linalg.svdvals(A[:5]).shape == (5, 100)",
    ),
    "svd, gradients": (
        "U = np.random.default_rng(0).normal(size=(3000, 100, 100))\\n"
        "S = np.ones((3000, 100)) + np.arange(100)",
        "quintet.linalg.svd_gradient((U, S, U), U)",
        "assert quintet.linalg.svdvals(np.ones((5, 10, 10))).shape == (5, 10)",
    ),
    "svd of one large matrix": (
        "A = np.random.default_rng(0).normal(size=(2000, 2000))",
        "quintet.linalg.svdvals(A)",
        "assert quintet.linalg.svdvals(A[:20, :20]).shape == (20,)",
    ),
    "sparse": (
        "import scipy.sparse as sp\\n"
        "g = np.random.default_rng(0)\\n"
        "n, k = 20000, 600\\n"
        "A = sp.csr_array((np.ones(n * k), g.integers(0, n, n * k).astype(np.int32), np.arange(0, n * k + 1, k)), (n, n))\\n"
        "E = sp.eye_array(n, format='csr')",
        "quintet.sparse.multiply(A, A, mask=E)",
        "assert quintet.sparse.multiply(E, E).nnz == n",
    ),
    "sparse, sorted": (
        "import scipy.sparse as sp\\n"
        "n, k = 20000, 600\\n"
        "columns = 33 * np.arange(k, dtype=np.int32) + np.arange(n, dtype=np.int32)[:, None] % 33\\n"
        "A = sp.csr_array((np.ones(n * k), columns.ravel(), np.arange(0, n * k + 1, k)), (n, n))\\n"
        "E = sp.eye_array(n, format='csr')",
        "quintet.sparse.multiply(A, A, mask=E)",
        "assert quintet.sparse.multiply(E, E).nnz == n",
    ),
    "snp": (
        "from quintet import snp\\n"
        "net = snp.Network('((((A:.01,B:.01):.01,C:.02):.01,(D:.01,E:.01):.02):.01,F:.04);', theta=.01)\\n"
        "data = snp.simulate(net, [30] * 6, 4000)\\n"
        "L = snp.Likelihood(net, data)",
        "L.optimise(max_iterations=10000, tolerance=1e-300)",
        "assert np.isfinite(L.evaluate())",
    ),
    "snp, chains": (
        "from quintet import snp\\n"
        "net = snp.Network('(((A:.01,B:.01):.01,C:.02):.01,D:.03);', theta=.01)\\n"
        "data = snp.simulate(net, [8] * 4, 2000)\\n"
        "s = snp.Sampler(data, iterations=100000, chains=2, threads=2)",
        "[s.advance() for _ in range(100)]",
        "s.take_samples()",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("family", list(CASES))
def test_ctrl_c(family: str, python: Callable[..., object]) -> None:
    if family.startswith("sparse"):
        pytest.importorskip("scipy")
    setup, call, again = CASES[family]
    found = python(
        PROGRAM.format(setup=setup.replace("\\n", "\n"), call=call, again=again, wait=0.7), OMP_WAIT_POLICY="passive"
    )
    assert found.returncode == 0, found.stderr  # type: ignore[attr-defined]
    word, wall, used = found.stdout.split()  # type: ignore[attr-defined]
    assert word == "interrupted", found.stdout  # type: ignore[attr-defined]
    # Processor time of the thread that waits: the machine may be busy with other things.
    assert float(used) < 0.3, f"{used} s of processor time, {wall} s"


@pytest.mark.slow
@pytest.mark.parametrize("family", ["hdbscan", "neighbours", "snp"])
def test_handlers_run_during_a_call(family: str, python: Callable[..., object]) -> None:
    """Of every signal; those that raise nothing do not end the call."""
    setup, call, _ = CASES[family]
    setup = setup.replace("\\n", "\n")
    program = f"""
import numpy as np, quintet, os, signal, threading
{setup}
calls = []
signal.signal(signal.SIGALRM, lambda *_: calls.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    {call}
except KeyboardInterrupt:
    pass
signal.setitimer(signal.ITIMER_REAL, 0)
print(len(calls))
"""
    found = python(program, OMP_WAIT_POLICY="passive")
    assert found.returncode == 0, found.stderr  # type: ignore[attr-defined]
    assert int(found.stdout) >= 3  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "call",
    [
        "quintet.poincare.frechet_mean(np.full((3000000, 20), 0.01), tolerance=1e-300)",
        "quintet.neighbours.nearest(np.random.default_rng(0).normal(size=(50000, 64)), 5)",
        "quintet.hdbscan.cluster(np.random.default_rng(0).normal(size=(50000, 64)), progress=lambda *_: True)",
    ],
)
def test_daemon_threads_do_not_abort_the_end(call: str, python: Callable[..., object]) -> None:
    """They are in the library while the interpreter ends."""
    program = f"""
import threading, time
import numpy as np, quintet
started = threading.Event()
def work():
    started.set()
    while True:
        {call}
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
started.wait()
time.sleep(1)
print("ends")
"""
    found = python(program, OMP_WAIT_POLICY="passive")
    assert found.returncode == 0, found.stderr  # type: ignore[attr-defined]
    assert (found.stdout, found.stderr) == ("ends\n", "")  # type: ignore[attr-defined]
