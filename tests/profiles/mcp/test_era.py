"""Which era a message belongs to, from header and body together."""

from __future__ import annotations

from typing import Any

import pytest

from strictwire.fault.failure import fail
from strictwire.profiles.endpoint import Headers
from strictwire.profiles.mcp.era import Route, names_version, route_of
from strictwire.wire.names import META_VERSION
from tests.fixtures.live import (
    INITIALIZED,
    HttpProcess,
    StdioProcess,
    initialize,
    legacy,
    modern,
    modern_headers,
)

NAMED = {"_meta": {META_VERSION: "2026-07-28"}}


def headers(version: str | None) -> Headers:
    return Headers([] if version is None else [("MCP-Protocol-Version", version)])


MISMATCH = fail("HEADER_MISMATCH", details={"header": "MCP-Protocol-Version"})


@pytest.mark.parametrize(
    ("version", "method", "params", "session", "route"),
    [
        ("2026-07-28", "tools/list", NAMED, False, Route.STATELESS),
        ("2026-07-28", "tools/list", None, False, Route.STATELESS),
        ("2026-07-28", "initialize", None, False, Route.STATELESS),
        ("2026-07-28", "tools/list", None, True, Route.STATELESS),
        ("1900-01-01", "tools/list", None, True, Route.STATELESS),
        ("", "tools/list", None, False, Route.STATELESS),
        (None, "initialize", {}, False, Route.OPENING),
        ("2025-11-25", "initialize", {}, False, Route.OPENING),
        ("2025-11-25", "initialize", {}, True, Route.OPENING),
        ("2025-11-25", "tools/list", {}, True, Route.SESSION),
        (None, "tools/list", None, True, Route.SESSION),
        (None, "tools/list", NAMED, False, MISMATCH),
        ("2025-11-25", "tools/list", NAMED, False, MISMATCH),
        (None, "tools/list", {}, False, Route.UNBOUND),
        ("2025-03-26", "tools/list", {}, False, Route.UNBOUND),
    ],
)
def test_over_http_header_and_body_decide_together(
    version: str | None, method: str, params: Any, session: bool, route: object
) -> None:
    assert route_of(method, params, headers(version), has_session=session) == route


@pytest.mark.parametrize(
    ("method", "params", "session", "route"),
    [
        ("tools/list", NAMED, False, Route.STATELESS),
        ("tools/list", NAMED, True, Route.STATELESS),
        ("initialize", NAMED, False, Route.STATELESS),
        ("initialize", {}, True, Route.OPENING),
        ("tools/list", {}, True, Route.SESSION),
        ("tools/list", {}, False, Route.UNBOUND),
    ],
)
def test_without_headers_the_body_decides(method: str, params: Any, session: bool, route: object) -> None:
    assert route_of(method, params, None, has_session=session) == route


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
