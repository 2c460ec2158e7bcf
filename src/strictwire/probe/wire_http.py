"""A connection over Streamable HTTP on raw sockets. A probe may replace the headers of the well-formed message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from strictwire.canon import json
from strictwire.canon.json import JsonObject
from strictwire.client.errors import CannotReach, ClientError, NotUnderstood, TimedOut, TooLarge
from strictwire.client.message import Era, is_response, modern_headers, notification
from strictwire.client.rawhttp import Address, RawAnswer, exchange, parse_address, render_request
from strictwire.client.sse import SseDecoder
from strictwire.fault.redact import MARK
from strictwire.probe.observation import Observation, ResponseKind, observe, read_messages
from strictwire.probe.record import ProbeOptions, Variant
from strictwire.probe.wire import MessageFactory

ACCEPT: Final = "application/json, text/event-stream"


class HttpWire:
    """A connection to one HTTP endpoint. Call `open` first."""

    def __init__(self, variant: Variant, options: ProbeOptions) -> None:
        self.variant = variant
        self.opening: JsonObject = {}
        self.messages = MessageFactory(variant.era)
        self.address: Final[Address] = parse_address(options.http or "")
        self._options = options
        self._session: dict[str, str] = {}

    async def open(self) -> None:
        """Check that the server supports the era; in the legacy era, open a session. Raises ClientError."""
        first = self.messages.harmless_request() if self.variant.era is Era.MODERN else self.messages.initialize()
        seen = await self.ask(first)
        if seen.kind is ResponseKind.CLOSED:
            raise CannotReach(self.address.authority, seen.note)
        if seen.kind is not ResponseKind.RESULT:
            raise NotUnderstood(f"{first['method']}: {seen.describe()}", seen.raw)
        self.opening = seen.result
        if self.variant.era is Era.LEGACY:
            await self._keep_session(seen)

    async def send(self, raw: bytes, well_formed: JsonObject) -> Observation:
        """POST bytes with the headers of the well-formed message."""
        return await self.post(raw, self.headers(well_formed), well_formed)

    async def ask(self, message: JsonObject) -> Observation:
        """POST a well-formed request."""
        return await self.send(json.render(message), message)

    def headers(self, well_formed: JsonObject) -> dict[str, str]:
        """The headers that a correct client sends with this message."""
        headers = {"Host": self.address.authority, "Content-Type": "application/json", "Accept": ACCEPT}
        era = modern_headers(well_formed) if self.variant.era is Era.MODERN else self._session
        return headers | era | dict(self._options.headers)

    async def post(self, body: bytes, headers: Mapping[str, str], well_formed: JsonObject) -> Observation:
        """POST with the given headers. A header with an empty value is omitted."""
        pairs = [(name, value) for name, value in headers.items() if value]
        return await self.exchange(render_request("POST", self.address.path, pairs, body), well_formed)

    async def exchange(self, raw: bytes, well_formed: JsonObject) -> Observation:
        """Send a whole HTTP request as bytes."""
        try:
            answer = await exchange(self.address, raw, seconds=self._options.seconds, until=_has_response)
        except TooLarge as exc:
            return Observation(kind=ResponseKind.GARBAGE, note=str(exc), sent=well_formed)
        except CannotReach as exc:
            return Observation(kind=ResponseKind.CLOSED, note=exc.reason, sent=well_formed, raw_sent=self._redact(raw))
        except TimedOut as exc:
            return Observation(
                kind=ResponseKind.SILENCE, note=str(exc), sent=well_formed, raw_sent=self._redact(raw), is_slow=True
            )
        except ClientError as exc:
            return Observation(kind=ResponseKind.CLOSED, note=str(exc), sent=well_formed, raw_sent=self._redact(raw))
        return observe_http(answer, well_formed)

    def _redact(self, raw: bytes) -> bytes:
        """A request for a report, without the values of the user's own headers, which may be secrets."""
        for value in filter(None, self._options.headers.values()):
            raw = raw.replace(value.encode(), MARK.encode())
        return raw

    async def close(self) -> None:
        """End a legacy session."""
        if "Mcp-Session-Id" in self._session:
            await self.exchange(
                render_request("DELETE", self.address.path, list(self.headers({}).items())), {"method": "DELETE"}
            )
            self._session = {}

    async def _keep_session(self, seen: Observation) -> None:
        session = seen.header("mcp-session-id")
        version = seen.result.get("protocolVersion")
        self._session = {"MCP-Protocol-Version": str(version)} | ({"Mcp-Session-Id": session} if session else {})
        message = notification("notifications/initialized", {})
        await self.send(json.render(message), message)


def observe_http(answer: RawAnswer, well_formed: JsonObject) -> Observation:
    """The observation for an HTTP response: a message in the body or in the events, or only a status."""
    raws = messages_of(answer)
    seen = observe(raws, well_formed)
    if seen.message is None:
        kind = _kind_of_status(answer, seen.kind)
        is_slow = kind is ResponseKind.SILENCE and not answer.complete
        seen = replace(seen, kind=kind, raw=answer.body[:400], is_slow=is_slow)
    return replace(seen, status=answer.status, headers=answer.headers)


def messages_of(answer: RawAnswer) -> Sequence[bytes]:
    """The raw messages in a body."""
    media = (answer.header("content-type") or "").partition(";")[0].strip().lower()
    if media == "text/event-stream":
        return [event.data for event in SseDecoder().feed(answer.body) if event.data]
    return [answer.body] if media == "application/json" and answer.body else []


def _kind_of_status(answer: RawAnswer, kind: ResponseKind) -> ResponseKind:
    if kind is ResponseKind.GARBAGE:
        return kind
    if answer.status >= 300:
        return ResponseKind.REFUSED
    return ResponseKind.ACCEPTED if answer.status in (202, 204) else ResponseKind.SILENCE


def _has_response(answer: RawAnswer) -> bool:
    """Whether to stop reading: an event stream may stay open after the response."""
    if b"text/event-stream" not in (answer.header("content-type") or "").encode():
        return False
    messages, _ = read_messages(messages_of(answer))
    return any(is_response(message) or _is_acknowledgement(message) for message in messages)


def _is_acknowledgement(message: JsonObject) -> bool:
    return message.get("method") == "notifications/subscriptions/acknowledged"
