"""The author's view of a running call: progress, logs, and questions to the person or the model behind the client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.contract.handler import Ask, CallContext


@dataclass(frozen=True, slots=True, kw_only=True)
class Elicited:
    """What a person answered."""

    action: str
    """`accept`, `decline` or `cancel`."""
    content: JsonObject | None = None

    @property
    def accepted(self) -> bool:
        """Whether there is content to go on with."""
        return self.action == "accept"


def elicitation(message: str, schema: JsonObject) -> Ask:
    """A form for the person behind the client."""
    return Ask(method="elicitation/create", params={"mode": "form", "message": message, "requestedSchema": schema})


def sampling(messages: Sequence[JsonObject] | str, *, max_tokens: int = 1024, **options: JsonValue) -> Ask:
    """A question for the model behind the client."""
    if isinstance(messages, str):
        messages = [{"role": "user", "content": {"type": "text", "text": messages}}]
    return Ask(method="sampling/createMessage", params={"messages": list(messages), "maxTokens": max_tokens, **options})


def roots() -> Ask:
    """The folders that the client works in."""
    return Ask(method="roots/list", params={})


class Context:
    """Name a parameter of this type in a tool, resource or prompt, and the running call is passed in."""

    def __init__(self, call: CallContext) -> None:
        self._call = call

    @property
    def facts(self) -> Mapping[str, str | None]:
        """Who calls: principal, revision, transport."""
        return self._call.facts

    def supports(self, capability: str) -> bool:
        """Whether the client can be asked: `elicitation`, `sampling`, `roots`."""
        supports: Any = getattr(self._call, "supports", None)
        return supports is not None and bool(supports(capability))

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Tell how far the work is. Sent only to a client that asked for it."""
        self._call.progress(progress, total, message)

    def log(self, level: str, data: JsonValue, logger: str | None = None) -> None:
        """Send a log message to the client. Sent only at the level it asked for."""
        self._call.log(level, data, logger)

    def diagnose(self, note: str) -> None:
        """Add a note to the answer, where the profile has a place for it."""
        self._call.diagnose(note)

    async def ask(self, questions: Mapping[str, Ask]) -> Mapping[str, JsonObject]:
        """Put several questions at once, by keys that are yours to choose, and get the raw answers by key.

        In MCP 2026-07-28 the tool runs again from its start once the answers are there: do nothing before asking that
        may not be done twice.
        """
        return await self._call.ask(questions)

    async def elicit(self, message: str, schema: JsonObject, *, key: str = "elicitation") -> Elicited:
        """Ask the person. Give each question of one tool its own key."""
        answer = (await self._call.ask({key: elicitation(message, schema)}))[key]
        return Elicited(action=str(answer["action"]), content=answer.get("content"))

    async def sample(
        self, messages: Sequence[JsonObject] | str, *, key: str = "sampling", max_tokens: int = 1024, **options: JsonValue
    ) -> JsonObject:
        """Ask the model; returns its message."""
        return (await self._call.ask({key: sampling(messages, max_tokens=max_tokens, **options)}))[key]

    async def roots(self, *, key: str = "roots") -> list[JsonObject]:
        """Ask for the client's folders."""
        return list((await self._call.ask({key: roots()}))[key]["roots"])

    def close_stream(self) -> None:
        """Let the client go and come back for the answer, where the revision can do that."""
        self._call.close_stream()
