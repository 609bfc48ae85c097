"""Options as the bindings read them: frozen dataclasses, where every member has its check, once.

Functions and estimators give their arguments by name to :func:`read_options`.
"""

from __future__ import annotations

from dataclasses import field, fields
from typing import Any, Callable, Mapping, TypeVar

from ._arguments import choice_index

Options = TypeVar("Options")


def checked(check: Callable[[Any, str], Any], default: Any = None) -> Any:
    return field(default=default, metadata={"check": check})


def as_flag(value: Any, name: str) -> bool:
    return bool(value)


def choice(*allowed: str) -> Callable[[Any, str], int]:
    return lambda value, name: choice_index(value, name, allowed)


def read_options(kind: type[Options], arguments: Mapping[str, Any], **more: Any) -> Options:
    """The members of `kind` out of the caller's arguments, checked; arguments without a member are left out."""
    given = {**arguments, **more}
    members = fields(kind)  # type: ignore[arg-type]
    return kind(**{m.name: m.metadata["check"](given.get(m.name, m.default), m.name) for m in members})
