"""Single flight: calls with the same key share one execution, its result, its failure and its time limit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

from strictwire.fault.failure import Refused, fail

Result = TypeVar("Result")

MAX_FLIGHTS: Final = 256
"""Executions at once, those included that nobody waits for any more."""


class Flights(Generic[Result]):
    """The executions under way, by key."""

    def __init__(self, *, late_seconds: float) -> None:
        self._late_seconds = late_seconds
        self._running: dict[str, asyncio.Task[Result]] = {}

    async def join(self, key: str, work: Callable[[], Awaitable[Result]], *, seconds: float) -> Result:
        """The result of the execution under this key, which is started if there is none.

        The execution goes on after its callers gave up, so that its result can be kept for the next call.
        Raises Refused: what the work refused with; CAP_EXCEEDED after `seconds`; OVERLOADED, too many executions.
        """
        task = self._running.get(key) or self._start(key, work)
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.shield(task)
        except TimeoutError as exc:
            raise timed_out() from exc

    async def close(self) -> None:
        """Cancel every execution and wait for its end."""
        running = list(self._running.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _start(self, key: str, work: Callable[[], Awaitable[Result]]) -> asyncio.Task[Result]:
        if len(self._running) >= MAX_FLIGHTS:
            raise Refused(fail("OVERLOADED"))
        task = asyncio.create_task(self._bounded(work))
        self._running[key] = task
        task.add_done_callback(lambda done: self._land(key, done))
        return task

    async def _bounded(self, work: Callable[[], Awaitable[Result]]) -> Result:
        try:
            async with asyncio.timeout(self._late_seconds):
                return await work()
        except TimeoutError as exc:
            raise timed_out() from exc

    def _land(self, key: str, task: asyncio.Task[Result]) -> None:
        self._running.pop(key, None)
        if not task.cancelled():
            # Read, so that asyncio does not report a failure that nobody waited for.
            task.exception()


def timed_out() -> Refused:
    """The refusal of a call past its time limit (A.6)."""
    return Refused(fail("CAP_EXCEEDED", text="Request timed out."))
