"""Background tasks of one owner. The event loop itself holds tasks only weakly."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any


class BackgroundTasks:
    """Keeps tasks until they end, and cancels the rest when their owner closes."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def __bool__(self) -> bool:
        """Whether a task is running."""
        return bool(self._tasks)

    def __len__(self) -> int:
        """How many tasks are running."""
        return len(self._tasks)

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
