"""Probes with well-formed requests for unknown names, or without parts that the era requires."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from strictwire.canon import json
from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.message import META, Era, notification, request
from strictwire.probe.definition import Evaluation, Probe, ProbeContext, ProbeFunction, found, passed, skipped
from strictwire.probe.harm import Harm
from strictwire.probe.observation import Observation, ResponseKind
from strictwire.probe.record import Transport

MODERN_ONLY: Final = frozenset({Era.MODERN})
_UNKNOWN_URI: Final = "strictwire://no-such-thing"
_UNANSWERED: Final = frozenset({ResponseKind.SILENCE, ResponseKind.ACCEPTED, ResponseKind.REFUSED})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    id: str
    purpose: str
    method: str
    params: Mapping[str, JsonValue]
    codes: Mapping[Era, int]
    why: str
    needs: str | None = None
    """The server capability that the probe needs, if any."""


def _both(code: int) -> Mapping[Era, int]:
    return {Era.MODERN: code, Era.LEGACY: code}


_ROWS: Final = (
    _Row(
        id="METHOD_UNKNOWN",
        purpose="Checks that an unknown method is a protocol error.",
        method="strictwire/no-such-method",
        params={},
        codes=_both(-32601),
        why="clients use this code to distinguish an old server from a broken one",
    ),
    _Row(
        id="TOOL_UNKNOWN",
        purpose="Checks that an unknown tool is a protocol error, not a result.",
        method="tools/call",
        params={"name": "strictwire-no-such-tool", "arguments": {}},
        codes=_both(-32602),
        why="a model believes that a tool ran and failed, although the tool does not exist",
        needs="tools",
    ),
    _Row(
        id="TOOL_NAME_MISSING",
        purpose="Checks that a call without a tool name is a protocol error.",
        method="tools/call",
        params={"arguments": {}},
        codes=_both(-32602),
        why="the request does not conform to the protocol, so it is not a result of any tool",
        needs="tools",
    ),
    _Row(
        id="TOOL_ARGUMENTS_ARRAY",
        purpose="Checks that arguments that are not an object are a protocol error.",
        method="tools/call",
        params={"name": "strictwire-no-such-tool", "arguments": [1]},
        codes=_both(-32602),
        why="the request does not conform to the protocol, so it is not a result of any tool",
        needs="tools",
    ),
    _Row(
        id="PROMPT_UNKNOWN",
        purpose="Checks that an unknown prompt is an invalid parameter.",
        method="prompts/get",
        params={"name": "strictwire-no-such-prompt"},
        codes=_both(-32602),
        why="otherwise a mistake of the client looks like a failure of the server",
        needs="prompts",
    ),
    _Row(
        id="CURSOR_BOGUS",
        purpose="Checks that a cursor that the server did not issue is refused.",
        method="tools/list",
        params={"cursor": "strictwire-bogus"},
        codes=_both(-32602),
        why="a client that resumes with a stale cursor gets the first page again and loops forever",
        needs="tools",
    ),
    _Row(
        id="RESOURCE_NOT_FOUND",
        purpose="Checks that a missing resource is reported with the error code of the era.",
        method="resources/read",
        params={"uri": _UNKNOWN_URI},
        codes={Era.MODERN: -32602, Era.LEGACY: -32002},
        why="clients of each era expect their own code",
        needs="resources",
    ),
)


def _named(row: _Row) -> Probe:
    async def run(context: ProbeContext) -> Evaluation:
        if row.needs is not None and row.needs not in context.capabilities:
            return skipped(f"the server does not offer {row.needs}")
        seen = await context.wire.ask(context.wire.messages.request(row.method, row.params))
        return passed(seen) if seen.kind is ResponseKind.ERROR and seen.code == row.codes[context.era] else found(seen)

    modern, legacy = row.codes[Era.MODERN], row.codes[Era.LEGACY]
    expected = f"error {modern}" if modern == legacy else f"error {modern} (modern), {legacy} (legacy)"
    return Probe(id=row.id, purpose=row.purpose, expected=expected, why=row.why, run=run)


async def _unknown_method_status(context: ProbeContext) -> Evaluation:
    seen = await context.wire.ask(context.wire.messages.request("strictwire/no-such-method"))
    return passed(seen) if seen.status == 404 else found(seen)


async def _notification(context: ProbeContext) -> Evaluation:
    message = notification("notifications/strictwire-unknown", {})
    seen = await context.wire.send(json.render(message), message)
    return passed(seen) if seen.kind in _UNANSWERED else found(seen)


async def _meta_incomplete(context: ProbeContext) -> Evaluation:
    """Keeps the protocol version, because over stdio it determines the era."""
    message = context.wire.messages.request("server/discover")
    del message["params"]["_meta"][f"{META}clientCapabilities"]
    seen = await context.wire.ask(message)
    return passed(seen) if seen.kind is ResponseKind.ERROR and seen.code == -32602 else found(seen)


async def _meta_absent(context: ProbeContext) -> Evaluation:
    seen = await context.wire.ask(request("strictwire-bare", "server/discover", {}))
    return passed(seen) if seen.kind is ResponseKind.ERROR and seen.code == -32602 else found(seen)


async def _version(context: ProbeContext) -> Evaluation:
    message = context.wire.messages.request("server/discover")
    message["params"]["_meta"][f"{META}protocolVersion"] = "1900-01-01"
    seen = await _with_version_header(context, message, "1900-01-01")
    data = seen.data if isinstance(seen.data, dict) else {}
    offered = context.wire.opening.get("supportedVersions")
    supported = data.get("supported")
    is_consistent = isinstance(supported, list) and isinstance(offered, list) and set(supported) <= set(offered)
    is_fine = seen.code == -32022 and data.get("requested") == "1900-01-01" and is_consistent
    return passed(seen) if is_fine else found(seen)


async def _with_version_header(context: ProbeContext, message: JsonObject, version: str) -> Observation:
    """Over HTTP, also send the version in the header; otherwise the server would refuse the mismatch."""
    if context.wire.variant.transport is Transport.STDIO:
        return await context.wire.ask(message)
    headers = context.http.headers(message) | {"MCP-Protocol-Version": version}
    return await context.http.post(json.render(message), headers, message)


async def _retired_method(context: ProbeContext) -> Evaluation:
    seen = await context.wire.ask(context.wire.messages.request("logging/setLevel", {"level": "info"}))
    return passed(seen) if seen.kind is ResponseKind.ERROR and seen.code == -32601 else found(seen)


async def _listen(context: ProbeContext) -> Evaluation:
    """Expects the acknowledgement first. Uses `send`: `ask` would wait for the result, which comes at the end."""
    message = context.wire.messages.request("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    seen = await context.wire.send(json.render(message), message)
    first = seen.more[0] if seen.more else {}
    is_fine = first.get("method") == "notifications/subscriptions/acknowledged"
    return passed(seen, got="acknowledged") if is_fine else found(seen)


def _modern(id_: str, purpose: str, expected: str, why: str, run: ProbeFunction, *, http_only: bool = False) -> Probe:
    transports = frozenset({Transport.HTTP}) if http_only else frozenset(Transport)
    return Probe(id=id_, purpose=purpose, expected=expected, why=why, run=run, eras=MODERN_ONLY, transports=transports)


PROBES: Final = (
    *map(_named, _ROWS),
    Probe(
        id="NOTIFICATION_UNANSWERED",
        purpose="Checks that a notification gets no response.",
        expected="no message",
        why="a client cannot match a response without an id",
        run=_notification,
        harm=Harm.STYLE,
    ),
    _modern(
        "METHOD_UNKNOWN_STATUS",
        "Checks that an unknown method has HTTP status 404.",
        "HTTP 404",
        "proxies and clients of this revision act on the status",
        _unknown_method_status,
        http_only=True,
    ),
    _modern(
        "META_INCOMPLETE",
        "Checks that a request without the client's capabilities is refused.",
        "error -32602",
        "a stateless server that remembers or guesses them confuses one client with another",
        _meta_incomplete,
    ),
    _modern(
        "META_ABSENT",
        "Checks that a request without version and capabilities is refused.",
        "error -32602",
        "a stateless server that guesses the version may respond in the wrong one",
        _meta_absent,
        http_only=True,
    ),
    _modern(
        "VERSION_UNSUPPORTED",
        "Checks that an unknown version is refused with the list of supported versions.",
        "error -32022 with data.supported and data.requested",
        "otherwise a client cannot find a common version",
        _version,
    ),
    _modern(
        "METHOD_RETIRED",
        "Checks that methods removed in this revision are unknown.",
        "error -32601",
        "the revision removed the state that these methods need",
        _retired_method,
    ),
    _modern(
        "LISTEN",
        "Checks that subscriptions/listen is supported and acknowledged first.",
        "notifications/subscriptions/acknowledged as the first message",
        "otherwise clients do not learn that the list of tools changed",
        _listen,
    ),
)
