"""Options as the bindings read them: frozen dataclasses, where every member has its check, once.

Functions and estimators give their arguments by name to :func:`read_options`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, fields
from functools import cache, lru_cache
from typing import Any, TypeVar, cast

from ._arguments import choice_index

Options = TypeVar("Options")
Result = TypeVar("Result")


def checked(check: Callable[[Any, str], Any], default: Any = None) -> Any:
    return field(default=default, metadata={"check": check})


def as_flag(value: Any, name: str) -> bool:
    return bool(value)


def choice(*allowed: str) -> Callable[[Any, str], int]:
    return lambda value, name: choice_index(value, name, allowed)


def remembered(function: Callable[..., Result]) -> Callable[..., Result]:
    """`function` of hashable arguments, which small calls meet again and again: they do not wait for the checks."""
    known = lru_cache(maxsize=256, typed=True)(function)

    def call(*arguments: Any) -> Result:
        try:
            return known(*arguments)
        except TypeError:  # also of an argument without a hash; a failed check has the better message
            return function(*arguments)

    return call


@remembered
def _read(kind: Any, *values: Any) -> Any:
    return kind(**{m.name: m.metadata["check"](value, m.name) for m, value in zip(fields(kind), values)})


@cache
def _defaults(kind: Any) -> dict[str, Any]:
    return {m.name: m.default for m in fields(kind)}


def read_options(kind: type[Options], arguments: Mapping[str, Any], **more: Any) -> Options:
    """The members of `kind` out of the caller's arguments, checked; arguments without a member are left out."""
    get = ({**arguments, **more} if more else arguments).get
    return cast(Options, _read(kind, *[get(name, default) for name, default in _defaults(cast(Any, kind)).items()]))
