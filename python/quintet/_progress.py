"""What ``progress=`` may be, as the callable that the bindings take."""

from __future__ import annotations

from typing import Any, Callable

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


def progress_callable(progress: bool | Progress | None) -> Progress | None:
    """None and False: no progress. True: a bar. A callable gets (stage, fraction) and cancels by returning False."""
    if progress is None or progress is False:
        return None
    if progress is True:
        return _Bar()
    if not callable(progress):
        raise TypeError(f"progress must be None, True or a callable(stage, fraction) (progress={progress!r})")
    return progress
