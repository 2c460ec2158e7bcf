"""Starts one task for each message, on every transport, and knows those that still run."""

from __future__ import annotations

import asyncio
import logging
from functools import partial

from strictwire.pipeline.tasks import task_starter
from strictwire.profiles.endpoint import Deliver, Endpoint, Inbound, Outlet

log = logging.getLogger("strictwire.transport")


class MessageTasks:
    """The messages of one transport that are being answered."""

    def __init__(self) -> None:
        self._start = task_starter()
        self._running: set[asyncio.Task[None]] = set()

    @property
    def count(self) -> int:
        """Messages that are being answered."""
        return len(self._running)

    def start(self, endpoint: Endpoint, inbound: Inbound, outlet: Outlet, deliver: Deliver) -> asyncio.Task[None]:
        """Have a message answered, cancelled, or refused with our own fault. Its task may be done already."""
        task: asyncio.Task[None] = self._start(endpoint.serve(inbound, outlet, deliver))
        if not task.done():
            self._running.add(task)
            task.add_done_callback(self._running.discard)
            task.add_done_callback(partial(_settle, endpoint, inbound, deliver))
        elif task.cancelled() or task.exception() is not None:
            _settle(endpoint, inbound, deliver, task)
        return task

    async def cancel_all(self) -> None:
        """Stop answering. Returns when every task has ended."""
        running = tuple(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def _settle(endpoint: Endpoint, inbound: Inbound, deliver: Deliver, task: asyncio.Task[None]) -> None:
    """A message that was cancelled has no answer; one that met a fault of ours is refused: no client waits for ever."""
    if task.cancelled():
        deliver(None)
    elif (fault := task.exception()) is not None:
        log.error("a fault of ours in %s", type(endpoint).__name__, exc_info=fault)
        deliver(endpoint.refuse_fault(inbound))
