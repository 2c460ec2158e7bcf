"""Requests that outlive the time limit of their callers: they go on, and the same request later gets their result.

Nothing else can be seen of a late result: it is handed to one later caller and then forgotten. No I/O.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Final, Generic, TypeVar

from strictwire.packs.code.engine import EngineTimeout

Value = TypeVar("Value")

MAX_KEPT: Final = 8
"""Results kept for callers that may come back. One can be several megabytes."""


class LateResults(Generic[Value]):
    """Runs each request once for all callers with the same key. `name` is the engine in a timeout."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._running: dict[Hashable, asyncio.Task[Value]] = {}
        self._waiting: dict[Hashable, int] = {}
        self._kept: OrderedDict[Hashable, Value] = OrderedDict()

    async def run(self, key: Hashable, begin: Callable[[], Coroutine[Any, Any, Value]], *, seconds: float) -> Value:
        """The result of `begin`, or of an earlier run with this key that was late.

        Raises EngineTimeout, and what `begin` raises. The key must change whenever the result may.
        """
        if key in self._kept:
            return self._kept.pop(key)
        task = self._running.get(key)
        if task is None:
            task = asyncio.create_task(begin())
            self._running[key] = task
            task.add_done_callback(lambda done: self._finish(key, done))
        await self._wait(key, task, seconds)
        if not task.done():
            raise EngineTimeout(self._name, seconds)
        return task.result()

    async def close(self) -> None:
        """Cancel everything that runs."""
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _wait(self, key: Hashable, task: asyncio.Task[Value], seconds: float) -> None:
        self._waiting[key] = self._waiting.get(key, 0) + 1
        try:
            await asyncio.wait([task], timeout=seconds)
        except asyncio.CancelledError:
            if self._waiting[key] == 1:
                task.cancel()  # the only caller gave up, which is not the same as being late
            raise
        finally:
            self._waiting[key] -= 1
            if not self._waiting[key]:
                del self._waiting[key]

    def _finish(self, key: Hashable, task: asyncio.Task[Value]) -> None:
        del self._running[key]
        if task.cancelled() or task.exception() is not None or key in self._waiting:
            return
        self._kept[key] = task.result()
        if len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)
