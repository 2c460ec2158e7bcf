"""The interface between a tool and the server: what a handler receives, and what it may return.

Packs depend on this module and not on the rest of the server.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.fault.failure import Facts, Failure


class _Absent:
    """The type of ABSENT."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()
"""No structured content. Not the same as None, which is the JSON value null."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A request to the client: for input from its user, for an answer of its model, or for its roots."""

    method: str
    """`elicitation/create`, `sampling/createMessage` or `roots/list`."""
    params: JsonObject
    read: Callable[[JsonObject], Any] | None = field(default=None, compare=False)
    """Makes a typed value from the content of a form. It raises Refused, whose details name the violations."""


class Memo:
    """Where the server keeps the checked and rendered form of an answer that a handler returns more than once."""

    __slots__ = ("done", "tool")

    def __init__(self) -> None:
        self.tool: object = None
        """The compiled tool that the answer was checked against; another one checks it again."""
        self.done: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The result of a tool with more than structured content: content items, or `_meta`."""

    structured: object = ABSENT
    content: tuple[JsonObject, ...] = ()
    meta: Mapping[str, JsonValue] = field(default_factory=dict)
    memo: Memo | None = field(default=None, compare=False, repr=False)
    """Set by a handler that returns this very object again. It must not change the content afterwards."""


class CallContext(Protocol):
    """The running call, as the handler sees it."""

    @property
    def facts(self) -> Mapping[str, str | None]:
        """Who calls: principal, role, tier, session, revision, transport."""

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Report the progress of the call. Sent only if the client asked for it."""

    def log(self, level: str, data: JsonValue, logger: str | None = None) -> None:
        """Send a log message to the client. Sent only if the client asked for this level."""

    def diagnose(self, note: str) -> None:
        """Add an informational note to the response, if the profile has a field for it."""

    def attribute(self, facts: Facts) -> None:
        """Set the session, role, workspace, plan or phase of the call in its audit record, whether it succeeds or fails."""

    async def ask(self, questions: Mapping[str, Ask]) -> Mapping[str, JsonObject]:
        """Send requests to the client and return its answers by key.

        In MCP 2026-07-28 the handler runs again from its start once the answers have arrived, so everything that it does
        before this call must be safe to repeat.
        """

    def close_stream(self) -> None:
        """Close the event stream of the call early; the client resumes it later. Does nothing if it cannot be resumed."""


Handler: TypeAlias = Callable[[JsonObject, CallContext], Awaitable[Any] | Any]
"""A tool implementation: a coroutine function, or a plain function, which runs in a thread."""


@runtime_checkable
class ExplainsRefusals(Protocol):
    """A handler that knows more about a call that was refused before it ran: its session, or a more specific failure."""

    def explain(self, failure: Failure, arguments: JsonObject, context: CallContext) -> Failure:
        """Report the facts of the call with `context.attribute`, and return the failure to answer with. Must not raise."""
