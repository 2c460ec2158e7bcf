"""The running call in the author API: progress, log messages, and requests to the client's user or model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.contract.handler import Ask, CallContext


@dataclass(frozen=True, slots=True, kw_only=True)
class Elicited:
    """The answer of the user to an elicitation."""

    action: str
    """`accept`, `decline` or `cancel`."""
    content: JsonObject | None = None

    @property
    def accepted(self) -> bool:
        """Whether the user filled in the form."""
        return self.action == "accept"


def elicitation(message: str, schema: JsonObject) -> Ask:
    """A form for the user of the client."""
    return Ask(method="elicitation/create", params={"mode": "form", "message": message, "requestedSchema": schema})


def sampling(messages: Sequence[JsonObject] | str, *, max_tokens: int = 1024, **options: JsonValue) -> Ask:
    """A request to the model of the client. A string becomes one message of the user."""
    if isinstance(messages, str):
        messages = [{"role": "user", "content": {"type": "text", "text": messages}}]
    return Ask(method="sampling/createMessage", params={"messages": list(messages), "maxTokens": max_tokens, **options})


def roots() -> Ask:
    """A request for the roots of the client: the folders that it works in."""
    return Ask(method="roots/list", params={})


class Context:
    """The running call. A tool, resource or prompt receives it in a parameter of this type."""

    def __init__(self, call: CallContext) -> None:
        self._call = call

    @property
    def facts(self) -> Mapping[str, str | None]:
        """The caller and the connection: principal, role, session, revision, transport."""
        return self._call.facts

    def supports(self, capability: str) -> bool:
        """Whether the client has a capability: `elicitation`, `sampling` or `roots`."""
        supports: Any = getattr(self._call, "supports", None)
        return supports is not None and bool(supports(capability))

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Report the progress of the call. Sent only if the client asked for it."""
        self._call.progress(progress, total, message)

    def log(self, level: str, data: JsonValue, logger: str | None = None) -> None:
        """Send a log message to the client. Sent only if the client asked for this level."""
        self._call.log(level, data, logger)

    def diagnose(self, note: str) -> None:
        """Add an informational note to the response, if the profile has a field for it."""
        self._call.diagnose(note)

    async def ask(self, questions: Mapping[str, Ask]) -> Mapping[str, JsonObject]:
        """Send several requests to the client at the same time. Choose a key for each; the raw answers have the same keys.

        In MCP 2026-07-28 the tool runs again from its start once the answers have arrived, so avoid side effects before
        this call.
        """
        return await self._call.ask(questions)

    async def elicit(self, message: str, schema: JsonObject, *, key: str = "elicitation") -> Elicited:
        """Ask the user to fill in a form. Use a different key for each request in one tool."""
        answer = (await self._call.ask({key: elicitation(message, schema)}))[key]
        return Elicited(action=str(answer["action"]), content=answer.get("content"))

    async def sample(
        self, messages: Sequence[JsonObject] | str, *, key: str = "sampling", max_tokens: int = 1024, **options: JsonValue
    ) -> JsonObject:
        """Ask the model of the client. Returns its message."""
        return (await self._call.ask({key: sampling(messages, max_tokens=max_tokens, **options)}))[key]

    async def roots(self, *, key: str = "roots") -> list[JsonObject]:
        """Ask the client for its roots."""
        return list((await self._call.ask({key: roots()}))[key]["roots"])

    def close_stream(self) -> None:
        """Close the event stream of the call early; the client resumes it later. Does nothing if it cannot be resumed."""
        self._call.close_stream()
