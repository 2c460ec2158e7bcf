"""Begins jobs at once, inside a task, and makes a task of its own only for those that wait.

A task for every message would cost more than most messages do, and a turn of the event loop more than some. So one task is
kept at hand: jobs take their first step as if they ran in it, and the first that is not done then goes on in it, with its
name, its cancellation and its context variables. The next job gets another.
"""

from __future__ import annotations

import asyncio
from asyncio.tasks import _enter_task, _leave_task  # for those who run tasks themselves: "Extending" in Python's manual
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextvars import copy_context
from typing import Any, TypeAlias

Rest: TypeAlias = Coroutine[Any, Any, None]
Job: TypeAlias = Callable[[Any], Rest | None]
"""Returns what is left to do, if anything is. Contains its own faults: nothing it raises has anywhere to go."""


class _Spare(Coroutine[Any, Any, None]):
    """A task that waits for something to do, and what it runs.

    Not a coroutine function: one that is cancelled before its first step never runs, and a job may do that to its task.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.context = copy_context()
        self._clean = self.context.copy()
        self._steps = self._run()
        self._started = False
        self._rest: Rest | None = None
        self._wake = loop.create_future()
        self.task: asyncio.Task[None] = loop.create_task(self, context=self.context)

    def go_on(self, rest: Rest | None) -> None:
        """Do this in the task, and end it."""
        self._rest = rest
        if not self._wake.done():
            self._wake.set_result(None)

    def step(self, job: Job, subjects: Iterator[Any]) -> tuple[bool, Rest | None]:
        """Begin jobs as long as the task is as if nothing had run in it: whether all were, and the rest of the last."""
        context, clean, cancelling = self.context, self._clean, self.task.cancelling
        for subject in subjects:
            rest = job(subject)
            if rest is not None or context != clean or cancelling():  # `is_used`
                return False, rest
        return True, None

    @property
    def is_used(self) -> bool:
        """Whether a job has left something behind: then it is not for others."""
        return self.context != self._clean or self.task.cancelling() > 0

    def send(self, value: Any) -> Any:
        self._started = True
        return self._steps.send(value)

    def throw(self, *exc: Any) -> Any:
        if self._started:
            return self._steps.throw(*exc)
        self._wake = self.task.get_loop().create_future()
        self._wake.cancel()
        return self.send(None)

    def close(self) -> None:
        self._steps.close()

    def __await__(self) -> Any:
        return self._steps.__await__()

    async def _run(self) -> None:
        try:
            await self._wake
        except asyncio.CancelledError:
            if self._rest is None:
                raise
            # Meant for the job, which has to see it where it waits.
            self.task.uncancel()
            self.task.cancel()
        if self._rest is not None:
            await self._rest


class Pump:
    """Jobs of one event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._spare: _Spare | None = None
        self.tasks: set[asyncio.Task[None]] = set()
        """Those of jobs that wait."""

    def submit(self, job: Job, subject: Any) -> None:
        """Have `job(subject)` begun in the next turn of the event loop. For use anywhere."""
        self._loop.call_soon(self.begin, job, subject)

    def begin(self, job: Job, subject: Any) -> None:
        """Begin `job(subject)` now. For callbacks of the event loop; inside a task it is the same as `submit`."""
        spare = self._spare or self._make_spare()
        try:
            _enter_task(self._loop, spare.task)
        except RuntimeError:
            self.submit(job, subject)
            return
        try:
            rest = spare.context.run(job, subject)
        finally:
            _leave_task(self._loop, spare.task)
        if rest is not None or spare.is_used:
            self._part_with(spare, rest)

    def begin_each(self, job: Job, subjects: Iterable[Any]) -> None:
        """The same for one subject after the other."""
        left = iter(subjects)
        over = False
        while not over:
            spare = self._spare or self._make_spare()
            try:
                _enter_task(self._loop, spare.task)
            except RuntimeError:
                for subject in left:
                    self.submit(job, subject)
                return
            try:
                over, rest = spare.context.run(spare.step, job, left)
            finally:
                _leave_task(self._loop, spare.task)
            if not over:
                self._part_with(spare, rest)

    def _make_spare(self) -> _Spare:
        self._spare = spare = _Spare(self._loop)
        return spare

    def _part_with(self, spare: _Spare, rest: Rest | None) -> None:
        """The task has something to do, or is not for others any more."""
        self._spare = None
        if rest is not None:
            self.tasks.add(spare.task)
            spare.task.add_done_callback(self.tasks.discard)
        spare.go_on(rest)

    def close(self) -> None:
        """Let the task at hand end; jobs that wait go on."""
        spare, self._spare = self._spare, None
        if spare is not None:
            spare.go_on(None)
