"""`server.asgi()` under uvicorn, alone and mounted, driven by raw requests and the official clients."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client

from strictwire import Server
from strictwire.canon.json import parse_object
from tests.fixtures.live import HERE, PATIENCE, HttpProcess, environment, modern, modern_headers, request, run, serve_http
from tests.interop.expected import MODERN, expected
from tests.interop.test_typescript import NODE, SCRIPTS

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")]

ADD = modern(1, "tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}})
WHERE = modern(1, "tools/call", {"name": "where", "arguments": {}})


def post(server: HttpProcess, body: bytes, path: str, **headers: str) -> Any:
    with server.connect() as connection:
        connection.write(request(body, {**modern_headers(body), **headers}, port=server.port, path=path))
        return connection.answer()


async def drive_python(url: str, mode: str) -> list[Any]:
    """What the official Python client gets: the tools, a result, and the progress of a call, which is streamed."""
    seen: list[float] = []

    async def progressed(progress: float, _total: float | None, _message: str | None) -> None:
        seen.append(progress)

    with anyio.fail_after(PATIENCE):
        async with Client(url, mode=mode) as client:
            added = await client.call_tool("add", {"a": 1, "b": 2})
            counted = await client.call_tool("steps", {"values": [1, 2, 3]}, progress_callback=progressed)
    return [added.structured_content, counted.is_error, seen]


@pytest.mark.parametrize("mode", ["legacy", MODERN])
@pytest.mark.parametrize(("place", "path"), [("hard:server", "/mcp"), ("mounted:in_starlette", "/ai/mcp")])
def test_the_official_python_client(place: str, path: str, mode: str) -> None:
    with serve_http(place, by="uvicorn") as server:
        told = anyio.run(partial(drive_python, f"http://127.0.0.1:{server.port}{path}", mode))

    assert told == [{"result": 3}, False, [1, 2, 3]]


@pytest.mark.parametrize(("client", "era", "unread"), [("v1", "legacy", -32002), ("v2", "modern", -32602)])
def test_the_official_typescript_client_in_fastapi(client: str, era: str, unread: int, tmp_path: Path) -> None:
    with serve_http("mounted:in_fastapi", by="uvicorn", env={"LIFESPAN_LOG": str(tmp_path / "log")}) as server:
        done = subprocess.run(
            [str(NODE), str(SCRIPTS / f"{client}.mjs"), era, "http", f"http://127.0.0.1:{server.port}/ai/mcp"],
            cwd=HERE, env=environment(), capture_output=True, timeout=60, check=False,
        )  # fmt: skip

    assert done.returncode == 0, done.stderr.decode()
    assert parse_object(done.stdout.strip()) == expected(modern=era == "modern", unread=unread)


def test_mounted_in_fastapi_the_lifespans_run_inside_that_of_the_application(tmp_path: Path) -> None:
    journal = tmp_path / "log"
    with serve_http("mounted:in_fastapi", by="uvicorn", env={"LIFESPAN_LOG": str(journal)}) as server:
        where = post(server, WHERE, "/state/").json()["result"]["structuredContent"]
        with server.connect() as connection:
            connection.write(request(port=server.port, verb="GET", path="/own"))
            own = connection.answer()
        foreign = post(server, ADD, "/ai/mcp", Host="evil.example")
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(PATIENCE)

    assert where == {"process": True, "loop": True}
    assert own.json() == {"route": "own"}
    assert foreign.status == 421
    assert [line.rpartition(" ")[0] for line in journal.read_text().splitlines()] == [
        "open parent",
        "open stateful",
        "close stateful",
        "close parent",
    ]


def test_a_lifespan_that_fails_keeps_uvicorn_from_starting() -> None:
    done = run([sys.executable, str(HERE / "asgi.py"), "lifespans:broken_start"])

    assert b"ConnectionError: database secret-dsn does not answer" in done.stderr
    assert b"Application startup failed" in done.stderr
    assert done.returncode == 3


def test_a_path_needs_its_slash() -> None:
    with pytest.raises(ValueError, match="path 'mcp': a path begins with a slash, such as '/mcp'"):
        Server("s", version="1.0.0").asgi(path="mcp")


def test_a_request_before_the_lifespan_says_what_to_do() -> None:
    async def main() -> None:
        app = Server("s", version="1.0.0").asgi()
        with pytest.raises(RuntimeError, match="the ASGI lifespan did not run"):
            await app({"type": "http"}, asyncio.Event().wait, asyncio.Event().wait)  # type: ignore[arg-type]

    asyncio.run(main())
