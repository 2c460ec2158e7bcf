"""Functions of the program that a Client calls: plain or async, in order, and never more than a limit at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any, Final, TypeAlias, TypeVar

from strictwire.canon.json import JsonObject
from strictwire.client.channel import refuse
from strictwire.client.questions import Answers, InvalidAnswer, NotAnswered

log = logging.getLogger("strictwire.client")

MAX_RUNNING: Final = 1000
"""Async callbacks that run at the same time. Further notifications are dropped: the program is too slow for the server."""

T = TypeVar("T")

Callback: TypeAlias = Callable[[T], Awaitable[None] | None]
"""A plain or async function of one value."""


class CallbackRunner:
    """Runs callbacks, and waits for the async ones."""

    def __init__(self) -> None:
        self._running: set[asyncio.Future[Any]] = set()

    def run(self, callback: Callback[T], value: T) -> None:
        """Call a function. If it is async, it goes on in the background. Its exceptions are logged."""
        if len(self._running) >= MAX_RUNNING:
            return
        try:
            returned = callback(value)
        except Exception:
            # The program's own function failed. The connection and its requests must go on.
            log.exception("a callback raised")
            return
        if isawaitable(returned):
            task = asyncio.ensure_future(returned)
            self._running.add(task)
            task.add_done_callback(self._finish)

    async def join(self) -> None:
        """Wait for the async callbacks that are running."""
        if self._running:
            await asyncio.gather(*self._running, return_exceptions=True)

    async def close(self) -> None:
        """Cancel the async callbacks that are running."""
        for task in self._running:
            task.cancel()
        await self.join()

    def _finish(self, task: asyncio.Future[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (exc := task.exception()) is not None:
            log.error("a callback raised", exc_info=exc)


def answer_requests(answers: Answers) -> Callable[[JsonObject], Awaitable[JsonObject]]:
    """A function that answers the requests of a legacy server."""

    async def answer(message: JsonObject) -> JsonObject:
        params = message.get("params")
        try:
            result = await answers.answer(str(message.get("method")), params if isinstance(params, dict) else {})
        except NotAnswered as exc:
            if exc.code == METHOD_NOT_FOUND:
                return await refuse(message)
            return _error(message, exc.code, exc.reason)
        except InvalidAnswer as exc:
            log.error("%s", exc)  # noqa: TRY400 - the message says it all
            return _error(message, INTERNAL_ERROR, "the client has no valid answer")
        except Exception:
            # The program's own function failed. The server must not wait for ever, and gets no text of the exception.
            log.exception("a callback raised for %s", str(message.get("method"))[:100])
            return _error(message, INTERNAL_ERROR, "the client failed to answer")
        return {"jsonrpc": "2.0", "id": message["id"], "result": result}

    return answer


METHOD_NOT_FOUND: Final = -32601
INTERNAL_ERROR: Final = -32603


def _error(message: JsonObject, code: int, text: str) -> JsonObject:
    return {"jsonrpc": "2.0", "id": message["id"], "error": {"code": code, "message": text}}
