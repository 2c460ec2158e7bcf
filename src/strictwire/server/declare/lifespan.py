"""The lifespan of a server: a function of the author that opens what the server needs and closes it at the end.

It runs once in each worker process, after the fork, on the event loop that serves the calls.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias, get_args

from strictwire.server.declare.hints import read_hints
from strictwire.server.declare.refused import place_of

Lifespan: TypeAlias = Callable[[Any], AbstractAsyncContextManager[Any]] | Callable[[Any], AsyncIterator[Any]]
"""A function of the server, with or without `@asynccontextmanager`. It yields once."""


class LifespanFailed(Exception):
    """The lifespan, or a dependency of the whole server, raised. `__cause__` is what it raised."""

    def __init__(self, part: str, *, at_start: bool, cause: BaseException) -> None:
        super().__init__(part, at_start)
        self.part = part
        self.at_start = at_start
        self.cause = cause

    def __str__(self) -> str:
        when = "when the server started" if self.at_start else "when the server ended"
        return f"{self.part} raised {type(self.cause).__name__} {when}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LifespanSpec:
    """A lifespan function that has been checked."""

    open: Callable[[Any], AbstractAsyncContextManager[Any]]
    name: str
    yields: Any
    """The type of its value; Any if it has no type hint."""


def read_lifespan(function: Any) -> LifespanSpec:
    """Check a lifespan. Raises DeclarationRefused."""
    place = place_of(function)
    if not callable(function):
        raise place.refuse("is no lifespan; pass an async function of the server that yields once")
    inner = inspect.unwrap(function)
    if not inspect.isasyncgenfunction(inner):
        raise place.refuse("is no lifespan; write `async def lifespan(server)` with one `yield`")
    if len(inspect.signature(inner).parameters) != 1:
        raise place.refuse("a lifespan takes one parameter, the server; add or remove parameters")
    returned = read_hints(inner).get("return", Any)
    return LifespanSpec(
        open=asynccontextmanager(function) if inner is function else function,
        name=place.function,
        yields=next(iter(get_args(returned)), Any),
    )


class Opened:
    """A context manager of the author that is open, for an AsyncExitStack: what it raises at the end is a LifespanFailed."""

    def __init__(self, part: str, manager: AbstractAsyncContextManager[Any]) -> None:
        self._part = part
        self._manager = manager

    async def __aenter__(self) -> Any:
        try:
            return await self._manager.__aenter__()
        except Exception as exc:
            raise LifespanFailed(self._part, at_start=True, cause=exc) from exc

    async def __aexit__(self, *_why: object) -> None:
        """Close it. It is not told why the server ends, so that what follows its `yield` runs after every end."""
        try:
            await self._manager.__aexit__(None, None, None)
        except Exception as exc:
            raise LifespanFailed(self._part, at_start=False, cause=exc) from exc
