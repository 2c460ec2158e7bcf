"""Daemon threads for handlers that are plain functions.

Not `ThreadPoolExecutor`: at exit it joins its threads, and a handler that hangs cannot be stopped. These threads never keep
a process alive.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeAlias, TypeVar

Result = TypeVar("Result")
_Job: TypeAlias = tuple[Future[Any], Callable[[], Any]]


class DaemonThreads(Executor):
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
        """Run a function on a thread. Raises RuntimeError: the pool is shut down."""
        future: Future[Result] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("the thread pool is shut down")
            self._jobs.put((future, partial(function, *args, **named)))
            if self._idle:
                self._idle -= 1
            elif self._started < self._limit:
                self._started += 1
                threading.Thread(target=self._work, name=f"{self._name}-{self._started}", daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002 - Executor's signature
        """Take no more work. Running functions run on, and nothing waits for them."""
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
            resolve = _perform(*job)
            with self._lock:  # before the result is visible, so that a caller that has the result finds the thread idle
                self._idle += 1
            resolve()
            del job, resolve


def _perform(future: Future[Any], function: Callable[[], Any]) -> Callable[[], None]:
    """Run the function, unless it was cancelled; returns how to make the result visible."""
    if not future.set_running_or_notify_cancel():
        return lambda: None
    try:
        return partial(future.set_result, function())
    except BaseException as exc:  # noqa: BLE001 - passed on to the waiting caller
        return partial(future.set_exception, exc)
    finally:
        del future, function  # the traceback refers to this frame, which would refer to the exception: a cycle
