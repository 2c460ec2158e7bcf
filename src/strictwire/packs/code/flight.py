"""Single flight: calls with the same key share one execution, its result and its failure."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final, Generic, TypeVar

from strictwire.fault.failure import Refused, fail

Result = TypeVar("Result")

MAX_FLIGHTS: Final = 256
"""Executions at once, including those whose callers have given up."""


class Flights(Generic[Result]):
    """The executions under way, by key."""

    def __init__(self, *, late_seconds: float) -> None:
        self._late_seconds = late_seconds
        self._running: dict[str, asyncio.Task[Result]] = {}

    async def join(self, key: str, work: Callable[[], Awaitable[Result]]) -> Result:
        """The result of the execution under this key, which is started if there is none.

        The execution goes on after its callers gave up, so that its result can be kept for the next call.
        Raises Refused: what the work refused with; CAP_EXCEEDED, it took longer than `late_seconds`; OVERLOADED, too
        many executions.
        """
        return await asyncio.shield(self._running.get(key) or self._start(key, work))

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
        async with time_limit(self._late_seconds):
            return await work()

    def _land(self, key: str, task: asyncio.Task[Result]) -> None:
        self._running.pop(key, None)
        if not task.cancelled():
            # Read, so that asyncio does not report a failure whose callers have given up.
            task.exception()


@asynccontextmanager
async def time_limit(seconds: float) -> AsyncIterator[None]:
    """Ends what runs inside after a time. Raises Refused: CAP_EXCEEDED."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as exc:
        raise timed_out() from exc


def timed_out() -> Refused:
    """The refusal of a call past its time limit (A.6)."""
    return Refused(fail("CAP_EXCEEDED", text="Request timed out."))
