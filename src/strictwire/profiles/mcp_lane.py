"""The short way of a plain tools/call, which nearly every message is: same bytes, same record, less machinery.

A call is plain if its tool is read-only, needs nothing of the client and promises a schema, and the caller may use it. What
is fixed for such calls is worked out once a tool (`mcp_plan`); a task and a timer are made only for a handler that waits.
Whatever turns out not to be plain goes the long way (`mcp_modern`, `mcp_legacy`), from its start or, once the handler has
ended, from there. The answer leaves when its record is kept; the next message need not wait for that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeAlias, cast

import msgspec
from msgspec import UNSET

from strictwire.audit.event import Brief, Turned, make_turned
from strictwire.canon.json import (
    JsonObject,
    JsonValue,
    Limits,
    as_json,
    is_too_deep,
    keeps_colons,
    parse_object,
    render,
    render_sorted,
)
from strictwire.contract.conform import Violation, violations_of
from strictwire.contract.handler import Alone, Answer
from strictwire.fault.failure import Failure
from strictwire.fault.redact import MAX_KEPT, is_harmless
from strictwire.pipeline.accept import misfit
from strictwire.pipeline.call import Call, Caller, Kind
from strictwire.pipeline.chain import Render
from strictwire.pipeline.clock import iso_millis
from strictwire.pipeline.deadline import Deadline
from strictwire.pipeline.prime import Primed, begin
from strictwire.pipeline.run import Ended, attempt, starter
from strictwire.profiles.exchange import Deliver, Headers, Inbound, Outlet, Reply, Rest
from strictwire.profiles.front import names_modern, reply_of
from strictwire.profiles.mcp_context import Home, ModernContext
from strictwire.profiles.mcp_core import Core, Target, make_call
from strictwire.profiles.mcp_legacy import CLOSED, LegacyContext, LegacySession
from strictwire.profiles.mcp_modern import REVISION, Modern
from strictwire.profiles.mcp_plain import (
    METHOD,
    NO_META,
    NO_PLAIN_CALL,
    Meta,
    Metas,
    PlainCall,
    read_plain,
)
from strictwire.profiles.mcp_plan import AROUND, Plan, Refusal, maybe_plan, names_plan
from strictwire.profiles.mcp_results import Written, summarise, word_result
from strictwire.profiles.mirror import find_argument_mismatch, find_mismatch
from strictwire.profiles.streams import answer_on
from strictwire.wire.envelope import Request, RequestId, render_result
from strictwire.wire.revisions import MODERN, Revision
from strictwire.wire.session import LEAVING, MAX_IN_FLIGHT, Cancellable, InFlight


class NotPlain:
    """Instead of an answer: the message goes the long way."""


NOT_PLAIN: Final = NotPlain()

MAX_PLANS: Final = 4096
"""Plans kept, one for each caller of each tool: callers take turns, and a plan takes longer to make than a call."""

MAX_REFUSALS: Final = 64
"""Wordings of refusals kept for one tool."""


class Ride(msgspec.Struct, gc=False):
    """One plain call: what it takes to answer it, and to go on the long way if it must.

    Like the other values of a call it is not tracked by the garbage collector: none is part of a cycle once it is answered.
    """

    plan: Plan
    request_id: RequestId
    meta: Meta
    session: LegacySession | None
    """None in the stateless era."""
    inbound: Inbound
    outlet: Outlet
    table: InFlight[Cancellable] | None
    """The requests of the connection or session; None where every request stands alone."""
    deliver: Deliver
    started: float
    lane: Lane
    context: ModernContext | LegacyContext | None = None
    """Made when somebody looks at it."""
    reply: Reply | None = None
    """Its answer, which waits for its record."""

    def leave(self, unrecorded: Failure | None) -> None:
        """Let the answer go, or tell that its record was not kept."""
        table = self.table
        if table is not None and table.get(self.request_id) is LEAVING:
            del table[self.request_id]
        reply = self.reply if unrecorded is None else self.lane.word_unrecorded(self, unrecorded)
        if reply is not None:
            self.deliver(reply)


Settled: TypeAlias = tuple[Reply, JsonValue, bytes, Turned | None]
"""What a plain call came to: its answer; what was returned, with its bytes; how it was refused, if it was."""


class Lane:
    """Answers plain calls of one endpoint."""

    def __init__(self, core: Core, modern: Modern, table: InFlight[Cancellable], limits: Limits) -> None:
        self._core = core
        self._limits = limits
        self._depth = limits.depth - AROUND
        self._modern = modern
        self._table = table
        self._recorder = core.pipeline.journal.recorder
        self._elapsed, self._now = core.clock.elapsed, core.clock.now
        self._home = Home.here()
        self._metas = Metas(Limits(size=limits.size, depth=self._depth))
        self._plans: dict[str, Plan] = {}
        """By tool, for whoever called it last."""
        self._plans_of_all: dict[tuple[str, str, Caller], Plan] = {}
        self._unwatch = core.pipeline.catalog.watch(self._forget_plans)

    def close(self) -> None:
        """No more messages will come."""
        self._unwatch()

    def answer(self, session: LegacySession | None, inbound: Inbound, outlet: Outlet, deliver: Deliver) -> Rest | NotPlain:
        """What is left to do for a plain call (`exchange.Rest`); NOT_PLAIN for any other message: then nothing was done."""
        body = inbound.body
        try:
            message = read_plain(body)
            params = message.params
            arguments = params.arguments
            args = render_sorted(arguments)
        except NO_PLAIN_CALL:
            return NOT_PLAIN
        plan = self._plans.get(params.name)
        if plan is None or plan.caller is not inbound.caller or plan.transport is not inbound.transport:
            plan = self._find_plan(params.name, inbound)
        meta = NO_META if params.meta is UNSET else self._metas.find(params.meta)
        if plan is None or meta is None or not self._is_plain(message, args, plan, meta, body):
            return NOT_PLAIN
        ride = self._board(plan, meta, message, session, inbound, outlet, deliver)
        if ride is None:
            return NOT_PLAIN
        try:
            if plan.accepts(arguments):
                alone = plan.alone
                begun = begin(self._starter_of(ride) if alone is None else alone.function, arguments)
                settled = None if type(begun) is Primed else self._write(ride, begun)
            elif is_too_deep(args, self._depth) or names_plan(arguments):
                self._abandon(ride)
                return NOT_PLAIN
            else:
                begun, settled = None, self._refuse(ride, arguments)
        except BaseException:
            self._abandon(ride)
            raise
        if settled is None:
            plan.gate.take()
            return self._carry_on(ride, begun, args)
        self._record(ride, args, settled)
        return None

    def _abandon(self, ride: Ride) -> None:
        """A fault of ours: the transport answers it, and the call leaves nothing behind."""
        if ride.context is not None:
            ride.context.end()
        if ride.table is not None:
            ride.table.release(ride.request_id, LEAVING)

    def _is_plain(self, message: PlainCall, args: bytes, plan: Plan, meta: Meta, body: bytes) -> bool:
        """Whether the call is plain as far as its message tells. Its place in the tool's gate is taken when it waits: until
        then nobody comes in between."""
        gate, gate_of_all = plan.gate, plan.gate_of_all
        return (
            # What stands twice in its arguments was read once, and lacks a colon when they are written again.
            keeps_colons(body, args, plan.colons + meta.colons)
            and not (plan.names_plan and names_plan(message.params.arguments))
            and len(body) <= self._limits.size
            and (plan.is_shallow or not is_too_deep(args, self._depth))
            and gate.running < gate.limit
            and gate_of_all.running < gate_of_all.limit
        )

    def _board(
        self,
        plan: Plan,
        meta: Meta,
        message: PlainCall,
        session: LegacySession | None,
        inbound: Inbound,
        outlet: Outlet,
        deliver: Deliver,
    ) -> Ride | None:
        """The call, as one of its era; None if it is not plain there."""
        headers, table = inbound.headers, None
        if meta.names_version if headers is None else headers.agreed is plan.operation or names_modern(headers):
            if not meta.is_modern or (headers is not None and not _agree(headers, plan, message.params.arguments)):
                return None
            session = None
            if headers is None:
                table = self._table
        elif session is None or not meta.is_legacy or not session.revision.structured:
            return None
        else:
            table = session.in_flight
        if table is not None:
            if message.id in table or len(table) >= MAX_IN_FLIGHT:
                return None
            table[message.id] = LEAVING
        # Who does not look at its call says nothing before its answer: then there is no stream to come back to.
        if plan.alone is None and session is not None and headers is not None and session.revision.resumable:
            stream = session.streams.start(outlet)
            outlet, deliver = stream, partial(answer_on, session.streams, stream, deliver)
        return Ride(plan, message.id, meta, session, inbound, outlet, table, deliver, self._elapsed(), self)

    def _find_plan(self, name: str, inbound: Inbound) -> Plan | None:
        key = name, inbound.transport, inbound.caller
        plan = self._plans_of_all.get(key)
        if plan is None:
            operation = self._core.pipeline.catalog.offers.find(Kind.TOOL, name)
            plan = None if operation is None else maybe_plan(operation, inbound, self._core, self._limits.depth)
            if plan is None:
                return None
            if len(self._plans_of_all) >= MAX_PLANS:
                self._plans_of_all.clear()
            self._plans_of_all[key] = plan
        self._plans[name] = plan
        return plan

    def _forget_plans(self, _changed: str, _uri: str | None) -> None:
        self._plans.clear()
        self._plans_of_all.clear()

    def _starter_of(self, ride: Ride) -> Callable[[JsonObject], Any]:
        """What runs a handler that looks at its call, or is a plain function."""
        return starter(ride.plan.operation, self._context_of(ride), self._core.pipeline.executor)

    def _record(self, ride: Ride, args: bytes, settled: Settled) -> None:
        """Have the call recorded, and the answer leave after that."""
        if ride.context is not None:
            ride.context.over = True
        ride.reply, value, raw, turned = settled
        if not self._recorder.keeps:
            ride.leave(None)
            return
        took = int((self._elapsed() - ride.started) * 1_000_000)
        brief = Brief(ride.plan.form, iso_millis(int(self._now() * 1000)), args, raw, took, turned)
        if self._recorder.keeps_values:  # as they came: its handler may have changed those it was given
            brief = msgspec.structs.replace(brief, arguments=self._read_params(ride)["arguments"], result=value)
        self._recorder.submit(brief, ride.leave)

    def _context_of(self, ride: Ride) -> ModernContext | LegacyContext:
        if ride.context is None:
            ride.context = self._make_context(ride)
            ride.context.seconds = ride.plan.seconds
        return ride.context

    def _make_context(self, ride: Ride) -> ModernContext | LegacyContext:
        meta, inbound = ride.meta, ride.inbound
        if ride.session is not None:
            return ride.session.context(ride.outlet, inbound, meta.token)
        return ModernContext(
            ride.outlet,
            inbound.caller,
            self._home,
            MODERN,
            inbound.transport,
            meta.capabilities,
            meta.token,
            meta.level,
        )

    def _refuse(self, ride: Ride, arguments: JsonObject) -> Settled:
        """Arguments that do not fit, the one failure that callers meet daily: the same mistake has the same answer."""
        plan = ride.plan
        cause = plan.find_cause(arguments)
        key = (cause, self._revision_of(ride).name)
        known = plan.refusals.get(key)
        if known is None:
            violations = violations_of(cause)
            known = self._word_refusal(ride, violations)
            if len(plan.refusals) >= MAX_REFUSALS:
                plan.refusals.clear()
            if plan.operation.dialect == "mcp" and all(map(_is_worth_keeping, violations)):  # others show the time
                plan.refusals[key] = known
        reply = Reply(body=render_result(ride.request_id, known.result)) if known.result else known.reply
        return reply, None, b"", known.turned

    def _word_refusal(self, ride: Ride, violations: tuple[Violation, ...]) -> Refusal:
        _, write = self._long_way(ride)
        failure = misfit(violations)
        written = write(failure, ride.plan.operation)
        opening = render_result(ride.request_id, b"")[:-1]
        is_result = written.body.startswith(opening)
        return Refusal(
            reply_of(written),
            written.body[len(opening) : -1] if is_result else b"",
            make_turned(
                stage=failure.stage.value,
                error_code=failure.code,
                invariant_id=failure.invariant_id,
                envelope=written.envelope,
            ),
        )

    def _write(self, ride: Ride, returned: object) -> Settled | None:
        """None if what was returned is not a plain success."""
        plan = ride.plan
        value: JsonValue
        if type(returned) is Answer:
            return None
        try:
            if plan.alone is not None and not (plan.keeps_objects and type(returned) is dict):
                returned = plan.alone.finish(returned)
            if type(returned) is dict and plan.vouch is not None and plan.vouch(returned):
                value, raw = returned, render(returned)
            else:
                value, raw = as_json(returned, plan.limits)
                if type(value) is not dict or type(returned) is Answer or not plan.promises(value):
                    return None
        except Exception:  # noqa: BLE001 - met again, and told, on the long way
            return None
        if len(raw) > plan.response_bytes or (ride.context is not None and ride.context.attributed is not None):
            return None
        tail = self._modern.tail if ride.session is None else CLOSED
        if plan.text_json:
            return Reply(body=word_result(render(ride.request_id), raw, tail)), value, raw, None
        text = render(summarise(value))
        result = b'{"content":[{"type":"text","text":%b}],"structuredContent":%b%b' % (text, raw, tail)
        return Reply(body=render_result(ride.request_id, result)), value, raw, None

    def word_unrecorded(self, ride: Ride, failure: Failure) -> Reply:
        """The answer to a call whose record was not kept."""
        return reply_of(self._long_way(ride)[1](failure, ride.plan.operation))

    async def _carry_on(self, ride: Ride, begun: object, args: bytes) -> None:
        """The handler waits, or gave something that needs a closer look."""
        table, task = ride.table, asyncio.current_task()
        if table is not None and task is not None:
            table.release(ride.request_id, LEAVING)
            table.add(ride.request_id, task)
        try:
            came_to = await self._finish(ride, begun)
        finally:
            if ride.context is not None:
                ride.context.end()
            if table is not None and task is not None:
                table.release(ride.request_id, task)
        if isinstance(came_to, Reply):
            ride.deliver(came_to)
            return
        if table is not None:
            table.add(ride.request_id, LEAVING)
        self._record(ride, args, came_to)

    async def _finish(self, ride: Ride, begun: object) -> Settled | Reply:
        """What the call comes to, which then has to be recorded; or its answer, by the long way, which is recorded."""
        plan, deadline = ride.plan, None if ride.context is None else ride.context.deadline
        try:
            if type(begun) is Primed:
                deadline = deadline or Deadline(plan.seconds)
                if ride.context is not None:
                    ride.context.deadline = deadline
                begun = await attempt(begun, deadline)
                settled = None if type(begun) is Ended else self._write(ride, begun)
                if settled is not None:
                    return settled
        finally:
            plan.gate.leave()
        if plan.alone is not None and type(begun) is not Ended:
            begun = _finished(plan.alone, begun)
        call, write = self._long_way(ride)
        call.context.deadline = deadline
        return reply_of(await self._core.pipeline.conclude(call, plan.operation, begun, ride.started, write))

    def _long_way(self, ride: Ride) -> tuple[Call, Render[Written]]:
        params, revision, session = self._read_params(ride), self._revision_of(ride), ride.session
        request = Request(ride.request_id, METHOD, params)
        target = Target(kind=Kind.TOOL, name=ride.plan.operation.name, arguments=params["arguments"])
        call = make_call(
            target,
            caller=ride.inbound.caller,
            inbound=ride.inbound,
            method=METHOD,
            revision=revision,
            context=self._context_of(ride),
            capabilities=ride.meta.capabilities if session is None else session.capabilities,
        )
        asking = self._modern.asking_writer(request, target, ride.inbound) if session is None else None
        tail = self._modern.tail if session is None else CLOSED
        return call, self._core.writer(request, call, revision=revision, tail=tail, write_asking=asking)

    def _read_params(self, ride: Ride) -> JsonObject:
        """As they came: they are not kept, for large ones of many calls that wait would crowd the processor's cache."""
        params = parse_object(ride.inbound.body, self._limits)["params"]
        return cast("JsonObject", params)

    def _revision_of(self, ride: Ride) -> Revision:
        return REVISION if ride.session is None else ride.session.revision


def _finished(alone: Alone, returned: object) -> object:
    """What becomes of what a handler returned, or an Ended."""
    try:
        return alone.finish(returned)
    except Exception as exc:  # noqa: BLE001 - told by whoever settles it
        return Ended(exc)


def _agree(headers: Headers, plan: Plan, arguments: JsonObject) -> bool:
    """Whether the headers repeat the body. All but arguments is the same in every call of a tool with these headers."""
    if headers.agreed is not plan.operation:
        if find_mismatch(headers, version=MODERN, method=METHOD, params={"name": plan.operation.name}) is not None:
            return False
        headers.agreed = plan.operation
    return not plan.mirrored or find_argument_mismatch(headers, plan.mirrored, arguments) is None


def _is_worth_keeping(violation: Violation) -> bool:
    """A path may hold a name of the caller's choosing: neither large ones nor what may be a secret are kept."""
    return len(violation.path) <= MAX_KEPT and is_harmless(violation.path)
