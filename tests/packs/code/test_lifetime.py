"""The served pack and its engine as processes: whatever ends the server ends the engine."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.packs.code.engines.real import VARIABLES
from tests.packs.code.engines.test_leash import alive, family, until_gone
from tests.packs.code.test_files import write

pytestmark = pytest.mark.slow

PATIENCE = 120.0
FILES = {"lib.py": "def target():\n    return 1\n", "use.py": "from lib import target\ntarget()\n"}


class Served:
    """`strictwire serve --stdio --pack code` and a client that waits for each answer."""

    def __init__(self, process: subprocess.Popen[bytes], root: Path) -> None:
        self.process = process
        self._root = root
        self._number = 0

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        assert self.process.stdout is not None
        answer = json.loads(self.process.stdout.readline())
        assert "result" in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def begin(self) -> None:
        info = {"name": "test", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info})
        self._send({"method": "notifications/initialized"})

    def references(self) -> dict[str, Any]:
        return self._call("code_references")

    def hover(self) -> dict[str, Any]:
        return self._call("code_hover")

    def _call(self, tool: str) -> dict[str, Any]:
        position = {"line": 0, "character": 4}
        arguments = {"uri": (self._root / "lib.py").as_uri(), "position": position}
        found: dict[str, Any] = self.ask("tools/call", {"name": tool, "arguments": arguments})["structuredContent"]
        return found

    def engine_processes(self) -> list[int]:
        """The leash and the engine, once both are there."""
        end = time.monotonic() + PATIENCE
        while len(found := family(self.process.pid)) < 3 and time.monotonic() < end:
            time.sleep(0.01)
        return found[1:]

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()


@contextmanager
def served(folder: Path) -> Iterator[Served]:
    root = write(folder / "root", FILES)
    (folder / "strictwire.toml").write_text(f'[packs.code]\nroots = ["{root}"]\n')
    command = [sys.executable, "-m", "strictwire.cli.main", "serve", "--stdio", "--pack", "code"]
    env = {**VARIABLES, "XDG_STATE_HOME": str(folder / "state"), "STRICTWIRE_AUDIT_MODE": "off"}
    process = subprocess.Popen(
        [*command, "--config", str(folder / "strictwire.toml")],
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        server = Served(process, root)
        server.begin()
        yield server
    finally:
        process.kill()
        process.wait(PATIENCE)
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM])
def test_no_engine_survives_the_server(tmp_path: Path, ending: signal.Signals) -> None:
    """Also after kill -9. It takes less than 0.1 s on an idle machine; the limit is for one at load 40."""
    with served(tmp_path) as server:
        found = server.references()
        pids = server.engine_processes()
        server.process.send_signal(ending)
        server.process.wait(PATIENCE)
        left = until_gone(pids, PATIENCE)

    assert (len(found["items"]), found["completeness"]) == (2, "complete")
    assert (len(pids) >= 2, left) == (True, [])


def test_the_server_and_its_engines_end_with_their_input(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        server.references()
        pids = server.engine_processes()
        assert server.process.stdin is not None
        server.process.stdin.close()
        code = server.process.wait(PATIENCE)
        left = alive(pids)

    assert (code, left) == (0, [])


def test_an_engine_that_is_killed_is_started_again_by_the_next_call(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        before = server.references()
        first = server.engine_processes()
        for pid in first:
            os.kill(pid, signal.SIGKILL)
        asyncio.run(_until_gone(first))
        hover = server.hover()
        after = server.references()
        second = server.engine_processes()

    assert (after, "target" in hover["contents"][0]["value"]) == (before, True)
    assert (len(second), set(first) & set(second)) == (2, set())


async def _until_gone(pids: list[int]) -> None:
    async with asyncio.timeout(PATIENCE):
        while alive(pids):
            await asyncio.sleep(0.01)
