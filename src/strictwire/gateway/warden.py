"""Performs one call of an upstream: the stages of `pipeline`, with relaying in the place of running.

    find -> admit -> authorise -> accept -> intend -> relay -> verify -> mask -> write -> record -> answer

Nothing the upstream answered is rewritten unless it must be: a masked error, a sealed state, or a refusal.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Final, NamedTuple

import msgspec

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.errors import CannotReach, ClientError
from strictwire.contract.handler import CallContext
from strictwire.fault.failure import Failure, fail
from strictwire.gateway.book import Book, Tool
from strictwire.gateway.drift import Drift
from strictwire.gateway.health import reason_of
from strictwire.gateway.hearing import Patience, StreamHearer
from strictwire.gateway.link import Answer, Era, Link, Question
from strictwire.gateway.naming import Naming
from strictwire.gateway.policy import GuardPolicy
from strictwire.gateway.rewrite import PRIVATE, slice_at
from strictwire.gateway.shown import mask_error, mask_result, relayed_status, with_scope, without_tools
from strictwire.gateway.states import States
from strictwire.gateway.terms import Mode, Terms, broke, failure_of, timed_out
from strictwire.gateway.upstream import Upstream
from strictwire.gateway.verdict import argument_at, find_fault, header_text
from strictwire.pipeline.accept import accept
from strictwire.pipeline.admit import admit
from strictwire.pipeline.authorise import allows_tier, authorise
from strictwire.pipeline.call import Asking, Call, Caller, Done, Kind, Operation, Outcome
from strictwire.pipeline.caps import Gate
from strictwire.pipeline.clock import Clock
from strictwire.pipeline.record import Entry, Journal, facts_of
from strictwire.profiles.exchange import Inbound
from strictwire.profiles.mcp_core import PROFILE
from strictwire.profiles.mcp_core import Target as Called
from strictwire.profiles.mcp_results import Written, write_failure, write_tool_failure
from strictwire.profiles.mirror import find_argument_mismatch
from strictwire.profiles.quiet_context import QuietContext
from strictwire.profiles.seal import Sealer
from strictwire.wire.revisions import Revision

log = logging.getLogger("strictwire.guard")

_TAILS: Final = {True: b',"resultType":"complete"}', False: b"}"}
"""What closes a tool result of ours, by whether the revision is modern."""

HEADER_MISMATCH: Final = -32020
PARAM_PREFIX: Final = "mcp-param-"

_PROOFS: Final = {Era.MODERN: "server/discover", Era.LEGACY: "ping"}
"""What every server of an era must answer."""

PLAIN: Final = Naming()


class Errand(msgspec.Struct, frozen=True, kw_only=True):
    """One call on its way, with everything that decides how it is judged."""

    question: Question
    called: Called
    inbound: Inbound
    revision: Revision
    capabilities: Mapping[str, JsonValue]
    """What this client declared; nothing else may be asked of it."""
    link: Link
    book: Book
    hearer: StreamHearer


class _Found(NamedTuple):
    """A tool, and what is wrong with the arguments of the call."""

    tool: Tool
    misfit: Failure | None


class Warden:
    """Holds one upstream to its terms."""

    def __init__(
        self,
        upstream: Upstream,
        terms: Terms,
        *,
        journal: Journal,
        policy: GuardPolicy,
        clock: Clock,
        sealer: Sealer,
        drift: Drift | None = None,
        naming: Naming = PLAIN,
        resources: tuple[str, ...] = (),
    ) -> None:
        self.upstream = upstream
        self.terms = terms
        self.journal = journal
        self.clock = clock
        self.drift = drift
        self.naming = naming
        self.resources = resources
        """Patterns of URIs that are this upstream's, whoever lists them."""
        self.gate = Gate(terms.concurrency)
        self._gates = {name: Gate(each.concurrency, self.gate) for name, each in terms.tools.items()}
        self._policy = policy
        self._states = States(sealer, upstream.target.name)
        self._proofs: set[asyncio.Task[None]] = set()

    async def perform(self, errand: Errand) -> Written:
        """Relay one call and give its answer, which is recorded first. Raises CancelledError, recorded too."""
        call = _call_of(errand)
        found = await self._find(errand, call)
        operation = None if isinstance(found, Failure) else found.tool.operation
        entry = self.journal.open(call, operation)
        try:
            outcome, written = await self._decide(errand, call, found, entry)
        except asyncio.CancelledError:
            await asyncio.shield(entry.close(fail("CANCELLED"), None))
            raise
        unrecorded = await entry.close(outcome, written)
        return written if unrecorded is None else self._write(errand, call, unrecorded, operation)

    async def close(self) -> None:
        """Let go of the upstream."""
        for task in tuple(self._proofs):
            task.cancel()
        await asyncio.gather(*self._proofs, return_exceptions=True)
        await self.upstream.close()
        if self.drift is not None:
            await self.drift.close()

    def new_book(self, era: Era) -> Book:
        """The contracts as one session, or all clients of the stateless era, see them."""
        elapsed = self.clock.elapsed
        return Book(self.upstream, era=era, gate_of=self._gate_of, terms=self.terms, elapsed=elapsed, drift=self.drift)

    def _gate_of(self, own: str) -> Gate:
        """A tool with terms of its own has a gate of its own, whoever calls it; it leads into that of the upstream."""
        return self._gates.get(own, self.gate)

    async def screened(self, answer: Answer, question: Question, book: Book, link: Link, caller: Caller) -> Answer | Failure:
        """A list of tools without those that this caller may not call."""
        if question.method != "tools/list" or answer.result is None:
            return answer
        if self.drift is not None:
            try:
                # With trust on first use, the whole list must be pinned before a page of it is shown.
                await book.find("", link)
            except ClientError as exc:
                return failure_of(exc)
        shown = without_tools(answer, lambda entry: self._is_hidden(entry, caller))
        return with_scope(shown, PRIVATE) if self._policy.is_personal else shown

    def leaves_out(self, own: str) -> bool:
        """Whether the filter keeps a tool from everybody."""
        return self._policy.leaves_out(own)

    def holds(self, entry: JsonObject) -> bool:
        """Whether a tool is in quarantine."""
        mode = self.terms.of_tool(str(entry.get("name"))).mode
        return self.drift is not None and mode is Mode.ENFORCE and self.drift.judge(entry) is not None

    def _is_hidden(self, entry: JsonObject, caller: Caller) -> bool:
        own = str(entry.get("name"))
        if self._policy.hides(own, self.naming.shown(own), caller):
            return True
        if not self._policy.dry_run and not _may_use(self.terms.of_tool(own), caller):
            return True
        return self.holds(entry)

    async def relay(
        self, question: Question, link: Link, hearer: StreamHearer, terms: Terms | None = None
    ) -> Answer | Failure:
        """Ask within the time that the terms allow: those of a tool, or of the upstream."""
        terms = terms or self.terms
        hearer.patience = Patience(terms.silence_seconds, terms.total_seconds)
        try:
            async with hearer.patience.limit:
                answer = await link.ask(question, hearer)
        except TimeoutError:
            self._have_proved(link, hearer.era)
            return timed_out(terms.silence_seconds)
        except ClientError as exc:
            if isinstance(exc, CannotReach):
                self.upstream.health.note_down(reason_of(exc))
            return failure_of(exc)
        self.upstream.health.note_up()
        return answer

    def _have_proved(self, link: Link, era: Era) -> None:
        """Find out, without anybody waiting for it, whether the upstream is slow or hangs."""
        question = self.upstream.question(_PROOFS[era], {}, era)
        task = asyncio.create_task(link.prove(question, self.terms.proof_seconds))
        self._proofs.add(task)
        task.add_done_callback(self._proofs.discard)

    def masked(self, answer: Answer, given: JsonValue) -> Answer:
        """An error without what no client should see, where the terms say so."""
        return mask_error(answer, given) if self.terms.mask else answer

    async def _find(self, errand: Errand, call: Call) -> _Found | Failure:
        if call.kind is not Kind.TOOL:
            return _Found(Tool(operation=_loose(call, self.gate, self.terms), terms=self.terms), None)
        own = errand.called.name
        try:
            found = _judged(await errand.book.find(own, errand.link), call)
            if found is None or found.misfit is not None:
                found = _judged(await errand.book.renew(own, errand.link), call)
        except ClientError as exc:
            return failure_of(exc)
        return found or fail("UNKNOWN_TOOL")

    async def _decide(self, errand: Errand, call: Call, found: _Found | Failure, entry: Entry) -> tuple[Outcome, Written]:
        if isinstance(found, Failure):
            return found, self._write(errand, call, found, None)
        operation = found.tool.operation
        refused = admit(operation, call)
        if refused is not None:
            return refused, self._write(errand, call, refused, operation)
        try:
            refused = await self._find_denial(call, found.tool) or _find_refusal(errand, call, found)
            if refused is None and not operation.read_only:
                refused = await entry.intend()
            if refused is not None:
                return refused, self._write(errand, call, refused, operation)
            return await self._relay(errand, call, found.tool)
        finally:
            operation.gate.leave()

    async def _find_denial(self, call: Call, tool: Tool) -> Failure | None:
        """What the policy says. In a dry run it is told and recorded, and the call goes on."""
        denied = authorise(tool.operation, call, self._policy)
        if denied is None or not self._policy.dry_run:
            return denied
        log.warning("dry run: %s of %s would be %s", call.target, call.caller.principal, denied.code)
        return await self.journal.open(call, tool.operation).close(denied, None)

    async def _relay(self, errand: Errand, call: Call, tool: Tool) -> tuple[Outcome, Written]:
        question = errand.question
        rejected = self._states.find_rejection(question, call) if errand.revision.modern else None
        if rejected is not None:
            return rejected, self._write(errand, call, rejected, tool.operation)
        question.headers = mirrored_headers(tool, call.arguments, errand.inbound)
        answer = await self.relay(question, errand.link, errand.hearer, tool.terms)
        if isinstance(answer, Answer) and (answer.error or {}).get("code") == HEADER_MISMATCH:
            answer = await self._retry(errand, call, question, answer, tool.terms)
        if isinstance(answer, Failure):
            return answer, self._write(errand, call, answer, tool.operation)
        if answer.error is not None:
            return self._pass_error(errand, call, answer)
        fault = await self._find_fault(errand, call, tool, answer.result or {})
        return self._pass_result(errand, call, tool, answer, fault)

    async def _find_fault(self, errand: Errand, call: Call, tool: Tool, result: JsonObject) -> Failure | None:
        """What is wrong with a result, by a list of tools that is new."""
        fault = find_fault(result, tool.operation, call, errand.revision, errand.capabilities)
        if fault is None or tool.operation.promises is None:
            return fault
        try:
            renewed = await errand.book.renew(errand.called.name, errand.link)
        except ClientError:
            return fault
        operation = tool.operation if renewed is None else renewed.operation
        return find_fault(result, operation, call, errand.revision, errand.capabilities)

    async def _retry(
        self, errand: Errand, call: Call, question: Question, refused: Answer, terms: Terms
    ) -> Answer | Failure:
        """The upstream misses a header that repeats an argument: its list has changed, and nothing has run yet."""
        try:
            renewed = await errand.book.renew(errand.called.name, errand.link)
        except ClientError as exc:
            return failure_of(exc)
        headers = {} if renewed is None else mirrored_headers(renewed, call.arguments, errand.inbound)
        if headers == question.headers:
            return refused
        question.headers = headers
        return await self.relay(question, errand.link, errand.hearer, terms)

    def _pass_error(self, errand: Errand, call: Call, answer: Answer) -> tuple[Outcome, Written]:
        shown = self.masked(answer, call.arguments)
        outcome = fail("UPSTREAM_ERROR", details={"code": (answer.error or {}).get("code")})
        written = Written(body=shown.raw, status=relayed_status(shown, errand.revision), envelope=shown.error)
        return outcome, written

    def _pass_result(
        self, errand: Errand, call: Call, tool: Tool, answer: Answer, fault: Failure | None
    ) -> tuple[Outcome, Written]:
        result = answer.result or {}
        raw = slice_at(answer.raw, ("result",)) or b"{}"
        if len(raw) > tool.terms.response_bytes:
            too_large = fail("CAP_EXCEEDED", details={"limitBytes": tool.terms.response_bytes})
            return too_large, self._write(errand, call, too_large, tool.operation)
        fault = _hold(fault, call, tool.terms.mode)
        if fault is not None:
            return fault, self._write(errand, call, fault, tool.operation)
        shown = mask_result(answer.raw, result, call.arguments) if tool.terms.mask else answer.raw
        body = self._states.seal(shown, result, call) if errand.revision.modern else shown
        if result.get("resultType") == "input_required":
            return Asking(questions={}), Written(body=body)
        return Done(value=result, raw=raw), Written(body=body)

    def _write(self, errand: Errand, call: Call, outcome: Outcome, operation: Operation | None) -> Written:
        failure = outcome if isinstance(outcome, Failure) else fail("INTERNAL")
        facts = facts_of(call, self.clock)
        if call.kind is Kind.TOOL and failure.code != "HEADER_MISMATCH":
            tail = _TAILS[errand.revision.modern]
            return write_tool_failure(errand.question.id, failure, facts, errand.revision, operation, tail)
        return write_failure(errand.question.id, failure, facts)


def mirrored_headers(tool: Tool, arguments: JsonObject, inbound: Inbound) -> dict[str, str]:
    """The headers that repeat arguments for an upstream that speaks HTTP.

    Those of the client are passed on, because an upstream may know more than it lists; what the list names is made anew.
    """
    given = inbound.headers
    names = [] if given is None else [name for name in given.names() if name.startswith(PARAM_PREFIX)]
    passed = {name: value for name in names if given is not None and (value := given.get(name) or "").isascii()}
    found = {each.header.lower(): argument_at(arguments, each.path) for each in tool.mirrored}
    return passed | {PARAM_PREFIX + name: header_text(value) for name, value in found.items() if value is not None}


def _judged(tool: Tool | None, call: Call) -> _Found | None:
    return None if tool is None else _Found(tool, accept(tool.operation, call))


def _find_refusal(errand: Errand, call: Call, found: _Found) -> Failure | None:
    """Why a call that may be made is not: headers or arguments that do not fit, or a tool that cannot be trusted."""
    tool = found.tool
    if errand.inbound.headers is not None and errand.revision.modern:
        differs = find_argument_mismatch(errand.inbound.headers, tool.mirrored, call.arguments)
        if differs is not None:
            return differs
    unusable = None if tool.unusable is None else broke(f"schema_{tool.unusable}")
    return _hold(tool.held or unusable or found.misfit, call, tool.terms.mode)


def _may_use(terms: Terms, caller: Caller) -> bool:
    return allows_tier(caller.tier, terms.tier) and (not terms.roles or caller.role in terms.roles)


def _hold(failure: Failure | None, call: Call, mode: Mode) -> Failure | None:
    """What the mode makes of a broken contract."""
    if failure is None or mode is Mode.ENFORCE:
        return failure
    level = logging.WARNING if mode is Mode.WARN else logging.INFO
    log.log(level, "%s %s: %s, relayed all the same", call.kind.value, call.target, failure.code)
    return None


def _loose(call: Call, gate: Gate, terms: Terms) -> Operation:
    """What has no contract of its own: prompts, resources, completion."""
    return Operation(kind=call.kind, name=call.target, handler=_relayed, caps=terms.caps, gate=gate, is_async=True)


def _relayed(_arguments: JsonObject, _context: CallContext) -> None:
    """Nothing runs here."""


def _call_of(errand: Errand) -> Call:
    inbound, called = errand.inbound, errand.called
    return Call(
        kind=called.kind,
        target=errand.question.shown or called.name,
        arguments=called.arguments,
        caller=inbound.caller,
        transport=inbound.transport,
        profile=PROFILE,
        method=errand.question.method,
        revision=errand.revision.name,
        context=QuietContext(inbound.caller, transport=inbound.transport, revision=errand.revision.name),
        capabilities=frozenset(errand.capabilities),
    )
