"""`strictwire serve --pack context` with and without `--exact-v0`, as real processes (rules 1.16 and section 2)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.fixtures.live import StdioProcess, command, legacy, modern, run
from tests.packs.context.caches import make_cache, snapshot

from strictwire.canon.json import parse_object, render
from strictwire.packs.context.search.token_counters import VocabularyCounter

pytestmark = pytest.mark.slow
ROOT = "CONTEXT_CACHE_ROOT"
TIMEOUT = "CONTEXT_TOOL_TIMEOUT_SECS"
EXACT = ("--pack=context", "--exact-v0")
PARSE_ERROR = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}'


def resolve(number: int, cache: str = "cache", query: str = "alpha", budget: object = 9) -> bytes:
    arguments = {"cache": cache, "query": query, "budget": budget}
    return legacy(number, "tools/call", {"name": "context.resolve", "arguments": arguments})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    make_cache(tmp_path, {"a.md": "alpha beta", "b.md": "gamma"})
    shutil.rmtree(tmp_path / ".cache-sources")
    return tmp_path


@pytest.mark.v0("1.16.3", "1.16.4", "2.1", "2.2", "2.10", "1.10.17")
def test_a_session_matches_byte_for_byte_and_ends_with_its_input(root: Path) -> None:
    """One process from `initialize` to the end of its input: same output as the command, size limits, errors, exit 0."""
    before = snapshot(root)
    asked = ["context", "resolve", "--cache", str(root / "cache"), "--query", "alpha", "--budget", "9"]
    printed = run([command("")[0], *asked])
    with StdioProcess(*EXACT, env={ROOT: str(root)}) as server:
        server.send(
            legacy(0, "ping"),
            legacy(1, "initialize", {"protocolVersion": "1999-01-01"}),
            b"",
            resolve(2),
            b"\xff",
        )
        lines = [server.line() for _ in range(4)]
        server.send(
            b'"' + b"x" * (1 << 20) + b'"',
            resolve(3, budget=-1),
            legacy(4, "tools/call", {"name": "context.list_caches", "arguments": {}}),
        )
        server.end_input()
        lines += server.rest()
        code = server.process.wait(20)

    text = printed.stdout.decode()
    assert lines == [
        b'{"jsonrpc":"2.0","id":0,"error":{"code":-32600,"message":"Server not initialized"}}',
        (
            b'{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"tools":{}},"protocolVersion":"2024-11-05",'
            b'"serverInfo":{"name":"mcp-context-server","version":"0.1.0"}}}'
        ),
        b'{"jsonrpc":"2.0","id":2,"result":{"content":[{"text":%b,"type":"text"}]}}' % render(text),
        PARSE_ERROR,
        PARSE_ERROR,
        (
            b'{"jsonrpc":"2.0","id":3,"result":{"content":[{"text":"{\\"error\\":{\\"code\\":\\"invalid_budget\\",'
            b'\\"message\\":\\"Budget is invalid\\"}}\\n","type":"text"}],"isError":true}}'
        ),
        (
            b'{"jsonrpc":"2.0","id":4,"result":{"content":[{"text":'
            b'"{\\"caches\\":[{\\"path\\":\\"cache\\",\\"has_manifest\\":true}]}","type":"text"}]}}'
        ),
    ]
    assert (code, printed.returncode, text[-2:]) == (0, 0, "}\n")
    assert snapshot(root) == before


@pytest.mark.v0("1.16.1", "1.16.2")
@pytest.mark.parametrize(
    "settings", [{}, {ROOT: ""}, {ROOT: "x", TIMEOUT: "-1"}, {ROOT: "x", TIMEOUT: "1.5"}, {ROOT: "x", TIMEOUT: ""}]
)
def test_missing_or_wrong_settings_exit_1(settings: dict[str, str]) -> None:
    ended = run(command(*EXACT), env=settings)

    assert (ended.returncode, ended.stdout) == (1, b"")
    assert b"CONTEXT_" in ended.stderr


@pytest.mark.v0("1.16.1", "1.12.13")
def test_a_root_may_be_created_and_deleted_while_the_server_runs(tmp_path: Path) -> None:
    """The root need not exist at the start. A deleted root is `cache_missing`, and the server creates nothing."""
    root = tmp_path / "later"
    with StdioProcess(*EXACT, env={ROOT: str(root), TIMEOUT: "30"}) as server:
        server.ask(legacy(0, "initialize"))
        absent = server.ask(resolve(1))
        make_cache(root, {"a.md": "alpha"})
        present = server.ask(resolve(1))
        shutil.rmtree(root)
        gone = server.ask(resolve(1))
        unlisted = server.ask(legacy(2, "tools/call", {"name": "context.list_caches"}))

    missing = '{"error":{"code":"cache_missing","message":"Cache does not exist"}}\n'
    assert [absent["result"]["content"][0]["text"], gone["result"]["content"][0]["text"]] == [missing, missing]
    assert unlisted["result"]["content"][0]["text"] == missing
    assert "isError" not in present["result"]
    assert not root.exists()


def test_the_mcp_endpoint_gives_the_frozen_answer_as_structured_content(root: Path) -> None:
    (root / "strictwire.toml").write_text(f'[packs.context]\nroot = "{root}"\n')
    call = {"name": "context.resolve", "arguments": {"cache": "cache", "query": "alpha", "budget": 9}}
    printed = run([command("")[0], "context", "resolve", f"--cache={root / 'cache'}", "--query=alpha", "--budget=9"])
    with StdioProcess("--pack=context", "--config", str(root / "strictwire.toml")) as server:
        result = server.ask(modern(1, "tools/call", call))["result"]
        refused = server.ask(modern(2, "tools/call", {**call, "arguments": {"cache": "x", "query": "", "budget": -1}}))

    assert result["structuredContent"] == parse_object(printed.stdout)
    assert refused["result"]["isError"]
    assert parse_object(refused["result"]["content"][0]["text"].encode()) == {
        "error": {"code": "invalid_budget", "message": "Budget is invalid"}
    }


def test_the_budget_is_exact_for_what_reaches_the_client(root: Path) -> None:
    (root / "strictwire.toml").write_text(f'[packs.context]\nroot = "{root}"\n')
    counter = VocabularyCounter()
    with StdioProcess(
        "--pack=context", "--config", str(root / "strictwire.toml"), env={"XDG_STATE_HOME": str(root)}
    ) as server:
        opened = server.ask(modern(1, "server/discover"))["result"]
        for number, budget in enumerate((256, 300, 4000), 2):
            call = {"name": "context.search", "arguments": {"query": "alpha gamma", "budget": budget}}
            result = server.ask(modern(number, "tools/call", call))["result"]
            sent = counter.count(render(result["structuredContent"]).decode()) + counter.count(result["content"][0]["text"])

            assert sent == result["structuredContent"]["selection"]["tokensUsed"] <= budget
        got = server.ask(modern(9, "tools/call", {"name": "context.get", "arguments": {"cache": "cache", "id": "b.md"}}))

    assert [each["id"] for each in result["structuredContent"]["passages"]] == ["b.md", "a.md"]
    assert got["result"]["content"][0]["text"] == "cache b.md lines 1-1 of 1\ngamma"
    assert "context.search" in opened["instructions"]
