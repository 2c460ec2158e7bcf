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
from strictwire.client.errors import NotUnderstood, ServerGone, TimedOut, TooLarge
from strictwire.client.message import Era, id_key, is_response, notification
from strictwire.client.stdio import StdioProcess
from strictwire.probe.observation import Observation, ResponseKind, observe, read_messages
from strictwire.probe.record import ProbeOptions, Variant
from strictwire.probe.wire import MessageFactory

GRACE_SECONDS: Final = 0.25
"""Wait after the response to the harmless request, for a late response from another thread."""

CHECK_SECONDS: Final = 2.0
"""Wait for a response before checking whether the server is still alive."""

START_SECONDS: Final = 20.0
"""Time limit for the first response of a process: interpreters and package runners start slowly."""


@dataclass(slots=True)
class Received:
    """The lines received in one exchange."""

    raws: list[bytes] = field(default_factory=list)
    closed: bool = False
    timed_out: bool = False

    def has_response(self, request_id: object) -> bool:
        """Whether there is a response with this id; ids are compared by type and value."""
        key = id_key(request_id)  # type: ignore[arg-type]
        return any(is_response(message) and id_key(message.get("id")) == key for message in read_messages(self.raws)[0])


class StdioWire:
    """A connection to one process at a time. Call `open` first."""

    def __init__(self, variant: Variant, options: ProbeOptions) -> None:
        self.variant = variant
        self.opening: JsonObject = {}
        self.messages = MessageFactory(variant.era)
        self._options = options
        self._process: StdioProcess | None = None

    async def open(self) -> None:
        """Start the server and check that it supports the era. Raises ClientError."""
        self.opening = await self._start()

    async def process(self) -> StdioProcess:
        """The running process; restarts it if it has ended. Raises ClientError."""
        if self._process is None or self._process.exit_code is not None:
            await self._start()
        if self._process is None:
            raise ServerGone
        return self._process

    async def send(self, raw: bytes, well_formed: JsonObject) -> Observation:
        """Send one line, followed by a harmless request whose response ends the wait."""
        follow_up = self.messages.harmless_request()
        received = await self.converse(
            raw + b"\n" + json.render(follow_up) + b"\n", lambda lines: lines.has_response(follow_up["id"])
        )
        if not (received.closed or received.timed_out) and _response_count(received) < 2:
            late = await self.listen(GRACE_SECONDS, lambda lines: _response_count(lines) > 0)
            received.raws += late.raws
            received.closed = late.closed
        return await self._observe(received, well_formed, without=follow_up["id"])

    async def ask(self, message: JsonObject) -> Observation:
        """Send a request and wait for its response. If it is late, send a second request to check the server.

        A server whose event loop has died may look alive until it reads its next line.
        """
        received = await self.converse(
            json.render(message) + b"\n", lambda lines: lines.has_response(message["id"]), seconds=CHECK_SECONDS
        )
        if not received.timed_out:
            return await self._observe(received, message)
        follow_up = self.messages.harmless_request()
        later = await self.converse(
            json.render(follow_up) + b"\n",
            lambda lines: lines.has_response(message["id"]) and lines.has_response(follow_up["id"]),
        )
        later.raws[:0] = received.raws
        return await self._observe(later, message, without=follow_up["id"])

    async def converse(self, raw: bytes, done: Callable[[Received], bool], seconds: float | None = None) -> Received:
        """Write bytes and read lines until `done`, the end of the process, or the time limit."""
        process = await self.process()
        with contextlib.suppress(ServerGone):
            await write_all(process, raw, self._options.seconds)
        return await self.listen(self._options.seconds if seconds is None else seconds, done)

    async def listen(self, seconds: float, done: Callable[[Received], bool]) -> Received:
        """Read lines until `done`, the end of the process, or the time limit."""
        process = await self.process()
        received = Received()
        deadline = time.monotonic() + seconds
        while not done(received):
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
            received.raws.append(line)
        return received

    async def restart(self) -> StdioProcess:
        """Replace the process by a new one. Raises ClientError."""
        await self.close()
        return await self.process()

    async def start_process(self) -> StdioProcess:
        """Start an additional process, which the caller must close. Raises CannotReach."""
        return await StdioProcess.start(self._options.stdio or (), env=self._options.env, cwd=self._options.cwd)

    async def close(self) -> None:
        """Stop the process."""
        process, self._process = self._process, None
        if process is not None:
            await process.close(patience=1.0)

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
        received = await self.listen(START_SECONDS, lambda lines: lines.has_response(first["id"]))
        seen = observe(received.raws, first)
        if received.closed:
            with contextlib.suppress(TimedOut):
                await process.wait(1)
            raise ServerGone(process.exit_code, process.stderr_tail)
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
            return await self._ended(seen)
        if received.timed_out:
            await self.close()
            return replace(seen, note=f"no response within {self._options.seconds:g} s, not even to a valid request")
        return seen

    async def _ended(self, seen: Observation) -> Observation:
        code: int | None = None
        if self._process is not None:
            with contextlib.suppress(TimedOut):
                code = await self._process.wait(1)
        await self.close()
        kind = seen.kind if seen.message is not None else ResponseKind.CLOSED
        return replace(seen, kind=kind, note=f"the process ended with exit code {code}")


def _response_count(received: Received) -> int:
    """The number of responses and of lines that are not JSON; notifications do not count."""
    messages, garbage = read_messages(received.raws)
    return len(garbage) + sum(map(is_response, messages))


def _responds_to(raw: bytes, request_id: object) -> bool:
    return Received(raws=[raw]).has_response(request_id)


async def write_all(process: StdioProcess, raw: bytes, seconds: float) -> None:
    """Write with a time limit: a server that stops reading must not block the probe."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await process.write(raw)
