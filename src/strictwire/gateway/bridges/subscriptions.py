"""The subscriptions of a legacy session at an upstream of the stateless era, through `subscriptions/listen`.

One open request for the changes of lists, and one for each resource. Each is repeated when it breaks off.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any, Final, TypeAlias

from strictwire.canon.json import JsonObject
from strictwire.client.errors import ClientError, NotUnderstood
from strictwire.client.message import Era
from strictwire.gateway.bridges.translation import invalid_param, own_result, to_legacy_answer
from strictwire.gateway.links.background import retry_delays
from strictwire.gateway.links.link import Link, Listener, NullListener, UpstreamRequest
from strictwire.gateway.links.raw_message import UpstreamAnswer, value_at
from strictwire.gateway.links.upstream import Upstream
from strictwire.profiles.mcp.listen import WANTS
from strictwire.wire.envelope import Notification, render_notification
from strictwire.wire.names import META_SUBSCRIPTION

MAX_RESOURCES: Final = 100
"""Resources that one session may subscribe to: over HTTP each is an open connection."""

ACKNOWLEDGE_SECONDS: Final = 20.0
"""Time for an upstream to acknowledge a subscription, as long as it has for its first answer."""

LISTEN: Final = "subscriptions/listen"
ACKNOWLEDGED: Final = "notifications/subscriptions/acknowledged"

_Granted: TypeAlias = asyncio.Future[UpstreamAnswer | None]
"""Whether a subscription is granted: None if so, otherwise the upstream's refusal."""


class Subscriptions:
    """The subscriptions of one session."""

    def __init__(self, link: Link, upstream: Upstream, listener: Listener) -> None:
        self._link = link
        self._upstream = upstream
        self._listener = listener
        self._tasks: dict[str, asyncio.Task[None]] = {}
        """By URI; the empty one is for the lists."""

    def follow_lists(self) -> None:
        """Subscribe to the changes of lists, if the upstream notifies of them."""
        wanted: JsonObject = {
            member: True
            for kind, member in WANTS.items()
            if value_at(self._upstream.discovery, "capabilities", kind, "listChanged") is True
        }
        if wanted and "" not in self._tasks:
            self._tasks[""] = asyncio.create_task(self._follow(wanted, asyncio.get_running_loop().create_future()))

    async def subscribe(self, request: UpstreamRequest) -> UpstreamAnswer:
        """Subscribe to a resource; answered when the upstream has acknowledged it. Raises NotUnderstood."""
        uri = request.params.get("uri")
        if not isinstance(uri, str) or not uri or (uri not in self._tasks and len(self._tasks) > MAX_RESOURCES):
            return invalid_param(request, "uri")
        if uri in self._tasks:
            return own_result(request, {})
        granted: _Granted = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._follow({"resourceSubscriptions": [uri]}, granted))
        self._tasks[uri] = task
        waits: set[asyncio.Future[Any]] = {task, granted}
        await asyncio.wait(waits, timeout=ACKNOWLEDGE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if granted.done() and granted.result() is None:
            return own_result(request, {})
        await self.unsubscribe(request)
        refusal = granted.result() if granted.done() else None
        if refusal is None:
            raise NotUnderstood("a subscription is not acknowledged")
        return to_legacy_answer(refusal, request) if refusal.error is not None else invalid_param(request, "uri")

    async def unsubscribe(self, request: UpstreamRequest) -> UpstreamAnswer:
        """End the subscription to a resource, if there is one."""
        uri = request.params.get("uri")
        task = self._tasks.pop(uri, None) if isinstance(uri, str) and uri else None
        if task is not None:
            task.cancel()
        return own_result(request, {})

    async def close(self) -> None:
        """End all subscriptions."""
        tasks = tuple(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _follow(self, wanted: JsonObject, granted: _Granted) -> None:
        """Keep one subscription open, for as long as the upstream grants it."""
        for seconds in retry_delays():
            with contextlib.suppress(ClientError):
                request = self._upstream.make_request(LISTEN, {"notifications": wanted}, Era.MODERN)
                answer = await self._link.request(request, _Follower(self._listener, wanted, granted))
                _settle(granted, answer)
                if answer.error is not None:
                    return
            if not self._link.alive:
                return
            await asyncio.sleep(seconds)


def _settle(granted: _Granted, refusal: UpstreamAnswer | None) -> None:
    if not granted.done():
        granted.set_result(refusal)


class _Follower(NullListener):
    """Passes on the notifications of a subscription, as notifications of a session."""

    def __init__(self, listener: Listener, wanted: JsonObject, granted: _Granted) -> None:
        self._listener = listener
        self._wanted = wanted
        self._granted = granted

    def on_notification(self, raw: bytes, notification: Notification) -> None:  # noqa: ARG002 - rendered anew
        """See Listener."""
        if notification.method == ACKNOWLEDGED:
            uris = self._wanted.get("resourceSubscriptions")
            acknowledged = value_at(notification.params, "notifications", "resourceSubscriptions")
            is_granted = uris is None or (isinstance(acknowledged, list) and uris[0] in acknowledged)
            _settle(self._granted, None if is_granted else UpstreamAnswer(raw=b"", result={}))
            return
        params = dict(notification.params or {})
        meta = params.pop("_meta", None)
        if isinstance(meta, dict) and meta.keys() - {META_SUBSCRIPTION}:
            params["_meta"] = {name: value for name, value in meta.items() if name != META_SUBSCRIPTION}
        told = Notification(notification.method, params)
        self._listener.on_notification(render_notification(told.method, params), told)
