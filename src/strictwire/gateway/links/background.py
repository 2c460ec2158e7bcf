"""Background tasks of one owner. The event loop itself holds tasks only weakly."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Coroutine, Iterator
from typing import Any, Final

RETRY_SECONDS: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Waits before an upstream, or a subscription to it, is tried again. Half a minute is what a person notices as down."""


def retry_delays() -> Iterator[float]:
    """The waits between attempts, without end."""
    return itertools.chain(RETRY_SECONDS, itertools.repeat(RETRY_SECONDS[-1]))


class BackgroundTasks:
    """Keeps tasks until they end, and cancels the rest when their owner closes."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def __bool__(self) -> bool:
        """Whether a task is running."""
        return bool(self._tasks)

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run a coroutine. It must contain its own failures."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def join(self) -> None:
        """Wait for the tasks that are running."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def cancel(self) -> None:
        """Cancel every task and wait until it has ended."""
        for task in self._tasks:
            task.cancel()
        await self.join()


def retrieve_exception(task: asyncio.Task[Any]) -> None:
    """Mark the exception of a task as seen: every request that waited for it may have been cancelled."""
    if not task.cancelled():
        task.exception()
