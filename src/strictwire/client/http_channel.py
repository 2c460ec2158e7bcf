"""A session's channel over Streamable HTTP: one POST a message, the answer as JSON or at the end of an event stream."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Final

from strictwire.canon import json
from strictwire.canon.json import JsonObject
from strictwire.client.channel import Inbound
from strictwire.client.errors import ClientError, NotUnderstood, ServerGone, TimedOut
from strictwire.client.http import HttpClient, HttpStream
from strictwire.client.message import Era, id_key, is_response, modern_headers, parse_message

_ACCEPT: Final = "application/json, text/event-stream"


class HttpChannel:
    """One endpoint. In the legacy era it keeps the session id that `initialize` was given."""

    def __init__(self, url: str, *, client: HttpClient, headers: Mapping[str, str], inbound: Inbound) -> None:
        self._url = url
        self._client = client
        self._extra = dict(headers)
        self._inbound = inbound
        self._session_id: str | None = None
        self.era = Era.MODERN
        self.version: str | None = None
        """The negotiated legacy version, repeated in a header once it is known."""

    def agree(self, version: str) -> None:
        """Repeat this version in a header from now on."""
        self.version = version

    async def ask(self, message: JsonObject, *, seconds: float) -> tuple[JsonObject, bytes]:
        """POST a request and read its answer. Raises CannotReach, ServerGone, TimedOut, TooLarge, NotUnderstood."""
        try:
            async with asyncio.timeout(seconds), self._post(message) as answer:
                self._keep_session(message, answer)
                if answer.is_event_stream:
                    return await self._read_events(answer, message)
                return _read_body(await answer.read(), answer.status, message)
        except TimeoutError as exc:
            raise TimedOut(str(message["method"]), seconds) from exc

    async def tell(self, message: JsonObject) -> None:
        """POST a notification or a response. Raises CannotReach, ServerGone, TimedOut, NotUnderstood."""
        async with self._post(message) as answer:
            if answer.status >= 300:
                raise NotUnderstood(f"HTTP {answer.status} for a notification", status=answer.status)

    async def close(self) -> None:
        """End a legacy session, then the connections."""
        if self._session_id is not None:
            with contextlib.suppress(ClientError):
                await self._client.send("DELETE", self._url, headers=self._headers({}))
        await self._client.close()

    def _post(self, message: JsonObject) -> contextlib.AbstractAsyncContextManager[HttpStream]:
        return self._client.stream("POST", self._url, headers=self._headers(message), body=json.render(message))

    def _headers(self, message: JsonObject) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": _ACCEPT}
        if self.era is Era.MODERN:
            headers |= modern_headers(message)
        elif self.version is not None:
            headers["MCP-Protocol-Version"] = self.version
        if self._session_id is not None:
            headers["Mcp-Session-Id"] = self._session_id
        return headers | self._extra

    def _keep_session(self, message: JsonObject, answer: HttpStream) -> None:
        if message.get("method") == "initialize" and answer.status == 200:
            self._session_id = answer.headers.get("mcp-session-id")

    async def _read_events(self, answer: HttpStream, request: JsonObject) -> tuple[JsonObject, bytes]:
        async for event in answer.events():
            if not event.data:
                continue
            message = parse_message(event.data)
            if is_response(message):
                if _answers(message, request):
                    return message, event.data
            elif id_key(message.get("id")) is not None:
                await self.tell(await self._inbound.on_request(message))
            else:
                self._inbound.on_notification(message, event.data)
        raise ServerGone


def _read_body(body: bytes, status: int, request: JsonObject) -> tuple[JsonObject, bytes]:
    try:
        message = parse_message(body)
    except NotUnderstood as exc:
        raise NotUnderstood(f"HTTP {status} without a JSON-RPC message", body, status) from exc
    if not is_response(message) or not _answers(message, request):
        raise NotUnderstood(f"HTTP {status} with a message that does not answer the request", body, status)
    return message, body


def _answers(message: JsonObject, request: JsonObject) -> bool:
    """Same id in type and value; an error may come without one, for the POST tells which request it answers."""
    given = message.get("id")
    if given is None:
        return "error" in message
    return id_key(given) == id_key(request["id"])
