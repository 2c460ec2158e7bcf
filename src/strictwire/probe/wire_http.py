"""A lane over Streamable HTTP, on raw sockets: headers are those of the well-formed twin unless a probe says else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from strictwire.canon import json
from strictwire.canon.json import JsonObject
from strictwire.client.errors import CannotReach, ClientError, NotUnderstood, TooLarge
from strictwire.client.message import Era, is_response, modern_headers, notification
from strictwire.client.rawhttp import Address, RawAnswer, exchange, parse_address, render_request
from strictwire.client.sse import SseDecoder
from strictwire.probe.observation import Kind, Observation, observe, read_messages
from strictwire.probe.record import Lane, Options
from strictwire.probe.wire import Speaker

ACCEPT: Final = "application/json, text/event-stream"


class HttpWire:
    """One endpoint. Open it with `open`."""

    def __init__(self, lane: Lane, options: Options) -> None:
        self.lane = lane
        self.opening: JsonObject = {}
        self.speaker = Speaker(lane.era)
        self.address: Final[Address] = parse_address(options.http or "")
        self._options = options
        self._session: dict[str, str] = {}

    async def open(self) -> None:
        """See that the server speaks the era; in the legacy one, open a session. Raises ClientError."""
        first = self.speaker.harmless() if self.lane.era is Era.MODERN else self.speaker.initialize()
        seen = await self.ask(first)
        if seen.kind is Kind.CLOSED:
            raise CannotReach(self.address.authority, seen.note)
        if seen.kind is not Kind.RESULT:
            raise NotUnderstood(f"{first['method']} gives {seen.describe()}", seen.raw)
        self.opening = seen.result
        if self.lane.era is Era.LEGACY:
            await self._keep_session(seen)

    async def send(self, raw: bytes, like: JsonObject) -> Observation:
        """POST bytes with the headers of the well-formed twin."""
        return await self.post(raw, self.headers(like), like)

    async def ask(self, message: JsonObject) -> Observation:
        """POST a well-formed request."""
        return await self.send(json.render(message), message)

    def headers(self, like: JsonObject) -> dict[str, str]:
        """What an honest client sends with this message."""
        headers = {"Host": self.address.authority, "Content-Type": "application/json", "Accept": ACCEPT}
        era = modern_headers(like) if self.lane.era is Era.MODERN else self._session
        return headers | era | dict(self._options.headers)

    async def post(self, body: bytes, headers: Mapping[str, str], like: JsonObject) -> Observation:
        """POST with headers that a probe chose; a header whose value is empty is left out."""
        pairs = [(name, value) for name, value in headers.items() if value]
        return await self.exchange(render_request("POST", self.address.path, pairs, body), like)

    async def exchange(self, raw: bytes, like: JsonObject) -> Observation:
        """Send a whole HTTP request as bytes."""
        try:
            answer = await exchange(self.address, raw, seconds=self._options.seconds, until=_has_response)
        except TooLarge as exc:
            return Observation(kind=Kind.GARBAGE, note=str(exc), sent=like)
        except CannotReach as exc:
            return Observation(kind=Kind.CLOSED, note=exc.reason, sent=like)
        except ClientError as exc:
            return Observation(kind=Kind.CLOSED, note=str(exc), sent=like)
        return observe_http(answer, like)

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
        told = notification("notifications/initialized", {})
        await self.send(json.render(told), told)


def observe_http(answer: RawAnswer, like: JsonObject) -> Observation:
    """Read an HTTP answer: a message in the body or in the events, or only a status."""
    raws = messages_of(answer)
    seen = observe(raws, like)
    if seen.message is None:
        seen = replace(seen, kind=_kind_of_status(answer, seen.kind), raw=answer.body[:400])
    return replace(seen, status=answer.status, headers=answer.headers)


def messages_of(answer: RawAnswer) -> Sequence[bytes]:
    """The raw messages that a body holds."""
    media = (answer.header("content-type") or "").partition(";")[0].strip().lower()
    if media == "text/event-stream":
        return [event.data for event in SseDecoder().feed(answer.body) if event.data]
    return [answer.body] if media == "application/json" and answer.body else []


def _kind_of_status(answer: RawAnswer, kind: Kind) -> Kind:
    if kind is Kind.GARBAGE:
        return kind
    if answer.status >= 300:
        return Kind.REFUSED
    return Kind.ACCEPTED if answer.status in (202, 204) else Kind.SILENCE


def _has_response(answer: RawAnswer) -> bool:
    """Event streams may stay open: the response is the last that matters."""
    if b"text/event-stream" not in (answer.header("content-type") or "").encode():
        return False
    messages, _ = read_messages(messages_of(answer))
    return any(is_response(message) or _is_acknowledgement(message) for message in messages)


def _is_acknowledgement(message: JsonObject) -> bool:
    return message.get("method") == "notifications/subscriptions/acknowledged"
