"""A process ends on SIGTERM whatever its handlers do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixtures.live import StdioProcess, modern

pytestmark = pytest.mark.slow

SERVER = """
import asyncio
import sys
from strictwire import Server

server = Server("deaf", version="1.0.0")

@server.tool()
async def forever() -> str:
    "Ignores its cancellation."
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            pass

@server.tool()
async def tidy() -> str:
    "Cleans up when it is cancelled."
    try:
        await asyncio.sleep(3600)
    finally:
        print("cleaned up", file=sys.stderr, flush=True)
    return ""
"""


@pytest.mark.parametrize(("tool", "said"), [("forever", b"1 handlers ignored their cancellation"), ("tidy", b"cleaned up")])
def test_a_running_handler_does_not_keep_the_process_alive(tmp_path: Path, tool: str, said: bytes) -> None:
    (tmp_path / "deaf.py").write_text(SERVER)
    with StdioProcess("deaf:server", env={"PYTHONPATH": str(tmp_path)}) as process:
        process.send(modern(1, "tools/call", {"name": tool, "arguments": {}}))
        process.ask(modern(2, "tools/list"))  # answered in order: the handler is running by now

        assert process.stop() == 0

    assert said in b"".join(process.errors)
