"""Legacy HTTP streams that a client can come back to (2025-11-25): events have ids, and are kept for a while.

A stream belongs to one POST. Its events are kept, so that a GET with `Last-Event-ID` gets the rest.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from strictwire.profiles.endpoint import Deliver, Outlet, Reply

MAX_STREAMS: Final = 64
"""Streams of one session that are kept after they ended."""

MAX_EVENTS: Final = 256
"""Events of one stream that are kept."""

MAX_BYTES: Final = 8 * 1024 * 1024
"""Bytes of the events that one session keeps: the largest answer, and as much again before it."""

RETRY_MS: Final = 500
"""How soon a client should come back to a stream that we closed."""

_EVENT_NUMBER: Final = re.compile(r"[0-9]{1,9}")


@dataclass(slots=True)
class Stream:
    """One stream: its kept events, and who listens now."""

    name: str
    outlet: Outlet | None
    make_room: Callable[[int], None]
    """Called before an event of that many bytes is kept."""
    events: deque[tuple[int, bytes]] = field(default_factory=lambda: deque(maxlen=MAX_EVENTS))
    count: int = 0
    opened: bool = False
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the answer was sent, or never will be."""

    def open(self) -> None:
        """Start with an event that has an id and nothing else, so that the client can come back to the very start."""
        if not self.opened and self.outlet is not None:
            self.opened = True
            self.outlet.open()
            self.outlet.send(b"", event_id=f"{self.name}.0", retry_ms=RETRY_MS)

    def send(self, message: bytes, *, event_id: str | None = None, retry_ms: int | None = None) -> bool:  # noqa: ARG002
        """Keep the message, and send it if a client listens."""
        self.open()
        self.count += 1
        self.make_room(len(message))
        self.events.append((self.count, message))
        return self.outlet is not None and self.outlet.send(message, event_id=f"{self.name}.{self.count}")

    def close(self) -> None:
        """Let the client go; it comes back for the rest."""
        self.open()
        outlet, self.outlet = self.outlet, None
        if outlet is not None:
            outlet.close()

    def finish(self, message: bytes) -> None:
        """Send the answer, the last event."""
        self.send(message)
        self.ended.set()
        self.close()


class Streams:
    """The streams of one session."""

    def __init__(self) -> None:
        self._streams: OrderedDict[str, Stream] = OrderedDict()
        self._counter = 0
        self._most_kept = 0
        """At most so many bytes are kept: events that their stream dropped since the last count are still in it."""

    def start(self, outlet: Outlet) -> Stream:
        """A stream for a request; the oldest that ended is forgotten when there are too many."""
        self._counter += 1
        stream = Stream(name=str(self._counter), outlet=outlet, make_room=self._make_room)
        self._streams[stream.name] = stream
        while len(self._streams) > MAX_STREAMS:
            self._streams.popitem(last=False)
        return stream

    def _make_room(self, size: int) -> None:
        """Forget the oldest events if there are too many bytes. A client that resumes later has lost them."""
        self._most_kept += size
        if self._most_kept <= MAX_BYTES:
            return
        kept = size + sum(len(message) for stream in self._streams.values() for _, message in stream.events)
        for stream in self._streams.values():
            while kept > MAX_BYTES // 2 and stream.events:  # half, so that the sum is not needed for every event
                kept -= len(stream.events.popleft()[1])
        self._most_kept = kept

    def forget(self, stream: Stream) -> None:
        """A stream that was never opened has nothing to come back to."""
        self._streams.pop(stream.name, None)

    def resume(self, last_event_id: str, outlet: Outlet) -> Stream | None:
        """Attach a listener to a stream and send what it missed; None if the stream is not known."""
        name, _, number = last_event_id.partition(".")
        stream = self._streams.get(name)
        if stream is None or not _EVENT_NUMBER.fullmatch(number):
            return None
        outlet.open()
        for index, message in stream.events:
            if index > int(number):
                outlet.send(message, event_id=f"{name}.{index}")
        if stream.ended.is_set():
            outlet.close()
        else:
            stream.outlet = outlet
        return stream

    def close(self) -> None:
        """End every stream."""
        for stream in self._streams.values():
            stream.ended.set()
            stream.close()
        self._streams.clear()


def deliver_on_stream(streams: Streams, stream: Stream, deliver: Deliver, reply: Reply | None) -> None:
    """Deliver the answer of a request: as the last event if its stream was opened, otherwise as the body."""
    if not stream.opened:
        streams.forget(stream)
        deliver(reply)
        return
    if reply is not None and reply.body is not None:
        stream.finish(reply.body)
    deliver(reply and Reply(status=reply.status))
