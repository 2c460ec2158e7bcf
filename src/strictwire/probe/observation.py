"""The reaction of a server to some bytes, as one value. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from strictwire.canon import json
from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.message import is_response

READ_LIMITS: Final = json.Limits(size=16 * 1024 * 1024, depth=2048)
"""Lenient limits for responses: their depth and size are not tested here."""

SHOWN: Final = 160
"""Characters of a response that a report quotes."""


class ResponseKind(StrEnum):
    """The kind of a response; the coarsest level of comparison. The values appear in reports."""

    RESULT = "result"
    TOOL_ERROR = "tool error"
    ERROR = "error"
    SILENCE = "no response"
    ACCEPTED = "accepted without a response"
    REFUSED = "refused"
    CLOSED = "connection closed"
    GARBAGE = "not strict JSON"


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One response, or its absence."""

    kind: ResponseKind
    message: JsonObject | None = None
    raw: bytes = b""
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    more: tuple[JsonObject, ...] = ()
    """Other messages: notifications and further responses."""
    note: str = ""
    """More information, for example the exit code of the process."""
    sent: JsonObject | None = None
    """The message that was sent, or the well-formed message that the bytes were derived from."""
    raw_sent: bytes = b""
    """The bytes that were sent, if the server ended or hangs after them."""
    is_fatal: bool = False
    """Whether the server ended, or no longer responds to a valid request."""
    is_slow: bool = False
    """Whether there was no response in time although the server responds to other requests."""
    stderr: bytes = b""
    """The last bytes that the process wrote to stderr before it ended."""

    @property
    def code(self) -> int | None:
        """The code of an error response."""
        code = self._error().get("code")
        return code if type(code) is int else None

    @property
    def text(self) -> str:
        """The message of an error response, or the text content of a tool result."""
        if self.kind is ResponseKind.ERROR:
            return str(self._error().get("message", ""))
        content = self.result.get("content")
        blocks = content if isinstance(content, list) else []
        return "\n".join(str(block["text"]) for block in blocks if isinstance(block, dict) and "text" in block)

    @property
    def data(self) -> JsonValue:
        """The data of an error response."""
        return self._error().get("data")

    @property
    def result(self) -> JsonObject:
        """The result; empty for other kinds."""
        result = (self.message or {}).get("result")
        return result if isinstance(result, dict) else {}

    def header(self, name: str) -> str | None:
        """The first value of an HTTP header, or None."""
        return next((value for key, value in self.headers if key == name), None)

    def describe(self) -> str:
        """One line for a report."""
        status = "" if self.status is None else f"HTTP {self.status}, "
        note = f" ({self.note})" if self.note else ""
        if self.kind is ResponseKind.ERROR:
            return f"{status}error {self.code} {shorten(self.text)!r}{note}"
        if self.kind in (ResponseKind.RESULT, ResponseKind.TOOL_ERROR):
            shown = self.text or json.render(self.result).decode()
            return f"{status}{self.kind.value} {shorten(shown, 80)!r}{note}"
        quoted = f" {shorten(self.raw.decode('utf-8', 'replace'))!r}" if self.raw else ""
        return f"{status}{self.kind.value}{quoted}{note}"

    def _error(self) -> JsonObject:
        error = (self.message or {}).get("error")
        return error if isinstance(error, dict) else {}


def shorten(text: str, limit: int = SHOWN) -> str:
    """The text, truncated for a report."""
    return text if len(text) <= limit else f"{text[:limit]}..."


def kind_of(message: JsonObject) -> ResponseKind:
    """Classify a response message: result, tool error or error."""
    if "error" in message:
        return ResponseKind.ERROR
    result = message.get("result")
    if isinstance(result, dict) and result.get("isError") is True:
        return ResponseKind.TOOL_ERROR
    return ResponseKind.RESULT


def read_messages(raws: Sequence[bytes]) -> tuple[list[JsonObject], list[bytes]]:
    """The strict JSON objects, and the other lines."""
    messages: list[JsonObject] = []
    garbage: list[bytes] = []
    for raw in raws:
        try:
            messages.append(json.parse_object(raw, READ_LIMITS))
        except json.NotStrict:
            garbage.append(raw)
    return messages, garbage


def observe(raws: Sequence[bytes], sent: JsonObject | None = None) -> Observation:
    """The observation for these messages: the first response counts, the others are `more`."""
    messages, garbage = read_messages(raws)
    responses = [message for message in messages if is_response(message)]
    if not responses:
        kind = ResponseKind.GARBAGE if garbage else ResponseKind.SILENCE
        return Observation(kind=kind, raw=b"".join(garbage[:1]), more=tuple(messages), sent=sent)
    rest = tuple(message for message in messages if message is not responses[0])
    raw = json.render(responses[0])
    return Observation(kind=kind_of(responses[0]), message=responses[0], raw=raw, more=rest, sent=sent)
