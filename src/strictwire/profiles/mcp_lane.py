"""The short way of a plain tools/call, which nearly every message is: same bytes, same record, less machinery.

A call is plain if its tool is read-only, needs nothing of the client and promises a schema, the caller may use it, and
the handler returns without waiting. What is fixed for such calls is worked out once a tool (`mcp_plan`).
Whatever turns out not to be plain goes the long way (`mcp_modern`, `mcp_legacy`), from its start or, once the handler has
begun, from there. The answer leaves when its record is kept; the next message need not wait for that.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, Final

import msgspec

from strictwire.audit.event import Brief, Turned, make_turned
from strictwire.canon.json import (
    LARGE,
    JsonObject,
    JsonValue,
    NotJson,
    as_json,
    is_too_deep,
    render,
    render_sorted,
)
from strictwire.contract.conform import Violation
from strictwire.contract.handler import Answer
from strictwire.fault.failure import Failure
from strictwire.fault.redact import MAX_KEPT, is_harmless
from strictwire.pipeline.accept import misfit
from strictwire.pipeline.call import Call, Kind
from strictwire.pipeline.chain import Render
from strictwire.pipeline.prime import Primed, begin
from strictwire.profiles.era import META_CAPABILITIES, META_LOG_LEVEL, META_VERSION, names_version
from strictwire.profiles.exchange import Deliver, Headers, Inbound, Outlet, Reply, Rest
from strictwire.profiles.front import names_modern, reply_of
from strictwire.profiles.mcp_context import Home, ModernContext
from strictwire.profiles.mcp_core import Core, Target, make_call
from strictwire.profiles.mcp_legacy import CLOSED, LegacyContext, LegacySession
from strictwire.profiles.mcp_modern import REVISION, Modern, find_meta_fault
from strictwire.profiles.mcp_plan import AROUND, METHOD, Plan, Refusal, maybe_plan
from strictwire.profiles.mcp_results import Written, summarise
from strictwire.profiles.mirror import find_argument_mismatch, find_mismatch
from strictwire.profiles.streams import answer_on
from strictwire.wire.envelope import Request, RequestId, is_request_id, render_result
from strictwire.wire.revisions import MODERN, Revision
from strictwire.wire.session import LEAVING, MAX_IN_FLIGHT, Cancellable, InFlight


class NotPlain:
    """Instead of an answer: the message goes the long way."""


NOT_PLAIN: Final = NotPlain()

MAX_REFUSALS: Final = 64
"""Wordings of refusals kept for one tool."""

_NOTHING: Final[JsonObject] = {}

MEMBERS: Final = 4
"""Of a request: `jsonrpc`, `id`, `method` and `params`. Whatever has more or fewer is looked at closely."""


class Ride(msgspec.Struct):
    """One plain call: what it takes to answer it, and to go on the long way if it must."""

    plan: Plan
    request_id: RequestId
    params: JsonObject
    arguments: JsonObject
    inbound: Inbound
    revision: Revision
    tail: bytes
    context: ModernContext | LegacyContext
    capabilities: Any
    table: InFlight[Cancellable] | None
    """The requests of the connection or session; None where every request stands alone."""
    deliver: Deliver
    started: float


class Settled(msgspec.Struct, frozen=True):
    """What a plain call came to: its answer, and what goes into its record."""

    reply: Reply
    value: JsonValue = None
    raw: bytes = b""
    """The value as bytes."""
    turned: Turned | None = None
    """Set if it was refused."""


class Lane:
    """Answers plain calls of one endpoint."""

    def __init__(self, core: Core, modern: Modern, table: InFlight[Cancellable], depth: int) -> None:
        self._core = core
        self._depth = depth
        self._modern = modern
        self._table = table
        self._recorder = core.pipeline.journal.recorder
        self._clock = core.clock
        self._home = Home.here()
        self._offers = core.pipeline.catalog.offers
        self._plans: dict[str, Plan] = {}

    def answer(
        self, value: object, session: LegacySession | None, inbound: Inbound, outlet: Outlet, deliver: Deliver
    ) -> Rest | NotPlain:
        """What is left to do for a plain call (`exchange.Rest`); NOT_PLAIN for any other message: then nothing was done."""
        if type(value) is not dict or len(value) != MEMBERS or value.get("method") != METHOD:
            return NOT_PLAIN
        ride = self._board(value, session, inbound, outlet, deliver)
        if ride is None:
            return NOT_PLAIN
        operation = ride.plan.operation
        try:
            if ride.plan.accepts(ride.arguments):
                begun = begin(operation.handler, ride.arguments, ride.context)
                settled = None if type(begun) is Primed else self._write(ride, begun)
            elif self._is_too_deep(inbound.body):
                self._abandon(ride)
                return NOT_PLAIN
            else:
                begun, settled = None, self._refuse(ride)
        except BaseException:
            self._abandon(ride)
            raise
        if settled is None:
            operation.gate.take()
            return self._carry_on(ride, begun)
        ride.context.over = True
        self._record(ride, settled)
        return None

    def _abandon(self, ride: Ride) -> None:
        """A fault of ours: the transport answers it, and the call leaves nothing behind."""
        ride.context.end()
        if ride.table is not None:
            ride.table.release(ride.request_id, LEAVING)

    def _board(
        self, value: JsonObject, session: LegacySession | None, inbound: Inbound, outlet: Outlet, deliver: Deliver
    ) -> Ride | None:
        """Read the message as a plain call. Its place in the tool's gate is taken when it waits: until then nobody comes
        in between."""
        request_id, params = value.get("id"), value.get("params")
        if type(params) is not dict or value.get("jsonrpc") != "2.0":
            return None
        if type(request_id) is not int and type(request_id) is not str:
            return None
        name, arguments = params.get("name"), params.get("arguments")
        if type(name) is not str or type(arguments) is not dict or "plan_hash" in arguments or "phase_id" in arguments:
            return None
        plan = self._find_plan(name, inbound)
        if plan is None or plan.operation.gate.is_full:
            return None
        if (
            len(inbound.body) >= LARGE
            and not (plan.is_shallow and self._is_flat(params))
            and self._is_too_deep(inbound.body)
        ):
            return None
        if _is_modern(params, inbound):
            return self._board_modern(plan, value, inbound, outlet, deliver)
        return None if session is None else self._board_legacy(plan, value, session, inbound, outlet, deliver)

    def _board_modern(
        self, plan: Plan, value: JsonObject, inbound: Inbound, outlet: Outlet, deliver: Deliver
    ) -> Ride | None:
        params, headers = value["params"], inbound.headers
        meta, arguments = params.get("_meta"), params["arguments"]
        table = self._table if headers is None else None
        if type(meta) is not dict or meta.get(META_VERSION) != MODERN or find_meta_fault(meta) is not None:
            return None
        capabilities = meta.get(META_CAPABILITIES)
        if type(capabilities) is not dict or "requestState" in params or "inputResponses" in params:
            return None
        if headers is not None and not _agree(headers, plan, params):
            return None
        if table is not None and (len(table) >= MAX_IN_FLIGHT or not table.add(value["id"], LEAVING)):
            return None
        context = ModernContext(
            outlet,
            inbound.caller,
            self._home,
            MODERN,
            inbound.transport,
            capabilities,
            meta.get("progressToken"),
            meta.get(META_LOG_LEVEL),
            plan.seconds,
        )
        started = self._clock.elapsed()
        tail = self._modern.tail
        return Ride(
            plan, value["id"], params, arguments, inbound, REVISION, tail, context, capabilities, table, deliver, started
        )

    def _board_legacy(
        self,
        plan: Plan,
        value: JsonObject,
        session: LegacySession,
        inbound: Inbound,
        outlet: Outlet,
        deliver: Deliver,
    ) -> Ride | None:
        params, revision, table = value["params"], session.revision, session.in_flight
        meta = params.get("_meta", {})
        token = meta.get("progressToken") if type(meta) is dict else None
        if type(meta) is not dict or (token is not None and not is_request_id(token)) or not revision.structured:
            return None
        if len(table) >= MAX_IN_FLIGHT or not table.add(value["id"], LEAVING):
            return None
        if inbound.headers is not None and revision.resumable:
            stream = session.streams.start(outlet)
            outlet, deliver = stream, partial(answer_on, session.streams, stream, deliver)
        context = session.context(outlet, inbound, token)
        context.seconds = plan.seconds
        started, able = self._clock.elapsed(), session.capabilities
        return Ride(
            plan,
            value["id"],
            params,
            params["arguments"],
            inbound,
            revision,
            CLOSED,
            context,
            able,
            table,
            deliver,
            started,
        )

    def _is_flat(self, params: JsonObject) -> bool:
        """Whether nothing but the arguments can be deep; they are left to their schema."""
        meta = params.get("_meta")
        return len(params) == (2 if meta is None else 3) and not is_too_deep(render(meta), self._depth - AROUND)

    def _is_too_deep(self, body: bytes) -> bool:
        """Whether a message whose depth was not measured is refused for it."""
        return len(body) >= LARGE and is_too_deep(body, self._depth)

    def _find_plan(self, name: str, inbound: Inbound) -> Plan | None:
        offers = self._core.pipeline.catalog.offers
        if offers is not self._offers:
            self._offers = offers
            self._plans.clear()
        plan = self._plans.get(name)
        caller = inbound.caller  # the very same as a rule, and comparing two costs more
        if plan is not None and plan.transport == inbound.transport and (plan.caller is caller or plan.caller == caller):
            return plan
        operation = offers.find(Kind.TOOL, name)
        plan = None if operation is None else maybe_plan(operation, inbound, self._core, self._depth)
        if plan is not None:
            self._plans[name] = plan
        return plan

    def _refuse(self, ride: Ride) -> Settled:
        """Arguments that do not fit, the one failure that callers meet daily: the same mistake has the same answer."""
        plan = ride.plan
        violations = plan.find_violations(ride.arguments)
        key = (violations, ride.revision.name)
        known = plan.refusals.get(key)
        if known is None:
            known = self._word_refusal(ride, violations)
            if len(plan.refusals) >= MAX_REFUSALS:
                plan.refusals.clear()
            if plan.operation.dialect == "mcp" and all(map(_is_worth_keeping, violations)):  # others show the time
                plan.refusals[key] = known
        reply = Reply(body=render_result(ride.request_id, known.result)) if known.result else known.reply
        return Settled(reply, turned=known.turned)

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
        operation = ride.plan.operation
        if type(returned) is Answer or ride.context.attributed is not None:
            return None
        try:
            value, raw = as_json(returned, ride.plan.limits)
        except NotJson:
            return None
        if type(value) is not dict or len(raw) > operation.caps.response_bytes or not ride.plan.promises(value):
            return None
        text = render(raw.decode() if ride.plan.text_json else summarise(value))
        body = b'{"jsonrpc":"2.0","id":%b,"result":{"content":[{"type":"text","text":%b}],"structuredContent":%b%b}' % (
            render(ride.request_id),
            text,
            raw,
            ride.tail,
        )
        return Settled(Reply(body=body), value, raw)

    def _record(self, ride: Ride, settled: Settled) -> None:
        """Have the call recorded, and the answer leave after that."""
        if not self._recorder.keeps:
            self._let_go(ride, settled.reply, None)
            return
        brief = Brief(
            ride.plan.form,
            self._clock.timestamp(),
            render_sorted(ride.arguments),
            settled.raw,
            int((self._clock.elapsed() - ride.started) * 1_000_000),
            ride.arguments,
            settled.value,
            settled.turned,
        )
        self._recorder.submit(brief, partial(self._let_go, ride, settled.reply))
        # Nobody looks at them again. Large ones of many calls that wait together would crowd the processor's cache.
        ride.params = ride.arguments = _NOTHING

    def _let_go(self, ride: Ride, reply: Reply, unrecorded: Failure | None) -> None:
        if ride.table is not None:
            ride.table.release(ride.request_id, LEAVING)
        if unrecorded is None:
            ride.deliver(reply)
        else:
            ride.deliver(reply_of(self._long_way(ride)[1](unrecorded, ride.plan.operation)))

    async def _carry_on(self, ride: Ride, begun: object) -> None:
        """The long way from here: the handler waits, failed, or gave something that needs a closer look."""
        task = asyncio.current_task()
        if ride.table is not None and task is not None:
            ride.table.release(ride.request_id, LEAVING)
            ride.table.add(ride.request_id, task)
        call, write = self._long_way(ride)
        try:
            written = await self._core.pipeline.carry_on(call, ride.plan.operation, begun, ride.started, write)
        finally:
            ride.context.end()
            if ride.table is not None and task is not None:
                ride.table.release(ride.request_id, task)
        ride.deliver(reply_of(written))

    def _long_way(self, ride: Ride) -> tuple[Call, Render[Written]]:
        request = Request(ride.request_id, METHOD, ride.params)
        target = Target(kind=Kind.TOOL, name=ride.plan.operation.name, arguments=ride.arguments)
        call = make_call(
            target,
            caller=ride.inbound.caller,
            inbound=ride.inbound,
            method=METHOD,
            revision=ride.revision,
            context=ride.context,
            capabilities=ride.capabilities,
        )
        asking = self._modern.asking_writer(request, target, ride.inbound) if ride.revision.modern else None
        return call, self._core.writer(request, call, revision=ride.revision, tail=ride.tail, write_asking=asking)


def _is_modern(params: JsonObject, inbound: Inbound) -> bool:
    """As `era.era_of` has it."""
    return names_version(params) if inbound.headers is None else names_modern(inbound.headers)


def _agree(headers: Headers, plan: Plan, params: JsonObject) -> bool:
    """Whether the headers repeat the body. All but arguments is the same in every call of a tool with these headers."""
    if headers.agreed is not plan.operation:
        if find_mismatch(headers, version=MODERN, method=METHOD, params=params) is not None:
            return False
        headers.agreed = plan.operation
    return not plan.mirrored or find_argument_mismatch(headers, plan.mirrored, params["arguments"]) is None


def _is_worth_keeping(violation: Violation) -> bool:
    """A path may hold a name of the caller's choosing: neither large ones nor what may be a secret are kept."""
    return len(violation.path) <= MAX_KEPT and is_harmless(violation.path)
