"""A session's channel over a process: many requests in flight, answers in any order, ids kept apart by type."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TypeAlias

from strictwire.canon import json
from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.channel import Inbound
from strictwire.client.errors import ClientError, NotUnderstood, ServerGone, TimedOut, TooLarge
from strictwire.client.message import id_key, is_response, notification, parse_message
from strictwire.client.stdio import StdioProcess

_Answered: TypeAlias = asyncio.Future[tuple[JsonObject, bytes]]


class StdioChannel:
    """Reads the process in the background and hands each answer to the request that waits for it."""

    def __init__(self, process: StdioProcess, inbound: Inbound) -> None:
        self._process = process
        self._inbound = inbound
        self._waiting: dict[tuple[str, JsonValue], _Answered] = {}
        self._serving: set[asyncio.Task[None]] = set()
        self._reader = asyncio.create_task(self._read())
        self.stray = 0
        """Lines that are no message of the protocol; counted, never guessed at."""

    async def ask(self, message: JsonObject, *, seconds: float) -> tuple[JsonObject, bytes]:
        """Send a request and wait for its answer. Raises ServerGone, TimedOut, TooLarge, NotUnderstood."""
        key = id_key(message["id"])
        if key is None or key in self._waiting:
            raise ValueError("a request needs an id, text or integer, that is not in flight")
        answered: _Answered = asyncio.get_running_loop().create_future()
        self._waiting[key] = answered
        try:
            await self._write(message)
            async with asyncio.timeout(seconds):
                return await answered
        except TimeoutError as exc:
            await self._cancel(message["id"])
            raise TimedOut(str(message["method"]), seconds) from exc
        except asyncio.CancelledError:
            await self._cancel(message["id"])
            raise
        finally:
            self._waiting.pop(key, None)

    async def tell(self, message: JsonObject) -> None:
        """Send a notification. Raises ServerGone."""
        await self._write(message)

    async def close(self) -> None:
        """Stop reading and end the process."""
        tasks = [self._reader, *self._serving]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._fail_all(ServerGone())
        await self._process.close()

    async def _write(self, message: JsonObject) -> None:
        if self._reader.done():
            raise ServerGone(self._process.exit_code, self._process.stderr_tail)
        await self._process.write_line(json.render(message))

    async def _cancel(self, request_id: JsonValue) -> None:
        with contextlib.suppress(ServerGone):
            await self._write(notification("notifications/cancelled", {"requestId": request_id}))

    async def _read(self) -> None:
        while True:
            try:
                line = await self._process.read_line()
            except TooLarge as exc:
                # Whose answer it was cannot be known any more, and waiting on would only look like a slow server.
                self._fail_all(exc)
                continue
            if line is None:
                break
            self._take(line)
        with contextlib.suppress(TimedOut):
            await self._process.wait(1)
        self._fail_all(ServerGone(self._process.exit_code, self._process.stderr_tail))

    def _take(self, line: bytes) -> None:
        try:
            message = parse_message(line)
        except NotUnderstood:
            self.stray += 1
            return
        if is_response(message):
            self._settle(message, line)
        elif id_key(message.get("id")) is not None:
            task = asyncio.create_task(self._serve(message))
            self._serving.add(task)
            task.add_done_callback(self._serving.discard)
        elif "method" in message:
            self._inbound.on_notification(message, line)
        else:
            self.stray += 1

    def _settle(self, message: JsonObject, line: bytes) -> None:
        key = id_key(message.get("id"))
        answered = self._waiting.get(key) if key is not None else None
        if answered is None:
            self.stray += 1
        elif not answered.done():
            answered.set_result((message, line))

    async def _serve(self, message: JsonObject) -> None:
        response = await self._inbound.on_request(message)
        with contextlib.suppress(ServerGone):
            await self._write(response)

    def _fail_all(self, error: ClientError) -> None:
        waiting, self._waiting = self._waiting, {}
        for answered in waiting.values():
            if not answered.done():
                answered.set_exception(error)
