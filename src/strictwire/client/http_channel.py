"""A channel over Streamable HTTP: one POST per message; the response is JSON or the last event of a stream."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Final

from strictwire.canon import json
from strictwire.canon.json import JsonObject
from strictwire.client.channel import Callbacks
from strictwire.client.errors import ClientError, NotUnderstood, ServerGone, TimedOut
from strictwire.client.http import HttpClient, HttpStream
from strictwire.client.message import Era, id_key, is_response, modern_headers, parse_message

_ACCEPT: Final = "application/json, text/event-stream"


class HttpChannel:
    """A channel to one URL. In the legacy era it stores the session id from the response to `initialize`."""

    def __init__(self, url: str, *, client: HttpClient, headers: Mapping[str, str], callbacks: Callbacks) -> None:
        self._url = url
        self._client = client
        self._headers = dict(headers)
        self._callbacks = callbacks
        self._session_id: str | None = None
        self.era = Era.MODERN
        self._version: str | None = None

    def set_version(self, version: str) -> None:
        """Send the negotiated legacy version in a header from now on."""
        self._version = version

    async def request(self, message: JsonObject, *, seconds: float) -> tuple[JsonObject, bytes]:
        """POST a request and read its response. Raises CannotReach, ServerGone, TimedOut, TooLarge, NotUnderstood."""
        try:
            async with asyncio.timeout(seconds), self._post(message) as response:
                self._store_session_id(message, response)
                if response.is_event_stream:
                    return await self._read_events(response, message)
                return _read_body(await response.read(), response.status, message)
        except TimeoutError as exc:
            raise TimedOut(str(message["method"]), seconds) from exc

    async def notify(self, message: JsonObject) -> None:
        """POST a notification. Raises CannotReach, ServerGone, TimedOut, NotUnderstood."""
        async with self._post(message) as response:
            if response.status >= 300:
                raise NotUnderstood(f"HTTP {response.status} for a notification", status=response.status)

    async def close(self) -> None:
        """End the legacy session, if there is one, and close the connections."""
        if self._session_id is not None:
            with contextlib.suppress(ClientError):
                await self._client.send("DELETE", self._url, headers=self._headers_for({}))
        await self._client.close()

    def _post(self, message: JsonObject) -> contextlib.AbstractAsyncContextManager[HttpStream]:
        return self._client.stream("POST", self._url, headers=self._headers_for(message), body=json.render(message))

    def _headers_for(self, message: JsonObject) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": _ACCEPT}
        if self.era is Era.MODERN:
            headers |= modern_headers(message)
        elif self._version is not None:
            headers["MCP-Protocol-Version"] = self._version
        if self._session_id is not None:
            headers["Mcp-Session-Id"] = self._session_id
        return headers | self._headers

    def _store_session_id(self, message: JsonObject, response: HttpStream) -> None:
        if message.get("method") == "initialize" and response.status == 200:
            self._session_id = response.headers.get("mcp-session-id")

    async def _read_events(self, response: HttpStream, request: JsonObject) -> tuple[JsonObject, bytes]:
        async for event in response.events():
            if not event.data:  # an event that only carries an id, for resuming the stream
                continue
            message = parse_message(event.data)
            if is_response(message):
                if _answers(message, request):
                    return message, event.data
            elif id_key(message.get("id")) is not None:
                await self.notify(await self._callbacks.on_request(message))  # a response is sent like a notification
            else:
                self._callbacks.on_notification(message, event.data)
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
    """Whether the response has the id of the request, in type and value. An error may have no id: it belongs to its POST."""
    response_id = message.get("id")
    if response_id is None:
        return "error" in message
    return id_key(response_id) == id_key(request["id"])
