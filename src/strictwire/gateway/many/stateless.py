"""Several upstreams in the stateless era: one answer to `server/discover`, and one subscription for those of all upstreams.

When an upstream ends, subscriptions stay open. Its part is subscribed to again when it is back, and clients are notified
then that its lists may have changed.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import JsonObject, render
from strictwire.client.errors import ClientError
from strictwire.client.inbox import notification_limit
from strictwire.client.message import Era
from strictwire.fault.failure import Failure
from strictwire.gateway.links.background import retry_delays
from strictwire.gateway.links.link import NullListener
from strictwire.gateway.links.raw_message import NOTIFIED_SUBSCRIPTION, replace_at, value_at
from strictwire.gateway.many.merge import merge_hints, merged_offers, read_hints
from strictwire.gateway.many.router import Router
from strictwire.gateway.many.topology import Topology
from strictwire.gateway.many.upstream_view import UpstreamView
from strictwire.gateway.relayed_call import ClientRequest, Relayed
from strictwire.gateway.stateless import DISCOVER, LISTEN, StatelessUpstream
from strictwire.profiles.endpoint import Outlet, Reply
from strictwire.profiles.mcp.identity import stamp
from strictwire.profiles.mcp.listen import WANTS, honour
from strictwire.profiles.mcp.targets import malformed
from strictwire.wire.envelope import Notification, RequestId, render_notification, render_result
from strictwire.wire.names import META_SUBSCRIPTION
from strictwire.wire.revisions import MODERN_NAMES

MEMBERS: Final[Mapping[str, str]] = MappingProxyType(
    {f"notifications/{kind}/list_changed": member for kind, member in WANTS.items()}
)
"""The notification of a changed list, and the member of a subscription that asks for it."""

RESOURCE_UPDATED: Final = "notifications/resources/updated"


class MergedStateless:
    """Relays requests of the stateless era to all upstreams."""

    def __init__(self, topology: Topology) -> None:
        self._upstreams = {each.name: StatelessUpstream(each.calls) for each in topology.upstreams}
        self._views = [UpstreamView(upstream=each, client=self._upstreams[each.name]) for each in topology.upstreams]
        self._end = stamp(topology.identity)
        self._router = Router(self._views, topology, result_end=self._end)
        self._ended = asyncio.Event()
        self._subscribers: set[Callable[[], None]] = set()

    async def relay(self, request: ClientRequest) -> Relayed:
        """Relay one request."""
        if request.method == DISCOVER:
            return await self._discover(request)
        if request.method == LISTEN:
            return await self._listen(request)
        return await self._router.relay(request)

    def announce(self, name: str) -> None:
        """Notify subscribers that the lists of an upstream may have changed: the upstream is back."""
        self._router.directory.forget(name)
        for notify in tuple(self._subscribers):
            notify()

    def end_subscriptions(self) -> None:
        """End every subscription with its result: nothing more will be notified."""
        self._ended.set()

    async def close(self) -> None:
        """End subscriptions and bridges."""
        self._ended.set()
        await asyncio.gather(*(each.close() for each in self._upstreams.values()))

    def _offers(self) -> JsonObject:
        return merged_offers((name, each.discovery) for name, each in self._upstreams.items())

    async def _discover(self, request: ClientRequest) -> Relayed:
        """What all upstreams offer. While one is missing, the answer must not be cached."""
        await self._router.discover(request)
        ttl, scope = merge_hints([read_hints(each.discovery) for each in self._upstreams.values()])
        result = {"supportedVersions": list(MODERN_NAMES), **self._offers(), "ttlMs": ttl, "cacheScope": scope}
        return Reply(body=render_result(request.id, render(result)[:-1] + self._end))

    async def _listen(self, request: ClientRequest) -> Relayed:
        wanted = request.params.get("notifications")
        if not isinstance(wanted, dict):
            return malformed("notifications")
        await self._router.discover(request)
        granted = honour(wanted, self._offers()["capabilities"])
        parts = await self._parts(granted, request)
        outlet, meta = request.exchange.outlet, {META_SUBSCRIPTION: request.id}
        outlet.open()
        acknowledged: JsonObject = {"_meta": meta, "notifications": granted}
        outlet.send(render_notification("notifications/subscriptions/acknowledged", acknowledged))

        def notify() -> None:
            for method, member in MEMBERS.items():
                if granted.get(member) is True:
                    outlet.send(render_notification(method, {"_meta": meta}))

        self._subscribers.add(notify)
        following = [asyncio.create_task(self._follow(view, part, request)) for view, part in parts if part]
        try:
            await self._ended.wait()
        finally:
            self._subscribers.discard(notify)
            for task in following:
                task.cancel()
            await asyncio.gather(*following, return_exceptions=True)
        return Reply(body=render_result(request.id, render({"resultType": "complete", "_meta": meta})))

    async def _parts(self, granted: JsonObject, request: ClientRequest) -> list[tuple[UpstreamView, JsonObject]]:
        """The part of a subscription for each upstream: the lists that it offers, and the resources that it owns. Resources
        that the caller may not read are removed from `granted`.
        """
        uris, caller = granted.get("resourceSubscriptions", []), request.exchange.inbound.caller
        owners = {uri: await self._router.directory.owner_of_uri(uri, request) for uri in uris}
        for uri, owner in tuple(owners.items()):
            if owner is not None and owner.upstream.calls.find_denial(uri, caller) is not None:
                del owners[uri]
        if "resourceSubscriptions" in granted:
            granted["resourceSubscriptions"] = list(owners)
        parts = []
        for view in self._views:
            part: JsonObject = {
                member: True
                for kind, member in WANTS.items()
                if granted.get(member) and value_at(view.client.offered, kind, "listChanged") is True
            }
            own = [uri for uri, owner in owners.items() if owner is view]
            parts.append((view, part | ({"resourceSubscriptions": own} if own else {})))
        return parts

    async def _follow(self, view: UpstreamView, part: JsonObject, request: ClientRequest) -> None:
        """Keep one upstream's part of a subscription open, for as long as the client listens."""
        name, upstream = view.upstream.name, view.upstream.calls.upstream
        listener = PartListener(request.exchange.outlet, part, request.id, lambda: self._router.directory.forget(name))
        for seconds in retry_delays():
            via = await view.client.connect(request)
            if not isinstance(via, Failure):
                with contextlib.suppress(ClientError):
                    subscribe = upstream.make_request(LISTEN, {"notifications": part}, Era.MODERN)
                    if (await via.link.request(subscribe, listener)).error is not None:
                        return
            await asyncio.sleep(seconds)


class PartListener(NullListener):
    """Passes on the notifications of one upstream that were subscribed to, under the id of the client's subscription."""

    def __init__(self, outlet: Outlet, part: JsonObject, subscription: RequestId, on_change: Callable[[], None]) -> None:
        self._outlet = outlet
        self._part = part
        self._subscription = render(subscription)
        self._on_change = on_change
        self._limit = notification_limit()

    def on_notification(self, raw: bytes, notification: Notification) -> None:
        """See Listener. The upstream's own acknowledgement is not passed on."""
        if notification.method.endswith("/list_changed"):
            self._on_change()
        if self._is_wanted(notification) and self._limit.take(asyncio.get_running_loop().time()):
            self._outlet.send(replace_at(raw, NOTIFIED_SUBSCRIPTION, self._subscription))

    def _is_wanted(self, notification: Notification) -> bool:
        if notification.method == RESOURCE_UPDATED:
            return value_at(notification.params, "uri") in self._part.get("resourceSubscriptions", [])
        return self._part.get(MEMBERS.get(notification.method, "")) is True
