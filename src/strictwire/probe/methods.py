"""Probes of well-formed requests that name what does not exist, or leave out what the era demands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from strictwire.canon import json
from strictwire.canon.json import JsonObject, JsonValue
from strictwire.client.message import META, Era, notification, request
from strictwire.probe.bench import Bench, Judge, Judged, Probe, found, passed, skipped
from strictwire.probe.observation import Kind, Observation
from strictwire.probe.record import Transport

MODERN_ONLY: Final = frozenset({Era.MODERN})
_NOWHERE: Final = "strictwire://no-such-thing"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    id: str
    purpose: str
    method: str
    params: Mapping[str, JsonValue]
    codes: Mapping[Era, int]
    why: str
    needs: str | None = None
    """The capability without which the probe does not apply."""


def _both(code: int) -> Mapping[Era, int]:
    return {Era.MODERN: code, Era.LEGACY: code}


_ROWS: Final = (
    _Row(
        id="METHOD_UNKNOWN",
        purpose="Checks that an unknown method is a protocol error.",
        method="strictwire/no-such-method",
        params={},
        codes=_both(-32601),
        why="clients tell an old server from a broken one by this code",
    ),
    _Row(
        id="TOOL_UNKNOWN",
        purpose="Checks that an unknown tool is a protocol error, not a result.",
        method="tools/call",
        params={"name": "strictwire-no-such-tool", "arguments": {}},
        codes=_both(-32602),
        why="a model is told that a tool ran and failed, though none exists",
        needs="tools",
    ),
    _Row(
        id="TOOL_NAME_MISSING",
        purpose="Checks that a call without a tool name is a protocol error.",
        method="tools/call",
        params={"arguments": {}},
        codes=_both(-32602),
        why="the request does not fit its own schema, so no tool can answer for it",
        needs="tools",
    ),
    _Row(
        id="TOOL_ARGUMENTS_ARRAY",
        purpose="Checks that arguments which are no object are a protocol error.",
        method="tools/call",
        params={"name": "strictwire-no-such-tool", "arguments": [1]},
        codes=_both(-32602),
        why="the request does not fit its own schema, so no tool can answer for it",
        needs="tools",
    ),
    _Row(
        id="PROMPT_UNKNOWN",
        purpose="Checks that an unknown prompt is an invalid parameter.",
        method="prompts/get",
        params={"name": "strictwire-no-such-prompt"},
        codes=_both(-32602),
        why="the caller's mistake is reported as a failure of the server",
        needs="prompts",
    ),
    _Row(
        id="CURSOR_BOGUS",
        purpose="Checks that a cursor the server never gave is refused.",
        method="tools/list",
        params={"cursor": "strictwire-bogus"},
        codes=_both(-32602),
        why="a client that resumes with a stale cursor gets the first page again, forever",
        needs="tools",
    ),
    _Row(
        id="RESOURCE_NOT_FOUND",
        purpose="Checks that a missing resource has the code of the era.",
        method="resources/read",
        params={"uri": _NOWHERE},
        codes={Era.MODERN: -32602, Era.LEGACY: -32002},
        why="clients of either era look for their own code",
        needs="resources",
    ),
)


def _named(row: _Row) -> Probe:
    async def judge(bench: Bench) -> Judged:
        if row.needs is not None and row.needs not in bench.capabilities:
            return skipped(f"the server does not offer {row.needs}")
        seen = await bench.wire.ask(bench.wire.speaker.request(row.method, row.params))
        return passed(seen) if seen.kind is Kind.ERROR and seen.code == row.codes[bench.era] else found(seen)

    modern, legacy = row.codes[Era.MODERN], row.codes[Era.LEGACY]
    expected = f"error {modern}" if modern == legacy else f"error {modern} (modern), {legacy} (legacy)"
    return Probe(id=row.id, purpose=row.purpose, expected=expected, why=row.why, judge=judge)


async def _unknown_method_status(bench: Bench) -> Judged:
    seen = await bench.wire.ask(bench.wire.speaker.request("strictwire/no-such-method"))
    return passed(seen) if seen.status == 404 else found(seen)


async def _notification(bench: Bench) -> Judged:
    told = notification("notifications/strictwire-unknown", {})
    seen = await bench.wire.send(json.render(told), told)
    return passed(seen) if seen.kind in (Kind.SILENCE, Kind.ACCEPTED, Kind.REFUSED) and not seen.note else found(seen)


async def _meta_incomplete(bench: Bench) -> Judged:
    """The version stays, for it is what tells the era over stdio."""
    asked = bench.wire.speaker.request("server/discover")
    del asked["params"]["_meta"][f"{META}clientCapabilities"]
    seen = await bench.wire.ask(asked)
    return passed(seen) if seen.kind is Kind.ERROR and seen.code == -32602 else found(seen)


async def _meta_absent(bench: Bench) -> Judged:
    seen = await bench.wire.ask(request("strictwire-bare", "server/discover", {}))
    return passed(seen) if seen.kind is Kind.ERROR and seen.code == -32602 else found(seen)


async def _version(bench: Bench) -> Judged:
    asked = bench.wire.speaker.request("server/discover")
    asked["params"]["_meta"][f"{META}protocolVersion"] = "1900-01-01"
    seen = await _with_version_header(bench, asked, "1900-01-01")
    data = seen.data if isinstance(seen.data, dict) else {}
    offered = bench.wire.opening.get("supportedVersions")
    supported = data.get("supported")
    is_honest = isinstance(supported, list) and isinstance(offered, list) and set(supported) <= set(offered)
    is_fine = seen.code == -32022 and data.get("requested") == "1900-01-01" and is_honest
    return passed(seen) if is_fine else found(seen)


async def _with_version_header(bench: Bench, asked: JsonObject, version: str) -> Observation:
    """Over HTTP the header has to say the same, or the mismatch is what gets refused."""
    if bench.wire.lane.transport is Transport.STDIO:
        return await bench.wire.ask(asked)
    headers = bench.http.headers(asked) | {"MCP-Protocol-Version": version}
    return await bench.http.post(json.render(asked), headers, asked)


async def _retired_method(bench: Bench) -> Judged:
    seen = await bench.wire.ask(bench.wire.speaker.request("logging/setLevel", {"level": "info"}))
    return passed(seen) if seen.kind is Kind.ERROR and seen.code == -32601 else found(seen)


async def _listen(bench: Bench) -> Judged:
    """The acknowledgement comes first; over stdio `ask` would wait for a result that only comes at the end."""
    asked = bench.wire.speaker.request("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    seen = await bench.wire.send(json.render(asked), asked)
    first = seen.more[0] if seen.more else {}
    is_fine = first.get("method") == "notifications/subscriptions/acknowledged"
    return passed(seen, got="acknowledged") if is_fine else found(seen)


def _modern(id_: str, purpose: str, expected: str, why: str, judge: Judge, *, http_only: bool = False) -> Probe:
    transports = frozenset({Transport.HTTP}) if http_only else frozenset(Transport)
    return Probe(id=id_, purpose=purpose, expected=expected, why=why, judge=judge, eras=MODERN_ONLY, transports=transports)


PROBES: Final = (
    *map(_named, _ROWS),
    Probe(
        id="NOTIFICATION_UNANSWERED",
        purpose="Checks that a notification gets no message back.",
        expected="no message",
        why="an answer to something that has no id cannot be matched",
        judge=_notification,
    ),
    _modern(
        "METHOD_UNKNOWN_STATUS",
        "Checks that an unknown method is HTTP 404.",
        "HTTP 404",
        "proxies and clients of this revision route on the status",
        _unknown_method_status,
        http_only=True,
    ),
    _modern(
        "META_INCOMPLETE",
        "Checks that a request without the client's capabilities is refused.",
        "error -32602",
        "a stateless server that remembers or guesses them serves one client as if it were another",
        _meta_incomplete,
    ),
    _modern(
        "META_ABSENT",
        "Checks that a request without version and capabilities is refused.",
        "error -32602",
        "a stateless server that guesses the version answers in the wrong one",
        _meta_absent,
        http_only=True,
    ),
    _modern(
        "VERSION_UNSUPPORTED",
        "Checks that an unknown version is refused with the ones that are spoken.",
        "error -32022 with data.supported and data.requested",
        "a client cannot find a version in common",
        _version,
    ),
    _modern(
        "METHOD_RETIRED",
        "Checks that methods removed in this revision are unknown.",
        "error -32601",
        "state that the revision abolished lives on",
        _retired_method,
    ),
    _modern(
        "LISTEN",
        "Checks that subscriptions/listen is served and acknowledged first.",
        "notifications/subscriptions/acknowledged as the first message",
        "clients cannot learn that the list of tools changed",
        _listen,
    ),
)
