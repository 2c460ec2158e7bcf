"""The tasks of one endpoint: starts them, answers tasks/get, tasks/update and tasks/cancel, and ends them at shutdown."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from msgspec import structs

from strictwire.canon.json import JsonObject, JsonValue, render
from strictwire.contract.handler import Ask
from strictwire.contract.task import EXTENSION, REQUIRED_CAPABILITIES, TaskPolicy
from strictwire.fault.failure import Failure, fail
from strictwire.pipeline.call import Call, Kind
from strictwire.pipeline.compiled import CompiledTool
from strictwire.pipeline.stages import authorise
from strictwire.profiles.endpoint import Reply
from strictwire.profiles.mcp.core import AnswerWriter, Core
from strictwire.profiles.mcp.exchange import Exchange
from strictwire.profiles.mcp.targets import Target, malformed
from strictwire.profiles.mcp.task_store import Status, TaskEntry
from strictwire.profiles.mcp.tasks.held import HeldRequests
from strictwire.profiles.mcp.tasks.run import Request, Surroundings, TaskContext, TaskRun, overloaded, with_beginning
from strictwire.profiles.mcp.tasks.shown import show_created, show_task
from strictwire.profiles.mcp.tasks.subscription import MAX_SUBSCRIBED, Subscription, Watchers
from strictwire.wire.envelope import render_result
from strictwire.wire.names import META_SERVER

SWEEP_SECONDS: Final = 60.0
"""How often expired tasks are looked for. They are looked for before every new task too."""

_KEPT_TAIL: Final = b',"resultType":"complete"}'
"""The end of a result that is kept. The answer around it says which server it is from."""


class Tasks:
    """All tasks of one endpoint."""

    def __init__(self, core: Core, *, prefix: str = "") -> None:
        """`prefix` starts every task id. With several worker processes it names the one that runs the task."""
        self._core = core
        self._store = core.task_store
        self._prefix = prefix
        self._server = render({META_SERVER: core.identity.as_json()})
        self._running: dict[str, TaskRun] = {}
        self._watchers = Watchers()
        self._around = Surroundings(
            store=self._store, held=HeldRequests(), now_ms=self._now_ms, changed=self._watchers.notify
        )
        self._sweep: asyncio.TimerHandle | None = None
        self._sweeping: asyncio.Task[None] | None = None

    def find_tool(self, target: Target, capabilities: Mapping[str, JsonValue]) -> CompiledTool | None:
        """The tool, if its calls become tasks and the client declares the extension; None if the call is a plain one."""
        if target.kind is not Kind.TOOL or not declares_tasks(capabilities):
            return None
        found = self._core.catalog.offers.find(target.kind, target.name)
        return found if not isinstance(found, Failure) and found.task is not None else None

    async def start(
        self, exchange: Exchange, call: Call, tool: CompiledTool, context: TaskContext, plain: AnswerWriter
    ) -> None:
        """Perform a call that becomes a task. Returns when its request is answered; the task runs on.

        Raises CancelledError if the request is cancelled before; then the call is cancelled too.
        """
        policy = tool.task or TaskPolicy()
        await self._expire()
        answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        request = Request(
            raw=exchange.raw,
            write=plain,
            answer=exchange.answer,
            answer_created=partial(self._answer_created, exchange, answered),
        )
        run = TaskRun(self._new_entry(call, policy), request, self._around)
        context.run, run.context = run, context
        kept = structs.replace(plain, tail=_KEPT_TAIL, write_asking=None)
        job = asyncio.create_task(run.perform(self._core.pipeline, call, as_task(tool, policy, run), kept))
        run.job = job
        self._running[run.entry.id] = run
        job.add_done_callback(partial(self._forget, run.entry.id))
        try:
            await asyncio.wait((job, answered), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            if not run.has_begun:
                job.cancel()
                await asyncio.wait((job,))
            raise
        if not answered.done():
            job.result()  # raises what a fault of ours raised

    def _answer_created(self, exchange: Exchange, answered: asyncio.Future[None], entry: TaskEntry) -> None:
        exchange.answer(Reply(body=render_result(exchange.request.id, show_created(entry, self._server))))
        answered.set_result(None)

    def _new_entry(self, call: Call, policy: TaskPolicy) -> TaskEntry:
        now = self._now_ms()
        return TaskEntry(
            id=self._prefix + secrets.token_urlsafe(24),
            principal=call.caller.principal,
            status=Status.WORKING,
            created_ms=now,
            updated_ms=now,
            ttl_ms=policy.ttl_ms,
            poll_ms=policy.poll_ms,
            reserved_bytes=policy.kept_bytes,
        )

    def _now_ms(self) -> int:
        return int(self._core.clock.now() * 1000)

    def _forget(self, task_id: str, job: asyncio.Task[None]) -> None:
        self._running.pop(task_id).release()
        if not job.cancelled():
            job.exception()  # `start` has raised it, or the call was recorded as a fault of ours

    async def serve(self, exchange: Exchange, params: JsonObject, capabilities: Mapping[str, JsonValue]) -> None:
        """Answer tasks/get, tasks/update or tasks/cancel."""
        if not declares_tasks(capabilities):
            exchange.refuse(fail("MISSING_CAPABILITY", details={"requiredCapabilities": REQUIRED_CAPABILITIES}))
            return
        task_id = params.get("taskId")
        if not isinstance(task_id, str):
            exchange.refuse(malformed("taskId"))
            return
        await self._expire()
        entry = await self._store.find(task_id)
        if entry is None or entry.principal != exchange.inbound.caller.principal:
            exchange.refuse(fail("TASK_UNKNOWN"))
            return
        answer = await _METHODS[exchange.request.method](self, entry, params)
        if isinstance(answer, Failure):
            exchange.refuse(answer)
        else:
            exchange.answer(Reply(body=render_result(exchange.request.id, answer)))

    async def subscribe(self, exchange: Exchange, task_ids: object, capabilities: Mapping[str, JsonValue]) -> Subscription:
        """The subscription to tasks of a subscriptions/listen: those of its caller that it names."""
        named = [each for each in task_ids if isinstance(each, str)] if isinstance(task_ids, list) else []
        known = [await self._store.find(each) for each in named[:MAX_SUBSCRIBED] if declares_tasks(capabilities)]
        granted = [each for each in known if each is not None and each.principal == exchange.inbound.caller.principal]
        return Subscription(granted, self._watchers, self.snapshot, exchange)

    async def _get(self, entry: TaskEntry, _params: JsonObject) -> bytes | Failure:
        return show_task(*self.snapshot(entry), self._server)

    def snapshot(self, entry: TaskEntry) -> tuple[TaskEntry, Mapping[str, Ask]]:
        """A task as it is now, and its open questions."""
        run = self._running.get(entry.id)
        return (entry, {}) if run is None else run.snapshot()

    async def _update(self, entry: TaskEntry, params: JsonObject) -> bytes | Failure:
        answers = params.get("inputResponses")
        if not isinstance(answers, dict):
            return malformed("inputResponses")
        run = self._running.get(entry.id)
        if run is not None and not run.answer(answers):
            return overloaded()
        return self._acknowledge()

    async def _cancel(self, entry: TaskEntry, _params: JsonObject) -> bytes | Failure:
        run = self._running.get(entry.id)
        if run is not None and run.job is not None:
            run.cancel()
            await asyncio.wait((run.job,))
        return self._acknowledge()

    def _acknowledge(self) -> bytes:
        return b'{"resultType":"complete","_meta":%b}' % self._server

    async def _expire(self) -> None:
        """Forget the tasks whose time is up, and end those that still wait for an answer."""
        for task_id in await self._store.expire(self._now_ms()):
            run = self._running.get(task_id)
            if run is not None:
                run.cancel()
        if self._sweep is None:
            self._sweep = asyncio.get_running_loop().call_later(SWEEP_SECONDS, self._start_sweep)

    def _start_sweep(self) -> None:
        self._sweep = None
        self._sweeping = asyncio.create_task(self._expire())

    async def close(self) -> None:
        """End every task. Each is recorded as cancelled."""
        jobs = [run.job for run in self._running.values() if run.job is not None]
        for run in tuple(self._running.values()):
            run.cancel()
        if jobs:
            await asyncio.wait(jobs)
        if self._sweep is not None:
            self._sweep.cancel()


_METHODS: Final[Mapping[str, Callable[[Tasks, TaskEntry, JsonObject], Awaitable[bytes | Failure]]]] = {
    "tasks/get": Tasks._get,  # noqa: SLF001 - a table of the class's own methods
    "tasks/update": Tasks._update,  # noqa: SLF001
    "tasks/cancel": Tasks._cancel,  # noqa: SLF001
}

TASK_METHODS: Final = frozenset(_METHODS)
"""The methods of the extension."""


def declares_tasks(capabilities: Mapping[str, JsonValue]) -> bool:
    """Whether a client declares the extension."""
    extensions = capabilities.get("extensions")
    return isinstance(extensions, dict) and EXTENSION in extensions


def as_task(tool: CompiledTool, policy: TaskPolicy, run: TaskRun) -> CompiledTool:
    """The tool with the limits of a task. Its call is recorded when it begins and when it ends, even if it is read-only."""
    caps = replace(tool.caps, timeout_ms=policy.timeout_ms, response_bytes=policy.result_bytes)
    handler = tool.handler
    if policy.start == "call":
        handler = with_beginning(handler, run.begin, is_async=tool.is_async)
    seconds = policy.timeout_ms / 1000
    return replace(tool, handler=handler, caps=caps, seconds=seconds, read_only=False, authorise=authorise)
