"""The run log of `envelope/v1` as values: one event a message, its ids, and the seam to whatever keeps it (V11-V14).

An event records how a message ended, never its content: names, sizes, the canonical error, and the failure behind that
error, which the wire does not show. Not here: files (`stores.files.run_log`).

Trace and span ids are made from the method, the route and the parameters where ids are deterministic, so that the same
request has the same ids on every transport; elsewhere they are fresh. The request id is the caller's own, because that is
what joins an event to the caller's records; only a message without a readable id gets one of ours.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from strictwire.canon.json import JsonObject, JsonValue, render_sorted
from strictwire.fault.dialects import canonical
from strictwire.fault.failure import Facts, Failure
from strictwire.fault.plain import plain_text
from strictwire.fault.public import public_details

NAMESPACE: Final = uuid.UUID("c1fd1c20-77b7-4f73-b39c-8ed2dd2f2d8c")
"""The namespace of deterministic ids."""

SCHEMA_VERSION: Final = "0.1.0"
"""Of the events; see schemas/envelopes/run-log-event-1.json."""

MAX_NAME: Final = 200
"""Characters of a caller's own words (id, method, tool) that are repeated in an event."""


class Ids(StrEnum):
    """Where the ids of a run come from."""

    FRESH = "fresh"
    DETERMINISTIC = "deterministic"
    """Requests must bring UUIDs (V2), and ours are made from the request."""


class RunLog(Protocol):
    """Keeps the events of one run."""

    def write(self, event: JsonObject) -> None:
        """Keep one event. Never raises and never stops a call: an event that cannot be kept is logged."""


class NoRunLog:
    """For a server that keeps none."""

    def write(self, event: JsonObject) -> None:
        """Nothing."""


class MemoryRunLog:
    """The twin of `stores.files.run_log`: keeps the events in a list."""

    def __init__(self) -> None:
        self.events: list[JsonObject] = []

    def write(self, event: JsonObject) -> None:
        """Keep it."""
        self.events.append(event)


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One message, as far as it could be read."""

    transport: str
    route: str
    size: int
    payload: JsonValue
    """Its parameters; for a message that is none, what stands for its bytes. Only ids are made from it."""
    request_id: str | None = None
    method: str | None = None
    tool: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How it was answered."""

    timestamp: str
    duration_ms: float
    size: int
    failure: Failure | None = None


def make_event(received: Received, ended: Ended, *, ids: Ids, next_id: Callable[[], str]) -> JsonObject:
    """The event of one message, in the order of V12."""
    make = _maker(received, ids, next_id)
    return {
        "ts": ended.timestamp,
        "requestId": make("req") if received.request_id is None else plain_text(received.request_id, MAX_NAME),
        "traceId": make("trace"),
        "spanId": make("span"),
        "transport": received.transport,
        "route": received.route,
        "method": _shown(received.method),
        "status": "ok" if ended.failure is None else canonical.name_of(ended.failure).lower(),
        "durationMs": round(ended.duration_ms, 3),
        "error": None if ended.failure is None else _show_failure(ended.failure),
        "metadata": {
            "schemaVersion": SCHEMA_VERSION,
            "deterministic": ids is Ids.DETERMINISTIC,
            "toolId": _shown(received.tool),
            "inputBytes": received.size,
            "outputBytes": ended.size,
        },
    }


def deterministic_id(kind: str, *, method: str | None, payload: JsonValue, route: str) -> str:
    """The id of a request: UUID5 over its kind and the canonical JSON of what was asked. The transport is no part of it."""
    name = render_sorted({"method": method, "payload": payload, "route": route}).decode()
    return str(uuid.uuid5(NAMESPACE, f"{kind}:{name}"))


def _maker(received: Received, ids: Ids, next_id: Callable[[], str]) -> Callable[[str], str]:
    if ids is Ids.FRESH:
        return lambda _kind: next_id()
    return lambda kind: deterministic_id(kind, method=received.method, payload=received.payload, route=received.route)


def _show_failure(failure: Failure) -> JsonObject:
    shown = canonical.render(failure, Facts())
    details = public_details(failure) | {"failure": failure.code}
    return {"code": canonical.name_of(failure), "message": shown["message"], "details": details}


def _shown(name: str | None) -> str | None:
    return None if name is None else plain_text(name, MAX_NAME)
