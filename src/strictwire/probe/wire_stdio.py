"""A connection over stdio.

To detect a missing response without waiting for the timeout, a harmless request follows the bytes of a probe: once it has
a response, no earlier response will come. A process that ended is restarted, so that a fatal probe does not affect others.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from strictwire.canon import json
from strictwire.canon.json import JsonObject
from strictwire.client.errors import CannotReach, NotUnderstood, ServerGone, TimedOut, TooLarge
from strictwire.client.message import Era, id_key, is_response, notification
from strictwire.client.stdio import StdioProcess
from strictwire.probe.observation import Observation, ResponseKind, observe, read_messages
from strictwire.probe.record import ProbeOptions, Variant
from strictwire.probe.wire import MessageFactory

MAX_RECEIVED: Final = 64 * 1024 * 1024
"""Bytes of one exchange that are kept: eight of the longest lines. A server that sends more is stopped."""

GRACE_SECONDS: Final = 0.25
"""Wait after the response to the harmless request, for a late response from another thread."""

CHECK_SECONDS: Final = 2.0
"""Wait for a response before checking whether the server is still alive."""

CLOSE_SECONDS: Final = 0.5
"""Wait for the exit of a process after each step of closing it. The probe needs nothing from it any more."""


@dataclass(slots=True)
class Received:
    """The lines received in one exchange. Each is parsed once, so that a server that sends many costs little."""

    raws: list[bytes] = field(default_factory=list)
    sent: bytes = b""
    closed: bool = False
    timed_out: bool = False
    size: int = 0
    response_count: int = 0
    """Responses and lines that are not JSON; notifications do not count."""
    ids: set[object] = field(default_factory=set)
    """Keys of the ids of all responses: ids are compared by type and value."""

    @property
    def is_flooded(self) -> bool:
        """Whether the server sent more than is kept."""
        return self.size > MAX_RECEIVED

    def add(self, raw: bytes) -> None:
        """Add a line."""
        self.raws.append(raw)
        self.size += len(raw)
        messages, garbage = read_messages([raw])
        responses = [message for message in messages if is_response(message)]
        self.response_count += len(garbage) + len(responses)
        self.ids.update(id_key(message.get("id")) for message in responses)

    def has_response(self, request_id: object) -> bool:
        """Whether there is a response with this id."""
        return id_key(request_id) in self.ids  # type: ignore[arg-type]


class StdioWire:
    """A connection to one process at a time. Call `open` first."""

    def __init__(self, variant: Variant, options: ProbeOptions) -> None:
        self.variant = variant
        self.opening: JsonObject = {}
        self.messages = MessageFactory(variant.era)
        self.opening_seconds = 0.0
        """How long the start of the server took."""
        self.deaths: list[Observation] = []
        """Processes that ended by themselves between two exchanges, after the bytes of the first one."""
        self._options = options
        self._process: StdioProcess | None = None
        self._last_sent = b""

    async def open(self) -> None:
        """Start the server and check that it supports the era. Raises ClientError."""
        start = time.monotonic()
        self.opening = await self._start()
        self.opening_seconds = time.monotonic() - start

    async def process(self) -> StdioProcess:
        """The running process; restarts it if it has ended. Raises ClientError."""
        self.note_death()
        if self._process is None or self._process.exit_code is not None:
            await self._start()
        if self._process is None:
            raise ServerGone
        return self._process

    async def maybe_end(self, sent: bytes) -> Observation | None:
        """The end of the process, if it has ended after these bytes."""
        process = self._process
        if process is not None and process.exit_code is None:
            with contextlib.suppress(TimedOut):
                await process.wait(GRACE_SECONDS)
        is_running = process is not None and process.exit_code is None
        return None if is_running else await self._ended(Observation(kind=ResponseKind.SILENCE), sent)

    def note_death(self) -> None:
        """Remember it if the process has ended since the last exchange."""
        process = self._process
        if process is None or process.exit_code is None:
            return
        self._process = None
        note = f"the process ended later, with exit code {process.exit_code}"
        dead = Observation(kind=ResponseKind.CLOSED, note=note, raw_sent=self._last_sent, is_fatal=True)
        self.deaths.append(replace(dead, stderr=process.stderr_tail))

    @property
    def stderr_tail(self) -> bytes:
        """The last bytes that the process wrote to stderr."""
        return self._process.stderr_tail if self._process else b""

    async def send(self, raw: bytes, well_formed: JsonObject) -> Observation:
        """Send one line, followed by a harmless request whose response ends the wait."""
        follow_up = self.messages.harmless_request()
        received = await self.converse(
            raw + b"\n" + json.render(follow_up) + b"\n", lambda lines: lines.has_response(follow_up["id"])
        )
        received.sent = raw
        if not (received.closed or received.timed_out) and received.response_count < 2:
            await self.listen(GRACE_SECONDS, lambda lines: lines.response_count > 1, received)
            received.timed_out = False
        return await self._observe(received, well_formed, without=follow_up["id"])

    async def ask(self, message: JsonObject) -> Observation:
        """Send a request and wait for its response. If it is late, send a second request to check the server.

        A server whose event loop has died may look alive until it reads its next line.
        """
        raw = json.render(message)
        check_seconds = min(CHECK_SECONDS, self._options.seconds)
        received = await self.converse(raw + b"\n", lambda lines: lines.has_response(message["id"]), seconds=check_seconds)
        received.sent = raw
        if not received.timed_out:
            return await self._observe(received, message)
        follow_up = self.messages.harmless_request()
        received.timed_out = False
        later = await self.converse(
            json.render(follow_up) + b"\n",
            lambda lines: lines.has_response(message["id"]) and lines.has_response(follow_up["id"]),
            received=received,
        )
        return await self._observe(later, message, without=follow_up["id"])

    async def converse(
        self,
        raw: bytes,
        done: Callable[[Received], bool],
        seconds: float | None = None,
        received: Received | None = None,
    ) -> Received:
        """Write bytes and read lines until `done`, the end of the process, or the time limit."""
        process = await self.process()
        self._last_sent = raw
        with contextlib.suppress(ServerGone):
            await write_all(process, raw, self._options.seconds)
        return await self.listen(self._options.seconds if seconds is None else seconds, done, received)

    async def listen(self, seconds: float, done: Callable[[Received], bool], received: Received | None = None) -> Received:
        """Read lines until `done`, the end of the process, or the time limit; after those that were `received` before."""
        process = self._process
        received = Received() if received is None else received
        if process is None:
            received.closed = True
            return received
        deadline = time.monotonic() + seconds
        while not done(received) and not received.is_flooded:
            try:
                async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                    line = await process.read_line()
            except TimeoutError:
                received.timed_out = True
                break
            except TooLarge as exc:
                line = str(exc).encode()
            if line is None:
                received.closed = True
                break
            received.add(line)
        return received

    async def restart(self) -> StdioProcess:
        """Replace the process by a new one. Raises ClientError."""
        await self.close()
        return await self.process()

    async def start_process(self) -> StdioProcess:
        """Start an additional process, which the caller must close. Raises CannotReach."""
        options = self._options
        starting = asyncio.ensure_future(StdioProcess.start(options.stdio or (), env=options.env, cwd=options.cwd))
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            # A process that is started at the end of the time budget would outlive the run.
            with contextlib.suppress(CannotReach):
                await (await starting).close(patience=CLOSE_SECONDS)
            raise

    async def close(self) -> None:
        """Stop the process."""
        process, self._process = self._process, None
        if process is not None:
            await process.close(patience=CLOSE_SECONDS)

    async def _start(self) -> JsonObject:
        await self.close()
        self._process = await self.start_process()
        return await self._open_era()

    async def _open_era(self) -> JsonObject:
        first = self.messages.harmless_request() if self.variant.era is Era.MODERN else self.messages.initialize()
        process = self._process
        if process is None:
            raise ServerGone
        await process.write_line(json.render(first))
        received = await self.listen(self._options.start_seconds, lambda lines: lines.has_response(first["id"]))
        seen = observe(received.raws, first)
        if received.closed:
            with contextlib.suppress(TimedOut):
                await process.wait(1)
            raise ServerGone(process.exit_code, process.stderr_tail)
        if received.timed_out:
            raise TimedOut(str(first["method"]), self._options.start_seconds)
        if seen.kind is not ResponseKind.RESULT:
            raise NotUnderstood(f"{first['method']}: {seen.describe()}", seen.raw)
        if self.variant.era is Era.LEGACY:
            await process.write_line(json.render(notification("notifications/initialized", {})))
        return seen.result

    async def _observe(self, received: Received, well_formed: JsonObject, without: object = None) -> Observation:
        """The observation, without the response to the harmless request."""
        raws = [raw for raw in received.raws if not _responds_to(raw, without)] if without is not None else received.raws
        seen = observe(raws, well_formed)
        if received.closed:
            return await self._ended(seen, received.sent)
        if received.is_flooded:
            await self.close()
            note = f"the server sent more than {MAX_RECEIVED:,} bytes"
            return replace(seen, note=note, is_fatal=True, raw_sent=received.sent)
        if not received.timed_out:
            return seen
        limit = f"no response within {self._options.seconds:g} s"
        if without is not None and received.has_response(without):
            return replace(seen, note=limit, is_slow=True)
        stderr = self.stderr_tail
        await self.close()
        note = f"{limit}, not even to a valid request"
        return replace(seen, note=note, is_fatal=True, raw_sent=received.sent, stderr=stderr)

    async def _ended(self, seen: Observation, sent: bytes) -> Observation:
        code: int | None = None
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(TimedOut):
                code = await process.wait(1)
            # Closing reads stderr to its end.
            await process.close(patience=CLOSE_SECONDS)
        stderr = process.stderr_tail if process else b""
        kind = seen.kind if seen.message is not None else ResponseKind.CLOSED
        note = f"the process ended with exit code {code}"
        return replace(seen, kind=kind, note=note, is_fatal=True, raw_sent=sent, stderr=stderr)


def _responds_to(raw: bytes, request_id: object) -> bool:
    received = Received()
    received.add(raw)
    return received.has_response(request_id)


async def write_all(process: StdioProcess, raw: bytes, seconds: float) -> None:
    """Write with a time limit: a server that stops reading must not block the probe."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await process.write(raw)
