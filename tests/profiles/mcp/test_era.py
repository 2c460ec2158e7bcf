"""Which era a message belongs to, from header and body together."""

from __future__ import annotations

from typing import Any

import pytest

from strictwire.fault.failure import fail
from strictwire.profiles.endpoint import Headers
from strictwire.profiles.mcp.era import META_VERSION, Era, era_of, names_version
from tests.fixtures.live import (
    INITIALIZED,
    HttpProcess,
    StdioProcess,
    initialize,
    legacy,
    modern,
    modern_headers,
    request,
)

NAMED = {"_meta": {META_VERSION: "2026-07-28"}}


def headers(version: str | None) -> Headers:
    return Headers([] if version is None else [("MCP-Protocol-Version", version)])


MISMATCH = fail("HEADER_MISMATCH", details={"header": "MCP-Protocol-Version"})


@pytest.mark.parametrize(
    ("version", "method", "params", "session", "era"),
    [
        ("2026-07-28", "tools/list", NAMED, False, Era.MODERN),
        ("2026-07-28", "tools/list", None, False, Era.MODERN),
        ("2026-07-28", "initialize", None, False, Era.MODERN),
        ("2026-07-28", "tools/list", None, True, Era.MODERN),
        ("1900-01-01", "tools/list", None, True, Era.MODERN),
        ("", "tools/list", None, False, Era.MODERN),
        (None, "initialize", {}, False, Era.OPENING),
        ("2025-11-25", "initialize", {}, False, Era.OPENING),
        ("2025-11-25", "initialize", {}, True, Era.OPENING),
        ("2025-11-25", "tools/list", {}, True, Era.LEGACY),
        (None, "tools/list", None, True, Era.LEGACY),
        (None, "tools/list", NAMED, False, MISMATCH),
        ("2025-11-25", "tools/list", NAMED, False, MISMATCH),
        (None, "tools/list", {}, False, Era.UNBOUND),
        ("2025-03-26", "tools/list", {}, False, Era.UNBOUND),
    ],
)
def test_over_http_header_and_body_decide_together(
    version: str | None, method: str, params: Any, session: bool, era: object
) -> None:
    assert era_of(method, params, headers(version), has_session=session) == era


@pytest.mark.parametrize(
    ("method", "params", "session", "era"),
    [
        ("tools/list", NAMED, False, Era.MODERN),
        ("tools/list", NAMED, True, Era.MODERN),
        ("initialize", NAMED, False, Era.MODERN),
        ("initialize", {}, True, Era.OPENING),
        ("tools/list", {}, True, Era.LEGACY),
        ("tools/list", {}, False, Era.UNBOUND),
    ],
)
def test_without_headers_the_body_decides(method: str, params: Any, session: bool, era: object) -> None:
    assert era_of(method, params, None, has_session=session) == era


@pytest.mark.parametrize("params", [None, {}, {"_meta": None}, {"_meta": []}, {"_meta": {}}, {META_VERSION: "x"}])
def test_only_meta_names_a_version(params: Any) -> None:
    assert not names_version(params)


def test_one_process_serves_both_eras_side_by_side(fresh: StdioProcess) -> None:
    stateless = modern(1, "tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}})
    plain = legacy(2, "tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}})
    before, unbound, ping = fresh.ask(stateless), fresh.ask(plain), fresh.ask(legacy("p", "ping"))
    opened = fresh.ask(initialize())
    fresh.send(INITIALIZED)
    after, within = fresh.ask(stateless), fresh.ask(plain)

    assert (unbound["error"]["data"]["code"], ping["result"]) == ("SESSION_REQUIRED", {})
    assert opened["result"]["protocolVersion"] == "2025-11-25"
    assert before == after
    assert before["result"].keys() - within["result"].keys() == {"resultType", "_meta"}


def test_one_endpoint_serves_both_eras_side_by_side(http: HttpProcess) -> None:
    session = http.open_session()
    stateless = modern(1, "tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}})
    with http.connect() as connection:
        for _ in range(2):
            assert connection.post(stateless, modern_headers(stateless)).json()["result"]["resultType"] == "complete"
            assert "resultType" not in connection.post(legacy(1, "tools/list"), session).json()["result"]


@pytest.mark.parametrize(
    ("body", "extra", "status", "code"),
    [
        (legacy(1, "tools/list"), {}, 400, "SESSION_REQUIRED"),
        (legacy(1, "tools/list"), {"Mcp-Session-Id": "nope"}, 404, "SESSION_UNKNOWN"),
        (legacy(1, "ping"), {"Mcp-Session-Id": "nope"}, 404, "SESSION_UNKNOWN"),
        (INITIALIZED, {}, 400, "SESSION_REQUIRED"),
        (INITIALIZED, {"Mcp-Session-Id": "nope"}, 404, "SESSION_UNKNOWN"),
        (modern(1, "tools/list"), {}, 400, "HEADER_MISMATCH"),
        (modern(1, "tools/list"), {"MCP-Protocol-Version": "2025-11-25"}, 400, "HEADER_MISMATCH"),
        (legacy(1, "tools/list"), {"MCP-Protocol-Version": "2026-07-28"}, 400, "MALFORMED_PARAMS"),
        (b'{"jsonrpc":"2.0","id":"x","result":{}}', {}, 400, "NOT_A_REQUEST"),
        (b'{"jsonrpc":"2.0","id":"x","result":{}}', {"Mcp-Session-Id": "nope"}, 400, "NOT_A_REQUEST"),
    ],
)
def test_what_belongs_to_no_era_is_told_how_to_begin(
    http: HttpProcess, body: bytes, extra: dict[str, str], status: int, code: str
) -> None:
    answer = http.post(body, extra)

    assert (answer.status, answer.json()["error"]["data"]["code"]) == (status, code)
    assert answer.headers["Mcp-Session-Id"] is None, "a refusal opens no session"


@pytest.mark.parametrize(
    ("verb", "extra", "status"),
    [
        ("GET", {}, 400),
        ("GET", {"Mcp-Session-Id": "nope"}, 404),
        ("DELETE", {}, 400),
        ("DELETE", {"Mcp-Session-Id": "nope"}, 404),
        ("GET", {"MCP-Protocol-Version": "2026-07-28"}, 405),
        ("DELETE", {"MCP-Protocol-Version": "2026-07-28"}, 405),
        ("PUT", {}, 405),
    ],
)
def test_get_and_delete_belong_to_sessions(http: HttpProcess, verb: str, extra: dict[str, str], status: int) -> None:
    with http.connect() as connection:
        connection.write(request(b"", extra, port=http.port, verb=verb))

        assert connection.answer(verb).status == status


def test_session_ids_are_ignored_and_never_made_in_the_stateless_era(http: HttpProcess) -> None:
    body = modern(1, "tools/list")
    answer = http.ask(body, **{"Mcp-Session-Id": "nope", "Last-Event-ID": "1.0"})

    assert (answer.status, answer.headers["Mcp-Session-Id"]) == (200, None)
