"""Stage 4: run the handler within its time. The one place that catches whatever a handler raises."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from functools import partial

from msgspec import Struct

from strictwire.canon.json import JsonObject
from strictwire.contract.handler import CallContext
from strictwire.fault.failure import Failure, Refused, fail
from strictwire.fault.plain import plain
from strictwire.pipeline.call import AnswersNeeded, Asking, Call, Operation
from strictwire.pipeline.deadline import Deadline
from strictwire.pipeline.prime import Primed, begin
from strictwire.pipeline.workers import homecoming_of

log = logging.getLogger("strictwire.run")


class Ended(Struct, frozen=True):
    """Instead of what a handler would have returned: how it ended."""

    exc: BaseException


async def run(operation: Operation, call: Call, executor: Executor, *, debug_stack: bool = False) -> object:
    """What the handler returned, or a Failure (TIMEOUT, TOOL_FAILED, or the one it refused with), or an Asking.

    Raises CancelledError if the call itself was cancelled.
    """
    deadline = call.context.deadline = Deadline(operation.caps.timeout_ms / 1000)
    begun = begin(starter(operation, call.context, executor), call.arguments)
    ended = await attempt(begun, deadline) if type(begun) is Primed else begun
    return settle(ended, operation, call, debug_stack=debug_stack)


def starter(operation: Operation, context: CallContext, executor: Executor) -> Callable[[JsonObject], Awaitable[object]]:
    """What runs the handler of an operation, in a thread if it is a plain function."""
    if operation.is_async:
        handler = operation.handler
        return lambda arguments: handler(arguments, context)
    return lambda arguments: run_in_thread(operation, arguments, context, executor)


async def attempt(begun: Primed, deadline: Deadline) -> object:
    """What a handler that waits returns within its time, or an Ended."""
    try:
        returned = await _wait(begun, deadline)
    except GeneratorExit:
        raise
    except BaseException as exc:  # noqa: BLE001 - the one place that catches whatever a handler raises
        return Ended(exc)
    # A handler may swallow the exception that ends it; what it returns after its time is no answer all the same.
    return Ended(TimeoutError()) if deadline.expired() else returned


async def _wait(awaitable: Awaitable[object], deadline: Deadline) -> object:
    async with deadline.arm():
        returned = await awaitable
    if not deadline.expired():
        _end_if_cancelled()
    return returned


def settle(ended: object, operation: Operation, call: Call, *, debug_stack: bool = False) -> object:
    """What came of a handler, where it ended what that means: a Failure or an Asking.

    Raises what it ended with if the call itself was cancelled.
    """
    if type(ended) is not Ended:
        return ended
    exc = ended.exc
    if isinstance(exc, AnswersNeeded):
        return Asking(questions=exc.questions)
    if isinstance(exc, Refused):
        call.trace.facts = getattr(exc, "facts", None)
        return exc.failure
    deadline = call.context.deadline
    if deadline is not None and deadline.expired():
        return _timed_out(operation)
    if _was_cancelled(exc):
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


async def run_in_thread(operation: Operation, arguments: JsonObject, context: CallContext, executor: Executor) -> object:
    """A plain function cannot be stopped: past its time it runs on unheard, and its place stays taken until it ends."""
    gate, homecoming = operation.gate, homecoming_of(asyncio.get_running_loop())
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    job = executor.submit(operation.handler, arguments, context)
    job.add_done_callback(partial(homecoming.call, partial(_resolve, done)))
    try:
        await done
    except asyncio.CancelledError:
        # What still waits for a thread never begins; what has begun keeps its place.
        if not job.cancel() and not job.done() and gate.enter():
            job.add_done_callback(partial(homecoming.call, gate.leave))
        raise
    return job.result()


def _resolve(done: asyncio.Future[None]) -> None:
    if not done.done():
        done.set_result(None)


def _was_cancelled(exc: BaseException) -> bool:
    """Whether the call was cancelled from outside, and not by a handler that raised CancelledError by itself."""
    task = asyncio.current_task()
    return isinstance(exc, asyncio.CancelledError) and task is not None and task.cancelling() > 0
