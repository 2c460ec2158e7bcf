"""Stage 4: run the handler within its time. The one place that catches whatever a handler raises."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Awaitable
from concurrent.futures import Executor
from functools import partial

from strictwire.fault.failure import Failure, Refused, fail
from strictwire.fault.plain import plain
from strictwire.pipeline.call import AnswersNeeded, Asking, Call, Operation
from strictwire.pipeline.caps import Gate
from strictwire.pipeline.deadline import Deadline
from strictwire.pipeline.prime import Primed, begin

log = logging.getLogger("strictwire.run")


async def run(operation: Operation, call: Call, executor: Executor, *, debug_stack: bool = False) -> object:
    """What the handler returned, or a Failure (TIMEOUT, TOOL_FAILED, or the one it refused with), or an Asking.

    Raises CancelledError if the call itself was cancelled.
    """
    call.context.deadline = Deadline(operation.caps.timeout_ms / 1000)
    if operation.is_async:
        begun = begin(operation.handler, call.arguments, call.context)
    else:
        begun = begin(_run_in_thread, operation, call, executor)
    return await finish(begun, operation, call, debug_stack=debug_stack)


async def finish(begun: object, operation: Operation, call: Call, *, debug_stack: bool = False) -> object:
    """The rest of `run`, for a handler whose first step was taken, within the deadline of its context."""
    if type(begun) is not Primed:
        return begun
    deadline = call.context.deadline = call.context.deadline or Deadline(operation.caps.timeout_ms / 1000)
    try:
        returned = await _wait(begun, deadline)
    except BaseException as exc:  # noqa: BLE001 - the one place that catches whatever a handler raises
        return settle(exc, operation, call, debug_stack=debug_stack)
    # A handler may swallow the exception that ends it; what it returns after its time is no answer all the same.
    return _timed_out(operation) if deadline.expired() else returned


async def _wait(awaitable: Awaitable[object], deadline: Deadline) -> object:
    async with deadline.arm():
        returned = await awaitable
    if not deadline.expired():
        _end_if_cancelled()
    return returned


def settle(exc: BaseException, operation: Operation, call: Call, *, debug_stack: bool) -> Failure | Asking:
    """What an exception out of a handler means. Raises it again if the call itself was cancelled."""
    if isinstance(exc, AnswersNeeded):
        return Asking(questions=exc.questions)
    if isinstance(exc, Refused):
        call.trace.facts = getattr(exc, "facts", None)
        return exc.failure
    deadline = call.context.deadline
    if deadline is not None and deadline.expired():
        return _timed_out(operation)
    if isinstance(exc, GeneratorExit) or _was_cancelled(exc):
        raise exc
    return _contain(exc, operation, call, debug_stack=debug_stack)


def _timed_out(operation: Operation) -> Failure:
    return fail("TIMEOUT", details={"timeoutMs": operation.caps.timeout_ms, "tool": operation.name})


def _end_if_cancelled() -> None:
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def _contain(exc: BaseException, operation: Operation, call: Call, *, debug_stack: bool) -> Failure:
    """The exception itself goes to the log of whoever runs the server; the failure carries only its normalised form."""
    log.error("%s %s raised %s", operation.kind.value, operation.name, type(exc).__name__)
    log.debug("traceback of the above", exc_info=exc)
    if debug_stack:
        call.trace.stack = "".join(traceback.format_exception(exc))
    return fail("TOOL_FAILED", cause=plain(exc))


async def _run_in_thread(operation: Operation, call: Call, executor: Executor) -> object:
    """A plain function cannot be stopped: past its time it runs on unheard, and its place stays taken until it ends."""
    gate = operation.gate
    job = executor.submit(operation.handler, call.arguments, call.context)
    running = asyncio.wrap_future(job)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        # What still waits for a thread never begins; what has begun keeps its place.
        if not job.cancel() and not running.done() and gate.enter():
            running.add_done_callback(partial(_leave_late, gate))
        raise


def _leave_late(gate: Gate, running: asyncio.Future[object]) -> None:
    gate.leave()
    if not running.cancelled():
        running.exception()  # taken, so that nobody warns of an exception that nobody waits for


def _was_cancelled(exc: BaseException) -> bool:
    """Whether the call was cancelled from outside, and not by a handler that raised CancelledError by itself."""
    task = asyncio.current_task()
    return isinstance(exc, asyncio.CancelledError) and task is not None and task.cancelling() > 0
