"""Stage 4: run the handler within its time. The one place that catches whatever a handler raises."""

from __future__ import annotations

import asyncio
import logging
import traceback
from concurrent.futures import Executor
from functools import partial

from strictwire.fault.failure import Failure, Refused, fail
from strictwire.fault.plain import plain
from strictwire.pipeline.call import AnswersNeeded, Asking, Call, Operation
from strictwire.pipeline.caps import Gate


log = logging.getLogger("strictwire.run")


async def run(operation: Operation, call: Call, executor: Executor, *, debug_stack: bool = False) -> object:
    """What the handler returned, or a Failure (TIMEOUT, TOOL_FAILED, or the one it refused with), or an Asking.

    Raises CancelledError if the call itself was cancelled.
    """
    deadline = asyncio.timeout(operation.caps.timeout_ms / 1000)
    call.context.deadline = deadline
    try:
        async with deadline:
            if operation.is_async:
                return await operation.handler(call.arguments, call.context)
            return await _run_in_thread(operation, call, executor)
    except AnswersNeeded as exc:
        return Asking(questions=exc.questions)
    except Refused as exc:
        call.trace.facts = getattr(exc, "facts", None)
        return exc.failure
    except BaseException as exc:  # noqa: BLE001 - contains the handler: also SystemExit and the like must not end the server
        if deadline.expired():
            return fail("TIMEOUT", details={"timeoutMs": operation.caps.timeout_ms, "tool": operation.name})
        if isinstance(exc, GeneratorExit) or _was_cancelled(exc):
            raise
        return _contain(exc, operation, call, debug_stack=debug_stack)


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
    running = asyncio.get_running_loop().run_in_executor(executor, operation.handler, call.arguments, call.context)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        if not running.done() and gate.enter():
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
