"""The session of a Client: opened once, opened again where that is allowed, and all requests through it.

A request is repeated only if the session ended before its response and the request is safe to repeat: the server may have
acted on it. A call of a tool is safe only if the tool claims to be read-only or idempotent.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from strictwire.canon.json import JsonObject
from strictwire.client.background import BackgroundTasks
from strictwire.client.channel import NO_HEADERS
from strictwire.client.errors import ClientError, NotUnderstood, ServerGone
from strictwire.client.inbox import OnParams
from strictwire.client.message import Era, RemoteError, Reply, Result
from strictwire.client.questions import Answers
from strictwire.client.rounds import complete_rounds
from strictwire.client.session import Session, SessionOptions
from strictwire.client.tasks import await_task, is_task
from strictwire.server.client.targets import Target, reopens
from strictwire.wire.names import META_LOG_LEVEL

CLOSE_SECONDS: Final = 2.0
"""Time for the cancellations of tasks that are being sent when the client is closed."""

NOT_CONNECTED: Final = "the client is not connected; use `async with Client(...) as client`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sending:
    """How one request is sent."""

    seconds: float | None = None
    """The time limit; None for that of the client."""
    is_repeatable: bool = False
    """Whether the server may get the request twice."""
    headers: Mapping[str, str] = field(default_factory=dict)
    on_progress: OnParams | None = None


class ClientClosed(ServerGone):
    """The program has closed the client; a request in flight may find that out, too."""

    def __str__(self) -> str:
        return "the client is closed; use it inside `async with Client(...) as client`"


class Connection:
    """The current session with a target."""

    def __init__(self, target: Target, options: SessionOptions, answers: Answers, *, takes_tasks: bool) -> None:
        """`takes_tasks`: the client declares the extension, so the server may answer a call with a task."""
        self.target = target
        self._options = options
        self._answers = answers
        self._current: Session | None = None
        self._opening = asyncio.Lock()
        self._is_open = False
        self._is_closed = False
        self._tasks = BackgroundTasks()
        self._takes_tasks = takes_tasks
        self.level: str | None = None
        """The least severe log message that the client wants; None for none."""

    @property
    def current(self) -> Session | None:
        """The session that is open, or was the last to be."""
        return self._current

    async def open(self) -> Session:
        """Open the first session. Raises ClientError, and RuntimeError: it was opened before."""
        if self._is_open:
            raise RuntimeError("a client connects only once; make a new Client(...)")
        self._is_open = True
        return await self.session()

    async def session(self) -> Session:
        """The session. One that has ended is opened again, if the target allows it.

        Raises ClientError, and RuntimeError: `open` was not called.
        """
        current = self._current
        if current is not None and current.alive:  # fast path: nothing to open
            return current
        async with self._opening:
            if self._is_closed:
                raise ClientClosed
            if not self._is_open:  # nothing would end the server that this request starts
                raise RuntimeError(NOT_CONNECTED)
            current = self._current
            if current is None or (not current.alive and reopens(self.target)):
                if current is not None:
                    self._current = None
                    await current.close()
                self._current = current = await self.target.open_session(self._options)
                await self._set_level(current)
            return current

    async def request(self, method: str, params: JsonObject, how: Sending) -> Reply:
        """Send a request, and answer the questions of the server in between. Raises ClientError."""
        try:
            return await self._send(await self.session(), method, params, how)
        except ServerGone:
            if not (how.is_repeatable and reopens(self.target)):
                raise
        return await self._send(await self.session(), method, params, how)

    async def list_all(self, method: str, member: str) -> list[JsonObject] | RemoteError:
        """A whole list, or the error response of the server. Raises ClientError."""
        try:
            return await (await self.session()).list_all(method, member)
        except ServerGone:
            if not reopens(self.target):
                raise
        return await (await self.session()).list_all(method, member)

    async def set_level(self, level: str | None) -> None:
        """Ask for log messages from this level. Raises ClientError."""
        self.level = level
        if self._current is not None:
            await self._set_level(self._current)

    async def close(self) -> None:
        """End the session. Never raises."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._tasks.join()
        await self._tasks.cancel()
        self._is_closed = True
        current, self._current = self._current, None
        if current is not None:
            await current.close()

    async def _send(self, session: Session, method: str, params: JsonObject, how: Sending) -> Reply:
        async def send(given: JsonObject) -> Reply:
            return await session.request(
                method,
                self._with_level(given) if session.era is Era.MODERN else given,
                seconds=how.seconds,
                headers=how.headers if session.era is Era.MODERN else NO_HEADERS,
                on_progress=how.on_progress,
            )

        if session.era is Era.LEGACY:
            return await send(params)
        reply = await complete_rounds(send, params, self._answers)
        if not isinstance(reply, Result) or not is_task(reply):
            return reply
        if not self._takes_tasks:
            raise NotUnderstood("the server answered with a task, which the client did not declare", reply.raw)
        return await await_task(reply, self._ask_about_task, self._answers, self._cancel_later)

    async def _ask_about_task(self, method: str, params: JsonObject) -> Reply:
        return await self.request(method, params, Sending(is_repeatable=True))

    def _cancel_later(self, params: JsonObject) -> None:
        """Cancel a task whose caller has given up, in the background."""
        self._tasks.start(self._try_cancel(params))

    async def _try_cancel(self, params: JsonObject) -> None:
        with contextlib.suppress(ClientError):
            await self._ask_about_task("tasks/cancel", params)

    def _with_level(self, params: JsonObject) -> JsonObject:
        if self.level is None:
            return params
        return {**params, "_meta": {**params.get("_meta", {}), META_LOG_LEVEL: self.level}}

    async def _set_level(self, session: Session) -> None:
        """In the legacy era the level belongs to the session. A server that refuses it keeps its own."""
        if self.level is not None and session.era is Era.LEGACY and "logging" in session.capabilities:
            await session.request("logging/setLevel", {"level": self.level})
