"""The event stream of one HTTP request, opened when there is something to send before the answer."""

from __future__ import annotations

import asyncio
from typing import Final, Protocol

import msgspec

from strictwire.transport.http import sse

KEEP_ALIVE_SECONDS: Final = 15.0
"""A quiet event stream gets a comment this often."""

_OPEN_STREAM: Final = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache, no-transform\r\n"
    b"X-Accel-Buffering: no\r\nTransfer-Encoding: chunked\r\n"
)


class Connection(Protocol):
    """What a stream needs of the connection that it is on."""

    gone: bool

    def write(self, data: bytes) -> None:
        """Send bytes."""

    def stream_ended(self) -> None:
        """The response is complete, although its request may still run."""


class StreamOutlet(msgspec.Struct, eq=False):
    """The event stream of one request, opened when there is something to send."""

    _connection: Connection
    _extra: bytes
    """Header lines of the answer."""
    _timer: asyncio.TimerHandle | None = None
    opened: bool = False
    closed: bool = False

    def open(self) -> None:
        """Send the head of a stream."""
        if not self.opened and not self.closed:
            self.opened = True
            self._connection.write(_OPEN_STREAM + self._extra + b"\r\n")
            self._keep_alive()

    def send(self, message: bytes, *, event_id: str | None = None, retry_ms: int | None = None) -> bool:
        """Send an event; False if the client is gone."""
        self.open()
        if self.closed or self._connection.gone:
            return False
        self._connection.write(sse.chunk(sse.event(message, event_id=event_id, retry_ms=retry_ms)))
        return True

    def close(self) -> None:
        """Send the end of the stream."""
        if self._timer is not None:
            self._timer.cancel()
        if self.opened and not self.closed:
            self._connection.write(sse.LAST_CHUNK)
            self._connection.stream_ended()
        self.closed = True

    def _keep_alive(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(KEEP_ALIVE_SECONDS, self._beat)

    def _beat(self) -> None:
        if not self.closed and not self._connection.gone:
            self._connection.write(sse.chunk(sse.KEEP_ALIVE))
            self._keep_alive()
