"""A link over Streamable HTTP: one POST for each request, so ids and tokens need no mapping.

`client.streamable` has the headers, the session and the streams of both eras. Here messages are read and passed on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from typing import Final

from strictwire.canon.json import NotStrict, parse_object, render
from strictwire.client.background import BackgroundTasks
from strictwire.client.errors import NotUnderstood
from strictwire.client.message import Era
from strictwire.client.streamable import ConnectionPools, StreamableHttp
from strictwire.gateway.links.link import Listener, UpstreamRequest, WatchedLink, cancellation, try_send
from strictwire.gateway.links.raw_message import (
    ANSWER_LIMITS,
    ID,
    UpstreamAnswer,
    one_line,
    read_answer,
    read_upstream,
    replace_at,
)
from strictwire.wire.envelope import Notification, Request, Response

CONNECTIONS: Final = 2000
"""Connections to one upstream: each subscription and each session holds one."""


class HttpConnector:
    """A Connector for one URL. All links share its connections."""

    def __init__(self, url: str, *, headers: Mapping[str, str]) -> None:
        self._url = url
        self._headers = headers
        self._pools: ConnectionPools | None = None

    async def open(self, era: Era, listener: Listener) -> WatchedLink:
        """See Connector. Nothing is sent yet, so nothing can fail."""
        if self._pools is None:
            self._pools = ConnectionPools.open(CONNECTIONS)
        return HttpLink(self._url, pools=self._pools, era=era, headers=self._headers, listener=listener)

    def note_end(self) -> None:
        """See Connector. The next request shows whether the server is back."""

    async def close(self) -> None:
        """See Connector."""
        if self._pools is not None:
            await self._pools.close()


class HttpLink:
    """An upstream's endpoint in the stateless era, or one session of it in the legacy era."""

    def __init__(
        self, url: str, *, pools: ConnectionPools, era: Era, headers: Mapping[str, str], listener: Listener
    ) -> None:
        """`listener` gets the messages of the session that belong to no request."""
        self._http = StreamableHttp(url, pools=pools, headers=headers, era=era)
        self._listener = listener
        self._tasks = BackgroundTasks()
        self._is_open = True
        self.is_busy = False
        """Every request has a connection of its own, so a check disturbs none of them."""

    @property
    def alive(self) -> bool:
        """False once the link is closed, or the upstream does not know the session any more."""
        return self._is_open and self._http.is_known

    async def request(self, request: UpstreamRequest, listener: Listener) -> UpstreamAnswer:
        """See Link. Raises ClientError."""
        try:
            answer = await self._http.request(
                {"method": request.method, "params": request.params},
                request.raw,
                headers=request.headers,
                read_body=partial(_read_body, request),
                read_event=partial(_dispatch, request, listener),
                on_stream=listener.on_stream,
            )
        except asyncio.CancelledError:
            # In the stateless era the closed stream is the cancellation. `initialize` must not be cancelled.
            if self._http.era is Era.LEGACY and request.method != "initialize":
                self._tasks.start(try_send(self, cancellation(request, request.id)))
            raise
        if request.method == "initialize" and answer.result is not None:
            version = answer.result.get("protocolVersion")
            self._http.version = version if isinstance(version, str) else None
        return answer

    async def send(self, raw: bytes) -> None:
        """See Link. Raises ClientError."""
        message = parse_object(raw)
        await self._http.send(message, raw)
        if message.get("method") == "notifications/initialized":
            self._tasks.start(self._http.listen(partial(_dispatch, None, self._listener)))

    async def check_alive(self, request: UpstreamRequest, seconds: float) -> None:
        """See Link. Every request has its own connection, so silence on one says nothing about the others."""

    async def close(self) -> None:
        """End the session. The connections are shared and stay open."""
        self._is_open = False
        await self._tasks.cancel()
        await self._http.end_session()


def _dispatch(request: UpstreamRequest | None, listener: Listener, data: bytes) -> UpstreamAnswer | None:
    """Pass on one message of a stream; the answer to the request is returned instead. Raises NotUnderstood."""
    if not data:
        return None
    data = one_line(data)
    match read_upstream(data):
        case Notification() as notification:
            listener.on_notification(data, notification)
        case Request() as question:
            listener.on_request(data, question)
        case Response() as response:
            if request is not None and _answers(response, request):
                return read_answer(response, data)
        case _:
            if request is not None:
                return _read_body(request, data, HTTPStatus.OK)
    return None


def _answers(response: Response, request: UpstreamRequest) -> bool:
    return type(response.id) is type(request.id) and response.id == request.id


def _read_body(request: UpstreamRequest, body: bytes, status: int) -> UpstreamAnswer:
    """A whole answer. An error may lack its id, because the POST tells which request it answers. Raises NotUnderstood."""
    body = one_line(body)
    read = read_upstream(body)
    if isinstance(read, Response) and _answers(read, request):
        return read_answer(read, body, status)
    try:
        message = parse_object(body, ANSWER_LIMITS)
    except NotStrict as exc:
        raise NotUnderstood(f"HTTP {status} without a JSON-RPC message", body, status) from exc
    error = message.get("error")
    if message.get("id") is None and isinstance(error, dict) and "result" not in message:
        return read_answer(Response(request.id, None, error), replace_at(body, ID, render(request.id)), status)
    raise NotUnderstood(f"HTTP {status} with a message that does not answer the request", body, status)
