"""Host threads: their number and their OpenMP runtime."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from types import TracebackType

from . import _core
from ._errors import InvalidArgument

__all__ = ["get_num_threads", "num_threads", "set_num_threads"]

_wanted = 0
_is_forked = False


def _after_fork_in_child() -> None:
    # The other threads of a runtime do not live on in a forked child: a region of several would wait for ever.
    global _is_forked
    _is_forked = True
    _core.set_threads(1)
    _core.set_own_threads(0)


os.register_at_fork(after_in_child=_after_fork_in_child)


def _count(n: int | None, name: str = "n") -> int:
    """joblib's convention: None is the default, -1 all cores, -2 all but one."""
    if n is None:
        return 0
    if isinstance(n, bool) or not hasattr(n, "__index__"):
        raise TypeError(f"{name} must be an integer or None ({name}={n!r})")
    n = int(n)
    if n == 0:
        raise InvalidArgument(f"{name} must not be 0 ({name}=0)")
    if n < 0:
        return max(1, len(os.sched_getaffinity(0)) + 1 + n)
    if n >= 2**31:
        raise InvalidArgument(f"{name} must be below 2^31 ({name}={n})")
    return n


def set_num_threads(n: int | None) -> None:
    """Number of host threads that all functions use from now on; None brings back the default.

    The default is ``OMP_NUM_THREADS`` or all cores, and threadpoolctl may limit it; a number set here is not limited
    by it. Negative numbers count from the cores: -1 is all of them. Results have the same bits for any number. In a
    forked child the number is 1, whatever is set.

    >>> import quintet
    >>> quintet.set_num_threads(2)
    >>> quintet.get_num_threads()
    2
    >>> quintet.set_num_threads(None)
    """
    global _wanted
    wanted = _count(n)
    _core.set_threads(1 if _is_forked else wanted)
    _wanted = wanted


def get_num_threads() -> int:
    """Number of host threads that functions use now, >= 1."""
    return _core.threads()


class num_threads:
    """``with quintet.num_threads(n):`` uses `n` threads inside, for all Python threads.

    >>> import quintet
    >>> with quintet.num_threads(1):
    ...     quintet.get_num_threads()
    1
    """

    def __init__(self, n: int | None) -> None:
        _count(n)
        self._n = n
        self._before: list[int] = []

    def __enter__(self) -> num_threads:
        self._before.append(_wanted)
        set_num_threads(self._n)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        set_num_threads(self._before.pop() or None)


@contextlib.contextmanager
def own_threads(n: int | None, name: str = "n_jobs") -> Iterator[None]:
    """The calls of this Python thread use `n` threads inside; those of others go on as before. None: no change."""
    if n is None or _is_forked:
        yield
        return
    before = _core.set_own_threads(_count(n, name))
    try:
        yield
    finally:
        _core.set_own_threads(before)
