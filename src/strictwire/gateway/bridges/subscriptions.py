"""The subscriptions of a legacy session at an upstream of the stateless era, through `subscriptions/listen`.

One open request for the changes of lists, and one for each resource. Each is repeated when it breaks off.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Final

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.errors import ClientError, NotUnderstood
from strictwire.client.message import Era
from strictwire.gateway.bridges.translation import invalid_param, own_result, to_legacy_answer
from strictwire.gateway.links.background import retry_delays
from strictwire.gateway.links.link import Link, Listener, NullListener, UpstreamAnswer, UpstreamRequest
from strictwire.gateway.links.raw_message import value_at
from strictwire.gateway.links.upstream import Upstream
from strictwire.profiles.mcp.era import META_SUBSCRIPTION
from strictwire.profiles.mcp.listen import WANTS
from strictwire.wire.envelope import Notification, render_notification

MAX_RESOURCES: Final = 100
"""Resources that one session may subscribe to: over HTTP each is an open connection."""

ACKNOWLEDGE_SECONDS: Final = 20.0
"""Time for an upstream to acknowledge a subscription, as long as it has for its first answer."""

LISTEN: Final = "subscriptions/listen"
ACKNOWLEDGED: Final = "notifications/subscriptions/acknowledged"


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
            self._tasks[""] = asyncio.create_task(self._follow(wanted, _Acknowledgement()))

    async def subscribe(self, request: UpstreamRequest) -> UpstreamAnswer:
        """Subscribe to a resource; answered when the upstream has acknowledged it. Raises NotUnderstood."""
        uri = request.params.get("uri")
        if not isinstance(uri, str) or not uri or (uri not in self._tasks and len(self._tasks) > MAX_RESOURCES):
            return invalid_param(request, "uri")
        if uri in self._tasks:
            return own_result(request, {})
        acknowledgement = _Acknowledgement()
        task = asyncio.create_task(self._follow({"resourceSubscriptions": [uri]}, acknowledgement))
        self._tasks[uri] = task
        known = asyncio.ensure_future(acknowledgement.known.wait())
        await asyncio.wait({task, known}, timeout=ACKNOWLEDGE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        known.cancel()
        if acknowledgement.granted:
            return own_result(request, {})
        await self.unsubscribe(request)
        if acknowledgement.refusal is None:
            raise NotUnderstood("a subscription is not acknowledged")
        refused = acknowledgement.refusal.error is not None
        return to_legacy_answer(acknowledgement.refusal, request) if refused else invalid_param(request, "uri")

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

    async def _follow(self, wanted: JsonObject, acknowledgement: _Acknowledgement) -> None:
        """Keep one subscription open, for as long as the upstream grants it."""
        for seconds in retry_delays():
            with contextlib.suppress(ClientError):
                request = self._upstream.make_request(LISTEN, {"notifications": wanted}, Era.MODERN)
                answer = await self._link.request(request, _Follower(self._listener, wanted, acknowledgement))
                acknowledgement.note(answer)
                if answer.error is not None:
                    return
            if not self._link.alive:
                return
            await asyncio.sleep(seconds)


class _Acknowledgement:
    """Whether a subscription was granted, refused, or neither yet."""

    def __init__(self) -> None:
        self.known = asyncio.Event()
        self.granted = False
        self.refusal: UpstreamAnswer | None = None

    def note(self, refusal: UpstreamAnswer | None) -> None:
        """None grants the subscription. Only the first call counts."""
        if not self.known.is_set():
            self.granted, self.refusal = refusal is None, refusal
            self.known.set()


class _Follower(NullListener):
    """Passes on the notifications of a subscription, as notifications of a session."""

    def __init__(self, listener: Listener, wanted: JsonObject, acknowledgement: _Acknowledgement) -> None:
        self._listener = listener
        self._wanted = wanted
        self._acknowledgement = acknowledgement

    def on_notification(self, raw: bytes, notification: Notification) -> None:  # noqa: ARG002 - rendered anew
        """See Listener."""
        if notification.method == ACKNOWLEDGED:
            self._acknowledge(value_at(notification.params, "notifications", "resourceSubscriptions"))
            return
        params = dict(notification.params or {})
        meta = params.pop("_meta", None)
        if isinstance(meta, dict) and meta.keys() - {META_SUBSCRIPTION}:
            params["_meta"] = {name: value for name, value in meta.items() if name != META_SUBSCRIPTION}
        told = Notification(notification.method, params)
        self._listener.on_notification(render_notification(told.method, params), told)

    def _acknowledge(self, granted: JsonValue) -> None:
        """A resource that is not among the granted ones is refused."""
        uris = self._wanted.get("resourceSubscriptions")
        is_granted = uris is None or (isinstance(granted, list) and uris[0] in granted)
        self._acknowledgement.note(None if is_granted else UpstreamAnswer(raw=b"", result={}))
