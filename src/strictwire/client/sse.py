"""Incremental decoder for server-sent events (text/event-stream). No I/O.

Follows the WHATWG rules for lines, comments, `data`, `event`, `id` and `retry`. Data stays bytes; `canon` checks it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from strictwire.client.errors import TooLarge

MAX_EVENT: Final = 8 * 1024 * 1024
"""Largest event with all its lines: twice the largest message that our server accepts, so that a gateway can read a message
that it refuses."""

_BOM: Final = b"\xef\xbb\xbf"
"""A byte order mark at the start of a stream is ignored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event."""

    data: bytes
    event: str = "message"
    id: str | None = None
    """The last id that the stream has set, in this event or an earlier one; None if there is none."""
    retry: int | None = None
    """Milliseconds until a reconnection, if this event sets them."""


@dataclass(slots=True)
class _Block:
    """The fields of the event that is being read."""

    data: list[bytes] = field(default_factory=list)
    event: str = ""
    retry: int | None = None


class SseDecoder:
    """Takes chunks of bytes and returns the events that they complete."""

    def __init__(self, max_event: int = MAX_EVENT) -> None:
        self._max = max_event
        self._rest = bytearray()
        """The beginning of a line that is not complete."""
        self._size = 0
        self._block = _Block()
        self._last_id: str | None = None
        self._started = False
        self._skip_lf = False

    def feed(self, chunk: bytes) -> list[Event]:
        """Decode a chunk. Raises TooLarge: an event is larger than the limit."""
        lines = self._split(chunk)
        events = [event for line in lines if (event := self._take(line)) is not None]
        if self._size + len(self._rest) > self._max:
            raise TooLarge("an event", self._max)
        return events

    def _split(self, chunk: bytes) -> list[bytes]:
        """Complete lines. CR, LF and CRLF end a line, also if the two bytes of a CRLF are in different chunks."""
        if self._skip_lf and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._skip_lf = False
        if self._started and b"\n" not in chunk and b"\r" not in chunk:
            self._rest += chunk  # a long line must not be searched again for each of its chunks
            return []
        text = bytes(self._rest) + chunk
        if not self._started:
            if _BOM.startswith(text[:3]) and len(text) < len(_BOM):
                self._rest = bytearray(text)
                return []
            text = text.removeprefix(_BOM)
            self._started = True
        self._skip_lf = text.endswith(b"\r")
        *lines, rest = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._rest = bytearray(rest)
        return lines

    def _take(self, line: bytes) -> Event | None:
        if not line:
            return self._dispatch()
        self._size += len(line)
        if self._size > self._max:
            raise TooLarge("an event", self._max)
        name, _, value = line.partition(b":")
        self._set(name, value.removeprefix(b" "))
        return None

    def _set(self, name: bytes, value: bytes) -> None:
        if name == b"data":
            self._block.data.append(value)
        elif name == b"event":
            self._block.event = value.decode("utf-8", "replace")
        elif name == b"id" and b"\0" not in value:
            self._last_id = value.decode("utf-8", "replace")
        elif name == b"retry" and value.isdigit() and len(value) < 10:
            self._block.retry = int(value)

    def _dispatch(self) -> Event | None:
        block, self._block, self._size = self._block, _Block(), 0
        if not block.data:
            return None
        return Event(data=b"\n".join(block.data), event=block.event or "message", id=self._last_id, retry=block.retry)
