"""The lifespan: once in each worker process, after the fork, on the loop that serves; its failures at start and end."""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from strictwire import Context, MemoryClient, Server
from strictwire.canon.json import parse_object
from strictwire.server.declare.lifespan import LifespanFailed
from tests.fixtures.live import HERE, StdioProcess, command, modern, modern_headers, request, run, serve_http, wait_for
from tests.fixtures.stories import story

WHERE = modern(1, "tools/call", {"name": "where", "arguments": {}})


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "lifespan.log"


def events(journal: Path) -> list[str]:
    return [line.rpartition(" ")[0] for line in journal.read_text().splitlines()]


def test_stdio_opens_it_before_the_first_call_and_closes_it_at_the_end(journal: Path) -> None:
    with StdioProcess("lifespans:server", env={"LIFESPAN_LOG": str(journal)}) as server:
        answer = server.ask(WHERE)
        server.end_input()
        code = server.process.wait(20)

    assert answer["result"]["structuredContent"] == {"process": True, "loop": True}
    assert (events(journal), code) == (["open stateful", "close stateful"], 0)


def test_an_authors_file_as_a_program_has_it_too(journal: Path) -> None:
    done = run(
        [sys.executable, str(HERE / "lifespans.py"), "--stdio"],
        given=WHERE + b"\n",
        env={"LIFESPAN_LOG": str(journal)},
    )

    assert parse_object(done.stdout)["result"]["structuredContent"] == {"process": True, "loop": True}
    assert (events(journal), done.returncode) == (["open stateful", "close stateful"], 0)


@pytest.mark.slow
def test_every_worker_has_its_own(journal: Path) -> None:
    with serve_http("lifespans:server", "--workers", "2", env={"LIFESPAN_LOG": str(journal)}) as server:
        body = modern(1, "tools/call", {"name": "pid", "arguments": {}})
        # Each connection goes to one of the workers; after enough of them both have answered.
        seen = set[int]()
        for _ in range(200):
            seen.add(server.ask(body).json()["result"]["structuredContent"]["result"])
            assert server.ask(WHERE).json()["result"]["structuredContent"] == {"process": True, "loop": True}
            if len(seen) == 2:
                break
        server.process.send_signal(signal.SIGTERM)
        code = server.process.wait(20)

    assert sorted(events(journal)) == ["close stateful"] * 2 + ["open stateful"] * 2
    assert {int(line.split()[-1]) for line in journal.read_text().splitlines()} == seen
    assert server.process.pid not in seen
    assert code == 0


@pytest.mark.parametrize("target", ["broken_start", "broken_dependency"])
@pytest.mark.parametrize("how", [("--stdio",), ("--http", "127.0.0.1:0"), ("--http", "127.0.0.1:0", "--workers", "2")])
def test_one_that_raises_at_the_start_is_a_start_failure(target: str, how: tuple[str, ...]) -> None:
    done = run(command(f"lifespans:{target}", *how))
    envelopes = [line for line in done.stderr.splitlines() if line.startswith(b"{")]

    assert done.returncode == 1
    assert {parse_object(each)["error_code"] for each in envelopes} == {"BOOTSTRAP_FAILURE"}
    assert b"Traceback" in done.stderr
    assert b"ConnectionError: " in done.stderr
    assert b"secret-dsn" not in b"".join(envelopes)
    assert not done.stdout


def test_it_is_closed_if_the_server_cannot_listen(journal: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        done = run(command("lifespans:server", "--http", address), env={"LIFESPAN_LOG": str(journal)})

    assert (events(journal), done.returncode) == (["open stateful", "close stateful"], 1)
    assert f"cannot listen on {address}: address already in use; choose another with --http".encode() in done.stderr


def test_the_message_says_which_function_raised() -> None:
    done = run(command("lifespans:broken_start", "--stdio"))

    assert b"strictwire: the lifespan no_start() raised ConnectionError when the server started; the" in done.stderr


def test_one_that_raises_at_the_end_is_logged_and_sets_the_exit_code() -> None:
    body = modern(1, "tools/call", {"name": "ping", "arguments": {}})
    done = run(command("lifespans:broken_end", "--stdio"), given=body + b"\n")

    assert parse_object(done.stdout)["result"]["content"] == [{"type": "text", "text": "pong"}]
    assert b"the lifespan no_end() raised RuntimeError when the server ended" in done.stderr
    assert b"flushing the cache failed" in done.stderr
    assert done.returncode == 1


@pytest.mark.slow
def test_calls_that_are_cut_off_clean_up_before_it_closes(journal: Path) -> None:
    body = modern(1, "tools/call", {"name": "wait", "arguments": {}})
    with serve_http("lifespans:server", env={"LIFESPAN_LOG": str(journal)}) as server, server.connect() as connection:
        connection.write(request(body, modern_headers(body), port=server.port))
        wait_for(lambda: journal.exists() and "waiting" in events(journal))
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(20)

    assert events(journal) == ["open stateful", "take lease", "waiting", "return lease", "close stateful"]


@story
async def test_two_clients_of_one_server_have_their_own() -> None:
    opened: list[object] = []

    async def lifespan(_server: Server) -> AsyncIterator[object]:
        opened.append(object())
        yield opened[-1]

    server = Server("twice", version="1.0.0", lifespan=lifespan)

    @server.tool(safety="read-only")
    def number(ctx: Context[object]) -> int:
        return opened.index(ctx.lifespan)

    async with MemoryClient(server) as first, MemoryClient(server) as second:
        assert (await second.call_tool("number"))["structuredContent"] == {"result": 1}
        assert (await first.call_tool("number"))["structuredContent"] == {"result": 0}


@story
async def test_the_value_is_there_for_resources_prompts_and_raw_tools() -> None:
    async def lifespan(_server: Server) -> AsyncIterator[dict[str, str]]:
        yield {"word": "hello"}

    server = Server("kinds", version="1.0.0", lifespan=lifespan)

    @server.resource("word://now")
    def word(ctx: Context[dict[str, str]]) -> str:
        return ctx.lifespan["word"]

    @server.prompt
    async def say(ctx: Context[dict[str, str]]) -> str:
        return ctx.lifespan["word"]

    @server.tool(input_schema={"type": "object"}, safety="read-only")
    def raw(_arguments: dict[str, Any], ctx: Context[dict[str, str]]) -> str:
        return ctx.lifespan["word"]

    async with MemoryClient(server) as client:
        read = await client.request("resources/read", {"uri": "word://now"})
        prompt = await client.request("prompts/get", {"name": "say"})
        called = await client.call_tool("raw")

    assert read["contents"] == [{"uri": "word://now", "text": "hello"}]
    assert prompt["messages"] == [{"role": "user", "content": {"type": "text", "text": "hello"}}]
    assert called["content"] == [{"type": "text", "text": "hello"}]


@story
async def test_a_client_in_memory_raises_what_failed() -> None:
    async def lifespan(_server: Server) -> AsyncIterator[None]:
        raise LookupError("no such database")
        yield

    with pytest.raises(LifespanFailed, match=r"lifespan\(\) raised LookupError when the server started") as caught:
        async with MemoryClient(Server("none", version="1.0.0", lifespan=lifespan)):
            pass

    assert isinstance(caught.value.__cause__, LookupError)


@story
async def test_without_one_the_context_says_how_to_add_it() -> None:
    server = Server("none", version="1.0.0")

    @server.tool(safety="read-only")
    def state(ctx: Context) -> str:
        with pytest.raises(RuntimeError, match=r"the server has no lifespan; write Server\(\.\.\., lifespan=\.\.\.\)"):
            _ = ctx.lifespan
        return "asked"

    async with MemoryClient(server) as client:
        assert (await client.call_tool("state"))["content"] == [{"type": "text", "text": "asked"}]
