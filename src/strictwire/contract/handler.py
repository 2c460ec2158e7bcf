"""What a handler is given and what it may give back. Packs and authors write against this page and nothing more."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.fault.failure import Facts


class _Absent:
    """No value at all, which is not the same as null."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One question to the person or the model behind the client: an MCP request in waiting."""

    method: str
    """`elicitation/create`, `sampling/createMessage` or `roots/list`."""
    params: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A tool's result where plain JSON does not say enough: content items, or structured content with text of its own."""

    structured: object = ABSENT
    content: tuple[JsonObject, ...] = ()
    meta: Mapping[str, JsonValue] = field(default_factory=dict)


class CallContext(Protocol):
    """The running call, as its handler sees it."""

    @property
    def facts(self) -> Mapping[str, str | None]:
        """Who calls: principal, role, tier, session, revision, transport."""

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Tell how far the work is, to a caller that asked to be told."""

    def log(self, level: str, data: JsonValue, logger: str | None = None) -> None:
        """Send a log message to a caller that asked for this level."""

    def diagnose(self, note: str) -> None:
        """Add an informational note to the answer, where the profile has a place for it."""

    def attribute(self, facts: Facts) -> None:
        """Say whose the call is (session, role, workspace, plan, phase), for its record however it ends."""

    async def ask(self, questions: Mapping[str, Ask]) -> Mapping[str, JsonObject]:
        """Put questions to the client and return its answers by key.

        In the stateless era the handler is run again from its start with the answers at hand, so whatever it does
        before asking must be safe to repeat.
        """

    def close_stream(self) -> None:
        """Let a client that can come back for the answer go, where the revision has such streams."""


Handler: TypeAlias = Callable[[JsonObject, CallContext], Awaitable[Any] | Any]
"""A coroutine function, or a plain function, which runs off the event loop."""
