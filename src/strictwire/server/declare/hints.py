"""The type hints of the author's functions, resolved and compared."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from typing import Any

from strictwire.server.declare.refused import place_of, type_name


def read_hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The type hints of a function. Raises DeclarationRefused: a name in them is not defined."""
    try:
        return typing.get_type_hints(_hinted(function), include_extras=True)
    except (NameError, TypeError) as exc:
        raise place_of(function).refuse(
            f"its type hints cannot be resolved ({exc}); use a function, and only types that its module defines or imports"
        ) from exc


def _hinted(function: Callable[..., Any]) -> Any:
    """Where the hints of something that can be called are: a class and an object have them in a method."""
    if isinstance(function, type):
        return function.__init__  # type: ignore[misc]  # the class itself is called, so its own __init__ is meant
    if isinstance(function, functools.partial):
        return function.func
    return function if inspect.isroutine(function) else type(function).__call__


def find_mismatch(wanted: Any, provided: Any) -> str | None:
    """The name of a provided type that is surely not the wanted one. Only plain classes are compared."""
    if not _is_plain_class(wanted) or not _is_plain_class(provided):
        return None
    try:
        return None if issubclass(provided, wanted) else type_name(provided)
    except TypeError:  # a Protocol whose members are not only methods
        return None


def _is_plain_class(hint: Any) -> bool:
    return isinstance(hint, type) and hint is not Any and not typing.get_args(hint)
