"""What a server did with some bytes, as one value. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from strictwire.canon import json
from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.message import is_response

READ_LIMITS: Final = json.Limits(size=16 * 1024 * 1024, depth=2048)
"""A judge reads more than it accepts: depth and size of answers are not what is judged here."""

SHOWN: Final = 160
"""Characters of an answer that a report quotes."""


class Kind(StrEnum):
    """The coarsest difference between answers."""

    RESULT = "result"
    TOOL_ERROR = "tool error"
    ERROR = "error"
    SILENCE = "silence"
    ACCEPTED = "accepted without an answer"
    REFUSED = "HTTP refusal"
    CLOSED = "connection closed"
    GARBAGE = "not strict JSON"


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One answer, or its absence."""

    kind: Kind
    message: JsonObject | None = None
    raw: bytes = b""
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    more: tuple[JsonObject, ...] = ()
    """Messages that came besides the answer: notifications, further answers."""
    note: str = ""
    """What else is known, such as the exit code of a process."""
    sent: JsonObject | None = None
    """The well-formed message that the bytes were, or imitated."""

    @property
    def code(self) -> int | None:
        """The code of an error answer."""
        code = self._error().get("code")
        return code if type(code) is int else None

    @property
    def text(self) -> str:
        """The message of an error answer, or the text content of a tool result."""
        if self.kind is Kind.ERROR:
            return str(self._error().get("message", ""))
        content = self.result.get("content")
        blocks = content if isinstance(content, list) else []
        return "\n".join(str(block["text"]) for block in blocks if isinstance(block, dict) and "text" in block)

    @property
    def data(self) -> JsonValue:
        """The data of an error answer."""
        return self._error().get("data")

    @property
    def result(self) -> JsonObject:
        """The result, empty for anything else."""
        result = (self.message or {}).get("result")
        return result if isinstance(result, dict) else {}

    def header(self, name: str) -> str | None:
        """The first value of an HTTP header, or None."""
        return next((value for key, value in self.headers if key == name), None)

    def describe(self) -> str:
        """One line for a report."""
        status = "" if self.status is None else f"HTTP {self.status}, "
        note = f" ({self.note})" if self.note else ""
        if self.kind is Kind.ERROR:
            return f"{status}error {self.code} {shorten(self.text)!r}{note}"
        if self.kind in (Kind.RESULT, Kind.TOOL_ERROR):
            shown = self.text or json.render(self.result).decode()
            return f"{status}{self.kind.value} {shorten(shown, 80)!r}{note}"
        quoted = f" {shorten(self.raw.decode('utf-8', 'replace'))!r}" if self.raw else ""
        return f"{status}{self.kind.value}{quoted}{note}"

    def _error(self) -> JsonObject:
        error = (self.message or {}).get("error")
        return error if isinstance(error, dict) else {}


def shorten(text: str, limit: int = SHOWN) -> str:
    """The text, cut for people."""
    return text if len(text) <= limit else f"{text[:limit]}..."


def kind_of(message: JsonObject) -> Kind:
    """Result, tool error or error."""
    if "error" in message:
        return Kind.ERROR
    result = message.get("result")
    if isinstance(result, dict) and result.get("isError") is True:
        return Kind.TOOL_ERROR
    return Kind.RESULT


def read_messages(raws: Sequence[bytes]) -> tuple[list[JsonObject], list[bytes]]:
    """Strict JSON objects, and what is none."""
    messages: list[JsonObject] = []
    garbage: list[bytes] = []
    for raw in raws:
        try:
            messages.append(json.parse_object(raw, READ_LIMITS))
        except json.NotStrict:
            garbage.append(raw)
    return messages, garbage


def observe(raws: Sequence[bytes], sent: JsonObject | None = None) -> Observation:
    """What these messages say: the first response is the answer, the rest is more."""
    messages, garbage = read_messages(raws)
    answers = [message for message in messages if is_response(message)]
    if not answers:
        kind = Kind.GARBAGE if garbage else Kind.SILENCE
        return Observation(kind=kind, raw=b"".join(garbage[:1]), more=tuple(messages), sent=sent)
    rest = tuple(message for message in messages if message is not answers[0])
    raw = json.render(answers[0])
    return Observation(kind=kind_of(answers[0]), message=answers[0], raw=raw, more=rest, sent=sent)


def with_note(observation: Observation, note: str) -> Observation:
    """The same with a note."""
    return replace(observation, note=note)
