"""The values of a server while it runs: that of its lifespan, and those of its server-scoped dependencies."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, AsyncExitStack
from functools import partial
from types import TracebackType
from typing import Any, TypeVar

from strictwire.server.declare.context import NO_LIFESPAN
from strictwire.server.declare.depends import Dependency, Style, in_order
from strictwire.server.declare.lifespan import Opened

Value = TypeVar("Value")


class Running:
    """One server that runs. The stack closes the server-scoped dependencies."""

    def __init__(self, executor: Executor, stack: AsyncExitStack) -> None:
        self.executor = executor
        self.lifespan: Any = NO_LIFESPAN
        """What the lifespan yielded."""
        self.values: dict[object, Any] = {}
        """The values of the server-scoped dependencies that are open, by their keys."""
        self._stack = stack
        self._lock = asyncio.Lock()

    async def open(self, dependency: Dependency) -> None:
        """Provide a server-scoped dependency and those that it needs, unless that is done. Raises what they raise."""
        async with self._lock:
            for each in in_order([dependency]):
                if each.key not in self.values:
                    # A stack of its own, so that an error in its clean-up names it.
                    stack = AsyncExitStack()
                    value = await provide(each, each.arguments(self.values, None), stack, self.executor)
                    self._stack.push_async_exit(Opened(f"the dependency {each.name}", stack))
                    self.values[each.key] = value


async def provide(dependency: Dependency, given: dict[str, Any], stack: AsyncExitStack, executor: Executor) -> Any:
    """The value of a dependency; the stack cleans up. Plain functions run on a thread. Raises what the function raises."""
    function = dependency.provide
    if dependency.style is Style.COROUTINE:
        return await function(**given)
    if dependency.style is Style.ASYNC_GENERATOR:
        return await stack.enter_async_context(function(**given))
    if dependency.style is Style.GENERATOR:
        return await _enter_in_thread(function(**given), stack, executor)
    return await in_thread(executor, partial(function, **given))


def provide_here(dependency: Dependency, given: dict[str, Any], enter: Callable[[AbstractContextManager[Any]], Any]) -> Any:
    """The value of a dependency that needs no event loop, on this thread. Raises what the function raises."""
    value = dependency.provide(**given)
    return enter(value) if dependency.style is Style.GENERATOR else value


async def _enter_in_thread(manager: AbstractContextManager[Value], stack: AsyncExitStack, executor: Executor) -> Value:
    is_entered = False

    def enter() -> Value:
        nonlocal is_entered
        value = manager.__enter__()
        is_entered = True
        return value

    async def leave(kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None) -> bool | None:
        return await in_thread(executor, partial(manager.__exit__, kind, exc, trace)) if is_entered else None

    # Before it is entered: a call that is cancelled meanwhile is cleaned up too.
    stack.push_async_exit(leave)
    return await in_thread(executor, enter)


async def in_thread(executor: Executor, function: Callable[[], Value]) -> Value:
    """The value of a function on a thread. If the call is cancelled, waits until the function has ended.

    A thread cannot be stopped. Cleaning up while the function still runs would close what it uses.
    """
    job = executor.submit(function)
    try:
        return await asyncio.wrap_future(job)
    except asyncio.CancelledError:
        if not job.cancel():
            await _wait_until_done(job)
        raise


async def _wait_until_done(job: Future[Any]) -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    job.add_done_callback(lambda _job: loop.call_soon_threadsafe(ended.set))
    while not job.done():
        try:
            await ended.wait()
        except asyncio.CancelledError:
            continue  # cancelled again: the thread runs on all the same
