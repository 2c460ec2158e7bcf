"""`strictwire dev`: a change of a file restarts the server, and a broken module waits for the next change."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.live import environment, modern, wait_for

from strictwire.cli.dev import snapshot
from strictwire.cli.main import main

SERVER = """from strictwire import Server

server = Server("dev", version="1.0.0")


@server.tool(safety="read-only")
def {tool}() -> int:
    "Counts."
    return 1
"""
PATIENCE = 60.0


class Dev:
    """`strictwire dev` in a process of its own."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        command = [sys.executable, "-m", "strictwire.cli.main", "dev", "served:server", "--http", f"127.0.0.1:{self.port}"]
        self.process = subprocess.Popen(command, cwd=folder, env=environment(), stderr=subprocess.PIPE, text=True)
        self.errors: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        self.errors.extend(iter(self.process.stderr.readline, ""))

    def wait_for_line(self, text: str) -> None:
        wait_for(lambda: any(text in line for line in self.errors), PATIENCE)

    def serves_after(self, line: str) -> bool:
        """Whether the server has announced its URL after it wrote a line."""
        return line in self.errors and any("serves http" in each for each in self.errors[self.errors.index(line) :])

    def ask(self, method: str, params: dict[str, Any] | None = None) -> bytes:
        """The body of the answer. Raises OSError."""
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": method,
        }
        named = {"Mcp-Name": params["name"]} if params else {}
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request("POST", "/mcp", modern(1, method, params), headers | named)
            return connection.getresponse().read()
        finally:
            connection.close()

    def has_tool(self, name: str) -> bool:
        try:
            return f'"name":"{name}"'.encode() in self.ask("tools/list")
        except OSError:
            return False

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        assert self.process.stderr is not None
        self.process.stderr.close()


@pytest.fixture
def dev(tmp_path: Path) -> Iterator[Dev]:
    (tmp_path / "served.py").write_text(SERVER.format(tool="first"))
    running = Dev(tmp_path)
    try:
        yield running
    finally:
        running.close()


@pytest.mark.slow
def test_a_change_is_served_and_a_broken_module_shows_its_traceback(dev: Dev, tmp_path: Path) -> None:
    wait_for(lambda: dev.has_tool("first"), PATIENCE)

    (tmp_path / "served.py").write_text(SERVER.format(tool="second"))
    wait_for(lambda: dev.has_tool("second"), PATIENCE)
    assert "strictwire dev: served.py changed, restarting\n" in dev.errors

    (tmp_path / "served.py").write_text("broken_name\n")
    dev.wait_for_line("NameError: name 'broken_name' is not defined")
    dev.wait_for_line("the server ended; waiting for a change")
    assert any('served.py", line 1, in <module>' in line for line in dev.errors)

    (tmp_path / "served.py").write_text(SERVER.format(tool="third"))
    wait_for(lambda: dev.has_tool("third"), PATIENCE)


BLOCKING = """import time
from strictwire import Server

server = Server("dev", version="1.0.0")


@server.tool(safety="read-only")
async def block() -> int:
    "Blocks."
    time.sleep(0.15)
    return 1
"""


@pytest.mark.slow
def test_a_coroutine_function_that_blocks_is_named(dev: Dev, tmp_path: Path) -> None:
    (tmp_path / "served.py").write_text(BLOCKING)
    wait_for(lambda: dev.has_tool("block"), PATIENCE)

    dev.ask("tools/call", {"name": "block", "arguments": {}})

    dev.wait_for_line("tool block held the event loop for ")
    dev.wait_for_line("use def instead of async def, or asyncio.to_thread")


LIFESPAN = """import sys
from strictwire import Server


async def lifespan(server):
    print("{tool} opens", file=sys.stderr, flush=True)
    yield
    print("{tool} closes", file=sys.stderr, flush=True)


server = Server("dev", version="1.0.0", lifespan=lifespan)
"""


@pytest.mark.slow
def test_a_restart_closes_the_lifespan_and_opens_the_new_one(dev: Dev, tmp_path: Path) -> None:
    for tool in ("first", "second"):
        (tmp_path / "served.py").write_text(LIFESPAN.format(tool=tool))
        wait_for(lambda: dev.serves_after(f"{tool} opens\n"), PATIENCE)  # noqa: B023 - the lambda is called at once
    told = [line.strip() for line in dev.errors if line.endswith(("opens\n", "closes\n"))]

    assert told == ["first opens", "first closes", "second opens"]


def test_only_files_of_the_project_are_watched(tmp_path: Path) -> None:
    kept = [tmp_path / "a.py", tmp_path / "deep" / "b.toml"]
    left = [tmp_path / "a.txt", tmp_path / ".git" / "c.py", tmp_path / "env" / "d.py", tmp_path / "__pycache__" / "e.py"]
    for path in (*kept, *left, tmp_path / "env" / "pyvenv.cfg"):
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    before = snapshot([tmp_path])
    os.utime(kept[0], ns=(1, 1))

    assert set(before) == set(kept)
    assert snapshot([tmp_path]) != before


def test_anything_but_a_module_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dev", "server.py"]) == 2
    assert "expected MODULE:NAME" in capsys.readouterr().err
