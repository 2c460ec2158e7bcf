"""Threads for handlers that are plain functions. They never keep a process alive: a handler that hangs cannot be stopped,
and the pool of the standard library would wait for it at exit for ever."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeAlias, TypeVar
from weakref import ref

from strictwire.pipeline.loops import one_of_each

Result = TypeVar("Result")
_Job: TypeAlias = tuple[Future[Any], Callable[[], Any]]


class Workers(Executor):
    """At most `limit` daemon threads, started when there is work and none is idle."""

    def __init__(self, limit: int, *, name: str) -> None:
        self._limit = limit
        self._name = name
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0
        self._started = 0
        self._closed = False

    def submit(self, function: Callable[..., Result], /, *args: Any, **named: Any) -> Future[Result]:
        """Run it on a thread. Raises RuntimeError: the pool is closed."""
        future: Future[Result] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("the workers were sent home")
            self._jobs.put((future, lambda: function(*args, **named)))
            if self._idle:
                self._idle -= 1
            elif self._started < self._limit:
                self._started += 1
                threading.Thread(target=self._work, name=f"{self._name}-{self._started}", daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002 - the seam's signature
        """Take no more work. What runs, runs on; nobody waits for it."""
        with self._lock:
            self._closed = True
        while cancel_futures and not self._jobs.empty():
            job = self._jobs.get()
            if job is not None:
                job[0].cancel()
        for _ in range(self._started):
            self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            tell = _perform(*job)
            with self._lock:  # before anybody is told, so that whoever has the result finds the thread idle
                self._idle += 1
            tell()
            del job, tell


def _perform(future: Future[Any], work: Callable[[], Any]) -> Callable[[], None]:
    """Do it, unless it was cancelled; returns how to tell what came of it."""
    if not future.set_running_or_notify_cancel():
        return _tell_nobody
    try:
        return partial(future.set_result, work())
    except BaseException as exc:  # noqa: BLE001 - handed on: whoever waits for the result gets it
        return partial(future.set_exception, exc)


def _tell_nobody() -> None:
    """Who cancelled it knows."""


class Homecoming:
    """Brings what threads have done back to one event loop. Waking it costs more than most plain functions do, so those
    that are done by the time it is awake share one waking."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = ref(loop)
        self._calls: deque[Callable[[], None]] = deque()

    def call(self, callback: Callable[[], None], _job: object = None) -> None:
        """Have it called on the event loop. For any thread."""
        self._calls.append(callback)
        # Where another is before this one, whoever brought it has woken the loop, and that has yet to take it.
        if len(self._calls) == 1 and (loop := self._loop()) is not None:
            with suppress(RuntimeError):  # the loop was closed: nobody waits any more
                loop.call_soon_threadsafe(self._make_calls)

    def _make_calls(self) -> None:
        while self._calls:
            self._calls.popleft()()


homecoming_of = one_of_each(Homecoming)
"""The one of an event loop."""
