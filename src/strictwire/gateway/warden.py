"""Performs one call of an upstream: the stages of `pipeline`, with relaying in the place of running.

    find -> admit -> authorise -> accept -> intend -> relay -> verify -> mask -> write -> record -> answer

Nothing the upstream answered is rewritten unless it must be: a masked error, a sealed state, or a refusal.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue, render
from strictwire.client.errors import ClientError
from strictwire.contract.tool import Caps
from strictwire.fault.failure import Failure, fail
from strictwire.gateway.book import Book, Tool
from strictwire.gateway.drift import Drift
from strictwire.gateway.hearing import Patience, StreamHearer
from strictwire.gateway.link import Answer, Era, Link, Question
from strictwire.gateway.mask import Masker
from strictwire.gateway.policy import ToolPolicy
from strictwire.gateway.rewrite import replace_at, slice_at, without_tools
from strictwire.gateway.terms import Mode, Terms, broke, failure_of, timed_out
from strictwire.gateway.upstream import Upstream
from strictwire.gateway.verdict import argument_at, find_fault, header_text
from strictwire.pipeline.accept import accept
from strictwire.pipeline.admit import admit
from strictwire.pipeline.authorise import authorise
from strictwire.pipeline.call import Asking, Call, Done, Kind, Operation, Outcome
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

_STATUS: Final[Mapping[int, int]] = {
    -32601: 404,
    **dict.fromkeys((-32700, -32600, -32602, -32020, -32021, -32022), 400),
}
"""HTTP statuses of relayed errors in the stateless era, where the upstream has none of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
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


class Warden:
    """Holds one upstream to its terms."""

    def __init__(
        self,
        upstream: Upstream,
        terms: Terms,
        *,
        journal: Journal,
        policy: ToolPolicy,
        clock: Clock,
        sealer: Sealer,
        drift: Drift | None = None,
    ) -> None:
        self.upstream = upstream
        self.terms = terms
        self.journal = journal
        self.clock = clock
        self.drift = drift
        self.gate = Gate(terms.concurrency)
        self.caps = Caps(
            timeout_ms=int(terms.total_seconds * 1000),
            response_bytes=terms.response_bytes,
            concurrency=terms.concurrency,
        )
        self._policy = policy
        self._sealer = sealer
        self._proofs: set[asyncio.Task[None]] = set()

    async def perform(self, errand: Errand) -> Written:
        """Relay one call and give its answer, which is recorded first. Raises CancelledError, recorded too."""
        call = _call_of(errand)
        found = await self._find(errand, call)
        operation = found.operation if isinstance(found, Tool) else None
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
        return Book(self.upstream, era=era, gate=self.gate, caps=self.caps, elapsed=self.clock.elapsed, drift=self.drift)

    async def screened(self, answer: Answer, question: Question, book: Book, link: Link) -> Answer | Failure:
        """A list of tools without those that may not be called."""
        if question.method != "tools/list" or answer.result is None:
            return answer
        if self.drift is not None:
            try:
                # With trust on first use, the whole list must be pinned before a page of it is shown.
                await book.find("", link)
            except ClientError as exc:
                return failure_of(exc)
        return replace(answer, raw=without_tools(answer.raw, answer.result, self._is_hidden))

    def _is_hidden(self, entry: JsonObject) -> bool:
        if not self._policy.permits(str(entry.get("name"))):
            return True
        return self.drift is not None and self.terms.mode is Mode.ENFORCE and self.drift.judge(entry) is not None

    async def relay(self, question: Question, link: Link, hearer: StreamHearer) -> Answer | Failure:
        """Ask within the time that the terms allow."""
        hearer.patience = Patience(self.terms.silence_seconds, self.terms.total_seconds)
        try:
            async with hearer.patience.limit:
                return await link.ask(question, hearer)
        except TimeoutError:
            self._have_proved(link, hearer.era)
            return timed_out(self.terms.silence_seconds)
        except ClientError as exc:
            return failure_of(exc)

    def _have_proved(self, link: Link, era: Era) -> None:
        """Find out, without anybody waiting for it, whether the upstream is slow or hangs."""
        question = self.upstream.question(_PROOFS[era], {}, era)
        task = asyncio.create_task(link.prove(question, self.terms.proof_seconds))
        self._proofs.add(task)
        task.add_done_callback(self._proofs.discard)

    def relayed_status(self, answer: Answer, revision: Revision) -> int:
        """The HTTP status of a relayed error."""
        if answer.error is None or not revision.modern:
            return 200
        known = answer.status if answer.status is not None and 400 <= answer.status < 500 else None
        return known or _STATUS.get(answer.error["code"], 200)

    def masked(self, answer: Answer, given: JsonValue) -> Answer:
        """An error without what no client should see; code and the rest of its shape stay as they came."""
        if answer.error is None or not self.terms.mask:
            return answer
        said: JsonObject = {name: answer.error[name] for name in ("message", "data") if name in answer.error}
        shown = Masker(render(given).decode()).mask(said)
        if shown == said or not isinstance(shown, dict):
            return answer
        raw = replace_at(answer.raw, ("error",), render({**answer.error, **shown}))
        return Answer(raw=raw, error={**answer.error, **shown}, status=answer.status)

    async def _find(self, errand: Errand, call: Call) -> Tool | Failure:
        if call.kind is not Kind.TOOL:
            return Tool(operation=_loose(call, self.gate, self.caps))
        try:
            found = await errand.book.find(call.target, errand.link)
            if found is None or (found.operation.accepts and not found.operation.accepts.accepts(call.arguments)):
                found = await errand.book.renew(call.target, errand.link)
        except ClientError as exc:
            return failure_of(exc)
        if found is None:
            return fail("UNKNOWN_TOOL")
        return found

    async def _decide(self, errand: Errand, call: Call, found: Tool | Failure, entry: Entry) -> tuple[Outcome, Written]:
        refused = found if isinstance(found, Failure) else admit(found.operation, call)
        if isinstance(found, Failure) or refused is not None:
            outcome = refused or fail("INTERNAL")
            operation = None if isinstance(found, Failure) else found.operation
            return outcome, self._write(errand, call, outcome, operation)
        try:
            refused = self._find_refusal(errand, call, found)
            if refused is None and not found.operation.read_only:
                refused = await entry.intend()
            if refused is not None:
                return refused, self._write(errand, call, refused, found.operation)
            return await self._relay(errand, call, found)
        finally:
            found.operation.gate.leave()

    def _find_refusal(self, errand: Errand, call: Call, tool: Tool) -> Failure | None:
        denied = authorise(tool.operation, call, self._policy)
        if denied is not None:
            return denied
        if errand.inbound.headers is not None and errand.revision.modern:
            differs = find_argument_mismatch(errand.inbound.headers, tool.mirrored, call.arguments)
            if differs is not None:
                return differs
        unusable = None if tool.unusable is None else broke(f"schema_{tool.unusable}")
        return self._hold(tool.held or unusable or accept(tool.operation, call), call)

    def _hold(self, failure: Failure | None, call: Call) -> Failure | None:
        """What the mode makes of a broken contract."""
        if failure is None or self.terms.mode is Mode.ENFORCE:
            return failure
        level = logging.WARNING if self.terms.mode is Mode.WARN else logging.INFO
        log.log(level, "%s %s: %s, relayed all the same", call.kind.value, call.target, failure.code)
        return None

    async def _relay(self, errand: Errand, call: Call, tool: Tool) -> tuple[Outcome, Written]:
        question = self._unsealed(errand, call)
        if isinstance(question, Failure):
            return question, self._write(errand, call, question, tool.operation)
        question.headers = mirrored_headers(tool, call.arguments, errand.inbound)
        answer = await self.relay(question, errand.link, errand.hearer)
        if isinstance(answer, Answer) and (answer.error or {}).get("code") == HEADER_MISMATCH:
            answer = await self._retry(errand, call, question, answer)
        if isinstance(answer, Failure):
            return answer, self._write(errand, call, answer, tool.operation)
        if answer.error is not None:
            return self._pass_error(errand, call, answer)
        fault = await self._find_fault(errand, call, tool, answer.result or {})
        return self._pass_result(errand, call, tool.operation, answer, fault)

    async def _find_fault(self, errand: Errand, call: Call, tool: Tool, result: JsonObject) -> Failure | None:
        """What is wrong with a result, by a list of tools that is new."""
        fault = find_fault(result, tool.operation, call, errand.revision, errand.capabilities)
        if fault is None or tool.operation.promises is None:
            return fault
        try:
            renewed = await errand.book.renew(call.target, errand.link)
        except ClientError:
            return fault
        operation = tool.operation if renewed is None else renewed.operation
        return find_fault(result, operation, call, errand.revision, errand.capabilities)

    async def _retry(self, errand: Errand, call: Call, question: Question, refused: Answer) -> Answer | Failure:
        """The upstream misses a header that repeats an argument: its list has changed, and nothing has run yet."""
        try:
            renewed = await errand.book.renew(call.target, errand.link)
        except ClientError as exc:
            return failure_of(exc)
        headers = {} if renewed is None else mirrored_headers(renewed, call.arguments, errand.inbound)
        if headers == question.headers:
            return refused
        question.headers = headers
        return await self.relay(question, errand.link, errand.hearer)

    def _pass_error(self, errand: Errand, call: Call, answer: Answer) -> tuple[Outcome, Written]:
        shown = self.masked(answer, call.arguments)
        outcome = fail("UPSTREAM_ERROR", details={"code": (answer.error or {}).get("code")})
        written = Written(body=shown.raw, status=self.relayed_status(shown, errand.revision), envelope=shown.error)
        return outcome, written

    def _pass_result(
        self, errand: Errand, call: Call, operation: Operation, answer: Answer, fault: Failure | None
    ) -> tuple[Outcome, Written]:
        result = answer.result or {}
        raw = slice_at(answer.raw, ("result",)) or b"{}"
        if len(raw) > self.terms.response_bytes:
            too_large = fail("CAP_EXCEEDED", details={"limitBytes": self.terms.response_bytes})
            return too_large, self._write(errand, call, too_large, operation)
        fault = self._hold(fault, call)
        if fault is not None:
            return fault, self._write(errand, call, fault, operation)
        body = self._sealed(errand, call, result, self._mask_result(answer, result, call))
        if result.get("resultType") == "input_required":
            return Asking(questions={}), Written(body=body)
        return Done(value=result, raw=raw), Written(body=body)

    def _mask_result(self, answer: Answer, result: JsonObject, call: Call) -> bytes:
        """A tool's own error is a result; its texts are error texts all the same."""
        if not self.terms.mask or result.get("isError") is not True:
            return answer.raw
        masker, raw = Masker(render(call.arguments).decode()), answer.raw
        shown = masker.mask_content(result.get("content"))
        if shown != result.get("content"):
            raw = replace_at(raw, ("result", "content"), render(shown))
        structured = result.get("structuredContent")
        masked = masker.mask(structured)
        return raw if masked == structured else replace_at(raw, ("result", "structuredContent"), render(masked))

    def _sealed(self, errand: Errand, call: Call, result: JsonObject, raw: bytes) -> bytes:
        """A state leaves under our seal, bound to caller and request: it comes back to the same upstream unchanged."""
        state = result.get("requestState")
        if not errand.revision.modern or result.get("resultType") != "input_required" or not isinstance(state, str):
            return raw
        sealed = self._sealer.seal({"upstream": {"state": state}}, self._binding(call))
        return replace_at(raw, ("result", "requestState"), render(sealed))

    def _unsealed(self, errand: Errand, call: Call) -> Question | Failure:
        """STATE_REJECTED: a state that we did not seal for this caller and request."""
        question = errand.question
        state = question.params.get("requestState")
        if state is None or not errand.revision.modern:
            return question
        opened = self._sealer.open(state, self._binding(call)) if isinstance(state, str) else None
        if opened is None:
            return fail("STATE_REJECTED")
        raw = replace_at(question.raw, ("params", "requestState"), render(opened["upstream"]["state"]))
        return Question(id=question.id, method=question.method, params=question.params, raw=raw)

    def _binding(self, call: Call) -> JsonObject:
        return {
            "upstream": self.upstream.target.name,
            "method": call.method,
            "target": call.target,
            "arguments": call.arguments,
            "principal": call.caller.principal,
        }

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


def _loose(call: Call, gate: Gate, caps: Caps) -> Operation:
    """What has no contract of its own: prompts, resources, completion."""
    return Operation(
        kind=call.kind, name=call.target, handler=lambda _arguments, _context: None, caps=caps, gate=gate, is_async=True
    )


def _call_of(errand: Errand) -> Call:
    inbound, called = errand.inbound, errand.called
    return Call(
        kind=called.kind,
        target=called.name,
        arguments=called.arguments,
        caller=inbound.caller,
        transport=inbound.transport,
        profile=PROFILE,
        method=errand.question.method,
        revision=errand.revision.name,
        context=QuietContext(inbound.caller, transport=inbound.transport, revision=errand.revision.name),
        capabilities=frozenset(errand.capabilities),
    )
