"""A channel over the pipes of a process: many requests in flight, responses in any order."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Final

from strictwire.canon import json
from strictwire.canon.json import JsonObject
from strictwire.client.channel import NO_HEADERS, Callbacks
from strictwire.client.errors import ServerGone, TimedOut, TooLarge
from strictwire.client.message import Era
from strictwire.client.router import MessageRouter
from strictwire.client.stdio import StdioProcess

LINES_PER_TURN: Final = 64
"""Lines that are read before other tasks get their turn: a server that floods must not block the event loop."""


class StdioChannel:
    """Reads the process in the background and passes each message to the router."""

    def __init__(self, process: StdioProcess, callbacks: Callbacks) -> None:
        if callbacks.on_stderr is not None:
            process.watch_stderr(callbacks.on_stderr)
        self._process = process
        self._router = MessageRouter(callbacks, self._write)
        self._reader = asyncio.create_task(self._read())

    @property
    def alive(self) -> bool:
        """Whether the process still has its output open."""
        return not self._reader.done()

    @property
    def first_unreadable(self) -> bytes:
        """The beginning of the first line that is not a message; empty if there is none."""
        return self._router.first_unreadable

    def use_era(self, era: Era, version: str | None) -> None:
        """See Channel. Stdio has no headers that depend on it."""

    async def listen(self) -> None:
        """See Channel. All messages share the pipe."""

    async def request(
        self,
        message: JsonObject,
        headers: Mapping[str, str] = NO_HEADERS,  # noqa: ARG002 - Channel's signature
    ) -> tuple[JsonObject, bytes]:
        """See Channel. Raises ServerGone, TooLarge."""
        return await self._router.request(message)

    async def notify(self, message: JsonObject) -> None:
        """Send a notification. Raises ServerGone."""
        await self._write(message)

    async def close(self) -> None:
        """Stop reading and stop the process."""
        self._reader.cancel()
        await asyncio.gather(self._reader, return_exceptions=True)
        await self._router.close(ServerGone())
        await self._process.close()

    async def _write(self, message: JsonObject) -> None:
        if self._reader.done():
            raise self._gone()
        await self._process.write_line(json.render(message))

    async def _read(self) -> None:
        lines = 0
        while True:
            try:
                line = await self._process.read_line()
            except TooLarge as exc:
                # The id of the line is unknown, so every request in flight fails. Otherwise one of them would wait until
                # it times out.
                self._router.fail_all(exc)
                continue
            if line is None:
                break
            self._router.take(line)
            lines += 1
            if lines % LINES_PER_TURN == 0:
                await asyncio.sleep(0)
        with contextlib.suppress(TimedOut):
            await self._process.wait(1)
        self._router.fail_all(self._gone())

    def _gone(self) -> ServerGone:
        return ServerGone(self._process.exit_code, self._process.stderr_tail)
