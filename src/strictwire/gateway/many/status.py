"""The status resource: the guard's own resource that shows the state of every upstream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from strictwire.canon.json import JsonObject, render
from strictwire.gateway.links.health import Health
from strictwire.gateway.many.merge import ListEntry, Listing

STATUS_URI: Final = "strictwire-guard://upstreams"
MEDIA_TYPE: Final = "application/json"
_ENTRY: Final[JsonObject] = {
    "uri": STATUS_URI,
    "name": "upstreams",
    "description": "The servers behind this guard and whether each can be used now.",
    "mimeType": MEDIA_TYPE,
}


class StatusResource:
    """Shows the health of every upstream."""

    def __init__(self, healths: Sequence[Health]) -> None:
        self._healths = tuple(healths)

    def listing(self, method: str) -> Listing | None:
        """The entry of the resource in `resources/list`; None for other lists."""
        if method != "resources/list":
            return None
        return Listing(upstream="", entries=(ListEntry(key=STATUS_URI, raw=render(_ENTRY)),))

    def contents(self, tail: bytes, *, modern: bool) -> bytes:
        """The result of `resources/read`. It must not be cached: it shows the present state."""
        text = render({"upstreams": [health.as_json() for health in self._healths]}).decode()
        result = render({"contents": [{"uri": STATUS_URI, "mimeType": MEDIA_TYPE, "text": text}]})
        hints = b',"ttlMs":0,"cacheScope":"private"' if modern else b""
        return result[:-1] + hints + tail
