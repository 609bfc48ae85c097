"""A plugin of pytest: other packages' tests under quintet.sparse.patch(), which takes products of any size.

    PYTHONPATH=python/tests python -m pytest -p patched_products --pyargs scipy.sparse.tests.test_base

The last line says how many products were taken; if there are none, the tests fail."""

from __future__ import annotations

from typing import Any

import pytest

from quintet import sparse


def pytest_sessionstart(session: Any) -> None:
    sparse.patch(min_products=0)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: Any, exitstatus: int) -> None:
    report = sparse.patch_report()
    if exitstatus == 0 and not report["sparse"]:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any) -> None:
    terminalreporter.write_line(f"products under patch(): {sparse.patch_report()}")
