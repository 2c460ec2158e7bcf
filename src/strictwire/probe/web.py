"""Probes of the HTTP layer: Host, Origin, content types, routing headers, verbs, session ids."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from strictwire.canon import json
from strictwire.client.message import Era
from strictwire.client.rawhttp import Address, render_request
from strictwire.probe.bench import Bench, Judge, Judged, Probe, found, passed, skipped
from strictwire.probe.observation import Kind
from strictwire.probe.record import Transport

_HTTP: Final = frozenset({Transport.HTTP})
_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
_REBINDING: Final = "a web page can reach a server on the reader's own machine by DNS rebinding"
_SIMPLE: Final = "a web page can send this type without asking the server first"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    id: str
    what: str
    headers: Callable[[Address], Mapping[str, str]]
    """Headers that differ from an honest client's."""
    statuses: frozenset[int]
    why: str
    loopback: bool = False
    """Only a server on loopback can know which names are its own."""


_ANY_REFUSAL: Final = frozenset(range(400, 500))
_FORBIDDEN: Final = frozenset({403})
_MEDIA: Final = frozenset({400, 406, 415})

_ROWS: Final = (
    _Row(
        id="HOST_FOREIGN",
        what="a foreign Host",
        headers=lambda _at: {"Host": "evil.example.com"},
        statuses=_ANY_REFUSAL,
        why=_REBINDING,
        loopback=True,
    ),
    _Row(
        id="HOST_PREFIX",
        what="a Host that only begins like the right one",
        headers=lambda at: {"Host": f"localhost:{at.port}.evil.example.com"},
        statuses=_ANY_REFUSAL,
        why=_REBINDING,
        loopback=True,
    ),
    _Row(
        id="ORIGIN_FOREIGN",
        what="a foreign Origin",
        headers=lambda _at: {"Origin": "http://evil.example.com"},
        statuses=_FORBIDDEN,
        why=_REBINDING,
    ),
    _Row(
        id="ORIGIN_PREFIX",
        what="an Origin that only begins like the right one",
        headers=lambda at: {"Origin": f"http://localhost:{at.port}.evil.example.com"},
        statuses=_FORBIDDEN,
        why=_REBINDING,
    ),
    _Row(
        id="ORIGIN_NULL",
        what="the Origin null",
        headers=lambda _at: {"Origin": "null"},
        statuses=_FORBIDDEN,
        why="sandboxed frames and local files send it",
    ),
    _Row(
        id="CONTENT_TYPE_TEXT",
        what="a text/plain body",
        headers=lambda _at: {"Content-Type": "text/plain"},
        statuses=_MEDIA,
        why=_SIMPLE,
    ),
    _Row(
        id="CONTENT_TYPE_MISSING",
        what="a body without a type",
        headers=lambda _at: {"Content-Type": ""},
        statuses=_MEDIA,
        why=_SIMPLE,
    ),
    _Row(
        id="CONTENT_TYPE_JSON_PATCH",
        what="a body of another JSON type",
        headers=lambda _at: {"Content-Type": "application/json-patch+json"},
        statuses=_MEDIA,
        why="a type that only begins like the right one is another type",
    ),
    _Row(
        id="CONTENT_TYPE_CHARSET",
        what="a body that claims to be UTF-16",
        headers=lambda _at: {"Content-Type": "application/json; charset=utf-16"},
        statuses=_MEDIA,
        why="whoever honours the claim reads other text than this server",
    ),
)

_HEADER_ROWS: Final = (
    ("HEADER_METHOD_MISSING", "a request without Mcp-Method", {"Mcp-Method": ""}),
    ("HEADER_METHOD_OTHER", "an Mcp-Method that is not the body's", {"Mcp-Method": "tools/list"}),
    ("HEADER_VERSION_OTHER", "a version header that is not the body's", {"MCP-Protocol-Version": "2026-07-29"}),
)


def _refuses(row: _Row) -> Probe:
    async def judge(bench: Bench) -> Judged:
        address = bench.http.address
        if row.loopback and address.host not in _LOOPBACK:
            return skipped("only a server on loopback knows its own names")
        asked = bench.wire.speaker.harmless()
        headers = bench.http.headers(asked) | dict(row.headers(address))
        seen = await bench.http.post(json.render(asked), headers, asked)
        return passed(seen) if seen.status in row.statuses else found(seen)

    statuses = "HTTP 4xx" if row.statuses == _ANY_REFUSAL else f"HTTP {' or '.join(map(str, sorted(row.statuses)))}"
    return _http_probe(row.id, f"Checks that {row.what} is refused.", statuses, row.why, judge)


def _mismatch(row: tuple[str, str, Mapping[str, str]]) -> Probe:
    id_, what, changed = row

    async def judge(bench: Bench) -> Judged:
        asked = bench.wire.speaker.harmless()
        seen = await bench.http.post(json.render(asked), bench.http.headers(asked) | dict(changed), asked)
        return passed(seen) if seen.code == -32020 and seen.status == 400 else found(seen)

    why = "a proxy that routes by header and a server that reads the body disagree on what was asked"
    return _http_probe(id_, f"Checks that {what} is refused.", "HTTP 400, error -32020", why, judge, Era.MODERN)


async def _get(bench: Bench) -> Judged:
    headers = [("Host", bench.http.address.authority), ("Accept", "text/event-stream")]
    pairs = [*headers, ("MCP-Protocol-Version", "2026-07-28"), *bench.options.headers.items()]
    seen = await bench.http.exchange(render_request("GET", bench.http.address.path, pairs), {"method": "GET"})
    return passed(seen) if seen.status == 405 else found(seen)


async def _session_minted(bench: Bench) -> Judged:
    """A client without a session sends something malformed."""
    asked = bench.wire.speaker.harmless()
    keep = ("Host", "Content-Type", "Accept", *bench.options.headers)
    headers = {name: value for name, value in bench.http.headers(asked).items() if name in keep}
    seen = await bench.http.post(b"{", headers, asked)
    if seen.kind is Kind.CLOSED:
        return found(seen)
    minted = seen.header("mcp-session-id")
    return found(seen, got=f"{seen.describe()} with an Mcp-Session-Id") if minted else passed(seen)


def _http_probe(id_: str, purpose: str, expected: str, why: str, judge: Judge, *eras: Era) -> Probe:
    return Probe(
        id=id_,
        purpose=purpose,
        expected=expected,
        why=why,
        judge=judge,
        transports=_HTTP,
        eras=frozenset(eras or Era),
        compared=False,
    )


PROBES: Final = (
    *map(_refuses, _ROWS),
    *map(_mismatch, _HEADER_ROWS),
    _http_probe(
        "GET_MODERN",
        "Checks that GET is not served in the modern era.",
        "HTTP 405",
        "a stream that nothing feeds holds a connection",
        _get,
        Era.MODERN,
    ),
    _http_probe(
        "SESSION_ON_REFUSAL",
        "Checks that a refused request opens no session.",
        "no Mcp-Session-Id",
        "sessions that nobody can use fill the table of sessions",
        _session_minted,
        Era.LEGACY,
    ),
)
