"""The run stage: runs the handler in its own task, within its time limit, and catches everything that it raises.

The handler's task is not the call's: a handler that cancels its own task, ignores its cancellation or leaves context
variables behind cannot keep the call from being recorded and answered.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from functools import partial

from msgspec import Struct

from strictwire.fault.failure import Failure, Refused, fail
from strictwire.fault.plain import plain
from strictwire.pipeline.call import AnswersNeeded, Asking, Call
from strictwire.pipeline.compiled import CompiledTool
from strictwire.pipeline.deadline import Deadline
from strictwire.pipeline.limits import ConcurrencyLimit
from strictwire.pipeline.tasks import task_starter

log = logging.getLogger("strictwire.run")


class Raised(Struct, frozen=True):
    """What a handler raised, as a value: SystemExit that leaves a task stops the event loop."""

    exc: BaseException


class HandlerRunner:
    """Runs handlers of one server."""

    def __init__(
        self, executor: Executor, *, debug_stack: bool = False, on_raise: Callable[[BaseException], None] | None = None
    ) -> None:
        """`executor` runs handlers that are plain functions. `on_raise` gets what one raises, in the call's context."""
        self._executor = executor
        self._start = task_starter()
        self._debug_stack = debug_stack
        self._on_raise = on_raise
        self._abandoned: set[asyncio.Task[object]] = set()
        """Handlers that were cancelled and have not ended. The event loop itself holds tasks weakly."""

    async def run(self, tool: CompiledTool, call: Call) -> object:
        """What the handler returned, or a Failure (TIMEOUT, TOOL_FAILED, or the one that it raised), or an Asking.

        Raises CancelledError if the call is cancelled; then its handler is too.
        """
        deadline = call.context.deadline = Deadline(tool.seconds)
        handler = self._start(self._invoke(tool, call))
        if not handler.done():
            try:
                if tool.seconds is None:
                    await asyncio.wait((handler,))
                else:
                    async with deadline.arm():
                        await asyncio.wait((handler,))
            except TimeoutError:
                self._abandon(handler, tool.limit)
                return fail("TIMEOUT", details={"timeoutMs": tool.caps.timeout_ms, "tool": tool.name})
            except asyncio.CancelledError:
                self._abandon(handler, tool.limit)
                raise
        returned = Raised(asyncio.CancelledError()) if handler.cancelled() else handler.result()
        try:
            return self._settle(returned.exc, tool, call) if type(returned) is Raised else returned
        finally:
            # The traceback of a handler that started eagerly ends in this frame. If the frame refers to the exception too,
            # both, and the arguments of the call, stay until the garbage collector runs: 640 MB after 80 large calls.
            del handler, returned

    async def drain(self, seconds: float) -> None:
        """Wait until cancelled handlers have cleaned up, but not longer than this."""
        if self._abandoned:
            await asyncio.wait(tuple(self._abandoned), timeout=seconds)

    async def _invoke(self, tool: CompiledTool, call: Call) -> object:
        try:
            if tool.is_async:
                return await tool.handler(call.arguments, call.context)
            return await self._run_in_thread(tool, call)
        except (asyncio.CancelledError, GeneratorExit):
            raise
        except BaseException as exc:  # noqa: BLE001 - the one place that catches everything a handler raises
            return Raised(exc)

    async def _run_in_thread(self, tool: CompiledTool, call: Call) -> object:
        """Run a plain function. It cannot be stopped: after a timeout it counts as a running call until it ends."""
        job = self._executor.submit(tool.handler, call.arguments, call.context)
        try:
            return await asyncio.wrap_future(job)
        except asyncio.CancelledError:
            if not job.done():  # it already runs on a thread; a job that still waited for one is cancelled, and so done
                tool.limit.take()
                job.add_done_callback(partial(_leave_from_thread, asyncio.get_running_loop(), tool.limit))
            raise
        finally:
            del job  # see `run`: what the function raised refers to this frame

    def _abandon(self, handler: asyncio.Task[object], limit: ConcurrencyLimit) -> None:
        """Cancel a handler whose result is no longer needed. It counts as a running call until it ends."""
        if handler.done():
            return
        handler.cancel()
        limit.take()
        self._abandoned.add(handler)
        handler.add_done_callback(partial(self._forget, limit))

    def _forget(self, limit: ConcurrencyLimit, handler: asyncio.Task[object]) -> None:
        self._abandoned.discard(handler)
        limit.leave()

    def _settle(self, exc: BaseException, tool: CompiledTool, call: Call) -> Failure | Asking:
        """The outcome for an exception of a handler."""
        if isinstance(exc, AnswersNeeded):
            return Asking(questions=exc.questions)
        if self._on_raise is not None:
            self._on_raise(exc)
        if isinstance(exc, Refused):
            call.trace.facts = getattr(exc, "facts", None)
            if exc.failure.code == "OUTPUT_INVALID":
                log.error("%s %s returned an invalid result: %s", tool.kind.value, tool.name, dict(exc.failure.details))
            return exc.failure
        # The exception itself goes to the log of the server; the failure carries only its normalised form.
        log.error("%s %s raised %s", tool.kind.value, tool.name, type(exc).__name__, exc_info=exc)
        if self._debug_stack:
            call.trace.stack = "".join(traceback.format_exception(exc))
        return fail("TOOL_FAILED", cause=plain(exc))


def _leave_from_thread(loop: asyncio.AbstractEventLoop, limit: ConcurrencyLimit, _job: Future[object]) -> None:
    with suppress(RuntimeError):  # the event loop is closed: the count no longer matters
        loop.call_soon_threadsafe(limit.leave)
