"""Probes of the HTTP layer: Host, Origin, content types, routing headers, methods, session ids."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from strictwire.canon import json
from strictwire.client.message import Era
from strictwire.client.rawhttp import Address, render_request
from strictwire.probe.definition import Evaluation, Probe, ProbeContext, ProbeFunction, found, passed, skipped
from strictwire.probe.harm import Harm
from strictwire.probe.observation import ResponseKind
from strictwire.probe.record import Transport

_HTTP: Final = frozenset({Transport.HTTP})
_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
_REBINDING: Final = "a web page can reach a server on the user's machine through DNS rebinding"
_SIMPLE: Final = "a web page can send this type without a CORS preflight"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    id: str
    what: str
    headers: Callable[[Address], Mapping[str, str]]
    """Headers that replace those of a correct client."""
    statuses: frozenset[int]
    why: str
    harm: Harm | None = Harm.EXPOSURE
    loopback: bool = False
    """Whether the probe applies only to loopback servers: others cannot know all names under which they are reached."""


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
        what="a Host that only has the right prefix",
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
        what="an Origin that only has the right prefix",
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
        what="a body without a content type",
        headers=lambda _at: {"Content-Type": ""},
        statuses=_MEDIA,
        why=_SIMPLE,
    ),
    _Row(
        id="CONTENT_TYPE_JSON_PATCH",
        what="a body with another JSON type",
        headers=lambda _at: {"Content-Type": "application/json-patch+json"},
        statuses=_MEDIA,
        why="a type that only has the right prefix is a different type",
        harm=None,
    ),
    _Row(
        id="CONTENT_TYPE_CHARSET",
        what="a body that claims to be UTF-16",
        headers=lambda _at: {"Content-Type": "application/json; charset=utf-16"},
        statuses=_MEDIA,
        why="software that honours the charset reads a different text than this server",
        harm=None,
    ),
)

_HEADER_ROWS: Final = (
    ("HEADER_METHOD_MISSING", "a request without Mcp-Method", {"Mcp-Method": ""}),
    ("HEADER_METHOD_OTHER", "an Mcp-Method that differs from the body", {"Mcp-Method": "tools/list"}),
    ("HEADER_VERSION_OTHER", "a version header that differs from the body", {"MCP-Protocol-Version": "2026-07-29"}),
)


def _refuses(row: _Row) -> Probe:
    async def run(context: ProbeContext) -> Evaluation:
        address = context.http.address
        if row.loopback and address.host not in _LOOPBACK:
            return skipped("only a loopback server knows all of its host names")
        message = context.wire.messages.harmless_request()
        headers = context.http.headers(message) | dict(row.headers(address))
        seen = await context.http.post(json.render(message), headers, message)
        return passed(seen) if seen.status in row.statuses else found(seen)

    statuses = "HTTP 4xx" if row.statuses == _ANY_REFUSAL else f"HTTP {' or '.join(map(str, sorted(row.statuses)))}"
    return replace(_http_probe(row.id, f"Checks that {row.what} is refused.", statuses, row.why, run), harm=row.harm)


def _mismatch(row: tuple[str, str, Mapping[str, str]]) -> Probe:
    id_, what, changed = row

    async def run(context: ProbeContext) -> Evaluation:
        message = context.wire.messages.harmless_request()
        seen = await context.http.post(json.render(message), context.http.headers(message) | dict(changed), message)
        return passed(seen) if seen.code == -32020 and seen.status == 400 else found(seen)

    why = "a proxy that routes by header and a server that reads the body see different requests"
    return _http_probe(id_, f"Checks that {what} is refused.", "HTTP 400, error -32020", why, run, Era.MODERN)


async def _get(context: ProbeContext) -> Evaluation:
    headers = [("Host", context.http.address.authority), ("Accept", "text/event-stream")]
    pairs = [*headers, ("MCP-Protocol-Version", "2026-07-28"), *context.options.headers.items()]
    seen = await context.http.exchange(render_request("GET", context.http.address.path, pairs), {"method": "GET"})
    return passed(seen) if seen.status == 405 else found(seen)


async def _session_created(context: ProbeContext) -> Evaluation:
    """Sends malformed bytes without a session id."""
    message = context.wire.messages.harmless_request()
    keep = ("Host", "Content-Type", "Accept", *context.options.headers)
    headers = {name: value for name, value in context.http.headers(message).items() if name in keep}
    seen = await context.http.post(b"{", headers, message)
    if seen.kind is ResponseKind.CLOSED:
        return found(seen)
    session_id = seen.header("mcp-session-id")
    return found(seen, got=f"{seen.describe()} with an Mcp-Session-Id") if session_id else passed(seen)


def _http_probe(id_: str, purpose: str, expected: str, why: str, run: ProbeFunction, *eras: Era) -> Probe:
    return Probe(
        id=id_,
        purpose=purpose,
        expected=expected,
        why=why,
        run=run,
        transports=_HTTP,
        eras=frozenset(eras or Era),
        compared=False,
    )


PROBES: Final = (
    *map(_refuses, _ROWS),
    *map(_mismatch, _HEADER_ROWS),
    replace(
        _http_probe(
            "GET_MODERN",
            "Checks that GET is not supported in the modern era.",
            "HTTP 405",
            "a stream without events occupies a connection",
            _get,
            Era.MODERN,
        ),
        harm=Harm.STYLE,
    ),
    replace(
        _http_probe(
            "SESSION_ON_REFUSAL",
            "Checks that a refused request opens no session.",
            "no Mcp-Session-Id",
            "unusable sessions fill the session table",
            _session_created,
            Era.LEGACY,
        ),
        harm=Harm.RESOURCES,
    ),
)
