"""What ``progress=`` may be, as the callable that the bindings take."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ._errors import Cancelled

Progress = Callable[[str, float], Any]


class _Bar:
    """tqdm's bar, one for each stage."""

    def __init__(self) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError as error:
            raise ImportError("progress=True needs tqdm: pip install tqdm, or pass a callable(stage, fraction)") from error
        self._tqdm = tqdm
        self._bar: Any = None
        self._stage = ""

    def __call__(self, stage: str, fraction: float) -> None:
        if stage != self._stage or self._bar is None:
            self.close()
            self._stage = stage
            self._bar = self._tqdm(total=1.0, desc=stage, bar_format="{l_bar}{bar}| {elapsed}")
        self._bar.update(fraction - self._bar.n)
        if fraction >= 1.0:
            self.close()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def is_off(progress: bool | Progress | None) -> bool:
    return progress is None or progress is False


def progress_callable(progress: bool | Progress | None) -> Progress | None:
    """None and False: no progress. True: a bar. A callable gets (stage, fraction) and cancels by returning False."""
    if is_off(progress):
        return None
    if progress is True:
        return _Bar()
    if not callable(progress):
        raise TypeError(f"progress must be None, True or a callable(stage, fraction) (progress={progress!r})")
    return progress


def blocks(progress: bool | Progress | None, stage: str, total: int, least: int = 1) -> Iterator[slice]:
    """Slices of 0 ... total, which a caller computes one after another; at most 50, of at least `least` each. Without
    progress it is one. Cancelled where the callable returns False."""
    report = progress_callable(progress)
    size = max(total, 1) if report is None else max(least, -(-total // 50), 1)
    for first in range(0, max(total, 1), size):
        last = min(first + size, total)
        yield slice(first, last)
        if report is not None and report(stage, last / max(total, 1)) is False:
            raise Cancelled(f"cancelled by the progress callback in stage '{stage}'")
