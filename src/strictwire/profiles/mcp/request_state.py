"""`requestState`: what a stateless server needs to remember between two rounds, sealed against the client that carries it.

Bound to the principal, the request and a time; not secret, because it only holds earlier answers of that client.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable, Mapping
from typing import Final

from strictwire.canon.digest import digest
from strictwire.canon.json import JsonObject, NotStrict, parse_object, render_sorted

LIFETIME: Final = 3600
"""Seconds that a person has to answer."""

MAX_STATE: Final = 256 * 1024
"""Characters of a state that are looked at."""


class Sealer:
    """Seals and opens states with one key."""

    def __init__(self, key: bytes, now: Callable[[], float]) -> None:
        self._key = key
        self._now = now

    def seal(self, answers: Mapping[str, JsonObject], binding: JsonObject) -> str:
        """The state to hand to the client."""
        body = render_sorted({"answers": dict(answers), "bound": digest(binding), "expires": int(self._now()) + LIFETIME})
        return base64.urlsafe_b64encode(self._mac(body) + body).decode()

    def open(self, state: str, binding: JsonObject) -> Mapping[str, JsonObject] | None:
        """The answers inside, or None: altered, expired, or of another request."""
        if len(state) > MAX_STATE:
            return None
        try:
            sealed = base64.b64decode(state, altchars=b"-_", validate=True)
            body = sealed[32:]
            if not hmac.compare_digest(self._mac(body), sealed[:32]):
                return None
            content = parse_object(body)
        except (ValueError, NotStrict):
            return None
        fits = content["bound"] == digest(binding) and content["expires"] >= self._now()
        return content["answers"] if fits else None

    def _mac(self, body: bytes) -> bytes:
        return hmac.new(self._key, body, hashlib.sha256).digest()
