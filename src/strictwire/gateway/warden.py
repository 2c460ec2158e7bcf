"""Performs one call of an upstream: the stages of `pipeline`, with relaying in the place of running.

    find -> admit -> authorise -> accept -> intend -> relay -> verify -> mask -> write -> record -> answer

Nothing the upstream answered is rewritten unless it must be: a masked error, a sealed state, or a refusal.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping
from functools import partial
from typing import Final, cast

import msgspec

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.errors import CannotReach, ClientError
from strictwire.contract.handler import CallContext
from strictwire.fault.failure import Failure, Refused, fail
from strictwire.gateway.book import Book, RelayStages, Tool
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
from strictwire.gateway.verdict import argument_at, find_fault, find_output_fault, header_text
from strictwire.pipeline.call import Asking, Call, Caller, Done, Kind, Outcome
from strictwire.pipeline.clock import Clock
from strictwire.pipeline.compiled import CompiledTool
from strictwire.pipeline.limits import ConcurrencyLimit
from strictwire.pipeline.perform import Pipeline
from strictwire.pipeline.record import facts_of
from strictwire.pipeline.stages import accept, allows_tier, authorise
from strictwire.profiles.endpoint import Inbound, Reply
from strictwire.profiles.mcp.exchange import PROFILE, Exchange
from strictwire.profiles.mcp.header_echo import find_argument_mismatch
from strictwire.profiles.mcp.request_state import Sealer
from strictwire.profiles.mcp.results import write_failure, write_tool_failure
from strictwire.profiles.mcp.targets import Target
from strictwire.profiles.quiet_context import QuietContext
from strictwire.wire.revisions import Revision

log = logging.getLogger("strictwire.guard")

_TAILS: Final = {True: b',"resultType":"complete"}', False: b"}"}
"""What closes a tool result of ours, by whether the revision is modern."""

HEADER_MISMATCH: Final = -32020
PARAM_PREFIX: Final = "mcp-param-"

_PROOFS: Final = {Era.MODERN: "server/discover", Era.LEGACY: "ping"}
"""What every server of an era must answer."""

PLAIN: Final = Naming()


class Errand(msgspec.Struct, kw_only=True):
    """One call on its way to an upstream."""

    exchange: Exchange
    question: Question
    called: Target
    capabilities: Mapping[str, JsonValue]
    """What this client declared; nothing else may be asked of it."""
    link: Link
    book: Book
    hearer: StreamHearer
    tool: Tool | None = None
    """What the upstream lists; set when it is found."""
    misfit: Failure | None = None
    """What is wrong with the arguments, by that."""
    reply: Reply | None = None
    """The upstream's answer as the client gets it; None if the client gets a failure of ours."""

    @property
    def revision(self) -> Revision:
        """The one that the client speaks."""
        return self.exchange.revision


class RelayContext(QuietContext):
    """The context of a relayed call: the stages find its errand here."""

    def __init__(self, errand: Errand) -> None:
        inbound = errand.exchange.inbound
        super().__init__(inbound.caller, transport=inbound.transport, revision=errand.revision.name)
        self.errand = errand


def _errand_of(call: Call) -> Errand:
    context = call.context
    if not isinstance(context, RelayContext):
        raise TypeError("a relayed call has a RelayContext")
    return context.errand


class Warden:
    """Holds one upstream to its terms."""

    def __init__(
        self,
        upstream: Upstream,
        terms: Terms,
        *,
        pipeline: Pipeline,
        policy: GuardPolicy,
        clock: Clock,
        sealer: Sealer,
        drift: Drift | None = None,
        naming: Naming = PLAIN,
        resources: tuple[str, ...] = (),
    ) -> None:
        self.upstream = upstream
        self.terms = terms
        self.journal = pipeline.journal
        self._pipeline = pipeline
        self.clock = clock
        self.drift = drift
        self.naming = naming
        self.resources = resources
        """Patterns of URIs that are this upstream's, whoever lists them."""
        self._limit = ConcurrencyLimit(terms.concurrency)
        self._limits = {name: ConcurrencyLimit(each.concurrency, self._limit) for name, each in terms.tools.items()}
        self._stages = RelayStages(authorise=self._authorise, accept=self._accept, relay=self._relay, verify=self._verify)
        self._policy = policy
        self._states = States(sealer, upstream.target.name)
        self._proofs: set[asyncio.Task[None]] = set()

    async def perform(self, errand: Errand) -> None:
        """Relay one call through the stages and answer its exchange. Raises CancelledError, recorded too."""
        call = _call_of(errand)
        tool = await self._find(errand, call)
        await self._pipeline.perform(call, tool, partial(self._render, errand, call), errand.exchange.answer)

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
        return Book(
            self.upstream,
            era=era,
            stages=self._stages,
            limit_of=self._limit_of,
            terms=self.terms,
            elapsed=elapsed,
            drift=self.drift,
        )

    def _limit_of(self, own: str) -> ConcurrencyLimit:
        """A tool with terms of its own has a limit of its own, under that of the upstream."""
        return self._limits.get(own, self._limit)

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

    async def _find(self, errand: Errand, call: Call) -> CompiledTool | Failure:
        """What the upstream lists under that name. Before a call is refused by a list, the list is fetched anew."""
        if call.kind is not Kind.TOOL:
            return self._without_contract(call)
        own = errand.called.name
        try:
            errand.tool = await errand.book.find(own, errand.link)
            errand.misfit = None if errand.tool is None else accept(errand.tool.compiled, call)
            if errand.tool is None or errand.misfit is not None:
                errand.tool = await errand.book.renew(own, errand.link)
                errand.misfit = None if errand.tool is None else accept(errand.tool.compiled, call)
        except ClientError as exc:
            return failure_of(exc)
        return fail("UNKNOWN_TOOL") if errand.tool is None else errand.tool.compiled

    def _without_contract(self, call: Call) -> CompiledTool:
        """A prompt, a resource or a completion: an upstream lists no schema for them."""
        return CompiledTool(
            kind=call.kind,
            name=call.target,
            handler=self._relay,
            is_async=True,
            authorise=self._authorise,
            accept=self._accept,
            verify=self._verify,
            limit=self._limit,
            caps=self.terms.caps,
            seconds=None,
        )

    # The stages.

    def _authorise(self, tool: CompiledTool, call: Call) -> Failure | None:
        """Tier, role and policy. In a dry run a denial is logged and recorded, and the call goes on."""
        denied = authorise(tool, call) or self._policy.judge(tool, call)
        if denied is None or not self._policy.dry_run:
            return denied
        log.warning("dry run: %s of %s would be %s", call.target, call.caller.principal, denied.code)
        self.journal.close(self.journal.open(call, tool), call, denied, None, _ignore)
        return None

    def _accept(self, tool: CompiledTool, call: Call) -> Failure | None:  # noqa: ARG002 - a stage's signature
        """Headers or arguments that do not fit, or a tool that is not the one that was pinned."""
        errand = _errand_of(call)
        listed, headers = errand.tool, errand.exchange.inbound.headers
        if listed is None:
            return None
        if headers is not None and errand.revision.modern:
            differs = find_argument_mismatch(headers, listed.mirrored, call.arguments)
            if differs is not None:
                return differs
        unusable = None if listed.unusable is None else broke(f"schema_{listed.unusable}")
        return _enforce(listed.held or unusable or errand.misfit, call, listed.terms.mode)

    async def _relay(self, _arguments: JsonObject, context: CallContext) -> Answer:
        """Ask the upstream. Raises Refused: it did not answer."""
        errand = cast("RelayContext", context).errand
        question, tool = errand.question, errand.tool
        terms = self.terms if tool is None else tool.terms
        if errand.revision.modern:
            rejected = self._states.find_rejection(question, errand.called, errand.exchange)
            if rejected is not None:
                raise Refused(rejected)
        if tool is not None:
            question.headers = mirrored_headers(tool, errand.called.arguments, errand.exchange.inbound)
        answer = await self.relay(question, errand.link, errand.hearer, terms)
        if isinstance(answer, Answer) and (answer.error or {}).get("code") == HEADER_MISMATCH:
            answer = await self._retry(errand, answer, terms)
        if isinstance(answer, Failure):
            raise Refused(answer)
        await self._renew_if_broken(errand, answer)
        return answer

    async def _renew_if_broken(self, errand: Errand, answer: Answer) -> None:
        """A result that breaks its contract is judged by a list that is new: the contract may have changed."""
        tool = errand.tool
        if tool is None or tool.compiled.output is None or answer.result is None:
            return
        if find_output_fault(answer.result, tool.compiled) is not None:
            with contextlib.suppress(ClientError):
                errand.tool = await errand.book.renew(errand.called.name, errand.link) or tool

    def _verify(self, tool: CompiledTool, call: Call, returned: object) -> Outcome:
        """Whether an answer keeps the contract, and what the client gets of it."""
        errand = _errand_of(call)
        if not isinstance(returned, Answer):
            return fail("INTERNAL")
        if returned.error is not None:
            shown = self.masked(returned, call.arguments)
            status = relayed_status(shown, errand.revision)
            errand.reply = Reply(body=shown.raw, status=status, envelope=shown.error)
            return fail("UPSTREAM_ERROR", details={"code": returned.error.get("code")})
        terms = self.terms if errand.tool is None else errand.tool.terms
        result, raw = returned.result or {}, slice_at(returned.raw, ("result",)) or b"{}"
        if len(raw) > terms.response_bytes:
            return fail("CAP_EXCEEDED", details={"limitBytes": terms.response_bytes})
        judged = tool if errand.tool is None else errand.tool.compiled
        fault = _enforce(find_fault(result, judged, call, errand.revision, errand.capabilities), call, terms.mode)
        if fault is not None:
            return fault
        body = mask_result(returned.raw, result, call.arguments) if terms.mask else returned.raw
        if errand.revision.modern:
            body = self._states.seal(body, result, errand.called, errand.exchange)
        errand.reply = Reply(body=body)
        return Asking(questions={}) if result.get("resultType") == "input_required" else Done(value=result, raw=raw)

    def _render(self, errand: Errand, call: Call, outcome: Outcome, tool: CompiledTool | None) -> Reply:
        """The upstream's own answer, or a failure of ours."""
        if errand.reply is not None and (not isinstance(outcome, Failure) or outcome.code == "UPSTREAM_ERROR"):
            return errand.reply
        failure = outcome if isinstance(outcome, Failure) else fail("INTERNAL")
        facts, request_id = facts_of(call, self.clock), errand.question.id
        if call.kind is Kind.TOOL and failure.code != "HEADER_MISMATCH":
            tail = _TAILS[errand.revision.modern]
            return write_tool_failure(request_id, failure, facts, errand.revision, tool, tail)
        return write_failure(request_id, failure, facts)

    async def _retry(self, errand: Errand, refused: Answer, terms: Terms) -> Answer | Failure:
        """The upstream misses a header that repeats an argument: its list has changed, and nothing has run yet."""
        question = errand.question
        try:
            renewed = await errand.book.renew(errand.called.name, errand.link)
        except ClientError as exc:
            return failure_of(exc)
        given = errand.called.arguments
        headers = {} if renewed is None else mirrored_headers(renewed, given, errand.exchange.inbound)
        if headers == question.headers:
            return refused
        question.headers = headers
        return await self.relay(question, errand.link, errand.hearer, terms)


def mirrored_headers(tool: Tool, arguments: JsonObject, inbound: Inbound) -> dict[str, str]:
    """The headers that repeat arguments for an upstream that speaks HTTP.

    Those of the client are passed on, because an upstream may know more than it lists; what the list names is made anew.
    """
    given = inbound.headers
    names = [] if given is None else [name for name in given.names() if name.startswith(PARAM_PREFIX)]
    passed = {name: value for name in names if given is not None and (value := given.get(name) or "").isascii()}
    found = {each.header.lower(): argument_at(arguments, each.path) for each in tool.mirrored}
    return passed | {PARAM_PREFIX + name: header_text(value) for name, value in found.items() if value is not None}


def _may_use(terms: Terms, caller: Caller) -> bool:
    return allows_tier(caller.tier, terms.tier) and (not terms.roles or caller.role in terms.roles)


def _enforce(failure: Failure | None, call: Call, mode: Mode) -> Failure | None:
    """What the mode makes of a broken contract."""
    if failure is None or mode is Mode.ENFORCE:
        return failure
    level = logging.WARNING if mode is Mode.WARN else logging.INFO
    log.log(level, "%s %s: %s, relayed all the same", call.kind.value, call.target, failure.code)
    return None


def _ignore(_unrecorded: Failure | None) -> None:
    """A call goes on whether or not the record of its dry run is kept: its own record decides."""


def _call_of(errand: Errand) -> Call:
    inbound, called = errand.exchange.inbound, errand.called
    return Call(
        kind=called.kind,
        target=errand.question.shown or called.name,
        arguments=called.arguments,
        caller=inbound.caller,
        transport=inbound.transport,
        profile=PROFILE,
        method=errand.question.method,
        revision=errand.revision.name,
        context=RelayContext(errand),
        capabilities=errand.capabilities,
    )
