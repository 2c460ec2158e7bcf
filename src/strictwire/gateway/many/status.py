"""How the upstreams are, as a resource of the guard's own: for whoever wonders why a tool does not answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from strictwire.canon.json import JsonObject, render
from strictwire.gateway.links.health import Health
from strictwire.gateway.many.merge import Entry, Listing

STATUS_URI: Final = "strictwire-guard://upstreams"
MEDIA_TYPE: Final = "application/json"
_SHOWN: Final[JsonObject] = {
    "uri": STATUS_URI,
    "name": "upstreams",
    "description": "The servers behind this guard and whether each can be used now.",
    "mimeType": MEDIA_TYPE,
}


class Status:
    """What is known of every upstream."""

    def __init__(self, healths: Sequence[Health]) -> None:
        self._healths = tuple(healths)

    def listing(self, method: str) -> Listing | None:
        """The resource's own entry in the list of resources."""
        if method != "resources/list":
            return None
        return Listing(upstream="", entries=(Entry(key=STATUS_URI, raw=render(_SHOWN)),))

    def contents(self, tail: bytes, *, modern: bool) -> bytes:
        """The result of reading it; it is about this very moment, so nobody may keep it."""
        text = render({"upstreams": [health.as_json() for health in self._healths]}).decode()
        result = render({"contents": [{"uri": STATUS_URI, "mimeType": MEDIA_TYPE, "text": text}]})
        hints = b',"ttlMs":0,"cacheScope":"private"' if modern else b""
        return result[:-1] + hints + tail
