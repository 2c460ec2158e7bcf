"""Threads for handlers that are plain functions. They never keep a process alive: a handler that hangs cannot be stopped,
and the pool of the standard library would wait for it at exit for ever."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from queue import SimpleQueue
from typing import Any, TypeAlias, TypeVar

Result = TypeVar("Result")
_Job: TypeAlias = tuple[Future[Any], Callable[[], Any]]


class Workers(Executor):
    """At most `limit` daemon threads, started when there is work and none is idle."""

    def __init__(self, limit: int, *, name: str) -> None:
        self._limit = limit
        self._name = name
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._lock = threading.Lock()
        self._started = 0
        self._closed = False

    def submit(self, function: Callable[..., Result], /, *args: Any, **named: Any) -> Future[Result]:
        """Run it on a thread. Raises RuntimeError: the pool is closed."""
        future: Future[Result] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("the workers were sent home")
            self._jobs.put((future, lambda: function(*args, **named)))
            if self._started < self._limit and not self._idle.acquire(blocking=False):
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
            _perform(*job)
            del job
            self._idle.release()


def _perform(future: Future[Any], work: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = work()
    except BaseException as exc:  # noqa: BLE001 - handed on: whoever waits for the result gets it
        future.set_exception(exc)
    else:
        future.set_result(result)
