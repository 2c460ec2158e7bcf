"""The seam between probes and a server: send bytes, see what comes. One implementation a transport.

`like` is the well-formed message that the bytes imitate: HTTP headers are taken from it, so only the body is wrong.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Final, Protocol

from strictwire.canon import json
from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.message import Era, Identity, initialize_params, modern_params, request
from strictwire.probe.observation import Observation
from strictwire.probe.record import Lane

IDENTITY: Final = Identity(name="strictwire-probe", version="1")

PLACEHOLDER: Final = "@@strictwire@@"
"""Stands in a well-formed message where a probe puts bytes that no encoder would write."""


class Wire(Protocol):
    """An open lane."""

    lane: Lane
    opening: JsonObject
    """The result of discover or initialize."""

    async def send(self, raw: bytes, like: JsonObject) -> Observation:
        """Send bytes as one message, and see whether and how they are answered."""
        ...

    async def ask(self, message: JsonObject) -> Observation:
        """Send a well-formed request and wait for its answer."""
        ...

    async def close(self) -> None:
        """Let go of the server."""
        ...


class Speaker:
    """Makes well-formed messages of one era with ids that are never used twice."""

    def __init__(self, era: Era) -> None:
        self.era = era
        self._ids: Iterator[int] = itertools.count(1000)

    def request(
        self, method: str, params: Mapping[str, JsonValue] | None = None, request_id: int | str | None = None
    ) -> JsonObject:
        """A request, complete for the era."""
        given = dict(params or {})
        full = modern_params(given, IDENTITY) if self.era is Era.MODERN else given
        return request(next(self._ids) if request_id is None else request_id, method, full)

    def harmless(self, extra: Mapping[str, JsonValue] | None = None) -> JsonObject:
        """The cheapest request that every server answers with a result; `extra` goes to `_meta`."""
        method = "server/discover" if self.era is Era.MODERN else "ping"
        return self.request(method, {"_meta": dict(extra)} if extra else {})

    def carrying(self, fragment: bytes) -> tuple[bytes, JsonObject]:
        """The harmless request with raw bytes as one value inside `_meta`, and its well-formed twin."""
        twin = self.harmless({"strictwire/probe": PLACEHOLDER})
        return splice(twin, fragment), twin

    def initialize(self) -> JsonObject:
        """What opens a legacy session."""
        return request(next(self._ids), "initialize", initialize_params(IDENTITY))


def splice(message: JsonObject, fragment: bytes) -> bytes:
    """The message with the placeholder text replaced by raw bytes."""
    return json.render(message).replace(json.render(PLACEHOLDER), fragment)
