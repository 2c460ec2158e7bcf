"""Runs jobs one after the other in one task, and beside each other only where they wait.

A task for every message would cost more than most messages do. A job that waits keeps the task it runs in, with its name,
its cancellation and its context variables; whatever comes behind it goes on in another.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from typing import Any, TypeAlias

Job: TypeAlias = Callable[[Any], Coroutine[Any, Any, None] | None]
"""Returns what is left to do, if anything is. Contains its own faults: nothing it raises has anywhere to go."""


class Pump:
    """Jobs of one event loop, begun in the order in which they come."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._jobs: deque[tuple[Job, Any]] = deque()
        self._leader: asyncio.Task[None] | None = None
        """The task that takes the next job; whoever waits leads no longer."""
        self.tasks: set[asyncio.Task[None]] = set()
        """Everything that runs."""

    def submit(self, job: Job, subject: Any) -> None:
        """Have `job(subject)` run soon."""
        self._jobs.append((job, subject))
        if self._leader is None:
            self._lead()

    def _lead(self) -> None:
        task = self._leader = self._loop.create_task(self._run())
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        # Comes right behind the first step of the task, which by then has done every job or waits in one.
        self._loop.call_soon(self._hand_over, task)

    def _hand_over(self, task: asyncio.Task[None]) -> None:
        if self._leader is task:
            self._leader = None
            if self._jobs:
                self._lead()

    async def _run(self) -> None:
        task, clean = asyncio.current_task(), copy_context()
        while self._jobs and self._leader is task:
            job, subject = self._jobs.popleft()
            rest = job(subject)
            if rest is not None:
                await rest
            # A job that set a context variable keeps it to itself: the next one gets a fresh context.
            if copy_context() != clean:
                break
