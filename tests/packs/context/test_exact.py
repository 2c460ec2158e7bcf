"""The frozen stdio surface, byte for byte (rules of section 2; clauses R1 to R7)."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.packs.context.caches import edit_json, make_cache, only_document_file

from strictwire.canon.json import render
from strictwire.packs.context.exact import MAX_LINE, ExactSurface
from strictwire.packs.context.library import Library
from strictwire.packs.context.verbs import run_resolve

INITIALIZE = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2099-01-01"}}'
PARSE_ERROR = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}'
MESSAGES = {
    "cache_missing": "Cache does not exist",
    "cache_invalid": "Cache exists but is invalid",
    "invalid_query": "Query is invalid",
    "invalid_budget": "Budget is invalid",
    "io_error": "I/O error occurred",
    "internal_error": "Internal error",
}


@pytest.fixture
def library(tmp_path: Path) -> Any:
    make_cache(tmp_path, {"a.md": "alpha beta", "b.md": "gamma"})
    library = Library(str(tmp_path))
    yield library
    library.close()


@pytest.fixture
def surface(library: Library) -> ExactSurface:
    surface = ExactSurface(library)
    surface.answer_line(INITIALIZE)
    return surface


def call(surface: ExactSurface, name: str, arguments: object, number: object = 1) -> bytes:
    message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    answer = surface.answer_line(json.dumps(message).encode())
    assert answer is not None
    return answer


def failure(code: str) -> bytes:
    text = json.dumps({"error": {"code": code, "message": MESSAGES[code]}}, separators=(",", ":")) + "\n"
    return b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"text":%b,"type":"text"}],"isError":true}}' % render(text)


def success(text: str) -> bytes:
    return b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"text":%b,"type":"text"}]}}' % render(text)


@pytest.mark.v0("2.1", "1.9.3")
def test_initialize_answers_the_one_version_whatever_the_client_requests(library: Library) -> None:
    assert ExactSurface(library).answer_line(INITIALIZE) == (
        b'{"jsonrpc":"2.0","id":0,"result":{"capabilities":{"tools":{}},"protocolVersion":"2024-11-05",'
        b'"serverInfo":{"name":"mcp-context-server","version":"0.1.0"}}}'
    )


@pytest.mark.v0("2.2")
@pytest.mark.parametrize("method", ["ping", "tools/list", "tools/call", "unknown"])
def test_before_initialize_requests_are_refused_and_notifications_dropped(library: Library, method: str) -> None:
    surface = ExactSurface(library)

    assert surface.answer_line(b'{"jsonrpc":"2.0","id":"x","method":"%b"}' % method.encode()) == (
        b'{"jsonrpc":"2.0","id":"x","error":{"code":-32600,"message":"Server not initialized"}}'
    )
    assert surface.answer_line(b'{"jsonrpc":"2.0","method":"%b"}' % method.encode()) is None


@pytest.mark.v0("2.2")
def test_only_initialize_starts_the_session(surface: ExactSurface) -> None:
    assert surface.answer_line(b'{"jsonrpc":"2.0","id":-5,"method":"ping"}') == b'{"jsonrpc":"2.0","id":-5,"result":{}}'
    assert surface.answer_line(b'{"jsonrpc":"2.0","method":"notifications/initialized"}') is None


@pytest.mark.v0("2.3")
@pytest.mark.parametrize("line", [b"", b"  \t", b"\r\n"])
def test_blank_lines_are_ignored(surface: ExactSurface, line: bytes) -> None:
    assert surface.answer_line(line) is None


@pytest.mark.v0("2.4", "2.3", "1.12.18")
@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b'{"jsonrpc":"2.0","id":1,"method":"\xff"}',
        b"[]",
        b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
        b'{"id":1,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1}',
        b'{"jsonrpc":2.0,"id":1,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":true,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":{},"method":"ping"}',
        b'{"jsonrpc":"2.0","id":9223372036854775808,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',
    ],
)
def test_an_invalid_envelope_is_a_parse_error_without_id(surface: ExactSurface, line: bytes) -> None:
    assert surface.answer_line(line) == PARSE_ERROR


@pytest.mark.v0("1.16.4")
def test_a_message_has_at_most_one_mebibyte_including_its_newline(surface: ExactSurface) -> None:
    head, tail = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"', b'"}}'
    fits = head + b"x" * (MAX_LINE - 1 - len(head) - len(tail)) + tail

    assert len(fits) + 1 == MAX_LINE
    assert surface.answer_line(fits + b"\n") == b'{"jsonrpc":"2.0","id":1,"result":{}}'
    assert surface.answer_line(head + b"x" + fits[len(head) :]) == PARSE_ERROR
    assert surface.refuse_line() == PARSE_ERROR


@pytest.mark.v0("2.4")
@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600, "Invalid request"),
        (b'{"jsonrpc":"2.0","id":1,"method":"resources/list"}', -32601, "Method not found"),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}', -32602, "Invalid params"),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}', -32602, "Invalid params"),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":1}}', -32602, "Invalid params"),
    ],
)
def test_protocol_errors_have_their_codes(surface: ExactSurface, line: bytes, code: int, message: str) -> None:
    assert surface.answer_line(line) == render({"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": message}})


@pytest.mark.v0("2.3")
@pytest.mark.parametrize(
    "line", [b'{"jsonrpc":"2.0","method":"what"}', b'{"jsonrpc":"2.0","id":null,"method":"tools/list"}']
)
def test_a_notification_is_never_answered(surface: ExactSurface, line: bytes) -> None:
    assert surface.answer_line(line) is None


@pytest.mark.v0("2.5", "1.9.3")
def test_three_tools_are_listed_with_sorted_keys(surface: ExactSurface) -> None:
    answer = surface.answer_line(b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}')
    tools = json.loads(answer or b"")["result"]["tools"]

    assert [tool["name"] for tool in tools] == ["context.resolve", "context.list_caches", "context.inspect_cache"]
    assert [list(tool) for tool in tools] == [["description", "inputSchema", "name"]] * 3
    assert tools[0]["inputSchema"]["required"] == ["cache", "query", "budget"]
    assert tools[0]["inputSchema"]["properties"]["budget"]["minimum"] == 0
    assert tools[1]["inputSchema"]["properties"] == {}
    assert tools[2]["inputSchema"]["required"] == ["cache"]


@pytest.mark.v0("2.10", "2.7")
@pytest.mark.clause("R3")
def test_the_text_of_resolve_equals_the_output_of_the_command(surface: ExactSurface, tmp_path: Path) -> None:
    stdout = run_resolve(tmp_path / "cache", query="alpha", budget="4000").stdout.decode()

    assert call(surface, "context.resolve", {"cache": "cache", "query": "alpha", "budget": 4000}) == success(stdout)
    assert stdout.endswith("}\n")


@pytest.mark.v0("2.7", "1.12.12", "1.13.2")
def test_list_and_inspect_have_no_newline(surface: ExactSurface, tmp_path: Path) -> None:
    size = sum((tmp_path / "cache" / name).stat().st_size for name in ("manifest.json", "index.json"))
    version = json.loads((tmp_path / "cache" / "manifest.json").read_text())["cache_version"]

    assert call(surface, "context.list_caches", {"ignored": 1}) == success(
        '{"caches":[{"path":".cache-sources","has_manifest":false},{"path":"cache","has_manifest":true}]}'
    )
    assert call(surface, "context.inspect_cache", {"cache": "cache"}) == success(
        f'{{"cache_version":"{version}","document_count":2,"total_bytes":{size},"valid":true}}'
    )
    assert call(surface, "context.inspect_cache", {"cache": ""}) == success(
        '{"cache_version":"","document_count":0,"total_bytes":0,"valid":false}'
    )


@pytest.mark.v0("2.5")
def test_the_hidden_tool_health_answers(surface: ExactSurface) -> None:
    assert call(surface, "health", {}) == success('{"status":"ok"}')


@pytest.mark.v0("2.6")
def test_an_unknown_tool_is_free_text_with_is_error(surface: ExactSurface) -> None:
    assert call(surface, "nope", {}) == (
        b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"text":"Unknown tool: nope","type":"text"}],"isError":true}}'
    )


@pytest.mark.v0("1.10.1", "1.12.7", "1.12.17", "2.8", "2.9")
@pytest.mark.clause("R1", "R5", "R6", "R7")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (None, "invalid_budget"),
        ([], "invalid_budget"),
        ({}, "invalid_budget"),
        ({"cache": 1, "query": 1, "budget": -1}, "invalid_budget"),
        ({"cache": "cache", "query": "q", "budget": 1.5}, "invalid_budget"),
        ({"cache": "cache", "query": "q", "budget": 3.0}, "invalid_budget"),
        ({"cache": "cache", "query": "q", "budget": True}, "invalid_budget"),
        ({"cache": "cache", "query": "q", "budget": "5"}, "invalid_budget"),
        ({"cache": "cache", "query": "q", "budget": 1 << 63}, "invalid_budget"),
        ({"cache": 1, "budget": 1}, "invalid_query"),
        ({"cache": 1, "query": 5, "budget": 1}, "invalid_query"),
        ({"cache": 1, "query": "x" * 65_537, "budget": 1}, "invalid_query"),
        ({"cache": 1, "query": "q", "budget": 1, "more": 1}, "invalid_query"),
        ({"query": "q", "budget": 1}, "cache_missing"),
        ({"cache": 1, "query": "q", "budget": 1}, "cache_missing"),
        ({"cache": "absent", "query": "q", "budget": 1}, "cache_missing"),
        ({"cache": "../x", "query": "q", "budget": 1}, "cache_missing"),
        ({"cache": ".", "query": "q", "budget": 1}, "cache_invalid"),
    ],
)
def test_arguments_are_checked_in_the_order_budget_query_cache(surface: ExactSurface, arguments: object, code: str) -> None:
    assert call(surface, "context.resolve", arguments) == failure(code)


@pytest.mark.v0("1.9.5")
def test_minus_zero_is_not_a_budget_and_zero_is(surface: ExactSurface) -> None:
    line = (
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"context.resolve",'
        '"arguments":{"cache":"cache","query":"","budget":%s}}}'
    )

    assert surface.answer_line((line % "-0").encode()) == failure("invalid_budget")
    assert b"isError" not in (surface.answer_line((line % "0").encode()) or b"")


@pytest.mark.v0("1.12.1", "2.8")
@pytest.mark.clause("R4")
def test_a_cache_that_becomes_invalid_is_invalid_in_every_later_answer(surface: ExactSurface, tmp_path: Path) -> None:
    arguments = {"cache": "cache", "query": "q", "budget": 1}
    cache = make_cache(tmp_path, {"a.md": "alpha"}, "single")
    call(surface, "context.resolve", {**arguments, "cache": "single"})
    edit_json(only_document_file(cache), content="x")

    assert call(surface, "context.resolve", {**arguments, "cache": "single"}) == failure("cache_invalid")
    assert call(surface, "context.resolve", {**arguments, "cache": "single"}) == failure("cache_invalid")


@pytest.mark.v0("1.10.16")
def test_a_resolve_over_its_time_limit_is_an_internal_error(library: Library) -> None:
    release = threading.Event()
    with ThreadPoolExecutor(1) as executor:
        surface = ExactSurface(library, timeout=0.01, executor=executor)
        surface.answer_line(INITIALIZE)
        executor.submit(release.wait, 10)
        answer = call(surface, "context.resolve", {"cache": "cache", "query": "q", "budget": 1})
        release.set()

    assert answer == failure("internal_error")


@pytest.mark.v0("1.10.16")
def test_a_bug_is_an_internal_error(surface: ExactSurface, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Library, "open", lambda *_: 1 / 0)

    assert call(surface, "context.resolve", {"cache": "cache", "query": "q", "budget": 1}) == failure("internal_error")
