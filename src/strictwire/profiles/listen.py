"""subscriptions/listen: one open request that hears of changes, and only of those it asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from strictwire.canon.json import JsonObject, render
from strictwire.profiles.era import META_SUBSCRIPTION
from strictwire.profiles.exchange import Outlet
from strictwire.profiles.mcp_core import Core
from strictwire.profiles.mcp_results import Written
from strictwire.wire.envelope import Request, render_notification, render_result
from strictwire.wire.revisions import MODERN, REVISIONS

WANTS: Final[Mapping[str, str]] = MappingProxyType(
    {"tools": "toolsListChanged", "prompts": "promptsListChanged", "resources": "resourcesListChanged"}
)
"""What changed, and the member that asks to hear of it."""

MAX_URIS: Final = 1000
"""Resources one subscription may name."""


def honour(wanted: JsonObject, capabilities: JsonObject) -> JsonObject:
    """The part of a wish that is granted: kinds that are offered, and URIs that are text."""
    granted: JsonObject = {
        member: True for kind, member in WANTS.items() if kind in capabilities and wanted.get(member) is True
    }
    uris = wanted.get("resourceSubscriptions")
    if isinstance(uris, list) and "resources" in capabilities:
        granted["resourceSubscriptions"] = [uri for uri in uris if isinstance(uri, str)][:MAX_URIS]
    return granted


async def listen(request: Request, wanted: JsonObject, core: Core, outlet: Outlet) -> Written:
    """Acknowledge, then tell of changes until the client goes away or the server closes."""
    mark: JsonObject = {META_SUBSCRIPTION: request.id}
    granted = honour(wanted, core.capabilities(REVISIONS[MODERN]))
    ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def tell(changed: str, uri: str | None) -> None:
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
    stop = core.pipeline.catalog.watch(tell)
    try:
        await ended
    finally:
        stop()
    result = render({"resultType": "complete", "_meta": mark})
    return Written(body=render_result(request.id, result))
