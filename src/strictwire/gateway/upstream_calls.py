"""Relays the requests of clients to one upstream. Calls go through the stages of the pipeline (`call_stages`).

The upstream's answer is rewritten only where it must be: a masked error, a sealed state, hidden tools.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.errors import ClientError
from strictwire.client.message import Era
from strictwire.fault.failure import Failure
from strictwire.gateway.call_stages import CallStages
from strictwire.gateway.client_view import mask_error, relayed_status, with_scope, without_tools
from strictwire.gateway.links.errors import failure_of
from strictwire.gateway.links.link import UpstreamAnswer
from strictwire.gateway.links.upstream import Upstream
from strictwire.gateway.options import Mode, RelayOptions
from strictwire.gateway.pins.drift import ToolPins
from strictwire.gateway.policy.guard_policy import GuardPolicy
from strictwire.gateway.relayed_call import ClientLink, ClientRequest, Relayed, RelayedCall
from strictwire.gateway.request_state import UpstreamStates
from strictwire.gateway.tool_list import ToolList
from strictwire.pipeline.call import Call, Caller
from strictwire.pipeline.clock import Clock
from strictwire.pipeline.perform import Pipeline
from strictwire.pipeline.stages import allows_tier
from strictwire.profiles.endpoint import Reply
from strictwire.profiles.mcp.exchange import PROFILE, Exchange
from strictwire.profiles.mcp.modern import RequestMeta
from strictwire.profiles.mcp.request_state import Sealer
from strictwire.profiles.mcp.targets import CALLS, read_progress_token, read_target

PRIVATE: Final = "private"
"""The `cacheScope` of a list that another caller may see differently."""


def client_request(exchange: Exchange, meta: RequestMeta | None = None) -> ClientRequest:
    """The request of an exchange, to be relayed."""
    request = exchange.request
    return ClientRequest(
        id=request.id, method=request.method, params=request.params or {}, raw=exchange.raw, exchange=exchange, meta=meta
    )


def answer_exchange(exchange: Exchange, relayed: Reply | Failure) -> None:
    """Answer a client with the outcome of its request."""
    if isinstance(relayed, Failure):
        exchange.refuse(relayed)
    else:
        exchange.answer(relayed)


class UpstreamCalls:
    """Relays requests to one upstream and holds it to its contract."""

    def __init__(
        self,
        upstream: Upstream,
        options: RelayOptions,
        *,
        pipeline: Pipeline,
        policy: GuardPolicy,
        clock: Clock,
        sealer: Sealer,
        pins: ToolPins | None = None,
    ) -> None:
        self.upstream = upstream
        self.options = options
        self.journal = pipeline.journal
        self.clock = clock
        self._pipeline = pipeline
        self.policy = policy
        self._pins = pins
        states = UpstreamStates(sealer, upstream.target.name)
        self._stages = CallStages(upstream, options, policy=policy, states=states, journal=self.journal, clock=clock)

    def new_tool_list(self, era: Era) -> ToolList:
        """The upstream's tools as one legacy session, or all clients of the stateless era, see them."""
        return ToolList(
            self.upstream,
            era=era,
            compile_tool=self._stages.compile,
            options=self.options,
            elapsed=self.clock.elapsed,
            pins=self._pins,
        )

    async def close(self) -> None:
        """Close the upstream."""
        await self.upstream.close()
        if self._pins is not None:
            await self._pins.close()

    async def relay(self, request: ClientRequest, via: ClientLink) -> Relayed:
        """Relay a request. A call answers its exchange itself. Raises CancelledError."""
        if request.method not in CALLS:
            answer = await self.relay_simple(request, via)
            return answer if isinstance(answer, Failure) else self.reply_to(request, answer)
        target = read_target(request.method, request.params)
        if isinstance(target, Failure):
            return target
        if request.meta is None and "_meta" in request.params:
            # A link replaces the token, so the upstream does not see a malformed one.
            token = read_progress_token(request.params)
            if isinstance(token, Failure):
                return token
        inbound, revision = request.exchange.inbound, request.exchange.revision.name
        relayed = RelayedCall(
            caller=inbound.caller, transport=inbound.transport, revision=revision, request=request, target=target, via=via
        )
        call = Call(
            kind=target.kind,
            target=request.client_name or target.name,
            arguments=target.arguments,
            caller=inbound.caller,
            transport=inbound.transport,
            profile=PROFILE,
            method=request.method,
            revision=revision,
            context=relayed,
            capabilities=via.capabilities,
        )
        tool = await self._stages.find(relayed, call)
        render = partial(self._stages.render, relayed, call)
        await self._pipeline.perform(call, tool, render, request.exchange.answer)
        return None

    async def relay_simple(self, request: ClientRequest, via: ClientLink) -> UpstreamAnswer | Failure:
        """Relay a request that is no call. A list of tools comes back without those that the caller may not call."""
        answer = await self.upstream.send(request, via.link, via.listener, self.options)
        if request.method != "tools/list" or isinstance(answer, Failure) or answer.result is None:
            return answer
        if self._pins is not None:
            try:
                # With trust on first use, the whole list must be pinned before a page of it is shown.
                await via.tools.find("", via.link)
            except ClientError as exc:
                return failure_of(exc)
        caller = request.exchange.inbound.caller
        visible = without_tools(answer, lambda entry: self._is_hidden(entry, caller))
        return with_scope(visible, PRIVATE) if self.policy.depends_on_caller else visible

    def reply_to(self, request: ClientRequest, answer: UpstreamAnswer) -> Reply:
        """The answer as the client gets it."""
        shown = self.masked(answer, request.params)
        return Reply(body=shown.raw, status=relayed_status(shown, request.exchange.revision), envelope=shown.error)

    def masked(self, answer: UpstreamAnswer, given: JsonValue) -> UpstreamAnswer:
        """An error with its texts masked, if the options say so. `given` is what the client sent."""
        return mask_error(answer, given) if self.options.mask else answer

    def is_quarantined(self, entry: JsonObject) -> bool:
        """Whether a tool differs from its pin, and that is enforced."""
        mode = self.options.of_tool(str(entry.get("name"))).mode
        return self._pins is not None and mode is Mode.ENFORCE and self._pins.find_drift(entry) is not None

    def _is_hidden(self, entry: JsonObject, caller: Caller) -> bool:
        own_name = str(entry.get("name"))
        if self.policy.hides(own_name, caller):
            return True
        options = self.options.of_tool(own_name)
        may_use = allows_tier(caller.tier, options.tier) and (not options.roles or caller.role in options.roles)
        if not may_use and not self.policy.dry_run:
            return True
        return self.is_quarantined(entry)
