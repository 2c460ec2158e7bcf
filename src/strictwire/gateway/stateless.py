"""One upstream in the stateless era. All clients share one link; a legacy upstream gets a bridge for each client."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from strictwire.canon.json import JsonObject, render
from strictwire.client.errors import ClientError
from strictwire.client.message import Era
from strictwire.fault.failure import Failure, fail
from strictwire.gateway.bridges.pool import BridgePool
from strictwire.gateway.links.errors import EraNotSpoken, SessionsExhausted, failure_of
from strictwire.gateway.links.link import Link, NullListener
from strictwire.gateway.links.listing import LIST_SHAPES
from strictwire.gateway.links.notifications import StreamListener, ToolsChangedListener
from strictwire.gateway.links.raw_message import replace_at, value_at
from strictwire.gateway.relayed_call import ClientLink, ClientRequest, Relayed
from strictwire.gateway.upstream_calls import UpstreamCalls, answer_exchange, client_request
from strictwire.profiles.endpoint import Reply
from strictwire.profiles.mcp.exchange import Exchange
from strictwire.profiles.mcp.request_meta import RequestMeta, find_meta_fault, find_stated_fault, read_meta, unsupported
from strictwire.profiles.mcp.targets import CALLS
from strictwire.wire.envelope import render_result
from strictwire.wire.names import META_LOG_LEVEL, META_SUBSCRIPTION
from strictwire.wire.revisions import LEGACY_NAMES, MODERN_NAMES

REMOVED: Final = frozenset(
    {"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "roots/list"}
)
"""Methods that 2026-07-28 removed. An upstream that speaks both eras must not take one for the start of a session."""

DISCOVER: Final = "server/discover"
LISTEN: Final = "subscriptions/listen"
RESOURCE_SUBSCRIPTIONS: Final = ("notifications", "resourceSubscriptions")
"""Where a subscription names resources, in its params."""

KNOWN: Final = CALLS | LIST_SHAPES.keys() | {DISCOVER, LISTEN}
"""The methods of 2026-07-28."""


async def serve_stateless(exchange: Exchange, relay: Callable[[ClientRequest], Awaitable[Relayed]]) -> None:
    """Check a request of the stateless era, relay it and answer its exchange."""
    meta = read_meta(exchange.request.params or {})
    if isinstance(meta, Failure):
        exchange.refuse(meta)
        return
    refused = find_stated_fault(exchange.inbound.headers, exchange.request, meta) or _find_method_fault(
        exchange.request.method, meta
    )
    relayed = refused or await relay(client_request(exchange, meta))
    if relayed is not None:
        answer_exchange(exchange, relayed)


def _find_method_fault(method: str, meta: RequestMeta) -> Failure | None:
    if method in REMOVED:
        return fail("METHOD_NOT_FOUND")
    # Whether another method exists is up to the upstream, and is decided before the rest of `_meta`.
    return find_meta_fault(meta.meta) if method in KNOWN else None


class StatelessUpstream:
    """Relays requests that need no session."""

    def __init__(self, calls: UpstreamCalls) -> None:
        self.calls = calls
        self._tools = calls.new_tool_list(Era.MODERN)
        new_tool_list = partial(calls.new_tool_list, Era.MODERN)
        self._bridges = BridgePool(calls.upstream, new_tool_list=new_tool_list, options=calls.options)
        self._watched: Link | None = None
        """The link whose changes of tools are followed."""
        self._watching: asyncio.Task[None] | None = None
        self._ended = asyncio.Event()

    @property
    def discovery(self) -> JsonObject:
        """The upstream's answer to `server/discover`, or what its `initialize` said; empty before the first."""
        return self.calls.upstream.discovery

    @property
    def offered(self) -> JsonObject:
        """The upstream's capabilities, as far as they are known."""
        capabilities = self.discovery.get("capabilities")
        return capabilities if isinstance(capabilities, dict) else {}

    async def relay(self, request: ClientRequest) -> Relayed:
        """Relay one request."""
        via = await self.connect(request)
        if request.method == LISTEN and not isinstance(via, Failure):
            return await self._listen(request, via)
        if request.method == DISCOVER and not isinstance(via, Failure):
            return await self._relay_discover(request, via)
        return await self.calls.relay(request, via)

    async def connect(self, request: ClientRequest) -> ClientLink | Failure:
        """The link that all clients share; or the client's bridge, if the upstream speaks only the legacy era."""
        meta, caller = request.meta, request.exchange.inbound.caller
        if meta is None:
            return fail("INTERNAL")
        tools = self._tools
        # A call waits no longer for a start than for an answer; other requests wait for as long as a start may take.
        seconds = self.calls.options.idle_seconds if request.method in CALLS else None
        try:
            link = await self.calls.upstream.shared_link(seconds)
        except EraNotSpoken:
            if not self.calls.options.bridge:
                return unsupported(meta.version, LEGACY_NAMES)
            try:
                bridge = self._bridges.bridge_for(caller.principal, meta)
            except SessionsExhausted as exc:
                return failure_of(exc)
            link, tools = bridge, bridge.tools
        except ClientError as exc:
            return failure_of(exc)
        else:
            if link is not self._watched:
                self._watch(link)
        listener = StreamListener(request.exchange.outlet, era=Era.MODERN, level=meta.meta.get(META_LOG_LEVEL))
        return ClientLink(link=link, tools=tools, listener=listener, capabilities=meta.capabilities)

    async def discover(self, request: ClientRequest) -> None:
        """Find out what the upstream offers. Never raises. A bridge opens its session for it; other links know already."""
        via = await self.connect(request)
        if not isinstance(via, Failure) and not self.discovery:
            with contextlib.suppress(ClientError):
                await via.link.request(self.calls.upstream.make_request(DISCOVER, {}, Era.MODERN), NullListener())

    def end_subscriptions(self) -> None:
        """End every subscription with its result: nothing more will be notified."""
        self._ended.set()

    async def close(self) -> None:
        """End subscriptions and bridges."""
        self._ended.set()
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        await self._bridges.close()

    async def _relay_discover(self, request: ClientRequest, via: ClientLink) -> Reply | Failure:
        """Only versions that the guard speaks, too, are offered to the client."""
        answer = await self.calls.relay_simple(request, via)
        if isinstance(answer, Failure):
            return answer
        reply = self.calls.reply_to(request, answer)
        offered = (answer.result or {}).get("supportedVersions")
        shared = [name for name in offered if name in MODERN_NAMES] if isinstance(offered, list) else list(MODERN_NAMES)
        if answer.result is None or shared == offered:
            return reply
        return Reply(body=replace_at(answer.raw, ("result", "supportedVersions"), render(shared)))

    async def _listen(self, request: ClientRequest, via: ClientLink) -> Reply | Failure:
        """Relay a subscription. It has no time limit: the client, the upstream or the guard ends it."""
        self._leave_out_denied(request)
        answering = asyncio.ensure_future(via.link.request(request, via.listener))
        ended = asyncio.ensure_future(self._ended.wait())
        try:
            await asyncio.wait({answering, ended}, return_when=asyncio.FIRST_COMPLETED)
            if answering.done():
                return self.calls.reply_to(request, answering.result())
            result: JsonObject = {"resultType": "complete", "_meta": {META_SUBSCRIPTION: request.id}}
            return Reply(body=render_result(request.id, render(result)))
        except ClientError as exc:
            return failure_of(exc)
        finally:
            answering.cancel()
            ended.cancel()
            await asyncio.gather(answering, ended, return_exceptions=True)

    def _leave_out_denied(self, request: ClientRequest) -> None:
        """Remove the resources that the caller may not read. What is not acknowledged is not subscribed to."""
        uris, caller = value_at(request.params, *RESOURCE_SUBSCRIPTIONS), request.exchange.inbound.caller
        if not isinstance(uris, list):
            return
        kept = [uri for uri in uris if not isinstance(uri, str) or self.calls.find_denial(uri, caller) is None]
        if len(kept) < len(uris):
            request.raw = replace_at(request.raw, ("params", *RESOURCE_SUBSCRIPTIONS), render(kept))

    def _watch(self, link: Link) -> None:
        """Follow the changes of tools on a new link, if the upstream notifies of them."""
        self._watched = link
        self._tools.forget()
        if self._watching is not None:
            self._watching.cancel()
        notifies = value_at(self.discovery, "capabilities", "tools", "listChanged")
        self._watching = asyncio.create_task(self._follow(link)) if notifies is True else None

    async def _follow(self, link: Link) -> None:
        params: JsonObject = {"notifications": {"toolsListChanged": True}}
        request = self.calls.upstream.make_request(LISTEN, params, Era.MODERN)
        with contextlib.suppress(ClientError):
            await link.request(request, ToolsChangedListener(self._tools.forget))
