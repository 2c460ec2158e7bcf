"""The seam between the guard and one upstream: `Link`. Implemented by `stdio_link`, `http_link` and the bridges.

A link speaks one era. Whatever ids and progress tokens it puts on the wire, the answers and notifications that it hands
back carry the client's own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Protocol

import msgspec

from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.errors import ClientError
from strictwire.gateway.links.raw_message import UpstreamAnswer
from strictwire.wire.envelope import Notification, Request, RequestId, render_notification


class Cancellable(Protocol):
    """What a link needs to know of the client's exchange."""

    cancel_reason: JsonValue
    """The reason in the client's cancellation, if there is one."""


class UpstreamRequest(msgspec.Struct, kw_only=True, eq=False):
    """A request on its way to an upstream: a client's, or one of the guard itself."""

    id: RequestId
    method: str
    params: JsonObject
    raw: bytes
    """The whole message. The guard rewrites only the members that it must."""
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Headers that repeat arguments, for an upstream over HTTP."""
    client_name: str | None = None
    """The client's name of the target, where the upstream has another one."""
    exchange: Cancellable | None = None
    """The client's exchange; None for a request of the guard itself."""


class Listener(Protocol):
    """Receives what an upstream sends before the answer to a request, or besides any request."""

    def on_stream(self) -> None:
        """The upstream has opened a stream for the answer."""

    def on_notification(self, raw: bytes, notification: Notification) -> None:
        """A notification of the upstream."""

    def on_request(self, raw: bytes, request: Request) -> None:
        """A request of a legacy upstream to the client, to be answered with `Link.send`."""


class Link(Protocol):
    """An open connection to one upstream."""

    @property
    def alive(self) -> bool:
        """Whether the link can still be used."""

    async def request(self, request: UpstreamRequest, listener: Listener) -> UpstreamAnswer:
        """Relay a request and wait for its answer. Cancelling it also cancels it at the upstream. Raises ClientError."""

    async def send(self, raw: bytes) -> None:
        """Relay a notification, or the answer to a request of the upstream. Raises ClientError."""

    async def check_alive(self, request: UpstreamRequest, seconds: float) -> None:
        """After a timeout: close the link unless the upstream answers this request in time. Never raises."""

    async def close(self) -> None:
        """Close the link and free what it holds. Never raises."""


class WatchedLink(Link, Protocol):
    """A link of a connector. The upstream's health checks use it while it is idle."""

    @property
    def is_busy(self) -> bool:
        """Whether a request waits for its answer. Such a link is not checked: the request has a time limit."""


def cancellation(request: UpstreamRequest, request_id: RequestId) -> bytes:
    """The notification that cancels a request at the upstream, with the client's reason if it gave one."""
    params: JsonObject = {"requestId": request_id}
    if request.exchange is not None and request.exchange.cancel_reason is not None:
        params["reason"] = request.exchange.cancel_reason
    return render_notification("notifications/cancelled", params)


async def try_send(link: Link, raw: bytes) -> None:
    """Send a message to an upstream that may be gone."""
    with contextlib.suppress(ClientError):
        await link.send(raw)


class NullListener:
    """Ignores everything: for requests of the guard itself."""

    def on_stream(self) -> None:
        """See Listener."""

    def on_notification(self, raw: bytes, notification: Notification) -> None:
        """See Listener."""

    def on_request(self, raw: bytes, request: Request) -> None:
        """See Listener."""
