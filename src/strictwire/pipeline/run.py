"""Stage 4: run the handler within its time. The one place that catches whatever a handler raises."""

from __future__ import annotations

import asyncio
from concurrent.futures import Executor

from strictwire.fault.failure import Failure, Refused, fail
from strictwire.fault.plain import plain
from strictwire.pipeline.call import AnswersNeeded, Asking, Call, Operation


async def run(operation: Operation, call: Call, executor: Executor) -> object | Failure | Asking:
    """What the handler returned, or TIMEOUT, TOOL_FAILED, the Failure it refused with, or the questions it asks.

    Raises CancelledError if the call itself was cancelled.
    """
    seconds = operation.caps.timeout_ms / 1000
    deadline = asyncio.timeout(seconds)
    call.context.deadline = deadline
    try:
        async with deadline:
            if operation.is_async:
                return await operation.handler(call.arguments, call.context)
            return await _run_in_thread(operation, call, executor)
    except AnswersNeeded as exc:
        return Asking(questions=exc.questions)
    except Refused as exc:
        return exc.failure
    except BaseException as exc:
        if deadline.expired():
            return fail("TIMEOUT", details={"timeoutMs": operation.caps.timeout_ms, "tool": operation.name})
        if isinstance(exc, GeneratorExit) or _was_cancelled(exc):
            raise
        return fail("TOOL_FAILED", cause=plain(exc))


async def _run_in_thread(operation: Operation, call: Call, executor: Executor) -> object:
    """A plain function cannot be stopped: past its time it runs on unheard, and its place stays taken until it ends."""
    gate = operation.gate
    running = asyncio.get_running_loop().run_in_executor(executor, operation.handler, call.arguments, call.context)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        if not running.done() and gate.enter():
            running.add_done_callback(lambda late: (gate.leave(), late.cancelled() or late.exception()))
        raise


def _was_cancelled(exc: BaseException) -> bool:
    """Whether the call was cancelled from outside, and not by a handler that raised CancelledError by itself."""
    task = asyncio.current_task()
    return isinstance(exc, asyncio.CancelledError) and task is not None and task.cancelling() > 0
