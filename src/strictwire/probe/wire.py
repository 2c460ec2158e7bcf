"""The interface between probes and a server: send bytes, observe the reaction. One implementation per transport.

`well_formed` is the message that the bytes are derived from. Over HTTP it determines the headers, so that only the body is
malformed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Final, Protocol

from strictwire.canon import json
from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.message import Era, Identity, initialize_params, modern_params, request
from strictwire.probe.observation import Observation
from strictwire.probe.record import Variant

IDENTITY: Final = Identity(name="strictwire-probe", version="1")

PLACEHOLDER: Final = "@@strictwire@@"
"""Marks the place in a well-formed message where a probe inserts bytes that no encoder would write."""


class Wire(Protocol):
    """An open connection to the server."""

    variant: Variant
    opening: JsonObject
    """The result of `server/discover` or `initialize`."""

    async def send(self, raw: bytes, well_formed: JsonObject) -> Observation:
        """Send bytes as one message and observe the reaction."""
        ...

    async def ask(self, message: JsonObject) -> Observation:
        """Send a well-formed request and wait for its response."""
        ...

    async def close(self) -> None:
        """Close the connection."""
        ...


class MessageFactory:
    """Creates well-formed messages of one era with unique ids."""

    def __init__(self, era: Era) -> None:
        self.era = era
        self._ids: Iterator[int] = itertools.count(1000)

    def request(
        self, method: str, params: Mapping[str, JsonValue] | None = None, request_id: int | str | None = None
    ) -> JsonObject:
        """A request with all parts that the era requires."""
        given = dict(params or {})
        full = modern_params(given, IDENTITY) if self.era is Era.MODERN else given
        return request(next(self._ids) if request_id is None else request_id, method, full)

    def harmless_request(self, extra: Mapping[str, JsonValue] | None = None) -> JsonObject:
        """A cheap request that every server responds to with a result. `extra` is added to `_meta`."""
        method = "server/discover" if self.era is Era.MODERN else "ping"
        return self.request(method, {"_meta": dict(extra)} if extra else {})

    def with_raw_value(self, fragment: bytes) -> tuple[bytes, JsonObject]:
        """A harmless request with raw bytes as one value inside `_meta`, and the well-formed message."""
        well_formed = self.harmless_request({"strictwire/probe": PLACEHOLDER})
        return splice(well_formed, fragment), well_formed

    def initialize(self) -> JsonObject:
        """The request that opens a legacy session."""
        return request(next(self._ids), "initialize", initialize_params(IDENTITY))


def splice(message: JsonObject, fragment: bytes) -> bytes:
    """The JSON of a message with the placeholder replaced by raw bytes."""
    return json.render(message).replace(json.render(PLACEHOLDER), fragment)
