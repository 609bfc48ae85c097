"""quintet.mpi: programs under mpirun against the plain functions."""

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

PROGRAM = pathlib.Path(__file__).with_name("mpi_program.py")
try:
    from quintet._mpi import library_version
except ImportError:
    IS_OPEN_MPI, MPIRUN = False, None
else:
    IS_OPEN_MPI = "Open MPI" in library_version()
    MPIRUN = shutil.which("mpirun.openmpi" if IS_OPEN_MPI else "mpirun.mpich") or shutil.which("mpirun")
ENVIRONMENT = dict(
    os.environ,
    OMPI_ALLOW_RUN_AS_ROOT="1",
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
    OMPI_MCA_btl_vader_single_copy_mechanism="none",
    OMPI_MCA_mpi_yield_when_idle="1",
    OMP_NUM_THREADS="1",
    OMP_WAIT_POLICY="passive",
    MPI4PY_MPIABI="openmpi" if IS_OPEN_MPI else "mpich",  # of mpi4py's own wheels, which serve both
)


def environment(folder):
    """That of ranks. mpi4py's wheels look for libmpi.so.12 of MPICH, which Debian calls libmpich.so.12: a link in `folder`."""
    loaded = {line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()}
    for library in loaded:
        if pathlib.Path(library).name.startswith("libmpich.so.12"):
            pathlib.Path(folder, "libmpi.so.12").symlink_to(library)
            before = os.environ.get("LD_LIBRARY_PATH")
            return {**ENVIRONMENT, "LD_LIBRARY_PATH": f"{folder}:{before}" if before else str(folder)}
    return ENVIRONMENT


def available():
    if importlib.util.find_spec("quintet._mpi") is None:
        return "quintet was built without MPI"
    if importlib.util.find_spec("mpi4py") is None:
        return "mpi4py is not installed"
    if MPIRUN is None:
        return "there is no mpirun"
    return ""


def run(folder, ranks, *arguments):
    flags = ["--oversubscribe", "--bind-to", "none"] if IS_OPEN_MPI else []
    return subprocess.run(
        [MPIRUN, *flags, "-n", str(ranks), sys.executable, *map(str, arguments)],
        env=environment(folder),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


NAMES = ["clusters", "lists", "ball", "sheet", "matrices", "products", "trees", "errors"]


@pytest.mark.skipif(bool(available()), reason=available())
@pytest.mark.slow
def test_the_page_runs(tmp_path):
    page = (PROGRAM.parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
    blocks = [text for text in re.findall(r"```python\n(.*?)```", page, flags=re.S) if "mpi4py" in text]
    assert len(blocks) == 1
    program = tmp_path / "program.py"
    program.write_text(blocks[0], encoding="utf-8")
    done = run(tmp_path, 2, program)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(bool(available()), reason=available())
@pytest.mark.parametrize(
    "ranks", [3, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2, 4, 7))]
)
def test_ranks_have_the_bits_of_one_process(ranks, tmp_path):
    done = run(tmp_path, ranks, PROGRAM, *NAMES)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in NAMES:
        assert done.stdout.count(f"{name}: passed") == ranks, done.stdout + done.stderr


def test_the_package_does_without_mpi():
    words = "import sys, quintet; quintet.hdbscan; assert not {'mpi4py', 'quintet._mpi'} & sys.modules.keys()"
    subprocess.run([sys.executable, "-c", words], check=True)


def test_a_build_without_mpi_says_so():
    words = (
        "import sys, quintet\nsys.modules['quintet._mpi'] = None\n"
        "try:\n    quintet.mpi\nexcept ImportError as error:\n    assert 'built where an MPI is' in str(error), error\n"
        "else:\n    raise AssertionError\n"
    )
    subprocess.run([sys.executable, "-c", words], check=True)


@pytest.mark.skipif(importlib.util.find_spec("quintet._mpi") is None, reason="quintet was built without MPI")
def test_without_mpi4py_it_says_so():
    words = (
        "import sys, quintet\nsys.modules['mpi4py'] = None\n"
        "try:\n    quintet.mpi.Communicator(5)\nexcept ImportError as error:\n    assert 'mpi4py' in str(error), error\n"
        "else:\n    raise AssertionError\n"
    )
    subprocess.run([sys.executable, "-c", words], check=True)


@pytest.mark.skipif(importlib.util.find_spec("quintet._mpi") is None, reason="quintet was built without MPI")
def test_mpi4py_with_another_mpi_is_refused():
    words = (
        "import sys, types, quintet\n"
        "theirs = types.ModuleType('mpi4py.MPI')\n"
        "theirs.Comm, theirs.COMM_NULL = type('Comm', (), {}), None\n"
        "theirs.Get_library_version = lambda: 'Another MPI, version 7'\n"
        "package = types.ModuleType('mpi4py')\npackage.MPI = theirs\n"
        "sys.modules.update({'mpi4py': package, 'mpi4py.MPI': theirs})\n"
        "try:\n    quintet.mpi.Communicator(theirs.Comm())\n"
        "except ImportError as error:\n    assert \"uses 'Another MPI, version'\" in str(error), error\n"
        "else:\n    raise AssertionError\n"
    )
    subprocess.run([sys.executable, "-c", words], check=True)
