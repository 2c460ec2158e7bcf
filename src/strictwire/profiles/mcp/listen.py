"""subscriptions/listen: one open request that is notified of changes, and only of those that it asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import JsonObject, render
from strictwire.profiles.endpoint import Reply
from strictwire.profiles.mcp.core import Core
from strictwire.profiles.mcp.exchange import Exchange
from strictwire.profiles.mcp.tasks.subscription import Subscription
from strictwire.wire.envelope import render_notification, render_result
from strictwire.wire.names import META_SUBSCRIPTION
from strictwire.wire.revisions import MODERN, REVISIONS

WANTS: Final[Mapping[str, str]] = MappingProxyType(
    {"tools": "toolsListChanged", "prompts": "promptsListChanged", "resources": "resourcesListChanged"}
)
"""A list that may change, and the member that asks for its notifications."""

MAX_URIS: Final = 1000
"""Resources that one subscription may name."""


def honour(wanted: JsonObject, capabilities: JsonObject) -> JsonObject:
    """The part of a subscription that is granted: lists that are offered, and URIs that are strings."""
    granted: JsonObject = {
        member: True for kind, member in WANTS.items() if kind in capabilities and wanted.get(member) is True
    }
    uris = wanted.get("resourceSubscriptions")
    if isinstance(uris, list) and "resources" in capabilities:
        granted["resourceSubscriptions"] = [uri for uri in uris if isinstance(uri, str)][:MAX_URIS]
    return granted


async def listen(exchange: Exchange, wanted: JsonObject, core: Core, of_tasks: Subscription) -> None:
    """Acknowledge, then notify the client of changes until it goes away or the server closes."""
    request, outlet = exchange.request, exchange.outlet
    mark: JsonObject = {META_SUBSCRIPTION: request.id}
    granted = honour(wanted, core.capabilities(REVISIONS[MODERN])) | of_tasks.granted
    ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def notify(changed: str, uri: str | None) -> None:
        if changed == "closing":
            if not ended.done():
                ended.set_result(None)
        elif uri is not None:
            if uri in granted.get("resourceSubscriptions", ()):
                outlet.send(render_notification("notifications/resources/updated", {"uri": uri, "_meta": mark}))
        elif granted.get(WANTS.get(changed, "")):
            outlet.send(render_notification(f"notifications/{changed}/list_changed", {"_meta": mark}))

    outlet.open()
    acknowledged: JsonObject = {"_meta": mark, "notifications": granted}
    outlet.send(render_notification("notifications/subscriptions/acknowledged", acknowledged))
    stop = core.catalog.watch(notify)
    of_tasks.start()
    try:
        await ended
    finally:
        of_tasks.stop()
        stop()
    exchange.answer(Reply(body=render_result(request.id, render({"resultType": "complete", "_meta": mark}))))
