"""The error of a declaration that cannot become a contract, and the names in its messages."""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final


class DeclarationRefused(TypeError):
    """The function cannot be a tool, resource or prompt. The message names function and parameter, and says what to do."""


class NotSupported(TypeError):
    """A type hint cannot be supported. Carries the reason as a clause that follows "which"; empty if it is just unknown."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where in the author's code a type hint stands, for error messages."""

    function: str
    part: str = ""
    """`parameter 'a'`, or `the result`."""

    def refuse(self, problem: str) -> DeclarationRefused:
        """The error for this place."""
        return DeclarationRefused(f"{self.function}: {self.part} {problem}" if self.part else f"{self.function}: {problem}")

    def parameter(self, name: str) -> Place:
        """The place of a parameter of the same function."""
        return Place(function=self.function, part=f"parameter {name!r}")


def place_of(function: Callable[..., Any]) -> Place:
    """The place of a function."""
    return Place(function=name_of(function))


def name_of(function: Callable[..., Any]) -> str:
    """How error messages name a function."""
    name = getattr(function, "__name__", None)
    return f"{name}()" if name else repr(function)


def type_name(hint: Any) -> str:
    """How error messages name a type."""
    return hint.__name__ if isinstance(hint, type) and not typing.get_args(hint) else str(hint)


SUPPORTED: Final = (
    "str, int, float, bool, list, dict, an enum, a dataclass, a TypedDict, a msgspec struct or a pydantic model"
)
"""The general advice. docs/TYPES.md lists every type."""

_ADVICE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "IO": "str or bytes",
        "TextIO": "str",
        "BinaryIO": "bytes",
        "BytesIO": "bytes",
        "StringIO": "str",
        "Callable": "a str or an enum that names the function",
        "complex": "tuple[float, float]",
        "range": "two int parameters",
        "slice": "two int parameters",
        "type": "a str or an enum that names the type",
        "Pattern": "str",
        "deque": "list",
        "Generator": "list",
        "AsyncGenerator": "list",
        "AsyncIterator": "list",
        "OrderedDict": "dict",
        "defaultdict": "dict",
        "Counter": "dict[str, int]",
        "array": "list",
        "ndarray": "list[float]",
        "DataFrame": "list[dict[str, Any]]",
        "Series": "list[float]",
    }
)
"""What to use instead of a type, by its name."""


def advice_for(parts: Iterable[Any]) -> str:
    """What to use instead of an unsupported type. `parts` are the type and everything inside it."""
    names = (getattr(typing.get_origin(part) or part, "__name__", "") for part in parts)
    return next((_ADVICE[name] for name in names if name in _ADVICE), SUPPORTED)
