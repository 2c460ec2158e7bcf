"""One task while its handler runs.

Until the task begins, everything is as in a plain call: a refusal, a question or a result answers the request. The task
begins when its entry is kept. From then on the request is answered, and the outcome of the call becomes the task's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

from msgspec import structs

from strictwire.canon.json import JsonObject, parse_object, render
from strictwire.contract.handler import Ask, CallContext, Handler
from strictwire.fault.failure import Facts, Failure, Refused, fail
from strictwire.fault.plain import plain_text
from strictwire.pipeline.call import Call, Outcome
from strictwire.pipeline.compiled import CompiledTool
from strictwire.pipeline.deadline import paused
from strictwire.pipeline.perform import Pipeline
from strictwire.profiles.endpoint import Reply, Silent
from strictwire.profiles.mcp.answers import ask_until_accepted, check_capabilities
from strictwire.profiles.mcp.context import ModernContext
from strictwire.profiles.mcp.results import write_failure
from strictwire.profiles.mcp.task_store import Status, TaskEntry, TaskStore
from strictwire.profiles.mcp.tasks.held import HeldRequests, memory_of

MAX_MESSAGE: Final = 500
"""Characters of a status message. It is a line for people."""

Write: TypeAlias = Callable[[Outcome, CompiledTool | None], Reply]
"""Renders an outcome (`pipeline.perform.Render`)."""

_FAULT: Final = render(write_failure(None, fail("INTERNAL"), Facts()).envelope)
"""The error of a task that met a fault of ours."""


class TaskContext(ModernContext, kw_only=True):
    """The context of a handler that may run as a task."""

    run: TaskRun | None = None
    """Set before the handler starts."""

    async def start_task(self) -> None:
        """Answer the call with a task, and go on as that task. Does nothing if it is one already.

        Raises Refused(OVERLOADED): no more tasks can be kept.
        """
        if self.run is not None:
            await self.run.begin()

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """A task has no stream: its progress is its status message."""
        super().progress(progress, total, message)
        if self.run is not None:
            shown = f"{progress:g}" if total is None else f"{progress:g} of {total:g}"
            self.run.note(f"{shown}: {message}" if message else shown)

    async def ask(self, questions: Mapping[str, Ask]) -> Mapping[str, JsonObject]:
        """Before the task begins, as in a plain call. Then the handler waits until tasks/update brings the answers.

        Raises Refused(ANSWER_INVALID): the client repeats an answer that is not accepted.
        """
        run = self.run
        if run is None or not run.has_begun:
            return await super().ask(questions)
        check_capabilities(questions, self.capabilities)
        with paused(self.deadline):
            waiting = [
                asyncio.ensure_future(ask_until_accepted(partial(run.put, key), ask)) for key, ask in questions.items()
            ]
            try:
                return dict(zip(questions, await asyncio.gather(*waiting), strict=True))
            finally:
                for each in waiting:  # if one question fails the call, the others are withdrawn
                    each.cancel()


@dataclass(slots=True)
class _Open:
    """A question that waits for its answer."""

    ask: Ask
    answer: asyncio.Future[object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """How the request of a call is answered, until its task begins."""

    raw: bytes
    """The message of the client."""
    write: Write
    answer: Callable[[Reply], None]
    answer_created: Callable[[TaskEntry], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a task uses of its endpoint."""

    store: TaskStore
    held: HeldRequests
    now_ms: Callable[[], int]
    changed: Callable[[TaskEntry, Mapping[str, Ask]], None]
    """Called when the status or the questions have changed."""


class TaskRun:
    """Performs the call of one task."""

    def __init__(self, entry: TaskEntry, request: Request, around: Surroundings) -> None:
        self.entry = entry
        self._around = around
        self._request: Request | None = request
        """None once the task has begun. It holds the message of the client, which may be large."""
        self._questions: dict[str, _Open] = {}
        self._counter = 0
        self._held = 0
        """Bytes of the request and of the answers that the handler may hold."""
        self._ended: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._is_over = False
        """Whether the outcome of the call is known. Nothing changes it any more."""
        self.job: asyncio.Task[None] | None = None
        self.context: TaskContext | None = None

    @property
    def has_begun(self) -> bool:
        """Whether the request was answered with the task."""
        return self._request is None

    async def perform(self, pipeline: Pipeline, call: Call, tool: CompiledTool, kept: Write) -> None:
        """Perform the call. `kept` renders its outcome for the task.

        Raises CancelledError if it is cancelled; a task that had begun is then kept as cancelled.
        """

        def write(outcome: Outcome, found: CompiledTool | None) -> Reply:
            self._is_over = True
            return (kept if self._request is None else self._request.write)(outcome, found)

        try:
            await pipeline.perform(call, tool, write, self._ended.set_result)
            reply = await self._ended
        except asyncio.CancelledError:
            self._is_over = True
            await self._save(Status.CANCELLED)
            raise
        except BaseException:
            await self._save(Status.FAILED, error=_FAULT)
            raise
        if self._request is not None:
            self._request.answer(reply)
        else:
            await self._keep(reply)

    async def begin(self) -> None:
        """Keep the task and answer the request with it. Raises Refused(OVERLOADED): no more tasks can be kept."""
        request = self._request
        if request is None:
            return
        if self._is_over:
            raise Refused(fail("CANCELLED"))
        if not self._hold(request.raw):
            raise Refused(overloaded())
        if not await self._around.store.add(self.entry):
            raise Refused(fail("OVERLOADED", text="Too many tasks are kept", details={"reason": "tasks"}))
        self._request = None
        request.answer_created(self.entry)
        if self.context is not None:
            self.context.end()
            self.context.outlet = Silent()

    def cancel(self) -> None:
        """End the handler. A call that has ended and only waits for its record is not cancelled."""
        if self.job is not None and not self._is_over:
            self.job.cancel()

    def note(self, message: str) -> None:
        """Set the status message, from any thread."""
        text = plain_text(message, MAX_MESSAGE)
        self.entry = structs.replace(self.entry, message=text, updated_ms=self._around.now_ms())

    async def put(self, key: str, ask: Ask) -> object:
        """Show a question in tasks/get and wait for its answer."""
        # A client shows each key once, so a question that is asked again needs a new one.
        self._counter += 1
        name = f"{key}-{self._counter}"
        waiting: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self._questions[name] = _Open(ask, waiting)
        self._change()
        try:
            return await waiting
        finally:
            del self._questions[name]
            self._change()

    def answer(self, answers: JsonObject) -> bool:
        """Pass answers on. An unknown key is ignored, as is a second answer. False if there is no room for them."""
        _, asked = self.snapshot()
        wanted = {key: answer for key, answer in answers.items() if key in asked}
        if wanted and not self._hold(render(wanted)):
            return False
        for key, answer in wanted.items():
            self._questions[key].answer.set_result(answer)
        return True

    def release(self) -> None:
        """The call has ended: nothing is held any more."""
        if self.context is not None:
            # Ends the cycle of context, run and request. The garbage collector looks for cycles only after many
            # allocations, and a few refused requests of 4 MiB are not many.
            self.context.run = None
            self.context = None
        self._around.held.release(self.entry.principal, self._held)
        self._held = 0

    def _hold(self, raw: bytes) -> bool:
        size = memory_of(raw)
        if not self._around.held.take(self.entry.principal, size):
            return False
        self._held += size
        return True

    def snapshot(self) -> tuple[TaskEntry, Mapping[str, Ask]]:
        """The task as it is now, and its open questions."""
        questions = {key: each.ask for key, each in self._questions.items() if not each.answer.done()}
        status = Status.INPUT_REQUIRED if questions else self.entry.status
        return structs.replace(self.entry, status=status), questions

    async def _keep(self, reply: Reply) -> None:
        """Keep how the call ended: as result, also of a tool that failed, or as error of the protocol."""
        answer = parse_object(reply.body or b"{}")
        if "result" in answer:
            await self._save(Status.COMPLETED, result=render(answer["result"]))
        else:
            await self._save(Status.FAILED, error=render(answer["error"]))

    async def _save(self, status: Status, *, result: bytes | None = None, error: bytes | None = None) -> None:
        if not self.has_begun:
            return
        self._change(status=status, result=result, error=error)
        await self._around.store.save(self.entry)

    def _change(self, **changes: Any) -> None:
        self.entry = structs.replace(self.entry, updated_ms=self._around.now_ms(), **changes)
        self._around.changed(*self.snapshot())


def overloaded() -> Failure:
    """The failure of a task that would hold too much."""
    return fail("OVERLOADED", text="Running tasks hold too much memory", details={"reason": "task memory"})


def with_beginning(handler: Handler, begin: Callable[[], Coroutine[Any, Any, None]], *, is_async: bool) -> Handler:
    """A handler that begins its task first."""
    if is_async:

        async def run(arguments: JsonObject, context: CallContext) -> object:
            await begin()
            return await handler(arguments, context)

        return run
    loop = asyncio.get_running_loop()

    def run_in_thread(arguments: JsonObject, context: CallContext) -> object:
        asyncio.run_coroutine_threadsafe(begin(), loop).result()
        return handler(arguments, context)

    return run_in_thread
