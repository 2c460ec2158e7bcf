"""Middleware: functions of the author around calls and lists, in one list, outermost first.

    async def timed(call: Call, call_next: CallNext) -> CallResult:
        started = time.monotonic()
        try:
            return await call_next(call)
        finally:
            log.info("%s took %.3f s", call.name, time.monotonic() - started)

A call reaches the middleware after it was admitted, authorised and validated, and inside its time limit. Arguments and
results that middleware replaces are validated again, and every call is recorded. So middleware cannot weaken the contract.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol, TypeAlias

from strictwire.canon.json import JsonValue
from strictwire.contract.handler import ABSENT
from strictwire.contract.tool import EMPTY, PromptContract, ResourceContract, ToolContract
from strictwire.server.declare.context import Context
from strictwire.server.declare.hints import read_hints
from strictwire.server.declare.refused import Place, place_of

Contract: TypeAlias = ToolContract | ResourceContract | PromptContract


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call as middleware sees it."""

    kind: Literal["tool", "resource", "prompt", "completion"]
    name: str
    """The name of the tool or prompt, or the URI of the resource."""
    arguments: Mapping[str, JsonValue]
    """The arguments. They cannot be changed; see `with_arguments`."""
    contract: Contract | None
    """The contract; None for a completion."""
    context: Context

    def with_arguments(self, arguments: Mapping[str, JsonValue]) -> Call:
        """The same call with other arguments, for `call_next`. They are validated before the function runs."""
        return replace(self, arguments=freeze(arguments))


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """The result of a call as middleware sees it. A result that middleware makes is validated like one of the function."""

    structured: Any = ABSENT
    """The structured content of a tool, or the whole result of a resource or prompt. It cannot be changed."""
    content: tuple[Mapping[str, JsonValue], ...] = ()
    """The content items of a tool."""
    meta: Mapping[str, JsonValue] = field(default_factory=lambda: EMPTY)
    """The `_meta` of the result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A request for a list as middleware sees it."""

    kind: Literal["tools", "resources", "resource templates", "prompts"]
    facts: Mapping[str, str | None]
    """The caller and the connection: principal, role, tier, revision, transport."""


class CallNext(Protocol):
    """Runs the rest of a call: the middleware that follows, and the function."""

    async def __call__(self, call: Call, /) -> CallResult:
        """The result. Raises what the function raised, or Refused."""


class ListNext(Protocol):
    """Makes the rest of a list."""

    async def __call__(self, listing: Listing, /) -> Sequence[Contract]:
        """The entries, in order."""


CallMiddleware: TypeAlias = Callable[[Call, CallNext], Awaitable[CallResult]]
ListMiddleware: TypeAlias = Callable[[Listing, ListNext], Awaitable[Sequence[Contract]]]
Middleware: TypeAlias = CallMiddleware | ListMiddleware


@dataclass(frozen=True, slots=True, kw_only=True)
class MiddlewareChain:
    """The middleware of a server, outermost first."""

    calls: tuple[CallMiddleware, ...] = ()
    lists: tuple[ListMiddleware, ...] = ()


_REMEDY: Final = (
    "write `async def name(call: Call, call_next: CallNext) -> CallResult`, or the same with Listing and ListNext"
)


def read_middleware(functions: Sequence[Any]) -> MiddlewareChain:
    """Sort middleware by the type of its first parameter. Raises DeclarationRefused."""
    if callable(functions) or not isinstance(functions, Sequence):
        raise Place(function="Server(middleware=...)").refuse("it is not a list; write middleware=[function]")
    kinds = [_kind_of(function) for function in functions]
    return MiddlewareChain(
        calls=tuple(function for function, kind in zip(functions, kinds, strict=True) if kind is Call),
        lists=tuple(function for function, kind in zip(functions, kinds, strict=True) if kind is Listing),
    )


def _kind_of(function: Any) -> type:
    place = place_of(function)
    if not callable(function):
        raise place.refuse(f"is no middleware; {_REMEDY}")
    bound = function if inspect.isroutine(function) else function.__call__
    if not inspect.iscoroutinefunction(bound):
        raise place.refuse(f"is not async; {_REMEDY}")
    parameters = tuple(inspect.signature(function).parameters)
    if len(parameters) != 2:
        raise place.refuse(f"has {len(parameters)} parameters; {_REMEDY}")
    kind = read_hints(function).get(parameters[0])
    if kind is Call or kind is Listing:
        return Call if kind is Call else Listing
    raise place.parameter(parameters[0]).refuse(f"is neither a Call nor a Listing; {_REMEDY}")


def freeze(value: Any) -> Any:
    """A JSON value that cannot be changed: objects as read-only mappings, arrays as tuples."""
    if isinstance(value, Mapping):
        return MappingProxyType({name: freeze(member) for name, member in value.items()})
    if isinstance(value, list | tuple):
        return tuple(freeze(member) for member in value)
    return value


def thaw(value: Any) -> Any:
    """The JSON value of a frozen one."""
    if isinstance(value, Mapping):
        return {name: thaw(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [thaw(member) for member in value]
    return value
