"""The stages of a relayed call, where they differ from those of our own tools.

    find -> admit -> authorise -> accept -> intend -> relay -> verify -> render -> record -> answer

`pipeline.perform` drives them. What one stage finds out and a later one needs is in the call's `RelayedCall`.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Collection
from functools import partial
from typing import Final, cast

from strictwire.canon.json import JsonObject, render, slice_members
from strictwire.client.errors import ClientError
from strictwire.contract.conform import Conformer
from strictwire.contract.fingerprint import fingerprint
from strictwire.contract.handler import CallContext
from strictwire.contract.safety import is_callable_unasked
from strictwire.contract.tool import ToolContract
from strictwire.fault.failure import Failure, Refused, fail
from strictwire.gateway.client_view import mask_error, mask_result, relayed_status
from strictwire.gateway.links.errors import failure_of, protocol_broken
from strictwire.gateway.links.raw_message import UpstreamAnswer, replace_at
from strictwire.gateway.links.upstream import Upstream
from strictwire.gateway.options import Mode, RelayOptions
from strictwire.gateway.policy.guard_policy import GuardPolicy
from strictwire.gateway.relayed_call import ClientLink, RelayedCall
from strictwire.gateway.request_state import UpstreamStates
from strictwire.gateway.tool_list import ListedTool
from strictwire.pipeline.call import Asking, Call, Done, Kind, Outcome
from strictwire.pipeline.clock import Clock
from strictwire.pipeline.compiled import CompiledTool
from strictwire.pipeline.limits import ConcurrencyLimit
from strictwire.pipeline.record import Journal, facts_of
from strictwire.pipeline.stages import accept, authorise
from strictwire.profiles.endpoint import Reply
from strictwire.profiles.mcp.answers import NEEDS
from strictwire.profiles.mcp.header_echo import find_argument_mismatch
from strictwire.profiles.mcp.results import write_failure, write_tool_failure
from strictwire.profiles.mcp.targets import ASKING

log = logging.getLogger("strictwire.guard")

RESULT_ENDS: Final = {True: b',"resultType":"complete"}', False: b"}"}
"""The end of a failure that is written as a tool result, by whether the revision is stateless."""

PRIVATE: Final = "private"
"""The `cacheScope` of an answer that another caller may not get."""

HEADER_MISMATCH: Final = -32020
INPUT_REQUIRED: Final = "input_required"
"""The result type of an answer with questions to the client."""


class CallStages:
    """The stages of the calls to one upstream."""

    def __init__(
        self,
        upstream: Upstream,
        options: RelayOptions,
        *,
        policy: GuardPolicy,
        states: UpstreamStates,
        journal: Journal,
        clock: Clock,
    ) -> None:
        self._upstream = upstream
        self._over_http = upstream.target.url is not None
        self._options = options
        self._policy = policy
        self._states = states
        self._journal = journal
        self._clock = clock
        self._is_personal = is_personal(options, policy)
        self._limit = ConcurrencyLimit(options.concurrency)
        self._tool_limits = {name: ConcurrencyLimit(each.concurrency, self._limit) for name, each in options.tools.items()}
        # Without a policy there is nothing to decide beyond tier and role.
        authorise_call = authorise if policy.is_empty and not policy.dry_run else self._authorise_by_policy
        self._new_tool = partial(
            CompiledTool,
            handler=self._relay,
            is_async=True,
            authorise=authorise_call,
            accept=self._accept,
            verify=self._verify,
            seconds=None,
            upstream=upstream.target.name,
        )

    def compile(self, contract: ToolContract, given: Conformer | None, promised: Conformer | None) -> CompiledTool:
        """See tool_list.Compile. A tool with options of its own has a limit of its own, below the upstream's."""
        options = self._options.of_tool(contract.name)
        return self._new_tool(
            kind=Kind.TOOL,
            name=contract.name,
            limit=self._tool_limits.get(contract.name, self._limit),
            contract=contract,
            input=given,
            output=promised,
            caps=options.caps,
            tier=options.tier,
            roles=options.roles,
            read_only=is_callable_unasked(contract.safety),
            fingerprint=fingerprint(contract).whole,
        )

    async def find(self, relayed: RelayedCall, call: Call, via: ClientLink) -> CompiledTool | Failure:
        """The tool as the upstream lists it. Before the list refuses a call, it is fetched again."""
        relayed.via = via
        if call.kind is not Kind.TOOL:
            # Upstreams list no schemas for prompts, resources and completions.
            options = self._options
            return self._new_tool(
                kind=call.kind,
                name=call.target,
                limit=self._limit,
                caps=options.caps,
                tier=options.tier,
                roles=options.roles,
            )
        name, tools, link = relayed.target.name, via.tools, via.link
        try:
            tool = await tools.find(name, link)
            if tool is None or accept(tool.compiled, call) is not None:
                tool = await tools.renew(name, link)
                relayed.invalid = None if tool is None else accept(tool.compiled, call)
        except ClientError as exc:
            return failure_of(exc)
        relayed.tool = tool
        return fail("UNKNOWN_TOOL") if tool is None else tool.compiled

    def _authorise_by_policy(self, tool: CompiledTool, call: Call) -> Failure | None:
        """Tier, role and policy. In a dry run a denial is logged and recorded, and the call goes on."""
        denied = authorise(tool, call) or self._policy.find_refusal(tool, call)
        if denied is None or not self._policy.dry_run:
            return denied
        log.warning("dry run: %s of %s would be %s", call.target, call.caller.principal, denied.code)
        # The call goes on whether or not this record is kept: its own record decides.
        self._journal.close(self._journal.open(call, tool), call, denied, None, lambda _unrecorded: None)
        return None

    def _accept(self, _tool: CompiledTool, call: Call) -> Failure | None:
        """Headers that differ from the arguments, a tool that differs from its pin, arguments that do not conform."""
        relayed = cast("RelayedCall", call.context)
        tool, exchange = relayed.tool, relayed.request.exchange
        if tool is None:
            return None
        if exchange.inbound.headers is not None and exchange.revision.modern:
            differs = find_argument_mismatch(exchange.inbound.headers, tool.mirrored, call.arguments)
            if differs is not None:
                return differs
        unusable = None if tool.unusable is None else protocol_broken(f"schema_{tool.unusable}")
        fault = tool.drift or unusable or relayed.invalid
        return fault and _enforced(fault, call, tool.options.mode)

    async def _relay(self, _arguments: JsonObject, context: CallContext) -> UpstreamAnswer:
        """The handler: send the request to the upstream. Raises Refused: it did not answer."""
        relayed = cast("RelayedCall", context)
        request, via, tool = relayed.request, relayed.via, relayed.tool
        if via is None:
            raise Refused(fail("INTERNAL"))
        options = self._options if tool is None else tool.options
        if request.meta is not None and "requestState" in request.params:
            rejected = self._states.open(request, relayed.target, relayed.caller.principal)
            if rejected is not None:
                raise Refused(rejected)
        if tool is not None and self._over_http:
            request.headers = tool.argument_headers(relayed.target.arguments, request.exchange.inbound.headers)
        answer = await self._upstream.send(request, via.link, via.listener, options)
        if self._over_http and isinstance(answer, UpstreamAnswer) and answer.error is not None:
            answer = await self._retry(relayed, via, answer, options)
        if isinstance(answer, Failure):
            raise Refused(answer)
        if answer.result is not None:
            relayed.violation = find_violation(answer.result, relayed, via.capabilities)
            if tool is not None and relayed.violation is not None and relayed.violation.code == "OUTPUT_INVALID":
                await self._check_again(relayed, via, tool, answer.result)
        return answer

    async def _retry(
        self, relayed: RelayedCall, via: ClientLink, refused: UpstreamAnswer, options: RelayOptions
    ) -> UpstreamAnswer | Failure:
        """Send a request again if the upstream misses a header: its list has changed, and the tool has not run yet."""
        request = relayed.request
        if (refused.error or {}).get("code") != HEADER_MISMATCH:
            return refused
        try:
            tool = await via.tools.renew(relayed.target.name, via.link)
        except ClientError as exc:
            return failure_of(exc)
        given = request.exchange.inbound.headers
        headers = {} if tool is None else tool.argument_headers(relayed.target.arguments, given)
        if headers == request.headers:
            return refused
        request.headers = headers
        return await self._upstream.send(request, via.link, via.listener, options)

    async def _check_again(self, relayed: RelayedCall, via: ClientLink, tool: ListedTool, result: JsonObject) -> None:
        """Before the list says that a result breaks the contract, the list is fetched again."""
        with contextlib.suppress(ClientError):
            relayed.tool = await via.tools.renew(relayed.target.name, via.link) or tool
            relayed.violation = find_violation(result, relayed, via.capabilities)

    def _verify(self, _tool: CompiledTool, call: Call, returned: object) -> Outcome:
        """Whether the answer keeps the contract, and what the client gets of it."""
        relayed = cast("RelayedCall", call.context)
        if not isinstance(returned, UpstreamAnswer):
            return fail("INTERNAL")
        options = self._options if relayed.tool is None else relayed.tool.options
        modern = relayed.request.exchange.revision.modern
        if returned.result is None:
            shown = mask_error(returned, call.arguments) if self._options.mask else returned
            status = relayed_status(shown, relayed.request.exchange.revision)
            relayed.reply = Reply(body=shown.raw, status=status, envelope=shown.error)
            return fail("UPSTREAM_ERROR", details={"code": (returned.error or {}).get("code")})
        result, raw = returned.result, slice_members(returned.raw)["result"]
        if len(raw) > options.response_bytes:
            return fail("CAP_EXCEEDED", details={"limitBytes": options.response_bytes})
        fault = relayed.violation and _enforced(relayed.violation, call, options.mode)
        if fault is not None:
            return fault
        asks = modern and result.get("resultType") == INPUT_REQUIRED
        body = mask_result(returned.raw, result, call.arguments) if options.mask else returned.raw
        if self._is_personal and result.get("cacheScope") not in (None, PRIVATE):
            body = replace_at(body, ("result", "cacheScope"), render(PRIVATE))
        if asks:
            body = self._states.seal(body, result, relayed.request, relayed.target, relayed.caller.principal)
        relayed.reply = Reply(body=body)
        return Asking(questions={}) if asks else Done(value=result, raw=raw)

    def render(self, relayed: RelayedCall, call: Call, outcome: Outcome, tool: CompiledTool | None) -> Reply:
        """The upstream's own answer, or a failure of the guard."""
        if relayed.reply is not None and (not isinstance(outcome, Failure) or outcome.code == "UPSTREAM_ERROR"):
            return relayed.reply
        failure = outcome if isinstance(outcome, Failure) else fail("INTERNAL")
        facts, request_id, revision = facts_of(call, self._clock), relayed.request.id, relayed.request.exchange.revision
        if call.kind is Kind.TOOL and failure.code != "HEADER_MISMATCH":
            return write_tool_failure(request_id, failure, facts, revision, tool, RESULT_ENDS[revision.modern])
        return write_failure(request_id, failure, facts)


def find_violation(result: JsonObject, call: RelayedCall, capabilities: Collection[str]) -> Failure | None:
    """The first violation of the contract in a result. `capabilities` are those that the client declared.

    1. a result type that was not negotiated (UPSTREAM_BROKE)
    2. questions on a method that has none, or that this client did not declare to answer (UPSTREAM_BROKE)
    3. a tool result that breaks its contract (OUTPUT_INVALID)
    """
    if call.request.exchange.revision.modern and result.get("resultType", "complete") != "complete":
        if result["resultType"] != INPUT_REQUIRED:
            return None if "extensions" in capabilities else protocol_broken("result_type")
        questions = result.get("inputRequests", {})
        if call.request.method not in ASKING or not isinstance(questions, dict):
            return protocol_broken("input_required")
        kinds = [each.get("method") if isinstance(each, dict) else None for each in questions.values()]
        allowed = all(isinstance(kind, str) and NEEDS.get(kind) in capabilities for kind in kinds)
        return None if allowed else protocol_broken("question_not_offered")
    return None if call.tool is None else call.tool.find_output_fault(result)


def is_personal(options: RelayOptions, policy: GuardPolicy) -> bool:
    """Whether two callers may get different answers, so that none may be cached for others."""
    return not policy.dry_run and (policy.depends_on_caller or options.depends_on_caller)


def _enforced(failure: Failure, call: Call, mode: Mode) -> Failure | None:
    """The failure, if violations of the contract are refused; otherwise they are logged."""
    if mode is Mode.ENFORCE:
        return failure
    level = logging.WARNING if mode is Mode.WARN else logging.INFO
    log.log(level, "%s %s: %s, relayed all the same", call.kind.value, call.target, failure.code)
    return None
