"""Finds handlers that block the event loop, for development. Other servers use `HandlerRunner`, and pay nothing for it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Executor
from functools import partial
from typing import Any

from strictwire.pipeline.call import Call
from strictwire.pipeline.compiled import CompiledTool
from strictwire.pipeline.run import HandlerRunner

log = logging.getLogger("strictwire.run")


class Watched:
    """An awaitable that runs a coroutine and measures each of its steps: from one `await` that waits to the next."""

    __slots__ = ("_clock", "_coroutine", "longest")

    def __init__(self, coroutine: Coroutine[Any, Any, object], clock: Callable[[], float]) -> None:
        self._coroutine = coroutine
        self._clock = clock
        self.longest = 0.0
        """Seconds of the longest step."""

    def __await__(self) -> Generator[Any, Any, object]:
        """Run the coroutine. What is sent to or thrown into this generator goes on to the coroutine."""
        step: Callable[[], Any] = partial(self._coroutine.send, None)
        while True:
            started = self._clock()
            try:
                waits_for = step()
            except StopIteration as stop:
                result: object = stop.value
                return result
            finally:
                self.longest = max(self.longest, self._clock() - started)
            try:
                step = partial(self._coroutine.send, (yield waits_for))
            except GeneratorExit:
                self._coroutine.close()
                raise
            except BaseException as exc:  # noqa: BLE001 - such as a cancellation, which the coroutine may handle
                step = partial(self._coroutine.throw, exc)


class WatchingRunner(HandlerRunner):
    """A runner that warns once for each coroutine function that holds the event loop for too long."""

    def __init__(
        self,
        executor: Executor,
        *,
        debug_stack: bool = False,
        on_raise: Callable[[BaseException], None] | None = None,
        slow_ms: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(executor, debug_stack=debug_stack, on_raise=on_raise)
        self._slow_ms = slow_ms
        self._clock = clock
        self._warned: set[tuple[str, str]] = set()

    async def _invoke(self, tool: CompiledTool, call: Call) -> object:
        if not tool.is_async:
            return await super()._invoke(tool, call)
        watched = Watched(super()._invoke(tool, call), self._clock)
        try:
            return await watched
        finally:
            self._warn(tool, int(watched.longest * 1000))

    def _warn(self, tool: CompiledTool, held_ms: int) -> None:
        key = (tool.kind.value, tool.name)
        if held_ms < self._slow_ms or key in self._warned:
            return
        self._warned.add(key)
        log.warning(
            "%s %s held the event loop for %d ms, and no other call ran meanwhile: use def instead of async def, or "
            "asyncio.to_thread",
            *key,
            held_ms,
        )
