"""Relays the requests of clients to one upstream. Calls go through the stages of the pipeline (`call_stages`).

The upstream's answer is rewritten only where it must be: a masked error, a sealed state, hidden entries of a list.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.errors import ClientError
from strictwire.client.message import Era
from strictwire.fault.failure import Failure, fail
from strictwire.gateway.call_stages import PRIVATE, CallStages, is_personal
from strictwire.gateway.client_view import mask_error, relayed_status, with_scope, without_entries
from strictwire.gateway.links.errors import failure_of
from strictwire.gateway.links.listing import LIST_SHAPES
from strictwire.gateway.links.raw_message import UpstreamAnswer
from strictwire.gateway.links.upstream import Upstream
from strictwire.gateway.options import Mode, RelayOptions
from strictwire.gateway.policy.guard_policy import GuardPolicy
from strictwire.gateway.relayed_call import ClientLink, ClientRequest, Relayed, RelayedCall
from strictwire.gateway.request_state import UpstreamStates
from strictwire.gateway.tool_list import OnRead, PinCheck, ToolList, ToolLists, ignore_tools
from strictwire.pipeline.call import Call, Caller, Kind
from strictwire.pipeline.clock import Clock
from strictwire.pipeline.perform import Pipeline
from strictwire.profiles.endpoint import Reply
from strictwire.profiles.mcp.exchange import PROFILE, Exchange
from strictwire.profiles.mcp.request_meta import RequestMeta
from strictwire.profiles.mcp.request_state import Sealer
from strictwire.profiles.mcp.targets import ABOUT, CALLS, Target, read_progress_token, read_target

log = logging.getLogger("strictwire.guard")

SUBSCRIBING: Final = frozenset({"resources/subscribe", "resources/unsubscribe"})
KNOWN: Final = frozenset({*ABOUT, "ping", "logging/setLevel", "server/discover"})
"""Methods that the policy covers, or that use nothing of an upstream. All others are extensions."""


def client_request(exchange: Exchange, meta: RequestMeta | None = None) -> ClientRequest:
    """The request of an exchange, to be relayed."""
    request = exchange.request
    return ClientRequest(
        id=request.id,
        method=request.method,
        params=request.params or {},
        raw=exchange.raw,
        exchange=exchange,
        meta=meta,
        arrived=exchange.journal.clock.elapsed(),
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
        pins: PinCheck | None = None,
        on_tools: OnRead = ignore_tools,
    ) -> None:
        self.upstream = upstream
        self.options = options
        self.journal = pipeline.journal
        self.clock = clock
        self._pipeline = pipeline
        self.policy = policy
        self._pins = pins
        self._on_tools = on_tools
        self._lists = ToolLists()
        self._is_personal = is_personal(options, policy)
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
            group=self._lists,
            on_read=self._on_tools,
        )

    async def close(self) -> None:
        """Close the upstream."""
        await self.upstream.close()
        if self._pins is not None:
            await self._pins.close()

    async def relay(self, request: ClientRequest, via: ClientLink | Failure) -> Relayed:
        """Relay a request. A call answers its exchange itself, also if there is no link for it: so it has its record, with
        the time that it took. Raises CancelledError.
        """
        if request.method in CALLS:
            target = read_target(request.method, request.params)
        else:
            denied = self._find_subscription_denial(request)
            if denied is None:
                return via if isinstance(via, Failure) else await self._relay_other(request, via)
            via, uri = denied, str(request.params["uri"])
            target = Target(kind=Kind.RESOURCE, name=uri, arguments={"uri": uri})
        if isinstance(target, Failure):
            return target
        if request.meta is None and "_meta" in request.params:
            # A link replaces the token, so the upstream does not see a malformed one.
            token = read_progress_token(request.params)
            if isinstance(token, Failure):
                return token
        inbound, revision = request.exchange.inbound, request.exchange.revision.name
        relayed = RelayedCall(
            caller=inbound.caller, transport=inbound.transport, revision=revision, request=request, target=target
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
            capabilities=() if isinstance(via, Failure) else via.capabilities,
        )
        tool = via if isinstance(via, Failure) else await self._stages.find(relayed, call, via)
        render = partial(self._stages.render, relayed, call)
        await self._pipeline.perform(call, tool, render, request.exchange.answer, request.arrived)
        return None

    def _find_subscription_denial(self, request: ClientRequest) -> Failure | None:
        uri = request.params.get("uri") if request.method in SUBSCRIBING else None
        return self.find_denial(uri, request.exchange.inbound.caller) if isinstance(uri, str) else None

    async def _relay_other(self, request: ClientRequest, via: ClientLink) -> Relayed:
        if request.method not in KNOWN and self._denies_unknown(request.exchange.inbound.caller):
            return fail("METHOD_NOT_FOUND")
        answer = await self.relay_simple(request, via)
        return answer if isinstance(answer, Failure) else self.reply_to(request, answer)

    async def relay_simple(self, request: ClientRequest, via: ClientLink) -> UpstreamAnswer | Failure:
        """Relay a request that is no call. A list comes back without the entries that the caller may not use."""
        answer = await self.upstream.send(request, via.link, via.listener, self.options)
        shape = LIST_SHAPES.get(request.method)
        if shape is None or isinstance(answer, Failure) or answer.result is None:
            return answer
        if shape.member == "tools":
            via.tools.observe(answer.result, is_first="cursor" not in request.params)
            if self._pins is not None:
                try:
                    # With trust on first use, the whole list must be pinned before a page of it is shown.
                    await via.tools.find("", via.link)
                except ClientError as exc:
                    return failure_of(exc)
        kind, caller = ABOUT[request.method], request.exchange.inbound.caller
        visible = without_entries(answer, shape.member, lambda entry: self._is_hidden(kind, entry, shape.key, caller))
        return with_scope(visible, PRIVATE) if self._is_personal else visible

    def find_denial(self, uri: str, caller: Caller) -> Failure | None:
        """PERMISSION_DENIED if the caller may not read a resource, and so must not be notified of it either."""
        denied = None if self.options.permits(caller) else fail("PERMISSION_DENIED")
        denied = denied or self.policy.find_denial(uri, caller)
        if denied is not None and self.policy.dry_run:
            log.warning("dry run: a subscription of %s to %s would be %s", caller.principal, uri, denied.code)
            return None
        return denied

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

    def _is_hidden(self, kind: Kind, entry: JsonObject, key: str, caller: Caller) -> bool:
        own_name = str(entry.get(key))
        if self.policy.hides(kind, own_name, caller):
            return True
        options = self.options.of_tool(own_name) if kind is Kind.TOOL else self.options
        if not options.permits(caller) and not self.policy.dry_run:
            return True
        return kind is Kind.TOOL and self.is_quarantined(entry)

    def _denies_unknown(self, caller: Caller) -> bool:
        """Whether the caller may not use extensions: no rule can name what they do."""
        return self.policy.denies_unknown or not (self.options.permits(caller) or self.policy.dry_run)
