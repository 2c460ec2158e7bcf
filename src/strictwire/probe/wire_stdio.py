"""A lane over stdio. Silence is told by a well-formed request sent right behind: once that is answered, nothing more
will come. A process that ended is started again, so that one deadly probe does not spoil the next."""

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
from strictwire.probe.observation import Kind, Observation, observe, read_messages
from strictwire.probe.record import Lane, Options
from strictwire.probe.wire import Speaker

GRACE: Final = 0.25
"""Seconds after the answer to the request behind, for an answer that is made on another thread."""

SOON: Final = 2.0
"""Seconds after which a missing answer makes us ask whether the server is still there."""

START_SECONDS: Final = 20.0
"""For the first answer of a process: interpreters and package runners start slowly."""


@dataclass(slots=True)
class Heard:
    """Lines that came in one conversation."""

    raws: list[bytes] = field(default_factory=list)
    closed: bool = False
    timed_out: bool = False

    def has_answer(self, request_id: object) -> bool:
        """A response with this id, in type and value, is among them."""
        key = id_key(request_id)  # type: ignore[arg-type]
        return any(is_response(message) and id_key(message.get("id")) == key for message in read_messages(self.raws)[0])


class StdioWire:
    """One process at a time. Open it with `open`."""

    def __init__(self, lane: Lane, options: Options) -> None:
        self.lane = lane
        self.opening: JsonObject = {}
        self.speaker = Speaker(lane.era)
        self._options = options
        self._process: StdioProcess | None = None

    async def open(self) -> None:
        """Start the server and see that it speaks the era. Raises ClientError."""
        self.opening = await self._start()

    async def process(self) -> StdioProcess:
        """The running process, started again if it has ended. Raises ClientError."""
        if self._process is None or self._process.exit_code is not None:
            await self._start()
        if self._process is None:
            raise ServerGone
        return self._process

    async def send(self, raw: bytes, like: JsonObject) -> Observation:
        """Send one line, and a harmless request behind it that tells when to stop waiting."""
        behind = self.speaker.harmless()
        heard = await self.converse(raw + b"\n" + json.render(behind) + b"\n", lambda it: it.has_answer(behind["id"]))
        if not (heard.closed or heard.timed_out) and _answer_count(heard) < 2:
            late = await self.listen(GRACE, lambda it: _answer_count(it) > 0)
            heard.raws += late.raws
            heard.closed = late.closed
        return await self._seen(heard, like, without=behind["id"])

    async def ask(self, message: JsonObject) -> Observation:
        """Send a request and wait for its answer; when none comes soon, a second request shows whether anybody is there.

        A server whose loop has died may look alive until it reads its next line.
        """
        heard = await self.converse(json.render(message) + b"\n", lambda it: it.has_answer(message["id"]), seconds=SOON)
        if not heard.timed_out:
            return await self._seen(heard, message)
        behind = self.speaker.harmless()
        later = await self.converse(
            json.render(behind) + b"\n", lambda it: it.has_answer(message["id"]) and it.has_answer(behind["id"])
        )
        later.raws[:0] = heard.raws
        return await self._seen(later, message, without=behind["id"])

    async def converse(self, raw: bytes, done: Callable[[Heard], bool], seconds: float | None = None) -> Heard:
        """Write bytes as they are and hear until done, the end of the process, or time."""
        process = await self.process()
        with contextlib.suppress(ServerGone):
            await write_all(process, raw, self._options.seconds)
        return await self.listen(self._options.seconds if seconds is None else seconds, done)

    async def listen(self, seconds: float, done: Callable[[Heard], bool]) -> Heard:
        """Hear lines until done, the end of the process, or time."""
        process = await self.process()
        heard = Heard()
        deadline = time.monotonic() + seconds
        while not done(heard):
            try:
                async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                    line = await process.read_line()
            except TimeoutError:
                heard.timed_out = True
                break
            except TooLarge as exc:
                line = str(exc).encode()
            if line is None:
                heard.closed = True
                break
            heard.raws.append(line)
        return heard

    async def restart(self) -> StdioProcess:
        """A new process in place of the old one. Raises ClientError."""
        await self.close()
        return await self.process()

    async def start_process(self) -> StdioProcess:
        """A process of its own, to be closed by the caller. Raises CannotReach."""
        return await StdioProcess.start(self._options.stdio or (), env=self._options.env, cwd=self._options.cwd)

    async def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            await process.close(patience=1.0)

    async def _start(self) -> JsonObject:
        await self.close()
        self._process = await self.start_process()
        return await self._open_era()

    async def _open_era(self) -> JsonObject:
        first = self.speaker.harmless() if self.lane.era is Era.MODERN else self.speaker.initialize()
        process = self._process
        if process is None:
            raise ServerGone
        await process.write_line(json.render(first))
        heard = await self.listen(START_SECONDS, lambda it: it.has_answer(first["id"]))
        seen = observe(heard.raws, first)
        if heard.closed:
            with contextlib.suppress(TimedOut):
                await process.wait(1)
            raise ServerGone(process.exit_code, process.stderr_tail)
        if seen.kind is not Kind.RESULT:
            raise NotUnderstood(f"{first['method']} gives {seen.describe()}", seen.raw)
        if self.lane.era is Era.LEGACY:
            await process.write_line(json.render(notification("notifications/initialized", {})))
        return seen.result

    async def _seen(self, heard: Heard, like: JsonObject, without: object = None) -> Observation:
        """What was heard, less the answer to the request behind."""
        raws = [raw for raw in heard.raws if not _answers(raw, without)] if without is not None else heard.raws
        seen = observe(raws, like)
        if heard.closed:
            return await self._ended(seen)
        if heard.timed_out:
            await self.close()
            return replace(seen, note=f"no answer within {self._options.seconds:g} s, also not to a valid request")
        return seen

    async def _ended(self, seen: Observation) -> Observation:
        code: int | None = None
        if self._process is not None:
            with contextlib.suppress(TimedOut):
                code = await self._process.wait(1)
        await self.close()
        kind = seen.kind if seen.message is not None else Kind.CLOSED
        return replace(seen, kind=kind, note=f"the process ended, exit {code}")


def _answer_count(heard: Heard) -> int:
    """Responses and lines that are no JSON; notifications do not count."""
    messages, garbage = read_messages(heard.raws)
    return len(garbage) + sum(map(is_response, messages))


def _answers(raw: bytes, request_id: object) -> bool:
    return Heard(raws=[raw]).has_answer(request_id)


async def write_all(process: StdioProcess, raw: bytes, seconds: float) -> None:
    """A server that stops reading must not stop us."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await process.write(raw)
