"""Several upstreams in the stateless era: one answer to `server/discover`, one subscription for all of theirs.

An upstream that ends takes nothing with it: its part of a subscription is taken up again when it is back, and whoever
subscribed is told then that its lists may have changed.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import JsonObject, render
from strictwire.client.errors import ClientError
from strictwire.fault.failure import Failure, fail
from strictwire.gateway.hearing import Faucet
from strictwire.gateway.link import Deaf, Era, Question, Relayed, answer_exchange, question_of
from strictwire.gateway.merge import merge_capabilities, merge_hints, merge_instructions, read_hints
from strictwire.gateway.modern import LISTEN, find_refusal
from strictwire.gateway.rewrite import TOLD_SUBSCRIPTION, replace_at, value_at
from strictwire.gateway.switch import Switch
from strictwire.gateway.wing import ModernWing, Visit, Wing, name_of
from strictwire.profiles.endpoint import Outlet, Reply
from strictwire.profiles.mcp.era import META_SUBSCRIPTION
from strictwire.profiles.mcp.exchange import Exchange
from strictwire.profiles.mcp.listen import WANTS, honour
from strictwire.profiles.mcp.modern import read_meta
from strictwire.profiles.mcp.targets import malformed
from strictwire.wire.envelope import Notification, RequestId, render_notification, render_result
from strictwire.wire.revisions import MODERN_NAMES

DELAYS: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Seconds before a part of a subscription that broke off is taken up again."""

_MEMBERS: Final[Mapping[str, str]] = MappingProxyType(
    {f"notifications/{kind}/list_changed": member for kind, member in WANTS.items()}
)
"""The notification of a changed list, and the member that asks for it."""

UPDATED: Final = "notifications/resources/updated"


class ManyModern:
    """Serves requests of the stateless era for all upstreams."""

    def __init__(self, wings: Sequence[ModernWing], switch: Switch, tail: bytes) -> None:
        self._wings = tuple(wings)
        self._switch = switch
        self._tail = tail
        self._ended = asyncio.Event()
        self._listeners: set[Callable[[], None]] = set()

    async def serve(self, exchange: Exchange) -> None:
        """Answer one request."""
        question = question_of(exchange)
        meta = read_meta(question.params)
        refused = meta if isinstance(meta, Failure) else find_refusal(question, meta, exchange.inbound)
        if isinstance(meta, Failure) or refused is not None:
            exchange.refuse(refused or fail("INTERNAL"))
        else:
            answer_exchange(exchange, await self._relay(question, Visit(exchange=exchange, meta=meta)))

    async def _relay(self, question: Question, visit: Visit) -> Relayed:
        if question.method == "server/discover":
            return await self._discover(question, visit)
        if question.method == LISTEN:
            return await self._listen(question, visit)
        return await self._switch.serve(question, visit)

    def announce(self, wing: Wing) -> None:
        """An upstream is back, or its lists changed."""
        self._switch.forget(wing)
        for tell in tuple(self._listeners):
            tell()

    def end_subscriptions(self) -> None:
        """Nothing more will be told."""
        self._ended.set()

    async def close(self) -> None:
        """Let go of what watches the upstreams."""
        self._ended.set()
        await asyncio.gather(*(wing.guard.close() for wing in self._wings))

    def _capabilities(self) -> JsonObject:
        return merge_capabilities([*(wing.offered for wing in self._wings), {"resources": {}}])

    async def _discover(self, question: Question, visit: Visit) -> Relayed:
        """What they offer together. While one is missing nobody may keep the answer."""
        await self._switch.see_ready(visit)
        openings = [(name_of(wing), wing.opening) for wing in self._wings]
        ttl, scope = merge_hints([read_hints(each) for _, each in openings])
        result: JsonObject = {"supportedVersions": list(MODERN_NAMES), "capabilities": self._capabilities()}
        instructions = merge_instructions((name, each.get("instructions")) for name, each in openings)
        if instructions is not None:
            result["instructions"] = instructions
        result |= {"ttlMs": ttl, "cacheScope": scope}
        return Reply(body=render_result(question.id, render(result)[:-1] + self._tail))

    async def _listen(self, question: Question, visit: Visit) -> Relayed:
        wanted = question.params.get("notifications")
        if not isinstance(wanted, dict):
            return malformed("notifications")
        await self._switch.see_ready(visit)
        granted = honour(wanted, self._capabilities())
        parts = await self._parts(granted, visit)
        outlet, mark = visit.exchange.outlet, {META_SUBSCRIPTION: question.id}
        outlet.open()
        acknowledged: JsonObject = {"_meta": mark, "notifications": granted}
        outlet.send(render_notification("notifications/subscriptions/acknowledged", acknowledged))

        def tell() -> None:
            for method, member in _MEMBERS.items():
                if granted.get(member) is True:
                    outlet.send(render_notification(method, {"_meta": mark}))

        self._listeners.add(tell)
        hearing = [asyncio.create_task(self._follow(wing, part, question.id, visit)) for wing, part in parts if part]
        try:
            await self._ended.wait()
        finally:
            self._listeners.discard(tell)
            for task in hearing:
                task.cancel()
            await asyncio.gather(*hearing, return_exceptions=True)
        return Reply(body=render_result(question.id, render({"resultType": "complete", "_meta": mark})))

    async def _parts(self, granted: JsonObject, visit: Visit) -> list[tuple[ModernWing, JsonObject]]:
        """What each upstream is asked to tell: the lists that it has, and the resources that are its own."""
        uris = granted.get("resourceSubscriptions", [])
        owners = {uri: await self._switch.place(uri, visit) for uri in uris}
        parts = []
        for wing in self._wings:
            part: JsonObject = {
                member: True
                for kind, member in WANTS.items()
                if granted.get(member) and value_at(wing.offered, kind, "listChanged") is True
            }
            own = [uri for uri, owner in owners.items() if owner is wing]
            parts.append((wing, part | ({"resourceSubscriptions": own} if own else {})))
        return parts

    async def _follow(self, wing: ModernWing, part: JsonObject, subscription: RequestId, visit: Visit) -> None:
        """Keep one upstream's part open, for as long as the client listens."""
        hearer = FanHearer(visit.exchange.outlet, part, subscription, lambda: self._switch.forget(wing))
        for seconds in itertools.chain(DELAYS, itertools.repeat(DELAYS[-1])):
            link = await wing.link(visit)
            if not isinstance(link, Failure):
                question = wing.warden.upstream.question(LISTEN, {"notifications": part}, Era.MODERN)
                try:
                    answer = await link.ask(question, hearer)
                except ClientError:
                    pass
                else:
                    if answer.error is not None:
                        return
            await asyncio.sleep(seconds)


class FanHearer(Deaf):
    """Passes on what one upstream tells, under the client's own subscription, and only what was asked for."""

    def __init__(self, outlet: Outlet, part: JsonObject, subscription: RequestId, changed: Callable[[], None]) -> None:
        self._outlet = outlet
        self._part = part
        self._subscription = render(subscription)
        self._changed = changed
        self._faucet = Faucet()

    def hear(self, raw: bytes, notification: Notification) -> None:
        """One word of the upstream; its own acknowledgement is not for the client."""
        if notification.method.endswith("/list_changed"):
            self._changed()
        if self._wants(notification) and self._faucet.allows():
            self._outlet.send(replace_at(raw, TOLD_SUBSCRIPTION, self._subscription))

    def _wants(self, notification: Notification) -> bool:
        if notification.method == UPDATED:
            return value_at(notification.params, "uri") in self._part.get("resourceSubscriptions", [])
        return self._part.get(_MEMBERS.get(notification.method, "")) is True
