"""A channel over the pipes of a process: many requests in flight, responses in any order."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TypeAlias

from strictwire.canon import json
from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.channel import Callbacks
from strictwire.client.errors import ClientError, NotUnderstood, ServerGone, TimedOut, TooLarge
from strictwire.client.message import id_key, is_response, notification, parse_message
from strictwire.client.stdio import StdioProcess

_PendingResponse: TypeAlias = asyncio.Future[tuple[JsonObject, bytes]]


class StdioChannel:
    """Reads the process in the background and passes each response to the request that waits for it.

    Lines that are not valid messages, and responses to unknown ids, are ignored.
    """

    def __init__(self, process: StdioProcess, callbacks: Callbacks) -> None:
        if callbacks.on_stderr is not None:
            process.watch_stderr(callbacks.on_stderr)
        self._process = process
        self._callbacks = callbacks
        self._in_flight: dict[tuple[str, JsonValue], _PendingResponse] = {}
        self._answering: set[asyncio.Task[None]] = set()
        self._reader = asyncio.create_task(self._read())

    async def request(self, message: JsonObject, *, seconds: float) -> tuple[JsonObject, bytes]:
        """Send a request and wait for its response. Raises ServerGone, TimedOut, TooLarge."""
        key = id_key(message["id"])
        if key is None or key in self._in_flight:
            raise ValueError("a request needs an id that is a string or an integer and not in flight")
        pending: _PendingResponse = asyncio.get_running_loop().create_future()
        self._in_flight[key] = pending
        try:
            await self._write(message)
            async with asyncio.timeout(seconds):
                return await pending
        except TimeoutError as exc:
            await self._cancel(message["id"])
            raise TimedOut(str(message["method"]), seconds) from exc
        except asyncio.CancelledError:
            await self._cancel(message["id"])
            raise
        finally:
            self._in_flight.pop(key, None)

    async def notify(self, message: JsonObject) -> None:
        """Send a notification. Raises ServerGone."""
        await self._write(message)

    async def close(self) -> None:
        """Stop reading and stop the process."""
        tasks = [self._reader, *self._answering]
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
                # The id of the line is unknown, so every request in flight fails. Otherwise one of them would wait until
                # it times out.
                self._fail_all(exc)
                continue
            if line is None:
                break
            self._handle(line)
        with contextlib.suppress(TimedOut):
            await self._process.wait(1)
        self._fail_all(ServerGone(self._process.exit_code, self._process.stderr_tail))

    def _handle(self, line: bytes) -> None:
        try:
            message = parse_message(line)
        except NotUnderstood:
            return
        if is_response(message):
            self._resolve(message, line)
        elif id_key(message.get("id")) is not None:
            task = asyncio.create_task(self._answer(message))
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)
        elif "method" in message:
            self._callbacks.on_notification(message, line)

    def _resolve(self, message: JsonObject, line: bytes) -> None:
        key = id_key(message.get("id"))
        pending = self._in_flight.get(key) if key is not None else None
        if pending is not None and not pending.done():
            pending.set_result((message, line))

    async def _answer(self, message: JsonObject) -> None:
        response = await self._callbacks.on_request(message)
        with contextlib.suppress(ServerGone):
            await self._write(response)

    def _fail_all(self, error: ClientError) -> None:
        in_flight, self._in_flight = self._in_flight, {}
        for pending in in_flight.values():
            if not pending.done():
                pending.set_exception(error)
